"""Secrets without a verb, in pairs, in tables, in commands and beside cards are removed; texts that look like them stay."""

import time

import pytest

from slowwave.policy.guard.redaction import redact

SECRETS = [
    ("Amex 3782 822463 10005 exp 04-2029 CID 7821", ["7821"]),
    ("4111111111111111|06|26|331", ["331"]),
    ("Карта 4111 1111 1111 1111, срок 08/27, код с обратной стороны 406", ["406"]),
    ("metamask: " + "zoo, " * 11 + "wrong keep it safe", ["zoo, wrong"]),
    ("пароль до вайфаю вареники2022", ["вареники2022"]),
    ("كلمة مرور الواي فاي هي nakhla2021", ["nakhla2021"]),
    ("רשמתי: הסיסמה לוויי-פיי falafel770", ["falafel770"]),
    ("パスワードを「hanami-0331」に変更しました", ["hanami-0331"]),
    ("와이파이 비번은 kimchi4321!", ["kimchi4321"]),
    ("密码改成了 panda5566", ["panda5566"]),
    ("账号 liwei 密码 panda5566", ["panda5566"]),
    ("wifi is FritzNet / geheim123", ["geheim123"]),
    ("Zugangsdaten: max.muster / Rosenkohl-12", ["Rosenkohl-12"]),
    ("I changed the admin password from Winter2023 to Spring2024! yesterday", ["Winter2023", "Spring2024"]),
]
HONEST = [
    "The seed words on the garden label: basil, thyme, carrot, radish, leek, onion, beet, kale, chard, pea, bean, corn",
    "river table window garden music paper cloud stone bread chair forest light",
    "The access code of conduct was revised in 2024",
    "postgres://user:password@localhost:5432/app is the example from the manual",
    "wifi is slow / unusable upstairs",
    "Passwords moved from one team to another",
    "Забыл пароль от сервера, он сменился в 2022",
]
LONG = ["пароль а1 ", "wifi: a / b", "password from a1 to ", "zoo ", "4111 1111 1111 1111 12/28 code "]


@pytest.mark.parametrize(("text", "values"), SECRETS)
def test_a_secret_is_removed(text: str, values: list[str]) -> None:
    found = redact(text).text
    assert all(value in text for value in values)
    assert [value for value in values if value in found] == []


@pytest.mark.parametrize("text", HONEST)
def test_text_without_a_secret_stays(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize("unit", LONG)
def test_the_time_is_in_proportion_to_the_length(unit: str) -> None:
    spent = []
    for length in (2_500, 10_000):
        text = unit * (length // len(unit))
        begun = time.process_time()
        redact(text)
        spent.append(time.process_time() - begun)
    assert spent[1] < 0.02 or spent[1] < 10 * spent[0], "quadratic time would be sixteen times"
