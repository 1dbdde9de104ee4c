"""Congestion windows over time."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from lisa.checks import checked
from lisa.comparison import Comparison
from lisa.errors import ArgumentError
from lisa.outcomes import Outcomes
from lisa.plot import style
from lisa.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Largest number of panels.
MOST = 12

#: Times and windows of a subflow.
Series = tuple[list[float], list[int]]


@checked
def windows(results: Outcomes | Comparison, *, seed: int | None = None, connection: str | None = None) -> Figure:
    """The congestion window of each subflow over time, and their sum; of a comparison a panel for each algorithm.

    A cross is the start of a reduction, a tick at the foot a lost segment.

    Args:
        results: Runs with ``trace=True``.
        seed: Seed of the drawn run; ``None``: the first.
        connection: Title of the drawn connection; ``None``: all, up to twelve panels.

    Raises:
        ArgumentError: For runs without a trace, or a name that no connection has.
        MissingPackage: Without matplotlib.

    Example:
        >>> import lisa
        >>> download = lisa.shared_bottleneck(lisa.mptcp("lisa", bytes="300KB"), rate="5Mbit", rtt="40ms", queue=9)
        >>> figure = lisa.plot.windows(download.run(trace=True))  # doctest: +SKIP
    """
    drawn: list[tuple[str, Table, Table, str]] = []
    if isinstance(results, Comparison):
        for algorithm in results.algorithms:
            trace, losses = results.trace(algorithm, seed), results.losses(algorithm, seed)
            drawn += [(f"{title}, {algorithm}", trace, losses, title) for title in _titles(trace)]
    else:
        trace, losses = results.trace(seed), results.losses(seed)
        drawn += [(title, trace, losses, title) for title in _titles(trace)]
    if not drawn:
        raise ArgumentError("the runs have no trace: run them with trace=True")
    if connection is not None:
        known = list(dict.fromkeys(panel[3] for panel in drawn))
        drawn = [panel for panel in drawn if panel[3] == connection]
        if not drawn:
            raise ArgumentError(f"connection {connection}: there are {', '.join(known)}")
    drawn = drawn[:MOST]
    figure, axes = style.panels(len(drawn), 2, (6.0, 3.2))
    for axis, (title, trace, losses, name) in zip(axes, drawn, strict=True):
        _draw(axis, trace, losses, name)
        axis.set_title(style.short(title), fontsize="medium")
    if isinstance(results, Comparison):
        # One scale: the panels are compared.
        top = max(axis.get_ylim()[1] for axis in axes)
        for axis in axes:
            axis.set_ylim(top=top)
    figure.suptitle(style.short(results.title))
    return figure


def _titles(trace: Table) -> list[str]:
    return list(dict.fromkeys(trace.column("connection")))


def _draw(axis: Axes, trace: Table, losses: Table, connection: str) -> None:
    subflows: dict[int, Series] = defaultdict(lambda: ([], []))
    reductions: dict[int, Series] = defaultdict(lambda: ([], []))
    phases: dict[int, str] = {}
    current: dict[int, int] = {}
    total: Series = ([], [])
    columns = (trace.column(name) for name in ("connection", "time_s", "subflow", "cwnd_segments", "phase"))
    for name, time, subflow, cwnd, phase in zip(*columns, strict=True):
        if name != connection:
            continue
        subflows[subflow][0].append(time)
        subflows[subflow][1].append(cwnd)
        if phase == "recovery" and phases.get(subflow) != "recovery":
            reductions[subflow][0].append(time)
            reductions[subflow][1].append(cwnd)
        phases[subflow] = phase
        current[subflow] = cwnd
        total[0].append(time)
        total[1].append(sum(current.values()))
    if len(subflows) > 1:
        axis.step(*total, where="post", color=style.GREY, linewidth=1.2, label="sum")
    for number, subflow in enumerate(sorted(subflows)):
        look = style.line(number)
        axis.step(*subflows[subflow], where="post", linewidth=1.6, label=f"subflow {subflow}", **look)
        times, heights = reductions[subflow]
        axis.plot(times, heights, "x", color=look["color"], markersize=7)
        of_losses = zip(losses.column("connection"), losses.column("time_s"), losses.column("subflow"), strict=True)
        lost = [time for name, time, of in of_losses if name == connection and of == subflow]
        axis.plot(lost, [0.02] * len(lost), "|", transform=axis.get_xaxis_transform(), color=look["color"])
    axis.set_ylim(bottom=0)
    axis.set_xlabel("time [s]")
    axis.set_ylabel("congestion window [segments]")
    axis.legend(frameon=False, fontsize="small")
    style.finish(axis)
