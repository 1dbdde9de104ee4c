"""Tables and figure of congestion avoidance: docs/algorithms/{README,balia,phi,properties,wvegas}.md, docs/groups.md and
docs/notes/simulator.md."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from support.experiment import Experiment, table
from support.mean import Mean, number, ratio

PROPERTIES = "docs/algorithms/properties.md"
NAMES = {
    "lia": "LIA",
    "olia": "OLIA",
    "balia": "Balia",
    "nmcc": "NMCC",
    "reno": "uncoupled",
    "wvegas": "wVegas",
}
COUNTS = (2, 4, 8)
# A link that only loses at random: no queue fills.
RANDOM_LOSS = {"topology.rate": "1Gbit", "topology.queue": 100000}


def shares(experiment, algorithms, seeds, networks):
    """Share of N subflows beside one Reno flow: for each algorithm a cell for each network, with a number for each N."""
    found = {algorithm: [] for algorithm in algorithms}
    for keys in networks:
        results = []
        for count in COUNTS:
            more = keys | {"connection.multipath.subflows": count}
            results.append(experiment.compare("fair.toml", algorithms, seeds, more, connection="multipath"))
        for algorithm in algorithms:
            cell = [result[algorithm].of("multipath", "share").text(2) for result in results]
            found[algorithm].append(", ".join(cell))
    return found


def reno(experiment):
    """Beside one Reno flow, over four networks for 300 s."""
    networks = [{}, {"topology.rate": "40Mbit"}, {"topology.queue": 50}, {"topology.queue": '{kind="codel"}'}]
    found = shares(experiment, ["lia", "olia", "balia", "nmcc", "reno"], 5, networks)
    fair = {"nmcc": [n**0.5 / (n**0.5 + 1) for n in COUNTS], "reno": [n / (n + 1) for n in COUNTS]}
    names = {"nmcc": "√N: ", "reno": "N/(N+1): "}
    rows = []
    for algorithm, cells in found.items():
        model = ", ".join(number(share, 2) for share in fair.get(algorithm, [])) or "0.50"
        rows.append([NAMES[algorithm], *cells, names.get(algorithm, "") + model])
    header = ["share with N = 2, 4, 8", "RED, 10 Mbit/s", "RED, 40 Mbit/s", "droptail, 50 packets", "CoDel", "model"]
    experiment.fill(PROPERTIES, "share", table(header, rows, "l"))


def long_run(experiment):
    """The same for 3000 s."""
    networks = [
        {"topology.rate": "40Mbit"},
        {"topology.rate": "40Mbit", "topology.queue": 267},
        RANDOM_LOSS | {"topology.loss": "0.01%"},
    ]
    networks = [network | {"stop": "3020s"} for network in networks]
    found = shares(experiment, ["lia", "olia", "balia"], 5, networks)
    header = ["share with N = 2, 4, 8", "RED, 40 Mbit/s", "droptail, 40 Mbit/s, 267 packets", "random losses of 0.01 %"]
    rows = [[NAMES[algorithm], *cells] for algorithm, cells in found.items()]
    experiment.fill(PROPERTIES, "long", table(header, rows, "l"))


def two_paths(experiment):
    """Over two disjoint paths: goodput where they can be filled, and relative to Reno where losses are random."""
    algorithms = list(NAMES)
    alike = {"topology.rate": "10Mbit", "topology.rtt": "40ms"}
    fast = {"topology.rate": '["100Mbit","40Mbit"]', "topology.queue": 500}
    losses = ("0.5%", "0.1%", "0.02%")
    one = {"connection.multipath.subflows": 1}

    def run(names, keys):
        results = experiment.compare("two-paths.toml", names, 10, keys)
        return {name: results[name].of("multipath", "goodput_mbps") for name in names}

    cells = {name: [] for name in ["best", *algorithms]}
    for keys, digits in (({}, 2), (alike, 2), (fast, 1)):
        best = run(["reno"], keys | one)
        cells["best"].append(best["reno"].text(digits))
        for name, mean in run(algorithms, keys).items():
            cells[name].append(mean.text(digits))
    for rtt in ({}, {"topology.rtt": "40ms"}):
        relative = {name: [] for name in algorithms}
        for loss in losses:
            keys = RANDOM_LOSS | rtt | {"topology.loss": loss, "stop": "310s"}
            best = run(["reno"], keys | one)["reno"]
            for name, mean in run(algorithms, keys).items():
                relative[name].append(ratio(mean, best, 2))
        cells["best"].append("1")
        for name in algorithms:
            cells[name].append(", ".join(relative[name]))
    header = ["", "10 and 4 Mbit/s", "10 and 10", "100 and 40", "losses, 40 and 80 ms", "losses, 40 and 40 ms"]
    rows = [[NAMES.get(name, "Reno on the better path"), *row] for name, row in cells.items()]
    experiment.fill(PROPERTIES, "two-paths", table(header, rows, "l"))


def balia(experiment):
    """Beside Reno, and over disjoint paths."""
    algorithms = ["lia", "olia", "balia", "reno"]
    fair = experiment.compare("fair.toml", algorithms, 10, connection="multipath")
    paths = experiment.compare("two-paths.toml", algorithms, 10)
    rows = []
    for title, results, connection in (
        ("two subflows beside one Reno flow: the subflows", fair, "multipath"),
        ("the Reno flow", fair, "reno"),
        ("disjoint paths of 10 and 4 Mbit/s: sum", paths, "multipath"),
    ):
        rows.append([title, *(results[name].of(connection, "goodput_mbps").interval(2) for name in algorithms)])
    header = ["Mbit/s", "LIA", "OLIA", "Balia", "uncoupled"]
    experiment.fill("docs/algorithms/balia.md", "fair", table(header, rows))


def phi(experiment):
    """Two paths with loss rates of 0.01 and 0.04 %."""
    key = "connection.multipath.settings.phi"
    settings = (200, 150, 100, 50, 25, 1)
    vary = {key: ",".join(map(str, settings))}
    runs = experiment.rows("phi.toml", vary, 10, metrics=["subflows.goodput_mbps"], rows="subflow")
    rows = []
    for setting in settings:
        seeds = [run for run in runs if run[key] == setting]
        first, second = ([run["goodput_mbps"] for run in seeds if run["subflow"] == n] for n in (1, 2))
        sums = " + ".join(Mean.of(values).text(1) for values in (first, second))
        ratios = Mean.of([a / b if b else None for a, b in zip(first, second)])
        model = number(4 ** (100 / setting), 2 if setting > 100 else 0) if setting > 1 else "10^60"
        rows.append([f"{setting / 100:g}", sums, ratios.interval(2 if setting > 100 else 1), model])
    header = ["φ", "goodput, Mbit/s", "ratio", "4^(1/φ)"]
    experiment.fill("docs/algorithms/phi.md", "ratio", table(header, rows))


def wvegas(experiment):
    """Queues over two disjoint paths beside LIA's."""
    algorithms = ["lia", "wvegas"]
    metrics = ["goodput_mbps", "links.drops", "links.queue_mean_packets", "links.queue_max_packets"]
    results = experiment.compare("two-paths.toml", algorithms, 10, metrics=metrics)
    one = experiment.compare("two-paths.toml", algorithms, 10, {"connection.multipath.subflows": 1})
    rows = []
    for name, found in (("goodput, Mbit/s", results), ("goodput of one subflow on path 1, Mbit/s", one)):
        rows.append([name, *(found[each].of("multipath", "goodput_mbps").text(2) for each in algorithms)])
    for metric, name, digits in (
        ("drops", "packets lost", 0),
        ("queue_mean_packets", "mean queue, packets", 1),
        ("queue_max_packets", "longest queue, packets", 0),
    ):
        cells = []
        for result in results.values():
            links = (result.link(f"path {path} down", metric) for path in (1, 2))
            cells.append(", ".join(mean.text(digits) for mean in links))
        rows.append([f"{name}: path 1, path 2", *cells])
    experiment.fill("docs/algorithms/wvegas.md", "two-paths", table(["", "LIA", "wVegas"], rows))
    plot = "docs/img/wvegas-two-paths.svg"
    experiment.compare("two-paths.toml", algorithms, 1, {"stop": "12s", "warmup": "2s"}, plot=plot)


