"""Algorithms side by side."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lisa import arguments
from lisa.checks import checked
from lisa.errors import ArgumentError
from lisa.outcomes import Rows
from lisa.table import Framed, Table

if TYPE_CHECKING:
    from lisa import _native


@dataclass(frozen=True)
class Line:
    """A metric of a part with all algorithms, as the program prints it."""

    #: Connection, subflow, link, or ``all connections``.
    part: str
    #: Title of the metric with its unit.
    metric: str
    #: For each algorithm its mean with the 95 % confidence interval.
    means: tuple[str, ...]
    #: For each algorithm its difference to the first, seed by seed; empty for the first.
    differences: tuple[str, ...]


class Comparison(Framed):
    """Runs of one scenario with several algorithms and the same seeds. The first algorithm is the baseline: differences are
    taken seed by seed. Intervals are at 95 % (Student's t)."""

    def __init__(self, native: _native.Comparison) -> None:
        self._native = native

    def __repr__(self) -> str:
        return f"<lisa.Comparison: {self.title}, {', '.join(self.algorithms)}, {len(self.seeds)} seeds>"

    def __str__(self) -> str:
        from lisa.html import comparison

        return comparison(self).text()

    def _repr_html_(self) -> str:
        from lisa.html import comparison

        return comparison(self).html()

    @property
    def title(self) -> str:
        """Title of the scenario."""
        return self._native.title

    @property
    def algorithms(self) -> list[str]:
        """The algorithms; the first is the baseline."""
        return self._native.algorithms

    @property
    def seeds(self) -> list[int]:
        """The seeds."""
        return self._native.seeds

    @property
    def warnings(self) -> list[str]:
        """A line for each result that misleads."""
        return self._native.warnings

    def to_json(self) -> str:
        """The comparison as ``lisa compare --json`` prints it: a line for each algorithm (docs/compare.schema.json)."""
        return self._native.json()

    def to_dicts(self) -> list[dict[str, Any]]:
        """The lines of :meth:`to_json` as dictionaries."""
        return [json.loads(line) for line in self.to_json().splitlines()]

    def lines(self) -> list[Line]:
        """Means and differences as texts, as the table of ``lisa compare`` has them."""
        return [
            Line(part, metric, tuple(cell[0] for cell in cells), tuple(cell[1] for cell in cells))
            for part, metric, cells in self._native.lines()
        ]

    def to_arrow(self) -> Table:
        """Means and differences: a row for each algorithm, part and metric.

        The columns are ``algorithm``, ``part`` (``connection``, ``subflow``, ``link`` or ``run``), ``connection``, ``subflow``,
        ``link``, ``metric``, ``unit``, ``n``, ``mean``, ``ci95`` (half of the width of the interval), ``difference`` and
        ``difference_ci95`` (to the first algorithm).
        """
        return Table(self._native.summary())

    @checked
    def runs(self, rows: Rows = "connection", metrics: str | Iterable[str] | None = None) -> Table:
        """A table of all runs, as :meth:`Outcomes.to_arrow`, with the column ``algorithm``.

        Args:
            rows: As for :meth:`Outcomes.to_arrow`.
            metrics: As for :meth:`Outcomes.to_arrow`.
        """
        return Table(self._native.table(rows, arguments.some(metrics)))

    def _place(self, algorithm: str, seed: int | None) -> tuple[int, int]:
        if algorithm not in self.algorithms:
            raise ArgumentError(f"algorithm {algorithm}: there are {', '.join(self.algorithms)}")
        if seed is not None and seed not in self.seeds:
            raise ArgumentError(f"seed {seed}: no run has this seed")
        return self.algorithms.index(algorithm), 0 if seed is None else self.seeds.index(seed)

    @checked
    def trace(self, algorithm: str, seed: int | None = None) -> Table:
        """The events of the senders of a run, as :meth:`Outcomes.trace`. Empty without ``compare(trace=True)``.

        Args:
            algorithm: Name of the algorithm.
            seed: Seed of the run; ``None``: the first.

        Raises:
            ArgumentError: For an algorithm or seed that no run has.
        """
        return Table(self._native.trace(*self._place(algorithm, seed)))

    @checked
    def losses(self, algorithm: str, seed: int | None = None) -> Table:
        """The losses of a run, as :meth:`Outcomes.losses`.

        Args:
            algorithm: As for :meth:`trace`.
            seed: As for :meth:`trace`.
        """
        return Table(self._native.losses(*self._place(algorithm, seed)))
