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
    ("**Card no.:** `4111 1111 1111 1111` **Exp:** `03/2029` **CVC2:** `604`", ["604"]),
    ("<Number>4111111111111111</Number><CVV>118</CVV>", ["118"]),
    ("card:\n4111\n1111\n1111\n1111\nval 05/28", ["1111\n1111", "05/28"]),
    ("routing 021000021 account number 483920175566", ["483920175566"]),
    ("| host | user | password |\n|---|---|---|\n| nas | bob | tulip |\n| tv | eve | Zebra-9 |", ["tulip", "Zebra-9"]),
    ("user,password,role\nbob,Zebra-9-Stripe,admin\n", ["Zebra-9-Stripe"]),
    ("CREATE USER 'shop'@'%' IDENTIFIED BY 'apfelmus';", ["apfelmus"]),
    ('<add key="SmtpPassword" value="Gr4nite-Peak" />', ["Gr4nite-Peak"]),
    ("<db:password>nordlicht</db:password>", ["nordlicht"]),
    ('requests.get(url, auth=("bob", "nordlicht"))', ["nordlicht"]),
    ("redis-cli -h cache -a nordlicht ping", ["nordlicht"]),
    ("openssl pkcs12 -in a.p12 -passin pass:nordlicht", ["nordlicht"]),
    ("JSESSIONID=0A1B2C3D4E5F6071; Path=/", ["0A1B2C3D4E5F6071"]),
    ("WIFI:S:Home;T:WPA;P:geheim;;", ["geheim"]),
    ("anna@firm.example:Sommer2023!", ["Sommer2023!"]),
    (f"secret key [{', '.join(map(str, range(64)))}]", ["12, 13"]),
    ("my pass is the dog's name plus year: Biscuit2016", ["Biscuit2016"]),
    ("What's the wifi password? It's Sonne123", ["Sonne123"]),
    ("Passwort: rotes pferd tanzt sommer", ["pferd tanzt"]),
    ("password netflix tomate88", ["tomate88"]),
    ("Network: HomeSweet, key: 9Tulips4Mom", ["9Tulips4Mom"]),
    ("Wlan heißt Nachbar5G und der Schlüssel ist Erdbeertorte", ["Erdbeertorte"]),
    ("la pass di gmail e' tiramisu.61", ["tiramisu.61"]),
    ("ww: appeltaart9 (voor de mail)", ["appeltaart9"]),
    ("парол: баница2020", ["баница2020"]),
    ("IDはtanaka、パスはfuji3776です", ["fuji3776"]),
    ("رمز الواي فاي: zaytun-55", ["zaytun-55"]),
    ("parool on kalevipoeg8", ["kalevipoeg8"]),
    ("password saya rendang88 ya", ["rendang88"]),
    ("garage keypad is 4 4 0 9", ["4 4 0 9"]),
    ("le code de l'immeuble c'est 58B21", ["58B21"]),
    ("the code for the shed is 5580", ["5580"]),
    ("4821 is the PIN of my phone", ["4821"]),
    ("charge 4111 1111 1111 1111, sec code is 771, exp next March", ["771"]),
    ("nr konta: 61 1090 1014 0000 0712 1981 2874", ["1090 1014"]),
    ("PW fürs Gäste-WLAN steht auf der Box, es ist Mondlicht#7", ["Mondlicht#7"]),
    ("just log in with admin and Passw0rd!2024", ["Passw0rd!2024"]),
    ("u: jenny  p: Guacamole_19", ["Guacamole_19"]),
    ("şifreyi kedim2015 yaptım", ["kedim2015"]),
    ("รหัสผ่าน wifi คือ mango555", ["mango555"]),
    ("kodeord til alarmen er 4471", ["4471"]),
    ("punch 8-6-4-2 into the lock on the shed", ["8-6-4-2"]),
    ("my card PIN is one nine eight four", ["one nine eight four"]),
    ("words 1-12: " + "zoo " * 12 + "\nwords 13-24: " + "able " * 12, ["zoo zoo", "able able"]),
    ("//registry.example/:_authToken=ztCrv8M5Ag7Mrz5etdKpRRFo1dH", ["ztCrv8M5Ag7M"]),
    ("PrivateKey = ycikxzPAqsT5yIS0A8ST2cSFwTv8z4gn9ja29X+DqU0=", ["ycikxzPAqsT5"]),
    ("wallet secret (hex) " + "e748d0eb" * 8, ["e748d0eb"]),
    ("Steam guard recovery code RUDZ-SX1U-IQOT", ["SX1U-IQOT"]),
    ("NHS / NI number QQ 12 34 56 C", ["12 34 56"]),
    ("acuérdate: la clave de la alarma es 7741", ["7741"]),
    ("mitt nya lösenord på jobbet blev Björkmossa3", ["Björkmossa3"]),
    ("рутер: admin / Teremok_55", ["Teremok_55"]),
    ("비번 바꿨어: dokkaebi33", ["dokkaebi33"]),
    ("Airbnb key box 3085, second floor", ["3085"]),
    ("Tresor: 14 rechts, 32 links, 7 rechts", ["14 rechts", "32"]),
]
HONEST = [
    "The seed words on the garden label: basil, thyme, carrot, radish, leek, onion, beet, kale, chard, pea, bean, corn",
    "river table window garden music paper cloud stone bread chair forest light",
    "The access code of conduct was revised in 2024",
    "postgres://user:password@localhost:5432/app is the example from the manual",
    "wifi is slow / unusable upstairs",
    "Passwords moved from one team to another",
    "bus pass: MVV2024",
    "Airbnb in Lisbon, 3085 reviews",
    "router: admin page at 192.168.0.1",
    'print(login("user1", "password123"))',
    "docker login -u bob --password-stdin < file",
    "mongo --host localhost --port 27017",
    "**Login**: the action `docker/login-action@v2`",
    "u: unread, p: pending",
    "SELECT id, password FROM users WHERE id = 4821",
    "key results: 3 of 5 reached",
    "the pin code area of Mumbai is 400001 to 400104",
    "first session, second session, access to /admin2024/login was removed",
    "The building code of 2018 is on the shelf",
    "turn 14 right, then 32 left at the church",
    "| field | type |\n|---|---|\n| password | string |\n| email | string |",
    "We have users, passwords, roles\nand then groups, teams, folders",
    "anna@firm.example:8080",
    "Did she change the password? She did in 2023",
    "password protected archive backup2024",
    "Passwort: bitte beim Admin erfragen",
    "Забыл пароль от сервера, он сменился в 2022",
]
LONG = [
    "password, b\n1, 2\n",
    "14 right 32 left ",
    "code of the door ",
    "4111\n",
    "password? it's ",
    "key: ",
    "a@b.de:x1",
    "пароль а1 ",
    "wifi: a / b",
    "password from a1 to ",
    "zoo ",
    "4111 1111 1111 1111 12/28 code ",
]


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
        text, times = unit * (length // len(unit)), []
        for _ in range(3):
            begun = time.process_time()
            redact(text)
            times.append(time.process_time() - begun)
        spent.append(min(times))
    assert spent[1] < 0.02 or spent[1] < 10 * spent[0], "quadratic time would be sixteen times"
