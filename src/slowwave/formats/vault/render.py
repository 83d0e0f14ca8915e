"""Renders the pages of a vault with their paths. The same memory is always rendered to the same bytes."""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

from slowwave.formats.vault.front_matter import NAMES, SETTINGS
from slowwave.model.exchange import VaultOwner
from slowwave.model.memory import Memory
from slowwave.model.plan import Run, count_operations
from slowwave.policy.guard.fence import escape

_CORE: Final = (
    "What every context contains: what you pinned, what is used often, and what is protected by its category.",
    'Change it on the pages in facts/: edit a line, move it to another page, or add one that begins with "- "; then sync.',
    "",
)
_NUMBERS: Final = "These numbers hold for every sync of this folder, and wherever the setting SLOWWAVE_VAULT names it."
_REASONS: Final = 3
"""Reasons of one run in the sleep log."""
_SLUG: Final = re.compile(r"[^a-z0-9]+")
_SLUG_LONGEST: Final = 40
_LINKED: Final = re.compile(r"[0-9a-z]{4,64}")
"""An id that may end a line: one with line breaks would add lines that could pass for lines of the person."""
_DEVICE: Final = re.compile(r"con|prn|aux|nul|com\d|lpt\d")
"""Names that Windows reserves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """The content of a vault: hot facts, core facts, conversation summaries in order, and the latest runs.

    `owner` is the store and scope; `left_out` are sentences about what is not shown.
    """

    owner: VaultOwner
    facts: Sequence[Memory]
    core: Sequence[Memory]
    summaries: Sequence[Memory]
    runs: Sequence[Run] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    left_out: Sequence[str] = ()


def safe(name: str) -> str:
    """A file name that every file system accepts. Different names get different file names."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    slug = _SLUG.sub("-", plain).strip("-")[:_SLUG_LONGEST].strip("-")
    if slug and slug == name and not _DEVICE.fullmatch(slug):
        return slug
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{slug}-{digest}" if slug else digest


def facts_page(category: str) -> str:
    """The path of the page of a category."""
    return f"facts/{safe(category)}.md"


def pages(holding: Holding) -> dict[str, str]:
    """Path -> text of every page."""
    texts = {"core.md": _facts("core", holding.core, linked=False, intro=_CORE)}
    by_category: dict[str, list[Memory]] = {}
    for fact in sorted(holding.facts, key=lambda fact: (fact.recorded_at, fact.id)):
        by_category.setdefault(fact.category, []).append(fact)
    texts |= {facts_page(name): _facts(name, facts) for name, facts in by_category.items()}
    conversations: dict[str, list[Memory]] = {}
    for summary in holding.summaries:
        conversations.setdefault(summary.conversation or "", []).append(summary)
    for name, summaries in conversations.items():
        texts |= _conversation_pages(name, summaries)
    texts["sleep-log.md"] = _page(
        {"slowwave": "sleep log"},
        [line for run in holding.runs for line in _logged(run)],
    )
    if holding.settings:
        values = {shown: holding.settings[name] for shown, name in NAMES.items() if name in holding.settings}
        texts[SETTINGS] = _page(values, [_NUMBERS])
    return texts


def _facts(category: str, facts: Iterable[Memory], *, linked: bool = True, intro: Sequence[str] = ()) -> str:
    lines = [*intro, *(f"- {escape(fact.text)}{_mark(fact) if linked else ''}" for fact in facts)]
    return _page({"slowwave": "facts", "category": category}, lines)


def _mark(fact: Memory) -> str:
    return f" ^{fact.id}" if _LINKED.fullmatch(fact.id) else ""


def _logged(run: Run) -> Iterator[str]:
    """The line of a run; none for a run without operations of its own."""
    if counts := count_operations(run.plan.operations):
        because = [group.because for group in run.plan.groups if count_operations(group.operations)]
        more = [f"and {len(because) - _REASONS} more"] if len(because) > _REASONS else []
        reasons = escape("; ".join((*because[:_REASONS], *more)))
        yield f"- {run.at:%Y-%m-%d %H:%M} {run.cause}: {counts} ({reasons}) `{run.id}`"


def _conversation_pages(name: str, summaries: Sequence[Memory]) -> dict[str, str]:
    """Path -> text of the pages of one conversation."""
    folder = f"summaries/{safe(name)}"
    front = {"slowwave": "summary", "conversation": name}
    longterm = [_with_range(summary) for summary in summaries if summary.depth > 1]
    recent = [summary for summary in summaries if summary.depth == 1]
    texts = {f"{folder}/longterm.md": _page(front, longterm)} if longterm else {}
    for summary in recent:
        first, last = summary.span or (0, 0)
        stamp = f"{summary.recorded_at:%Y%m%d-%H%M%S}"
        head = {**front, "first": first, "last": last, "at": summary.recorded_at.isoformat()}
        head |= {name: value for name, value in summary.metadata.items() if name not in head}
        texts[f"{folder}/recent-{stamp}-{first}-{last}.md"] = _page(head, [_with_range(summary)])
    if recent:
        texts[f"{folder}/recent.md"] = _page(front, [_with_range(recent[-1])])
    return texts


def _with_range(summary: Memory) -> str:
    first, last = summary.span or (0, 0)
    return f"{summary.text}\n(memories {first}-{last})\n"


def _page(front: Mapping[str, object], lines: Iterable[str]) -> str:
    head = [f"{escape(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in front.items()]
    return "\n".join(["---", *head, "---", "", *lines]).rstrip("\n") + "\n"
