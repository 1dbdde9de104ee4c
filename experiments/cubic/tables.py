"""Tables and figure of docs/algorithms/cubic.md and hystartpp.md. `--vm` adds those of the kernel beside the simulator."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from support.experiment import Experiment, table

PAGE = "docs/algorithms/cubic.md"
BOTH = ("vm", "sim")


def join(experiment):
    """A second subflow joins while the first doubles, over a range of queues."""
    queues = (5, 9, 13, 17, 25, 30, 40)
    algorithms = ["cubic", "lisa_cubic", "css_cubic", "lisa"]
    results = [experiment.compare("join.toml", algorithms, 100, {"topology.queue": queue}) for queue in queues]
    rows = []
    for metric, digits, unit in (("retransmits", 1, ""), ("completion_s", 3, ": completion, s")):
        for algorithm in algorithms:
            cells = (each[algorithm].of("download", metric).interval(digits) for each in results)
            rows.append([algorithm + unit, *cells])
    experiment.fill(PAGE, "join", table(["queue, packets", *queues], rows))


def late_join(experiment):
    """The same where the first subflow has left slow start before the join."""
    keys = {"topology.queue": 9, "connection.download.join_delay": "80ms"}
    results = experiment.compare("join.toml", ["cubic", "lisa_cubic"], 100, keys)
    rows = []
    for algorithm, result in results.items():
        lost = result.of("download", "retransmits").interval(1)
        rows.append([algorithm, lost, result.of("download", "completion_s").interval(3)])
    header = ["queue 9, join 80 ms later", "retransmissions", "completion, s"]
    experiment.fill(PAGE, "late-join", table(header, rows))


def fair(experiment):
    """Two subflows beside one Reno flow."""
    results = experiment.compare("../avoidance/fair.toml", ["lisa_cubic", "lisa"], 5, connection="multipath")
    rows = []
    for algorithm, result in results.items():
        rows.append([algorithm, *(result.of(name, "goodput_mbps").interval(1) for name in ("multipath", "reno"))])
    experiment.fill(PAGE, "fair", table(["goodput, Mbit/s", "both subflows", "Reno"], rows))


def figure(experiment):
    """Windows with a queue of 9."""
    plot = "docs/img/lisa_cubic-queue-9.svg"
    experiment.compare("join.toml", ["cubic", "lisa_cubic"], 1, {"topology.queue": 9}, plot=plot)


def slow_start(experiment):
    """One TCP's slow start over a range of queues."""
    queues = (40, 85, 120, 170, 250, 340, 500)
    algorithms = ["reno", "cubic", "hystartpp_cubic"]
    results = [experiment.compare("start.toml", algorithms, 20, {"topology.queue": queue}) for queue in queues]
    rows = []
    for metric, digits, unit in (("retransmits", 0, ""), ("completion_s", 2, ": completion, s")):
        for algorithm in algorithms:
            cells = (each[algorithm].of("download", metric).interval(digits) for each in results)
            rows.append([algorithm + unit, *cells])
    experiment.fill("docs/algorithms/hystartpp.md", "slow-start", table(["queue, packets", *queues], rows))


def join_in_the_vm(experiment):
    """The kernel beside the simulator."""
    rows = []
    algorithms = ["cubic", "lisa_cubic", "css_cubic"]
    for queue in (9, 17, 30):
        results = experiment.compare("join.toml", algorithms, 10, {"topology.queue": queue}, on=",".join(BOTH))
        for algorithm in algorithms:
            cells = []
            for metric, digits in (("completion_s", 3), ("retransmits", 1), ("retransmits_slow_start", 1)):
                cells += [results[on, algorithm].of("download", metric).interval(digits) for on in BOTH]
            rows.append([f"{queue}, {algorithm}", *cells])
    header = ["queue, algorithm"]
    for metric in ("completion, s", "retransmissions", "in slow start"):
        header += [f"{metric}: kernel", "simulator"]
    experiment.fill(PAGE, "join-vm", table(header, rows))


def epoch_in_the_vm(experiment):
    """Windows between losses, the kernel beside the simulator."""
    keys = {"topology.rate": "20Mbit", "topology.queue": 80, "connection.download.bytes": "50MB"}
    results = experiment.compare("epoch.toml", ["lisa_cubic"], 3, keys, on=",".join(BOTH))
    metrics = {
        "completion, s": ("completion_s", 2),
        "retransmissions": ("retransmits", 0),
        "in slow start": ("retransmits_slow_start", 0),
        "Σcwnd at the end of slow start": ("sum_cwnd_at_slow_start_exit_segments", 0),
    }
    rows = []
    for name, (metric, digits) in metrics.items():
        rows.append([name, *(results[on, "lisa_cubic"].of("download", metric).interval(digits) for on in BOTH)])
    experiment.fill(PAGE, "epoch-vm", table(["", "kernel", "simulator"], rows))


if __name__ == "__main__":
    parts = (join, late_join, fair, figure, slow_start)
    Experiment(__file__).run(*parts, vm=(join_in_the_vm, epoch_in_the_vm))
