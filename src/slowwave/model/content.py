"""Reads the content of a message as chat APIs write it: whose words each part is, their text, and what is reasoning."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from slowwave.errors import InputError
from slowwave.model.plain_text import tidy

TOOL: Final = "tool"
_TEXT_KINDS: Final = frozenset({"text", "inputtext", "outputtext"})
_REASONING: Final = ("thinking", "thought", "reasoning")
_THOUGHTS: Final = (*_REASONING, "text", "summary", "content", "reasoningText", "reasoning_text")
"""Fields with the text of reasoning, each of which may contain others. Signatures and encrypted text are no words."""
_MARKED: Final = ("image", "audio", "video")
_FILES: Final = (*_MARKED, "file", "document", "screenshot", "data")
_RESULT_ENDS: Final = ("result", "results", "response", "output", "return")
_RESULTS: Final = ("output", "outputs", "result", "results", "response")
"""Fields with what a tool returned, also in a part that describes the call."""
_RESULT_TEXTS: Final = ("content", "return", "value", "text")
"""More such fields of a part that is only a result: in a call they are what the tool was asked."""
_ABOUT_RESULT: Final = frozenset({"type", "part_kind", "name", "status", "state", "is_error", "cache_control"})
_PAYLOADS: Final = frozenset(
    {"source", "data", "url", "uri", "bytes", "file", "file_id", "file_data", "image_url", "input_audio"}
)
"""Fields with which a part contains a picture, a sound or a file."""
_MARKER_LONGEST: Final = 40


def content_text(content: object, place: str = "the message", *, role: object = None) -> str:
    r"""The text of a content: a text itself, or the texts of its parts, each on a separate line.

    A picture, a recording or a file becomes a marker in brackets. Calls of tools and reasoning have no text. Of a tool, any
    other value is its JSON text: what a tool returns may be any JSON value.

    >>> content_text([{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": "data:…"}}])
    'Look\n[image]'
    >>> content_text([{"temp": 3}], role="tool")
    '[{"temp": 3}]'

    Raises:
        InputError: the content is of another type.
    """
    if content is None or isinstance(content, str):
        return content or ""
    if role == TOOL:
        return _returned_text(content, place)
    parts = [content] if isinstance(content, Mapping) else content
    if not isinstance(parts, list | tuple):
        raise InputError(f"{place} has content of type {type(content).__name__}: pass a text, or a list of parts")
    return "\n".join(text for part in parts if (text := _part_text(part, place)).strip())


def by_source(role: object, content: object) -> list[tuple[object, object]]:
    """The parts of a content by whose words they are: role and content of each result of a tool, then of all other parts.

    What a tool returned is the tool's, whatever the role of the message around it.

    >>> by_source("user", [{"type": "tool_result", "content": "9 °C"}, {"type": "text", "text": "Thanks"}])
    [('tool', '9 °C'), ('user', [{'type': 'text', 'text': 'Thanks'}])]
    """
    parts = [content] if isinstance(content, Mapping) else content
    if not isinstance(parts, list | tuple):
        return [(role, content)]
    returned = [_returned(part, is_certain=role == TOOL) for part in parts]
    own = [part for part, result in zip(parts, returned, strict=True) if result is None]
    results: list[tuple[object, object]] = [(TOOL, result) for result in returned if result is not None]
    if not results:
        return [(role, content)]
    return [*results, (role, own)] if own else results


def item_by_source(item: Mapping[str, Any]) -> list[tuple[object, object]]:
    """The same for an item without a role, such as OpenAI's function_call_output; a call or reasoning has none.

    >>> item_by_source({"type": "function_call_output", "call_id": "1", "output": "9 °C"})
    [('tool', '9 °C')]
    """
    return [(TOOL, returned)] if (returned := _returned(item)) is not None else []


def is_of_tool(part: object) -> bool:
    """Whether a part is a call of a tool, or what it returned, in the form of any provider.

    >>> is_of_tool({"type": "tool_use", "name": "weather"}), is_of_tool({"functionResponse": {"response": {}}})
    (True, True)
    """
    if not isinstance(part, Mapping):
        return False
    kind = _kind(_opened(part)[0])
    is_call = kind.endswith(("call", "calloutput")) or kind.startswith(("codeexecution", "executablecode", "mcp"))
    return "tool" in kind or "function" in kind or (is_call and "text" not in part)


def is_reasoning(part: object) -> bool:
    """Whether a part is what a model thought before its answer, in the form of any provider."""
    if not isinstance(part, Mapping):
        return False
    kind = _kind(_opened(part)[0])
    return part.get("thought") is True or any(name in kind for name in _REASONING)


def reasoning_of(content: object) -> str:
    """The text of the parts of a content that are reasoning, each on a separate line.

    >>> reasoning_of([{"type": "thinking", "thinking": "A pet?", "signature": "…"}, {"type": "text", "text": "Rex"}])
    'A pet?'
    """
    parts = content if isinstance(content, list | tuple) else [content]
    thoughts = (_opened(part)[1] for part in parts if isinstance(part, Mapping) and is_reasoning(part))
    return "\n".join(text for thought in thoughts for text in _thoughts(thought))


def _kind(name: str) -> str:
    """The letters of the name of a part: providers write tool_result, toolResult and tool-result."""
    return "".join(letter for letter in name.lower() if letter.isalpha())


def _opened(part: Mapping[str, Any]) -> tuple[str, object]:
    """The name of a part and what it contains. The parts of Bedrock and Gemini are a value in a field of that name."""
    named = part.get("type", part.get("part_kind"))
    if isinstance(named, str):
        return named, part
    fields = [(name, value) for name, value in part.items() if value is not None and isinstance(name, str)]
    if len(fields) == 1:
        return fields[0]
    inside = ((name, value) for name, value in fields if isinstance(value, Mapping))
    return ("", part) if isinstance(part.get("text"), str) else next(inside, ("", part))


def _returned(part: object, *, is_certain: bool = False) -> object:
    """What a tool returned, if a part contains it; else None.

    Args:
        part: a part of a content.
        is_certain: only of a part that is called a result: what a tool returned may look like the call of another.
    """
    if not isinstance(part, Mapping) or not is_of_tool(part):
        return None
    name, inside = _opened(part)
    is_result = _kind(name).endswith(_RESULT_ENDS)
    if not isinstance(inside, Mapping):
        return inside if is_result else None
    fields = (*_RESULTS, *_RESULT_TEXTS) if is_result else () if is_certain else _RESULTS
    found = next((inside[field] for field in fields if inside.get(field) is not None), None)
    if found is not None or not is_result:
        return found
    rest = {
        key: value
        for key, value in inside.items()
        if value is not None and key not in _ABOUT_RESULT and not _kind(key).endswith("id")
    }
    return rest or None


def _returned_text(value: object, place: str) -> str:
    """The text of what a tool returned: of parts as in any content, of another value its JSON text."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list | tuple) and any(isinstance(item, str) or _is_part(item) for item in value):
        return "\n".join(text for item in value if (text := _returned_text(item, place)).strip())
    if isinstance(value, Mapping) and _is_part(value):
        name, inside = _opened(value)
        if value.keys() == {"type", "value"}:
            return _returned_text(value["value"], place)
        return _returned_text(inside, place) if name == "json" else _part_text(value, place)
    try:
        return json.dumps(_without_ciphers(value), ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{place} has the result of a tool that is no JSON value: {error}") from error


def _is_part(value: object) -> bool:
    """Whether a value that a tool returned is a part of a content, rather than data of the tool."""
    if not isinstance(value, Mapping):
        return False
    name, inside = _opened(value)
    if inside is value:
        is_text = _kind(name) in _TEXT_KINDS and isinstance(value.get("text"), str)
        return is_text or value.keys() == {"type", "value"} or _is_file(name, value)
    return name in {"text", "json"} or (isinstance(inside, Mapping) and _is_file(name, inside))


def _is_file(name: str, inside: Mapping[str, Any]) -> bool:
    """Whether a part contains a picture, a sound or a file, rather than what a tool says about one."""
    return any(kind in _kind(name) for kind in _FILES) and not _PAYLOADS.isdisjoint(inside)


def _without_ciphers(value: object) -> object:
    """A value without the fields that only its provider can read."""
    if isinstance(value, Mapping):
        return {key: _without_ciphers(item) for key, item in value.items() if not str(key).startswith("encrypted_")}
    return [_without_ciphers(item) for item in value] if isinstance(value, list | tuple) else value


def _part_text(part: object, place: str) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        raise InputError(f"{place} has a part of type {type(part).__name__}: pass texts, or mappings with a type")
    if is_of_tool(part) or is_reasoning(part):
        return ""
    for field in ("text", "refusal"):
        if isinstance(text := part.get(field), str):
            return text
    name, inside = _opened(part)
    if inside is part or not isinstance(inside, Mapping):
        return _marker(tidy(name))
    text = next((inside[field] for field in ("text", "content") if inside.get(field) is not None), None)
    if isinstance(text, str | list | Mapping):  # of guarded or cited text
        return content_text(text, place)
    mime = next((value for field in ("mimeType", "mime_type") if isinstance(value := inside.get(field), str)), "")
    return "" if "cache" in name.lower() else _marker(mime or ("file" if "data" in name.lower() else tidy(name)))


def _marker(name: str) -> str:
    """What stands for a part without words."""
    cut = name[:_MARKER_LONGEST]
    return f"[{next((kind for kind in _MARKED if kind in cut), cut or 'file')}]"


def _thoughts(value: object) -> Iterator[str]:
    """The texts inside a part that is reasoning."""
    if isinstance(value, str):
        yield from [value] if value.strip() else []
    elif isinstance(value, Mapping):
        for field in _THOUGHTS:
            yield from _thoughts(value.get(field))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _thoughts(item)


# ---- reasoning inside a text

_NAME: Final = r"(?:[a-z]{1,20}[_:-]){0,3}(?:think(?:ing)?|thoughts?|reasoning|reflections?|scratchpad|monologue)(?:[_-][a-z]{1,20}){0,2}"
_MARK: Final = rf"<\|?/?{_NAME}(?:\s[^<>\n]{{0,80}})?\|?>|◁/?{_NAME}▷|(?-i:\[/?THINK\])"
_MARKS: Final = re.compile(_MARK, re.IGNORECASE)
_MARKS_AND_CODE: Final = re.compile(rf"(?P<code>```.*?(?:```|\Z)|`[^`\n]+`)|{_MARK}", re.IGNORECASE | re.DOTALL)
_CLOSES: Final = re.compile(r"\W*(?:/|end_)", re.IGNORECASE)
_IN_SENTENCE: Final = re.compile(r"[\w,;:][ \t]+\Z|[(\"'“‘«„]\Z")
"""How the words before a mark end if a sentence speaks of the mark."""
_CHANNEL: Final = re.compile(
    r"(?:<\|start\|>\w+)?<\|channel\|>(?P<channel>\w+)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>"
    r"(?P<text>.*?)(?=<\|(?:end|start|channel|return|call)\|>|\Z)",
    re.DOTALL,
)


def without_reasoning(text: str) -> tuple[str, str]:
    r"""The words of an answer, and the reasoning that its model wrote between marks such as <think> and </think>.

    Without a closing mark, all that follows the opening one is reasoning. A closing mark without an opening one ends
    reasoning with which the text begins. Marks in code, and those of which a sentence speaks, are words.

    >>> without_reasoning("<think>A pet?</think>\n\nIts name is Rex."), without_reasoning("A pet?</think>Rex.")
    (('Its name is Rex.', 'A pet?'), ('Rex.', 'A pet?'))
    >>> without_reasoning("Write <think> and </think>.")
    ('Write <think> and </think>.', '')
    """
    if spans := list(_CHANNEL.finditer(text)) if "<|channel|>" in text else []:
        words = [found["text"] for found in spans if found["channel"] == "final"]
        thoughts = [found["text"] for found in spans if found["channel"] != "final"]
        return "\n".join(words).strip(), "\n".join(thoughts).strip()
    if _MARKS.search(text) is None:
        return text, ""
    words, thoughts = [], []
    begin = place = 0
    speaks_of = False
    while mark := _MARKS_AND_CODE.search(text, place):
        before, place = text[begin : mark.start()], mark.end()
        if mark["code"]:
            continue
        in_sentence = _IN_SENTENCE.search(before) is not None
        if _CLOSES.match(mark[0]):
            if not speaks_of and not (in_sentence and text[place : place + 1].isspace()):
                (words if thoughts else thoughts).append(before)  # a second closing mark ends nothing
                begin = place
            speaks_of = False
        elif in_sentence:
            speaks_of = True
        else:
            inside_until, end = _closing(text, place)
            words.append(before)
            thoughts.append(text[place:inside_until])
            begin = place = end
    if begin == 0:
        return text, ""
    return "".join([*words, text[begin:]]).strip(), "\n".join(map(str.strip, thoughts)).strip()


def _closing(text: str, place: int) -> tuple[int, int]:
    """Where reasoning that begins at a place ends, and where its closing mark does; without one, the end of the text.

    If it contains opening marks that nothing closes, its last closing mark ends it.
    """
    depth, last = 1, (len(text), len(text))
    for mark in _MARKS.finditer(text, place):
        if not _CLOSES.match(mark[0]):
            depth += 1
            continue
        depth, last = depth - 1, mark.span()
        if depth == 0:
            break
    return last
