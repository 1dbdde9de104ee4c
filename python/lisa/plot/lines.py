"""Means over a varied key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lisa.checks import checked
from lisa.errors import ArgumentError
from lisa.plot import style, summary
from lisa.sweep import Sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@checked
def lines(sweep: Sweep, metric: str | None = None) -> Figure:
    """Means of a metric over the one varied key of a sweep, with bands of the 95 % confidence intervals: a panel for each part,
    a line for each algorithm.

    Args:
        sweep: A sweep of one key with numbers.
        metric: Name of the metric; ``None``: completion time, or goodput of endless connections.

    Raises:
        ArgumentError: If the sweep varies another number of keys, or has no value of the metric.
        MissingPackage: Without matplotlib.

    Example:
        >>> import lisa
        >>> download = lisa.shared_bottleneck(
        ...     lisa.mptcp(bytes="100KB"), rate="5Mbit", rtt="40ms", queue=9, rtt_spread="10%"
        ... )
        >>> queues = download.sweep({"topology.queue": "5..30/5"}, "lia,lisa", seeds=10)
        >>> figure = lisa.plot.lines(queues, "retransmits")  # doctest: +SKIP
    """
    if len(sweep.varied) != 1:
        raise ArgumentError(f"lines are of one varied key: this sweep varies {len(sweep.varied)}")
    key = sweep.varied[0]
    rows = summary.choose(summary.means(sweep.summary(), [key]), metric)
    parts = list(dict.fromkeys(row.part for row in rows))
    algorithms = list(dict.fromkeys(row.algorithm for row in rows))
    figure, axes = style.panels(len(parts), 2, (5.5, 3.4))
    for axis, part in zip(axes, parts, strict=True):
        for number, algorithm in enumerate(algorithms):
            own = [row for row in rows if (row.part, row.algorithm) == (part, algorithm)]
            if all(isinstance(row.keys[0], (int, float)) for row in own):
                own.sort(key=lambda row: row.keys[0])
            places = [row.keys[0] for row in own]
            means = [row.mean for row in own]
            look = style.line(number)
            axis.plot(places, means, marker="o", markersize=3, linewidth=1.8, label=algorithm or "mean", **look)
            low = [row.mean - row.ci95 for row in own]
            high = [row.mean + row.ci95 for row in own]
            axis.fill_between(places, low, high, color=look["color"], alpha=0.18, linewidth=0)
        axis.set_title(style.short(part), fontsize="medium")
        axis.set_xlabel(style.key(key))
        axis.set_ylabel(style.label(rows[0].metric))
        axis.legend(frameon=False, fontsize="small")
        style.finish(axis)
    figure.suptitle(style.short(sweep.title))
    return figure
