"""Means over two varied keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lisa.checks import checked
from lisa.errors import ArgumentError
from lisa.plot import style, summary
from lisa.sweep import Sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@checked
def heatmap(sweep: Sweep, metric: str | None = None, *, difference: bool = False, part: str | None = None) -> Figure:
    """Means of a metric over the two varied keys of a sweep: a panel for each algorithm.

    Args:
        sweep: A sweep of two keys, all combinations.
        metric: Name of the metric; ``None``: completion time, or goodput of endless connections.
        difference: Whether the panels have the differences to the first algorithm, seed by seed; a dot is a difference whose
            95 % confidence interval includes zero.
        part: Name of the connection, subflow or link; ``None``: the first.

    Raises:
        ArgumentError: If the sweep varies another number of keys, or has no value of the metric.
        MissingPackage: Without matplotlib.

    Example:
        >>> import lisa
        >>> download = lisa.shared_bottleneck(
        ...     lisa.mptcp(bytes="100KB"), rate="5Mbit", rtt="40ms", queue=9, rtt_spread="10%"
        ... )
        >>> grid = download.sweep(
        ...     {"topology.queue": [5, 10, 20], "topology.rate": ["2Mbit", "5Mbit"]}, "lia,lisa", seeds=5
        ... )
        >>> figure = lisa.plot.heatmap(grid, difference=True)  # doctest: +SKIP
    """
    if len(sweep.varied) != 2:
        raise ArgumentError(f"a heat map is of two varied keys: this sweep varies {len(sweep.varied)}")
    rows = summary.choose(summary.means(sweep.summary(), sweep.varied), metric)
    parts = list(dict.fromkeys(row.part for row in rows))
    if part is not None and part not in parts:
        raise ArgumentError(f"part {part}: there are {', '.join(parts)}")
    chosen = part or parts[0]
    rows = [row for row in rows if row.part == chosen]
    if difference:
        rows = [row for row in rows if row.difference is not None]
        if not rows:
            raise ArgumentError("difference: the sweep has one algorithm; a difference needs two")
    down, across = sorted({row.keys[0] for row in rows}), sorted({row.keys[1] for row in rows})
    algorithms = list(dict.fromkeys(row.algorithm for row in rows))
    shown = [(row.difference or 0.0) if difference else row.mean for row in rows]
    limit = max(abs(value) for value in shown) or 1.0
    scale: dict[str, Any] = {"vmin": min(shown), "vmax": max(shown), "cmap": "viridis"}
    if difference:
        scale = {"vmin": -limit, "vmax": limit, "cmap": "PuOr_r"}
    figure, axes = style.panels(len(algorithms), 3, (4.6, 3.8))
    image: Any = None
    for axis, algorithm in zip(axes, algorithms, strict=True):
        grid = [[float("nan")] * len(across) for _ in down]
        unclear: tuple[list[int], list[int]] = ([], [])
        for row, value in zip(rows, shown, strict=True):
            if row.algorithm != algorithm:
                continue
            y, x = down.index(row.keys[0]), across.index(row.keys[1])
            grid[y][x] = value
            if difference and not row.is_clear:
                unclear[0].append(x)
                unclear[1].append(y)
        image = axis.imshow(grid, origin="lower", aspect="auto", **scale)
        axis.plot(*unclear, ".", color="black", markersize=4)
        _ticks(axis.set_xticks, across)
        _ticks(axis.set_yticks, down)
        axis.set_xlabel(style.key(sweep.varied[1]))
        axis.set_ylabel(style.key(sweep.varied[0]))
        first = sweep.algorithms[0] if sweep.algorithms else ""
        axis.set_title(f"{algorithm} − {first}" if difference else algorithm, fontsize="medium")
    name = style.label(rows[0].metric)
    figure.colorbar(image, ax=axes, label=f"difference of {name}" if difference else name)
    figure.suptitle(style.short(f"{sweep.title}: {chosen}"))
    return figure


def _ticks(place: Any, values: list[Any]) -> None:
    """At most ten labels, of evenly spaced values."""
    step = max(1, -(-len(values) // 10))
    places = range(0, len(values), step)
    place(list(places), [_short(values[at]) for at in places])


def _short(value: Any) -> str:
    """A value with a prefix: 2500000 as ``2.5 M``."""
    if isinstance(value, int) and abs(value) >= 10_000:
        for size, prefix in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
            if abs(value) >= size:
                return f"{value / size:g} {prefix}"
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)
