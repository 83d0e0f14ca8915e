import pytest
from hypothesis import given, strategies as st

from slowwave.policy.guard.redaction import hollow, redact

LETTERS = "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3fG6hJ9k"
HEX = "0123456789abcdef" * 5

# Joined here, so that no scanner takes this file for a leak.
SECRETS = [
    ("AWS key", "AKIA", "IOSFODNN7EXAMPLE"),
    ("AWS key", "ASIA", "IOSFODNN7EXAMPLE"),
    ("Google key", "AIza", LETTERS[:35]),
    ("Google key", "ya29.", LETTERS),
    ("Google key", "GOCSPX-", LETTERS[:28]),
    ("GitHub token", "ghp_", LETTERS[:36]),
    ("GitHub token", "gho_", LETTERS[:36]),
    ("GitHub token", "github_pat_", LETTERS + "_" + LETTERS),
    ("GitLab token", "glpat-", LETTERS[:20]),
    ("Slack token", "xoxb-", "123456789012-" + LETTERS[:24]),
    ("Slack token", "xoxp-", "123456789012-" + LETTERS[:24]),
    ("Stripe key", "sk_live_", LETTERS[:24]),
    ("Stripe key", "rk_test_", LETTERS[:24]),
    ("Stripe key", "whsec_", LETTERS[:32]),
    ("model provider key", "sk-", LETTERS),
    ("model provider key", "sk-ant-", "api03-" + LETTERS),
    ("model provider key", "sk-proj-", LETTERS),
    ("model provider key", "hf_", LETTERS[:34]),
    ("model provider key", "gsk_", LETTERS),
    ("package registry token", "npm_", LETTERS[:36]),
    ("package registry token", "pypi-", LETTERS),
    ("cloud token", "dop_v1_", HEX[:64]),
    ("cloud token", "shpat_", HEX[:32]),
    ("cloud token", "hvs.", LETTERS[:24]),
    ("mail service key", "SG.", LETTERS[:22] + "." + LETTERS),
    ("mail service key", "key-", HEX[:32]),
    ("Twilio key", "SK", HEX[:32]),
    ("bot token", "123456789", ":AA" + LETTERS[:33]),
    ("workspace key", "secret_", LETTERS + "abc"),
    ("workspace key", "lin_api_", LETTERS),
    ("workspace key", "figd_", LETTERS),
    ("age key", "AGE-SECRET-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE"),
    ("JSON web token", "eyJhbGciOiJIUzI1NiJ9", ".eyJzdWIiOiIxMjM0NTY3ODkwIn0." + LETTERS),
    ("private key", "-----BEGIN RSA PRIVATE KEY-----", "\nMIIE\n-----END RSA PRIVATE KEY-----"),
    ("private key", "-----BEGIN PRIVATE KEY-----", "\nMIIE and then it was cut off"),
    ("social security number", "123-45", "-6789"),
    ("card number", "4111 1111", " 1111 1111"),
    ("card number", "378282", "246310005"),
]

ASSIGNED = [
    ("DB_PASSWORD=s3cr3t!pass", "s3cr3t!pass"),
    ('api_key: "9f8e7d6c5b4a"', "9f8e7d6c5b4a"),
    ("the staging password is hunter2x, Alice knows it", "hunter2x"),
    ("my passphrase is 'correct horse battery'", "correct horse battery"),
    ("Authorization: Bearer abcdef1234567890abcdef", "abcdef1234567890abcdef"),
    ("postgres://app:tr0ub4dor@db.internal/main", "tr0ub4dor"),
    ("client_secret = Zx9-Zx9-Zx9", "Zx9-Zx9-Zx9"),
    ("my PIN is 4921", "4921"),
    ("https://hooks.slack.com/services/" + "T0000/B0000/XXXX1234", "T0000/B0000/XXXX1234"),
]

BENIGN = [
    "",
    "No Firebase API key in the build",
    "The password is required",
    "The password is required for the second step",
    "password: at least 12 characters",
    "password = db.Column(db.String(120), nullable=False)",
    "hashed_password = argon2.hash_password(password)",
    "const token = getToken()",
    "Rotate the API key every 90 days",
    "token budget is 1500",
    "The token: a small coin",
    "secret: always salt the water",
    "Auth service uses Argon2 with a 12-byte salt",
    "commit 3f5a9c0e1b2d4f6a8c0e1b2d4f6a8c0e1b2d4f6a",
    "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "id 550e8400-e29b-41d4-a716-446655440000",
    "call +1 415 555 2671",
    "order 1234 5678 9012 3456",
    "on 2026-03-01 09:30:00 it was 17 degrees",
    "ISBN 978-3-16-148410-0",
    "https://example.com:8443/path",
    "mail bob@example.com",
    "sk-learn and sk-image",
    "the bearer of this letter",
    "Basic knowledge of statistics",
    "PIN code is printed on the card",
    "pin 10 is ground",
    "123-456-7890",
    "$4,111 in May",
    "eyJ is how web tokens begin",
    "key-value stores",
    "github_pat is a prefix",
    "She kept the secret for 20 years",
    "Do you have an access token?",
]


@pytest.mark.parametrize(("kind", "head", "tail"), SECRETS)
def test_a_secret_is_recognised_by_its_form_and_the_fact_stays(kind: str, head: str, tail: str) -> None:
    found = redact(f"Alice uses {head}{tail}\nfor deploys" if "cut off" not in tail else f"Alice uses {head}{tail}")
    assert found.kinds == (kind,)
    assert found.text.startswith(f"Alice uses [{kind} removed]")
    assert tail not in found.text
    assert "cut off" in tail or found.text.endswith("for deploys")


@pytest.mark.parametrize(("text", "value"), ASSIGNED)
def test_only_the_value_of_a_named_secret_is_removed(text: str, value: str) -> None:
    found = redact(text)
    before, after = text.split(value)
    assert found.text == f"{before}[{found.kinds[0]} removed]{after}"


@pytest.mark.parametrize("text", BENIGN)
def test_similar_harmless_text_stays(text: str) -> None:
    assert redact(text).text == text


def test_several_secrets_are_listed_in_order() -> None:
    aws = "AKIA" + "IOSFODNN7EXAMPLE"
    found = redact(f"card 4111111111111111, password={aws}, PIN: 4921")
    assert found.text == "card [card number removed], password=[AWS key removed], PIN: [PIN removed]"
    assert found.kinds == ("card number", "AWS key", "PIN")


@given(st.text(st.characters(codec=None)))
def test_redact_is_idempotent(text: str) -> None:
    once = redact(text)
    assert redact(once.text).text == once.text
    assert bool(once.kinds) == (once.text != text)


@pytest.mark.parametrize(
    "text",
    [
        "The user's password is hunter2x",
        "My PIN is 4921",
        "The user's new API key is now 9f8e7d6c5b4a",
        "The user's AWS key is AKIA" + "IOSFODNN7EXAMPLE",
    ],
)
def test_a_text_with_only_a_secret_is_hollow(text: str) -> None:
    assert hollow(text)


@pytest.mark.parametrize(
    "text",
    [
        "The deploy token of Mia is ghp_" + LETTERS[:36],
        "The staging password is hunter2x",
        "The user's password is hunter2x since the break-in",
        "The user has a password",
        "The user's password is short",
    ],
)
def test_a_text_with_other_content_is_not_hollow(text: str) -> None:
    assert not hollow(text)
