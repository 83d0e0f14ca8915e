"""Secrets in many forms and languages are removed; dates, numbers, identifiers and talk about passwords stay."""

import time

import pytest

from slowwave.policy.guard.redaction import redact

H = "0123456789abcdef"
L = "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3fG6hJ9k"
SECRETS = [
    ("カード番号は4111111111111111です。", "4111111111111111"),
    ("我的卡号是5500000000000004，谢谢", "5500000000000004"),
    ("my card is ４０１２８８８８８８８８１８８１ ok", "４０１２８８８８８８８８１８８１"),
    ("the CVV on the back of my Mastercard is 415", "415"),
    ("konto PL 61 1090 1014 0000 0712 1981 2874", "61 1090 1014 0000 0712 1981 2874"),
    ("Wifi şifrem mavibisiklet, unutma.", "mavibisiklet"),
    ("Parolam yeşilkaplumbağadır", "yeşilkaplumbağa"),
    ("मेरा पासवर्ड chaiwala है", "chaiwala"),
    ("GET https://api.firm.example/v1?appid=0f1e2d3c4b5a69788796a5b4c3d2e1f0", "0f1e2d3c4b5a69788796a5b4c3d2e1f0"),
    ("Card 4111 1111 1111 1111 12/28 CVV 737 for the hotel", "4111 1111 1111 1111"),
    ("pay with 5500-0000-0000-0004 exp 09/2027", "5500-0000-0000-0004"),
    ("Meine Karte: 4012888888881881, gültig bis 03/29, Prüfnummer 415", "415"),
    ("amex 3782 822463 10005 08/26", "3782 822463 10005"),
    ("my IBAN is DE89 3704 0044 0532 0130 00 at the Sparkasse", "DE89 3704 0044 0532 0130 00"),
    ("transfer to GB82WEST12345698765432 please", "GB82WEST12345698765432"),
    ("IBAN FR14 2004 1010 0505 0001 3M02 606", "FR14 2004 1010 0505 0001 3M02 606"),
    ("CVV: 123", "123"),
    ("my password is sunshine", "sunshine"),
    ("My wifi password is purplemonkey.", "purplemonkey"),
    ("Passwort: Sommerregen", "Sommerregen"),
    ("mein Passwort ist geheimnis99", "geheimnis99"),
    ("Das Kennwort lautet Tannenzapfen", "Tannenzapfen"),
    ("mon mot de passe est tournesol", "tournesol"),
    ("mot de passe : Soleil!42", "Soleil!42"),
    ("mi contraseña es gatonegro", "gatonegro"),
    ("A minha senha é cachorro123", "cachorro123"),
    ("la mia password è pizzaiolo", "pizzaiolo"),
    ("mijn wachtwoord is fietsbel", "fietsbel"),
    ("mitt lösenord är blåbär77", "blåbär77"),
    ("moje hasło to kotek123", "kotek123"),
    ("мой пароль: ромашка", "ромашка"),
    ("мій пароль — калина7", "калина7"),
    ("şifrem: ankara06", "ankara06"),
    ("我的密码是xiaomao88", "xiaomao88"),
    ("パスワードは sakura2020 です", "sakura2020"),
    ("비밀번호는 hanguk12 입니다", "hanguk12"),
    ("كلمة المرور هي qamar77", "qamar77"),
    ("הסיסמה שלי היא shalom18", "shalom18"),
    (
        "seed: legal winner thank year wave sausage worth useful legal winner thank yellow",
        "legal winner thank year wave sausage",
    ),
    (
        "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about",
        "abandon abandon abandon",
    ),
    (
        "1. letter 2. advice 3. cage 4. absurd 5. amount 6. doctor 7. acoustic 8. avoid 9. letter 10. advice 11. cage 12. above",
        "acoustic",
    ),
    (
        "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey="
        + "q1w2e3r4t5y6u7i8o9p0" * 4
        + "==;EndpointSuffix=core.windows.net",
        "q1w2e3r4t5y6u7i8o9p0q1w2",
    ),
    ("https://acme.blob.core.windows.net/c/f.txt?sv=2022-11-02&sig=abC%2Bdef123XYZ%3D&se=2027", "abC%2Bdef123XYZ%3D"),
    ("https://api.example.com/v1?access_token=" + L, L),
    ("Cookie: sessionid=38afes7a8f2k1; theme=dark", "38afes7a8f2k1"),
    ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA=="),
    ("X-Api-Key: " + H + H, H + H),
    ("mongodb+srv://root:hunter@cluster0.mongodb.net/test", "hunter"),
    ("export GITHUB_TOKEN=ghp_" + L[:36], L[:36]),
    (
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE\n-----END OPENSSH PRIVATE KEY-----",
        "b3BlbnNzaC1rZXktdjE",
    ),
    ("xoxb-" + "123456789012-1234567890123-" + L[:24], L[:24]),
    ("curl -u admin:Tr0mb0ne https://x.example", "Tr0mb0ne"),
    ("mysql --password=swordfish -h db", "swordfish"),
    ("card no. 6011 0009 9013 9424, expires 11/30, code 900", "6011 0009 9013 9424"),
    ("4242424242424242 01/27 123", "4242424242424242"),
    ("NL91 ABNA 0417 1643 00 is where the rent goes", "NL91 ABNA 0417 1643 00"),
    ("es91 2100 0418 4502 0005 1332", "2100 0418 4502 0005 1332"),
    ("heslo je ledňáček", "ledňáček"),
    ("a jelszavam: napraforgo", "napraforgo"),
    ("salasanani on mansikka9", "mansikka9"),
    ("ο κωδικός μου είναι thalassa5", "thalassa5"),
    ("मेरा पासवर्ड है ganga108", "ganga108"),
    ("mật khẩu của tôi là hoasen99", "hoasen99"),
    ("kata sandi saya adalah melati123", "melati123"),
    ("adgangskoden er solskin", "solskin"),
    ("parola mea este castravete", "castravete"),
    (
        "recovery phrase - army, van, defense, carry, jealous, true, garbage, claim, echo, media, make, crunch",
        "jealous",
    ),
    (
        "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=abcDEF123456ghiJKL789mnoPQR=",
        "abcDEF123456ghiJKL789mnoPQR=",
    ),
    ("Set-Cookie: auth=eyJraWQiOjF9abc.def; Path=/; HttpOnly", "eyJraWQiOjF9abc"),
    ('{"password": "letmein"}', "letmein"),
    ("redis://:p4ssw0rd@cache:6379/0", "p4ssw0rd"),
    ("otpauth://totp/ACME:jo?secret=JBSWY3DPEHPK3PXP&issuer=ACME", "JBSWY3DPEHPK3PXP"),
    ("my PIN for the card is 8841", "8841"),
    ("Netflix: user anna@example.org, password tangerine", "tangerine"),
    ("login admin / pass: opensesame", "opensesame"),
    ("my old password was maplesyrup but I changed it to birchbark", "birchbark"),
    ("Passwort fürs WLAN: Kirschblüte7", "Kirschblüte7"),
    ("le code wifi est framboise", "framboise"),
    (
        "eth private key 0x7c3e91ab52d84f60b1c9e72a6d0f48357c3e91ab52d84f60b1c9e72a6d0f4835",
        "7c3e91ab52d84f60b1c9e72a6d0f48357c3e91ab52d84f60b1c9e72a6d0f4835",
    ),
    ("Ocp-Apim-Subscription-Key: 7c3e91ab52d84f60b1c9e72a6d0f4835", "7c3e91ab52d84f60b1c9e72a6d0f4835"),
    ("TOTP secret: JBSW Y3DP EHPK 3PXP", "Y3DP EHPK"),
    ("account bob@firm.example pw marzipan", "marzipan"),
    ("username: carla, password spiderplant", "spiderplant"),
    ("Benutzer: tom / Passwort Wintergrün", "Wintergrün"),
    ("login: dora@x.example | pass: lemonade", "lemonade"),
    ("I changed the Spotify password to watermelon", "watermelon"),
    ("my bank password used to be daisy, then I switched it to rosemary", "rosemary"),
    ("Passwort beim Drucker: Papierstau", "Papierstau"),
    ("Kennwort im Gäste-WLAN ist Seestern", "Seestern"),
    ("code wifi : mirabelle", "mirabelle"),
    ("il codice wifi è basilico", "basilico"),
    ("la clave del wifi es girasol", "girasol"),
    ("mot de passe dans la cuisine : noisette", "noisette"),
    ("hasło w biurze to jagoda", "jagoda"),
    ("senha no escritório é morango", "morango"),
    ("Пароль в офисе: берёза", "берёза"),
    ("2FA backup key: MZXW 6YTB OI5D SN3K", "6YTB OI5D"),
    ("authenticator secret MFRG GZDF MZTW Q2LK", "GZDF MZTW"),
    (
        "private key: 0x0d9f8e7c6b5a41322314a5b6c7d8e9f00d9f8e7c6b5a41322314a5b6c7d8e9f0",
        "0d9f8e7c6b5a41322314a5b6c7d8e9f00d9f8e7c6b5a41322314a5b6c7d8e9f0",
    ),
    ("api token hT5vZq2Lw8Rb3Nx6Yd9Mc1Kf4Js7Gp0Ea", "hT5vZq2Lw8Rb3Nx6Yd9Mc1Kf4Js7Gp0Ea"),
    ("subscription-key 0d9f8e7c6b5a41322314a5b6c7d8e9f0", "0d9f8e7c6b5a41322314a5b6c7d8e9f0"),
    ("shared secret is hT5vZq2Lw8Rb3Nx6", "hT5vZq2Lw8Rb3Nx6"),
    ("wifi pw: hummingbird", "hummingbird"),
    ("4716 2210 5188 5662 - 08/29 - 774", "4716 2210 5188 5662"),
    ("meine Karte 5105105105105100 läuft 10/27 ab", "5105105105105100"),
    ("BE68 5390 0754 7034", "5390 0754 7034"),
    ("konto PT50 0002 0123 1234 5678 9015 4", "0002 0123 1234"),
    ("sftp://deploy:w0mbat@files.example.net/in", "w0mbat"),
    ("password=summer.rain;Server=db", "summer.rain"),
    ("phone unlock code 991204", "991204"),
]
HONEST = [
    "Şifrem yanlış.",
    "Parolam değişti.",
    "मेरा पासवर्ड strong है",
    "注文番号は4111111111111112です",
    "https://api.firm.example/?app_id=12&page=2",
    "Meet me on 2026-11-22 at 14:30, room 1204",
    "order 4111-1111-1111-1112 arrived",
    "ISBN 978-0-306-40615-7 is out of print",
    "ISBN-10 0-306-40615-2",
    "call me on +49 170 4821333 or 0171 4821 333",
    "tel. 01 48 21 33 44",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 broke it",
    "id 123e4567-e89b-12d3-a456-426614174000",
    "the password policy is strict",
    "The Wi-Fi at the café is slow, ask for the guest network",
    "I changed my password yesterday",
    "my password is expired",
    "my password is not working",
    "my password is too weak",
    "password: required",
    "Passwort: siehe Tresor",
    "Das Passwort ist abgelaufen",
    "Das Passwort ist falsch, sagt das System",
    "J'ai oublié mon mot de passe",
    "le mot de passe est obligatoire",
    "olvidé mi contraseña otra vez",
    "la contraseña es demasiado corta",
    "我忘记了密码",
    "密码是必填项",
    "パスワードは必須です",
    "비밀번호는 필요합니다",
    "мой пароль не работает",
    "пароль: обязательное поле",
    "The secret is patience and butter",
    "The token limit is 4096 per request",
    "max_tokens=4096, temperature=0.7",
    "tracking number 1Z999AA10123456784",
    "invoice 2026-0001234567890123 due 12/28",
    "flight LH 1234, seat 12A, booking ref X7K2PQ",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "Chop onion, garlic, carrot, potato, tomato, mushroom, pepper, salt, butter, cream, cheese, bread",
    "https://example.com/search?q=memory&page=2&key=value",
    "I ate a cookie: chocolate chip, the best",
    "basic idea: keep it simple and authorize later",
    "The IBAN field is on page 2 of the form DE-2026-113",
    "my password is in the vault",
    "My passphrase is long enough, says the checker",
    "the PIN pad is broken, try the one at window 3",
    "zip code 90210, building 4, floor 12",
    "EAN 4006381333931 is on the box",
    "VIN 1HGCM82633A004352",
    "the API key is stored in 1Password",
    "Rotate the access token every 30 days",
    "la password è stata cambiata ieri",
    "hasło jest za krótkie",
    "mijn wachtwoord is verlopen",
    "senha: obrigatória",
    "şifremi unuttum",
    "case no. 12-345678-CV was dismissed",
    "IMEI 490154203237518 of the old phone",
    "He said the code word and they laughed",
    "Bitcoin fell to 64,123.55 on 3 May 2024",
    "md5 d41d8cd98f00b204e9800998ecf8427e is the empty file",
    "We need a better password manager: I like the one with a bear",
    "Bearer of bad news: authentication is required for the demo on 12/28",
    "const password = req.body.password;",
    "£300 pw - negotiable",
    "Rent is £220 pw, bills included",
    "Boarding pass: LH1234",
    "Mountain pass: closed until May",
    "login page, password field",
    "The user forgot, password reset needed",
    "user 42 / pass 3 of 5 is running",
    "I changed the password to be safe",
    "We switched from passwords to passkeys",
    "password = os.environ['PW']",
    "password=settings.DB_PASSWORD",
    "token = ctx.token",
    "secret = self.secret.value",
    "authenticator app: Google",
    "2FA: THIS WILL HELP THEM",
    "The wifi code is printed on the box",
    "the code wifi n'est pas bon",
    "le code wifi est sur la box",
    "la clave es escuchar",
    "Dress code: casual",
    "subscription key rotation is due",
    "the private key never leaves the device",
    "shared secret management",
    "E-mail: anna@example.org, phone 0151 2345678",
    "account 4711, order 88231",
    "username anna99 joined in 2021",
    "Mein Konto ist leer",
    "Das Passwort wurde auf dem Server geändert",
    "the API token expires at 2027-01-01T00:00:00Z",
    "trace 0d9f8e7c6b5a41322314a5b6c7d8e9f0",
    "I gave the wifi password to Anna.",
    "Send the password to Marco",
    "the password expires, set it to expire",
]

