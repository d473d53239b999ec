"""A breach of the plug-in contract: what happened, why it matters, what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class ContractBreach(AssertionError):
    """A plug-in does not keep the contract; the message has three parts: what, why, mend."""

    def __init__(self, what: str, why: str, mend: str) -> None:
        super().__init__(f"{what}\n  Why it matters: {why}\n  Mend: {mend}")
        self.what, self.why, self.mend = what, why, mend


def require(kept: object, what: str, why: str, mend: str) -> None:
    """Raise ContractBreach unless `kept` is true."""
    if not kept:
        raise ContractBreach(what, why, mend)


@contextmanager
def no_exception(what: str, why: str, mend: str) -> Iterator[None]:
    """Turn an exception inside the block into a ContractBreach that names it."""
    try:
        yield
    except ContractBreach:
        raise
    except Exception as error:
        raise ContractBreach(f"{what} raised {type(error).__name__}: {error}", why, mend) from error
