"""Tables of docs/assistance.md: goodput and shares with assistance and without, in the simulator and on a kernel in the VM."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from support.experiment import Experiment, table
from support.mean import ratio

PAGE = "docs/assistance.md"
ALGORITHMS = ("lia", "nmcc", "convoy")
IN_THE_VM = ("lia", "nmcc")
WITHOUT = {"connection.multi.assistance": "false"}
HEADER = ["", "with assistance", "without", "ratio", "the rival's share of its path, with", "without"]
SHARED = ["", "share with assistance", "without"]


def effect(experiment, algorithms, on, seeds):
    """Rows of the two tables: separate paths, and a shared one."""
    metrics = ["goodput_mbps", "share"]
    found = {}
    for file in ("disjoint.toml", "shared.toml"):
        for keys in ({}, WITHOUT):
            found[file, not keys] = experiment.compare(file, algorithms, seeds, keys, "multi", on, metrics)
    separate, shared = [], []
    for algorithm in algorithms:
        both = [found["disjoint.toml", assisted][algorithm] for assisted in (True, False)]
        goodputs = [each.of("multi", "goodput_mbps") for each in both]
        rivals = [each.of("rival", "goodput_mbps").scaled(1 / 9.6).text(2) for each in both]
        separate.append([f"`{algorithm}`", *(each.text(2) for each in goodputs), ratio(*goodputs, 2), *rivals])
        both = [found["shared.toml", assisted][algorithm] for assisted in (True, False)]
        shared.append([f"`{algorithm}`", *(each.of("multi", "share").text(2) for each in both)])
    return separate, shared


def simulated(experiment):
    """Both in the simulator."""
    separate, shared = effect(experiment, ALGORITHMS, "sim", 5)
    experiment.fill(PAGE, "separate", table(HEADER, separate))
    experiment.fill(PAGE, "shared", table(SHARED, shared))


def in_the_vm(experiment):
    """Both on a kernel, with manager and agent."""
    separate, shared = effect(experiment, IN_THE_VM, "vm", 3)
    experiment.fill(PAGE, "separate-vm", table(HEADER, separate))
    experiment.fill(PAGE, "shared-vm", table(SHARED, shared))


if __name__ == "__main__":
    Experiment(__file__).run(simulated, vm=(in_the_vm,))
