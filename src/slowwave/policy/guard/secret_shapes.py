"""Finds secrets by their form: private keys, tokens of known services, and values in addresses, headers, code and commands."""

import re
from collections.abc import Iterator
from typing import Final

from slowwave.policy.text.lazy_regex import lazy_regex

_CODE: Final = (
    r"(?!(?:self|this|req|request|res|ctx|context|config|cfg|conf|os|process|env|environ|params|body|data|user|args|opts|options|"
    r"settings|app|form|input|event|props|state|secrets|var|local|module)\.[A-Za-z_])"
)
"""An expression of a program that stands where a value may stand."""
# Kind, keywords and pattern of each secret. A pattern is searched for if the text, in lower case, contains one of its keywords;
# one without keywords, in each word that is as long as a token. If a pattern has a group, only the group is removed.
# Every run has a limit, so that the time of a search is in proportion to the length of the text.
_SHAPES: Final = (
    ("private key", "-----begin", r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{1,60}-----|\Z)"),
    ("private key", "putty", r"PuTTY-User-Key-File-\d:[\s\S]*?(?:Private-MAC: ?[0-9a-f]{1,80}|\Z)"),
    ("wallet key", "", r"(?<![A-Za-z0-9])(?:[5KL][1-9A-HJ-NP-Za-km-z]{50,51}|[xyz]prv[1-9A-HJ-NP-Za-km-z]{100,112})(?![A-Za-z0-9])"),
    ("JSON web token", "", r"(?<![\w-])eyJ[\w-]{8,2000}+\.eyJ[\w-]{8,4000}+\.[\w-]{8,4000}+"),
    ("AWS key", "", r"(?<![A-Za-z0-9])(?:AKIA|ASIA|AGPA|AIDA|AROA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])|(?<!\w)ABSK[A-Za-z0-9+/]{80,200}"),
    ("Google key", "", r"(?<!\w)AIza[\w-]{35}|(?<!\w)ya29\.[\w-]{20,2000}|(?<!\w)GOCSPX-[\w-]{20,60}|(?<![\w/])1//0[\w-]{30,200}|(?<!\w)AAAA[\w-]{7}:[\w-]{130,200}"),
    ("GitHub token", "", r"(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{30,300}|(?<![A-Za-z0-9])github_pat_\w{40,300}"),
    ("GitLab token", "", r"(?<!\w)(?:gl(?:pat|ptt|dt|rt|cbt|oas|soat|ft|agent)|glimt)-[\w-]{20,300}|(?<!\w)GR1348941[\w-]{20}"),
    ("Slack token", "", r"(?<!\w)xox[abceoprs](?:\.xox[abp])?-[\w-]{10,300}|(?<!\w)xapp-\d-[\w-]{10,300}"),
    ("webhook", "", r"https://hooks\.slack\.com/(?:services|workflows)/([\w/-]{10,200})|https://(?:\w{1,20}\.)?discord(?:app)?\.com/api/webhooks/(\d{5,30}/[\w-]{5,200})"),
    ("Stripe key", "", r"(?<![A-Za-z0-9])(?:sk|rk|pk|whsec)_(?:live_|test_)?[A-Za-z0-9]{20,300}"),
    ("model provider key", "", r"(?<![A-Za-z0-9])(?:sk-(?:ant-|proj-|or-|svcacct-|lf-)?[\w-]{20,300}|gsk_\w{20,300}|hf_[A-Za-z0-9]{20,300}|r8_\w{20,300}|xai-\w{20,300}|pplx-\w{20,300}|nvapi-[\w-]{20,300}|tgp_v1_[\w-]{20,300}|fw_[A-Za-z0-9]{20,300}|lsv2_(?:pt|sk)_[\w-]{30,100}|pcsk_\w{30,100}|jina_\w{30,100}|wandb_v1_\w{30,100}|apify_api_\w{20,60}|tvly-[\w-]{20,60})"),
    ("package registry token", "", r"(?<![A-Za-z0-9])(?:npm_[A-Za-z0-9]{30,300}|pypi-[\w-]{20,500}|dckr_(?:pat|oat)_[\w-]{20,300}|rubygems_[0-9a-f]{40,300}|cio[A-Za-z0-9]{32}|oy2[a-z0-9]{43}|AKCp[A-Za-z0-9]{60,80})"),
    ("cloud token", "", r"(?<![A-Za-z0-9])(?:do[opr]_v1_[0-9a-f]{40,300}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{30,300}|dapi[0-9a-f]{32}(?:-\d)?(?!\w)|hv[sbr]\.[\w-]{20,300}|fo1_[\w-]{30,300}|fm2_[\w+/=-]{30,500}|sbp_[0-9a-f]{30,300}|tskey-[\w-]{16,300}|dp\.(?:pt|st|ct)\.[\w.-]{20,300}|pscale_(?:tkn|pw|oauth)_[\w.-]{20,300}|glsa_\w{20,300}|glc_[\w=+/]{20,500}|NRAK-[A-Z0-9]{20,60}|sntry[su]_[\w+/=-]{20,500}|ph[cx]_\w{30,100}|rnd_\w{20,100}|v1\.0-[0-9a-f]{20,200}|ops_eyJ[\w-]{40,2000}|vercel_\w{20,100}|cf(?:ut|at|k)_\w{30,100}|LTAI[A-Za-z0-9]{12,30}(?!\w)|AKID[A-Za-z0-9]{13,40}(?!\w)|AQVN[\w-]{30,60}|HRKU-[\w-]{30,100}|nfp_\w{30,100}|napi_\w{30,100}|sb_secret_[\w-]{20,100}|pul-[0-9a-f]{40}|CCIPAT_\w{20,200}|bkua_[0-9a-f]{30,60}|sq[pua]_[0-9a-f]{40}|aio_[A-Za-z0-9]{28}|[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,100}|CLOJARS_[0-9a-f]{60}|(?:sk|tk)\.eyJ[\w-]{20,500}\.[\w-]{10,100})|(?<!\w)[\w~.-]{3}[0-9]Q~[\w~.-]{31,34}(?!\w)"),
    ("mail service key", "", r"(?<![A-Za-z0-9])(?:SG\.[\w-]{16,100}\.[\w-]{16,200}|key-[0-9a-f]{32}(?!\w)|xkeysib-[0-9a-f]{40,100}[\w-]{0,60}|re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,60}|[0-9a-f]{32}-us\d{1,2}(?!\w))"),
    ("Twilio key", "", r"(?<![A-Za-z0-9])(?:SK|AC)[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("bot token", "", r"(?<!\w)\d{8,10}:AA[\w-]{32,35}(?!\w)|(?<!\w)[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,38}(?!\w)"),
    ("workspace key", "", r"(?<![A-Za-z0-9])(?:(?:secret|ntn)_[A-Za-z0-9]{40,300}|lin_api_\w{30,300}|sq0(?:atp|csp)-[\w-]{20,100}|EAAA[\w-]{60,100}|figd_[\w-]{30,300}|AT(?:ATT|CTT)3[\w=-]{30,500}|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}(?!\w)|PMAK-[0-9a-f-]{40,80}|CFPAT-[\w-]{40,60}|A3-[A-Z0-9]{6}-[A-Z0-9]{6,11}(?:-[A-Z0-9]{5}){3,5}|EAA[A-Za-z0-9]{90,400}|sl\.[\w-]{60,2000}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:fx(?!\w)|mfa\.[\w-]{80,100}|oauth:[a-z0-9]{30}(?!\w)|pat-(?:na|eu)\d-[0-9a-f-]{36})"),
    ("age key", "", r"(?<!\w)AGE-SECRET-KEY-1[A-Z0-9]{50,70}"),
    ("password", "://", r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s:/@?#]{0,100}:(?!(?:pass(?:word)?|passwd|pwd|pw|user)@)([^\s/@]{3,200})@[^\s/]"),
    ("token", "bearer basic", r"(?<!\w)(?:bearer|basic)\s{1,3}((?=[\w.~+/-]{0,200}\d)[\w.~+/-]{16,4000}+={0,2})"),
    ("token", "authorization", r"(?<!\w)(?:proxy-)?authorization[\"']?\s{0,2}[:=]\s{0,2}[\"']?(?:(?:basic|bearer|digest|token|apikey|api-key|negotiate|aws4-hmac-sha256|sharedaccesssignature)\s{1,2})?([\w.~+/=:-]{8,4000}+)(?![\w ]{0,20}\s\w)"),
    ("token", "x-", r"(?<!\w)x-(?:[a-z]{1,20}-){0,3}(?:key|token|secret|signature|auth|password)[\"']?\s{0,2}[:=]\s{0,2}[\"']?([^\s\"',;]{6,4000})"),
    ("cookie", "cookie", r"(?<![\w-])(?:set-)?cookie\s{0,2}:\s{0,2}([\w.$-]{1,80}=[^\n]{4,4000})"),
    ("cookie", "-b cookie", r"(?<!\w)(?:curl|wget|https?)(?=\s)[^\n]{0,200}?\s(?:-b|-{2}cookie)[\s=]{1,2}[\"']?([\w.$-]{1,80}=[^\n\"']{4,4000})"),
    ("token", "=", r"[?&;#](?:sig|signature|sign|token|access_token|refresh_token|id_token|auth_token|auth|api_?key|subscription-key|client_secret|secret|session_?id|jwt|otp|x-amz-(?:signature|security-token|credential)|x-goog-signature|hmac|hash_key|private_token|sas|invite_token|reset_token|app_?secret|consumer_secret)=((?=[^\s&#\"'<>]{0,200}[\d%]|[^\s&#\"'<>]{20})[^\s&#\"'<>]{6,4000})"),
    ("token", "=", r"[?&;#](?:key|code|magic|t|k|s|hash|ticket|state|nonce|app_?id)=((?=[^\s&#\"'<>]{0,200}\d)(?=[^\s&#\"'<>]{0,200}[a-z])[^\s&#\"'<>]{16,4000})"),
    ("password", "=", r"[?&;](?:password|passwd|pwd|pass|passphrase|pin)=([^\s&#\"'<>]{3,400})"),
    ("secret", "=", r"(?i:(?<!\w)(?:account ?key|shared ?access ?(?:key|signature)|access ?key ?secret|storage ?key|instrumentation ?key|secret|pwd|password))\s{0,2}=\s{0,2}" + _CODE + r"([^\s;\"'()<>{}\[\],]{6,500}+)(?!\()"),
    ("secret", "=", r"(?:PASSWORD|PASSWD|PASSPHRASE|(?<![A-Za-z])PASS|SECRET|TOKEN|API_?KEY|ACCESS_?KEY|SECRET_?KEY|PRIVATE_?KEY|PWD)\s?=\s?[\"']?(?!\d{1,5}(?!\w)|(?i:true|false|none|null)(?!\w))([^\s\"'(){}<>$\[\]]{4,500}+)(?!\()"),
    ("secret", "pass pwd secret token key", r"(?i:password|passwd|pwd|passphrase|secret|api_?key|token|private_?key|client_?secret|pass)[\"']\s{0,3}:\s{0,3}[\"']((?!string|text|required|true|false|null|none)[^\"'\n]{4,4000})[\"']"),
    ("secret", "-pass -pwd -token -api -secret -access -auth -client -private", r"(?<!\w)--?(?:(?!no-|reset-|change-|ask-)[a-z]{1,15}-){0,2}(?:password|passwd|pass|pwd|token|api-?key|secret|access-?key|auth-?token|client-?secret|passphrase|private-?key)(?:=|\s{1,2})[\"']?(?!-)([^\s\"'$<>(){}\[\]]{4,400})"),
    ("password", "curl wget http", r"(?<!\w)(?:curl|wget|http|https)\s[^\n]{0,200}?(?:-u|-{2}user)\s{1,2}[\"']?[^\s:\"']{1,80}:([^\s\"']{3,200})"),
    ("password", "sshpass mysql", r"(?<!\w)(?:sshpass\s{1,2}-p\s{0,2}|mysql(?:dump)?\s[^\n]{0,120}?-p(?=\S))[\"']?([^\s\"'$-][^\s\"']{2,200})"),
    ("one-time secret", "otpauth", r"(?<!\w)otpauth://[^\s\"'<>]{1,400}?[?&]secret=([A-Za-z2-7]{8,200})"),
    ("one-time secret", "totp 2fa mfa otp authenticator two-factor", r"(?<!\w)(?:totp|2fa|mfa|otp|authenticator|two-factor)[^\n:=]{0,30}[:=]?\s{0,2}((?-i:(?=[A-Z -]{0,80}[2-7])(?:[A-Z2-7]{4}[ -]?){3,15}[A-Z2-7]{4}))(?!\w)"),
    ("secret", "machine", r"(?<!\w)machine\s{1,3}\S{1,100}\s{1,3}login\s{1,3}\S{1,100}\s{1,3}password\s{1,3}(\S{3,200})"),
    ("webhook", "webhook.office hooks.zapier alchemy infura quiknode", r"https://[\w.-]{1,80}\.webhook\.office\.com/webhookb2/([\w@/-]{20,300})|https://hooks\.zapier\.com/hooks/catch/(\d{3,12}/\w{4,20})|https://[\w.-]{1,60}(?:alchemy\.com|infura\.io|quiknode\.pro)/(?:v[23]/)?([\w-]{20,100})"),
    ("token", "://", r"(?<![A-Za-z0-9+.-])https?://([\w-]{20,200})@[^\s/]"),
    ("password", "@", r"(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,60}(?:\.[A-Za-z0-9-]{2,20}){1,3}(?:[:;|]|\s{1,2}[/|:]\s{1,2}|,\s?)(?=[^\s]{0,60}\d)(?=[^\s]{0,60}[^\W\d_])([^\s/@,;|]{6,80}+)(?![@/]|\.\w)"),
    ("password", "identified password securestring", r"identified\s{1,2}by\s{1,2}(?:password\s{1,2})?[\"']([^\"'\n]{3,200})[\"']|with\s{1,2}(?:encrypted\s{1,2})?password\s{0,2}=?\s{0,2}[\"']([^\"'\n]{3,200})[\"']|ConvertTo-SecureString\s{1,2}(?:-String\s{1,2})?[\"']([^\"'\n]{3,200})[\"']"),
    ("password", "pass pwd secret token key", r"[\"'>](?:\w{0,40}[_-]?)(?:password|passwd|passphrase|pwd|secret|api_?key|access_?key|token)[\"']?\s{0,2},?\s{1,3}[\"']?value[\"']?\s{0,2}[=:]\s{0,2}[\"']([^\"'\n<>]{4,400})[\"']"),
    ("password", "</", r"<(?:\w{1,30}:)?\w{0,30}?(?:password|passwd|passphrase|pwd|passcode|passwort|secret|api_?key|access_?key|auth_?token)>\s{0,3}([^\s<>]{3,400})\s{0,3}</"),
    ("password", "auth login sign", r"(?:auth|basicauth|httpbasicauth|login|log_?in|authenticate|sign_?in)\s?=?\s?\(\s?[\"'][^\"'\n]{0,80}[\"']\s?,\s?[\"'](?!\w{0,10}pass(?:word)?\d{0,4}[\"'])([^\"'\n]{4,200})[\"']\s?[,)]"),
    ("password", "redis mongo sqlcmd zip 7z ldap smbclient docker pgpassword chpasswd pass: net psql", r"(?<!\w)(?:redis-cli\s[^\n|;]{0,120}?\s-a|mongo(?:sh|dump|restore|export|import)?\s[^\n|;]{0,160}?\s-p|sqlcmd\s[^\n|;]{0,120}?\s-P|(?:un)?zip\s[^\n|;]{0,80}?\s-P|7za?\s[^\n|;]{0,80}?\s-p(?=\S)|ldap(?:search|modify|add|passwd)\s[^\n|;]{0,160}?\s-w|docker\s{1,2}login\s[^\n|;]{0,120}?\s-p)\s{0,2}[\"']?([^\s\"'$-][^\s\"']{2,200})|(?<!\w)smbclient\s[^\n|;]{0,120}?-U\s?[^\s%]{1,60}%([^\s\"']{3,200})|(?<!\w)-pass(?:in|out)?\s{1,2}pass:([^\s\"']{3,200})|(?<!\w)[a-z_][\w-]{0,31}:([^\s:\"']{4,200})[\"']?\s{0,2}\|\s{0,2}(?:sudo\s)?chpasswd|(?<!\w)net\s{1,2}use\s[^\n]{0,100}?/user:\S{1,60}\s{1,2}([^\s\"'/]{4,100})"),
    ("session id", "sess sid csrf xsrf", r"(?<![A-Za-z])(?:j?sess(?:ion)?_?id|phpsessid|connect\.sid|asp\.net_sessionid|sessionid|csrf_?token|xsrf-token)[\"']?\s{0,2}[:=]\s{0,2}[\"']?(?=[\w.%:-]{0,80}\d)([\w.%:-]{12,400})"),
    ("password", "wifi:", r"(?<!\w)WIFI:(?:[A-Z]:[^;\n]{0,64};){0,4}P:([^;\n]{4,100});"),
    ("password", "requirepass masterauth jdbc:oracle", r"(?<!\w)(?:requirepass|masterauth)\s{1,3}[\"']?([^\s\"'#]{4,200})|(?<!\w)jdbc:oracle:\w{3,5}:[^\s/@:]{1,60}/([^\s/@]{3,100})@"),
    ("one-time code", "code", r"(?i:(?<![^\W_])code:?\s{1,2}([0-9]{3,4}[ -]?[0-9]{2,4})\s(?:to|um|para|pour|per)\s(?:(?:sich|te|vous|die|deine?n?|your|confirm\w{0,5}|complete)\s){0,2}(?:sign|log|verif|confirm|finish|reset|einzuloggen|anzumelden|iniciar|vérifier|confirmer|connecter|accedere))"),
    ("recovery key", "-", r"(?<![\w-])(?:[0-9]{6}-){7}[0-9]{6}(?![\w-])"),
    ("wallet key", "private secret keypair wallet", r"(?i:private|secret|keypair|wallet)[^\n\[]{0,60}(\[\s{0,2}(?:[0-9]{1,3}\s{0,2},\s{0,2}){31,63}[0-9]{1,3}\s{0,2}\])"),
    ("secret", "token key secret", r"(?i:(?<![A-Za-z])(?:auth_?token|access_?token|refresh_?token|private_?key|preshared_?key|secret_?key|access_?key|api_?key|client_?secret|encryption_?key|signing_?key))[\"']?\s{0,2}[:=]\s{0,2}[\"']?(?=[\w+/=.-]{0,80}\d)([\w+/=.-]{16,500}+)(?!\()"),
    ("wallet key", "wallet private secret", r"(?i:wallet|private|secret)[^\n]{0,30}?(?<![A-Za-z0-9])((?:0x)?[0-9a-fA-F]{64})(?!\w)"),
    ("password", "p: p= pw: pw= pass: pass= pwd:", r"(?<!\w)(?:u|un|usr|user|login)\s?[:=]\s?[^\s:=]{2,60}[\s,;/|]{1,4}(?:p|pw|pwd|pass)\s?[:=]\s?(?=[^\s]{0,60}[0-9!@#$%&*_])([^\s\"',;]{4,100})"),
    ("password", "log sign einloggen anmelden connect", r"(?:log(?:ged)? ?in|sign(?:ed)? ?in|connect(?:ed)?|einloggen|anmelden)\s(?:with|as|using|mit|als)\s[\"'`]?[^\s\"'`]{2,60}[\"'`]?\s(?:and|und|/|&)\s[\"'`]?(?=[^\s]{0,60}\d)(?=[^\s]{0,60}[^\W\d_])([^\s\"'`]{6,100}+)"),
)  # fmt: skip
_CASELESS: Final = frozenset({"password", "token", "cookie", "one-time secret", "session id"})
_PATTERNS: Final = tuple(
    (kind, keywords.split(), lazy_regex(shape, re.IGNORECASE if kind in _CASELESS else 0))
    for kind, keywords, shape in _SHAPES
)
_TOKENS: Final = tuple((kind, pattern) for kind, keywords, pattern in _PATTERNS if not keywords)
_KEYWORDS: Final = {
    keyword: frozenset(place for place, (_, keywords, _) in enumerate(_PATTERNS) if keyword in keywords)
    for keyword in sorted({keyword for _, keywords, _ in _PATTERNS for keyword in keywords})
}
"""The places of the patterns with a keyword. Each is looked for once: most texts have few of them."""
_LONG_WORD: Final = lazy_regex(r"\S{15,}")
"""A word that is as long as the shortest token."""


def found(text: str) -> Iterator[tuple[int, int, str]]:
    """The secrets of a text that have a known form, as begin, end and kind."""
    lower = text.lower()
    chosen = frozenset().union(*[places for keyword, places in _KEYWORDS.items() if keyword in lower])
    for place in sorted(chosen):
        kind, _, pattern = _PATTERNS[place]
        yield from _matches(kind, pattern, text, 0, len(text))
    for word in _LONG_WORD.finditer(text):
        for kind, pattern in _TOKENS:
            yield from _matches(kind, pattern, text, *word.span())


def _matches(kind: str, pattern: re.Pattern[str], text: str, begin: int, end: int) -> Iterator[tuple[int, int, str]]:
    for match in pattern.finditer(text, begin, end):
        group = match.lastindex or 0
        yield match.start(group), match.end(group), kind
