"""Which table a name means."""

from __future__ import annotations

from difflib import get_close_matches

from olav_tables.database import TableError


def resolved(name: str, known: dict[str, str], own: str = "") -> str:
    """Return the table that a name means, whatever its letters' case and with or without its schema. `own`:
    the schema whose tables are known without one."""
    wanted = name.strip().strip('"`[]').replace('"', "").casefold()
    exact = [table for table in known if table == name.strip()]
    same = exact or [table for table in known if table.casefold() == wanted]
    bare = wanted.removeprefix(f"{own.casefold()}.") if own else wanted
    same = same or [table for table in known if table.casefold() == bare]
    last = wanted.rpartition(".")[2]
    same = same or [table for table in known if last and table.casefold().rpartition(".")[2] == last]
    if len(same) == 1:
        return same[0]
    if same:
        raise TableError(f"{name!r} names several tables: {', '.join(same[:10])}. Give the schema too.")
    folded = {table.casefold(): table for table in known} | {
        table.casefold().rpartition(".")[2]: table for table in known
    }
    near = list(dict.fromkeys(folded[match] for match in get_close_matches(wanted, folded, n=3, cutoff=0.5)))
    hint = (
        f"Did you mean {', '.join(near)}?" if near else f"There are: {', '.join(list(known)[:30]) or 'none'}."
    )
    raise TableError(f"there is no table {name!r}. {hint}")
