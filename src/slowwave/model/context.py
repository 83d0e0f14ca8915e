"""Where an agent stands, for prompts that say so: who it is, what it can do, and what is around it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What the layout "s4" says around the memories. The words are the caller's: they are not escaped.

    Args:
        agent: its name, which also ends the prompt.
        profile: who it is, in a sentence or a few.
        commands: what it may do, one each.
        location: where it is.
        exits: where it can go from there.
        also_here: who else is there.
    """

    agent: str = "Agent"
    profile: str = ""
    commands: tuple[str, ...] = ()
    location: str = ""
    exits: tuple[str, ...] = ()
    also_here: tuple[str, ...] = ()

    @property
    def opening(self) -> str:
        """What stands before the memories."""
        lines = [f"You are {self.agent}. {self.profile}".rstrip()]
        if self.commands:
            lines += ["", "BASIC COMMANDS:", *self.commands]
        return "\n".join([*lines, "", ""])

    @property
    def closing(self) -> str:
        """What stands after them; the model goes on from its end."""
        where = f" in {self.location}" if self.location else ""
        lines = ["", "", f"You are {self.agent}{where}."]
        lines += [f"Exits: {', '.join(self.exits)}"] if self.exits else []
        lines += [f"Also here: {', '.join(self.also_here)}"] if self.also_here else []
        return "\n".join([*lines, f"~{self.agent}> "])
