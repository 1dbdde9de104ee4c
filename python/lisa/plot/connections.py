"""Goodput of connections over time, and how fair it is."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from lisa.checks import checked
from lisa.comparison import Comparison
from lisa.errors import ArgumentError
from lisa.outcomes import Outcomes
from lisa.plot import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Largest number of lines of a panel.
MOST = 8


@checked
def connections(results: Outcomes | Comparison, *, seed: int | None = None) -> Figure:
    """The goodput of each connection over time, the sum of its subflows, of a comparison in a panel for each algorithm; and Jain's
    fairness index of all connections, a line for each algorithm.

    Args:
        results: Runs with ``sample=``.
        seed: Seed of the drawn run; ``None``: the first.

    Raises:
        ArgumentError: For a seed that no run has, and for runs without ``sample=``.
        MissingPackage: Without matplotlib.

    Example:
        >>> import lisa
        >>> shared = lisa.shared_bottleneck(
        ...     lisa.mptcp("lisa", name="a"), lisa.tcp(name="b"), rate="5Mbit", rtt="40ms", queue=17, stop="10s"
        ... )
        >>> figure = lisa.plot.connections(shared.run(sample="100ms"))  # doctest: +SKIP
    """
    drawn = results.seeds[0] if seed is None else seed
    if drawn not in results.seeds:
        raise ArgumentError(f"seed {drawn}: no run has this seed")
    runs = goodputs(results, drawn)
    if not runs:
        raise ArgumentError("results: run with sample=, such as sample='100ms', for values over time")
    figure, axes = style.panels(len(runs) + 1, 2, (5.5, 3.2))
    for axis, (algorithm, times) in zip(axes, runs.items(), strict=False):
        names = list(dict.fromkeys(name for values in times.values() for name in values))
        total = {name: sum(values.get(name, 0.0) for values in times.values()) for name in names}
        shown = sorted(names, key=lambda name: -total[name])[:MOST]
        for number, name in enumerate(sorted(shown, key=names.index)):
            known = [(time, values[name]) for time, values in times.items() if name in values]
            axis.plot(*zip(*known, strict=True), linewidth=1.8, label=name, **style.line(number))
        left_out = len(names) - len(shown)
        title = algorithm + (f" (the {MOST} largest means; {left_out} more)" if left_out else "")
        axis.set_title(title, fontsize="medium")
        axis.set_xlabel(style.label("time_s"))
        axis.set_ylabel(style.label("goodput_mbps"))
        axis.set_ylim(bottom=0.0)
        axis.legend(frameon=False, fontsize="small")
        style.finish(axis)
    axis = axes[len(runs)]
    for number, (algorithm, times) in enumerate(runs.items()):
        known = [(time, index) for time, values in times.items() if (index := jain(list(values.values()))) is not None]
        if known:
            axis.plot(*zip(*known, strict=True), linewidth=1.8, label=algorithm, **style.line(number))
    axis.set_xlabel(style.label("time_s"))
    axis.set_ylabel("Jain's fairness index")
    axis.set_ylim(0.0, 1.02)
    if len(runs) > 1:
        axis.legend(frameon=False, fontsize="small")
    style.finish(axis)
    figure.suptitle(f"{style.short(results.title)}\nseed {drawn}", fontsize="medium")
    return figure


def goodputs(results: Outcomes | Comparison, seed: int) -> dict[str, dict[float, dict[str, float]]]:
    """For each algorithm and time the goodput of each connection, Mbit/s."""
    table = results.runs("sample") if isinstance(results, Comparison) else results.to_arrow("sample")
    runs: dict[str, dict[float, dict[str, float]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(float)))
    if "goodput_mbps" not in table.column_names:
        return {}
    names = ("seed", "algorithm", "time_s", "connection", "number", "goodput_mbps")
    for of, algorithm, time, connection, number, goodput in zip(*map(table.column, names), strict=True):
        if of == seed and goodput is not None:
            name = connection if number == 1 else f"{connection} {number}"
            runs[algorithm if isinstance(results, Comparison) else ""][time][name] += goodput
    return runs


def jain(values: list[float]) -> float | None:
    """Jain's fairness index, from 1/n to 1; ``None`` of values that are all zero."""
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares > 0 else None
