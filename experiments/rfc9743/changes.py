"""Sudden changes of a path: its rate, its RTT, its failure and return."""

import statistics
import tempfile
from pathlib import Path

from rfc9743.subjects import COLOURS, PACKET_BITS, SUBJECTS, TCP, keys_of, plain, series
from support.chart import chart
from support.experiment import table

PAGE = "docs/rfc9743.md"
SEEDS = 5
BEGIN, END, STOP = 20, 40, 60  # s: the change, its end, the end of the run
FROM = 10  # s, start of the figures
LATER = 100  # s, the end of a run with a failure that does not end
HIGH, LOW = 20e6, 5e6  # bit/s
OPPORTUNITY = 1500 * 8  # bits, of a line of a recorded rate
BACK = 0.9  # of the goodput before the change


def trace(path):
    """Writes a recorded rate of HIGH, LOW from BEGIN to END, and HIGH again until STOP."""
    lines, due = [], 0.0
    for ms in range(1, 1000 * STOP):
        due += (LOW if 1000 * BEGIN <= ms < 1000 * END else HIGH) / 1000 / OPPORTUNITY
        lines += [f"{ms}\n"] * int(due)
        due -= int(due)
    path.write_text("".join(lines) + f"{1000 * STOP}\n")


class Run:
    """The time series of one seed, added over the subflows of the download."""

    def __init__(self, rows, seed, interval):
        self.interval = interval
        self.goodput, self.retransmits, self.queue, self.drops = {}, {}, {}, {}
        for row in (row for row in rows if row["seed"] == seed):
            at = round(float(row["time_s"]) / interval)
            if row["kind"] == "subflow" and row["connection"] == "download":
                self.goodput[at] = self.goodput.get(at, 0) + float(row["goodput_mbps"] or 0)
                self.retransmits[at] = self.retransmits.get(at, 0) + int(row["retransmits"] or 0)
            elif (row["link"] or "").endswith("down") and row["queue_mean_packets"]:
                self.queue[at] = max(self.queue.get(at, 0), float(row["queue_mean_packets"]))
                self.drops[at] = self.drops.get(at, 0) + int(row["drops"])

    def between(self, values, begin, end):
        """Values from `begin` to `end`, in seconds."""
        return [values.get(i, 0) for i in range(round(begin / self.interval) + 1, round(end / self.interval) + 1)]

    def mean(self, values, begin, end):
        """Their mean."""
        return statistics.fmean(self.between(values, begin, end))

    def until(self, at, level):
        """Time from `at` on until the goodput of a second is `level`; none if it never is."""
        step = round(1 / self.interval)
        for i, _ in enumerate(self.between(self.goodput, at, STOP - 1)):
            first = round(at / self.interval) + 1 + i
            if statistics.fmean(self.goodput.get(first + j, 0) for j in range(step)) >= level:
                return (first + step - 1) * self.interval - at
        return None


def runs(experiment, file, keys):
    """A run for each seed."""
    found = series(experiment, file, SEEDS, keys | {"stop": f"{STOP}s", "warmup": "0s"}, "100ms")
    return [Run(found, seed, 0.1) for seed in sorted({row["seed"] for row in found})]


