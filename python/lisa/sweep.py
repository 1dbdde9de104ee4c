"""Grids of values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lisa.outcomes import Rows
from lisa.table import Framed, Table

if TYPE_CHECKING:
    from lisa import _native

__all__ = ["Rows", "Sweep", "SweepLine"]


@dataclass(frozen=True)
class SweepLine:
    """A metric of a part at a point, as the program prints it."""

    #: Values of the varied keys, and the algorithm.
    point: tuple[str, ...]
    #: Connection, subflow, link, or ``all connections``.
    part: str
    #: Title of the metric with its unit.
    metric: str
    #: Mean with its 95 % confidence interval.
    mean: str
    #: Difference to the first algorithm with the same values, seed by seed.
    difference: str


class Sweep(Framed):
    """Runs of one scenario at several points: combinations of values, each with all algorithms and seeds. ``len(sweep)`` is the
    number of runs."""

    def __init__(self, native: _native.Sweep) -> None:
        self._native = native

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        return f"<lisa.Sweep: {self.title}, {', '.join(self.varied) or 'algorithms'}, {len(self)} runs>"

    def __str__(self) -> str:
        from lisa.html import sweep

        return sweep(self).text()

    def _repr_html_(self) -> str:
        from lisa.html import sweep

        return sweep(self).html()

    @property
    def title(self) -> str:
        """Title of the scenario."""
        return self._native.title

    @property
    def varied(self) -> list[str]:
        """The varied keys."""
        return self._native.varied

    @property
    def algorithms(self) -> list[str]:
        """The algorithms; empty: those of the scenario."""
        return self._native.algorithms

    @property
    def warnings(self) -> list[str]:
        """A line for each result that misleads."""
        return self._native.warnings

    def to_arrow(self) -> Table:
        """The rows of all runs, in the order of the runs, as ``lisa sweep -o`` writes them (docs/rows.md): the varied keys,
        algorithm, seed, and the metrics."""
        return Table(self._native.table())

    def summary(self) -> Table:
        """Means over the seeds and differences to the first algorithm, seed by seed: a row for each point, algorithm, part and
        metric.

        The columns are the varied keys and those of :meth:`Comparison.to_arrow`. Empty with more than 1000 points.
        """
        return Table(self._native.summary())

    def lines(self) -> list[SweepLine]:
        """The rows of :meth:`summary` as texts, as the table of ``lisa sweep`` has them."""
        return [
            SweepLine(tuple(point), part, metric, mean, difference)
            for point, part, metric, mean, difference in self._native.lines()
        ]
