"""Sweeps in parts: here, after an interruption, and on a Dask cluster of two workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import lisa
import pytest
from lisa import parts as of_parts

Program = Callable[..., subprocess.CompletedProcess[str]]

FILE = "experiments/examples/shared-bottleneck.toml"
VARY: dict[str, Sequence[Any]] = {"topology.queue": [5, 10, 20], "topology.rate": ["2Mbit", "5Mbit"]}
ALGORITHMS = ["lia", "lisa"]
SEEDS = 5
RUNS = 3 * 2 * 2 * SEEDS


@pytest.fixture
def scenario() -> lisa.Scenario:
    return lisa.Scenario.from_file(FILE, set=["rtt_spread=10%"])


@pytest.fixture
def seven(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the runs took so long that they are seven parts."""
    monkeypatch.setattr(of_parts, "number_of_parts", lambda plan, threads: 7)


def spec_of(scenario: lisa.Scenario, **changes: Any) -> of_parts.Spec:
    native = scenario._native
    values: dict[str, Any] = {
        "version": lisa.__version__,
        "text": native.source_text,
        "name": native.name,
        "set": native.set,
        "vary": [(key, [str(value) for value in values]) for key, values in VARY.items()],
        "algorithms": ALGORITHMS,
        "seeds": list(range(1, SEEDS + 1)),
        "connections": [],
        "metrics": None,
        "rows": "connection",
        "drawn": None,
        "points": False,
        "sample": None,
    }
    return of_parts.Spec(**values | changes)


def rows(table: Any) -> list[tuple[Any, ...]]:
    """The rows of a table in pandas, in an order of their own."""
    return sorted(map(tuple, table.astype(object).where(table.notna(), None).to_numpy().tolist()), key=repr)


def test_rows_are_those_of_the_sweep(scenario: lisa.Scenario, tmp_path: Path, seven: None) -> None:
    parts = scenario.sweep(VARY, ALGORITHMS, seeds=SEEDS, to=tmp_path / "rows")
    whole = scenario.sweep(VARY, ALGORITHMS, seeds=SEEDS)
    assert (len(parts), parts.runs) == (7, RUNS)
    assert rows(parts.to_frame()) == rows(whole.to_frame())
    assert len(parts.to_frame("polars")) == RUNS
    # Any reader of data sets takes the directory.
    pandas = pytest.importorskip("pandas")
    assert len(pandas.read_parquet(tmp_path / "rows")) == RUNS


def test_a_file_has_the_rows_of_a_shard(program: Program, scenario: lisa.Scenario, tmp_path: Path, seven: None) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    parts = scenario.sweep(VARY, ALGORITHMS, seeds=SEEDS, to=tmp_path / "rows")
    vary = ("--vary", "topology.queue=5,10,20", "--vary", "topology.rate=2Mbit,5Mbit")
    for number, file in enumerate(parts.files, 1):
        shard = tmp_path / f"{number}.parquet"
        written = program(
            *("sweep", FILE, "--set", "rtt_spread=10%", *vary, "-a", "lia,lisa", "--seeds", str(SEEDS)),
            *("--shard", f"{number}/7", "-o", str(shard)),
        )
        assert written.returncode == 0, written.stderr
        mine, theirs = (parquet.read_table(path).replace_schema_metadata() for path in (file, shard))
        assert mine.equals(theirs)


def test_only_what_is_missing_runs(scenario: lisa.Scenario, tmp_path: Path, seven: None) -> None:
    def sweep() -> lisa.Parts:
        return scenario.sweep(VARY, ALGORITHMS, seeds=SEEDS, to=tmp_path / "rows")

    first = sweep()
    before = rows(first.to_frame())
    lost = first.files[2]
    lost.unlink()
    times = {file: file.stat().st_mtime_ns for file in first.files if file != lost}
    again = sweep()
    assert {file: file.stat().st_mtime_ns for file in again.files if file != lost} == times
    assert rows(again.to_frame()) == before


