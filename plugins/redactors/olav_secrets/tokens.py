# ruff: noqa: E501 (tables: one rule a line)
"""Service tokens, told by their shape alone."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from collections.abc import Iterator

from olav_secrets.rule import Check, rule, whole_rule
from olav_secrets.shadow import View
from olav_secrets.span import Span


def _decodes_to(pattern: bytes) -> Check:
    compiled = re.compile(pattern)

    def check(match: re.Match[str], text: str) -> bool:
        del text
        try:
            return bool(
                compiled.match(urlsafe_b64decode(match[0].replace("+", "-").replace("/", "_") + "=="))
            )
        except ValueError:
            return False

    return check


def _is_mixed(match: re.Match[str], text: str) -> bool:
    """A random body has digits and both cases, or is a long one without words."""
    del text
    body = match["body"] if "body" in match.re.groupindex else match[0]
    digits = sum(char.isdigit() for char in body)
    return digits >= 2 and any(map(str.islower, body)) and any(map(str.isupper, body)) and len(set(body)) > 9


RULES = [
    # clouds
    whole_rule("aws_key", "AKIA ASIA A3T ABIA ACCA AGPA AIDA AIPA ANPA ANVA AROA ABSK",
           r"(?:A3T[A-Z0-9]|ABIA|ACCA|AGPA|AIDA|AIPA|AKIA|ANPA|ANVA|AROA|ASIA)[A-Z0-9]{16,17}|ABSK[A-Za-z0-9+/]{60,}={0,2}"),
    rule("aws_key", "AKIA ASIA", r"(?:AKIA|ASIA)[A-Z0-9]{16,17}[^A-Za-z0-9/+=]{1,60}(?:[A-Za-z_]{3,30}[^A-Za-z0-9/+]{1,12}){0,3}(?P<v>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"),
    rule("cloud_secret", "LTAI AKID", r"(?:LTAI|AKID)[A-Za-z0-9]{12,48}[^A-Za-z0-9\n]{1,30}(?:[A-Za-z_]{3,30}[^A-Za-z0-9\n]{1,12}){0,3}(?P<v>[A-Za-z0-9]{30,40})(?![A-Za-z0-9])"),
    whole_rule("aws_mws_key", "amzn.mws.", r"amzn\.mws\.[0-9a-f-]{36}"),
    whole_rule("google_key", "AIza ya29. GOCSPX- 1// GOOG1 4/0",
           r"AIza[\w-]{35}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}|1//0[\w-]{30,}|4/0[\w-]{30,}|GOOG1[A-Z0-9]{30,}"),
    rule("azure_key", "7Q~ 8Q~ JQQJ99", r"[\w~.-]{3}[78]Q~[\w~.-]{31,34}|[A-Za-z0-9+/]{52}JQQJ99[A-Za-z0-9+/]{20,30}={0,2}"),
    rule("base64_key", "==", r"(?<![\w+/=-])[A-Za-z0-9+/]{86}==(?![\w+/=])", _is_mixed),
    whole_rule("azure_key", "AZDO", r"[A-Za-z0-9]{70,80}AZDO[A-Za-z0-9]{4}"),
    whole_rule("alibaba_key", "LTAI", r"LTAI[A-Za-z0-9]{12,26}"),
    whole_rule("tencent_key", "AKID", r"AKID[A-Za-z0-9]{13,48}"),
    whole_rule("baidu_key", "ALTAK", r"ALTAK[A-Za-z0-9-]{18,30}"),
    whole_rule("wechat_app", "wx", r"wx[0-9a-f]{16}"),
    whole_rule("digitalocean_token", "_v1_", r"do[oprt]_v1_[0-9a-f]{64}"),
    whole_rule("ibm_key", "BLUEMIX", r"BLUEMIX[\w-]{20,}"),
    whole_rule("yandex_key", "AQVN y0_ YC", r"AQVN[\w-]{35,38}|y0_[\w-]{40,}|YC[A-Za-z0-9_-]{38}"),
    whole_rule("heroku_key", "HRKU-", r"HRKU-[\w-]{30,}"),
    whole_rule("firebase_key", "AAAA", r"AAAA[\w-]{7}:[\w-]{120,}"),
    # code hosts, pipelines, registries
    whole_rule("github_token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"gh[pousr]_[A-Za-z0-9_.-]{20,}|github_pat_\w{22,}"),
    whole_rule("gitlab_token", "gl GR1348941",
           r"gl(?:pat|ptt|dt|rt|rtr|cbt|soat|ft|imt|agent|oas|ffct|wt)-[\w.-]{18,}|GR1348941[\w-]{20}|_gitlab_session=[0-9a-z]{32}"),
    whole_rule("atlassian_token", "ATBB ATCTT3 ATATT3 ATSTT3 BBDC-", r"ATBB[\w=]{24,40}|AT[ACS][TO]?[TA]T3[\w=-]{40,}={0,2}(?:[0-9A-F]{8})?|ATCTT3[\w=-]{40,}|BBDC-[\w+/-]{40,}"),
    rule("jira_token", "MD MT Mj Mz ND NT Nj Nz OD OT", r"(?<![A-Za-z0-9+=])[MNO][A-Za-z0-9+/]{43}(?![A-Za-z0-9+=])", _decodes_to(rb"\d{8,14}:")),
    whole_rule("npm_token", "npm_", r"npm_[A-Za-z0-9]{30,}"),
    whole_rule("pypi_token", "pypi-", r"pypi-AgE[\w-]{50,}"),
    whole_rule("rubygems_token", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    whole_rule("clojars_token", "CLOJARS_", r"CLOJARS_[0-9A-Fa-f]{60}"),
    whole_rule("nuget_key", "oy2", r"oy2[a-z0-9]{43}"),
    whole_rule("cargo_token", "cio", r"cio[A-Za-z0-9]{32}"),
    whole_rule("docker_token", "dckr_", r"dckr_[po]at_[\w-]{20,}"),
    whole_rule("jfrog_token", "AKCp", r"AKCp[A-Za-z0-9]{69}"),
    rule("jfrog_token", "cmVmdGtu", r"cmVmdGtu[A-Za-z0-9+/_-]{40,60}={0,2}(?![\w+/])", _decodes_to(rb"reftkn:\d+:")),
    whole_rule("circleci_token", "CCIPAT_ CCIPRJ_", r"CCIP(?:AT|RJ)_[\w-]{20,}"),
    whole_rule("sonar_token", "sq", r"sq[upa]_[0-9a-f]{40}"),
    whole_rule("buildkite_token", "bkua_", r"bkua_[0-9a-z]{40}"),
    whole_rule("sourcegraph_token", "sgp_", r"sgp_(?:[\w]{16,}_)?[0-9a-fA-F]{40}"),
    whole_rule("postman_key", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    # infrastructure
    whole_rule("vault_token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{20,}"),
    whole_rule("terraform_token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,}"),
    whole_rule("pulumi_token", "pul-", r"pul-[0-9a-f]{40}"),
    whole_rule("databricks_token", "dapi", r"dapi[0-9a-f]{32}(?:-\d)?"),
    whole_rule("doppler_token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    whole_rule("dynatrace_token", "dt0", r"dt0[a-z]\d\d\.[A-Z0-9]{8,24}\.[A-Z0-9]{50,}"),
    whole_rule("grafana_token", "glc_ glsa_ eyJrIjoi", r"glc_[A-Za-z0-9+/]{30,}={0,3}|glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}|eyJrIjoi[A-Za-z0-9+/_-]{30,}={0,2}"),
    whole_rule("newrelic_key", "NRA NRB NRI NRJ NRR NRS", r"NR[A-Z]{2}-[\w-]{15,40}"),
    whole_rule("newrelic_key", "NRAL", r"[\da-z]{30,40}NRAL"),
    whole_rule("sentry_token", "sntry", r"sntry[a-z]_[A-Za-z0-9+/=_-]{30,}"),
    whole_rule("openshift_token", "sha256~", r"sha256~[\w-]{43}"),
    whole_rule("tailscale_key", "tskey-", r"tskey-(?:[a-z]{2,10}-)?[A-Za-z0-9]{5,20}(?:-[A-Za-z0-9]{10,})?"),
    whole_rule("defined_key", "dnkey-", r"dnkey-[A-Z2-7]{26}-[A-Z2-7]{52}"),
    whole_rule("nkey_seed", "SU SA SO SC SN SX", r"S[UAOCNX][A-Z2-7]{56}"),
    whole_rule("age_key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{40,}"),
    whole_rule("onepassword_token", "ops_eyJ A3-", r"ops_eyJ[\w+/=-]{50,}|A3-[A-Z0-9]{6}-[A-Z0-9]{6,11}(?:-[A-Z0-9]{5}){3,4}"),
    whole_rule("fly_token", "fm1 fm2_ fo1_", r"fm[12][ar]?_[A-Za-z0-9+/=,_]{50,}|fo1_[\w-]{40,}"),
    whole_rule("cloudflare_token", "v1.0-", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}"),
    # chat, mail, web
    whole_rule("slack_token", "xox xapp-", r"xox[a-z](?:\.xox[bp])?-[\w-]{10,}|xapp-\d-[\w-]{10,}"),
    rule("webhook", "hooks.slack.com webhook.office.com discord /robot/send /bot/v2/hook/ /webhook/send hooks.zapier.com chat.googleapis.com",
         r"(?:hooks\.slack\.com/(?:services|workflows|triggers)/|webhook\.office\.com/webhookb2/|discord(?:app)?\.com/api/webhooks/|/bot/v2/hook/|/robot/send\?access_token=|/webhook/send\?key=|hooks\.zapier\.com/hooks/catch/|chat\.googleapis\.com/v1/spaces/[\w-]+/messages\?)(?P<v>[^\s\"'<>)\]]{8,400})"),
    whole_rule("discord_token", "M N O", r"[MNO][A-Za-z\d_-]{23,27}\.[\w-]{6}\.[\w-]{27,38}"),
    rule("telegram_token", ":AA", r"(?<!\d)\d{8,10}:AA[\w-]{32,34}(?![\w-])"),
    whole_rule("sendgrid_key", "SG.", r"SG\.[\w-]{16,32}\.[\w-]{16,64}"),
    whole_rule("mailgun_key", "key- pubkey-", r"(?:pub)?key-[0-9a-f]{32}|[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}"),
    whole_rule("mailchimp_key", "-us", r"[0-9a-f]{32}-us\d{1,2}"),
    whole_rule("mandrill_key", "md-", r"md-[\w-]{22}"),
    whole_rule("brevo_key", "xkeysib- xsmtpsib-", r"x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    whole_rule("twilio_key", "SK AC", r"SK[0-9a-f]{32}|AC[0-9a-f]{32}"),
    whole_rule("facebook_token", "EAA IGQV |", r"EAA[A-Za-z0-9]{50,}|IGQV[\w-]{50,}|\d{13,17}\|[\w-]{27}"),
    rule("twitter_token", "AAAAAAAAAAAAAAAAAAAAA", r"AAAAAAAAAAAAAAAAAAAAA(?!A{40})[\w%]{40,120}"),
    whole_rule("dropbox_token", "sl.", r"sl\.(?:u\.)?[\w=-]{100,}"),
    whole_rule("mapbox_token", ".eyJ", r"[spt]k\.eyJ[\w-]{20,}\.[\w-]{20,}"),
    # payment, shops
    whole_rule("stripe_key", "_live_ _test_ whsec_", r"(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9_]{10,}|whsec_[A-Za-z0-9+/=]{24,}"),
    whole_rule("square_key", "sq0 EAAA", r"sq0[a-z]{3}-[\w-]{22,50}|EAAA[\w-]{60}"),
    whole_rule("paypal_token", "access_token$", r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}"),
    whole_rule("shopify_token", "shp", r"shp[a-z]{2}_[0-9a-fA-F]{32}"),
    whole_rule("plaid_token", "access-", r"access-(?:sandbox|development|production)-[0-9a-f-]{36}"),
    whole_rule("razorpay_key", "rzp_", r"rzp_(?:live|test)_[A-Za-z0-9]{14,}"),
    # language models
    whole_rule("llm_key", "sk- pplx- gsk_ xai- hf_ nvapi- tvly- r8_ lsv2_ tgp_v1_ sk_",
           r"sk-(?:ant|proj|or|svcacct|admin|lf|None)-[\w-]{20,}|sk-[A-Za-z0-9]{20,}(?:-[A-Za-z0-9]+)?|pplx-[A-Za-z0-9]{32,}"
           r"|gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{60,}|(?:hf|api_org)_[A-Za-z0-9]{30,}|nvapi-[\w-]{50,}|tvly-[\w-]{20,}|r8_[A-Za-z0-9]{30,}"
           r"|lsv2_[a-z]{2}_[0-9a-f]{32}_[0-9a-f]{10}|tgp_v1_[\w-]{30,}|sk_[0-9a-f]{40,}"),
    # tools
    rule("salesforce_token", "00D", r"00D[A-Za-z0-9]{9,15}![\w.]{60,200}"),
    whole_rule("zoho_token", "1000.", r"1000\.[0-9a-f]{32}\.[0-9a-f]{32}"),
    whole_rule("notion_token", "secret_ ntn_", r"secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{40,}"),
    whole_rule("airtable_token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    whole_rule("hubspot_token", "pat-", r"pat-[a-z]{2,3}\d-[0-9a-f-]{36}"),
    whole_rule("launchdarkly_key", "api- sdk- mob-", r"(?:api|sdk|mob)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
    whole_rule("planetscale_token", "pscale_", r"pscale_[a-z]{2,6}_[\w=.-]{30,}"),
    whole_rule("supabase_key", "sbp_ sb_secret_", r"sbp_(?:v\d_)?[0-9a-f]{40}|sb_secret_[\w-]{20,}"),
    whole_rule("jwt", "eyJ", r"eyJ[\w=-]{8,}\.[\w=-]{8,}(?:\.[\w=-]*){0,3}"),
]  # fmt: skip


#: A long random body behind a vendor's prefix: what the table does not know yet.
_BODY = re.compile(r"[_-](?P<body>[A-Za-z0-9]{28,255})(?![\w-])")
_PREFIX = re.compile(r"(?<![A-Za-z0-9])(?:[A-Za-z][A-Za-z0-9]{1,11}[_-]){1,4}\Z")


def find_prefixed(view: View) -> Iterator[Span]:
    text = view.text
    for match in _BODY.finditer(text):
        if _is_mixed(match, text):
            start = max(match.start() - 48, 0)
            prefix = _PREFIX.search(text[start : match.start() + 1])
            if prefix and not prefix[0].startswith(("sha", "md5")):  # integrity="sha512-…"
                yield Span(start + prefix.start(), match.end(), "token")
