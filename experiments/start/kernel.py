"""The table of docs/starting.md that compares the simulator with a kernel in the VM, cell by cell."""

from start.cells import CLASSES, JUDGING, TCP, Summary, draw, run
from start.settings import PLAIN
from support.experiment import table
from support.mean import number

PAGE = "docs/starting.md"
CELLS, SEEDS = 15, 3  # of each class
LARGEST, FASTEST = 1e6, 50e6  # bytes, bit/s: cells that take seconds on a kernel in virtual time
SLOWER = 0.05  # of the baseline: the verdict on a cell is faster, as fast, or slower
UNCOUPLED = "cubic"


def verdict(time):
    """What a relative time says."""
    return (time > 1 + SLOWER) - (time < 1 - SLOWER)


def cells_in_the_vm(experiment):
    """For each class: cells with the same verdict on `convoy` in simulator and VM, and the times and losses of both."""
    drawn = [cell for cell in draw(JUDGING, 400) if cell.size <= LARGEST and max(cell.rate) <= FASTEST]
    cells = [cell for kind in CLASSES for cell in [each for each in drawn if each.kind == kind][:CELLS]]
    results = {on: run(experiment, cells, [TCP, UNCOUPLED, "convoy"], SEEDS, PLAIN, on) for on in ("sim", "vm")}
    rows, same, all_cells = [], 0, 0
    for kind, title in CLASSES.items():
        chosen = [cell for cell in cells if cell.kind == kind]
        baseline = TCP if kind.startswith("shared") else UNCOUPLED
        sides = [Summary.of(chosen, each["convoy"], each[baseline]) for each in results.values()]
        equal = sum(verdict(a) == verdict(b) for a, b in zip(*(side.times for side in sides)))
        same, all_cells = same + equal, all_cells + len(chosen)
        medians = [number(side.quantile(0.5), 3) for side in sides]
        losses = ["–" if side.losses is None else f"× {number(side.losses, 2)}" for side in sides]
        rows.append([title, f"{equal} of {len(chosen)}", *medians, *losses])
    rows.append(["all", f"{same} of {all_cells}", "", "", "", ""])
    header = ["", "same verdict", "median time, simulator", "VM", "all losses, simulator", "VM"]
    experiment.fill(PAGE, "cells-vm", table(header, rows))
