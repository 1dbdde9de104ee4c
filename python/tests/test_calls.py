"""What happens during a call: Ctrl-C, progress, other threads; and the time of an import."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import lisa
import pytest

#: Hours of simulated time: the run takes minutes.
LONG = """
import lisa
tree = lisa.fat_tree(lisa.mptcp(pattern="permutation", subflows=8), k=8, rate="1Gbit", delay="10us", queue=100, stop="600s")
print("begun", flush=True)
try:
    tree.run(seeds={seeds}, jobs=2)
except KeyboardInterrupt:
    print("interrupted", flush=True)
import time
# A run ends within some thousand events of the interruption: the threads are idle soon.
for _ in range(20):
    begun = time.process_time()
    time.sleep(1.0)
    is_idle = time.process_time() - begun < 0.5
    if is_idle:
        break
print(is_idle, flush=True)
"""


@pytest.mark.parametrize("seeds", [1, 8])
def test_ctrl_c_ends_the_runs(seeds: int) -> None:
    """It raises KeyboardInterrupt, and no thread goes on with its run."""
    command = [sys.executable, "-c", LONG.format(seeds=seeds)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    time.sleep(1.5)
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    try:
        assert process.stdout.readline() == "interrupted\n"
        assert time.monotonic() - begun < 20
        assert process.stdout.readline() == "True\n"
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.stdout.close()


IN_A_THREAD = """
import threading, lisa
tree = lisa.fat_tree(lisa.mptcp(pattern="permutation", subflows=8), k=8, rate="1Gbit", delay="10us", queue=100, stop="600s")
begun = threading.Event()
def work():
    begun.set()
    try:
        tree.run(seeds=8, jobs=2)
    except KeyboardInterrupt:
        print("ended", flush=True)
thread = threading.Thread(target=work)
thread.start()
begun.wait()
print("begun", flush=True)
try:
    thread.join()
except KeyboardInterrupt:
    thread.join()
    print("joined", flush=True)
"""


def test_ctrl_c_ends_the_runs_of_another_thread() -> None:
    process = subprocess.Popen([sys.executable, "-c", IN_A_THREAD], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    try:
        assert process.wait(60) == 0
        assert process.stdout.read() == "ended\njoined\n"
    finally:
        process.kill()
        process.stdout.close()


def test_other_threads_run_meanwhile(download: lisa.Scenario) -> None:
    counted = [0]
    ended = threading.Event()

    def count() -> None:
        while not ended.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    before = counted[0]
    download.run(seeds=300, jobs=1)
    during = counted[0] - before
    ended.set()
    thread.join()
    assert during > 5


def test_progress_is_shown_on_request(download: lisa.Scenario, capsys: pytest.CaptureFixture[str]) -> None:
    download.sweep({"topology.queue": "5..30"}, seeds=40, progress=True)
    assert "1040/1040" in capsys.readouterr().err


def test_progress_is_not_shown_to_a_file(download: lisa.Scenario, capsys: pytest.CaptureFixture[str]) -> None:
    download.run(seeds=20)
    assert capsys.readouterr().err == ""


def test_an_error_of_the_progress_callback_ends_the_runs(
    download: lisa.Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: object, finished: int, runs: int) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("lisa.progress.Progress.__call__", fail)
    with pytest.raises(ZeroDivisionError):
        download.with_({"connection.1.bytes": "20MB", "stop": "100s"}).run(seeds=500, progress=True)


def test_import_is_fast_and_loads_no_library() -> None:
    code = """
import sys, time
begun = time.process_time()
import lisa
took = time.process_time() - begun
loaded = [name for name in ("matplotlib", "pandas", "polars", "pyarrow", "numpy", "tqdm") if name in sys.modules]
print(took, loaded)
"""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    for _ in range(3):
        printed = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
        ).stdout
        took, _, loaded = printed.strip().partition(" ")
        assert loaded == "[]"
    assert float(took) < 0.2
