"""Tables and figures of docs/algorithms/css.md."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from support.experiment import Experiment, table
from support.mean import percent

PAGE = "docs/algorithms/css.md"
TCP = {"connection.short.protocol": "tcp"}


def runs(experiment, file, keys, algorithms=("lia", "lisa", "css")):
    """The MPTCP algorithms, and TCP Reno in place of the MPTCP connection, under its own name."""
    results = experiment.compare(file, algorithms, 30, keys, connection="short")
    tcp = TCP | ({"connection.short.path": 1} if file == "fig6.toml" else {})
    results["TCP"] = experiment.compare(file, ["reno"], 30, keys | tcp, connection="short")["reno"]
    return results


def losses_and_times(experiment, block, file, key, values, title):
    """Retransmissions and completion of the short flow over a range of one key."""
    results = [runs(experiment, file, {key: value}) for value in values]
    rows = []
    for algorithm in ("lia", "lisa", "css", "TCP"):
        rows.append([algorithm, *(each[algorithm].of("short", "retransmits").text(1) for each in results)])
    both = [[each[name].of("short", "retransmits") for name in ("css", "lia")] for each in results]
    rows.append(["css − lia", *(percent(*pair) for pair in both)])
    for algorithm in ("lia", "lisa", "css", "TCP"):
        times = (each[algorithm].of("short", "completion_s").text(2) for each in results)
        rows.append([f"{algorithm}: completion, s", *times])
    experiment.fill(PAGE, block, table([title, *values], rows))


def fig5(experiment):
    """A file of 560 KB over a range of buffers."""
    buffers = tuple(range(20, 131, 10))
    losses_and_times(experiment, "fig5", "fig5.toml", "topology.queue", buffers, "buffer, packets")


def fig3(experiment):
    """Files over a buffer of 47 packets."""
    sizes = ("70KB", "140KB", "280KB", "560KB", "840KB", "1120KB", "1400KB")
    losses_and_times(experiment, "fig3", "fig5.toml", "connection.short.bytes", sizes, "file")


def fig6(experiment):
    """Two bottlenecks."""
    values = (20, 30, 40, 50, 60, 70)
    results = [runs(experiment, "fig6.toml", {"topology.queue": queue}) for queue in values]
    rows = []
    for algorithm in ("lia", "lisa", "css"):
        rows.append([algorithm, *(each[algorithm].of("short", "retransmits").text(1) for each in results)])
    for metric, name in (("retransmits", "css − lia"), ("goodput_mbps", "css − lia: goodput")):
        both = [[each[algorithm].of("short", metric) for algorithm in ("css", "lia")] for each in results]
        rows.append([name, *(percent(*pair) for pair in both)])
    experiment.fill(PAGE, "fig6", table(["buffer of each, packets", *values], rows))


def windows(experiment):
    """Windows with three buffers; a fixed start makes the first two independent of the seed."""
    for queue, algorithms in ((40, ["lia", "lisa", "css"]), (80, ["lia", "lisa", "css"]), (60, ["lia", "css"])):
        keys = {"topology.queue": queue} | ({} if queue == 60 else {"connection.short.start": "4.8s"})
        plot = f"docs/img/css-queue-{queue}.svg"
        experiment.compare("fig5.toml", algorithms, 1, keys, connection="short", plot=plot)


def exits(experiment):
    """The short flow of those figures, at 4.8 s."""
    rows = []
    for queue in (40, 80):
        keys = {"topology.queue": queue, "connection.short.start": "4.8s"}
        results = experiment.compare("fig5.toml", ["lia", "lisa", "css"], 1, keys, connection="short")
        for algorithm, result in results.items():
            metrics = ("retransmits", "sum_cwnd_at_slow_start_exit_segments")
            cells = [result.of("short", metric).text(0) for metric in metrics]
            rows.append([f"{queue}, {algorithm}", *cells, result.of("short", "completion_s").text(2)])
    header = ["buffer, algorithm", "retransmissions", "Σcwnd at the end of slow start", "completion, s"]
    experiment.fill(PAGE, "windows", table(header, rows))


def threshold(experiment):
    """10 MB over two paths with con_ssthresh as it is, with 500 KB, and with the bandwidth-delay product."""
    file = "two-paths.toml"
    cubic = experiment.compare(file, ["cubic"], 30)["cubic"].of("download", "completion_s")
    rows = [["cubic", "", cubic.interval(2), ""]]
    for value in (None, "500KB", "bdp"):
        keys = {"connection.download.initial_ssthresh": value} if value else {}
        css = experiment.compare(file, ["css"], 30, keys)["css"].of("download", "completion_s")
        rows.append(["css", value or "none", css.interval(2), percent(css, cubic)])
    experiment.fill(PAGE, "threshold", table(["", "`initial_ssthresh`", "completion, s", "against cubic"], rows))


def fast(experiment):
    """Two paths of 20 Gbit/s and 30 µs."""
    keys = {
        "topology.rate": "20Gbit",
        "topology.rtt": "30us",
        "topology.queue": 1000,
        "stop": "400ms",
        "warmup": "200ms",
        "connection.multipath.profile": "linux",
        "connection.multipath.receive_window": "16MB",
    }
    results = experiment.compare("../avoidance/two-paths.toml", ["css", "css_reno", "lia", "lisa"], 1, keys)
    rows = []
    for algorithm, result in results.items():
        exit_window = result.of("multipath", "sum_cwnd_at_slow_start_exit_segments").text(0)
        rows.append([algorithm, result.of("multipath", "goodput_mbps").scaled(1e-3).text(1), exit_window])
    header = ["two paths of 20 Gbit/s", "goodput, Gbit/s", "Σcwnd at the end of slow start"]
    experiment.fill(PAGE, "fast", table(header, rows))


if __name__ == "__main__":
    Experiment(__file__).run(fig5, fig3, fig6, exits, windows, threshold, fast)
