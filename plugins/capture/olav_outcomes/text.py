"""What a result in words says of itself."""

from __future__ import annotations

import re

from olav_outcomes import failures, phrases

#: How much of each end of a long text is read: errors stand at the start or at the end.
EDGE_CHARS = 4_000
_QUOTED = re.compile(
    r"\"[^\"\n]{3,200}\"|`[^`\n]{3,200}`|(?<!\w)'[^'\n]{3,200}'(?!\w)|“[^”\n]{2,200}”|「[^」\n]{2,200}」|"
    r"《[^》\n]{2,200}》"
)
#: "The order was cancelled" by a tool that cancels.
_ENDED = re.compile(
    r"cancel?led|rejected|declined|denied|aborted|interrupted|blocked|rolled back|已取消|已拒绝|已驳回|"
    r"已回滚",
    re.IGNORECASE,
)


def text_succeeded(text: str, tool_name: str = "") -> bool | None:
    """Return False when the text reports a failure, True when it opens with a success, else None."""
    if len(text) > 2 * EDGE_CHARS:
        text = f"{text[:EDGE_CHARS]}\n{text[-EDGE_CHARS:]}"
    plain = phrases.HARMLESS.sub(" ", text)
    if failures.ERROR_LINE.search(plain):
        return False
    unquoted = _QUOTED.sub(' "" ', plain)
    if phrases.SUCCESS_START.search(plain.strip()):
        return not phrases.BUT.search(unquoted)
    if tool_name:
        unquoted = _ENDED.sub(lambda found: "" if ends(tool_name, found.group()) else found.group(), unquoted)
    return False if failures.FAILURE.search(unquoted) else None


def took_back(text: str) -> bool:
    """Whether the words beside a success say that it was none after all: "but …", "dry run"."""
    edges = f"{text[:EDGE_CHARS]}\n{text[EDGE_CHARS:][-EDGE_CHARS:]}"
    return phrases.BUT.search(_QUOTED.sub(' "" ', phrases.HARMLESS.sub(" ", edges))) is not None


def ends(tool_name: str, outcome: str) -> bool:
    """Whether the outcome (`cancelled`) is what a tool of this name is for."""
    verbs = phrases.ENDINGS.get(outcome.strip().lower().replace(" ", "_").replace("-", "_"), "").split()
    return any(verb in tool_name.lower() for verb in verbs)
