"""Comparisons and sweeps: the numbers and texts of the program."""

from __future__ import annotations

import json
import math
import subprocess
import warnings
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lisa
import pytest
from test_tables import same

Program = Callable[..., subprocess.CompletedProcess[str]]

FILE = "experiments/examples/shared-bottleneck.toml"
SPREAD = "rtt_spread=10%"
#: Quantile 0.975 of Student's t with 4 degrees of freedom.
T4 = 2.776445105197793


def test_a_comparison_has_the_bytes_of_the_program(program: Program) -> None:
    metrics = "completion_s,retransmits,subflows.srtt_s,links.utilisation,jain_index"
    printed = program(
        "compare", FILE, "-a", "lia,lisa", "--seeds", "5", "--json", "--set", SPREAD, "--metrics", metrics
    )
    assert printed.returncode == 0, printed.stderr
    compared = lisa.Scenario.from_file(FILE, set=[SPREAD]).compare(["lia", "lisa"], seeds=5, metrics=metrics)
    assert compared.to_json() == printed.stdout
    assert [line["algorithm"] for line in compared.to_dicts()] == ["lia", "lisa"]


def test_a_comparison_has_the_texts_of_the_program(program: Program) -> None:
    printed = program("compare", FILE, "-a", "lia,lisa", "--seeds", "5", "--set", SPREAD)
    compared = lisa.Scenario.from_file(FILE, set=[SPREAD]).compare("lia,lisa", seeds=5)
    lines = compared.lines()
    assert len(lines) > 5
    for line in lines:
        if line.part == "all connections":
            continue
        for shown in (*line.means, *line.differences[1].splitlines()):
            assert shown in printed.stdout, line
    assert any(line.differences[1] for line in lines)
    html = compared._repr_html_()
    assert lines[0].means[1] in html and "seed by seed" in html


def test_differences_are_paired(download: lisa.Scenario) -> None:
    compared = download.compare("lia,lisa", seeds=5)
    runs = compared.runs()
    values: dict[str, dict[int, float]] = defaultdict(dict)
    columns = (runs.column(name) for name in ("algorithm", "seed", "completion_s"))
    for algorithm, seed, value in zip(*columns, strict=True):
        values[algorithm][seed] = value
    differences = [values["lisa"][seed] - values["lia"][seed] for seed in range(1, 6)]
    mean = sum(differences) / 5
    half = T4 * math.sqrt(sum((value - mean) ** 2 for value in differences) / 4 / 5)
    summary = compared.to_arrow()
    rows = zip(*(summary.column(name) for name in summary.column_names), strict=True)
    (row,) = [
        dict(zip(summary.column_names, row, strict=True))
        for row in rows
        if row[0] == "lisa" and "completion_s" in row and "connection" in row
    ]
    assert row["difference"] == pytest.approx(mean)
    assert row["difference_ci95"] == pytest.approx(half)
    assert row["n"] == 5 and row["unit"] == "s" and row["connection"] == "download"


def test_traces_of_a_comparison(download: lisa.Scenario) -> None:
    compared = download.compare("lia,lisa", seeds=2, trace=True)
    alone = download.with_({"connection.1.algorithm": "lisa"}).run(seeds=2, trace=True)
    assert compared.trace("lisa", 2).to_pyarrow() == alone.trace(2).to_pyarrow()
    assert len(download.compare("lia", seeds=1).trace("lia")) == 0


@pytest.mark.parametrize("rows", ["connection", "link"])
def test_a_sweep_has_the_rows_of_the_program(program: Program, tmp_path: Path, rows: str) -> None:
    written = tmp_path / "rows.csv"
    vary = ["--vary", "topology.queue=5..15/5", "--vary", "topology.rate=2Mbit,5Mbit"]
    arguments = ["-a", "lia,lisa", "--seeds", "2", "--set", SPREAD, "--rows", rows, "-o", str(written)]
    printed = program("sweep", FILE, *vary, *arguments)
    assert printed.returncode == 0, printed.stderr
    scenario = lisa.Scenario.from_file(FILE, set=[SPREAD])
    varied: dict[str, Any] = {"topology.queue": "5..15/5", "topology.rate": ["2Mbit", "5Mbit"]}
    swept = scenario.sweep(varied, "lia,lisa", seeds=2, rows=rows)  # type: ignore[call-overload]
    same(written, swept.to_arrow())
    assert len(swept) == 3 * 2 * 2 * 2