def wvegas_beside_others(experiment):
    """wVegas beside a Reno flow and beside users of a single path."""
    algorithms = ["lia", "wvegas", "reno"]
    fair = experiment.compare("fair.toml", algorithms, 10, connection="multipath")
    rows = []
    for name, connection in (
        ("two subflows beside one Reno flow: the subflows", "multipath"),
        ("the Reno flow", "reno"),
    ):
        rows.append([name, *(result.of(connection, "goodput_mbps").text(2) for result in fair.values())])
    for n1 in (10, 30):
        file = "../lia-olia/scenario-a.toml"
        users = experiment.compare(file, algorithms, 10, {"topology.n1": n1}, connection="type 1")
        cells = (result.of("type 2", "goodput_mbps").text(2) for result in users.values())
        rows.append([f"scenario A, N1 = {n1}: type 2", *cells])
    header = ["Mbit/s", "LIA", "wVegas", "uncoupled"]
    experiment.fill("docs/algorithms/wvegas.md", "others", table(header, rows))


def groups(experiment):
    """Two subflows beside one Reno flow, in one group and in two."""
    rows = []
    for name, keys in (("one group, the default", {}), ("two groups", {"connection.multipath.groups": "[0,1]"})):
        result = experiment.compare("fair.toml", ["lia"], 5, keys, connection="multipath")["lia"]
        rows.append(
            [name, *(result.of(connection, "goodput_mbps").interval(2) for connection in ("multipath", "reno"))]
        )
    experiment.fill("docs/groups.md", "groups", table(["Mbit/s", "both subflows", "Reno"], rows))


