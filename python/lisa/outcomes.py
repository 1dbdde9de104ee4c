"""The results of runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, TypedDict, overload

from lisa import _native, arguments
from lisa.checks import check, checked
from lisa.errors import ArgumentError
from lisa.table import Library, Table

if TYPE_CHECKING:
    import pandas
    import polars

Rows = Literal["connection", "subflow", "link", "sample"]


class Outcome(TypedDict):
    """Results of a run, as docs/outcome.schema.json describes them."""

    schema: str
    scenario: str
    seed: int
    backend: str
    connections: list[dict[str, Any]]
    transfers: list[dict[str, Any]]
    links: list[dict[str, Any]]
    events: int
    packet_hops: int
    sim_seconds: float
    wall_seconds: float | None
    lateness_s: float
    spoiled_packets: int
    warnings: list[dict[str, Any]]


class Outcomes:
    """The results of a scenario with several seeds, in the order of the seeds: a sequence of :class:`Outcome`.

    Example:
        >>> import lisa
        >>> outcomes = lisa.shared_bottleneck(
        ...     lisa.tcp(bytes="30KB"), rate="5Mbit", rtt="40ms", queue=17
        ... ).run(seeds=[7])
        >>> outcomes[0]["seed"], outcomes[0]["connections"][0]["bytes"]
        (7, 30000)
    """

    def __init__(self, native: _native.Outcomes, title: str) -> None:
        self._native = native
        self.title = title

    def __len__(self) -> int:
        return len(self._native)

    @overload
    def __getitem__(self, index: int) -> Outcome: ...
    @overload
    def __getitem__(self, index: slice) -> list[Outcome]: ...
    def __getitem__(self, index: int | slice) -> Outcome | list[Outcome]:
        """The outcome of a run by its place, from 0, with the time that the run took (``wall_seconds``); of a slice a list of them."""
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = check("index", "int", index)
        if place < 0:
            place += len(self)
        if not 0 <= place < len(self):
            raise IndexError(f"no run {index}: there are {len(self)}")
        outcome: Outcome = json.loads(self._native.json(place, True))
        return outcome

    def __iter__(self) -> Iterator[Outcome]:
        return (self[index] for index in range(len(self)))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (_native.VERSION, self._native.dump(), self.title)

    def __copy__(self) -> Outcomes:
        return self

    def __deepcopy__(self, memo: object) -> Outcomes:
        return self

    def __repr__(self) -> str:
        return f"<lisa.Outcomes: {self.title}, {len(self)} {'run' if len(self) == 1 else 'runs'}>"

    def __str__(self) -> str:
        from lisa.html import outcomes

        return outcomes(self).text()

    def _repr_html_(self) -> str:
        from lisa.html import outcomes

        return outcomes(self).html()

    @property
    def seeds(self) -> list[int]:
        """Seeds of the runs."""
        return self._native.seeds

    @property
    def warnings(self) -> list[str]:
        """A line for each result that misleads."""
        return self._native.warnings

    @checked
    def to_json(self, timing: bool = False) -> str:
        """The outcomes as ``lisa run --json`` prints them: a line for each run, the same bytes for the same scenario and seed.

        Args:
            timing: Whether ``wall_seconds``, which differs between equal runs, is filled in.
        """
        return "".join(self._native.json(index, timing) + "\n" for index in range(len(self)))

    @checked
    def to_arrow(self, rows: Rows = "connection", metrics: str | Iterable[str] | None = None) -> Table:
        """A table with a row for each connection of each run, or each subflow, link or sample (docs/rows.md).

        Args:
            rows: The part of a run that has a row. ``"sample"`` needs ``run(sample=…)``.
            metrics: Names of the metrics; ``None``: the standard ones of connections, and all of subflows and links.

        Raises:
            ArgumentError: For unknown rows or metrics.
        """
        return Table(self._native.table(rows, arguments.some(metrics)))

    @overload
    def to_frame(
        self,
        rows: Rows = "connection",
        metrics: str | Iterable[str] | None = None,
        library: Literal["pandas"] = "pandas",
    ) -> pandas.DataFrame: ...
    @overload
    def to_frame(
        self,
        rows: Rows = "connection",
        metrics: str | Iterable[str] | None = None,
        *,
        library: Literal["polars"],
    ) -> polars.DataFrame: ...
    @checked
    def to_frame(
        self,
        rows: Rows = "connection",
        metrics: str | Iterable[str] | None = None,
        library: Library = "pandas",
    ) -> Any:
        """As :meth:`to_arrow`, in pandas or polars. The columns are those of docs/rows.md, their names end with the unit.

        Args:
            rows: As for :meth:`to_arrow`.
            metrics: As for :meth:`to_arrow`.
            library: ``"pandas"`` or ``"polars"``.

        Raises:
            ArgumentError: For unknown rows, metrics or libraries.
            MissingPackage: Without the library.
        """
        return self.to_arrow(rows, metrics).to_frame(library)

    def _place(self, seed: int | None) -> int:
        if seed is None:
            return 0
        seeds = self.seeds
        if seed not in seeds:
            raise ArgumentError(f"seed {seed}: no run has this seed")
        return seeds.index(seed)

    @checked
    def trace(self, seed: int | None = None) -> Table:
        """The events of the senders of a run: windows, RTTs and phases over time (docs/rows.md). Empty without
        ``run(trace=True)``.

        Args:
            seed: Seed of the run; ``None``: the first run.

        Raises:
            ArgumentError: For a seed that no run has.
        """
        return Table(self._native.trace(self._place(seed)))

    @checked
    def losses(self, seed: int | None = None) -> Table:
        """Time, connection and subflow of each data segment that the network lost. Empty without ``run(trace=True)``.

        Args:
            seed: As for :meth:`trace`.
        """
        return Table(self._native.losses(self._place(seed)))

    @checked
    def credits(self, seed: int | None = None) -> list[dict[str, Any]]:
        """The credits of linked slow start: the window of one subflow, taken from another. Empty without ``run(trace=True)``.

        Args:
            seed: As for :meth:`trace`.
        """
        credits: list[dict[str, Any]] = json.loads(self._native.credits(self._place(seed)))
        return credits


def _restore(version: str, text: str, title: str) -> Outcomes:
    """Outcomes that were pickled."""
    if version != _native.VERSION:
        raise ArgumentError(
            f"these outcomes were pickled by version {version}, and this is {_native.VERSION}: to_json() is for keeping"
        )
    return Outcomes(_native.Outcomes.restore(text), title)