def times(values):
    """Median of times, of which none are longer than the run."""
    values = sorted(float("inf") if value is None else value for value in values)
    middle = values[len(values) // 2]
    return f"{middle:.1f} s" if middle < STOP else "–"


def line(found):
    """Mean goodput over time, in steps of half a second."""
    length = min(max(run.goodput, default=0) for run in found)
    points = []
    for i in range(10 * FROM, length + 1, 5):
        points.append((i / 10, statistics.fmean(run.mean(run.goodput, i / 10 - 0.5, i / 10) for run in found)))
    return points


def changes(experiment):
    """The tables, and the figure of goodput over time."""
    panels = [
        ("the rate falls to 5 Mbit/s and rises again", rate(experiment)),
        ("the RTT grows from 40 to 120 ms and falls again", detour(experiment)),
    ]
    panels += failure(experiment)
    chart(
        experiment.options.root / "docs/img/rfc9743-changes.svg",
        f"Goodput while a path changes from {BEGIN} to {END} s",
        panels,
        ("time, s", (FROM, STOP)),
        ("Mbit/s, mean of five runs", (0, 40)),
        COLOURS,
    )


def rate(experiment):
    """The rate of one bottleneck falls to a quarter, and rises again."""
    rows, lines = [], {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "step.up"
        trace(file)
        for subject in SUBJECTS:
            keys = keys_of(subject) | {"topology.rate": f'{{ trace = "{file}" }}'}
            found = runs(experiment, "alone.toml", keys)
            lines[subject.strip("`")] = line(found)
            delay = (1e3 * run.mean(run.queue, BEGIN, BEGIN + 2) * PACKET_BITS / LOW for run in found)
            drops = (sum(run.between(run.drops, BEGIN, BEGIN + 5)) for run in found)
            used = (run.mean(run.goodput, END, END + 5) / HIGH * 1e6 for run in found)
            again = (run.until(END, BACK * run.mean(run.goodput, 10, BEGIN)) for run in found)
            rows.append([subject, f"{plain(delay, 0)} ms", plain(drops, 0), f"{plain(used, 0, 100)} %", times(again)])
    header = ["", "queue in the 2 s after the fall", "drops in 5 s", "goodput in the 5 s after the rise", "90 % after"]
    experiment.fill(PAGE, "rate", table(header, rows))
    return lines


def detour(experiment):
    """The RTT of one bottleneck grows to three times its value, and falls again."""
    rows, lines = [], {}
    for subject in SUBJECTS:
        keys = keys_of(subject) | {"topology.detour": f'{{ from = "{BEGIN}s", to = "{END}s", delay = "40ms" }}'}
        found = runs(experiment, "alone.toml", keys)
        lines[subject.strip("`")] = line(found)
        cells = []
        for at in (BEGIN, END):
            used = (run.mean(run.goodput, at, at + 5) / HIGH * 1e6 for run in found)
            sent = (sum(run.between(run.retransmits, at, at + 2)) for run in found)
            cells += [f"{plain(used, 0, 100)} %", plain(sent, 0)]
        rows.append([subject, *cells])
    header = [
        "",
        "goodput in the 5 s after the rise",
        "retransmits in 2 s",
        "goodput in the 5 s after the fall",
        "retransmits in 2 s",
    ]
    experiment.fill(PAGE, "detour", table(header, rows))
    return lines


def failure(experiment):
    """One of two paths fails, and returns; and what a rival at the other path has meanwhile."""
    rows, panels = [], []
    for failing in (1, 2):
        down = f'{{ from = "{BEGIN}s", to = "{END}s" }}'
        outage = {"topology.down": f"[{down}, []]" if failing == 1 else f"[[], {down}]"}
        lines = {}
        for subject in SUBJECTS:
            keys = keys_of(subject) | ({"connection.download.path": 1} if subject == TCP else {}) | outage
            found = runs(experiment, "separate.toml", keys)
            lines[subject.strip("`")] = line(found)
            used = (run.mean(run.goodput, BEGIN, BEGIN + 5) for run in found)
            later = (run.mean(run.goodput, BEGIN + 5, END) for run in found)
            again = (run.until(END, BACK * run.mean(run.goodput, 10, BEGIN)) for run in found)
            rows.append(
                [
                    f"path {failing} fails",
                    subject,
                    plain(used, 1),
                    plain(later, 1),
                    times(again),
                ]
            )
        panels.append((f"path {failing} of two fails and returns", lines))
    header = [
        "",
        "",
        "Mbit/s in 5 s after the failure",
        "from then to the return",
        "90 % after",
    ]
    experiment.fill(PAGE, "failure", table(header, rows))
    return panels


def failover(experiment):
    """A rival at the second path, before and after the first path of the download fails."""
    rows = []
    for subject in SUBJECTS[1:]:
        keys = keys_of(subject) | {"topology.down": f'[{{ from = "{BEGIN}s" }}, []]', "stop": f"{LATER}s"}
        found = series(experiment, "failover.toml", 10, keys)
        before, after, least = [], [], []
        for seed in sorted({row["seed"] for row in found}):
            values = {
                round(float(row["time_s"])): float(row["goodput_mbps"] or 0)
                for row in found
                if row["seed"] == seed and row["connection"] == "rival"
            }
            pick = [
                [value for at, value in values.items() if begin < at <= end] or [0]
                for begin, end in ((10, BEGIN), (BEGIN, LATER))
            ]
            before.append(statistics.fmean(pick[0]))
            after.append(statistics.fmean(pick[1]))
            least.append(min(pick[1]))
        rows.append([subject, plain(before, 1), plain(after, 1), plain(least, 1)])
    header = ["beside", "goodput before the failure", "after", "in the worst second after"]
    experiment.fill(PAGE, "failover", table(header, rows))


PARTS = (changes, failover)
