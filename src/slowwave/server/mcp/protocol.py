"""The MCP server of the `mcp` package, with errors of one sentence and without arguments that are ignored."""

from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.types import CallToolResult, InputRequiredResult
from pydantic import ValidationError

from slowwave.server.mcp.problems import invalid_arguments


class MemoryServer(MCPServer[Any]):
    """An MCP server whose expected errors are one sentence. Unknown arguments are refused where the schema is closed."""

    def close_schemas(self) -> None:
        """Declare in the schema of each tool that it has no other arguments; calls with others are refused."""
        for tool in self._tool_manager.list_tools():
            tool.parameters["additionalProperties"] = False

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool by name.

        Raises:
            ToolError: an expected failure, in one sentence for the model.
        """
        try:
            self._check_names(name, arguments)
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError:
            raise
        except ToolError as error:
            cause = error.__cause__
            if isinstance(cause, ValidationError):
                raise ToolError(invalid_arguments(name, cause)) from cause
            raise ToolError(str(cause) if isinstance(cause, ToolError) else str(error)) from error

    def _check_names(self, name: str, arguments: dict[str, Any]) -> None:
        """Raise ToolError for an argument that a closed schema does not have."""
        tool = self._tool_manager.get_tool(name)
        if tool is None or tool.parameters.get("additionalProperties", True):
            return
        known = list(tool.parameters.get("properties", {}))
        unknown = next((argument for argument in arguments if argument not in known), None)
        if unknown is not None:
            raise ToolError(f"`{name}` has no argument {unknown[:40]!r}: it takes {', '.join(known)}")