def pairs(experiment):
    """Slow starts with wVegas, and other pairs, behind the bottleneck of CSS's figure 5 with a buffer of 60."""
    names = ["wvegas", "nmcc", "lisa_nmcc", "css_olia", "css_balia", "css"]
    keys = {"topology.queue": 60}
    results = experiment.compare("../css/fig5.toml", names, 30, keys, connection="short")
    rows = []
    for name, result in results.items():
        lost = result.of("short", "retransmits").interval(1)
        rows.append([f"`{name}`", lost, result.of("short", "completion_s").interval(2)])
    header = ["", "retransmissions", "completion, s"]
    experiment.fill("docs/algorithms/README.md", "pairs", table(header, rows))


def endpoints(experiment):
    """The share of four subflows beside one Reno flow, with single rules of today's Linux switched off on both connections."""
    all_connections = "connection.*."
    variants = (
        ('`profile = "linux"`', {}),
        ('`delayed_ack = "0s"`', {all_connections + "delayed_ack": "0s"}),
        ("`push_acks = false`", {all_connections + "push_acks": "false"}),
        ("`bursts = false`", {all_connections + "bursts": "false"}),
        ('`profile = "linux-3.14"`', {all_connections + "profile": "linux-3.14"}),
    )
    algorithms = ("olia", "lia", "balia", "reno")
    rows = []
    for name, keys in variants:
        results = experiment.compare("today.toml", list(algorithms), 10, keys, connection="multipath")
        rows.append([name, *(results[algorithm].of("multipath", "share").interval(2) for algorithm in algorithms)])
    header = ["share", *(NAMES[algorithm] for algorithm in algorithms)]
    experiment.fill("docs/notes/simulator.md", "endpoints", table(header, rows))


if __name__ == "__main__":
    parts = (balia, groups, pairs, wvegas, wvegas_beside_others, phi, reno, endpoints, two_paths, long_run)
    Experiment(__file__).run(*parts)
