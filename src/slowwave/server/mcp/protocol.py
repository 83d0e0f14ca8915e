"""The MCP server of the `mcp` package, with errors of one sentence and without arguments that are ignored."""

from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, CallToolResult, GetPromptResult, InputRequiredResult
from pydantic import ValidationError

from slowwave.errors import shown
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
            return await super().call_tool(name, self._without_nulls(name, arguments), context)
        except UnexpectedToolError:
            raise
        except ToolError as error:
            cause = error.__cause__
            if isinstance(cause, ValidationError):
                raise ToolError(invalid_arguments(name, cause)) from cause
            raise ToolError(str(cause) if isinstance(cause, ToolError) else str(error)) from error

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[Any, Any] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        """Get a prompt by name.

        Raises:
            MCPError: there is no such prompt, or the arguments are not its own; in one sentence for the client.
        """
        prompt = self._prompt_manager.get_prompt(name)
        if prompt is None:
            known = ", ".join(each.name for each in self._prompt_manager.list_prompts())
            problem = f"there is no prompt {shown(name)}" + (f": this server has {known}" if known else "")
            raise MCPError(INVALID_PARAMS, problem)
        own = {each.name: bool(each.required) for each in prompt.arguments or ()}
        given = arguments or {}
        if given.keys() - own or any(required and each not in given for each, required in own.items()):
            raise MCPError(INVALID_PARAMS, f"the prompt `{name}` takes {', '.join(own)}")
        return await super().get_prompt(name, arguments, context)

    def _without_nulls(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments without those that are null and optional: some hosts send null for what a model did not set."""
        tool = self._tool_manager.get_tool(name)
        required = () if tool is None else tool.parameters.get("required", ())
        return {each: value for each, value in arguments.items() if value is not None or each in required}

    def _check_names(self, name: str, arguments: dict[str, Any]) -> None:
        """Raise ToolError for an argument that a closed schema does not have."""
        tool = self._tool_manager.get_tool(name)
        if tool is None or tool.parameters.get("additionalProperties", True):
            return
        known = list(tool.parameters.get("properties", {}))
        unknown = next((argument for argument in arguments if argument not in known), None)
        if unknown is not None:
            raise ToolError(f"`{name}` has no argument {unknown[:40]!r}: it takes {', '.join(known)}")
