"""Means with intervals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lisa import arguments
from lisa.checks import checked
from lisa.comparison import Comparison
from lisa.plot import style, summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Metrics that are drawn where none are chosen.
STANDARD = ("completion_s", "goodput_mbps", "retransmits")


@checked
def bars(comparison: Comparison, metrics: str | Iterable[str] | None = None) -> Figure:
    """Means of metrics as bars from zero with 95 % confidence intervals: a panel for each metric and part, a bar for each
    algorithm.

    Above a bar is the difference to the first algorithm in per cent; “=” means that the 95 % confidence interval of the
    difference includes zero.

    Args:
        comparison: The comparison.
        metrics: Names of metrics; ``None``: completion time, goodput and retransmissions, as far as there are values.

    Raises:
        ArgumentError: If the comparison has no value of a metric.
        MissingPackage: Without matplotlib.

    Example:
        >>> import lisa
        >>> download = lisa.shared_bottleneck(
        ...     lisa.mptcp(bytes="100KB"), rate="5Mbit", rtt="40ms", queue=9, rtt_spread="10%"
        ... )
        >>> figure = lisa.plot.bars(download.compare("lia,lisa", seeds=20))  # doctest: +SKIP
    """
    rows = summary.means(comparison.to_arrow(), [])
    known = {row.metric for row in rows}
    names = [name for name in STANDARD if name in known] if metrics is None else arguments.names(metrics)
    chosen = [row for name in names for row in summary.choose(rows, name)]
    panels: dict[tuple[str, str], list[summary.Mean]] = {}
    for row in chosen:
        panels.setdefault((row.metric, row.part), []).append(row)
    figure, axes = style.panels(len(panels), 3, (3.6, 3.2))
    several = len({part for _, part in panels}) > 1
    for axis, ((metric, part), means) in zip(axes, panels.items(), strict=True):
        base = means[0].mean
        tops = [max(mean.mean, 0.0) + mean.ci95 for mean in means]
        for place, mean in enumerate(means):
            number = comparison.algorithms.index(mean.algorithm)
            interval = mean.ci95 or None
            axis.bar(place, mean.mean, yerr=interval, capsize=4, width=0.65, color=style.line(number)["color"])
            if mean.difference is not None:
                clear = mean.is_clear and base > 0
                text = f"{100 * mean.difference / base:+.0f} %".replace("-", "−") if clear else "="
                axis.annotate(
                    text, (place, tops[place]), (0, 3), textcoords="offset points", ha="center", fontsize="small"
                )
        axis.set_xticks(range(len(means)), [mean.algorithm for mean in means])
        axis.set_ylim(bottom=min(0.0, *(mean.mean - mean.ci95 for mean in means)), top=max(*tops, 1e-9) * 1.12)
        axis.set_ylabel(style.label(metric))
        if several:
            axis.set_title(style.short(part), fontsize="medium")
        style.finish(axis)
    runs = len(comparison.seeds)
    note = f"means of {runs} seeds with 95 % confidence intervals" if runs > 1 else f"seed {comparison.seeds[0]}"
    figure.suptitle(f"{style.short(comparison.title)}\n{note}", fontsize="medium")
    return figure
