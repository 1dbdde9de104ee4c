"""The tables of docs/starting.md beside BBR, which the simulator does not have: on the host's kernel. Needs root, and a quarter of an hour in real time."""

import itertools
import statistics
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from start.cells import CLASSES, JUDGING, TCP, Summary, draw
from start.host import ALGORITHMS, PAGE, on_host, release, transfer
from start.kernel import FASTEST, LARGEST, UNCOUPLED
from start.settings import SETTINGS
from start.wider import NAMES, SHARES
from support.experiment import table
from support.mean import Mean, number

CELLS = 5  # of each class
SEEDS = 3
AT_ONCE = 8  # runs; `lateness_s` says whether packets were late for it
LONG = {"stop": "70s", "warmup": "10s"}
COUNTS = (2, 4)  # subflows
PIPES = ("20 Mbit/s, 40 ms, 20 packets", "20 Mbit/s, 40 ms, 67 packets")
DEEP = {"20 Mbit/s, 40 ms, 267 packets": ("20Mbit", "40ms", 267)}  # BBR's share depends on the queue


def in_parallel(function, arguments):
    """Results of calls, in the order of their arguments."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda each: function(*each), arguments))


def beside_bbr(experiment):
    """Transfers beside one TCP with BBR: time, losses, and what the rival has, relative to one TCP or to uncoupled."""
    setting = next(setting for setting in SETTINGS if setting.name == "cubic")
    setting = replace(setting, keys={"connection.2.algorithm": "bbr"})
    drawn = [cell for cell in draw(JUDGING, 400) if cell.size <= LARGEST and max(cell.rate) <= FASTEST]
    classes = {kind: [cell for cell in drawn if cell.kind == kind and setting.has(cell)][:CELLS] for kind in CLASSES}
    runs = list(itertools.product(ALGORITHMS, itertools.chain(*classes.values())))
    found = in_parallel(lambda algorithm, cell: transfer(experiment, cell, algorithm, setting), runs)
    results = {algorithm: {} for algorithm in ALGORITHMS}
    for (algorithm, cell), (result, _) in zip(runs, found):
        results[algorithm][cell.name] = result
    rows = []
    for kind, cells in classes.items():
        base = results[TCP if kind.startswith("shared") else UNCOUPLED]
        for algorithm in (UNCOUPLED, "convoy"):
            summary = Summary.of(cells, results[algorithm], base)
            pairs = [(results[name][cell.name].others for name in (algorithm, TCP)) for cell in cells]
            others = statistics.median(mine / tcp for mine, tcp in pairs)
            is_base = results[algorithm] is base
            times = ["1"] * 2 if is_base else [number(summary.quantile(at), 2) for at in (0.5, 1)]
            more = "0" if is_base else number(statistics.fmean(summary.more), 1)
            name = NAMES.get(algorithm, f"`{algorithm}`")
            rows.append([CLASSES[kind], name, *times, more, number(others, 2)])
    late = max(lateness for _, lateness in found)
    header = [f"Linux {release()}", "", "median time", "largest", "losses beyond, mean", "goodput of the rival, median"]
    experiment.fill(
        PAGE, "bbr-host", f"{table(header, rows)}\n\nThe latest packet was {number(1e3 * late, 1)} ms late."
    )


def share(experiment, algorithm, subflows, pipe, seed):
    """Share of a download beside one TCP, and how late the latest packet was: in a long run some are, which changes no share."""
    rate, rtt, queue = pipe
    keys = LONG | {"topology.rate": rate, "topology.rtt": rtt, "topology.queue": queue}
    keys |= {"connection.1.algorithm": algorithm, "connection.1.subflows": subflows, "connection.2.algorithm": "bbr"}
    if algorithm == TCP:
        keys |= {"connection.1.protocol": "tcp", "connection.1.algorithm": "cubic", "connection.1.subflows": ""}
    line = on_host(experiment, "shares.toml", keys, seed, tries=1)
    mine, other = (connection["goodput_mbps"] for connection in line["connections"])
    return mine / (mine + other), line["lateness_s"]


def shares_beside_bbr(experiment):
    """Share of the goodput of a download beside one TCP with BBR, for long."""
    pipes = {title: SHARES[title] for title in PIPES} | DEEP
    kinds = [(TCP, 1), *itertools.product((UNCOUPLED, "convoy"), COUNTS)]
    runs = list(itertools.product(pipes.items(), kinds, range(1, SEEDS + 1)))
    found = in_parallel(lambda pipe, kind, seed: share(experiment, *kind, pipe[1], seed), runs)
    values = {}
    for ((title, _), kind, _), (value, _) in zip(runs, found):
        values.setdefault((title, kind), []).append(value)
    cells = {each: Mean.of(seeds).interval(2) for each, seeds in values.items()}
    rows = [[title, *(cells[title, kind] for kind in kinds)] for title in pipes]
    late = max(lateness for _, lateness in found)
    titles = [NAMES[TCP]] + [f"{NAMES.get(name, f'`{name}`')}, {count}" for name, count in kinds[1:]]
    text = table([f"Linux {release()}", *titles], rows)
    experiment.fill(PAGE, "bbr-shares-host", f"{text}\n\nThe latest packet was {number(1e3 * late, 1)} ms late.")
