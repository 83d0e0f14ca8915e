"""Removes the values of secrets (keys, tokens, passwords, card numbers), which are recognised by their form."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import table_words
from slowwave.policy.text.tokens import STOP_WORDS, stem, words

_NAMED: Final = (
    r"(?:password|passwd|passphrase|passcode|api[_ -]?key|secret(?:[_ -]?key)?|access[_ -]?key|auth[_ -]?token|"
    r"access[_ -]?token|refresh[_ -]?token|client[_ -]?secret|private[_ -]?key|encryption[_ -]?key|bot[_ -]?token|token|pwd)"
)

# Kind and pattern of each secret. If a pattern has a group, only the group is removed.
_SHAPES: Final = (
    ("private key", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]+-----|\Z)"),
    ("JSON web token", r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
    ("AWS key", r"\b(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{16}\b"),
    ("Google key", r"\bAIza[\w-]{35}|\bya29\.[\w-]{20,}|\bGOCSPX-[\w-]{20,}"),
    ("GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_\w{40,}"),
    ("GitLab token", r"\bgl(?:pat|ptt|dt|rt|cbt)-[\w-]{20,}"),
    ("Slack token", r"\bxox[abeoprs]-[\w-]{10,}|\bxapp-\d-[\w-]{10,}"),
    ("webhook", r"https://hooks\.slack\.com/services/(T\w+/B\w+/\w+)|https://discord(?:app)?\.com/api/webhooks/(\d+/[\w-]+)"),
    ("Stripe key", r"\b(?:sk|rk|pk|whsec)_(?:live_|test_)?[A-Za-z0-9]{20,}"),
    ("model provider key", r"\bsk-(?:ant-|proj-|or-|svcacct-)?[\w-]{20,}|\bgsk_\w{20,}|\bhf_[A-Za-z0-9]{20,}|\br8_\w{20,}|\bxai-\w{20,}"),
    ("package registry token", r"\bnpm_[A-Za-z0-9]{30,}|\bpypi-[\w-]{20,}|\bdckr_pat_[\w-]{20,}|\brubygems_[0-9a-f]{40,}"),
    ("cloud token", r"\bdo[opr]_v1_[0-9a-f]{40,}|\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{30,}|\bdapi[0-9a-f]{32}\b|\bhvs\.[\w-]{20,}|\bfo1_[\w-]{30,}|\bsbp_[0-9a-f]{30,}"),
    ("mail service key", r"\bSG\.[\w-]{16,}\.[\w-]{16,}|\bkey-[0-9a-f]{32}\b|\bxkeysib-[0-9a-f]{40,}[\w-]*"),
    ("Twilio key", r"\b(?:SK|AC)[0-9a-f]{32}\b"),
    ("bot token", r"\b\d{8,10}:AA[\w-]{32,35}\b|\b[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,38}\b"),
    ("workspace key", r"\b(?:secret|ntn)_[A-Za-z0-9]{40,}|\blin_api_\w{30,}|\bsq0(?:atp|csp)-[\w-]{20,}|\bfigd_[\w-]{30,}|\bATATT3[\w=-]{30,}|\bpat[A-Za-z0-9]{14}\.[0-9a-f]{64}\b"),
    ("age key", r"\bAGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    ("password", r"\b[a-z][a-z0-9+.-]*://[^\s:/@]*:([^\s:/@]{3,})@[^\s/]"),
    ("token", r"\b(?:bearer|basic)\s+((?=[\w.~+/-]*\d)[\w.~+/-]{16,}={0,2})"),
    ("secret", rf"{_NAMED}[\"']?\s*(?::=|[:=])\s*[\"']?((?=[^\s\"',;()]*[\d!@#$%^&*?])[^\s\"',;()]{{6,}}(?![\w(.]))"),
    ("secret", rf"{_NAMED}\s+(?:is|was|=)\s+(?:now\s+|set to\s+)?[\"'`]((?=\S)[^\"'`\n]{{4,80}})[\"'`]"),
    ("secret", rf"{_NAMED}\s+(?:is|was)\s+(?:now\s+|set to\s+)?((?=\S*\d)(?=\S*[^\W\d_])[^\s\"',;]{{6,}}(?<![.!?]))"),
    ("PIN", r"\bPIN(?:\s+(?:code|number))?(?:\s+(?:is|was)|\s*[:=])\s*(\d{4,8})\b"),
    ("social security number", r"\b(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}\b"),
)  # fmt: skip
_REMOVED: Final = lazy_regex(r"\[[^\[\]]* removed\]")
_CASELESS: Final = frozenset({"password", "token", "secret"})
_PATTERNS: Final = tuple(
    (kind, lazy_regex(shape, re.IGNORECASE if kind in _CASELESS else 0)) for kind, shape in _SHAPES
)
_CARD: Final = lazy_regex(r"(?<![\d-])\d(?:[ -]?\d){12,18}(?![\d-])")
_CARD_STARTS: Final = ("3", "4", "5", "6", "2")


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """A text without the values of its secrets, and the kinds of the removed secrets in order."""

    text: str
    kinds: tuple[str, ...]


def redact(text: str) -> Redacted:
    """Replace the value of each secret by "[kind removed]"; a text without secrets stays unchanged.

    >>> redact("The staging password is hunter2x, Alice knows it").text
    'The staging password is [secret removed], Alice knows it'
    >>> redact("No Firebase API key in the build").kinds
    ()
    """
    done, pieces, kinds = 0, [], []
    for start, end, kind in sorted(_secrets(text)):
        if start >= done:
            pieces += [text[done:start], f"[{kind} removed]"]
            kinds.append(kind)
            done = end
    return Redacted(text="".join((*pieces, text[done:])), kinds=tuple(kinds))


def hollow(text: str) -> bool:
    """Whether a text with secrets has no content besides them: it only says that somebody has a password.

    >>> hollow("The user's password is hunter2x"), hollow("The staging password is hunter2x")
    (True, False)
    """
    done = redact(text)
    kinds = {stem(word) for kind in done.kinds for word in words(kind)}
    remaining = {
        stem(word.removesuffix("'s")) for word in words(_REMOVED.sub(" ", done.text)) if word not in STOP_WORDS
    }
    return bool(done.kinds) and remaining <= kinds | _label_stems()


@cache
def _label_stems() -> frozenset[str]:
    return frozenset(map(stem, table_words("secret_labels")))


def _secrets(text: str) -> Iterator[tuple[int, int, str]]:
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            group = match.lastindex or 0
            yield match.start(group), match.end(group), kind
    for match in _CARD.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        if digits.startswith(_CARD_STARTS) and _luhn(digits):
            yield match.start(), match.end(), "card number"


def _luhn(digits: str) -> bool:
    """Whether the check digit of a card number is right (ISO/IEC 7812)."""
    doubled = (int(digit) * 2 for digit in digits[-2::-2])
    return (sum(map(int, digits[::-2])) + sum(number // 10 + number % 10 for number in doubled)) % 10 == 0
