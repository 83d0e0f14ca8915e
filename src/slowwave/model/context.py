"""The surroundings of an agent, for prompts that describe them: who it is, what it can do, and where it is."""

from dataclasses import dataclass

from slowwave.model.arguments import check_fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The texts that the layout "agent" puts around the memories. They come from the caller and are not escaped.

    Args:
        agent: its name, which also ends the prompt.
        profile: who it is, in a sentence or a few.
        commands: the commands that it may use, one each.
        location: where it is.
        exits: where it can go from there.
        also_here: who else is there.

    Raises:
        InputError: a value is neither a text nor a tuple of texts.
    """

    agent: str = "Agent"
    profile: str = ""
    commands: tuple[str, ...] = ()
    location: str = ""
    exits: tuple[str, ...] = ()
    also_here: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_fields(self, "scene")

    @property
    def opening(self) -> str:
        """The text before the memories."""
        lines = [f"You are {self.agent}. {self.profile}".rstrip()]
        if self.commands:
            lines += ["", "BASIC COMMANDS:", *self.commands]
        return "\n".join([*lines, "", ""])

    @property
    def closing(self) -> str:
        """The text after the memories; the model continues it."""
        where = f" in {self.location}" if self.location else ""
        lines = ["", "", f"You are {self.agent}{where}."]
        lines += [f"Exits: {', '.join(self.exits)}"] if self.exits else []
        lines += [f"Also here: {', '.join(self.also_here)}"] if self.also_here else []
        return "\n".join([*lines, f"~{self.agent}> "])
