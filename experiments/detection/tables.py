"""Tables and figure of docs/detection.md: who shares a bottleneck, by the statistics of RFC 8382 and by coupled CUBIC's evidence."""

import statistics
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from detection.runs import AT_ONCE, DETECTORS, EVIDENCE, KINDS, RECOMMENDED, STEP, STOP, draw, run
from support.chart import chart
from support.experiment import Experiment, table
from support.mean import number

PAGE = "docs/detection.md"
NETWORKS, SEEDS = 20, 3  # of each kind
COLOURS = {EVIDENCE: "#0072B2", AT_ONCE: "#D55E00", RECOMMENDED: "#009E73"}
SIZES = (1, 3, 10, 30, 100, 300)  # MB
SHARED = [kind for kind in KINDS if kind.startswith("shared")]
SEPARATE = [kind for kind in KINDS if kind not in SHARED]


def percent(value, digits=0):
    """A share as a percentage."""
    return "–" if value is None else f"{number(100 * value, digits)} %"


def mean(values):
    """Mean; none of nothing."""
    values = list(values)
    return statistics.fmean(values) if values else None


def quantile(times, at):
    """Quantile of times, of which none is later than all others, as text."""
    if not times:
        return "–"
    times = sorted(float("inf") if time is None else time for time in times)
    time = times[min(int(at * len(times)), len(times) - 1)]
    return f"> {STOP}" if time == float("inf") else number(time, 1)


def time_until_right(runs):
    """Cells of a kind with one bottleneck: median and 90 % quantile of the time until the right answer, share of time without it."""
    cells = []
    for detector in DETECTORS:
        firsts = [each.first(detector) for each in runs]
        wrong = percent(mean(each.wrong(detector) for each in runs))
        cells.append(f"{quantile(firsts, 0.5)}, {quantile(firsts, 0.9)}, {wrong}")
    return cells


def after_right(runs):
    """Cells of a kind with one bottleneck: share of time with a wrong answer after the first right one."""
    cells = []
    for detector in DETECTORS:
        firsts = [(each, each.first(detector)) for each in runs]
        cells.append(percent(mean(each.wrong(detector, first) for each, first in firsts if first is not None)))
    return cells


def false_shared(runs):
    """Cells of a kind with several bottlenecks: share of time with "shared", share of the runs that ever have it."""
    cells = []
    for detector in DETECTORS:
        wrong = [each.wrong(detector) for each in runs]
        cells.append(f"{percent(mean(wrong), 1)}, {percent(mean(share > 0 for share in wrong))}")
    return cells


def profit(runs, megabytes, detector):
    """Share of a transfer of this size that is sent while the answer is right, in the mean over the runs."""
    shares = []
    for each in runs:
        seconds = megabytes * 8 / each.mbps if each.mbps else float("inf")
        looks = each.right[detector][: max(0, round((min(seconds, STOP) - each.begin) / STEP))]
        shares.append(sum(right == 1 for right in looks) * STEP / min(seconds, STOP))
    return mean(shares)


def by_kind(runs, kinds, cells):
    """A table with a row for each kind of network and a column for each detector."""
    rows = [[KINDS[kind], *cells([each for each in runs if each.network.kind == kind])] for kind in kinds]
    rows.append(["all", *cells([each for each in runs if each.network.kind in kinds])])
    return table(["", *DETECTORS], rows)


def detection(experiment):
    """All tables and the figure."""
    limited = experiment.options.seconds is not None
    runs = run(experiment, draw(1 if limited else NETWORKS), experiment.seeds(SEEDS))
    experiment.fill(PAGE, "shared", by_kind(runs, SHARED, time_until_right))
    experiment.fill(PAGE, "after", by_kind(runs, SHARED, after_right))
    experiment.fill(PAGE, "separate", by_kind(runs, SEPARATE, false_shared))
    shared = [each for each in runs if each.network.is_shared]
    rows = []
    for size in SIZES:
        lengths = [size * 8 / each.mbps for each in shared if each.mbps]
        length = number(statistics.median(lengths), 1) if lengths else "–"
        rows.append([f"{size} MB", length, *(percent(profit(shared, size, detector)) for detector in DETECTORS)])
    experiment.fill(PAGE, "transfers", table(["", "median length, s", *DETECTORS], rows))
    experiment.fill(PAGE, "networks", networks(runs))
    panels = []
    for kind, title in KINDS.items():
        chosen = [each for each in runs if each.network.kind == kind]
        panels.append((f"{'shared' if kind in SHARED else 'separate'}: {title}", lines(chosen)))
    chart(
        experiment.options.root / "docs/img/detection.svg",
        "Share of pairs of subflows with the right answer over time",
        panels,
        ("time, s", (0, STOP)),
        ("share of the pairs", (0, 1)),
        COLOURS,
    )


def networks(runs):
    """What was run, and the loss that RFC 8382 would use above 10 %."""
    rows = [
        ["networks of each kind, seeds", f"{len({each.network.number for each in runs})}, {experiment.seeds(SEEDS)}"],
        ["runs", str(len(runs))],
        ["goodput of the downloads, median, Mbit/s", number(statistics.median(each.mbps for each in runs), 1)],
        ["runs with a loss above 10 % in 17.5 s", str(sum(each.loss > 0.1 for each in runs))],
    ]
    return table(["", ""], rows)


def lines(runs):
    """For three detectors the share of right pairs at each look."""
    found = {}
    for detector in COLOURS:
        points = []
        for look in range(5, STOP * 2, 1):
            time = look / 2
            at = [(each, round((time - each.begin) / STEP)) for each in runs]
            values = [each.right[detector][i] for each, i in at if 0 <= i < len(each.right[detector])]
            if values:
                points.append((time, statistics.fmean(values)))
        found[detector] = points
    return found


if __name__ == "__main__":
    experiment = Experiment(__file__)
    experiment.run(detection)
