"""Calibrations: the side table of applied distance scales and thresholds, newest last, none ever changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from olav_core import clock
from olav_core.errors import StoreError
from olav_core.specs import DistanceScale
from olav_core.store import tables

if TYPE_CHECKING:
    import pyarrow as pa

    from olav_core.store.store import Store


@frozen(kw_only=True)
class Calibration:
    """What holds for one embedding space. `fingerprint`: the store's at that time. `scale` None: the
    embedder's own. `thresholds`: category -> gate -> its option `max`. `rows`: category -> rows measured."""

    fingerprint: str
    scale: DistanceScale | None = None
    thresholds: Mapping[str, Mapping[str, float]] = field(factory=dict)
    rows: Mapping[str, int] = field(factory=dict)


@frozen(kw_only=True)
class AppliedCalibration(Calibration):
    """A calibration of the table: `version` counts from 1, `applied_at` is in UTC."""

    version: int
    applied_at: datetime


def calibration_schema() -> pa.Schema:
    """Columns of table `calibration`."""
    import pyarrow as pa

    return pa.schema(
        [
            ("version", pa.int64()),
            ("applied_at", pa.timestamp("us", tz="UTC")),
            ("fingerprint", pa.string()),
            ("values", pa.string()),
        ]
    )


class Calibrations:
    """The table `calibration` of a store; there is none until the first is applied."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def all(self) -> list[AppliedCalibration]:
        """Every calibration that was ever applied, by version. Raises StoreError for a damaged table."""
        store = self._store
        if tables.CALIBRATION not in tables.table_names(store.database):
            return []

        def read() -> list[dict[str, Any]]:
            table = store.side_table(tables.CALIBRATION)
            table.checkout_latest()
            rows: list[dict[str, Any]] = table.to_arrow().to_pylist()
            return rows

        try:
            rows = tables.retrying(read, what="reading calibrations")
            return sorted(map(_decode, rows), key=lambda calibration: calibration.version)
        except (ValueError, TypeError, KeyError) as error:
            raise StoreError(
                f"table calibration in {store.uri} cannot be understood: {error}. Move its directory "
                "calibration.lance away and run `olav calibrate --apply`."
            ) from error

    def current(self) -> AppliedCalibration | None:
        """The newest, if it was made for the store's present embedding space."""
        newest = max(self.all(), key=lambda calibration: calibration.version, default=None)
        return newest if newest is not None and newest.fingerprint == self._store.fingerprint else None

    def apply(self, calibration: Calibration) -> AppliedCalibration:
        """Append `calibration` as the newest version and return it."""
        import pyarrow as pa

        values = {
            "scale": None
            if calibration.scale is None
            else {name: getattr(calibration.scale, name) for name in ("hit", "noise", "pool", "source")},
            "thresholds": {name: dict(gates) for name, gates in calibration.thresholds.items()},
            "rows": dict(calibration.rows),
        }
        with self._store.lock.exclusive():  # two at once would take the same version
            row = {
                "version": max((known.version for known in self.all()), default=0) + 1,
                "applied_at": clock.now(),
                "fingerprint": calibration.fingerprint,
                "values": json.dumps(values, ensure_ascii=False),
            }
            rows = pa.Table.from_pylist([row], schema=calibration_schema())
            tables.retrying(
                lambda: self._store.side_table(tables.CALIBRATION).add(rows), what="writing a calibration"
            )
        return _decode(row)


def _decode(row: Mapping[str, Any]) -> AppliedCalibration:
    values = json.loads(row["values"])
    return AppliedCalibration(
        version=row["version"],
        applied_at=row["applied_at"],
        fingerprint=row["fingerprint"],
        scale=None if values["scale"] is None else DistanceScale(**values["scale"]),
        thresholds=values["thresholds"],
        rows=values["rows"],
    )
