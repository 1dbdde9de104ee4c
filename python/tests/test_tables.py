"""Tables: the columns of docs/rows.md, in pandas and polars without a copy."""

from __future__ import annotations

import csv
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lisa
import pandas
import polars
import pyarrow
import pytest

Program = Callable[..., subprocess.CompletedProcess[str]]

ROOT = Path(__file__).resolve().parents[2]
FILE = "experiments/examples/shared-bottleneck.toml"


def text(value: Any) -> str:
    return "" if value is None else str(value)


def same(written: Path, table: lisa.Table) -> None:
    """Whether a CSV file of the program has the rows of a table."""
    with written.open(newline="") as file:
        heading, *rows = csv.reader(file)
    assert heading == table.column_names
    columns = [table.column(name) for name in heading]
    assert len(rows) == len(table) > 0
    for place, row in enumerate(rows):
        for name, shown, column in zip(heading, row, columns, strict=True):
            value = column[place]
            if isinstance(value, float):
                assert float(shown) == value, name
            else:
                assert shown == text(value), name


@pytest.mark.parametrize("rows", ["connection", "subflow", "link", "sample"])
def test_rows_are_those_of_the_program(program: Program, tmp_path: Path, rows: Any) -> None:
    written = tmp_path / "rows.csv"
    sampled = ["--sample", "100ms"] if rows == "sample" else []
    changes = ["--set", "topology.queue=9"]
    printed = program("run", FILE, "--seeds", "2", "--rows", rows, *sampled, *changes, "-o", str(written))
    assert printed.returncode == 0, printed.stderr
    sample = "100ms" if sampled else None
    outcomes = lisa.Scenario.from_file(FILE, set={"topology.queue": 9}).run(seeds=2, sample=sample)
    same(written, outcomes.to_arrow(rows))


def test_a_trace_is_that_of_the_program(program: Program, tmp_path: Path) -> None:
    printed = program("run", FILE, "--trace", str(tmp_path), "--trace-format", "csv")
    assert printed.returncode == 0, printed.stderr
    (written,) = tmp_path.glob("*.csv")
    outcomes = lisa.Scenario.from_file(FILE).run(trace=True)
    same(written, outcomes.trace())
    (credits,) = tmp_path.glob("*.jsonl")
    assert [json.loads(line) for line in credits.read_text().splitlines()] == outcomes.credits()


def test_a_trace_has_the_losses(download: lisa.Scenario) -> None:
    outcomes = download.run(trace=True)
    lost = sum(link["drops"] + link["losses"] for link in outcomes[0]["links"])
    assert len(outcomes.losses()) == lost > 0


def test_pandas_and_polars_share_the_memory(download: lisa.Scenario) -> None:
    table = download.run(seeds=3).to_arrow()
    of_arrow = table.to_pyarrow()
    address = of_arrow["goodput_mbps"].chunk(0).buffers()[1].address
    again = pyarrow.table(table)["goodput_mbps"].chunk(0).buffers()[1].address
    assert address == again
    in_pandas = pyarrow.array(table.to_pandas()["goodput_mbps"].array)
    in_pandas = in_pandas.chunk(0) if isinstance(in_pandas, pyarrow.ChunkedArray) else in_pandas
    assert in_pandas.buffers()[1].address == address
    in_polars = table.to_polars()["goodput_mbps"].to_arrow()
    assert in_polars.buffers()[1].address == address


def test_frames(download: lisa.Scenario) -> None:
    outcomes = download.run(seeds=3)
    frame = outcomes.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["seed"]) == [1, 2, 3]
    assert frame["completion_s"].mean() == pytest.approx(
        sum(outcome["connections"][0]["completion_s"] for outcome in outcomes) / 3
    )
    other = outcomes.to_frame("subflow", library="polars")
    assert isinstance(other, polars.DataFrame)
    assert other["subflow"].to_list() == [1, 2] * 3
    assert outcomes.to_frame(metrics=["goodput_mbps"]).columns[-2] == "goodput_mbps"


def test_columns_are_named_as_in_the_schema(download: lisa.Scenario) -> None:
    schema = json.loads((ROOT / "docs/outcome.schema.json").read_text())
    of = {"connection": "ConnectionOutcome", "subflow": "SubflowOutcome", "link": "LinkOutcome"}
    outcomes = download.run()
    for rows, name in of.items():
        known = set(schema["$defs"][name]["properties"])
        added = {"backend", "seed", "connection", "link", "share", "jain_index", "algorithm", "number"}
        columns = set(outcomes.to_arrow(rows).column_names)  # type: ignore[arg-type]
        assert columns - added <= known
    assert set(outcomes[0]) == set(schema["properties"])
    assert set(lisa.Outcome.__annotations__) == set(schema["properties"])


def test_documented_columns(download: lisa.Scenario) -> None:
    """docs/rows.md names all columns of the events of senders."""
    page = (ROOT / "docs/rows.md").read_text()
    named = set(re.findall(r"`(\w+)`", page[page.index("## Events") : page.index("## Order")]))
    assert set(download.run(trace=True).trace().column_names) <= named


def test_metadata(download: lisa.Scenario) -> None:
    metadata = download.run().to_arrow().to_pyarrow().schema.metadata
    assert metadata[b"lisa.schema"] == b"lisa.rows/1"
    columns = json.loads(metadata[b"lisa.columns"])
    assert {"name": "completion_s", "unit": "s", "description": "completion"} in columns
