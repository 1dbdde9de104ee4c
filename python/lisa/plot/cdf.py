"""Distribution functions."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from lisa.checks import checked
from lisa.comparison import Comparison
from lisa.outcomes import Outcomes
from lisa.plot import data, style
from lisa.sweep import Sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@checked
def cdf(results: Outcomes | Comparison | Sweep, metric: str | None = None) -> Figure:
    """The distribution function of a metric over the runs: a panel for each connection name, subflow or link, a line for each
    algorithm.

    Args:
        results: Runs.
        metric: Name of the metric, such as ``"goodput_mbps"``, ``"subflows.srtt_s"`` or ``"links.utilisation"``; ``None``: the
            completion time, or the goodput of endless connections.

    Raises:
        ArgumentError: If no run has a value of the metric.
        MissingPackage: Without matplotlib.

    Example:
        >>> import lisa
        >>> download = lisa.shared_bottleneck(
        ...     lisa.mptcp("lisa", bytes="100KB"), rate="5Mbit", rtt="40ms", queue=9, rtt_spread="10%"
        ... )
        >>> figure = lisa.plot.cdf(download.run(seeds=50))  # doctest: +SKIP
    """
    name, found, values = data.values(results, metric)
    series: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for part, algorithm, value in zip(data.parts(found), found.column("algorithm"), values, strict=True):
        if value is not None:
            series[part][algorithm or ""].append(value)
    figure, axes = style.panels(len(series), 2, (5.0, 3.4))
    for axis, (part, algorithms) in zip(axes, series.items(), strict=True):
        for number, (algorithm, column) in enumerate(algorithms.items()):
            column.sort()
            shares = [(place + 1) / len(column) for place in range(len(column))]
            label = f"{algorithm} ({len(column)})" if algorithm else f"{len(column)} runs"
            axis.step(
                [column[0], *column], [0.0, *shares], where="post", linewidth=1.8, label=label, **style.line(number)
            )
        axis.set_title(style.short(part), fontsize="medium")
        axis.set_ylim(0, 1.02)
        axis.set_xlabel(style.label(name))
        axis.set_ylabel("share of runs")
        axis.legend(frameon=False, fontsize="small")
        style.finish(axis)
    figure.suptitle(style.short(results.title))
    return figure
