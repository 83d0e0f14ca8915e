"""The JSON bodies of requests."""

import re
from datetime import datetime
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    JsonValue,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from slowwave.errors import shown
from slowwave.model.access import Right
from slowwave.model.memory import Kind, Trust
from slowwave.model.suggestions import instead_of, use
from slowwave.server.access.values import VISIBLE, nullable, only_number, without_nulls


def _only_text(value: object) -> object:
    """Refuse numbers in place of times: a number may mean seconds or milliseconds."""
    if not (value is None or isinstance(value, datetime) or (isinstance(value, str) and _DATED.match(value))):
        raise ValueError("write a time as 2026-05-01T09:30:00+02:00")
    return value


_DATED = re.compile(r"\d{4}-\d\d-\d\d[T ]")
Moment = Annotated[datetime, BeforeValidator(_only_text)]
Flag = Annotated[bool, Field(strict=True)]
Number = Annotated[float, Field(ge=0, le=1, strict=True)]
Text = Annotated[str, Field(min_length=1, max_length=1_000_000, pattern=VISIBLE)]
Name = Annotated[str, Field(min_length=1, max_length=256, pattern=VISIBLE)]
Metadata = Annotated[dict[str, JsonValue], Field(max_length=1000)]
Where = Annotated[dict[str, JsonValue] | None, Field(description="A filter on metadata, as in docs/notes.md.")]


