"""Errors: one line, the program's, with file, line and key."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lisa
import pytest

#: The package without its types, for arguments that these refuse.
UNTYPED: Any = lisa

Program = Callable[..., subprocess.CompletedProcess[str]]

TEXT = """stop = "30s"
[topology]
kind = "shared-bottleneck"
rate = "5Mbit"
rtt = "40ms"
queue = 9
[[connection]]
protocol = "mptcp"
algorithm = "lisa"
bytes = "300KB"
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "key"),
    [
        ("rtt = ", "rrt = ", 5, "topology.rrt"),
        ('"5Mbit"', '"5Mbyte"', 4, "topology.rate"),
        ('"5Mbit"', '"5Mbit', 4, None),
        ('"lisa"', '"liza"', 9, "connection.1.algorithm"),
        ('stop = "30s"', "", None, "stop"),
        ("queue = 9", "queue = -1", 6, "topology.queue"),
        ('"300KB"', '"300XB"', 10, "connection.1.bytes"),
    ],
)
def test_a_wrong_file_has_the_error_of_the_program(
    program: Program, tmp_path: Path, old: str, new: str, line: int | None, key: str | None
) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(TEXT.replace(old, new))
    printed = program("run", str(file))
    with pytest.raises(lisa.ScenarioError) as raised:
        lisa.Scenario.from_file(file)
    error = raised.value
    assert printed.stderr == f"lisa: {error}\n"
    assert (error.file, error.line, error.key) == (str(file), line, key)
    assert "\n" not in str(error) and error.problem in str(error)


def test_no_file(program: Program) -> None:
    with pytest.raises(lisa.ScenarioError) as raised:
        lisa.Scenario.from_file("nowhere.toml")
    assert program("run", "nowhere.toml").stderr.startswith(f"lisa: {str(raised.value).split(' (os')[0]}")
    assert (raised.value.file, raised.value.line) == ("nowhere.toml", None)


def test_a_wrong_change_has_the_error_of_the_program(program: Program, tmp_path: Path) -> None:
    file = tmp_path / "right.toml"
    file.write_text(TEXT)
    printed = program("run", str(file), "--set", "topology.queue=many")
    with pytest.raises(lisa.ScenarioError) as raised:
        lisa.Scenario.from_file(file, set={"topology.queue": "many"})
    assert printed.stderr == f"lisa: {raised.value}\n"
    assert (raised.value.set, raised.value.line) == ("topology.queue=many", None)


def table(**changes: Any) -> dict[str, Any]:
    network = {"kind": "shared-bottleneck", "rate": "5Mbit", "rtt": "40ms", "queue": 9}
    return {"stop": "30s", "topology": network, "connection": [{"protocol": "tcp"}], **changes}


@pytest.mark.parametrize(
    ("changes", "key", "words"),
    [
        ({"stop": 3}, "stop", "`stop`: expected"),
        ({"stop": object()}, "stop", "a value of type `object`"),
        ({"stopp": "1s"}, "stopp", "did you mean `stop`?"),
        ({"connection": [{"protocol": "tcp", "bytes": float("nan")}]}, "connection.1.bytes", ""),
        ({"connection": []}, "connection", "at least one connection is needed"),
        ({3: 4}, None, "the key `3` is no text"),
        ({"title": "\ud800"}, None, "surrogates not allowed"),
    ],
)
def test_a_wrong_dictionary(changes: dict[str, Any], key: str | None, words: str) -> None:
    with pytest.raises((lisa.ScenarioError, UnicodeError)) as raised:
        lisa.Scenario.from_dict({**table(), **changes})
    assert words in str(raised.value)
    if isinstance(raised.value, lisa.ScenarioError):
        assert (raised.value.file, raised.value.line, raised.value.key) == (None, None, key)


