# ruff: noqa: E501 (tables: one rule a line)
"""Command lines: the flags by which tools take their secrets."""

from __future__ import annotations

import re

from olav_secrets.rule import Rule, rule
from olav_secrets.values import is_harmless, looks_random, looks_typed


def _is_secret(match: re.Match[str], text: str) -> bool:
    value = text[match.start("v") : match.end("v")]
    return not is_harmless(value) and not value.startswith("-")


def _is_user_secret(match: re.Match[str], text: str) -> bool:
    value = text[match.start("v") : match.end("v")]
    return not is_harmless(value) and not re.fullmatch(r"-.*|\d{1,5}(?::\d{1,5})?(?:/\w+)?|/.*", value)


def _is_random(match: re.Match[str], text: str) -> bool:
    return looks_random(text[match.start("v") : match.end("v")])


def _is_typed_secret(match: re.Match[str], text: str) -> bool:
    return _is_user_secret(match, text) and looks_typed(text[match.start("v") : match.end("v")])


def _flag(tools: str, flags: str, *, glued: str = "") -> Rule:
    """The secret after one of the flags of these tools; `glued`: it may, or must, follow without a blank
    (mysql -pSECRET)."""
    gap = {"": r"[ =]{1,2}", "may": r"[ =]{0,2}", "must": ""}[glued]
    names = "|".join(re.escape(tool) for tool in tools.split())
    head = rf"\b(?:{names})\b(?:[^\n|;&]{{0,400}}?)[ ](?:{flags}){gap}"
    secret = r"(?P<q>\\*[\"'])?(?P<v>(?(q)[^\"'\n]{1,300}?(?=(?P=q))|[^\s\"'|;&<>\\]{2,300}))"
    return rule("password", tools, head + secret, _is_user_secret)


