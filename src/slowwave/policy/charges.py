"""Words that harm whoever they are said of: where a mind says them, the source must have said them too."""

from collections.abc import Iterable
from functools import cache
from typing import Final

from slowwave.policy.alignment import stem
from slowwave.policy.naming import word_set
from slowwave.policy.segment import words

# Crimes, cruelties and insults. Words that mean something harmless as well (hit, beat, shoot) are left out.
_CHARGES: Final = (
    "steal theft thief rob robbery burglar lie lied liar cheat cheater fraud swindle scam forge forgery embezzle bribe bribery "
    "poison murder murderer kill killer stab strangle assault attack rape molest torture abuse abuser harass stalk bully "
    "threaten blackmail extort kidnap destroy sabotage vandalise vandalize arson burgle smuggle launder betray deceive "
    "defraud humiliate insult slander racist sexist nazi terrorist criminal crime arrest convict jail "
    "prison drunk alcoholic addict addicted suicide suicidal overdose adultery incest pervert stupid idiot lazy evil"
)


@cache
def _roots() -> frozenset[str]:
    return frozenset(map(stem, word_set(_CHARGES)))


def charges(text: str, sources: Iterable[str]) -> tuple[str, ...]:
    """The harmful words of a text that no source has, as written; in another form (theft, thief) they are others.

    >>> charges("The user wants to poison walnuts", ["I am allergic to walnuts"])
    ('poison',)
    """
    found = {word: root for word in words(text) if (root := stem(word)) in _roots()}
    if not found:
        return ()
    said = {stem(word) for source in sources for word in words(source)}
    return tuple(word for word, root in found.items() if root not in said)
