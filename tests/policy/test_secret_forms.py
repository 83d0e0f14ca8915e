"""Codes of locks, changed passwords, recovery codes and numbers of identity are removed; texts that look like them stay."""

import time

import pytest

from slowwave.policy.guard.redaction import hollow, redact

SECRETS = [
    ("Hab das Passwort vom NAS auf Blaubeerkuchen geändert", "Blaubeerkuchen"),
    ("Ich habe mein Kennwort auf Tr0mmelwirbel geändert", "Tr0mmelwirbel"),
    ("rootpw: zebra!crossing", "zebra!crossing"),
    ("adminpw=kestrel99", "kestrel99"),
    ("the safe opens with 24-07-91", "24-07-91"),
    ("The safe in the study opens with 7719", "7719"),
    ("Der Tresor geht mit 480213 auf", "480213"),
    ("Le coffre s'ouvre avec 5512", "5512"),
    ("La caja fuerte se abre con 9034", "9034"),
    ("La cassaforte si apre con 6621", "6621"),
    ("De kluis gaat open met 3398", "3398"),
    ("to get into the garage press 5580# on the keypad", "5580"),
    ("dial 34-12-28 to open my gym locker", "34-12-28"),
    ("Set the router password to Moonraker, all lowercase", "Moonraker"),
    ("J'ai changé le mot de passe du NAS en pamplemousse", "pamplemousse"),
    ("He cambiado la contraseña del router a aguacate", "aguacate"),
    ("Ho cambiato la password del NAS in mirtillo77", "mirtillo77"),
    ("Ik heb het wachtwoord veranderd in appelboom", "appelboom"),
    ("Сменил пароль на гагарин61", "гагарин61"),
    ("zmieniłam hasło na wiewiorka", "wiewiorka"),
    ("my SIM's PUK is 81920374", "81920374"),
    ("SIM PUK1 47110815, PIN1 0815", "47110815"),
    ("the alarm is disarmed with 2046", "2046"),
    ("alarm: 2046 to disarm", "2046"),
    ("Die Alarmanlage wird mit 1357 ausgeschaltet", "1357"),
    ("GitHub recovery codes: 3f9a1-b20cd, 77e1c-9d0fa", "3f9a1-b20cd"),
    ("my backup codes for Google are 4821 7733 and 9012 5567", "4821 7733"),
    ("2FA seed for AWS: KRSXG5CTMVRXEZLU", "KRSXG5CTMVRXEZLU"),
    ("https://api.weather.example/v2/now?q=Graz&apikey=83hf7sk20dk3", "83hf7sk20dk3"),
    ("https://maps.example/tiles?access_key=pK_99xTy71", "pK_99xTy71"),
    ("mongodb+srv://svc:n0rthw1nd@cluster0.example.net/app", "n0rthw1nd"),
    ("Data Source=sql1;User ID=sa;Password=Gr4nite;", "Gr4nite"),
    ("host=db user=app password=tulip dbname=main", "tulip"),
    ("-----BEGIN EC PRIVATE KEY----- MHcCAQEEIBx2 -----END EC PRIVATE KEY-----", "MHcCAQEEIBx2"),
    ("ssh key passphrase is violet umbrella", "violet umbrella"),
    ("My social security number is 219-09-9999", "219-09-9999"),
    ("SSN 219099999", "219099999"),
    ("my passport number is C01X00T47", "C01X00T47"),
    ("Reisepass-Nr. C01X00T47", "C01X00T47"),
    ("Passwort vom Drucker heute auf Regenschirm geändert", "Regenschirm"),
    ("dbpw: quokka-17", "quokka-17"),
    ("our safe is opened with 66-14-39", "66-14-39"),
    ("Schloss am Fahrrad geht mit 7714 auf", "7714"),
    ("Le portail s'ouvre avec le 4490", "4490"),
    ("El candado se abre con 318", "318"),
    ("mudei a senha do wifi para jabuticaba", "jabuticaba"),
    ("jag bytte lösenordet till blåbär", "blåbär"),
    ("Wechselte das Kennwort zu Kolibri", "Kolibri"),
    ("deactivate the alarm with 90210", "90210"),
    ("type 4417 on the keypad by the back door", "4417"),
    ("PUK2: 00938471", "00938471"),
    ("recovery codes (Dropbox): 9f3k-22la, p0q7-81mz", "9f3k-22la"),
    ("TOTP seed GEZDGNBVGY3TQOJQ", "GEZDGNBVGY3TQOJQ"),
    ("GET /v1/geo?token=q81jd0skw2&city=Oslo", "q81jd0skw2"),
    ("jdbc:mysql://db/x?user=root&password=Harbour9", "Harbour9"),
    ("amqps://worker:s3ash3ll@mq.example:5671", "s3ash3ll"),
    ("Passport no. L898902C3, expires 2031", "L898902C3"),
    ("numéro de sécurité sociale : 2 69 05 49 588 157 80", "2 69 05 49 588 157 80"),
]
HONEST = [
    "We talked about changing the password to something safer",
    "Das Passwort wurde auf Wunsch geändert",
    "Ich habe das Passwort auf meinem Handy geändert",
    "He cambiado la contraseña a petición del banco",
    "J'ai changé le mot de passe en vitesse",
    "The safe opens with a fingerprint",
    "The shop opens with 40 percent off",
    "The season opens with 3 concerts",
    "The film opens with 1945 footage",
    "Der Laden geht mit 30 Prozent Rabatt auf",
    "The alarm is set for 0630",
    "alarm: 2 of them went off",
    "Press 2 for sales, then dial 555 to reach Anna",
    "dial 112 in an emergency",
    "my order number is C01X00T47",
    "ISBN 9780306406157",
    "ISBN: 978-3-16-148410-0 costs 24.90",
    "call 0664 1234567 after six",
    "+1 (212) 555-0147 is her office",
    "commit 1f0c3e7a9d fixes the login",
    "the brand colour is #7f3fbf, the accent #ffcc00",
    "rgb(127, 63, 191) and hsl(270, 50%, 50%)",
    "The PIN is sent by mail within 5 days",
    "My PUK is on the card in the drawer",
    "PINs have 4 digits",
    "The recovery codes are in the drawer",
    "I printed 10 recovery codes yesterday",
    "2FA is on for all 14 accounts",
    "use a seed of 42 for the sampler",
    "https://example.org/list?sort=key&order=asc",
    "https://example.org/?id=48213377&lang=de",
    "postgres://localhost:5432/main",
    "Server=db;Database=main;Trusted_Connection=True",
    "my passport expires in 2029",
    "Mein Reisepass ist abgelaufen",
    "the social security office opens at 9",
    "wifi is slow / unusable in the cellar",
    "wifi is FritzBox7590, ask the host for the rest",
    "parcel 00340434161094042557 arrives on Monday",
    "the password manager is called Bitwarden",
    "Passwort heute auf Anfrage geändert",
    "the party is opened with 2 speeches",
    "Das Schloss ist auf 7 Etagen verteilt",
    "Le musée s'ouvre avec 30 minutes de retard",
    "mudei a senha para evitar problemas",
    "Ich wechselte das Kennwort zu Hause",
    "deactivate the alarm with the fob",
    "type 2 diabetes runs in the family",
    "the keypad by the door is broken since 2021",
    "The seed 4711 gives the same result",
    "recovery codes expire after 30 days",
    "GET /v1/users?page=2&token_type=bearer",
    "jdbc:mysql://db:3306/main",
    "Passport photos cost 12.50",
    "My passport was issued in Vienna in 2019",
    "network Sunroom, key account management",
    "invoice 269054958815780 is paid",
    "git sha 9fceb02 and tag v1.4.2",
    "#336699 looks better than #333",
    "IMDb tt0111161, ASIN B07XJ8C8F5",
    "I changed my password in March.",
    "Cambié la contraseña por seguridad.",
    "J'ai changé le mot de passe en ligne.",
    "Zmieniłem hasło na stronie",
    "Сменил пароль на работе",
    "Ho cambiato la password in ufficio.",
]
LONG = [
    "opens the safe with 1234 ",
    "press 1234 # ",
    "safe 12-",
    "alarm: 123 ",
    "backup codes: ",
    "backup codes: 1234-5678, ",
    "passport no. A1 ",
]


