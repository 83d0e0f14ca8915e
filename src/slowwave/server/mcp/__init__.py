"""The MCP server: tools, resources and a prompt for coding agents."""
