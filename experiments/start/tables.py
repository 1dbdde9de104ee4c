"""Tables and figures of docs/algorithms/convoy.md and docs/starting.md: transfers that begin with a join, in networks drawn at random.

`--only tuning` and `--only wider_tuning` print the tables of the half that rules are tuned with, and write no page.
`--only cells_on_the_host`, `beside_bbr` and `shares_beside_bbr` run on the host's kernel, in real time.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from start.bbr import beside_bbr, shares_beside_bbr
from start.cells import CLASSES, JUDGING, ONE, TCP, TUNING, Summary, draw, run
from start.figure import svg
from start.host import cells_on_the_host
from start.kernel import cells_in_the_vm
from start.limits import limits
from start.settings import PLAIN
from start.wider import queues, shares, wider, wider_tuning
from support.experiment import Experiment, table
from support.mean import number

PAGE = "docs/algorithms/convoy.md"
UNCOUPLED = "cubic"
CELLS = 400  # of each class
SEEDS = 5
ALGORITHMS = [
    "convoy",
    "convoy_cubic",
    "hystartpp_cubic",
    "lisa_cubic",
    "css_cubic",
    "lia",
    "lisa",
    "css",
    "olia",
    "balia",
    "reno",
]
NAMES = {TCP: "one TCP", ONE: "one subflow", UNCOUPLED: "uncoupled"}
DRAWN = (ONE, UNCOUPLED, "convoy", "lisa_cubic", "lisa")


def baseline(kind):
    """One TCP where all subflows share a bottleneck, else uncoupled CUBIC."""
    return TCP if kind.startswith("shared") else UNCOUPLED


def summaries(experiment, seed, algorithms):
    """For each class the algorithms' summaries."""
    count = CELLS if not experiment.options.seconds else 10
    cells = draw(seed, count)
    results = run(experiment, cells, [TCP, ONE, UNCOUPLED, *algorithms], SEEDS, PLAIN)
    found = {}
    for kind in CLASSES:
        chosen, base = [cell for cell in cells if cell.kind == kind], results[baseline(kind)]
        found[kind] = {name: Summary.of(chosen, each, base) for name, each in results.items() if each is not base}
    return found


def percent(value):
    """A share as a percentage."""
    return "–" if value is None else f"{number(100 * value, 0)} %"


def decimals(value, digits):
    """A number, if there is one."""
    return "–" if value is None else number(value, digits)


def overview(summaries):
    """Rows of a table: an algorithm with the shares of its cells."""
    rows = []
    for name, summary in summaries.items():
        within = [None if (slower := summary.slower(limit)) is None else 1 - slower for limit in (0.02, 0.05)]
        cells = [percent(share) for share in [*within, summary.polite()]]
        cells += [f"× {decimals(summary.losses, 2)}"]
        cells += [decimals(summary.quantile(at), 3) for at in (0.5, 0.9)]
        rows.append([NAMES.get(name, f"`{name}`"), *cells])
    header = ["", "at most 2 % slower", "at most 5 %", "losses at most + 0.5", "all losses", "median time", "90 %"]
    return table(header, rows)


def worst(summary, count):
    """Rows of a table: the slowest cells."""
    return [[cell.name, cell.about(), decimals(time, 2), number(more, 1)] for cell, time, more in summary.worst(count)]


WORST = ["", "cell", "relative time", "losses beyond"]


def judging(experiment):
    """The tables and the figure, with the cells that no rule was tuned with."""
    found = summaries(experiment, JUDGING, ALGORITHMS)
    for kind, each in found.items():
        experiment.fill(PAGE, kind.replace(" ", "-"), overview(each))
    limits(experiment, found)
    rows = [row for each in found.values() for row in worst(each["convoy"], 3)]
    experiment.fill(PAGE, "worst", table(WORST, rows or [["–"] * len(WORST)], "l"))
    panels = []
    for kind, title in CLASSES.items():
        lines = {NAMES.get(name, name): found[kind][name].times for name in DRAWN if name in found[kind]}
        panels.append((f"{title}, relative to {NAMES[baseline(kind)]}", lines))
    plot = experiment.options.root / "docs/img/convoy-start.svg"
    plot.parent.mkdir(parents=True, exist_ok=True)
    plot.write_text(svg("Completion times of transfers that begin with a join", panels))


def tuning(experiment):
    """The same for the other half, on the terminal."""
    found = summaries(experiment, TUNING, ["convoy"])
    for kind, each in found.items():
        print(f"{kind}\n{overview(each)}\n{table(WORST, worst(each['convoy'], 6))}\n")


if __name__ == "__main__":
    experiment = Experiment(__file__)
    on_request = (
        (tuning, wider_tuning, cells_on_the_host, beside_bbr, shares_beside_bbr) if experiment.options.only else ()
    )
    experiment.run(judging, wider, shares, queues, *on_request, vm=(cells_in_the_vm,))
