# ruff: noqa: E501 (tables: one rule a line)
"""Pairs: a secret's name in one place and its value in the next (XML, name/value lists, `id/pw: bob/x`)."""

from __future__ import annotations

import re

from olav_secrets.names import LIKELY, SURE, named
from olav_secrets.rule import low_rule
from olav_secrets.values import is_harmless, looks_random, looks_signed, looks_strong, looks_typed


def _fits(name: str, value: str) -> bool:
    found = named(name)
    if found is None or is_harmless(value, quoted=True):
        return False
    if found.level == SURE:
        return True
    return looks_typed(value) if found.level == LIKELY else looks_random(value)


def _is_named(match: re.Match[str], text: str) -> bool:
    return _fits(text[match.start("name") : match.end("name")], text[match.start("v") : match.end("v")])


def _is_element(match: re.Match[str], text: str) -> bool:
    attributes = match["attributes"] or ""
    if _is_named(match, text):
        return True
    return any(
        _fits(name, text[match.start("v") : match.end("v")])
        for name in re.findall(r"(?:name|key|id)=[\"']([\w.:-]{2,60})", attributes)
    )


def _is_typed(match: re.Match[str], text: str) -> bool:
    value = text[match.start("v") : match.end("v")]
    return looks_typed(value) and not is_harmless(value)


def _is_chosen(match: re.Match[str], text: str) -> bool:
    value = text[match.start("v") : match.end("v")]
    return looks_strong(value) and not is_harmless(value)


def _is_random(match: re.Match[str], text: str) -> bool:
    return looks_random(text[match.start("v") : match.end("v")])


def _is_marked(match: re.Match[str], text: str) -> bool:
    return looks_signed(text[match.start("v") : match.end("v")])


def _is_strong(match: re.Match[str], text: str) -> bool:
    value = text[match.start("v") : match.end("v")]
    return looks_strong(value) and any(char in "!@#$%^&*?" for char in value) and not is_harmless(value)


_NAME_KEY = r"(?:name|key|field|parameterkey|parameter_key|variable|property|option|id|名称)"
_VALUE_KEY = r"(?:value|val|default|parametervalue|parameter_value|content|data|secretstring|plaintext|值)"

