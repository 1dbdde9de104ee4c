"""Sweeps whose rows are files: of several processes and machines, and continued after an interruption."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import math
import os
import pickle
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lisa import _native
from lisa.errors import ArgumentError, LisaError
from lisa.optional import load
from lisa.table import Framed

if TYPE_CHECKING:
    import pyarrow
    from distributed import Client

#: Time that the runs of a part take on one core, seconds: far more than Dask needs for a task, which are some milliseconds.
PART_SECONDS = 1.0
#: Largest number of parts, as of `lisa sweep --shard`.
MOST_PARTS = 100_000
#: Numbers of runs, over the whole sweep, whose time decides the number of parts: more where they are too short to be timed.
TIMED_RUNS = (1, 10, 100)
#: Largest number of submitted parts for each thread of a cluster. With fewer a thread can be idle; more need memory for their results.
AHEAD = 8
#: What to do after an error.
AGAIN = "the same call makes the parts that are missing"
#: File of a directory of parts that says of which sweep they are. Readers of data sets ignore names that begin so.
RECORD = "_sweep.json"


@dataclass(frozen=True)
class Spec:
    """All that decides the rows of a sweep, as plain data that is sent to workers."""

    version: str
    text: str
    name: str
    set: list[str]
    vary: list[tuple[str, str | list[str]]]
    algorithms: list[str]
    seeds: list[int]
    connections: list[str]
    metrics: list[str] | None
    rows: str
    drawn: tuple[int, bool] | None
    points: bool
    sample: str | None

    def plan(self, scenario: _native.Scenario | None = None) -> _native.Plan:
        """The sweep, ready to run. ``scenario``: the one of the text, if it was read already."""
        scenario = scenario or _native.Scenario.from_text(self.text, self.name, self.set)
        more = (self.seeds, self.connections, self.metrics, self.rows, self.drawn, self.points, self.sample)
        return _native.plan(scenario, self.vary, self.algorithms, *more)

    def record(self) -> dict[str, str]:
        """The values as short texts, to be compared with those of another sweep."""
        record = {}
        for key, value in asdict(self).items():
            if key == "name":  # also in another directory the same rows
                continue
            text = json.dumps(value)
            digest = hashlib.sha256(text.encode()).hexdigest()
            record[key] = text if len(text) <= 100 else f"SHA-256 {digest}"
        return record


class Parts(Framed):
    """The rows of a sweep in a directory of Parquet files (docs/python.md, Many machines). ``len(parts)`` is the number of files.

    Each file has the rows of one part of the runs, those of ``lisa sweep --shard PART/N``: any reader of Parquet data sets reads the
    directory, such as ``pandas.read_parquet(parts.path)``.
    """

    def __init__(self, path: Path, files: list[Path], runs: int) -> None:
        #: The directory.
        self.path = path
        #: The files, in the order of the parts.
        self.files = files
        #: Number of runs.
        self.runs = runs

    def __len__(self) -> int:
        return len(self.files)

    def __repr__(self) -> str:
        return f"<lisa.Parts: {self.runs} runs in {len(self)} files of {self.path}>"

    def to_arrow(self) -> pyarrow.Table:
        """The rows of all runs, part by part, with the columns of :meth:`Sweep.to_arrow`.

        Raises:
            MissingPackage: Without pyarrow.
        """
        parquet = load("pyarrow.parquet", "pandas")
        tables = [parquet.read_table(file).replace_schema_metadata() for file in self.files]
        return load("pyarrow", "pandas").concat_tables(tables)


class Directory:
    """A directory of parts that is being filled."""

    def __init__(self, path: Path, spec: Spec, plan: _native.Plan, threads: int) -> None:
        self.path = path
        self._plan = plan
        record = path / RECORD
        if record.exists():
            self.of = self._recorded(record, spec)
        else:
            if path.is_dir() and any(path.iterdir()):
                raise ArgumentError(f"to {path}: has other files: use a new directory")
            path.mkdir(parents=True, exist_ok=True)
            self.of = number_of_parts(plan, threads)
            text = json.dumps({"schema": "lisa.parts/1", "parts": self.of, "sweep": spec.record()}, indent=1)
            self._write(record, (text + "\n").encode())

    def _recorded(self, record: Path, spec: Spec) -> int:
        """The number of parts of the same sweep before."""
        try:
            found = json.loads(record.read_text())
            before, parts = dict(found["sweep"]), int(found["parts"])
        except (ValueError, KeyError, TypeError) as error:
            raise ArgumentError(f"to {self.path}: {RECORD} is damaged: use a new directory") from error
        for key, value in spec.record().items():
            if before.get(key) != value:
                raise ArgumentError(f"to {self.path}: has parts of another sweep (other {key}): use a new directory")
        return parts

    @staticmethod
    def _write(file: Path, content: bytes) -> None:
        """Writes a file as a whole: a process that is killed leaves none with half of its content."""
        temporary = file.with_name(f".{file.name}.{os.getpid()}")
        try:
            temporary.write_bytes(content)
            temporary.replace(file)
        finally:
            temporary.unlink(missing_ok=True)

    def file(self, part: int) -> Path:
        """The file of a part, from 1."""
        digits = len(str(self.of))
        return self.path / f"part-{part:0{digits}}-of-{self.of}.parquet"

    def missing(self) -> list[int]:
        """The parts that have no file."""
        return [part for part in range(1, self.of + 1) if not self.file(part).exists()]

    def runs(self, part: int) -> int:
        """Number of runs of a part."""
        return len(range(part - 1, self._plan.runs, self.of))

    def add(self, part: int, content: bytes) -> None:
        """Writes the file of a part."""
        self._write(self.file(part), content)

    def parts(self) -> Parts:
        """The directory with all of its parts."""
        return Parts(self.path, [self.file(part) for part in range(1, self.of + 1)], self._plan.runs)


def number_of_parts(plan: _native.Plan, threads: int) -> int:
    """Number of parts that take about :data:`PART_SECONDS` each, and are enough for all threads; from the time of some runs."""
    seconds = 0.0
    for timed in TIMED_RUNS:
        some = _mixed(max(1, plan.runs // timed), plan)
        begin = time.perf_counter()
        content_of(plan, 1, some, jobs=1)
        seconds = time.perf_counter() - begin
        if seconds > PART_SECONDS / 10 or some == 1:
            break
    each = seconds / len(range(0, plan.runs, some))
    parts = max(round(each * plan.runs / PART_SECONDS), threads)
    return _mixed(parts, plan)


def _mixed(parts: int, plan: _native.Plan) -> int:
    """The next number of parts, from ``parts`` on, that has no divisor in common with the number of points: each part then has runs
    of all points, and parts take about the same time. Never more than there are runs."""
    most = min(plan.runs, MOST_PARTS)
    numbers = itertools.chain(range(parts, most + 1), range(min(parts, most), 0, -1))
    return next(number for number in numbers if math.gcd(number, plan.points) == 1)


def content_of(plan: _native.Plan, part: int, of: int, jobs: int | None) -> tuple[bytes, list[str]]:
    """Makes the runs of a part. Returns its Parquet file, and a line for each warning."""
    with tempfile.TemporaryDirectory(prefix="lisa-") as folder:
        file = Path(folder) / "part.parquet"
        warnings = plan.write_part(part, of, file, jobs)
        return file.read_bytes(), warnings


@functools.lru_cache(maxsize=2)
def _plan_of(pickled: bytes) -> _native.Plan:
    """The sweep; read once in each worker, because a sweep of many points takes longer to read than a part to run."""
    spec: Spec = pickle.loads(pickled)
    if spec.version != _native.VERSION:
        raise ArgumentError(
            f"a worker has lisa {_native.VERSION}, and the sweep is of {spec.version}: install the same"
        )
    return spec.plan()


def run_part(pickled: bytes, part: int, of: int) -> tuple[bytes, list[str]]:
    """The task of a worker: as :func:`content_of`, on one core."""
    return content_of(_plan_of(pickled), part, of, jobs=1)


Done = tuple[int, bytes, list[str]]


def on_dask(client: Client, spec: Spec, parts: Iterable[int], of: int) -> Iterator[Done]:
    """The parts, as they end on the workers of a Dask cluster. Dask runs a part again whose worker is gone."""
    distributed = load("distributed", "dask")
    # A task, whose result is made again where a worker that had it is gone; as an argument of each part it would be sent with each.
    pickled = client.submit(bytes, pickle.dumps(spec), pure=False)
    waiting = iter(parts)
    numbers: dict[Any, int] = {}

    def submit() -> Any:
        part = next(waiting, None)
        if part is None:
            return None
        future = client.submit(run_part, pickled, part, of, pure=False)
        numbers[future.key] = part
        return future

    threads = sum(client.nthreads().values())
    first = [future for _ in range(AHEAD * max(threads, 1)) if (future := submit()) is not None]
    ended = distributed.as_completed(first)
    try:
        for future in ended:
            part = numbers[future.key]
            try:
                content, warnings = future.result()
            except distributed.KilledWorker as error:
                raise LisaError(
                    f"part {part} of {of}: {error.allowed_failures + 1} workers died with it, perhaps for lack of memory: {AGAIN}"
                ) from error
            except (CancelledError, distributed.comm.CommClosedError) as error:
                raise LisaError(f"part {part} of {of}: the scheduler is gone: {AGAIN}") from error
            del numbers[future.key]
            yield part, content, warnings
            future.release()
            if (another := submit()) is not None:
                ended.add(another)
    finally:
        # Also after an error or Ctrl-C: workers do not go on.
        client.cancel([distributed.Future(key, client) for key in numbers])


def here(plan: _native.Plan, parts: Iterable[int], directory: Directory, jobs: int | None) -> Iterator[Done]:
    """The parts one after the other, each on all cores of this machine."""
    for part in parts:
        yield (part, *content_of(plan, part, directory.of, jobs))


def connect(on: Client | str) -> Client:
    """The client of a cluster.

    Raises:
        ArgumentError: If no cluster answers.
        MissingPackage: Without Dask.
    """
    distributed = load("distributed", "dask")
    if isinstance(on, distributed.Client):
        return on
    if not isinstance(on, str):
        raise ArgumentError(
            f"on: a value of type `{type(on).__name__}`: a client of Dask, or an address like tcp://10.0.0.1:8786"
        )
    try:
        return distributed.Client(on)
    except (OSError, ValueError) as error:
        raise ArgumentError(f"on {on}: {str(error).splitlines()[0] if str(error) else type(error).__name__}") from error


def sweep(
    spec: Spec,
    to: str | os.PathLike[str],
    on: Client | str | None,
    jobs: int | None,
    shown: Callable[[int, int], None] | None,
) -> tuple[Parts, list[str]]:
    """Makes the parts of a sweep that a directory does not have. Returns all, and a line for each warning of the new ones."""
    plan = spec.plan()
    client = None if on is None else connect(on)
    threads = (jobs or os.cpu_count() or 1) if client is None else sum(client.nthreads().values())
    directory = Directory(Path(to), spec, plan, threads)
    missing = directory.missing()
    finished = plan.runs - sum(map(directory.runs, missing))
    if client is None:
        ended = here(plan, missing, directory, jobs)
    else:
        ended = on_dask(client, spec, missing, directory.of)
    lines: dict[str, None] = {}
    try:
        for part, content, warnings in ended:
            directory.add(part, content)
            lines |= dict.fromkeys(warnings)
            finished += directory.runs(part)
            if shown:
                shown(finished, plan.runs)
    finally:
        if client is not None and client is not on:
            client.close()
    return directory.parts(), list(lines)
