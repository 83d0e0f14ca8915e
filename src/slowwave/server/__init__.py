"""The interfaces that run in a server process: MCP, HTTP, mem0's HTTP interface and the dashboard."""
