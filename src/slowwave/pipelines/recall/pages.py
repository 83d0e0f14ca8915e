"""Finds the topic pages that answer a question, as they are now."""

from collections.abc import Mapping, Sequence
from typing import Final

from slowwave.model.memory import HOT, PAGE, SUMMARY, Memory, altered
from slowwave.model.query import Hit, Where
from slowwave.pipelines.recall.sources import sources_of
from slowwave.policy.summaries.page_choice import best_pages, wants_page
from slowwave.policy.summaries.pages import lines_of, page_text
from slowwave.ports import Ports

SHORTEST_LIST: Final = 5
"""A search for fewer hits shows no page."""

PAGES: Final = Where(kinds=frozenset({SUMMARY}), categories=frozenset({PAGE}), phases=frozenset(HOT))
"""The topic pages in use."""


def pages_for(ports: Ports, question: str, near: Mapping[str, float] | None = None, *, most: int = 1) -> list[Memory]:
    """The pages for a question that asks for a list, an order, a count or a summary, best first; none for other questions.

    Args:
        ports: the store and its scopes.
        question: the question.
        near: scores of messages and facts in the search for it, by id (`scores_of`).
        most: how many pages of one person or thing; of at most two.

    Returns:
        The pages without lines whose member was removed since the page was written, and with the mark of what has ended.
    """
    if not wants_page(question):
        return []
    pages = ports.store.select(ports.scopes, PAGES)
    found = [_as_it_is_now(ports, page) for page in best_pages(question, pages, near, most=most)]
    return [page for page in found if page.members]


def scores_of(hits: Sequence[Hit]) -> dict[str, float]:
    """The scores of hits and of the facts shown with them, by id of the memory."""
    scores = {fact.id: hit.score for hit in hits for fact in hit.facts}
    return scores | {hit.memory.id: hit.score for hit in hits}


def with_page(ports: Ports, question: str, hits: list[Hit], top_k: int) -> list[Hit]:
    """The hits with the best page in the last place, if the question wants one: it repeats them, so it ranks below them."""
    if top_k < SHORTEST_LIST or not (pages := pages_for(ports, question, scores_of(hits))):
        return hits
    page = pages[0]
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
