"""The same bytes from the program, Python and WebAssembly, for the same scenario and seed."""

from __future__ import annotations

import json
import re
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path

import lisa
import pytest

Program = Callable[..., subprocess.CompletedProcess[str]]
Answer = Callable[[str], str]

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (
    *("agreement", "assistance", "avoidance", "buffers", "css", "detection", "examples"),
    *("lia-olia", "lisa", "nmcc", "rfc9743", "start"),
)
SCENARIOS = sorted(
    str(path.relative_to(ROOT))
    for folder in (*(ROOT / "experiments" / name for name in FOLDERS), ROOT / "crates/lisa/presets")
    for path in folder.glob("*.toml")
)
#: Shorter runs show a difference as well.
SHORT = {"stop": "2s", "warmup": "500ms"}
SEEDS = (1, 7)


def shortened(file: str, folder: Path) -> tuple[Path, dict[str, str]]:
    """A copy of a scenario that ends early, and the texts of the files beside it by their names."""
    source = ROOT / file
    copy = folder / source.name
    text = source.read_text()
    for key, value in SHORT.items():
        text = re.sub(rf"(?m)^{key}\s*=.*$", f'{key} = "{value}"', text, count=1)
    copy.write_text(text)
    beside = {}
    for name in re.findall(r'\b(?:file|trace|cdf)\s*=\s*"([^"]+)"', re.sub(r"(?m)^\s*#.*$", "", text)):
        to = folder / name
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes((source.parent / name).read_bytes())
        beside[str(to)] = to.read_text()
    return copy, beside


@pytest.mark.parametrize("file", SCENARIOS)
def test_program_python_and_webassembly(program: Program, web: Answer | None, file: str, tmp_path: Path) -> None:
    copy, beside = shortened(file, tmp_path)
    printed = program("run", str(copy), "--seeds", ",".join(map(str, SEEDS)), "--json")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            here = lisa.Scenario.from_file(copy).run(seeds=SEEDS).to_json()
        except lisa.LisaError as error:
            here, expected = str(error), printed.stderr.removeprefix("lisa: ").rstrip("\n")
        else:
            assert printed.returncode == 0, printed.stderr
            expected = printed.stdout
    assert here == expected
    if web is None:
        return
    request = {"do": "outcome", "file": str(copy), "text": copy.read_text(), "files": beside}
    answers = [web(json.dumps(request | {"seed": seed})) for seed in SEEDS]
    if printed.returncode == 0:
        assert "".join(answer + "\n" for answer in answers) == expected
    else:
        assert {json.loads(answer)["error"] for answer in answers} == {expected}


def test_webassembly_takes_part(web: Answer | None) -> None:
    """The tests above are of all three."""
    if web is None:
        pytest.skip("no node, or no WebAssembly: `make explorer` builds it")


def test_most_scenarios_run(tmp_path: Path) -> None:
    """Not all of the tests above compare errors."""
    runs = 0
    for number, file in enumerate(SCENARIOS):
        folder = tmp_path / str(number)
        folder.mkdir()
        try:
            lisa.Scenario.from_file(shortened(file, folder)[0])
            runs += 1
        except lisa.ScenarioError:
            pass
    assert runs >= 20


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