RULES = [
    low_rule("secret", "</", r"<(?P<name>[a-z][\w.:-]{1,60})(?P<attributes>[ ][^<>\n]{0,300})?[ ]{0,3}>\s{0,40}[\"']?(?P<v>[^<>]{4,4096}?)[\"']?\s{0,40}</(?P=name)\s{0,4}>", _is_element),
    low_rule("secret", "value", r"\b(?:name|key|id|property|parameter)=[\"'](?P<name>[\w.:-]{2,80})[\"'][^<>\n]{0,120}?\bvalue=[\"'](?P<v>[^\"'<>\n]{4,4096})[\"']", _is_named),
    low_rule("secret", "value val default content data secretstring plaintext 值",
         rf"\b{_NAME_KEY}\\*[\"']?\s?[:=]\s?\\*[\"']?(?P<name>[\w.-]{{2,80}})\\*[\"']?\s{{0,3}},?\s{{0,40}}\\*[\"']?{_VALUE_KEY}\\*[\"']?\s?[:=]\s?(?P<q>\\*[\"']?)(?P<v>[^\"'\s,\\]{{4,4096}}?)(?=(?P=q)[\s,}}]|(?P=q)\Z)", _is_named),
    low_rule("password", "default", r"variable\s+\"(?P<name>[\w-]{2,80})\"\s*\{[^{}]{0,400}?\bdefault\s*=\s*\"(?P<v>[^\"\n]{4,400})", _is_named),
    low_rule("token", "token password secret credential apikey", r"\b(?:type|kind)[\"']?\s?[:=]\s?[\"']?(?:\w{1,20}[_-])?(?:token|password|secret|credential|apikey)[\"']?,?\s{1,40}[\"']?(?:value|val|data|content)[\"']?\s?[:=]\s?[\"']?(?P<v>[^\s\"',}]{10,4096})", _is_random),
    low_rule("password", "from 由 从", r"(?:passw\w{0,8}|\bkey|secret|token|密码|口令|密钥)[^\n]{0,60}?(?:\bfrom[ ]|[由从][ ]?)[^\s,;]{1,100}?(?:[ ]to[ ]|[ ]?(?:[改变换]|更[改新换])[成为作]?了?[ ]?)(?P<v>[^\s,;\u3000-\u9fff]{5,100})", _is_typed),
    low_rule("password", "用户 账号 帐号 账户", r"(?:用户名?|账号|帐号|账户)[ ]?[/、和及,，][ ]?(?:密码|口令)[ ]?(?:[:：为是]|分别为|分别是)?[ ]?[\w.@-]{1,40}[ ]?[/、][ ]?(?P<v>[^\s,;，。；、()（）]{4,100})", _is_typed),
    low_rule("password", "password) passphrase) passcode) pwd) 密码) 密码） 口令） 口令)", r"(?<![!-~])[\"'`]?(?P<v>[^\s\"'`,;(（]{6,64})[\"'`]?[ ]?[(（](?:[^()（）\n]{0,40}[ ])?(?:[\u3400-\u9fff]{0,12}(?:密码|口令)|password|passphrase|passcode|pwd)[)）]", _is_typed),
    low_rule("password", "连接 接入", r"(?:连接|接入)[ ]?(?:用|账号|[:：])?[ ]?[a-z][\w.@-]{1,40}[ ]?/[ ]?(?P<v>[^\s,;()/\"'`]{5,100})", _is_marked),
    low_rule("password", "p=", r"\bu(?:ser)?=[\w.@-]{1,60}[ ,;&]{1,2}p=(?P<v>[^\s,;&]{4,100})", _is_typed),
    low_rule("password", "/p pw pass", r"\b(?:id|user|username|login|account|acct|anyid)[ ]?[/&,(][ ]?(?:pw|pwd|pass|passwd|password)\b\)?[ ]?(?:[:=(]|->|-)?[ ]?(?:[\w.-]{2,40}:)?[\w.@-]{1,60}[ ]?[/:,(]{1,2}[ ]?(?P<v>[^\s,;()/]{4,100})", _is_typed),
    low_rule("password", "pw pass", r"\b(?:id|user|username|login|account)[ ](?:pw|pwd|pass|passwd|password)[ ][\w.@-]{1,60}[ ](?P<v>[^\s,;()]{5,100})", _is_typed),
    low_rule("password", "(", r"(?:\b\d{1,3}(?:\.\d{1,3}){3}|@[\w-]+(?:\.[\w-]+)+)(?::\w{1,6})?[ ]?\((?:root|admin|administrator|sa|user|ubuntu|oracle|postgres|pi|guest|operator|[a-z]{3,12})/(?P<v>[^\s,;()/]{5,100})\)", _is_typed),
    low_rule("password", "/", r"\b(?:root|admin|administrator|sa|administrateur|postgres|oracle|ubuntu|cisco|guest)[ ]?/[ ]?(?P<v>[^\s,;()/\"'`]{6,100})", _is_strong),
    low_rule("password", "login cred account 账号 账户 用户 登录", r"(?:\blogins?|\bcred(?:ential)?s?|\baccount|账号|账户|用户名?|登录名?)[ ]?[:=：][ ]?[\w.@-]{2,60}[ ]?/[ ]?(?P<v>[^\s,;()/\"'`]{5,100})", _is_typed),
    low_rule("password", "password 密码 口令", r"(?:password|密码|口令)[ ]?[,，（(][ ]?(?P<v>[^\s,;()\"'`，。]{6,100})", _is_strong),
    low_rule("password", "(was (previously (formerly (old (原 (旧 （was （previously （formerly （old （原 （旧", r"(?:passw|密码|口令)[^\n]{0,120}?[(（](?:was|previously|formerly|old|原为?|旧)[:：]?[ ]?(?P<v>[^\s,;()（）]{5,100})", _is_typed),
    low_rule("password", "from 由 从", r"(?:passw\w{0,8}|\bkey|secret|token|密码|口令|密钥)[^\n]{0,60}?(?:\bfrom[ ]|[由从][ ]?)(?P<v>[^\s,;\u3000-\u9fff]{5,100})(?:[ ]to[ ]|[ ]?[改变换]|[ ]?更[改新换])", _is_typed),
    low_rule("password", "login cred account access 登录 账号", r"(?:\blogins?|\bcred(?:ential)?s?|\baccount|\baccess|登录|账号)[ ]?(?:is|are|with|as|是|为|:|：)?[ ]?(?:root|admin|administrator|operator|user|ubuntu|postgres|oracle|cisco|guest|sa)[ ]?/[ ]?(?P<v>[^\s,;()/\"'`]{5,100})", _is_typed),
    low_rule("password", "password passphrase psk passcode pwd", r"(?<![!-~])[\"'`]?(?P<v>[^\s\"'`,;]{6,64})[\"'`]?[ ](?:as|is|was|for)[ ](?:the|my|our|your|his|her|its|their|a|an|new)?[ ]?(?:[a-z0-9-]{1,20}[ ]){0,2}?(?:password|passphrase|passcode|psk|pwd)\b", _is_chosen),
    low_rule("password", "密码 口令 密钥", r"(?:用|以|把)[ ]?[“\"'「]?(?P<v>[!-~]{5,64}?)[”\"'」]?[ ]?(?:作为?|做|当作?|设为|设成|为)[^\n，。]{0,16}?(?:密码|口令|密钥)", _is_typed),
    low_rule("password", "密码 口令 密钥", r"(?<![!-~])(?P<v>[!-~]{6,64})[ ]?(?:是|就是|为)[^\n，。:：]{0,20}?(?:密码|口令|密钥)", _is_typed),
    low_rule("community", "snmp", r"\bsnmp(?:v[123]c?)?[ ](?:(?:read|write|ro|rw|read-only|read-write)[ ])?(?:string|name)[ ]?(?:is|was|:|=|to)[ ]+[\"'`]?(?P<v>[^\s\"'`,;]{5,64})", _is_typed),
    low_rule("password", "login 登录 登陆", r"(?:\blogin|登录|登陆)[ ]?(?:用|with|as|:|：)?[ ]?[a-z][\w.@-]{1,40}[ ]?[/:][ ]?(?P<v>[^\s,;()/\"'`]{5,100})", _is_marked),
    low_rule("password", "log sign connect", r"\b(?:log[ ]?in|sign[ ]in|connect|logon)[ ](?:[a-z0-9.-]{1,20}[ ]){0,4}?(?:with|as|using|by)[ ][a-z][\w.@-]{1,40}[ ]?/[ ]?(?P<v>[^\s,;()/\"'`]{5,100})", _is_typed),
    low_rule("secret_key", "ak sk", r"(?<![\w-])[as]k[\"']?[ ]?[:=：][ ]?[\"']?(?P<v>[a-z0-9+/]{16,64})(?![\w])", _is_random),
    low_rule("code", "取码 访问码 激活码 授权码 邀请码", r"(?:提取码|访问码|激活码|授权码|邀请码)[ ]?(?:[:：]|是|为)[ ]?(?P<v>[a-z0-9-]{4,40})(?![\w-])"),
    low_rule("pin", "pin码", r"pin码[ ]?(?:[:：=是为]|设为|改为)?[ ]?(?P<v>\d{4,8})(?!\d)"),
    low_rule("otp", "otp code 验证码 校验码 动态码 动态口令", r"(?:\b(?:otp|one-time[ ](?:code|password)|verification[ ]code|2fa[ ]code|mfa[ ]code)|验证码|校验码|动态码|动态口令)[ ]?(?:[:=：]|is|是|为)?[ ]?(?P<v>\d{4,8})(?!\d)"),
]  # fmt: skip