class Body(BaseModel):
    """A request. An unknown field is an error: a misspelt one would be ignored otherwise. An optional one may be null."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _takes_null_as_absent(cls, value: object) -> object:
        return without_nulls(cls, value)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        described = handler(schema)
        nullable(cls, handler.resolve_ref_schema(described))
        return described

    @model_validator(mode="before")
    @classmethod
    def _names_the_field(cls, value: object) -> object:
        """Say which field to use in place of an unknown one."""
        is_closed = cls.model_config.get("extra") == "forbid"
        for name in value if is_closed and isinstance(value, dict) else ():
            if isinstance(name, str) and name not in cls.model_fields:
                hint = use(instead_of(name, cls.model_fields.keys()), f": use one of {', '.join(cls.model_fields)}")
                raise PydanticCustomError(
                    "extra_forbidden", "{words}", {"words": f"there is no field {shown(name)}{hint}"}
                )
        return value


class NewMessage(Body):
    """One message of a conversation, as chat APIs write it. Other fields, such as `tool_calls`, are not stored."""

    role: str | None = Field(default=None, description="None: an item of a tool, such as `function_call_output`.")
    content: str | list[JsonValue] | dict[str, JsonValue] | None = Field(
        default=None, description="A text, or a list of parts. Of a tool any JSON value."
    )
    speaker: Name | None = None
    id: str | int | None = Field(
        default=None, description="Your own id: the same id with the same content is stored once."
    )
    at: Moment | None = None
    metadata: Metadata = {}

    model_config = ConfigDict(extra="allow")


class NewMessages(Body):
    """Messages of one conversation, stored together or not at all."""

    messages: Annotated[list[NewMessage], Field(min_length=1, max_length=10_000)]
    conversation: Name | None = Field(default=None, description="None: the one written to last, else `default`.")

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "messages": [{"role": "user", "content": "I am allergic to walnuts.", "id": "m-1"}],
                    "conversation": "monday",
                }
            ]
        },
    )


class NewFact(Body):
    """A fact as one sentence. It is reconciled with what is known."""

    text: Text
    category: Name = "other"
    kind: Literal["semantic", "episodic", "procedural"] = "semantic"
    subject: Name | None = None
    importance: Number | None = None
    metadata: Metadata = {}
    trust: Trust = Field(default="user", description="Who states it. The trust of the key is the most that counts.")
    id: Name | None = Field(default=None, description="Your own id: the same id with the same text changes nothing.")
    at: Moment | None = None
    expires_at: Moment | None = None

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"text": "Alice owns the deploy pipeline", "category": "person"}]},
    )


class NewFacts(Body):
    """Several facts, stored as one run."""

    facts: Annotated[list[NewFact], Field(min_length=1, max_length=1000)]

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"facts": [{"text": "Alice likes tea"}, {"text": "Bob rows"}]}]}
    )


class FactChange(Body):
    """What to change of a memory; fields that are left out stay."""

    text: Text | None = None
    category: Name | None = None
    metadata: Metadata | None = None

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"text": "Bob owns the deploy pipeline"}], "minProperties": 1},
    )


class Ids(Body):
    """Memories by their ids."""

    ids: Annotated[list[Annotated[str, Field(min_length=1, max_length=64)]], Field(min_length=1, max_length=1000)]

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"ids": ["6aks3s9359r2zc0aq2f7"]}]})


class UseOf(Body):
    """A use of a memory."""

    session: Name | None = Field(default=None, description="Uses in one session count once. None: one session a day.")


class Question(Body):
    """A question, and which memories may answer it."""

    query: Annotated[str, Field(min_length=1, max_length=20_000, pattern=VISIBLE)]
    top_k: Annotated[int, Field(ge=1, le=100), BeforeValidator(only_number)] = 10
    categories: Annotated[list[Name], Field(min_length=1, max_length=100)] | None = None
    kinds: Annotated[list[Kind], Field(min_length=1, max_length=6)] | None = None
    conversation: Name | None = None
    except_conversation: Name | None = None
    since: Moment | None = None
    until: Moment | None = None
    as_of: Moment | None = None
    known_at: Moment | None = None
    deep: Flag = False
    where: Where = None
    folder: Annotated[str, Field(max_length=512)] | None = None
    min_relevance: Number | None = None

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"query": "who owns deploys?", "top_k": 5}]}
    )


class ContextQuestion(Body):
    """What a context is built for."""

    query: Annotated[str, Field(max_length=20_000)] = ""
    conversation: Name | None = None
    budget_tokens: Annotated[int, Field(ge=64, le=1_000_000), BeforeValidator(only_number)] = 1500
    profile: Annotated[str, Field(pattern="^(plain|chat)$")] = "plain"

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"query": "which cake shall I bake?", "budget_tokens": 800}]}
    )


class NewNote(Body):
    """The whole content of a note."""

    text: Annotated[str, Field(max_length=1_000_000)] = ""
    data: JsonValue = None
    metadata: Metadata = {}
    expires_at: Moment | None = None

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"text": "Soup without walnuts"}]})


class Sleep(Body):
    """A sleep pass."""

    dry_run: Flag = Field(default=False, description="Plan and change nothing; the plan can be applied later.")
    think: Flag = Field(default=True, description="False: ask no model; work that needs one stays due.")


class Consolidation(Body):
    """Which messages to read."""

    conversation: Name | None = Field(default=None, description="None: all conversations.")
    force: Flag = Field(default=False, description="Read however few messages are unread.")


class Undo(Body):
    """How to undo."""

    cascade: Flag = Field(default=False, description="First undo the later runs that depend on it.")


class Erasure(Body):
    """What to destroy: exactly one of `id`, `source`, `conversation`, `text` and `scope`."""

    id: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    source: Annotated[str, Field(min_length=1, max_length=512)] | None = None
    conversation: Name | None = None
    text: Annotated[str, Field(min_length=1, max_length=100_000)] | None = None
    scope: Flag = False
    rewrite: Flag | None = None
    dry_run: Flag = False

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"conversation": "monday", "dry_run": True}]}
    )


class NewAccessKey(Body):
    """A key to make. Its scopes, rights and trust are within those of the key that makes it."""

    label: Annotated[str, Field(min_length=1, max_length=100, pattern=VISIBLE)]
    prefix: Annotated[str, Field(max_length=2048)] = ""
    rights: Annotated[list[Right], Field(min_length=1, max_length=5)] = ["read", "write"]
    trust: Trust = "user"
    expires_at: Moment | None = None

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"label": "my agent", "prefix": "acme", "rights": ["read"]}]}
    )
