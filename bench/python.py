"""The Python package: its import, a run beside the program's, and how many workers one Dask scheduler can feed.

    scripts/test-python.sh bench

Fails if a run takes more than MOST_RELATIVE of the program's time, or an import more than MOST_IMPORT seconds. The workers are processes of this machine, so that two of them need two quiet cores.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import distributed
import lisa
from lisa import parts as of_parts

MOST_RELATIVE, MOST_IMPORT = 1.2, 0.2
SEEDS = 2_000  # of the run beside the program's
TRANSFERS = ("30KB", "300KB")
RUNS = {"30KB": 600_000, "300KB": 150_000}
ROUNDS = 2
EMPTY = 2_000  # tasks
LARGE = 1_000_000  # bytes of a result, far more than a part has


def seconds(work: Callable[[], Any]) -> float:
    """The shortest of some rounds."""
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def nothing(number: int) -> int:
    """A task without work."""
    return number


def large(number: int) -> bytes:
    """A task with a large result."""
    return bytes(LARGE)


def gather(client: distributed.Client, function: Callable[[int], Any], count: int) -> None:
    """Runs tasks and takes each result as it arrives, as a sweep does."""
    futures = client.map(function, range(count), pure=False)
    for future in distributed.as_completed(futures):
        future.result()


def beside_the_program() -> bool:
    """Whether runs of 300 KB and the import take no longer than is required. Prints both."""
    program = os.environ["LISA_PROGRAM"]
    scenario = lisa.shared_bottleneck(
        lisa.mptcp(name="download", bytes="300KB"), rate="5Mbit", rtt="40ms", queue=9, rtt_spread="10%"
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scenario.toml"
        file.write_text(scenario.text)
        command = [program, "run", str(file), "--seeds", str(SEEDS), "--jobs", "1", "--json"]
        theirs = seconds(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))
        mine = seconds(lambda: scenario.run(seeds=SEEDS, jobs=1, progress=False).to_json())
    imported = seconds(lambda: subprocess.run([sys.executable, "-c", "import lisa"], check=True))
    bare = seconds(lambda: subprocess.run([sys.executable, "-c", ""], check=True))
    print(f"300 KB: {1e3 * mine / SEEDS:.2f} ms a run, x {mine / theirs:.2f} of the program's time")
    print(f"import lisa: {imported - bare:.3f} s, beside {bare:.3f} s of the interpreter")
    return mine <= MOST_RELATIVE * theirs and imported - bare <= MOST_IMPORT


def many_machines() -> None:
    """Prints runs a second and the costs of a task."""
    sweeps = {}
    for size in TRANSFERS:
        scenario = lisa.shared_bottleneck(
            lisa.mptcp(name="download", bytes=size), rate="5Mbit", rtt="40ms", queue=9, rtt_spread="10%"
        )
        queues = list(range(5, 25))
        sweeps[size] = (scenario, {"topology.queue": queues}, ["lia", "lisa"], RUNS[size] // len(queues) // 2)

    def sweep(size: str, **more: Any) -> lisa.Parts:
        scenario, vary, algorithms, seeds = sweeps[size]
        with tempfile.TemporaryDirectory() as folder:
            parts = scenario.sweep(vary, algorithms, seeds=seeds, to=Path(folder) / "rows", progress=False, **more)
            sizes.setdefault(size, [file.stat().st_size for file in parts.files])
        return parts

    sizes: dict[str, list[int]] = {}
    rates: dict[tuple[str, str], float] = {}
    for size in TRANSFERS:
        rates[size, "this process, one core"] = RUNS[size] / seconds(lambda size=size: sweep(size, jobs=1))
    for workers in (1, 2):
        with (
            distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            for size in TRANSFERS:
                label = f"{workers} worker{'s' * (workers > 1)}"
                rates[size, label] = RUNS[size] / seconds(lambda size=size: sweep(size, on=client))
            if workers == 2:
                task = seconds(lambda: gather(client, nothing, EMPTY)) / EMPTY
                transfer = 50 * LARGE / seconds(lambda: gather(client, large, 50))
    for size in TRANSFERS:
        first = rates[size, "this process, one core"]
        for (of, label), rate in rates.items():
            if of == size:
                print(f"{size}, {label}: {rate:.0f} runs/s, x {rate / first:.2f}")
        print(f"{size}: {len(sizes[size])} parts, {statistics.fmean(sizes[size]) / 1e3:.1f} KB each")
    print(f"a task without work: {1e3 * task:.2f} ms; results: {transfer / 1e6:.0f} MB/s")
    for size in TRANSFERS:
        of_part = statistics.fmean(sizes[size])
        bound = of_parts.PART_SECONDS / (task + of_part / transfer)
        print(f"{size}: one scheduler and client feed {bound:.0f} cores with parts of {of_parts.PART_SECONDS:.0f} s")


if __name__ == "__main__":
    met = beside_the_program()
    many_machines()
    sys.exit(0 if met else "bench: a run or the import takes longer than is required")
