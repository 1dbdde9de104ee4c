"""Tables and figures of docs/starting.md: the cells of `cells.py` in other settings."""

import statistics

from start.cells import JUDGING, ONE, TCP, TUNING, Summary, draw_all, run
from start.figure import svg
from start.settings import SETTINGS
from support.experiment import table
from support.mean import Mean, number

PAGE = "docs/starting.md"
UNCOUPLED = "cubic"
DRAWN, CELLS = 400, 100  # cells drawn of each class, and run of those that a setting has
SEEDS = 3
ALGORITHMS = [UNCOUPLED, "convoy", "lisa_cubic", "lia"]
DRAWN_LINES = (ONE, UNCOUPLED, "convoy", "lia")  # in the figures
NAMES = {TCP: "one TCP", ONE: "one subflow", UNCOUPLED: "uncoupled"}
KINDS = {
    "shared 2": "one bottleneck, 2 subflows",
    "shared 4": "one bottleneck, 4 subflows",
    "equal": "two equal paths",
    "unequal": "two unequal paths",
}
LIMIT = 1.02  # median time relative to uncoupled that is not worse
SHARES = {
    "5 Mbit/s, 80 ms, 60 packets": ("5Mbit", "80ms", 60),
    "10 Mbit/s, 20 ms, 30 packets": ("10Mbit", "20ms", 30),
    "20 Mbit/s, 40 ms, 20 packets": ("20Mbit", "40ms", 20),
    "20 Mbit/s, 40 ms, 67 packets": ("20Mbit", "40ms", 67),
    "50 Mbit/s, 100 ms, 200 packets": ("50Mbit", "100ms", 200),
    "100 Mbit/s, 40 ms, 333 packets": ("100Mbit", "40ms", 333),
}


class Measured:
    """The results of all algorithms in one setting."""

    def __init__(self, experiment, setting, seed):
        limited = experiment.options.seconds
        drawn = [cell for cell in draw_all(seed, 20 if limited else DRAWN) if setting.has(cell)]
        count = 2 if limited else CELLS
        self.setting = setting
        self.cells = {kind: [cell for cell in drawn if cell.kind == kind][:count] for kind in setting.kinds}
        cells = [cell for each in self.cells.values() for cell in each]
        self.results = run(experiment, cells, [TCP, ONE, *ALGORITHMS], SEEDS, setting)

    def summary(self, kind, algorithm, baseline=None):
        """An algorithm relative to `baseline`, or to one TCP where there is one bottleneck and to uncoupled elsewhere."""
        baseline = baseline or (TCP if kind.startswith("shared") else UNCOUPLED)
        return Summary.of(self.cells[kind], self.results[algorithm], self.results[baseline])

    def others(self, kind, algorithm):
        """Measure of the connections beside the transfer, relative to that beside one TCP, in each cell."""
        mine, tcp = self.results[algorithm], self.results[TCP]
        pairs = [(mine[cell.name].others, tcp[cell.name].others) for cell in self.cells[kind]]
        return [one / other for one, other in pairs if one and other]

    def table(self):
        """Shares of cells at most 5 % slower, median times, losses."""
        rows = []
        for algorithm in (TCP, ONE, *ALGORITHMS):
            cells = []
            for kind in self.setting.kinds:
                summary = self.summary(kind, algorithm)
                base = summary.losses == 1 and summary.quantile(0) == summary.quantile(1) == 1
                cells.append("1" if base else text(summary))
            rows.append([NAMES.get(algorithm, f"`{algorithm}`"), *cells])
        return table(["", *(KINDS[kind] for kind in self.setting.kinds)], rows)


def text(summary):
    """`96 %, 0.97, × 0.86`: at most 5 % slower, median time, losses."""
    if not summary.times:
        return "–"
    losses = "–" if summary.losses is None else f"× {number(summary.losses, 2)}"
    return f"{number(100 * (1 - summary.slower(0.05)), 0)} %, {number(summary.quantile(0.5), 2)}, {losses}"


def versus(summary):
    """`0.97, × 0.30`: median time and losses relative to uncoupled; in bold where it is slower."""
    if not summary.times:
        return "–"
    time = summary.quantile(0.5)
    shown = number(time, 2)
    losses = "–" if summary.losses is None else f"× {number(summary.losses, 2)}"
    return f"{f'**{shown}**' if time > LIMIT else shown}, {losses}"


def overview(measured):
    """`convoy` relative to uncoupled in each setting."""
    rows = []
    for each in measured:
        kinds = each.setting.kinds
        cells = [versus(each.summary(kind, "convoy", UNCOUPLED)) if kind in kinds else "–" for kind in KINDS]
        rows.append([each.setting.title, *cells])
    return table(["", *KINDS.values()], rows)


def slower(measured):
    """Share of the cells in which `convoy` is more than 5 % slower than uncoupled, and in which it is as much faster."""
    rows = []
    for each in measured:
        cells = []
        for kind in KINDS:
            times = each.summary(kind, "convoy", UNCOUPLED).times if kind in each.setting.kinds else []
            slow, fast = (sum(flags) for flags in ((t > 1.05 for t in times), (t < 1 / 1.05 for t in times)))
            cells.append(
                f"{number(100 * slow / len(times), 0)} %, {number(100 * fast / len(times), 0)} %" if times else "–"
            )
        rows.append([each.setting.title, *cells])
    return table(["", *KINDS.values()], rows)


