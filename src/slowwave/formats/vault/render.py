"""What a vault shows of a memory: every page and its path, the same memory giving the same bytes."""

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
    "What stands in every context: what you pinned, what is used often, and what is protected by its category.",
    'Change it on the pages in facts/: edit a line, move it to another page, or add one that begins with "- "; then sync.',
    "",
)
_NUMBERS: Final = "These numbers hold for every sync of this folder, and wherever the setting SLOWWAVE_VAULT names it."
_REASONS: Final = 3
"""Of one run that are told in the sleep log."""
_SLUG: Final = re.compile(r"[^a-z0-9]+")
_SLUG_LONGEST: Final = 40
_LINKED: Final = re.compile(r"[0-9a-z]{4,64}")
"""An id that a line may end with: one with line breaks would add lines that read as stated by the person."""
_DEVICE: Final = re.compile(r"con|prn|aux|nul|com\d|lpt\d")
"""Names that Windows keeps for itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """What a vault shows: hot facts, those of core, cascade summaries in order, and the latest runs.

    `owner` says of which store and scope, and `left_out` what is not shown, in sentences.
    """

    owner: VaultOwner
    facts: Sequence[Memory]
    core: Sequence[Memory]
    summaries: Sequence[Memory]
    runs: Sequence[Run] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    left_out: Sequence[str] = ()


def safe(name: str) -> str:
    """A name that every file system takes, and that is another's only if the names are the same."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    slug = _SLUG.sub("-", plain).strip("-")[:_SLUG_LONGEST].strip("-")
    if slug and slug == name and not _DEVICE.fullmatch(slug):
        return slug
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{slug}-{digest}" if slug else digest


def facts_page(category: str) -> str:
    """Where the facts of a category stand."""
    return f"facts/{safe(category)}.md"


def pages(holding: Holding) -> dict[str, str]:
    """Every page by its path."""
    found = {"core.md": _facts("core", holding.core, linked=False, told=_CORE)}
    by_category: dict[str, list[Memory]] = {}
    for fact in sorted(holding.facts, key=lambda fact: (fact.recorded_at, fact.id)):
        by_category.setdefault(fact.category, []).append(fact)
    found |= {facts_page(name): _facts(name, facts) for name, facts in by_category.items()}
    talks: dict[str, list[Memory]] = {}
    for summary in holding.summaries:
        talks.setdefault(summary.conversation or "", []).append(summary)
    for name, summaries in talks.items():
        found |= _talk(name, summaries)
    found["sleep-log.md"] = _page(
        {"slowwave": "sleep log"},
        [line for run in holding.runs for line in _logged(run)],
    )
    if holding.settings:
        known = {shown: holding.settings[name] for shown, name in NAMES.items() if name in holding.settings}
        found[SETTINGS] = _page(known, [_NUMBERS])
    return found


def _facts(category: str, facts: Iterable[Memory], *, linked: bool = True, told: Sequence[str] = ()) -> str:
    lines = [*told, *(f"- {escape(fact.text)}{_mark(fact) if linked else ''}" for fact in facts)]
    return _page({"slowwave": "facts", "category": category}, lines)


def _mark(fact: Memory) -> str:
    return f" ^{fact.id}" if _LINKED.fullmatch(fact.id) else ""


def _logged(run: Run) -> Iterator[str]:
    """What a run did, and to what; nothing of one that only stands for its parts."""
    if done := count_operations(run.plan.operations):
        because = [group.because for group in run.plan.groups if count_operations(group.operations)]
        more = [f"and {len(because) - _REASONS} more"] if len(because) > _REASONS else []
        told = escape("; ".join((*because[:_REASONS], *more)))
        yield f"- {run.at:%Y-%m-%d %H:%M} {run.cause}: {done} ({told}) `{run.id}`"


def _talk(name: str, summaries: Sequence[Memory]) -> dict[str, str]:
    """The pages of one conversation, by the names of S4."""
    folder = f"summaries/{safe(name)}"
    front = {"slowwave": "summary", "conversation": name}
    eras = [one for one in summaries if one.depth > 1]
    stretches = [one for one in summaries if one.depth == 1]
    found = {f"{folder}/longterm.md": _page(front, [_told(era) for era in eras])} if eras else {}
    for one in stretches:
        first, last = one.span or (0, 0)
        stamp = f"{one.recorded_at:%Y%m%d-%H%M%S}"
        told = {**front, "first": first, "last": last, "at": one.recorded_at.isoformat()}
        told |= {name: value for name, value in one.metadata.items() if name not in told}
        found[f"{folder}/recent-{stamp}-{first}-{last}.md"] = _page(told, [_told(one)])
    if stretches:
        found[f"{folder}/recent.md"] = _page(front, [_told(stretches[-1])])
    return found


def _told(summary: Memory) -> str:
    first, last = summary.span or (0, 0)
    return f"{summary.text}\n(memories {first}-{last})\n"


def _page(front: Mapping[str, object], lines: Iterable[str]) -> str:
    head = [f"{escape(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in front.items()]
    return "\n".join(["---", *head, "---", "", *lines]).rstrip("\n") + "\n"
