# ruff: noqa: E501 (tables: one rule a line)
"""Network devices: where configurations of Cisco, Arista, Juniper, Huawei, H3C, Fortinet … keep secrets."""

from __future__ import annotations

import re

from olav_secrets.rule import Check, Rule, low_rule
from olav_secrets.shadow import MASKED
from olav_secrets.values import is_harmless, is_reference, looks_typed
from olav_secrets.words import word_set

#: Command words that can stand where the secret could.
_KEYWORDS = word_set(
    """
    authentication encryption encrypted cipher irreversible-cipher simple plain plaintext text hash policy rotation
    strings string key keys chain key-chain keychain is are was were for on the a an and or of to in with by at from level
    aging expire length strength recovery reset change sha sha1 sha256 sha512 md5 des 3des aes aes128 aes192 aes256 type
    mode access server group user users host hosts address local remote role privilege ro rw read write read-only
    read-write view acl any all none required optional default vrf interface source-interface timeout retransmit port
    auth-port acct-port version v1 v2c v3 1 2c 3 noauth auth priv traps informs inform trap udp-domain members delete
    should must will has have had per must-change check prompt login console vty aaa local-user service-type
    authorization accounting config configuration feature settings command commands line lines hashing plus were
    missing mismatch mismatched invalid expired expires failed failure fails error wrong incorrect not configured unconfigured
    disabled enabled present absent set unset unchanged removed deleted added rotated accepted rejected unknown empty does did do
    minimum-length maximum-length minimum-changes minimum-numerics change-type format handling update updates updated store stored management attribute algorithm authentication-mode ascii-text hexadecimal
    """
)
#: Another parameter of the same command: wpa2-psk wpa2-pre-shared-key=…
_PARAMETER = re.compile(r"[a-z][a-z0-9-]{2,40}=[^=\s]")
_PROMPT = re.compile(r"(?:^|[\n\r`\"'“「(>#\]:：;]|\\n)[ \t]*(?:no |set |\+ ?|- ?)?\Z")


def _is_secret(match: re.Match[str], text: str) -> bool:
    """At the start of a line, or quoted, any word is the secret; inside prose it must look like one."""
    value = text[match.start("v") : match.end("v")].strip("\"'`")
    low = value.lower().rstrip(".,;:")
    if low in _KEYWORDS or low.startswith("<") or is_reference(value) or _PARAMETER.match(low):
        return False
    if low in {"%s", "?"} or low[:1] > "\u3000" or not any(map(str.isalnum, low)):
        return False
    return looks_typed(value) or bool(_PROMPT.search(text[max(0, match.start() - 24) : match.start()]))


def _is_operand(match: re.Match[str], text: str) -> bool:
    """Behind a command that prose does not use, any word is the secret."""
    value = text[match.start("v") : match.end("v")].strip("\"'`")
    return value.lower() not in _KEYWORDS and value[:1] < "\u3000" and not is_reference(value)


def _is_encrypted(match: re.Match[str], text: str) -> bool:
    value = text[match.start("v") : match.end("v")].strip("\"'`")
    return value.lower() not in _KEYWORDS and not is_harmless(value) and not re.match(
        r"(?i)(?:suite|tls|ssl|ecdhe|dhe|rsa|chacha|aes|3?des|sha|arcfour|blowfish|camellia|list|order|mode|algorithm|spec|strength|block|text)", value)  # fmt: skip


def _is_typed_operand(match: re.Match[str], text: str) -> bool:
    return _is_operand(match, text) and looks_typed(text[match.start("v") : match.end("v")])


def _is_blob(match: re.Match[str], text: str) -> bool:
    """Base64 of an encrypted secret, not a word: letters of both cases, or with digits and signs."""
    value = text[match.start("v") : match.end("v")]
    return not value.isalpha() or not (value.islower() or value.isupper())


#: The secret: quoted or one word, behind an optional type number or encryption word.
_TYPE = r"(?:(?:\d{1,2}|sha512|sha256|md5|encrypted|clear|hex|ascii|plain|cipher|irreversible-cipher|simple|hash|enc|ascii-text|hexadecimal)[ ]+){0,2}"


def _line(kind: str, needles: str, head: str, check: Check = _is_secret) -> Rule:
    secret = (
        r"(?:\\*[\"'](?=[^\"'\n]{1,300}[\"']))?(?P<v>[^\s\"';|{}<>\\]{1,300}?)(?=`?(?:[\s\"';|{}<>\\]|\Z))"
    )
    return low_rule(kind, needles, rf"\b(?:{head})[ ]+{_TYPE}{secret}", check)


