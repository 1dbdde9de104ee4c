"""The same bytes as the program's, for the same scenario and seed."""

from __future__ import annotations

import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path

import lisa
import pytest

Program = Callable[..., subprocess.CompletedProcess[str]]

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("agreement", "assistance", "avoidance", "buffers", "css", "examples", "lia-olia", "lisa", "nmcc", "start")
SCENARIOS = sorted(
    str(path.relative_to(ROOT)) for folder in FOLDERS for path in (ROOT / "experiments" / folder).glob("*.toml")
)
#: Shorter runs show a difference as well.
SHORT = ["stop=2s", "warmup=500ms"]


def test_twenty_scenarios_run() -> None:
    """Not all of the tests below compare errors."""
    runs = 0
    for file in SCENARIOS:
        try:
            lisa.Scenario.from_file(file, set=SHORT)
            runs += 1
        except lisa.ScenarioError:
            pass
    assert runs >= 20


@pytest.mark.parametrize("file", SCENARIOS)
def test_outcomes_are_the_bytes_of_the_program(program: Program, file: str) -> None:
    printed = program("run", file, "--seeds", "2", "--json", *(f"--set={change}" for change in SHORT))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            here = lisa.Scenario.from_file(file, set=SHORT).run(seeds=2).to_json()
        except lisa.LisaError as error:
            assert printed.stderr == f"lisa: {error}\n"
            return
    assert printed.returncode == 0, printed.stderr
    assert here == printed.stdout


def test_a_dictionary_has_the_outcomes_of_its_file(program: Program, tmp_path: Path) -> None:
    table = {
        "title": "Two kinds",
        "stop": "5s",
        "topology": {
            "kind": "non-shared-bottleneck",
            "rate": ["5Mbit", "2Mbit"],
            "rtt": ["40ms", "20ms"],
            "queue": {"kind": "droptail", "packets": 20},
            "loss": 0.01,
        },
        "connection": [
            {"name": "first", "protocol": "mptcp", "algorithm": "lisa", "bytes": 100_000},
            {"name": "second", "protocol": "tcp", "path": 2, "bytes": "50KB", "start": None},
        ],
    }
    scenario = lisa.Scenario.from_dict(table)
    file = tmp_path / "scenario.toml"
    file.write_text(scenario.text)
    printed = program("run", str(file), "--seeds", "1,7", "--json")
    assert printed.returncode == 0, printed.stderr
    assert scenario.run(seeds="1,7").to_json() == printed.stdout


@pytest.mark.parametrize("jobs", [1, 3])
def test_outcomes_do_not_depend_on_the_jobs(download: lisa.Scenario, jobs: int) -> None:
    assert download.run(seeds=6, jobs=jobs).to_json() == download.run(seeds=range(1, 7)).to_json()
