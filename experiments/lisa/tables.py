"""Tables and figures of experiments/lisa: README.md and numbers.md, the figures of LISA's paper."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from support.experiment import Experiment, table
from support.mean import Mean

README = "experiments/lisa/README.md"
NUMBERS = "experiments/lisa/numbers.md"
SEEDS = 30
PROFILES = ("linux-3.14", "linux")
JOINS = ("at once", "later")
SIZES = ("50KB..900KB/50KB", [50 * n for n in range(1, 19)])


class Differences:
    """LISA − MPTCP for each point of a sweep, profile and join."""

    def __init__(self, experiment, file, vary, later, metric, keys=None, connection="download"):
        """`vary`: the values of each key; `later`: the delay of a join one round trip later."""
        self.keys = list(vary)
        self.metric = metric
        self.values = {}
        for profile in PROFILES:
            for join in JOINS:
                more = {"connection.*.profile": profile} if connection == "competitor" else {}
                more |= {"connection.download.profile": profile}
                more |= {"connection.download.join_delay": later if join == "later" else "0ms"}
                rows = experiment.rows(file, vary, SEEDS, (keys or {}) | more, ["lia", "lisa"])
                self.values[profile, join] = self.by_point(row for row in rows if row["connection"] == connection)

    def by_point(self, rows):
        """The metric by point, algorithm and seed."""
        points = {}
        for row in rows:
            point = tuple(row[key] for key in self.keys)
            points.setdefault(point, {}).setdefault(row["algorithm"], {})[row["seed"]] = row[self.metric]
        return points

    def points(self):
        """The points of the sweep, in its order."""
        return list(self.values[PROFILES[0], JOINS[0]])

    def of(self, profile, join, point):
        """Mean of LISA − MPTCP at a point, over the seeds in which both have the metric."""
        found = self.values[profile, join][point]
        pairs = [(found["lia"][seed], found["lisa"][seed]) for seed in found["lia"]]
        return Mean.of([b - a for a, b in pairs if a is not None and b is not None])

    def relative(self, profile, join, points):
        """Mean over the points of LISA − MPTCP, seed by seed, in % of MPTCP's mean."""
        found = [self.values[profile, join][point] for point in points]
        if any(None in of.values() for each in found for of in each.values()):
            return Mean(None, None)
        sums = {name: [sum(each[name][seed] for each in found) for seed in found[0][name]] for name in ("lia", "lisa")}
        base = sum(sums["lia"]) / len(sums["lia"])
        return Mean.of([100 * (b - a) / base for a, b in zip(sums["lia"], sums["lisa"])])

    def clear(self, profile, join, points, sign):
        """Those of the points, by the first key, at which LISA has clearly more (1) or less (−1)."""
        found = ((point, self.of(profile, join, point)) for point in points)
        return ranges([point[0] for point, mean in found if mean.is_clear() and mean.mean * sign > 0])


def ranges(numbers):
    """`9–19, 32, 34`."""
    runs = []
    for value in numbers:
        if runs and runs[-1][1] == value - 1:
            runs[-1][1] = value
        else:
            runs.append([value, value])
    return ", ".join(str(a) if a == b else f"{a}, {b}" if b == a + 1 else f"{a}–{b}" for a, b in runs)


def fig6ab(experiment):
    """Retransmissions in slow start and the windows that it leaves, by queue."""
    vary = {"topology.queue": "1..34"}
    large = {"connection.download.bytes": "4MB"}
    columns = {
        "R_ss": Differences(experiment, "fig6.toml", vary, "40ms", "retransmits_slow_start", large),
        "R": Differences(experiment, "fig6.toml", vary, "40ms", "retransmits"),
        "Σcwnd": Differences(experiment, "fig6.toml", vary, "40ms", "sum_cwnd_at_slow_start_exit_segments", large),
    }
    points = columns["R"].points()
    header = ["queue"] + [f"`{profile}`: {name}" for profile in PROFILES for name in columns]
    for join, block in (("at once", "fig6ab-at-once"), ("later", "fig6ab-later")):
        rows = []
        for point in points:
            cells = [each.of(profile, join, point).difference(1) for profile in PROFILES for each in columns.values()]
            rows.append([point[0], *cells])
        experiment.fill(NUMBERS, block, table(header, rows))
    summary(experiment, columns, points)


def summary(experiment, columns, points):
    """The queues at which LISA has clearly less and more."""
    rows = []
    for name, each in columns.items():
        for profile in PROFILES:
            for join in JOINS:
                less, more = (each.clear(profile, join, points, sign) for sign in (-1, 1))
                rows.append([f"{name}, `{profile}`, {join}", less, more])
    experiment.fill(README, "fig6ab", table(["", "LISA less at queues", "LISA more at queues"], rows, "l"))


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