def test_values_in_each_other_are_limited() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(lisa.ScenarioError, match="more than 32"):
        lisa.Scenario.from_dict(table(title=deep))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda s: s.run(0), "seeds: 0 seeds"),
        (lambda s: s.run([]), "seeds: 0 seeds"),
        (lambda s: s.run([1, 1]), "seeds: seed 1 is named twice"),
        (lambda s: s.run([-1]), "seeds: `-1`"),
        (lambda s: s.run(["x"]), "seeds: 'x' is no whole number"),
        (lambda s: s.run("5..3"), "seeds: `5..3`: a range must not descend"),
        (lambda s: s.run(True), "seeds True"),
        (lambda s: s.run(2.0), "seeds 2.0: a number of seeds"),
        (lambda s: s.run(None), "seeds None: a number of seeds"),
        (lambda s: s.run([2.0]), "seeds: 2.0 is no whole number"),
        (lambda s: s.run(range(10**9)), "seeds: more than 1000000"),
        (lambda s: s.run(itertools.count(1)), "seeds: more than 1000000"),
        (lambda s: s.run(10**9), "seeds: 1000000000 seeds"),
        (lambda s: s.run(jobs=-1), "jobs -1: a whole number from 0"),
        (lambda s: s.run(jobs=10**30), "jobs 1000000000000000000000000000000: a whole number"),
        (lambda s: s.run(jobs=2.0), "jobs: expected a whole number or None, found 2.0"),
        (lambda s: s.run(trace="yes"), "trace: expected True or False, found 'yes'"),
        (lambda s: s.run(sample=3), "sample: expected a text or None, found 3"),
        (lambda s: s.run(progress="x"), "progress: expected True or False or None"),
        (lambda s: s.run()[1.0], "index: expected a whole number, found 1.0"),
        (lambda s: s.run()["a"], "index: expected a whole number, found 'a'"),
        (lambda s: s.run().to_arrow(rows=3), "rows: expected a text, found 3"),
        (lambda s: s.run().to_arrow(metrics=3), "metrics: expected a text, a list of names or None, found 3"),
        (lambda s: s.run().to_arrow(metrics=[3]), "a name is a text, found 3"),
        (lambda s: s.run().trace(seed="x"), "seed: expected a whole number or None"),
        (lambda s: s.compare(None), "algorithms: expected a text or a list of names, found None"),
        (lambda s: s.compare("lia,lia"), "algorithms lia: is named twice"),
        (lambda s: s.compare(["lia", "lisa", "lia"]), "algorithms lia: is named twice"),
        (lambda s: s.compare("lia", connections=3), "connections: expected"),
        (
            lambda s: s.sweep({"topology.queue": 3}),
            "vary topology.queue: expected a list of values, or a text like `1..34`, found 3",
        ),
        (lambda s: s.sweep({"topology.queue": itertools.count(1)}), "vary topology.queue: more than 1000000 values"),
        (lambda s: s.sweep({"topology.queue": None}), "vary topology.queue: expected a list of values"),
        (lambda s: s.sweep([3]), "vary: expected a dictionary or None, found [3]"),
        (lambda s: s.sweep({"topology.queue": "1..9"}, "lia,lia"), "algorithms lia: is named twice"),
        (lambda s: s.sweep({"topology.queue": "1..9"}, latin=2.5), "latin: expected a whole number or None, found 2.5"),
        (lambda s: s.sweep({"topology.queue": "1..9"}, random=-1), "random -1: a whole number from 0"),
        (lambda s: s.with_(3), "set: expected a dictionary of keys"),
        (lambda s: s.with_([3]), "set: expected a dictionary of keys"),
        (lambda s: UNTYPED.Scenario.from_dict(None), "table: expected a dictionary, found None"),
        (lambda s: UNTYPED.Scenario.from_dict([("stop", "1s")]), "table: expected a dictionary"),
        (lambda s: UNTYPED.Scenario.from_file(None), "path: expected a text or a path, found None"),
        (lambda s: UNTYPED.Scenario.from_text(b"stop"), "text: expected a text, found b'stop'"),
        (lambda s: UNTYPED.paths(3), "network: expected a lisa.Scenario, a text, a path or a dictionary, found 3"),
        (lambda s: UNTYPED.paths(s, "server", "client", k="3"), "k: expected a whole number or None, found '3'"),
        (lambda s: lisa.paths(s, both_ways=True), "both_ways is for maps"),
        (lambda s: lisa.plot.bars(s.run(seeds=3)), "comparison: expected a lisa.Comparison, found <lisa.Outcomes"),
        (lambda s: lisa.plot.cdf(s), "results: expected an lisa.Outcomes, a lisa.Comparison or a lisa.Sweep"),
        (lambda s: lisa.plot.lines(s.run()), "sweep: expected a lisa.Sweep"),
        (lambda s: UNTYPED.plot.heatmap(None), "sweep: expected a lisa.Sweep, found None"),
        (lambda s: UNTYPED.plot.windows(3), "results: expected"),
        (lambda s: s.run(jobs=0), "jobs 0: a whole number from 1 to 1024"),
        (lambda s: s.run(sample="0s"), "sample 0s: a time of more than 0"),
        (lambda s: s.run().to_frame("rows"), "rows rows: no such rows"),
        (lambda s: s.run().to_frame(library="numpy"), "library numpy"),
        (lambda s: s.run().to_arrow(metrics="goodput"), "metrics: no metric `goodput`"),
        (lambda s: s.run().to_arrow("link", "goodput_mbps"), 'use rows="connection"'),
        (lambda s: s.run().trace(seed=9), "seed 9: no run has this seed"),
        (lambda s: s.compare("lia,liza"), "algorithms liza: "),
        (lambda s: s.compare([]), "algorithms: at least one"),
        (lambda s: s.compare("lia", connections="up"), "connections up: no such connection"),
        (lambda s: s.sweep(), "nothing varies"),
        (lambda s: s.sweep({"topology.queue": "1-9"}), "vary topology.queue=1-9: "),
        (lambda s: s.sweep({"topology.queue": []}), "vary topology.queue: at least one value"),
        (lambda s: s.sweep({"topology.queue": "1..9"}, random=2, latin=3), "at most one of them"),
        (lambda s: s.sweep({"topology.queue": [1], "bottleneck.queue": [2]}), "this key is varied already"),
        (lambda s: lisa.paths(s, "server", "nowhere"), "to_node: no node `nowhere`"),
        (lambda s: lisa.paths(s, "server"), "give both"),
        (lambda s: lisa.plot.windows(s.run()), "trace=True"),
    ],
)
def test_wrong_arguments(download: lisa.Scenario, call: Callable[[lisa.Scenario], object], words: str) -> None:
    with pytest.raises(lisa.ArgumentError) as raised:
        call(download)
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_an_unknown_algorithm_has_the_text_of_the_program(program: Program) -> None:
    file = "experiments/examples/shared-bottleneck.toml"
    printed = program("compare", file, "-a", "lia,liza").stderr
    with pytest.raises(lisa.ArgumentError) as raised:
        lisa.Scenario.from_file(file).compare("lia,liza")
    assert printed == f"lisa: {str(raised.value).replace('algorithms', '-a', 1)}\n"


