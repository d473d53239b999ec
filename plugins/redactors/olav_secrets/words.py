# ruff: noqa: E501 (tables: one rule a line)
"""The words that names of secrets are made of."""

from __future__ import annotations

import re


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(words.split())


#: A word that means password, whole or at the end of a run-together name, slips of the pen included.
PASSWORD = re.compile(
    r"(?:p(?:a{1,2})?s{1,2}w(?:o?r?s?ds?|ro?ds?|ort)|passowrds?|passphrases?|passcodes?|pswr?|psk|pwds?|pws?|kennwort"
    r"|senha|contraseña|contrasena|motdepasse|пароль|비밀번호|패스워드|비번|암호|パスワード|暗証番号)$"
)
SECRET = re.compile(r"(?:se?cr?ets?|scrts?|sekrets?|sercret|credentials?|creds?)$")
TOKEN = re.compile(r"(?:tokens?|tkns?|jwt|토큰|トークン|токен)$")
KEY = re.compile(r"(?:keys?|passkey|비밀키)$")
#: English words that end like a secret.
NOT_SECRET = word_set(
    "bypass compass encompass trespass overpass underpass surpass multipass turkey monkey donkey hockey whiskey jockey "
    "keyboard tokenizer secretary passwordless passwordfree hotkey passive passenger"
)

#: A name that ends so tells something about the secret, not the secret.
ABOUT = word_set(
    "env environment var variable name names filename file files path dir directory folder url uri endpoint host port "
    "policy policies length len min max size count limit limits quota type types kind expiry expire expires expired "
    "expiration expiring ttl age lifetime timeout ref refs reference id ids uuid arn field fields column label "
    "placeholder prompt hint help description desc title required requires enabled disabled reset resets changed "
    "change changes rotation rotate rotated rotates update updated created at date time timestamp on by strength rules "
    "rule validation validator valid pattern regex format encoding algorithm alg provider manager store storage vault "
    "source version status state usage budget rate per window index position bucket ring fingerprint owner role "
    "authentication verification recovery login page form input button link dialog screen attempts attempt failures "
    "history complexity requirement requirements entropy score management mode method handler service server class "
    "exchange agreement derivation escrow ceremony pair pairs function error errors message exists is has check checker checks cache sharing support scope scopes issuer "
    "audience template selector mount engine backend operator controller santa agent ops op number num set list total "
    "sync syncer refresher generator generation creation lookup params in out exp iat nbf"
)
#: A name that begins so asks about the secret.
ASKING = word_set(
    "is has use uses no with without requires require needs need show hide enable disable allow skip max min num"
)
#: What may follow the word that names the secret without changing what the value is.
NEUTRAL = word_set(
    "value val str string text plain plaintext raw b64 base64 hex default current old new confirm confirmation again "
    "repeat hash hashed encrypted prod dev test staging live primary secondary bytes data content"
)

#: Qualifiers that make a key a secret one.
SECRET_KEYS = word_set(
    "api access secret private psk auth authentication authorization encryption encrypt encrypted decryption decrypt signing "
    "sign signature shared preshared master account wep wpa wpa2 ike ipsec isakmp tacacs radius hmac aes des 3des "
    "cipher crypto consumer license licence deploy webhook client admin root bot accesskey subscription instrumentation "
    "integration ingest ingestion service storage application enc dec mac sec unseal seal wrapping kek dek tde luks session "
    "sess cookie jwe jws sso mfa totp recovery tsig rndc gossip provisioning enrollment enrolment vpn wireguard wifi wi "
    "wlan wireless bios radsec mka cak macsec pay payment merchant corp corpsecret ak sk dtls srtp sftp smtp ldap"
)
#: Qualifiers that make it a key of another kind.
OTHER_KEYS = word_set(
    "public primary foreign partition sort cache object row unique composite index routing lookup group dictionary hot "
    "short arrow enter return registry map json yaml config configuration metadata label i18n translation message event "
    "idempotency correlation dedupe range space page host issue project ticket menu tab answer data natural surrogate "
    "business function variable dict column parent child node item entity resource state feature flag header param "
    "file content dedup record block chunk blob image asset document doc job task trace run query search filter result response request field property attribute distribution shard hash bucket home delete escape esc up down left right f1 f2"
)
#: Tokens that page through lists or mark text for a model.
OTHER_TOKENS = word_set(
    "max min prompt completion total input output num count page next previous prev continuation sync pagination cursor "
    "stop eos bos pad unk mask sep cls special start end begin each per of many text word sub context cached reasoning "
    "used remaining new sampled"
)
#: Names whose value is a secret only when it looks random.
MAYBE = {
    "auth": "auth", "authentication": "auth", "authorization": "auth", "signature": "signature", "sig": "signature",
    "salt": "salt", "nonce": "nonce", "session": "session", "sessionid": "session",
    "sid": "session", "jsessionid": "session", "phpsessid": "session", "hmac": "signature", "seed": "seed",
    "pat": "token", "bearer": "token", "otp": "otp", "totp": "otp", "mnemonic": "seed", "cert": "key",
    "certificate": "key", "api": "api_key", "webhook": "webhook", "code": "code", "pin": "pin", "community": "community",
    "snmpcommunity": "community", "cookie": "session", "unseal": "key", "encrypt": "key", "ak": "access_key", "sk": "secret_key",
}  # fmt: skip
