"""One item of a model's answer, field by field: doubtful options fall back to a default, a doubtful essence refuses the item."""

import math
import re
from datetime import UTC, datetime
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from slowwave.errors import InputError
from slowwave.model.message import checked_time, tidy

TEXT_LONGEST: Final = 1_000  # characters; a fact is one sentence
QUOTE_LONGEST: Final = 4_000
WORD_LONGEST: Final = 200
CONFIDENCE: Final = 0.7  # of a fact whose confidence is missing or no number (the first source's default)
HOURS_MAX: Final = 24 * 365 * 100.0
KINDS: Final = ("episodic", "semantic", "procedural")
OPS: Final = ("ADD", "UPDATE", "DELETE", "NOOP")


def _tidied(value: object) -> object:
    return tidy(value) if isinstance(value, str) else value


def _worded(text: str) -> str:
    if not any(character.isalnum() for character in text):
        raise ValueError("has no words")
    if len(text) > TEXT_LONGEST:
        raise ValueError(f"is longer than {TEXT_LONGEST:,} characters")
    return text


def _quoted(text: str) -> str:
    if len(text) > QUOTE_LONGEST:
        raise ValueError(f"is longer than {QUOTE_LONGEST:,} characters")
    return text


def _integer(value: object) -> object:
    """Small integers as models write them: 3, 3.0, "3". Anything else stays, and is refused."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,9}\s*", value):
        return int(value)
    return value


def _measure(value: object) -> float | None:
    """A finite number, also when written as text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        measured = float(value)
    except (ValueError, OverflowError):
        return None
    return measured if math.isfinite(measured) else None


def _confidence(value: object) -> float:
    measured = _measure(value)
    return CONFIDENCE if measured is None else min(1.0, max(0.0, measured))


def _importance(value: object) -> float | None:
    measured = _measure(value)
    return measured if measured is not None and 0.0 <= measured <= 1.0 else None


def _hours(value: object) -> float | None:
    measured = _measure(value)
    return measured if measured is not None and 0.0 < measured <= HOURS_MAX else None


def _instant(value: object) -> datetime | None:
    """An ISO date or time; one without a zone is meant in UTC, as the transcript is shown."""
    if not isinstance(value, str):
        return None
    try:
        read = datetime.fromisoformat(value.strip())
        return checked_time(read if read.tzinfo else read.replace(tzinfo=UTC), "valid_from")
    except (ValueError, InputError):
        return None


def _word(value: object) -> str | None:
    """A short word or name, or None."""
    word = tidy(value) if isinstance(value, str) else ""
    return word if 0 < len(word) <= WORD_LONGEST else None


def _label(value: object) -> str:
    return (_word(value) or "").casefold()


def _kind(value: object) -> str:
    return kind if (kind := _label(value)) in KINDS else "semantic"


def _reason(value: object) -> str:
    return tidy(value)[:TEXT_LONGEST] if isinstance(value, str) else ""


def _operation(value: object) -> str:
    if (op := _label(value).upper()) not in OPS:
        raise ValueError(f"is none of {', '.join(OPS)}")
    return op


_Text = Annotated[str, BeforeValidator(_tidied), AfterValidator(_worded)]
_Quote = Annotated[str, BeforeValidator(_tidied), AfterValidator(_quoted)]
_Integer = Annotated[int, BeforeValidator(_integer)]


class FactItem(BaseModel):
    """One distilled fact as a model writes it."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    text: _Text
    message: _Integer | None = None
    quote: _Quote | None = None
    category: Annotated[str, BeforeValidator(_label)] = ""
    kind: Annotated[str, BeforeValidator(_kind)] = "semantic"
    subject: Annotated[str | None, BeforeValidator(_word)] = None
    confidence: Annotated[float, BeforeValidator(_confidence)] = CONFIDENCE
    importance: Annotated[float | None, BeforeValidator(_importance)] = None
    valid_from: Annotated[datetime | None, BeforeValidator(_instant)] = None
    expires_in_hours: Annotated[float | None, BeforeValidator(_hours)] = None


class VerdictItem(BaseModel):
    """One verdict as a model writes it."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    fact: _Integer
    op: Annotated[str, BeforeValidator(_operation)]
    memory: _Integer | None = None
    text: _Text | None = None
    relation: Annotated[str, BeforeValidator(_label)] = ""
    because: Annotated[str, BeforeValidator(_reason)] = ""
