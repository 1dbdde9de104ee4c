"""Tables and figures of experiments/lisa/README.md: what decides the figures of LISA's paper."""

import csv
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from support.experiment import Experiment, table
from support.mean import Mean

README = "experiments/lisa/README.md"
SEEDS = 30
PROFILES = ("linux-3.14", "linux")


def ranges(numbers):
    """`9–19, 32, 34`."""
    runs = []
    for value in numbers:
        if runs and runs[-1][1] == value - 1:
            runs[-1][1] = value
        else:
            runs.append([value, value])
    return ", ".join(str(a) if a == b else f"{a}, {b}" if b == a + 1 else f"{a}–{b}" for a, b in runs)


def exits(experiment):
    """What both lose behind a queue of 25, and when each subflow leaves slow start."""
    totals = {"retransmits": 1, "retransmits_slow_start": 1, "sum_cwnd_at_slow_start_exit_segments": 1}
    exit_time = "slow_start_exit_s"
    rows = []
    for profile, window in (("linux-3.14", None), ("linux", "4MB"), ("linux", None)):
        keys = {"topology.queue": 25, "connection.download.profile": profile}
        keys |= {"connection.download.receive_window": window} if window else {}
        metrics = [*totals, f"subflows.{exit_time}"]
        results = experiment.compare("fig6.toml", ["lia", "lisa"], SEEDS, keys, metrics=metrics)
        for algorithm, result in results.items():
            cells = [result.of("download", metric).interval(digits) for metric, digits in totals.items()]
            cells += [result.subflow("download", number, exit_time).interval(3) for number in (1, 2)]
            name = "MPTCP" if algorithm == "lia" else "LISA"
            rows.append([f"`{profile}`{', 4 MB' if window else ''}, {name}", *cells])
    header = ["queue 25, join at once", "R", "R_ss", "Σcwnd", "exit of subflow 1, s", "of subflow 2, s"]
    experiment.fill(README, "exits", table(header, rows))


def join(experiment, file, delay, rtt, queue):
    """Time of the join in RTTs since the first data, and the first subflow's window at that time."""
    keys = {"connection.download.join_delay": f"{delay}ms", "connection.download.algorithm": "lia"}
    keys |= {"connection.download.bytes": "1MB", "topology.queue": queue, "rtt_spread": "0%"}
    with tempfile.TemporaryDirectory() as folder:
        settings = [f"--set={key}={value}" for key, value in keys.items()]
        experiment.lisa("run", experiment.folder / file, "--trace", folder, "--trace-format", "csv", *settings)
        with next(Path(folder).glob("*.csv")).open() as stream:
            events = list(csv.DictReader(stream))
    first, second = ([event for event in events if event["subflow"] == number] for number in "12")
    begin, time = (float(subflow[0]["time_s"]) for subflow in (first, second))
    window = [event["cwnd_segments"] for event in first if float(event["time_s"]) <= time][-1]
    return f"{(time - begin) / rtt:.1f} RTTs, {window}"


def joins(experiment):
    """When the second subflow begins, and the window of the first one, by the delay of the join."""
    paths = (("fig1.toml", 0.07), ("fig6.toml", 0.04), ("fig8.toml", 0.04))
    rows = []
    for delay in (0, 20, 35, 40, 60, 70):
        rows.append([f"{delay} ms", *(join(experiment, file, delay, rtt, 40) for file, rtt in paths)])
    header = ["join later by", "figure 1, 70 ms", "figure 6, 40 ms", "figure 8, 40 ms"]
    experiment.fill(README, "joins", table(header, rows))


def delays(experiment):
    """R_ss by the delay of the join."""
    vary = {"connection.download.join_delay": "0ms..60ms/5ms", "topology.queue": "1..34"}
    rows = []
    found = {}
    for profile in PROFILES:
        keys = {"connection.download.profile": profile, "connection.download.bytes": "1MB"}
        for row in experiment.rows("fig6.toml", vary, 10, keys, ["lia", "lisa"]):
            point = profile, round(1000 * row["connection.download.join_delay"]), row["topology.queue"]
            found.setdefault(point, {}).setdefault(row["seed"], {})[row["algorithm"]] = row["retransmits_slow_start"]
    for delay in range(0, 61, 5):
        cells = []
        for profile in PROFILES:
            for sign in (-1, 1):
                queues = []
                for queue in range(1, 35):
                    seeds = found[profile, delay, queue].values()
                    mean = Mean.of([seed["lisa"] - seed["lia"] for seed in seeds])
                    if mean.is_clear() and mean.mean * sign > 0:
                        queues.append(queue)
                cells.append(ranges(queues))
        rows.append([f"{delay} ms", *cells])
    header = ["join later by"] + [f"`{profile}`: {name}" for profile in PROFILES for name in ("less", "more")]
    experiment.fill(README, "delays", table(header, rows, "l"))


def figures(experiment):
    """Windows of seed 1."""
    folder = "experiments/lisa/img"
    later = {"connection.download.join_delay": "40ms"}
    for file, keys, name in (
        ("fig6.toml", {"topology.queue": 25}, "fig6-queue-25-at-once"),
        ("fig6.toml", {"topology.queue": 17} | later, "fig6-queue-17-later"),
        ("fig1.toml", {"topology.queue": 12, "connection.download.join_delay": "70ms"}, "fig1-queue-12-later"),
        ("fig7a.toml", {"topology.queue": 17}, "fig7a-queue-17"),
    ):
        experiment.compare(file, ["lia", "lisa"], 10, keys, plot=f"{folder}/{name}.svg")
    burst = {"topology.access.rate": "10Gbit", "connection.flow.initial_ssthresh": "1MB"}
    experiment.compare("example.toml", ["reno"], 1, burst, plot=f"{folder}/example-burst.svg")


if __name__ == "__main__":
    Experiment(__file__).run(joins, exits, delays, figures)
