"""The tables of docs/starting.md beside BBR, which the simulator does not have: on the host's kernel. Needs root, and half an hour in real time."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from start.cells import CLASSES, JUDGING, TCP, Summary, draw
from start.host import ALGORITHMS, PAGE, on_host, release, transfer
from start.kernel import FASTEST, LARGEST, UNCOUPLED
from start.settings import SETTINGS
from start.wider import NAMES, SHARES
from support.experiment import table
from support.mean import Mean, number

CELLS = 6  # of each class
SEEDS = 3
AT_ONCE = 4  # runs; `lateness_s` says whether packets were late for it
LONG = {"stop": "100s", "warmup": "20s"}
COUNTS = (2, 4)  # subflows
PIPES = ("20 Mbit/s, 40 ms, 20 packets", "20 Mbit/s, 40 ms, 67 packets")
DEEP = {"20 Mbit/s, 40 ms, 267 packets": ("20Mbit", "40ms", 267)}  # BBR's share depends on the queue
RIVALS = ("bbr", "cubic")


def in_parallel(function, arguments):
    """Results of calls, in the order of their arguments."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda each: function(*each), arguments))


def beside(rival):
    """The setting of transfers that begin beside one TCP with this algorithm."""
    setting = next(setting for setting in SETTINGS if setting.name == "cubic")
    return replace(setting, keys={"connection.2.algorithm": rival})


def beside_bbr(experiment):
    """Transfers beside one TCP with BBR, and beside one with CUBIC: time, losses, and what the rival has, relative to one TCP or to uncoupled."""
    setting = beside("bbr")
    drawn = [cell for cell in draw(JUDGING, 400) if cell.size <= LARGEST and max(cell.rate) <= FASTEST]
    classes = {kind: [cell for cell in drawn if cell.kind == kind and setting.has(cell)][:CELLS] for kind in CLASSES}
    cells = list(itertools.chain(*classes.values()))
    runs = list(itertools.product(RIVALS, ALGORITHMS, cells))
    found = in_parallel(lambda rival, *run: transfer(experiment, *reversed(run), beside(rival)), runs)
    results = {run[:2]: {} for run in runs}
    for (rival, algorithm, cell), (result, _) in zip(runs, found):
        results[rival, algorithm][cell.name] = result
    rows = []
    for (kind, chosen), rival in itertools.product(classes.items(), RIVALS):
        shared = kind.startswith("shared")
        base = results[rival, TCP if shared else UNCOUPLED]
        for algorithm in (UNCOUPLED, "convoy")[0 if shared else 1 :]:
            mine = results[rival, algorithm]
            summary = Summary.of(chosen, mine, base)
            more = sum(summary.more) / len(summary.more)
            # Relative to one TCP also where paths are separate, as in the table of other connections.
            others = [mine[cell.name].others / results[rival, TCP][cell.name].others for cell in chosen]
            others.sort()
            name = NAMES.get(algorithm, f"`{algorithm}`")
            times = [number(summary.quantile(at), 2) for at in (0.5, 1)]
            rows.append(
                [CLASSES[kind], rival.upper(), name, *times, number(more, 1), number(others[len(others) // 2], 2)]
            )
    late = max(lateness for _, lateness in found)
    header = [f"Linux {release()}", "beside", "", "median time", "largest", "losses beyond", "goodput of the rival"]
    experiment.fill(PAGE, "bbr", table(header, rows) + f"\n\nThe latest packet was {number(1e3 * late, 1)} ms late.")


def share(experiment, algorithm, subflows, rival, pipe, seed):
    """Share of a download beside one TCP, and how late the latest packet was."""
    rate, rtt, queue = pipe
    keys = LONG | {"topology.rate": rate, "topology.rtt": rtt, "topology.queue": queue}
    keys |= {"connection.1.algorithm": algorithm, "connection.1.subflows": subflows, "connection.2.algorithm": rival}
    if algorithm == TCP:
        keys |= {"connection.1.protocol": "tcp", "connection.1.algorithm": "cubic", "connection.1.subflows": ""}
    line = on_host(experiment, "shares.toml", keys, seed)
    mine, other = (connection["goodput_mbps"] for connection in line["connections"])
    return mine / (mine + other), line["lateness_s"]


def shares_beside_bbr(experiment):
    """Share of the goodput of a download beside one TCP with BBR, for long."""
    pipes = {title: SHARES[title] for title in PIPES} | DEEP
    kinds = [(TCP, 1), *itertools.product((UNCOUPLED, "convoy"), COUNTS)]
    runs = list(itertools.product(pipes.items(), kinds, range(1, SEEDS + 1)))
    found = in_parallel(lambda pipe, kind, seed: share(experiment, *kind, "bbr", pipe[1], seed), runs)
    values = {}
    for ((title, _), kind, _), (value, _) in zip(runs, found):
        values.setdefault((title, kind), []).append(value)
    cells = {each: Mean.of(seeds).interval(2) for each, seeds in values.items()}
    rows = [[title, *(cells[title, kind] for kind in kinds)] for title in pipes]
    late = max(lateness for _, lateness in found)
    titles = [NAMES[TCP]] + [f"{NAMES.get(name, f'`{name}`')}, {count}" for name, count in kinds[1:]]
    text = table([f"Linux {release()}", *titles], rows)
    experiment.fill(PAGE, "bbr-shares", f"{text}\n\nThe latest packet was {number(1e3 * late, 1)} ms late.")
