"""The table of docs/starting.md that compares the simulator with the kernel of the host, cell by cell. Needs root, and some minutes in real time."""

import json
import platform

from start.cells import CLASSES, JUDGING, TCP, Summary, draw, result, run
from start.kernel import FASTEST, LARGEST, PAGE, UNCOUPLED, verdict
from start.settings import PLAIN
from support.experiment import table
from support.mean import number

CELLS, SEEDS = 5, 1  # of each class
ALGORITHMS = [TCP, UNCOUPLED, "convoy"]
TRIES = 5  # of a run that other processes of the host delay
LATEST = 1e-3  # s that a packet may be late in a run that counts


def release():
    """Release of the kernel that runs here."""
    return platform.release().split("-")[0]


def on_host(experiment, file, keys, seed=1, tries=TRIES):
    """Outcome of the first run with all packets in time, of at most `tries`, else of the one with the least delay."""
    tried = []
    while len(tried) < tries and not any(one["lateness_s"] <= LATEST for one in tried):
        arguments = ["run", experiment.folder / file, "--on", "host", "--json", "--seed", seed]
        tried.append(json.loads(experiment.lisa(*arguments, *experiment.set(file, keys))))
    return min(tried, key=lambda one: one["lateness_s"])


def transfer(experiment, cell, algorithm, setting):
    """Result of a cell, and how late the latest packet was in s."""
    keys = setting.point(cell) | setting.keys
    keys |= {"connection.1.subflows": cell.subflows, "connection.1.algorithm": algorithm}
    if algorithm == TCP:
        first = {} if cell.is_shared else setting.first_path[0]
        keys |= {"connection.1.protocol": "tcp", "connection.1.subflows": "", "connection.1.algorithm": "cubic"} | first
    outcome = on_host(experiment, setting.files[0 if cell.is_shared else 1], keys)
    rows = [connection | {"connection": connection["name"]} for connection in outcome["connections"]]
    return result(rows), outcome["lateness_s"]


def cells_on_the_host(experiment):
    """For each class: cells with the same verdict on `convoy` in simulator and host, and the times and losses of both."""
    drawn = [cell for cell in draw(JUDGING, 400) if cell.size <= LARGEST and max(cell.rate) <= FASTEST]
    cells = [cell for kind in CLASSES for cell in [each for each in drawn if each.kind == kind][:CELLS]]
    results = {"sim": run(experiment, cells, ALGORITHMS, SEEDS, PLAIN), "host": {name: {} for name in ALGORITHMS}}
    late = {}
    for cell in cells:
        for algorithm in ALGORITHMS:
            results["host"][algorithm][cell.name], lateness = transfer(experiment, cell, algorithm, PLAIN)
            late[cell.kind] = max(late.get(cell.kind, 0), lateness)
    rows, same = [], 0
    for kind, title in CLASSES.items():
        baseline = TCP if kind.startswith("shared") else UNCOUPLED
        chosen = [cell for cell in cells if cell.kind == kind]
        sides = [Summary.of(chosen, each["convoy"], each[baseline]) for each in results.values()]
        equal = sum(verdict(a) == verdict(b) for a, b in zip(*(side.times for side in sides)))
        same += equal
        medians = [number(side.quantile(0.5), 3) for side in sides]
        losses = ["–" if side.losses is None else f"× {number(side.losses, 2)}" for side in sides]
        rows.append([title, f"{equal} of {len(chosen)}", *medians, *losses, f"{number(1e3 * late[kind], 1)} ms"])
        for cell, *both in zip(chosen, *(side.times for side in sides)):
            print(cell.name, *(number(time, 3) for time in both))
    rows.append(["all", f"{same} of {len(cells)}", "", "", "", "", ""])
    header = [f"Linux {release()}", "same verdict", "median time, simulator", "host", "all losses, simulator", "host"]
    experiment.fill(PAGE, "cells-host", table([*header, "latest packet"], rows))
