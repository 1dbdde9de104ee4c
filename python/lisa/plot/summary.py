"""Rows of a summary: means with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lisa.errors import ArgumentError
from lisa.table import Table


@dataclass(frozen=True)
class Mean:
    """A metric of a part: mean, half of the width of its 95 % interval, and the same of its difference to the baseline."""

    keys: tuple[Any, ...]
    algorithm: str
    part: str
    metric: str
    mean: float
    ci95: float
    difference: float | None
    difference_ci95: float

    @property
    def is_clear(self) -> bool:
        """Whether the interval of the difference excludes zero."""
        return self.difference is not None and abs(self.difference) > self.difference_ci95


def means(table: Table, keys: list[str]) -> list[Mean]:
    """The rows of a table of :meth:`lisa.Comparison.to_arrow` or :meth:`lisa.Sweep.summary`."""
    columns = {name: table.column(name) for name in table.column_names}
    rows = []
    for place in range(len(table)):
        row = {name: column[place] for name, column in columns.items()}
        if row["part"] == "subflow":
            part = f"{row['connection']}, subflow {row['subflow']}"
        else:
            part = row["link"] or row["connection"] or "all connections"
        prefix = {"subflow": "subflows.", "link": "links."}.get(row["part"], "")
        rows.append(
            Mean(
                keys=tuple(row[key] for key in keys),
                algorithm=row["algorithm"] or "",
                part=part,
                metric=prefix + row["metric"],
                mean=row["mean"],
                ci95=row["ci95"] or 0.0,
                difference=row["difference"],
                difference_ci95=row["difference_ci95"] or 0.0,
            )
        )
    return rows


def choose(rows: list[Mean], metric: str | None) -> list[Mean]:
    """The rows of a metric; ``None``: of the completion time, or else of the goodput.

    Raises:
        ArgumentError: If no row has the metric.
    """
    tried = ("completion_s", "goodput_mbps") if metric is None else (metric,)
    for name in tried:
        chosen = [row for row in rows if row.metric == name]
        if chosen:
            return chosen
    known = ", ".join(dict.fromkeys(row.metric for row in rows)) or "none"
    raise ArgumentError(f"metric {metric or ' or '.join(tried)}: there are {known}")
