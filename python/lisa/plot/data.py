"""Values of a metric in the runs."""

from __future__ import annotations

from lisa.comparison import Comparison
from lisa.errors import ArgumentError
from lisa.outcomes import Outcomes, Rows
from lisa.sweep import Sweep
from lisa.table import Table

#: Metrics that are tried where none is chosen: endless connections have no completion time.
STANDARD = ("completion_s", "goodput_mbps")


def rows_of(metric: str) -> Rows:
    """The kind of rows that has a metric."""
    if metric.startswith("subflows."):
        return "subflow"
    return "link" if metric.startswith("links.") else "connection"


def table(results: Outcomes | Comparison | Sweep, metric: str) -> Table:
    """The runs with this metric."""
    if isinstance(results, Sweep):
        return results.to_arrow()
    rows = rows_of(metric)
    return results.runs(rows, [metric]) if isinstance(results, Comparison) else results.to_arrow(rows, [metric])


def parts(found: Table) -> list[str]:
    """Name of the connection, subflow or link of each row."""
    names = found.column_names
    if "link" in names:
        return found.column("link")
    connections = found.column("connection")
    if "subflow" not in names:
        return connections
    return [f"{name}, subflow {number}" for name, number in zip(connections, found.column("subflow"), strict=True)]


def values(results: Outcomes | Comparison | Sweep, metric: str | None) -> tuple[str, Table, list[float | None]]:
    """The metric, its rows, and its value in each.

    Raises:
        ArgumentError: If no run has a value.
    """
    for name in STANDARD if metric is None else (metric,):
        found = table(results, name)
        field = name.rpartition(".")[2]
        if field not in found.column_names:
            raise ArgumentError(f"metric {name}: the rows have none; run the sweep with metrics=['{name}']")
        column: list[float | None] = found.column(field)
        if any(value is not None for value in column):
            return name, found, column
    raise ArgumentError(f"metric {metric or ' or '.join(STANDARD)}: no run has a value")
