# ruff: noqa: E501 (tables)
"""References: values that point to a secret kept elsewhere, or leave a gap for one."""

from __future__ import annotations

import re

from olav_secrets.shadow import MASKED

_REFERENCE = re.compile(
    r"""
    \$\{\{?.*\}   | \$\(.*\)?  | \$[A-Z_][A-Z0-9_]*(?:\}|\b)\Z | \$[a-z_]+(?:[A-Z][a-z]+)*(?:->\w+)?;?\Z | \$env:\w+
    | %[A-Za-z_]\w*% | %\(?\w*\)?[sdvrq] | \{\{.*\}\} | \{[A-Za-z_][\w.!:\[\]'"-]*\} | \#\{.* | @\{.*\} | \[\[.*\]\]
    | <[A-Za-z_/!%][^<>]*>?    | \[[A-Za-z _-]+\]   | :[a-z_]+ | \?
    | [xX*•.\-_#?=…]{3,}       | [A-Za-z]{0,4}(?:\*{3,}|x{4,}|X{4,}|\.{3,}|…)[A-Za-z0-9]{0,4}
    | (?:https?|file|arn|vault|op|ssm|env|keyring|secretsmanager|awssm|gcpsm|azkv|ref\+\w+|aws-sm|doppler)s?:(?!.*:.*@).*
    | ENC\[.*  | ENV\[.*  | !(?:Ref|Sub|GetAtt|ImportValue|Join|vault|secret|env\w*|include)\b.* | !\w+\ .* | @Microsoft\.KeyVault\(.* | projects/.+/secrets/.+
    | (?:[\w$.]+->)?[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*\??[(\[].*       # a call, an index
    | (?:self|this|cls|config|configs|settings|setting|environ|env|os|process|var|local|data|module|args|argv|opts|options
       |request|req|ctx|context|params|app|cfg|conf|secrets|vault|credentials|creds|user|input|inputs|props|state|import
       |System|ENV|Rails|Configuration|ConfigurationManager|account|auth|client|session|payload|body|values|Values|\.Values
       |each|output|random_password|module|azurerm_\w+|aws_\w+|google_\w+)(?:\??\.[\w$-]+)+;?
    | (?:await|new|lambda|func|fn|function|return)\b.*
    | /[a-z]{2,8} | \.{0,2}~?/(?:[\w.@+-]+/)+[\w.@+-]*  | \.{1,2}/[\w.-]+ | [A-Za-z]:\\[\w\\. -]+ | [\w.-]+\.(?:pem|crt|cer|key|pub|p12|pfx|jks
       |json|ya?ml|txt|env|ini|conf|cfg|toml|md|py|js|ts|go|sh|html?|properties|keytab)
    | 0x[0-9a-fA-F]{1,16} | (?:alt|ctrl|cmd|shift|option|Alt|Ctrl|Cmd|Shift|Option|CTRL|ALT)\+\S+
    | (?:19|20)\d\d-\d\d-\d\d(?:[T\ ].*)?
    """,
    re.VERBOSE | re.DOTALL,
)


def is_reference(value: str) -> bool:
    """Return whether it points to a secret kept elsewhere, or leaves a gap for one: $TOKEN, <password>, ****."""
    return bool(_REFERENCE.fullmatch(value[:400])) or not value.strip(MASKED)
