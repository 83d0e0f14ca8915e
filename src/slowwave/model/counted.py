"""Numbers with their nouns in sentences for people: "1 message", "1,200 messages"."""


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun, and with a verb if both words have it.

    Args:
        number: How many.
        one: The words after 1.
        many: The words after every other number; "": `one` with "s".

    >>> counted(1, "message"), counted(1200, "message"), counted(2, "memory has", "memories have")
    ('1 message', '1,200 messages', '2 memories have')
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
