"""What importers make of drafts that know their place: summaries, for example."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olav_core.errors import OlavError
from olav_core.specs import Draft, Fault, ImporterSpec


class Refinement:
    """Calls the refiners of one import; each is made when its first file comes."""

    def __init__(self, memory: Any, *, ask: bool) -> None:
        self._memory = memory
        self._ask = ask
        self._made: dict[str, Callable[[Sequence[Draft]], Sequence[Draft]]] = {}

    def __call__(
        self, importer: ImporterSpec, drafts: Sequence[Draft], faults: list[Fault]
    ) -> Sequence[Draft]:
        """Return the drafts of one file, refined; a refiner that fails leaves them, and a fault tells."""
        if importer.refiner is None or not drafts:
            return drafts
        try:
            if importer.id not in self._made:
                self._made[importer.id] = importer.refiner(self._memory, self._ask)
            return self._made[importer.id](drafts)
        except OlavError:
            raise
        except Exception as error:  # a stranger's code; the drafts are sound without it
            message = f"importer '{importer.id}' could not refine it: {error!r}. It is stored as it was read."
            faults.append(Fault(str(drafts[0].metadata.get("source", "")), 0, message, blocks=False))
            return drafts
