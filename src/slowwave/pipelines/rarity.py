"""How rare stems are among the memories of a scope."""

from collections.abc import Callable
from functools import cache

from slowwave.policy.text.rarity import rarity
from slowwave.ports import Ports


def rarity_in_scope(ports: Ports, prior: int = 0) -> Callable[[str], float]:
    """A function for the rarity of a stem in nats, by the counts of the scope at this time. It reads each stem once.

    Args:
        ports: the store and the scope.
        prior: how many memories without the stem are added: among the first few memories of a scope no stem is frequent.
    """
    frequency, documents = ports.store.frequencies(ports.scope)
    documents += prior

    @cache  # texts of one search or conversation have most of their words in common
    def of_stem(stem: str) -> float:
        return rarity(documents, frequency(stem))

    return of_stem
