# ruff: noqa: E501 (tables)
"""What stands where a secret could stand: fillers, states, and words that make a remark of a value."""

from __future__ import annotations

from olav_secrets.words import word_set

#: States, types and fillers that stand where a secret could stand.
FILLERS = word_set(
    """
    aws4-hmac-sha256 none null nil undefined true false yes no on off empty blank unset missing absent default optional required
    mandatory needed expired invalid valid incorrect wrong correct unchanged changed unknown hidden masked redacted
    removed omitted confidential private encrypted hashed rotated revoked active inactive enabled disabled ok failed
    failure pending set reset rejected accepted denied protected stored managed external internal inherited prompt ask
    auto automatic generated random string str text char varchar int integer number bool boolean bytes object any dict
    list array map optional[str] password passwd pwd secret token key apikey credential credentials username user login
    email admin-password todo tbd fixme n/a na example sample dummy placeholder changeme changeit change-me change_me
    foo bar foobar baz abc test basic bearer digest ntlm negotiate kerberos ldap ldaps saml oauth oauth2 oidc jwt tls ssl
    mtls sso md5 sha1 sha256 sha512 aes aes128 aes256 rsa ed25519 env environ environment vault keychain keyring
    minimum-length maximum-length min-length max-length
    """
)
#: Words of made-up values such as your-api-key-here; a value of such words alone is no secret.
FILLER_WORDS = word_set(
    """
    your my our the a an this that some any enter insert put paste type provide add use replace with me here goes
    example sample dummy placeholder fake change changeme to in from api app application client user db database service
    server account access auth oauth secret secrets password passwd pwd pass passphrase token tokens key keys apikey
    credential credentials value string text name new old current confirm default private public shared master real
    actual valid invalid login please is not must be required optional field
    """
)
#: Words that make a sentence of a value: no passphrase, a remark.
PROSE = word_set(
    """
    the be is are was were must should shall will can may at to of in on for and or not with without see from by has have
    been if when your our it its this that these those as than least minimum maximum characters please
    """
)
