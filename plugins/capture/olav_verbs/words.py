"""The words: which verbs change something, which only look, and what turns a verb into a noun."""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: The verbs that OLAV's description names; always write-class.
STEMS: Final = _words(
    "register deploy push save destroy write record emit export ingest stop create update delete exec"
)
#: Synonyms of these actions that are hardly ever nouns: they count wherever the verb of a name may stand.
FIRM: Final = _words(
    "abort accept ack acknowledge activate add adjust admit advertise allocate allowlist amend append"
    " apply approve archive assign attach bind blacklist broadcast buy cancel close configure cordon"
    " customize chmod chown deactivate deallocate denylist decline decommission decrease demote"
    " deprovision deregister detach disable disarm discard discharge dismiss donate downgrade duplicate"
    " edit enable enqueue enroll erase escalate evict expire finalize follow forward grant hibernate hire"
    " increase inject insert install invalidate invite isolate kill lower merge migrate mkdir modify mount"
    " notify overwrite pause pay persist prepend prescribe promote provision publish purchase purge put"
    " quarantine reassign rebase reboot rebuild reconfigure recreate redeem redistribute reindex refill"
    " refund regenerate reimburse reject remediate remove rename renew reopen replace reply requeue rerun"
    " reschedule reset resize resolve restart restore resume retire retry retweet revert revoke rmdir"
    " rollback rotate sell send set setup shutdown snooze squash steer submit subscribe suspend terminate"
    " toggle trash truncate tweet unarchive unassign unbind uncordon undelete undo unfollow uninstall"
    " unlock unmount unpublish unload unregister unstage unsubscribe upsert whitelist wipe withdraw"
)
#: Verbs that are as often nouns: they count in front, and not before a word that asks for information.
LOOSE: Final = _words(
    "allow arm backup ban bid block book bounce bump change charge clear clone comment commit compact"
    " complete cleanup compress contact copy deny deposit dim drain drop evacuate failover fill fix flag"
    " flash flush fork fund import invest kick label launch like link lock mark move mute order page patch"
    " pin post press raise react release reload repair reserve scale schedule share shut sign silence"
    " snapshot split stage star start stash store swap switch sync tag taint touch trade train transfer"
    " transition trigger unblock unlike unlink unmute unpin untag upgrade upload warm"
)
#: Stems that are nouns as often: they are read as the LOOSE ones.
NOUNISH: Final = _words("record export stop deploy exec")
#: LOOSE verbs and stems that may also end a name: `file_upload`, `git_commit`, `vm_stop`.
FINAL: Final = (STEMS - {"record"}) | _words(
    "backup cleanup clone commit import launch lock pause post scale share start stash sync trigger upgrade"
    " upload"
)
#: Verbs that are write-class only on some objects.
OBJECTS: Final = {
    "build": _words("image images package"),
    "checkout": _words("branch cart order"),
    "confirm": _words("booking order reservation payment appointment purchase transaction"),
    "exchange": _words("item items order product products"),
    "file": _words("bug issue claim complaint report return ticket"),
    "format": _words("disk drive partition volume"),
    "issue": _words("card certificate command credit invoice payment refund ticket token"),
    "leave": _words("comment feedback review"),
    "log": _words("activity call entry event expense incident meal metric metrics workout"),
    "make": _words(
        "appointment booking call deposit dir directory donation file folder order payment purchase"
        " reservation transaction transfer"
    ),
    "open": _words("account case door doors gate incident issue position pr ticket trade trunk valve window"),
    "place": _words("bet bid call hold order orders trade"),
    "report": _words("bug incident issue problem spam"),
    "return": _words("book car item items order product products vehicle"),
    "run": _words(
        "backup bash command commands container deployment job migration migrations playbook script shell"
    ),
    "take": _words("backup snapshot"),
}
#: `resolve_ticket` closes a ticket, `resolve_hostname` looks one up.
LOOKED_UP: Final = _words("address dns domain host hostname ip name path ref reference symbol url")
#: Two words that make one verb, and what they make.
PHRASES: Final = {
    **{tuple(verb.split()): verb.replace(" ", "") for verb in ("roll back", "set up", "shut down",
    "back up")},
    **{tuple(verb.split()): verb.replace(" ", "-") for verb in (
        "no shutdown", "compose up", "compose down", "bring down", "bring up", "clean up", "cut over",
        "fail over", "opt in",
        "opt out", "power cycle", "power off", "power on", "roll out", "scale down", "scale in",
        "scale out", "scale up", "sign up",
        "spin down", "spin up", "switch off", "switch on", "tear down", "turn off", "turn on",
    )},
    **{tuple(verb.split()): "login" for verb in ("log in", "log on", "log out", "sign in", "sign out")},
}  # fmt: skip
PHRASE_VERBS: Final = frozenset(PHRASES.values()) - {"login", "backup"}
#: Shell commands that change files or processes; only as the whole name.
COMMANDS: Final = _words(
    "chgrp chmod chown cp dd kill killall ln mkdir mkfs mv rm rmdir shred tee touch truncate unlink"
)
#: Verbs that only look, compute or change nothing but the session: the first verb of a name decides.
READS: Final = _words(
    "analyse analyze answer ask assess audit authenticate browse calculate cat cd check classify compare"
    " compile compute connect convert count decode describe detect diagnose diff disconnect display"
    " download du embed encode estimate evaluate examine explain explore extract fetch filter find"
    " forecast generate get grep group head help hash identify inspect introspect lint list load locate"
    " login logon logout logoff look lookup ls match measure monitor navigate observe parse peek ping"
    " plan poll predict preview print probe profile pwd query rank read recall recommend render retrieve"
    " review scan score scrape search see select show simulate sort stat status suggest summarise"
    " summarize tail test think trace traceroute transcribe translate validate verify view visualize wait"
    " watch wc whoami"
)
#: Reading words that also name a thing, as in `price_list_update`.
THINGS: Final = _words(
    "list view query search check test plan group score profile report index filter status match"
)
#: A name that opens with one of these asks about a state, or names a moment.
OPENERS: Final = _words(
    "after are available before can could current did do_not does dry had has have how if is last latest"
    " may max min must needs next no not num number on pending previous recent should sum supports total"
    " was were what when where which who why will would"
)
QUESTIONS: Final = _words("are can could did does had has is should was were will would")
#: Words before the verb that say nothing.
ASIDES: Final = _words("api async auto batch bulk do fn force handle mass my op please safe sync tool try")
#: After a LOOSE or NOUNISH verb: a thing one asks about, so that `deploy_status` is no deploying.
INFO: Final = _words(
    "availability available by code codes cost costs count counts date dates detail details description"
    " duration eligibility eta exists fee frequency fees fields find format formats get history id ids"
    " info information key keys latency length level limit limits log logs lookup metadata name names"
    " nearby notes number option options per permission permissions price prices progress quota rate rates"
    " reason reasons requirements schema search sequence size stats statistics status suggestions summary"
    " time times type types url value words"
)
#: The same after the other verbs, where only these make a noun of it.
FIRM_INFO: Final = {
    **dict.fromkeys(
        ("register", "push", "save", "write", "emit"),
        _words(
            "availability count counts eligibility eta formats history latency options per permissions"
            " progress rate"
        ),
    ),
    "create": _words("date dates time times"),
    "update": _words("availability available check eligibility frequency interval progress"),
}
#: What only a verb that edits it acts on; of any other verb it tells something: `restart_history`.
TOLD: Final = _words("history count counts statistics stats")
EDITS: Final = _words(
    "clear delete edit erase purge record remove reset save send set store truncate update wipe"
)
STATUS_NOUNS: Final = _words("register push")
#: At the end of a name of several words: what is done with the thing that the words before it name.
LOOKING_ENDS: Final = _words("get show describe lookup")
#: At the end of a name: a property, not an object.
PROPERTIES: Final = _words("allowed available disabled enabled needed possible required supported")
#: An agent's notes to itself.
SCAFFOLDING: Final = _words("plan scratchpad thought thoughts todo todos")
PAST: Final = {
    "write": "wrote written", "send": "sent", "buy": "bought", "sell": "sold", "pay": "paid",
    "withdraw": "withdrawn",
    "undo": "undone", "overwrite": "overwrote overwritten", "shutdown": "", "setup": "", "rollback": "",
    "set": "",
    "reset": "", "put": "",
}  # fmt: skip
