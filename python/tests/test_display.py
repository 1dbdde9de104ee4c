"""What scenarios and results show, and copies of them."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import lisa


def test_the_text_has_the_changes(download: lisa.Scenario, tmp_path: Path) -> None:
    changed = download.with_(
        {"connection.download.bytes": "1MB", "title": "Another", "topology.queue": None, "topology.queue.packets": 7}
    )
    assert 'bytes = "1MB"' in changed.text and "100KB" not in changed.text
    file = tmp_path / "changed.toml"
    file.write_text(changed.text)
    read = lisa.Scenario.from_file(file)
    assert read.title == "Another"
    assert read.run(seeds=2).to_json() == changed.run(seeds=2).to_json()
    assert "1MB" in changed._repr_html_()
    commented = "# a comment\n" + download.text
    assert lisa.Scenario.from_text(commented).text == commented
    assert 'stop = "9s"' in lisa.Scenario.from_text(commented, set={"stop": "9s"}).text


def test_scenarios_and_outcomes_are_copied_and_pickled(download: lisa.Scenario) -> None:
    scenario = download.with_({"topology.queue": 17})
    outcomes = scenario.run(seeds=3, trace=True, sample="10ms")
    for again in (copy.copy(scenario), copy.deepcopy(scenario), pickle.loads(pickle.dumps(scenario))):
        assert again.text == scenario.text
        assert again.run(seeds=3).to_json() == outcomes.to_json()
    for kept in (copy.copy(outcomes), copy.deepcopy([outcomes])[0], pickle.loads(pickle.dumps(outcomes))):
        assert repr(kept) == repr(outcomes)
        assert kept.to_json(timing=True) == outcomes.to_json(timing=True)
        assert kept.warnings == outcomes.warnings
        for rows in ("connection", "link", "sample"):
            kept_table, table = kept.to_arrow(rows), outcomes.to_arrow(rows)
            assert kept_table.column_names == table.column_names
            assert all(kept_table.column(name) == table.column(name) for name in table.column_names)
        assert kept.trace(2).column("cwnd_segments") == outcomes.trace(2).column("cwnd_segments")


def test_results_are_printed_as_tables(download: lisa.Scenario) -> None:
    compared = download.compare("lia,lisa", seeds=3)
    lines = str(compared).splitlines()
    assert lines[0] == "A download"
    assert lines[1].split() == ["lia", "lisa"]
    first = compared.lines()[0]
    assert (
        first.part in lines[2]
        and first.metric in lines[2]
        and first.means[0] in lines[2]
        and first.means[1] in lines[2]
    )
    assert lines[-1] == "Second lines: the difference to lia, seed by seed."
    outcomes = str(download.run(seeds=2)).splitlines()
    assert "goodput_mbps" in outcomes[1] and len(outcomes) == 4
    swept = str(download.sweep({"topology.queue": [5, 9]}, seeds=2)).splitlines()
    assert "topology.queue" in swept[1]
    table = str(download.run(seeds=2).to_arrow()).splitlines()
    assert table[-1] == "2 rows."