def test_a_process_that_is_killed_loses_no_part(tmp_path: Path) -> None:
    to = tmp_path / "rows"
    code = f"""
import os, signal
import lisa, lisa.parts
lisa.parts.number_of_parts = lambda plan, threads: 7
write = lisa.parts.Directory.add
def add(self, part, content):
    if part == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    write(self, part, content)
lisa.parts.Directory.add = add
scenario = lisa.Scenario.from_file({FILE!r}, set=["rtt_spread=10%"])
scenario.sweep({VARY!r}, {ALGORITHMS!r}, seeds={SEEDS}, to={str(to)!r})
"""
    killed = subprocess.run([sys.executable, "-c", code], check=False, timeout=120)
    assert killed.returncode == -signal.SIGKILL
    assert len(list(to.glob("*.parquet"))) == 3
    scenario = lisa.Scenario.from_file(FILE, set=["rtt_spread=10%"])
    parts = scenario.sweep(VARY, ALGORITHMS, seeds=SEEDS, to=to)
    assert len(parts) == 7
    assert rows(parts.to_frame()) == rows(scenario.sweep(VARY, ALGORITHMS, seeds=SEEDS).to_frame())


def test_errors(scenario: lisa.Scenario, tmp_path: Path, seven: None) -> None:
    to = tmp_path / "rows"
    scenario.sweep(VARY, ALGORITHMS, seeds=2, to=to)
    with pytest.raises(lisa.ArgumentError, match=r"has parts of another sweep \(other seeds\)"):
        scenario.sweep(VARY, ALGORITHMS, seeds=3, to=to)
    with pytest.raises(lisa.ArgumentError, match=r"\(other algorithms\)"):
        scenario.sweep(VARY, ["lia"], seeds=2, to=to)
    (to / of_parts.RECORD).write_text("{")
    with pytest.raises(lisa.ArgumentError, match="damaged"):
        scenario.sweep(VARY, ALGORITHMS, seeds=2, to=to)
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").write_text("years of work")
    with pytest.raises(lisa.ArgumentError, match="has other files"):
        scenario.sweep(VARY, ALGORITHMS, seeds=2, to=other)
    assert [file.name for file in other.iterdir()] == ["thesis.tex"]
    with pytest.raises(lisa.ArgumentError, match="on: needs `to`"):
        scenario.sweep(VARY, ALGORITHMS, seeds=2, on="tcp://127.0.0.1:1")  # type: ignore[call-overload]


def test_parts_have_runs_of_all_points(scenario: lisa.Scenario) -> None:
    """Else one part has all runs of the slowest point."""
    plan = spec_of(scenario).plan()
    assert (plan.points, plan.runs) == (12, RUNS)
    for parts in range(1, RUNS + 10):
        mixed = of_parts._mixed(parts, plan)
        assert 1 <= mixed <= RUNS
        # 59 is the last without a divisor of 12.
        assert mixed >= min(parts, 59)
        if RUNS // mixed >= plan.points:
            assert {run % plan.points for run in range(0, RUNS, mixed)} == set(range(plan.points))
    # At least one for each thread.
    assert of_parts.number_of_parts(plan, threads=2) == 5


# A cluster.


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two workers, each a process, on loopback."""
    distributed = pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_rows_of_a_cluster(client: Any, scenario: lisa.Scenario, tmp_path: Path, seven: None) -> None:
    parts = scenario.sweep(VARY, ALGORITHMS, seeds=SEEDS, to=tmp_path / "rows", on=client)
    here = scenario.sweep(VARY, ALGORITHMS, seeds=SEEDS, to=tmp_path / "here")
    for one, other in zip(parts.files, here.files, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_a_worker_that_is_killed_loses_no_row(
    client: Any, scenario: lisa.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_parts, "number_of_parts", lambda plan, threads: 59)
    spec = spec_of(scenario)
    killed: list[int] = []

    def shown(finished: int, runs: int) -> None:
        if not killed:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    parts, _ = of_parts.sweep(spec, tmp_path / "rows", client, None, shown)
    assert killed and len(parts) == 59
    assert rows(parts.to_frame()) == rows(scenario.sweep(VARY, ALGORITHMS, seeds=SEEDS).to_frame())


def test_errors_of_a_worker(client: Any, scenario: lisa.Scenario, tmp_path: Path, seven: None) -> None:
    with pytest.raises(
        lisa.ArgumentError, match=r"a worker has lisa .*, and the sweep is of 0\.0\.0: install the same"
    ):
        of_parts.sweep(spec_of(scenario, version="0.0.0"), tmp_path / "rows", client, None, None)
    # The tasks that were not needed any more are gone, and the cluster works.
    assert client.submit(lambda: 3).result() == 3
