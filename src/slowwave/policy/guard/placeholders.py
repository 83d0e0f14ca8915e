"""Tells what stands in the place of a secret in examples and programs ("your-api-key", "${TOKEN}") from a secret."""

from typing import Final

from slowwave.policy.text.lazy_regex import lazy_regex

_NAMES: Final = "key|token|authtoken|secret|password|passwort|passwd|pass|pwd|hash|credential"
_QUALIFIERS: Final = (
    "hashed|encrypted|encoded|escaped|new|old|current|user|csrf|xsrf|access|refresh|auth|bearer|valid|invalid|wrong|expired|"
    "example|sample|dummy|fake|generated|some|db|database|confirm|confirmed|plain|raw|input|provided|stored|private|api|client"
)
_PATTERNS: Final = (
    # "your-api-key-here", "xoxb-your-slack-token", "enter_password_here"
    rf"(?i:(?:[a-z0-9]{{0,8}}[_-])?(?:your|dein|deine|votre|insert|enter|replace|put|paste)[_-](?:[a-z0-9]{{1,12}}[_-]){{0,4}}(?:{_NAMES}|here|value|hier|me))",
    # "xxxxxxxx", "*****", "sk-...", "<password>", "REDACTED"
    r"(?i:x{3,200})|[*.…•_-]{3,200}|[\w-]{0,8}(?:\.{3}|…)|<[^<>\n]{1,80}>|(?i:redacted)|/path/to/\S{1,100}",
    # a variable in a template, such as "${TOKEN}" and "{password}", or no value
    r"\$(?:\{[^{}\n]{1,80}\}|[A-Z_]{3,60})|\{[^{}\n]{1,80}\}|undefined|null|None|nil|true|false|True|False",
    # "hashed_password", "csrfToken", "DB_PASSWORD", "process.env.SECRET_KEY", "localStorage.getItem"
    rf"(?:{_QUALIFIERS})(?:_[a-z]{{2,12}})?_(?:{_NAMES})|(?:{_QUALIFIERS})(?:[A-Z][a-z]{{1,12}})?(?:{'|'.join(name.title() for name in _NAMES.split('|'))})",
    rf"[A-Z]{{2,20}}(?:_[A-Z0-9]{{1,20}}){{0,4}}_(?:{_NAMES.upper()}|USERNAME|USER|URL)",
    r"(?:process\.env|os\.environ|localStorage|sessionStorage|secrets|import\.meta\.env)(?:\.\w{1,60}){0,3}",
    # "Password must have 8 characters"
    r"(?i:passwor[dt])s?\s[^\n]{1,200}",
)
_PLACEHOLDER: Final = lazy_regex(rf"(?:{'|'.join(_PATTERNS)})[`;,.)]{{0,2}}")


def is_placeholder(text: str, begin: int, end: int) -> bool:
    """Whether a part of a text is a placeholder in place of a secret.

    >>> is_placeholder("your-api-key-here", 0, 17), is_placeholder("hunter2x", 0, 8)
    (True, False)
    """
    return text[end : end + 2] in {"['", '["'} or _PLACEHOLDER.fullmatch(text, begin, end) is not None