RULES = [
    _flag("sshpass", "-p", glued="may"),
    _flag("mysql mysqldump mysqladmin mariadb mysqlimport mysqlsh", "-p", glued="must"),
    _flag("redis-cli", "-a|--pass"),
    _flag("docker podman skopeo buildah helm az ldap mongo mongosh mongodump mongorestore nomad ansible crane oc", r"-p(?![ =]?\d)"),
    _flag("ldapsearch ldapmodify ldapadd ldapwhoami ldapdelete ldappasswd", "-w", glued="may"),
    _flag("ipmitool sqlcmd mssql-cli bcp unzip zip isql osql", "-P", glued="may"),
    *(_flag("snmpwalk snmpget snmpset snmpbulkwalk snmpbulkget snmptrap", flag) for flag in ("-c", "-A", "-X")),
    _flag("7z 7za rar unrar", "-p", glued="may"),
    _flag("plink pscp psftp putty", "-pw"),
    _flag("htpasswd", r"-[a-zA-Z]*b[a-zA-Z]*[ ]\S+(?:[ ]\S+)?"),
    _flag("psexec psexec.exe wmic.py crackmapexec nxc evil-winrm", "-p"),
    rule("password", "-u --user -U", r"[ ](?:-u|--user(?:name)?|-U)[ =]\S{1,60}(?:[^\n|;&]{0,200}?)[ ]-p[ =]?[\"']?(?P<v>[^\s\"'|;&<>]{4,200})", _is_typed_secret),
    rule("password", "-u --user -U", r"[ ]-p[ =]?[\"']?(?P<v>[^\s\"'|;&<>]{5,200})[\"']?[ ](?:[^\n|;&]{0,200}?[ ])?(?:-u|--user(?:name)?|-U)[ =]", _is_typed_secret),
    rule("password", "encrypt_string", r"\bencrypt_string[ ]+(?:--\S+[ ]+\S+[ ]+){0,4}[\"'](?P<v>[^\"'\n]{2,300})", _is_secret),
    rule("password", "lftp", r"\blftp[ ][^\n]{0,100}?-u[ ]?[\"']?[\w.@-]{1,60},(?P<v>[^\s\"']{2,200})", _is_secret),
    rule("password", "<(", r"-?(?:file|passin|password|pass|key)\w{0,12}[ =:]{1,2}<\((?:echo|printf)[ ]+(?:-n[ ]+)?[\"']?(?P<v>[^\s\"')]{4,200})", _is_secret),
    rule("password", "<<<", r"\b\w{0,20}(?:passwd|kinit|cryptsetup|su|sudo)\b[^\n|;]{0,60}?<<<[ ]{0,2}[\"']?(?:[\w.-]{1,40}:)?(?P<v>[^\s\"']{3,200})", _is_secret),
    rule("password", "-u --user", r"[ ](?:-u|--user)[ =][\"']?[A-Za-z][\w.@-]{0,60}:(?P<v>[^\s\"'\\]{4,200})", _is_typed_secret),
    rule("token", "-t --token", r"[ ](?:-t|--token|--auth)[ =][\"']?(?P<v>[\w.~+/=-]{16,2000})", _is_random),
    rule("password", "pass adduser add_user user", r"\b(?:[\w-]{0,30}(?:change|set|reset)[\w-]{0,20}pass(?:word|wd)?|add_?user|create_?user|useradd|user[ ]add)[ ]+(?:--?\w[\w-]*(?:[ =]\S{1,60})?[ ]+){0,3}(?:[A-Za-z][\w.@-]{0,60}[ ]+)?[\"']?(?P<v>[^\s\"'|;&<>=-][^\s\"'|;&<>=]{4,200})[\"']?(?=\s|\Z)", _is_typed_secret),
    rule("password", "(", r"\(\s*(?:host\s*=\s*)?[\"'](?:\d{1,3}(?:\.\d{1,3}){3}|[\w-]{1,60}(?:\.[\w-]{1,60})+)[\"']\s*,\s*[\"'][\w.@-]{1,60}[\"']\s*,\s*[\"'](?P<v>[^\"'\n]{4,200})[\"']", _is_typed_secret),
    _flag("openssl", "-k|-K"),
    *(_flag("ssh-keygen", flag) for flag in ("-N", "-P")),
    rule("password", "nmcli", r"\bnmcli\b[^\n]{0,200}?[ ](?:password|psk|wifi-sec\.psk)[ ]+[\"']?(?P<v>[^\s\"']{4,100})", _is_secret),
    rule("password", "mc", r"\bmc[ ]+(?:alias[ ]+set|config[ ]+host[ ]+add)[ ]+\S+[ ]+\S+[ ]+(?P<v>\S+[ ]+\S+)", _is_secret),
    _flag("useradd usermod", "-p"),
    _flag("net.exe net", r"use[ ]\S+[ ]\S+(?:[ ]/user:\S+)?|user[ ]\w+"),
    _flag("vault", "login"),
    _flag("wpa_passphrase", r"(?<=wpa_passphrase[ ])\S+"),
    rule("password", "curl wget http", r"\b(?:curl|wget|https?|xh)\b[^\n|;]{0,400}?[ ](?:-u|--user|--proxy-user|-U|-a|--auth)[ =]{0,2}\\*[\"']?[^\s:\"'@/]{0,100}:(?P<v>[^\s\"'\\]{2,200})", _is_secret),
    rule("password", "pass:", r"\bpass:(?P<v>[^\s\"'\\]{4,200})", _is_secret),
    rule("password", "send", r"assword(?:[^\n]{0,60}?|[^\n]{0,40}+\n[^\n]{0,20}?)\bsend(?:line|_line)?[ (]{1,3}(?:--[ ])?[\"'](?P<v>[^\"'\n\\]{3,200})", _is_secret),
    rule("password", "masterauth requirepass", r"\b(?:masterauth|requirepass)[ ]+\"?(?P<v>[^\s\"]{4,200})", _is_secret),
    rule("password", "/p:", r"\b(?:xfreerdp|rdesktop|msbuild|runas)\b[^\n]{0,200}?[ ]/p:[\"']?(?P<v>[^\s\"']{2,200})", _is_secret),
    rule("password", "sudo passwd chpasswd", r"\becho\s+(?:-n\s+)?[\"']?(?:[\w.-]{1,40}:)?(?P<v>[^\s\"'|]{4,200})[\"']?\s*\|\s*(?:sudo\s+(?:-\w+\s+)*-S|(?:sudo\s+)?(?:ch)?passwd|su\b|kinit|cryptsetup|gpg|docker\s+login)", _is_secret),
    rule("password", "ConvertTo-SecureString", r"ConvertTo-SecureString\s+(?:-String\s+)?[\"'](?P<v>[^\"'\n]{2,300})", _is_secret),
    rule("password", "NetworkCredential", r"NetworkCredential\s*\(\s*[\"'][^\"'\n]{0,100}[\"']\s*,\s*[\"'](?P<v>[^\"'\n]{2,300})", _is_secret),
    rule("password", "auth=(", r"\bauth=\(\s*[\"'][^\"'\n]{0,100}[\"']\s*,\s*[\"'](?P<v>[^\"'\n]{2,300})", _is_secret),
]  # fmt: skip
