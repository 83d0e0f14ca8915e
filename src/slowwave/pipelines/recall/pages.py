"""Finds the topic pages that answer a question, as they are now."""

from collections.abc import Mapping, Sequence
from typing import Final

from slowwave.model.memory import HOT, PAGE, SUMMARY, Memory, altered
from slowwave.model.query import Hit, Where
from slowwave.pipelines.recall.sources import sources_of
from slowwave.policy.summaries.page_choice import best_page, wants_page
from slowwave.policy.summaries.pages import lines_of, page_text
from slowwave.ports import Ports

SHORTEST_LIST: Final = 5
"""A search for fewer hits shows no page."""

PAGES: Final = Where(kinds=frozenset({SUMMARY}), categories=frozenset({PAGE}), phases=frozenset(HOT))
"""The topic pages in use."""


def page_for(ports: Ports, question: str, near: Mapping[str, float]) -> Memory | None:
    """The page for a question that asks for a list, an order, a count or a summary; None for other questions.

    Args:
        ports: The store and its scopes.
        question: The question.
        near: Scores of messages and facts in the search for it, by id (`scores_of`).

    Returns:
        The page without lines whose member was removed since it was written, and with the mark of what has ended.
    """
    if not wants_page(question):
        return None
    page = best_page(question, ports.store.select(ports.scopes, PAGES), near)
    page = _as_it_is_now(ports, page) if page else None
    return page if page and page.members else None


def scores_of(hits: Sequence[Hit]) -> dict[str, float]:
    """The scores of hits and of the facts shown with them, by id of the memory."""
    scores = {fact.id: hit.score for hit in hits for fact in hit.facts}
    return scores | {hit.memory.id: hit.score for hit in hits}


def with_page(ports: Ports, question: str, hits: list[Hit], top_k: int) -> list[Hit]:
    """The hits with the best page in the last place, if the question wants one: it repeats them, so it ranks below them."""
    if top_k < SHORTEST_LIST or not (page := page_for(ports, question, scores_of(hits))):
        return hits
    shown = hits[: top_k - 1]
    score, relevance = (shown[-1].score, shown[-1].relevance) if shown else (0.0, 0.0)
    return [*shown, Hit(memory=page, score=score, relevance=relevance, sources=sources_of(ports, page))]


def _as_it_is_now(ports: Ports, page: Memory) -> Memory:
    from slowwave.policy.summaries.page_entries import current_lines  # noqa: PLC0415 - most questions want no page

    lines = lines_of(page)
    members = {memory.id: memory for memory in ports.store.get(ports.scopes, page.members)}
    now = current_lines(lines, members, ports.now())
    if now == lines:
        return page
    subject, topic = page.subject or "", (page.ref or "").rpartition("/")[2]
    return altered(page, text=page_text(subject, topic, now), members=tuple(line.member for line in now))
