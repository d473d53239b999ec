"""A confirmation lexicon: the words that count as a yes to a draft."""

from __future__ import annotations

from attrs import frozen


@frozen(kw_only=True)
class ConfirmationSpec:
    """Words by which people say yes to a draft, in one language. A message confirms when it consists of the
    phrases of all installed lexicons and nothing else, and one of them is in `yes`.

    `yes`: phrases that confirm by themselves ("go ahead", "入库"). `fillers`: what may stand beside one and
    says nothing alone ("please", "谢谢"). `alone`: those of `yes` that ask for something when a filler stands
    with them ("correct" against "correct it", "确认" against "请确认"): no filler in their clause. `replies`:
    what the question offers as answers, each of them a yes. Case, width and most punctuation are ignored; no
    phrase reaches across a comma. Never list what may be a question, a doubt or a negation.
    """

    id: str
    purpose: str
    languages: tuple[str, ...]
    yes: tuple[str, ...]
    fillers: tuple[str, ...] = ()
    replies: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()