def test_an_error_of_a_run_has_file_seed_and_key(program: Program, tmp_path: Path) -> None:
    file = tmp_path / "linux.toml"
    file.write_text(TEXT.replace('"lisa"', '"bbr"'))
    printed = program("run", str(file), "--seed", "3").stderr
    with pytest.raises(lisa.ScenarioError) as raised:
        lisa.Scenario.from_file(file).run(seeds=[3])
    assert printed == f"lisa: {raised.value}\n"
    assert raised.value.file == f"{file}, seed 3"
    assert raised.value.key is not None


def test_whole_numbers_of_numpy_are_whole_numbers(download: lisa.Scenario) -> None:
    numpy = pytest.importorskip("numpy")
    outcomes = download.run(numpy.int64(3), jobs=numpy.int32(2), trace=numpy.bool_(True))
    assert outcomes.seeds == [1, 2, 3]
    assert download.run(numpy.arange(4, 6)).seeds == [4, 5]
    assert outcomes[numpy.int8(1)]["seed"] == 2
    assert len(outcomes.trace(numpy.uint64(2))) > 0
    swept = download.sweep({"topology.queue": numpy.array([5, 9])}, seeds=numpy.int64(2))
    assert len(swept) == 4


def test_a_slice_of_outcomes_is_a_list(download: lisa.Scenario) -> None:
    outcomes = download.run(seeds=4)
    assert [outcome["seed"] for outcome in outcomes[1:3]] == [2, 3]
    assert outcomes[4:] == []
