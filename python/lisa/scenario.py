"""Scenarios, and what runs them."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from lisa import _native, arguments
from lisa.arguments import Seeds, Set
from lisa.checks import checked, shown
from lisa.comparison import Comparison
from lisa.errors import ArgumentError
from lisa.outcomes import Outcomes
from lisa.parts import Parts, Spec
from lisa.parts import sweep as sweep_in_parts
from lisa.progress import progress as bar
from lisa.sweep import Rows, Sweep

if TYPE_CHECKING:
    from distributed import Client


#: Largest number of values of a varied key.
MOST_VALUES = 1_000_000


class Scenario:
    """A network and the connections on it (docs/scenario.md).

    :meth:`from_file`, :meth:`from_text` and :meth:`from_dict` read one; :func:`lisa.shared_bottleneck` and its siblings build
    one. A scenario does not change: :meth:`with_` returns another one.

    Example:
        >>> import lisa
        >>> download = lisa.shared_bottleneck(
        ...     lisa.mptcp("lisa", bytes="300KB"), rate="5Mbit", rtt="40ms", queue=17
        ... )
        >>> outcomes = download.run(seeds=3)
        >>> len(outcomes)
        3
    """

    def __init__(self, native: _native.Scenario) -> None:
        self._native = native

    @classmethod
    @checked
    def from_file(cls, path: str | os.PathLike[str], set: Set | None = None) -> Scenario:
        """Reads a scenario file.

        Args:
            path: Name of a TOML file.
            set: Changes of keys, as ``--set`` of the program: ``{"topology.queue": 17}`` or ``["topology.queue=17"]``. A value
                of ``None`` removes a key.

        Raises:
            ScenarioError: The first problem, with file, line and key.
        """
        return cls(_native.Scenario.from_file(os.fspath(path), arguments.overrides(set)))

    @classmethod
    @checked
    def from_text(cls, text: str, name: str | os.PathLike[str] = "scenario.toml", set: Set | None = None) -> Scenario:
        """Reads the text of a scenario file.

        Args:
            text: TOML.
            name: Name of the file, for errors; files that the text names are beside it.
            set: As for :meth:`from_file`.

        Raises:
            ScenarioError: The first problem, with file, line and key.
        """
        return cls(_native.Scenario.from_text(text, os.fspath(name), arguments.overrides(set)))

    @classmethod
    @checked
    def from_dict(
        cls, table: Mapping[str, Any], directory: str | os.PathLike[str] = "", set: Set | None = None
    ) -> Scenario:
        """Reads a dictionary with the keys of a scenario file.

        Args:
            table: The keys; a value of ``None`` is left out. Times, rates and sizes are texts with units (``"40ms"``,
                ``"5Mbit"``, ``"300KB"``).
            directory: Directory of the files that the dictionary names.
            set: As for :meth:`from_file`.

        Raises:
            ScenarioError: The first problem, with its key; without file and line.

        Example:
            >>> import lisa
            >>> scenario = lisa.Scenario.from_dict({
            ...     "stop": "30s",
            ...     "topology": {"kind": "shared-bottleneck", "rate": "5Mbit", "rtt": "40ms", "queue": 17},
            ...     "connection": [{"protocol": "mptcp", "algorithm": "lisa", "bytes": "300KB"}],
            ... })
            >>> scenario.connections
            ['mptcp lisa']
        """
        name = os.path.join(os.fspath(directory), "scenario")
        return cls(_native.Scenario.from_values(dict(table), name, arguments.overrides(set)))

    @checked
    def with_(self, set: Set) -> Scenario:
        """The scenario with changed keys.

        Args:
            set: As for :meth:`from_file`.

        Raises:
            ScenarioError: The first problem.

        Example:
            >>> import lisa
            >>> short = lisa.shared_bottleneck(lisa.tcp(bytes="9KB"), rate="5Mbit", rtt="40ms", queue=17)
            >>> long = short.with_({"connection.1.bytes": "4MB"})
        """
        return Scenario(self._native.with_set(arguments.overrides(set)))

    @property
    def title(self) -> str:
        """Title; without one in the file, the file's name."""
        return self._native.title

    @property
    def text(self) -> str:
        """The scenario as TOML, a file for the program ``lisa``. With changes (``set``, :meth:`with_`) it has them and no comments."""
        return self._native.text()

    @property
    def connections(self) -> list[str]:
        """Names of the connections."""
        return self._native.connections

    def __repr__(self) -> str:
        return f"<lisa.Scenario: {self.title}>"

    def __reduce__(self) -> tuple[Any, ...]:
        native = self._native
        return _restore, (native.source_text, native.name, native.set, native.of_values)

    def __copy__(self) -> Scenario:
        return self

    def __deepcopy__(self, memo: object) -> Scenario:
        return self

    def _repr_html_(self) -> str:
        from lisa.html import scenario

        return scenario(self)

    @checked
    def run(
        self,
        seeds: Seeds = 1,
        *,
        jobs: int | None = None,
        trace: bool = False,
        sample: str | None = None,
        progress: bool | None = None,
    ) -> Outcomes:
        """Runs the scenario in the simulator with each of the seeds.

        The results are those of ``lisa run --seeds`` byte by byte, at any number of jobs. Other threads of Python run meanwhile,
        and Ctrl-C ends the runs.

        Args:
            seeds: ``10`` are the seeds 1 to 10, ``"11..20"`` those of the range; or a list of numbers.
            jobs: Number of runs at a time; ``None``: one for each core.
            trace: Whether the events of the senders are recorded, for :meth:`Outcomes.trace` and the figure of windows.
            sample: Interval of time series of links and subflows, such as ``"10ms"``, for ``to_frame("sample")``.
            progress: Whether a bar of tqdm is shown; ``None``: on a terminal or in a notebook, if it takes longer than a second.

        Raises:
            ScenarioError: For a scenario that the simulator does not support, or a run that exceeds the memory.
            ArgumentError: For a wrong argument.
            KeyboardInterrupt: After Ctrl-C.
        """
        numbers = arguments.seeds(seeds)
        with bar(progress) as shown:
            native = self._native.run(numbers, jobs, shown, trace, sample)
        arguments.warn(native.warnings)
        return Outcomes(native, self.title)

    @checked
    def compare(
        self,
        algorithms: str | Iterable[str],
        seeds: Seeds = 10,
        *,
        metrics: str | Iterable[str] | None = None,
        connections: str | Iterable[str] | None = None,
        jobs: int | None = None,
        trace: bool = False,
        sample: str | None = None,
        progress: bool | None = None,
    ) -> Comparison:
        """Runs the scenario with each of the algorithms, all with the same seeds, as ``lisa compare``.

        Args:
            algorithms: Names, as a list or with commas. The first is the baseline of the differences.
            seeds: As for :meth:`run`.
            metrics: Names of the metrics, such as ``"goodput_mbps"`` or ``"subflows.srtt_s"`` (docs/scenario.md); ``None``: the
                standard ones.
            connections: Names of the connections whose algorithm is replaced; ``None``: all MPTCP connections, or else all TCP
                connections.
            jobs: As for :meth:`run`.
            trace: As for :meth:`run`.
            sample: As for :meth:`run`.
            progress: As for :meth:`run`.

        Raises:
            ArgumentError: For an unknown algorithm, metric or connection.
            ScenarioError: As for :meth:`run`.

        Example:
            >>> import lisa
            >>> download = lisa.shared_bottleneck(
            ...     lisa.mptcp(name="download", bytes="300KB"), rate="5Mbit", rtt="40ms", queue=17, rtt_spread="10%"
            ... )
            >>> compared = download.compare(["lia", "lisa"], seeds=5)
            >>> compared.algorithms
            ['lia', 'lisa']
        """
        contenders, numbers = arguments.names(algorithms), arguments.seeds(seeds)
        with bar(progress) as shown:
            native = _native.compare(
                self._native,
                contenders,
                numbers,
                arguments.names(connections),
                arguments.some(metrics),
                jobs,
                shown,
                trace,
                sample,
            )
        arguments.warn(native.warnings)
        return Comparison(native)

    @overload
    def sweep(
        self,
        vary: Mapping[str, str | Sequence[Any]] | None = None,
        algorithms: str | Iterable[str] | None = None,
        seeds: Seeds = 10,
        *,
        metrics: str | Iterable[str] | None = None,
        connections: str | Iterable[str] | None = None,
        rows: Rows = "connection",
        random: int | None = None,
        latin: int | None = None,
        points: bool = False,
        jobs: int | None = None,
        sample: str | None = None,
        progress: bool | None = None,
        to: None = None,
        on: None = None,
    ) -> Sweep: ...
    @overload
    def sweep(
        self,
        vary: Mapping[str, str | Sequence[Any]] | None = None,
        algorithms: str | Iterable[str] | None = None,
        seeds: Seeds = 10,
        *,
        metrics: str | Iterable[str] | None = None,
        connections: str | Iterable[str] | None = None,
        rows: Rows = "connection",
        random: int | None = None,
        latin: int | None = None,
        points: bool = False,
        jobs: int | None = None,
        sample: str | None = None,
        progress: bool | None = None,
        to: str | os.PathLike[str],
        on: Client | str | None = None,
    ) -> Parts: ...
    @checked
    def sweep(
        self,
        vary: Mapping[str, str | Sequence[Any]] | None = None,
        algorithms: str | Iterable[str] | None = None,
        seeds: Seeds = 10,
        *,
        metrics: str | Iterable[str] | None = None,
        connections: str | Iterable[str] | None = None,
        rows: Rows = "connection",
        random: int | None = None,
        latin: int | None = None,
        points: bool = False,
        jobs: int | None = None,
        sample: str | None = None,
        progress: bool | None = None,
        to: str | os.PathLike[str] | None = None,
        on: Client | str | None = None,
    ) -> Sweep | Parts:
        """Runs all combinations of values, each with the algorithms and seeds, as ``lisa sweep``.

        Args:
            vary: For each key its values: a list, or a text such as ``"1..34"``, ``"1..34/3"`` or ``"50KB..900KB/50KB"``.
            algorithms: As for :meth:`compare`; ``None``: those of the scenario.
            seeds: As for :meth:`run`. All combinations run with the first seed before any runs with the second.
            metrics: As for :meth:`compare`.
            connections: As for :meth:`compare`.
            rows: The part of a run that has a row in :meth:`Sweep.to_frame`: ``"connection"``, ``"subflow"``, ``"link"`` or
                ``"sample"``.
            random: Instead of combinations this number of random points.
            latin: Instead of combinations this number of points of a Latin hypercube.
            points: Whether the values of the keys are those of points: the first of each key, then the second of each.
            jobs: As for :meth:`run`.
            sample: As for :meth:`run`.
            progress: As for :meth:`run`.
            to: Directory that gets the rows as Parquet files, part by part; the result is :class:`Parts`. A call with the same
                arguments makes the parts that are missing there, after an interruption or an error.
            on: A Dask cluster whose workers run the parts: a ``distributed.Client``, or the address of a scheduler. Needs ``to``.
                ``None``: the cores of this machine.

        Raises:
            ArgumentError: For a wrong key, value, algorithm, metric or connection.
            ScenarioError: As for :meth:`run`.

        Example:
            >>> import lisa
            >>> download = lisa.shared_bottleneck(
            ...     lisa.mptcp(bytes="100KB"), rate="5Mbit", rtt="40ms", queue=17, rtt_spread="10%"
            ... )
            >>> queues = download.sweep({"topology.queue": [5, 10]}, ["lia", "lisa"], seeds=2)
            >>> len(queues)
            8
        """
        if (random is not None) + (latin is not None) + points > 1:
            raise ArgumentError("random, latin and points: at most one of them")
        varied = [(str(key), _values(key, values)) for key, values in (vary or {}).items()]
        drawn = (random, False) if random is not None else (latin, True) if latin is not None else None
        spec = Spec(
            version=_native.VERSION,
            text=self._native.source_text,
            name=self._native.name,
            set=self._native.set,
            vary=varied,
            algorithms=arguments.names(algorithms),
            seeds=arguments.seeds(seeds),
            connections=arguments.names(connections),
            metrics=arguments.some(metrics),
            rows=rows,
            drawn=drawn,
            points=points,
            sample=sample,
        )
        if on is not None and to is None:
            raise ArgumentError("on: needs `to`, the directory of the rows")
        result: Sweep | Parts
        with bar(progress) as shown:
            if to is None:
                result = Sweep(spec.plan(self._native).run(jobs, shown))
                lines = result.warnings
            else:
                result, lines = sweep_in_parts(spec, to, on, jobs, shown)
        arguments.warn(lines)
        return result


def _values(key: object, values: object) -> str | list[str]:
    """Values of a varied key."""
    if isinstance(values, str):
        return values
    if isinstance(values, (bytes, Mapping)) or not isinstance(values, Iterable):
        raise ArgumentError(f"vary {key}: expected a list of values, or a text like `1..34`, found {shown(values)}")
    # No more than there may be points: an iterable can be endless.
    listed = [arguments.value(value) for value in itertools.islice(values, MOST_VALUES + 1)]
    if len(listed) > MOST_VALUES:
        raise ArgumentError(f"vary {key}: more than {MOST_VALUES} values")
    return listed


def _restore(text: str, name: str, set: list[str], of_values: bool) -> Scenario:
    """A scenario that was pickled. Files that it names are read again."""
    return Scenario(_native.Scenario.restore(text, name, set, of_values))


def load(scenario: Scenario | str | os.PathLike[str] | Mapping[str, Any]) -> Scenario:
    """The scenario of a file, a dictionary, or itself."""
    if isinstance(scenario, Scenario):
        return scenario
    if isinstance(scenario, Mapping):
        return Scenario.from_dict(scenario)
    return Scenario.from_file(Path(scenario))
