"""Figures: what is drawn, with units on the axes."""

from __future__ import annotations

import io
from typing import Any

import lisa
import pytest
from matplotlib.figure import Figure


def axes_of(figure: Figure) -> list[Any]:
    """The panels; matplotlib's types of their contents are wide."""
    return list(figure.axes)


def labels(figure: Figure) -> set[str]:
    return {label for axes in figure.axes for label in (axes.get_xlabel(), axes.get_ylabel()) if label}


def rendered(figure: Figure) -> bytes:
    """The figure as PNG, without a warning about texts that do not fit."""
    to = io.BytesIO()
    figure.savefig(to, format="png")
    return to.getvalue()


def test_windows(download: lisa.Scenario) -> None:
    outcomes = download.run(trace=True)
    figure = lisa.plot.windows(outcomes)
    assert labels(figure) == {"time [s]", "congestion window [segments]"}
    (axes,) = axes_of(figure)
    drawn = {line.get_label(): line for line in axes.get_lines()}
    assert {"sum", "subflow 1", "subflow 2"} <= set(drawn)
    trace = outcomes.trace()
    of_first = [
        cwnd for of, cwnd in zip(trace.column("subflow"), trace.column("cwnd_segments"), strict=True) if of == 1
    ]
    assert list(drawn["subflow 1"].get_ydata()) == of_first
    last = {of: cwnd for of, cwnd in zip(trace.column("subflow"), trace.column("cwnd_segments"), strict=True)}
    assert list(drawn["sum"].get_ydata())[-1] == sum(last.values())
    assert rendered(figure).startswith(b"\x89PNG")


def test_windows_of_a_comparison(download: lisa.Scenario) -> None:
    figure = lisa.plot.windows(download.compare("lia,lisa", seeds=1, trace=True))
    assert [axes.get_title() for axes in axes_of(figure)] == ["download, lia", "download, lisa"]
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    with pytest.raises(lisa.ArgumentError, match="there are download"):
        lisa.plot.windows(download.run(trace=True), connection="upload")


def test_connections_over_time() -> None:
    shared = lisa.shared_bottleneck(
        lisa.mptcp(name="two", subflows=2), lisa.tcp(name="one"), rate="5Mbit", rtt="40ms", queue=17, stop="5s"
    )
    outcomes = shared.run(seeds=2, sample="500ms")
    figure = lisa.plot.connections(outcomes, seed=2)
    rates, fairness = figure.axes
    assert labels(figure) == {"time [s]", "goodput [Mbit/s]", "Jain's fairness index"}

    def points(line: Any) -> dict[float, float]:
        return dict(zip(*line.get_data(), strict=True))

    drawn = {line.get_label(): points(line) for line in rates.get_lines()}
    index = points(fairness.get_lines()[0])
    # By the definition, from the rows of subflows.
    table = outcomes.to_arrow("sample").to_pandas()
    rows = table[(table.seed == 2) & (table.kind == "subflow")]
    sums = rows.groupby(["time_s", "connection"]).goodput_mbps.sum()
    for time in rows.time_s.unique():
        of = {name: float(sums[time, name]) for name in ("two", "one") if (time, name) in sums.index}
        assert {name: line[time] for name, line in drawn.items() if time in line} == pytest.approx(of)
        if any(of.values()):
            expected = sum(of.values()) ** 2 / (len(of) * sum(value**2 for value in of.values()))
            assert index[time] == pytest.approx(expected)
    compared = shared.compare("lia,lisa", seeds=1, sample="500ms")
    assert len([axes for axes in lisa.plot.connections(compared).axes if axes.get_lines()]) == 3
    with pytest.raises(lisa.ArgumentError, match="sample="):
        lisa.plot.connections(shared.run())


def test_cdf(download: lisa.Scenario) -> None:
    figure = lisa.plot.cdf(download.compare("lia,lisa", seeds=9))
    assert labels(figure) == {"completion [s]", "share of runs"}
    (axes,) = axes_of(figure)
    lines = axes.get_lines()
    assert [line.get_label() for line in lines] == ["lia (9)", "lisa (9)"]
    values = list(lines[0].get_xdata())
    assert values == sorted(values) and len(values) == 10
    assert list(lines[0].get_ydata())[-1] == 1.0
    assert len({line.get_color() for line in lines}) == 2
    assert labels(lisa.plot.cdf(download.run(seeds=3), "subflows.srtt_s")) == {"srtt [s]", "share of runs"}


def test_bars(download: lisa.Scenario) -> None:
    compared = download.compare("lia,lisa,css", seeds=6)
    figure = lisa.plot.bars(compared)
    assert labels(figure) == {"completion [s]", "goodput [Mbit/s]", "retransmits [segments]"}
    heights = [bar.get_height() for bar in axes_of(figure)[0].patches]
    table = compared.to_arrow()
    rows = zip(table.column("metric"), table.column("part"), table.column("mean"), strict=True)
    assert heights == [mean for metric, part, mean in rows if (metric, part) == ("completion_s", "connection")]
    assert all(axes.get_ylim()[0] <= 0 for axes in figure.axes)


def test_lines(download: lisa.Scenario) -> None:
    swept = download.sweep({"topology.queue": "5..15/5"}, "lia,lisa", seeds=3)
    figure = lisa.plot.lines(swept, "retransmits")
    assert labels(figure) == {"topology.queue [packets]", "retransmits [segments]"}
    assert list(axes_of(figure)[0].get_lines()[0].get_xdata()) == [5, 10, 15]
    with pytest.raises(lisa.ArgumentError, match="two varied keys"):
        lisa.plot.heatmap(swept)


def test_heatmap(download: lisa.Scenario) -> None:
    varied: dict[str, Any] = {"topology.queue": [20, 5, 10], "topology.rate": ["2Mbit", "5Mbit"]}
    swept = download.sweep(varied, "lia,lisa", seeds=3)
    figure = lisa.plot.heatmap(swept)
    assert [axes.get_title() for axes in axes_of(figure)[:2]] == ["lia", "lisa"]
    assert {"topology.queue [packets]", "topology.rate [bit/s]", "completion [s]"} == labels(figure)
    (image,) = axes_of(figure)[0].get_images()
    assert image.get_array().shape == (3, 2)
    # A slower link takes longer.
    assert (image.get_array()[:, 0] > image.get_array()[:, 1]).all()
    difference = lisa.plot.heatmap(swept, "retransmits", difference=True)
    assert axes_of(difference)[0].get_title() == "lisa − lia"
    low, high = axes_of(difference)[0].get_images()[0].get_clim()
    assert low == -high


def test_colours_can_be_distinguished() -> None:
    """The program's own: Okabe and Ito, without yellow."""
    from lisa import _native

    assert _native.COLOURS[:3] == ["#0072b2", "#d55e00", "#009e73"]


def test_html(download: lisa.Scenario) -> None:
    outcomes = download.run(seeds=50)
    html = outcomes._repr_html_()
    assert html.count("<tr>") == 41 and "10 more rows" in html and "completion_s" in html
    strange = lisa.shared_bottleneck(lisa.tcp(bytes="9KB"), rate="5Mbit", rtt="40ms", queue=9, title="<script>")
    for shown in (strange._repr_html_(), strange.run()._repr_html_(), strange.run().to_arrow()._repr_html_()):
        assert "<script>" not in shown
