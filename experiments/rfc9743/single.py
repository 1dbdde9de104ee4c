"""Connections of one kind at a bottleneck: queues, losses, fairness, convergence, losses that are no congestion."""

import statistics

from rfc9743.subjects import (
    BOTTLENECK,
    COLOURS,
    PACKET_BITS,
    SUBJECTS,
    TCP,
    connections,
    goodput,
    jain,
    keys_of,
    link,
    mean,
    outcomes,
    plain,
    series,
)
from support.chart import chart
from support.experiment import table

PAGE = "docs/rfc9743.md"
RATE = 20e6  # bit/s, of alone.toml and late.toml
SEEDS = 5
MANY_RATE = 100e6  # bit/s, of several.toml

QUEUES = {"0.1 BDP (7 packets)": 7, "0.25 BDP": 17, "1 BDP": 67, "4 BDP": 267, "10 BDP": 667}


def overload(experiment):
    """Far more connections than the bottleneck has room for: losses and use of the bottleneck."""
    rows = []
    for title, count, rate, queue in (
        ("100 connections, 1 Mbit/s, queue of 20 packets", 100, "1Mbit", 20),
        ("100 connections, 10 Mbit/s, queue of 33 packets", 100, "10Mbit", 33),
    ):
        cells = []
        for subject in SUBJECTS:
            keys = {"connection.download.count": count, "topology.rate": rate, "topology.queue": queue}
            found = outcomes(experiment, "several.toml", SEEDS, keys_of(subject) | keys)
            lost = plain((link(each)["loss_rate"] or 0 for each in found), 0, 100)
            used = plain((goodput(each, "download") for each in found), 2)
            least = [jain([each["goodput_mbps"] or 0 for each in connections(one, "download")]) for one in found]
            cells.append(f"{lost} %, {used}, {plain(least, 2)}")
        rows.append([title, *cells])
    experiment.fill(PAGE, "overload", table(["", *SUBJECTS], rows))


def outage(experiment):
    """Everything fails for 30 s: packets that are sent meanwhile, and the time until data arrives again."""
    rows = []
    begin, end = 20, 50
    for subject in SUBJECTS:
        keys = keys_of(subject) | {
            "topology.down": f'{{ from = "{begin}s", to = "{end}s" }}',
            "stop": "90s",
            "warmup": "0s",
        }
        found = series(experiment, "alone.toml", SEEDS, keys, "100ms")
        seeds = sorted({row["seed"] for row in found})
        sent, waits = [], []
        for seed in seeds:
            mine = [row for row in found if row["seed"] == seed]
            lost = [row for row in mine if row["link"] == BOTTLENECK and begin + 1 < float(row["time_s"]) <= end]
            sent.append(sum(int(row["losses"]) for row in lost))
            after = [row for row in mine if row["kind"] == "subflow" and float(row["time_s"]) > end]
            times = [float(row["time_s"]) for row in after if float(row["goodput_mbps"] or 0) > 0]
            waits += [min(times) - end] if times else []
        rows.append([subject, plain(sent, 1), mean(waits, 1) if waits else "–"])
    header = ["", "packets sent from 1 to 30 s after the failure", "data arrives again after, s"]
    experiment.fill(PAGE, "outage", table(header, rows))


def queues(experiment):
    """A download alone: use of the bottleneck, delay of the queue and losses over the length of the queue."""
    rows = []
    for title, packets in QUEUES.items():
        cells = []
        for subject in SUBJECTS:
            found = outcomes(experiment, "alone.toml", SEEDS, keys_of(subject) | {"topology.queue": packets})
            used = plain((link(each)["utilisation"] or 0 for each in found), 0, 100)
            delay = plain((link(each)["queue_mean_packets"] for each in found), 0, 1e3 * PACKET_BITS / RATE)
            lost = plain((link(each)["loss_rate"] or 0 for each in found), 2, 100)
            cells.append(f"{used} %, {delay} ms, {lost} %")
        rows.append([title, *cells])
    experiment.fill(PAGE, "queues", table(["", *SUBJECTS], rows))


def many(experiment):
    """2 to 100 connections of one kind: fairness among them, losses, queue."""
    rows = []
    for count in (2, 8, 32, 100):
        cells = []
        for subject in SUBJECTS:
            keys = keys_of(subject) | {"connection.download.count": count}
            found = outcomes(experiment, "several.toml", SEEDS, keys)
            shares = [jain([each["goodput_mbps"] or 0 for each in connections(one, "download")]) for one in found]
            lost = plain((link(each)["loss_rate"] or 0 for each in found), 2, 100)
            delay = plain((link(each)["queue_mean_packets"] for each in found), 0, 1e3 * PACKET_BITS / MANY_RATE)
            cells.append(f"{plain(shares, 2)}, {lost} %, {delay} ms")
        rows.append([str(count), *cells])
    experiment.fill(PAGE, "many", table(["connections", *SUBJECTS], rows))


NETWORKS = {
    "20 Mbit/s, 40 ms, 67 packets": {},
    "100 Mbit/s, 40 ms, 333 packets": {"topology.rate": "100Mbit", "topology.queue": 333},
    "5 Mbit/s, 80 ms, 60 packets": {"topology.rate": "5Mbit", "topology.rtt": "80ms", "topology.queue": 60},
}
BEGIN, WINDOW, FAIR = 30, 5, 0.95  # s: start of the second download; length of a mean of Jain's index; wanted index
LATE_SEEDS = 10