def fig6c(experiment):
    """Completion by file size and queue."""
    vary = {"topology.queue": "9,17,30", "connection.download.bytes": SIZES[0]}
    times = Differences(experiment, "fig6.toml", vary, "40ms", "completion_s")
    by_size(experiment, times, "fig6c", (9, 17, 30), SIZES[1], 3)
    rows = []
    for profile in PROFILES:
        for join in JOINS:
            row = [f"`{profile}`, {join}"]
            for size in (50, 100, 150, 200, 300, 350, 400, 500, 700, 900):
                points = [(queue, 1000 * size) for queue in (9, 17, 30)]
                row.append(times.relative(profile, join, points).difference(1))
            rows.append(row)
    header = ["%, file in KB", 50, 100, 150, 200, 300, 350, 400, 500, 700, 900]
    experiment.fill(README, "fig6c", table(header, rows))


def by_size(experiment, differences, block, queues, sizes, digits):
    """Two tables of numbers.md: a row a file size, a column a queue and profile."""
    header = ["KB"] + [f"`{profile}`: queue {queue}" for profile in PROFILES for queue in queues]
    for join, name in (("at once", f"{block}-at-once"), ("later", f"{block}-later")):
        rows = []
        for size in sizes:
            points = [(profile, (queue, 1000 * size)) for profile in PROFILES for queue in queues]
            rows.append([size, *(differences.of(profile, join, point).difference(digits) for profile, point in points)])
        experiment.fill(NUMBERS, name, table(header, rows))


def fig7a(experiment):
    """Retransmissions of a Reno flow beside the file."""
    vary = {"topology.queue": "9,17,30", "connection.download.bytes": "50KB,100KB..900KB/100KB"}
    reno = Differences(experiment, "fig7a.toml", vary, "40ms", "retransmits", connection="competitor")
    by_size(experiment, reno, "fig7a", (9, 17, 30), [50, *range(100, 901, 100)], 1)


def fig1(experiment):
    """Completion by queue, beside TCP's."""
    vary = {"topology.queue": "5..40"}
    times = Differences(experiment, "fig1.toml", vary, "70ms", "completion_s")
    points = times.points()
    order = [(profile, join) for profile in PROFILES for join in JOINS]
    rows = [[point[0], *(times.of(*each, point).difference(3) for each in order)] for point in points]
    header = ["queue"] + [f"`{profile}`, {join}" for profile, join in order]
    experiment.fill(NUMBERS, "fig1", table(header, rows))
    fig1_summary(experiment, times, points, order)


def fig1_summary(experiment, times, points, order):
    """The queues at which MPTCP is later than TCP, and LISA earlier than MPTCP."""
    tcp = {}
    for profile in PROFILES:
        keys = {"connection.download.protocol": "tcp", "connection.download.algorithm": "cubic"}
        keys |= {"connection.download.profile": profile}
        for row in experiment.rows("fig1.toml", {"topology.queue": "5..40"}, SEEDS, keys):
            tcp.setdefault((profile, row["topology.queue"]), {})[row["seed"]] = row["completion_s"]
    rows = []
    for profile, join in order:
        later, earlier = [], []
        for point in points:
            mptcp = times.values[profile, join][point]["lia"]
            pairs = [(mptcp[seed], tcp[profile, point[0]][seed]) for seed in mptcp]
            mean = Mean.of([a - b for a, b in pairs if a is not None and b is not None])
            if mean.is_clear():
                (later if mean.mean > 0 else earlier).append(point[0])
        less, more = (times.clear(profile, join, points, sign) for sign in (-1, 1))
        rows.append([f"`{profile}`, {join}", ranges(later), ranges(earlier), less, more])
    fig1_times(experiment, times, tcp)
    header = ["queues", "TCP before MPTCP", "MPTCP before TCP", "LISA before MPTCP", "MPTCP before LISA"]
    experiment.fill(README, "fig1", table(header, rows, "l"))


def fig1_times(experiment, times, tcp):
    """Completion at some of the queues."""
    rows = []
    for queue in (7, 9, 12, 20, 30, 38):
        for profile in PROFILES:
            row = [f"{queue}, `{profile}`", Mean.of(list(tcp[profile, queue].values())).interval(2)]
            for join in JOINS:
                found = times.values[profile, join][queue,]
                row += [Mean.of(list(found[name].values())).interval(2) for name in ("lia", "lisa")]
            rows.append(row)
    header = ["queue", "TCP", "MPTCP, at once", "LISA, at once", "MPTCP, later", "LISA, later"]
    experiment.fill(README, "fig1-times", table(header, rows))


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
    Experiment(__file__).run(fig6ab, exits, delays, fig6c, fig7a, fig1, figures)