LONG = [
    *(
        "a",
        "A1",
        "密码",
        "password ",
        "my password is very ",
        "password=",
        "PASSWORD=",
        "token=",
        "a.b.c.",
        "a://",
        "eyJ",
    ),
    *("-----BEGIN PRIVATE KEY-----", "bearer ", "4 1-", "4111 ", "DE89 ", "zoo ", "seed phrase: word word ", "x-a-b-"),
    *("cookie:a=", "?sig=", "curl -u a:", "otpauth://a?", "AccountKey=", "hunter2x as ", "'", "(((", "A_", "12/28 "),
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_secret_is_removed(text: str, secret: str) -> None:
    assert secret not in redact(text).text


@pytest.mark.parametrize("text", HONEST)
def test_text_without_a_secret_stays(text: str) -> None:
    assert redact(text).text == text


def test_the_expiry_and_the_code_beside_a_card_are_removed_too() -> None:
    assert redact("4242424242424242 01/27 123").kinds == ("card number", "card expiry", "card code")


@pytest.mark.parametrize("unit", LONG)
def test_the_time_is_in_proportion_to_the_length(unit: str) -> None:
    spent = []
    for length in (2_500, 10_000):
        text = unit * (length // len(unit))
        begun = time.process_time()
        redact(text)
        spent.append(time.process_time() - begun)
    assert spent[1] < 0.02 or spent[1] < 10 * spent[0], "quadratic time would be sixteen times"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Server=db;Password=Sparrow#Kettle;Encrypt=True", "Kettle"),
        ("Die PIN ist 7741, PUK 60391852", "60391852"),
        ("Our guest network is Meadow, WiFi key: larkspurlane", "larkspurlane"),
        ("Licence key: TRZQ8-4KD2P-99XWM", "4KD2P"),
    ],
)
def test_no_part_of_a_named_secret_stays(text: str, value: str) -> None:
    assert value not in redact(text).text