@pytest.mark.parametrize(("text", "value"), SECRETS)
def test_a_secret_is_removed(text: str, value: str) -> None:
    assert value not in redact(text).text


@pytest.mark.parametrize("text", HONEST)
def test_text_without_a_secret_stays(text: str) -> None:
    assert redact(text).text == text


def test_every_code_of_a_list_is_removed() -> None:
    codes = "3f9a1-b20cd, 77e1c-9d0fa and 10fe8-2c4b7"
    found = redact(f"GitHub recovery codes: {codes}. I keep 2 of them at work.")
    assert found.text == (
        "GitHub recovery codes: [secret removed], [secret removed] and [secret removed]. I keep 2 of them at work."
    )


def test_kinds() -> None:
    assert redact("The safe opens with 7719, my passport number is C01X00T47.").kinds == ("PIN", "identity number")
    assert hollow("My passport number is C01X00T47")
    assert not hollow("The safe in the study opens with 7719")


@pytest.mark.parametrize("unit", LONG)
def test_the_time_is_in_proportion_to_the_length(unit: str) -> None:
    spent = []
    for length in (2_500, 10_000):
        text = unit * (length // len(unit))
        begun = time.process_time()
        redact(text)
        spent.append(time.process_time() - begun)
    assert spent[1] < 0.02 or spent[1] < 10 * spent[0], "quadratic time would be sixteen times"