def others(measured):
    """The connections beside the transfer, relative to what they have beside one TCP: median and mean over the cells."""
    rows = []
    for each in (each for each in measured if each.setting.beside):
        for algorithm in (ONE, *ALGORITHMS):
            cells = []
            for kind in each.setting.kinds:
                values = each.others(kind, algorithm)
                middle = (statistics.median(values), statistics.fmean(values)) if values else ()
                cells.append(", ".join(number(value, 2) for value in middle) or "–")
            name = NAMES.get(algorithm, f"`{algorithm}`")
            rows.append([f"{each.setting.title}, {each.setting.beside}", name, *cells])
    return table(["", "", *KINDS.values()], rows)


def worst(measured):
    """The slowest cell of `convoy` relative to uncoupled, in each setting and class."""
    rows = []
    for each in measured:
        for kind in each.setting.kinds:
            for cell, time, more in each.summary(kind, "convoy", UNCOUPLED).worst(1):
                rows.append([each.setting.title, cell.name, cell.about(), number(time, 2), number(more, 1)])
    header = ["", "", "cell", "relative time", "losses beyond"]
    return table(header, rows or [["–"] * len(header)], "l")


def figures(experiment, measured):
    """Distributions of times, a panel for each setting."""
    for kind, name, title in (
        ("shared 2", "shared", "Two subflows over one bottleneck, relative to one TCP"),
        ("unequal", "separate", "Two unequal paths, relative to uncoupled"),
    ):
        panels = []
        for each in (each for each in measured if kind in each.setting.kinds):
            names = [name for name in DRAWN_LINES if each.summary(kind, name).times]
            panels.append(
                (each.setting.title, {NAMES.get(name, name): each.summary(kind, name).times for name in names})
            )
        plot = experiment.options.root / f"docs/img/starting-{name}.svg"
        plot.parent.mkdir(parents=True, exist_ok=True)
        plot.write_text(svg(title, panels))


def wider(experiment):
    """The tables and figures, with the cells that no rule was tuned with."""
    changes = [[setting.title, setting.changes] for setting in SETTINGS]
    experiment.fill(PAGE, "settings", table(["", "what is different"], changes, "l"))
    measured = []
    for setting in SETTINGS:
        measured.append(Measured(experiment, setting, JUDGING))
        experiment.fill(PAGE, setting.name, measured[-1].table())
    experiment.fill(PAGE, "overview", overview(measured))
    experiment.fill(PAGE, "slower", slower(measured))
    experiment.fill(PAGE, "others", others(measured))
    experiment.fill(PAGE, "worst", worst(measured))
    figures(experiment, measured)


def wider_tuning(experiment):
    """The overview with the other half of the cells, on the terminal."""
    measured = [Measured(experiment, setting, TUNING) for setting in SETTINGS]
    print(overview(measured), slower(measured), others(measured), worst(measured), sep="\n\n")


# Queues of the networks of SHARES: keys beside its DropTail queue.
QUEUES = {
    "DropTail": {},
    "DropTail, jitter of 1 ms": {"topology.jitter": "1ms"},
    "RED": {"topology.queue": '{ kind = "red" }'},
    "CoDel": {"topology.queue": '{ kind = "codel" }'},
    "PIE": {"topology.queue": '{ kind = "pie" }'},
}


def queues(experiment):
    """Share of `convoy` beside one TCP with CUBIC, 300 s, behind each kind of queue: over the networks of SHARES."""
    rows = []
    for title, changes in QUEUES.items():
        for assigned in (False, True):
            cells, means = [], []
            for subflows in (2, 4, 8):
                group = {"connection.1.groups": str([1] * subflows)} if assigned else {}
                found = []
                for rate, rtt, queue in SHARES.values():
                    keys = {"topology.rate": rate, "topology.rtt": rtt, "topology.queue": queue} | changes | group
                    vary = {"connection.1.subflows": str(subflows)}
                    rows_of = experiment.rows("shares.toml", vary, 10, keys, ["convoy"], ["share"])
                    mine = [row["share"] for row in rows_of if row["connection"] == "download"]
                    found.append(statistics.fmean(mine))
                means += found
                cells.append(
                    f"{number(statistics.fmean(found), 2)}, {number(min(found), 2)} to {number(max(found), 2)}"
                )
            near, far = (sum(low <= each <= high for each in means) for low, high in ((0.45, 0.55), (0.42, 0.58)))
            rows.append([title, "assigned" if assigned else "evidence", *cells, near, len(means) - far])
    header = ["", "", "2 subflows", "4", "8", "within 0.45 to 0.55", "beyond 0.42 to 0.58"]
    experiment.fill(PAGE, "queues", table(header, rows))


def shares(experiment):
    """Share of the goodput of a download beside one TCP with CUBIC, 300 s."""
    rows = []
    algorithms = ["convoy", UNCOUPLED, "lia"]
    for title, (rate, rtt, queue) in SHARES.items():
        keys = {"topology.rate": rate, "topology.rtt": rtt, "topology.queue": queue}
        found = experiment.rows("shares.toml", {"connection.1.subflows": "2,4,8"}, 10, keys, algorithms, ["share"])
        for algorithm in algorithms:
            cells = []
            for subflows in (2, 4, 8):
                mine = (algorithm, subflows, "download")
                values = [row["share"] for row in found if key(row) == mine]
                cells.append(Mean.of(values).interval(2))
            rows.append([title, NAMES.get(algorithm, f"`{algorithm}`"), *cells])
    experiment.fill(PAGE, "shares", table(["", "", "2 subflows", "4", "8"], rows))


def key(row):
    """Algorithm, number of subflows and connection of a row."""
    return row["algorithm"], int(row["connection.1.subflows"]), row["connection"]