RULES = [
    # local users and modes
    _line("device_password", "enable", r"enable(?:[ ]+algorithm-type[ ]+\S{1,20})?[ ]+(?:secret|password)(?:[ ]+level[ ]+\d+)?"),
    _line("device_password", "super", r"super[ ]+password(?:[ ]+(?:level|role)[ ]+\S+)?"),
    _line("device_password", "username local-user", r"(?:username|local-user|user-name)[ ]+\S{1,80}(?:[ ]+(?!password|secret)\S{1,40}){0,6}?[ ]+(?:password|secret)"),
    _line("device_password", "user", r"user[ ]+\S{1,80}[ ]+(?:password|secret|plaintext-password)"),
    _line("device_password", "authentication", r"set[ ]+authentication[ ]+password"),
    _line("device_password", "password secret passwd", r"(?:password|secret|passwd)[ ]+(?=(?:\d{1,2}|cipher|irreversible-cipher|simple|hash|enc|encrypted|sha512)[ ])"),
    low_rule("device_password", "password secret passwd key", r"(?m:^)[ \t]*(?:set[ ]+)?(?:password|passwd|secret|key|key-string|psksecret)[ ]+(?:(?:enc|encrypted|clear|simple|cipher|hash|\d{1,2})[ ]+){0,2}(?P<v>[^\s\"']{4,200})[ \t]*(?m:$)", _is_secret),
    _line("device_password", "mgmtuser netuser", r"(?:mgmtuser|netuser)[ ]+add[ ]+\S{1,60}", _is_operand),
    # SNMP
    _line("community", "snmp", r"snmp-server[ ]+community|snmp-agent[ ]+community(?:[ ]+(?:read|write|ro|rw))?|snmp[ ]+community(?:[ ]+string)?|snmp-community"),
    _line("community", "snmp-server", r"snmp-server[ ]+host[ ]+(?:[a-z][\w-]{0,30}[ ]+(?=[\da-f]+[.:]))?\S{1,80}(?:[ ]+(?:vrf[ ]+\S{1,60}|traps?|informs?|version[ ]+(?:1|2c)|community|use-vrf[ ]+\S{1,60})){0,4}"),
    _line("community", "securityname", r"securityname"),
    _line("snmp_key", "snmp usm-user", r"(?:snmp-server[ ]+user|usm-user|snmp-server\s+usm)[^\n]{1,120}?(?:auth|authentication-mode)[ ]+(?:md5|sha\S{0,8})"),
    _line("snmp_key", "priv", r"(?:snmp-server[ ]+user|usm-user)[^\n]{1,300}?(?:priv|privacy-mode)(?:[ ]+(?:des\S{0,4}|3des|aes[\d-]{0,4}(?:[ ]+\d{3})?))?"),
    low_rule("snmp_key", "auth", r"\bsnmp(?:v3)?\b(?!-(?:server|agent)[ ](?:host|target|group))[^\n]{0,160}?[ ]auth(?:entication)?(?:-(?:sha|md5)\S{0,6})?(?:[ ]+(?:md5|sha)\S{0,6})?(?:[ ]+(?:key|password|pass|pwd))?[ :=]+(?P<v>[^\s,;\"']{6,100})", _is_typed_operand),
    low_rule("snmp_key", "priv", r"\bsnmp(?:v3)?\b(?!-(?:server|agent)[ ](?:host|target|group))[^\n]{0,240}?[ ]priv(?:acy)?(?:-(?:aes|3?des)\S{0,6})?(?:[ ]+(?:aes|3?des)\S{0,6}(?:[ ]+\d{3})?)?(?:[ ]+(?:key|password|pass|pwd))?[ :=]+(?P<v>[^\s,;\"']{6,100})", _is_typed_operand),
    low_rule("device_key", "cak ckn", r"\b(?:cak|ckn)[ ]+(?:\d[ ]+)?\"?(?P<v>[0-9a-f]{16,128})\b"),
    low_rule("device_key", "key", r"\bkey[ ]+(?:authentication|authorization|accounting)[ ]+(?:simple|cipher)[ ]+(?P<v>\S{1,300})", _is_operand),
    _line("snmp_key", "-password", r"(?:authentication|privacy)-(?:password|key)"),
    low_rule("community", "community", r"\bcommunity[ ]+\"?(?P<v>[^\s\"{};]{2,64})\"?[ ]*\{\s{0,80}(?:authorization|clients|view|client-list-name)\b"),
    _line("community", "rocommunity rwcommunity", r"r[ow]community6?"),
    # any Juniper statement that ends in a secret
    _line("device_key", "set", r"set[ ]+(?:system|vpn|firewall|snmp|protocols|security|access|routing-instances|routing-options|interfaces|groups|services|deviceconfig|network|shared|mgt-config|template|vsys|device-group)[ ][^\n]{1,200}?[ ](?:secret|(?:[a-z]+-)?password|(?:hello-)?authentication-key|pre-shared-key(?:[ ]+key)?|md5-key|psk|phash|passphrase|(?:snmp-)?community-string)"),
    # whatever a line of configuration says further on: ap dot1x username U password P secret S
    low_rule("device_password", "password secret passphrase key community", r"(?m:^)[ \t]*(?:\S{1,40}[>#][ ]?)?(?:no[ ]+)?(?:aaa|aaa-server|acl|ap|area|bgp|bind|config|crypto|cts|dot1x|edit|eigrp|enable|ftp|hwtacacs|ike|interface|ip|ipsec|ipv6|isis|key|l2tp|ldap|line|local-user|macsec|mka|mpls|neighbor|ntp|ospf|peer|pki|ppp|radius|radius-server|rip|router|set|snmp|snmp-agent|snmp-server|ssh|ssid|standby|tacacs|tacacs-server|tunnel-group|user|username|vpdn|vpn|vrrp|vtp|wireless|wlan)[ ](?!description|remark|banner)[^\n]{0,300}?[ ](?:[a-z]+-)?(?:password|secret|passphrase|key|community)[ ]+" + _TYPE + rf"[\"']?(?P<v>[^\s\"'|;{{}}<>{MASKED}]{{5,300}})", _is_typed_operand),
    # Fortinet: set NAME [ENC] VALUE
    low_rule("device_password", "pwd passw passphrase secret psk key", r"(?m:^)[ \t]*set[ ]+[a-z0-9_-]{0,40}(?:pwd|passwd|password|passphrase|secret|psk|-key)\d?[ ]+(?:enc[ ]+)?\"?(?P<v>[^\s\"']{4,400})\"?[ \t]*(?m:$)", _is_secret),
    low_rule("device_password", "enc", r"\benc[ ]+(?P<v>[a-z0-9+/]{12,1000}={0,2})(?![\w])", _is_blob),
    # AAA
    _line("device_key", "tacacs radius ldap", r"(?:hw)?(?:tacacs|radius|ldap)(?:-server|-scheme)?(?:[ ]+(?!key|secret|shared-key|password)[\w.:/-]{1,60}){0,8}?[ ]+(?:key|secret|shared-key|shared-secret|password)"),
    _line("device_key", "server-key server-private primary secondary", r"(?:server-key|server-private[ ]+\S{1,60}(?:[ ]+\S{1,20}){0,6}?[ ]+key|(?:primary|secondary)[ ]+(?:authentication|authorization|accounting)[^\n]{0,80}?[ ]key)"),
    _line("device_key", "shared-key shared-secret", r"(?:radius-server[ ]+)?shared-(?:key|secret)"),
    # routing and redundancy
    _line("device_key", "neighbor peer", r"(?:neighbor|peer)[ ]+\S{1,80}[ ]+password"),
    _line("device_key", "authentication-key", r"(?:ip[ ]+ospf[ ]+|ntp[ ]+|area[ ]+\S{1,20}[ ]+virtual-link[ ]+\S{1,40}[ ]+|set[ ]+\S[^\n]{0,200}?[ ])?authentication-key(?:[ ]+\d{1,10}(?:[ ]+(?:md5|sha\d?|hmac-\S+|value|type[ ]+\w+[ ]+value))*)?"),
    _line("device_key", "message-digest-key", r"(?:ip[ ]+ospf[ ]+|area[ ]+\S{1,20}[ ]+virtual-link[ ]+\S{1,40}[ ]+)?message-digest-key[ ]+\d{1,3}[ ]+(?:md5|hmac-\S{1,12})", _is_operand),
    _line("device_key", "key-string key", r"key-string|key-id[ ]+\S+[ ]+key|(?:key|authentication)[ ]+(?=[5-9][ ])"),
    _line("device_key", "standby vrrp glbp hsrp", r"(?:standby|vrrp|glbp)(?:[ ]+(?:vrid[ ]+)?\d{1,4})?[ ]+authentication(?:-mode)?(?:[ ]+(?:md5|text|key-string)){0,2}"),
    _line("device_key", "isis area-password domain-password", r"isis[ ]+(?:password|authentication-key)|area-password|domain-password|lsp-password"),
    _line("device_key", "authentication-mode", r"authentication-mode[ ]+(?:md5|simple|hmac-\S{1,12}|keychain[ ]+\S+)(?:[ ]+\d{1,3})?"),
    _line("device_key", "eigrp rip ospf mpls", r"(?:eigrp|rip|ospf|mpls[ ]+ldp)[^\n]{0,60}?[ ](?:password|hmac-sha-256)(?:[ ]+(?:required|option[ ]+\d|for[ ]+\S+))?"),
    # tunnels, wireless, PPP
    _line("psk", "isakmp pre-shared preshared psk psksecret keyring", r"(?:crypto[ ]+)?isakmp[ ]+key|(?:ikev[12][ ]+)?(?:(?:local|remote)-authentication[ ]+)?pre-?shared-key(?:[ ]+(?:local|remote|pass-phrase|address[ ]+\S+(?:[ ]+\d[\d.]*)?|key|hostname[ ]+\S+)){0,3}|psksecret|set[ ]+psk"),
    _line("psk", "wpa", r"(?:wpa-psk|wpa2-psk|wpa-passphrase|wpa[ ]+akm[ ]+psk[ ]+set-key|set-key)(?:[ ]+(?:ascii|hex|pass-phrase))?"),
    _line("device_password", "ppp", r"ppp[ ]+(?:chap|pap)[ ]+(?:password|sent-username[ ]+\S{1,60}[ ]+password)|pap[ ]+local-user[ ]+\S+[ ]+password"),
    _line("device_key", "failover vtp l2tp vpdn cts dialer macsec", r"failover[ ]+(?:ipsec[ ]+pre-shared-)?key(?:[ ]+hex)?|vtp[ ]+password|(?:l2tp|vpdn)[ ]+tunnel[ ]+password|cts[ ]+credentials[ ]+id[ ]+\S{1,60}[ ]+password|dialer[ ]+password|macsec[ ]+key"),
    low_rule("device_password", "pki", r"\bcrypto[ ]+(?:pki|ca|key)[ ]+(?:export|import)[ ]+\S{1,60}(?:[ ]+(?!password|3des|des|aes)\S{1,60}){0,4}?[ ]+(?:password|3des|des|aes)[ ]+(?P<v>\S{4,100})", _is_operand),
    low_rule("device_password", "environment", r"\bevent[ ]+manager[ ]+environment[ ]+\S{0,30}(?:pass|pwd|secret|token|key)\S{0,20}[ ]+(?P<v>\S{4,200})", _is_operand),
    low_rule("device_key", "auth=", r"\b\w{0,12}auth=(?:key|token|token-secure),(?P<v>[^\s,]{6,200})", _is_operand),
    low_rule("community", "snmp", r"snmp[ ]+community[ ]+(?:set|add)[^\n]{0,200}?\bname=\"?(?P<v>[^\s\"]{2,64})", _is_operand),
    low_rule("device_password", "*", r"(?m:^)[ \t]*\"?[\w.@*-]{1,60}\"?[ \t]+(?:\*|\"?[\w.-]{1,40}\"?)[ \t]+\"(?P<v>[^\"\n]{4,100})\"[ \t]+(?:\*|\d[\d./]{0,40})[ \t]*(?m:$)", _is_operand),
    low_rule("device_password", "*", r"(?m:^)[ \t]*[\w.@-]{1,60}[ \t]+\*[ \t]+(?P<v>[^\s\"*]{5,100})[ \t]+(?:\*|\d[\d./]{0,40})[ \t]*(?m:$)", _is_typed_operand),
    _line("device_key", "nhrp", r"(?:ip[ ]+)?nhrp[ ]+authentication"),
    low_rule("community", "snmp", r"system[ ]+snmp[ ]+community\s+edit[ ]+\d+\s+set[ ]+name[ ]+\"?(?P<v>[^\s\"]{2,64})"),
    _line("device_key", "chap-secret pap-secret", r"(?:chap|pap)-secret", _is_operand),
    _line("device_password", "ftp http", r"ip[ ]+(?:ftp|http[ ]+client|scp|ssh)[ ]+password|bind-?(?:dn|password)[ ]+password"),
    # Juniper
    _line("device_password", "encrypted-password plain-text-password pre-shared-secret", r"encrypted-password|plain-text-password-value|pre-shared-secret|simple-password", _is_operand),
    _line("device_key", "md5", r"\bmd5[ ]+\d{1,3}[ ]+key"),
    # encrypted blobs of Huawei and H3C
    low_rule("device_password", "cipher", r"\b(?:irreversible-cipher|cipher)[ ]+(?P<v>\S{6,300})", _is_encrypted),
    low_rule("device_password", "%^%# %@%@ @%@%", r"(?P<v>(?:%\^%\#|%@%@|@%@%)[^\s]{8,300}?(?:%\^%\#|%@%@|@%@%))"),
    low_rule("community", "团体", r"团体[名字串]?[ ]?[:：为是]?[ ]?(?P<v>[!-~]{3,64})", _is_encrypted),
]  # fmt: skip
