"""Results as tables, for notebooks and terminals."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
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
    return str(value)


@dataclass(frozen=True)
class Shown:
    """A table with a title above it and a note below."""

    title: str
    heading: Sequence[str]
    body: Sequence[Sequence[Any]]
    note: str = ""

    def _foot(self) -> str:
        more = len(self.body) - MOST
        return " ".join(filter(None, [f"{more} more rows." if more > 0 else "", self.note]))

    def html(self) -> str:
        """For notebooks."""
        head = "".join(f"<th>{escape(name)}</th>" for name in self.heading)
        cells = [[escape(_cell(value)).replace("\n", "<br>") for value in row] for row in self.body[:MOST]]
        lines = ["<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in cells]
        caption = f"<p><b>{escape(self.title)}</b></p>" if self.title else ""
        foot = f"<p>{escape(self._foot())}</p>" if self._foot() else ""
        return f"{caption}<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>{foot}"

    def text(self) -> str:
        """For terminals: columns with two blanks between them, numbers at the right. A cell of several lines is a row for each."""
        rows = [[str(name) for name in self.heading]]
        for row in self.body[:MOST]:
            cells = [_cell(value).split("\n") for value in row]
            rows += [list(line) for line in itertools.zip_longest(*cells, fillvalue="")]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        at_right = [
            all(isinstance(row[place], (int, float, type(None))) for row in self.body) for place in range(len(widths))
        ]
        lines = [
            "  ".join(
                cell.rjust(width) if right else cell.ljust(width)
                for cell, width, right in zip(row, widths, at_right, strict=True)
            ).rstrip()
            for row in rows
        ]
        return "\n".join(filter(None, [self.title, *lines, self._foot()]))


def rows(table: Table) -> Shown:
    """The first rows of a table."""
    names = table.column_names
    columns = [table.column(name)[: MOST + 1] for name in names]
    note = f"{len(table)} rows."
    return Shown("", names, list(zip(*columns, strict=True))[:MOST], note)


def scenario(given: Scenario) -> str:
    """The text of a scenario."""
    return f"<p><b>{escape(given.title)}</b></p><pre>{escape(given.text)}</pre>"


def outcomes(given: Outcomes) -> Shown:
    """A row for each connection of each run."""
    table = given.to_arrow()
    names = table.column_names
    empty = {name for name in names if all(value is None for value in table.column(name))}
    names = [name for name in names if name not in empty]
    columns = [table.column(name) for name in names]
    return Shown(given.title, names, list(zip(*columns, strict=True)))


def comparison(given: Comparison) -> Shown:
    """A row for each part and metric, a column for each algorithm."""
    body = []
    for line in given.lines():
        cells = zip(line.means, line.differences, strict=True)
        body.append([line.part, line.metric, *("\n".join(filter(None, cell)) for cell in cells)])
    note = f"Second lines: the difference to {given.algorithms[0]}, seed by seed." if len(given.algorithms) > 1 else ""
    return Shown(given.title, ["", "", *given.algorithms], body, note)


def sweep(given: Sweep) -> Shown:
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
    return Shown(given.title, [*keys, *metrics], filled, note)
