"""A comparison for a person: one table of paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table


def differences(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return the table of a comparison."""
    from rich.table import Table

    table = Table(
        "configuration", "against", "metric", "n", "difference", "95%", "p", "adjusted", "",
        box=None, title="Paired differences", title_justify="left",
    )  # fmt: skip
    for row in rows:
        table.add_row(
            row["name"],
            row["against"],
            row["metric"],
            str(row["n"]),
            f"{row['difference']:+.3f}",
            f"{row['low']:+.3f} – {row['high']:+.3f}",
            f"{row['p']:.3f}",
            f"{row['p_adjusted']:.3f}",
            "significant" if row["significant"] else "",
        )
    return table
