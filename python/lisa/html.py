"""Results as tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lisa.comparison import Comparison
    from lisa.outcomes import Outcomes
    from lisa.scenario import Scenario
    from lisa.sweep import Sweep
    from lisa.table import Table

#: Largest number of rows of a table.
MOST = 40


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.6g}"
    return escape(str(value)).replace("\n", "<br>")


def _table(title: str, heading: Sequence[str], body: Iterable[Sequence[Any]], note: str = "") -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in heading)
    lines = ["<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>" for row in body]
    more = len(lines) - MOST
    if more > 0:
        note = f"{more} more rows. {note}"
    caption = f"<p><b>{escape(title)}</b></p>" if title else ""
    foot = f"<p>{escape(note)}</p>" if note else ""
    return f"{caption}<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines[:MOST])}</tbody></table>{foot}"


def rows(table: Table) -> str:
    """The first rows of a table."""
    names = table.column_names
    columns = [table.column(name)[: MOST + 1] for name in names]
    note = f"{len(table)} rows."
    return _table("", names, list(zip(*columns, strict=True))[:MOST], note)


def scenario(given: Scenario) -> str:
    """The text of a scenario."""
    return f"<p><b>{escape(given.title)}</b></p><pre>{escape(given.text)}</pre>"


def outcomes(given: Outcomes) -> str:
    """A row for each connection of each run."""
    table = given.to_arrow()
    names = table.column_names
    empty = {name for name in names if all(value is None for value in table.column(name))}
    names = [name for name in names if name not in empty]
    columns = [table.column(name) for name in names]
    return _table(given.title, names, zip(*columns, strict=True))


def comparison(given: Comparison) -> str:
    """A row for each part and metric, a column for each algorithm."""
    body = []
    for line in given.lines():
        cells = zip(line.means, line.differences, strict=True)
        body.append([line.part, line.metric, *("\n".join(filter(None, cell)) for cell in cells)])
    note = f"Second lines: the difference to {given.algorithms[0]}, seed by seed." if len(given.algorithms) > 1 else ""
    return _table(given.title, ["", "", *given.algorithms], body, note)


def sweep(given: Sweep) -> str:
    """A row for each point and part, a column for each metric."""
    metrics: list[str] = []
    body: dict[tuple[str, ...], dict[str, str]] = {}
    for line in given.lines():
        if line.metric not in metrics:
            metrics.append(line.metric)
        cells = body.setdefault((*line.point, line.part), {})
        cells[line.metric] = "\n".join(filter(None, (line.mean, line.difference)))
    keys = [*given.varied, *(["algorithm"] if given.algorithms else []), ""]
    filled = [[*point, *(cells.get(metric, "") for metric in metrics)] for point, cells in body.items()]
    note = f"Second lines: the difference to {given.algorithms[0]}, seed by seed." if len(given.algorithms) > 1 else ""
    if not body:
        note = f"{len(given)} runs: too many points for a table."
    return _table(given.title, [*keys, *metrics], filled, note)