def convergence(experiment):
    """A second download of the same kind begins 30 s after the first: Jain's index over time, and the time until it stays fair."""
    rows, panels = [], []
    for title, network in NETWORKS.items():
        lines, cells = {}, []
        for subject in SUBJECTS:
            keys = keys_of(subject, "first", "second") | network
            found = series(experiment, "late.toml", LATE_SEEDS, keys)
            runs = [indices(found, seed) for seed in sorted({row["seed"] for row in found})]
            lines[subject.strip("`")] = [(i, statistics.fmean(values)) for i, values in enumerate(zip(*runs), 1)]
            times = [fair_from(run) for run in runs]
            ended = [time for time in times if time is not None]
            whole = [statistics.fmean(run) for run in runs if run]
            within = f"{statistics.median(ended):.0f} s" if len(ended) * 2 > len(runs) else "more than 110 s"
            cells.append(f"{within}, {plain(whole, 2)}" if whole else "–")
        rows.append([title, *cells])
        panels.append((title, lines))
    experiment.fill(PAGE, "convergence", table(["", *SUBJECTS], rows))
    chart(
        experiment.options.root / "docs/img/rfc9743-convergence.svg",
        "Jain's index after a second download of the same kind has begun",
        panels,
        ("time since its begin, s", (0, 120)),
        ("Jain's index of 5 s, mean of ten runs", (0.5, 1)),
        COLOURS,
    )


def indices(rows, seed):
    """Jain's index of the goodputs of the last WINDOW seconds, for each second since the second download began."""
    totals = {}
    for row in rows:
        if row["seed"] == seed and row["kind"] == "subflow":
            at = (row["connection"], round(float(row["time_s"])))
            totals[at] = totals.get(at, 0) + float(row["goodput_mbps"] or 0)
    last = max((time for _, time in totals), default=0)
    found = []
    for time in range(BEGIN + 1, last + 1):
        window = range(max(BEGIN, time - WINDOW) + 1, time + 1)
        found.append(jain([sum(totals.get((name, t), 0) for t in window) for name in ("first", "second")]))
    return found


def fair_from(run):
    """First second from which the index is FAIR in the mean of the next ten seconds; none if never."""
    for i in range(len(run) - 10):
        if run[i] >= FAIR and statistics.fmean(run[i : i + 10]) >= FAIR:
            return i + 1
    return None


NOISE = {
    "no loss": {},
    "0.01 % of the packets": {"topology.loss": "0.01%"},
    "0.1 %": {"topology.loss": "0.1%"},
    "1 %": {"topology.loss": "1%"},
    "bursts: 0.1 % enter, 20 % leave": {"topology.loss": '{ enter = "0.1%", leave = "20%" }'},
    "1 % arrive 10 ms late": {"topology.reorder": '{ share = "1%", delay = "10ms" }'},
    "10 % arrive 40 ms late": {"topology.reorder": '{ share = "10%", delay = "40ms" }'},
}


def noise(experiment):
    """Goodput of a download alone on links that lose or reorder packets."""
    rows = []
    for file, where, subjects in (
        ("alone.toml", "one bottleneck", SUBJECTS),
        ("separate.toml", "two bottlenecks", SUBJECTS),
    ):
        for title, keys in NOISE.items():
            cells = []
            for subject in subjects:
                mine = keys_of(subject) | (
                    {"connection.download.path": 1} if where[:3] == "two" and subject == TCP else {}
                )
                found = outcomes(experiment, file, SEEDS, mine | keys)
                cells.append(mean((goodput(each, "download") for each in found), 1))
            rows.append([where, title, *cells])
    experiment.fill(PAGE, "noise", table(["", "", *SUBJECTS], rows))


EXTREME = {
    "satellite: 20 Mbit/s, 600 ms, 1000 packets": ("20Mbit", "600ms", 1000),
    "satellite, short queue: 20 Mbit/s, 600 ms, 100 packets": ("20Mbit", "600ms", 100),
    "sensor: 100 kbit/s, 300 ms, 10 packets": ("100kbit", "300ms", 10),
    "data centre: 1 Gbit/s, 0.2 ms, 50 packets": ("1Gbit", "200us", 50),
}


def extreme(experiment):
    """A download alone at the ends of the range of paths: use of the bottleneck, and losses."""
    rows = []
    for title, (rate, rtt, queue) in EXTREME.items():
        cells = []
        short = {"stop": "10s", "warmup": "2s"} if rate == "1Gbit" else {}
        for subject in SUBJECTS:
            keys = {"topology.rate": rate, "topology.rtt": rtt, "topology.queue": queue} | short
            found = outcomes(experiment, "alone.toml", SEEDS, keys_of(subject) | keys)
            used = plain((link(each)["utilisation"] or 0 for each in found), 0, 100)
            lost = plain((link(each)["loss_rate"] or 0 for each in found), 2, 100)
            cells.append(f"{used} %, {lost} %")
        rows.append([title, *cells])
    experiment.fill(PAGE, "extreme", table(["", *SUBJECTS], rows))


PARTS = (overload, outage, queues, many, convergence, noise, extreme)
