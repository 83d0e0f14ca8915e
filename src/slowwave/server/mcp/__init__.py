"""The MCP server: tools, resources and a prompt for coding agents."""

from slowwave.server.mcp.http_app import Admit, Refuse, build_http_app
from slowwave.server.mcp.protocol import MemoryServer
from slowwave.server.mcp.server import (
    Opened,
    OpenRequest,
    Profile,
    build_memory_server,
    build_server,
    import_graph,
    run_stdio,
)

__all__ = [
    "Admit",
    "MemoryServer",
    "OpenRequest",
    "Opened",
    "Profile",
    "Refuse",
    "build_http_app",
    "build_memory_server",
    "build_server",
    "import_graph",
    "run_stdio",
]
