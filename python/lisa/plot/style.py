"""What all figures share: panels, colours, and texts of metrics."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from lisa import _native
from lisa.optional import load

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GREY = "#969696"
DASHES = ("-", "--", ":", "-.")
#: Longest title on one line, characters.
LONGEST = 90


def panels(count: int, columns: int, size: tuple[float, float]) -> tuple[Figure, list[Axes]]:
    """A figure with this number of panels.

    Args:
        count: Number of panels.
        columns: Largest number of panels side by side.
        size: Width and height of a panel, inches.
    """
    figure_class = load("matplotlib.figure", "plot").Figure
    if "ipykernel" in sys.modules:
        # A notebook shows a figure as a picture once pyplot has loaded its backend. The import alone does not load it.
        load("matplotlib.pyplot", "plot").draw_if_interactive()
    columns = max(1, min(columns, count))
    rows = -(-count // columns)
    figure: Figure = figure_class(figsize=(size[0] * columns, size[1] * rows + 0.3), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    axes: list[Axes] = list(grid.flat)
    for unused in axes[count:]:
        unused.set_axis_off()
    return figure, axes[:count]


def line(number: int) -> dict[str, Any]:
    """Colour and dashes of a series, by its number from 0."""
    colours = _native.COLOURS
    return {"color": colours[number % len(colours)], "linestyle": DASHES[number // len(colours) % len(DASHES)]}


def finish(axes: Axes) -> None:
    """Leaves out what carries no data."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(True, color="#e4e4e4", linewidth=0.8)
    axes.set_axisbelow(True)


def short(title: str) -> str:
    """A title on one line. A dollar sign begins no formula."""
    text = title if len(title) <= LONGEST else title[: LONGEST - 1] + "…"
    return text.replace("$", r"\$")


def key(name: str) -> str:
    """Name of a varied key with the unit of its numbers, for an axis."""
    field = name.rpartition(".")[2]
    units = {
        "bytes": "bytes",
        "delay": "s",
        "packets": "packets",
        "queue": "packets",
        "rate": "bit/s",
        "receive_window": "bytes",
        "send_buffer": "bytes",
        "rtt": "s",
        "start": "s",
        "stop": "s",
        "warmup": "s",
    }
    return f"{name} [{units[field]}]" if field in units else name


def label(metric: str) -> str:
    """Name of a metric with its unit, for an axis: ``completion [s]``."""
    field = metric.rpartition(".")[2]
    for end, unit in (
        ("_s", "s"),
        ("_mbps", "Mbit/s"),
        ("_segments", "segments"),
        ("_packets", "packets"),
        ("_bytes", "bytes"),
    ):
        if field.endswith(end):
            return f"{field.removesuffix(end).replace('_', ' ')} [{unit}]"
    name = field.replace("_", " ")
    counted = {"retransmits": "segments", "retransmits_slow_start": "segments", "bytes": "bytes"}
    return f"{name} [{counted[field]}]" if field in counted else name
