"""Tables and figure of docs/algorithms/nmcc.md."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from support.experiment import Experiment, table
from support.mean import number, ratio

PAGE = "docs/algorithms/nmcc.md"
RANDOM_LOSS = {
    "topology.rate": "1Gbit",
    "topology.queue": 100000,
    "topology.loss": "0.2%",
    "topology.rtt": "50ms",
    "connection.*.profile": "linux-3.14",
}


def share(experiment):
    """Share of the connection beside Reno flows, as in figure 5 of the paper."""
    columns = [(2, 1), (4, 1), (2, 2), (2, 4), (2, 9)]
    header = [f"N = {subflows}, {rivals} Reno" for subflows, rivals in columns]
    rows = []
    for profile in ("linux-3.14", "linux"):
        results = []
        for subflows, rivals in columns:
            keys = {
                "connection.*.profile": profile,
                "connection.multi.subflows": subflows,
                "connection.rival.count": rivals,
            }
            results.append(experiment.compare("fig5.toml", ["nmcc", "lia", "reno"], 10, keys, connection="multi"))
        for algorithm in ("nmcc", "lia", "reno"):
            name = "uncoupled" if algorithm == "reno" else algorithm
            shares = [result[algorithm].of("multi", "share").scaled(100).interval(0) for result in results]
            rows.append([f"{name}, `{profile}`", *shares])
    for name, flows in (("one share", lambda n: 1), ("√N shares", lambda n: n**0.5), ("N shares", lambda n: n)):
        shares = [number(100 * flows(n) / (flows(n) + rivals), 0) for n, rivals in columns]
        rows.append([name, *shares])
    rows.append(["nmcc in the paper", "53", "", "37", "", ""])
    experiment.fill(PAGE, "share", table(["share of the goodput, %", *header], rows))


def random_loss(experiment):
    """Goodput relative to one Reno flow where losses are random."""
    rows = []
    counts = (1, 2, 4)
    results = []
    for subflows in counts:
        keys = RANDOM_LOSS | {"connection.multi.subflows": subflows}
        results.append(experiment.compare("fig5.toml", ["nmcc", "lia", "reno"], 10, keys, connection="multi"))
    for algorithm in ("nmcc", "lia", "reno"):
        row = ["uncoupled" if algorithm == "reno" else algorithm]
        for result in results:
            multi, rival = (result[algorithm].of(name, "goodput_mbps") for name in ("multi", "rival"))
            row.append(ratio(multi, rival, 2))
        rows.append(row)
    rows.append(["√N", *(number(n**0.5, 2) for n in counts)])
    header = ["goodput relative to Reno's", *(f"N = {n}" for n in counts)]
    experiment.fill(PAGE, "random-loss", table(header, rows))


def paths(experiment):
    """Goodput over two disjoint paths, and over paths of two RTTs with one bottleneck."""
    rows = []
    for profile in ("linux-3.14", "linux"):
        keys = {"connection.*.profile": profile}
        disjoint = experiment.compare("table1.toml", ["nmcc", "lia"], 10, keys)
        shared = experiment.compare("mismatch.toml", ["nmcc", "lia"], 10, keys, connection="multi")
        for algorithm in ("nmcc", "lia"):
            cells = [
                disjoint[algorithm].of("multi", "goodput_mbps").interval(2),
                shared[algorithm].of("multi", "goodput_mbps").interval(1),
                shared[algorithm].of("rival", "goodput_mbps").interval(1),
            ]
            rows.append([f"{algorithm}, `{profile}`", *cells])
    header = ["goodput, Mbit/s", "two disjoint paths", "40 and 200 ms, one bottleneck", "the Reno flow beside it"]
    experiment.fill(PAGE, "paths", table(header, rows))


def start(experiment):
    """Windows in the first four seconds beside a Reno flow."""
    keys = {"connection.*.profile": "linux-3.14", "stop": "4s", "warmup": "0s"}
    experiment.compare("fig5.toml", ["nmcc", "lia"], 1, keys, connection="multi", plot="docs/img/nmcc-start.svg")


if __name__ == "__main__":
    Experiment(__file__).run(share, random_loss, paths, start)