def test_a_sweep_has_the_texts_of_the_program(program: Program) -> None:
    printed = program("sweep", FILE, "--vary", "topology.queue=5,15", "-a", "lia,lisa", "--seeds", "4", "--set", SPREAD)
    swept = lisa.Scenario.from_file(FILE, set=[SPREAD]).sweep({"topology.queue": [5, 15]}, "lia,lisa", seeds=4)
    lines = swept.lines()
    assert {line.point for line in lines} == {("5", "lia"), ("5", "lisa"), ("15", "lia"), ("15", "lisa")}
    for line in lines:
        for shown in (line.mean, *line.difference.splitlines()):
            assert shown in printed.stdout, line
    assert "lisa" in swept._repr_html_()


def test_random_points_are_those_of_the_program(program: Program, tmp_path: Path) -> None:
    written = tmp_path / "rows.csv"
    vary = "topology.rate=1Mbit..10Mbit"
    printed = program("sweep", FILE, "--vary", vary, "--latin", "4", "--seeds", "1", "-o", str(written))
    assert printed.returncode == 0, printed.stderr
    swept = lisa.Scenario.from_file(FILE).sweep({"topology.rate": "1Mbit..10Mbit"}, seeds=1, latin=4)
    same(written, swept.to_arrow())


def test_points(download: lisa.Scenario) -> None:
    varied: dict[str, Any] = {"topology.queue": [5, 20], "topology.rate": ["2Mbit", "5Mbit"]}
    swept = download.sweep(varied, seeds=1, points=True)
    assert list(
        zip(swept.to_arrow().column("topology.queue"), swept.to_arrow().column("topology.rate"), strict=True)
    ) == [
        (5, 2_000_000),
        (20, 5_000_000),
    ]


def test_warnings_are_those_of_the_program(program: Program) -> None:
    printed = program("compare", FILE, "-a", "lia,lisa", "--set", "connection.1.subflows=1", "--seeds", "2")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compared = lisa.Scenario.from_file(FILE, {"connection.1.subflows": 1}).compare("lia,lisa", seeds=2)
    shown = [f"warning: {warning.message}" for warning in caught]
    assert shown == printed.stderr.splitlines()
    assert [f"warning: {line}" for line in compared.warnings] == shown
    assert all(warning.category is lisa.ScenarioWarning for warning in caught)
    assert all(warning.filename == __file__ for warning in caught)


def test_paths(program: Program) -> None:
    file = "experiments/topologies/Nsfnet.gml"
    printed = program("paths", file, "--from", "0", "--to", "4", "-k", "3", "--json")
    assert lisa.paths(file, 0, 4, 3) == json.loads(printed.stdout)
    scenario = "experiments/examples/fat-tree.toml"
    printed = program("paths", scenario, "--from", "h1", "--to", "h16", "--disjoint=nodes", "--json")
    assert lisa.paths(scenario, "h1", "h16", disjoint="nodes") == json.loads(printed.stdout)


def test_algorithms(program: Program) -> None:
    printed = json.loads(program("algorithms", "--json").stdout)["algorithms"]
    here: Any
    for here, there in zip(lisa.algorithms(), printed, strict=True):
        assert here["linux_own"] == there["runs_in"]["kernel"]["linux_own"]
        shared = ("name", "about", "slow_start", "avoidance", "settings")
        assert {key: here[key] for key in shared} == {key: there[key] for key in shared}
