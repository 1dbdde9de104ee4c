"""Cells of the experiment: a draw of networks and transfers, and what an algorithm does in them.

A cell has a rate, an RTT, a queue and a size, each uniform in its logarithm. The seed of the draw keeps two halves apart: a rule is
tuned with the cells of one and judged with those of the other.
"""

import functools
import math
import random
import statistics
from dataclasses import dataclass

PACKET = 1500  # bytes
RATE = (1.5e6, 1e9)  # bit/s
RTT = (0.008, 0.25)  # s
QUEUE = (0.2, 2.5)  # bandwidth-delay products
SIZE = (30e3, 15e6)  # bytes
SECOND_RATE = (0.15, 1)  # of the second path, relative to the first
SECOND_RTT = (0.4, 2.5)
LEAST_PIPE = 15  # packets of path and queue for each subflow
BUFFER = 8  # receive buffer, relative to all paths and queues
LARGEST_BUFFER = 1 << 30  # bytes: the largest receive window of TCP (RFC 7323)

CLASSES = {
    "shared 2": "one bottleneck, two subflows",
    "shared 4": "one bottleneck, four subflows",
    "equal": "two equal paths",
    "unequal": "two unequal paths",
}
TUNING, JUDGING = 1, 4  # seeds of the draws; 2 and 3 were looked at while rules were made


@dataclass(frozen=True)
class Cell:
    """A network and a transfer. `rate`, `rtt` and `queue` have a value for each bottleneck."""

    kind: str
    number: int
    rate: tuple
    rtt: tuple
    queue: tuple
    size: int

    @property
    def name(self):
        """Name in the tables."""
        return f"{self.kind} {self.number}"

    @property
    def is_shared(self):
        """Whether all subflows cross one bottleneck."""
        return self.kind.startswith("shared")

    @property
    def subflows(self):
        """Number of subflows."""
        return int(self.kind[-1]) if self.is_shared else 2

    @property
    def pipes(self):
        """Packets of path and queue, of each bottleneck."""
        return [rate * rtt / 8 / PACKET + queue for rate, rtt, queue in zip(self.rate, self.rtt, self.queue)]

    @property
    def least_pipe(self):
        """Packets of path and queue for each subflow, at the least."""
        return min(self.pipes) / (self.subflows if self.is_shared else 1)

    def point(self):
        """Its keys for `lisa sweep --points`."""

        def values(texts):
            texts = list(texts)
            return texts[0] if len(texts) == 1 else "[" + ",".join(texts) + "]"

        return {
            "title": self.name,
            "topology.rate": values(f'"{rate:.0f}bit"' for rate in self.rate),
            "topology.rtt": values(f'"{rtt * 1e6:.0f}us"' for rtt in self.rtt),
            "topology.queue": values(map(str, self.queue)),
            "connection.1.bytes": self.size,
            "connection.1.receive_window": min(round(BUFFER * PACKET * sum(self.pipes)), LARGEST_BUFFER),
        }

    def about(self):
        """Rates, RTTs, queues and size as text."""

        def list_of(texts):
            return " and ".join(dict.fromkeys(texts))

        bdps = [rate * rtt / 8 / PACKET for rate, rtt in zip(self.rate, self.rtt)]
        return ", ".join(
            (
                list_of(f"{rate / 1e6:.3g}" for rate in self.rate) + " Mbit/s",
                list_of(f"{rtt * 1e3:.0f}" for rtt in self.rtt) + " ms",
                list_of(f"{queue}" for queue in self.queue)
                + f" packets ({list_of(f'{queue / bdp:.1f}' for queue, bdp in zip(self.queue, bdps))} BDP)",
                f"{self.size / 1e6:.2g} MB",
            )
        )


def log_uniform(source, bounds):
    """A number within the bounds, uniform in its logarithm."""
    return math.exp(math.log(bounds[0]) + source.random() * math.log(bounds[1] / bounds[0]))


def draw(seed, count):
    """`count` cells of each class, without those that have small pipes; equal on every machine."""
    return [cell for cell in draw_all(seed, count) if cell.least_pipe >= LEAST_PIPE]


def draw_all(seed, count):
    """`count` cells of each class, those with small pipes included."""
    cells = []
    for kind in CLASSES:
        uniform = functools.partial(log_uniform, random.Random(f"{seed} {kind}"))
        for number in range(1, count + 1):
            rate, rtt, queue, size = uniform(RATE), uniform(RTT), uniform(QUEUE), round(uniform(SIZE))
            rates, rtts = [rate], [rtt]
            if kind == "equal":
                rates, rtts = [rate] * 2, [rtt] * 2
            if kind == "unequal":
                rates, rtts = [rate, rate * uniform(SECOND_RATE)], [rtt, rtt * uniform(SECOND_RTT)]
            queues = tuple(max(1, round(queue * a * b / 8 / PACKET)) for a, b in zip(rates, rtts))
            cells.append(Cell(kind, number, tuple(rates), tuple(rtts), queues, size))
    return cells


@dataclass(frozen=True)
class Result:
    """What an algorithm did in a cell: means over the seeds."""

    seconds: float  # infinite if a transfer did not end
    losses: float
    early: float = 0  # losses before slow start ended
    others: float | None = None  # of connections beside it: mean completion time; goodput in Mbit/s if endless


TCP, ONE = "tcp", "one subflow"
"""One TCP CUBIC flow, and MPTCP with one subflow, on the first path: the faster one."""


METRICS = ["completion_s", "retransmits", "retransmits_slow_start", "goodput_mbps"]


def run(experiment, cells, algorithms, seeds, setting, on="sim"):
    """Results by algorithm, or TCP or ONE, and by the name of the cell."""
    results = {algorithm: {} for algorithm in algorithms}
    for shared, file in zip((True, False), setting.files):
        chosen = [cell for cell in cells if cell.is_shared == shared]
        points = {True: [setting.point(cell) for cell in chosen]}
        points[False] = [point | {"connection.1.subflows": cell.subflows} for cell, point in zip(chosen, points[True])]
        one = {"connection.1.subflows": 1} | ({} if shared else setting.first_path[1])
        tcp = {"connection.1.protocol": "tcp", "connection.1.subflows": ""}
        tcp |= {} if shared else setting.first_path[0]
        several = [algorithm for algorithm in algorithms if algorithm not in (TCP, ONE)]
        runs = [(TCP, tcp, True, None), (ONE, one, True, None), (None, setting.several, False, several)]
        for name, keys, single, names in runs:
            if (name and name not in algorithms) or (not name and not names) or not chosen:
                continue
            rows = experiment.points(file, points[single], seeds, setting.keys | keys, names, METRICS, on)
            found = {}
            for row in rows:
                found.setdefault((name or row["algorithm"], row["title"]), []).append(row)
            for (algorithm, cell), each in found.items():
                results[algorithm][cell] = result(each)
    return results


def result(rows):
    """What the rows of all seeds and connections say of the download, and of those beside it."""
    downloads = [row for row in rows if row["connection"] == "download"]
    others = [row for row in rows if row["connection"] != "download"]
    times = [math.inf if row["completion_s"] is None else row["completion_s"] for row in downloads]
    losses = statistics.fmean(row["retransmits"] for row in downloads)
    early = statistics.fmean(row["retransmits_slow_start"] or 0 for row in downloads)
    beside = [row["completion_s"] or row["goodput_mbps"] for row in others]
    known = [value for value in beside if value is not None]
    return Result(statistics.fmean(times), losses, early, statistics.fmean(known) if known else None)


@dataclass(frozen=True)
class Summary:
    """An algorithm over the cells of a class, relative to a baseline."""

    cells: list  # of those with a result
    times: list  # relative to the baseline's, in the order of `cells`
    more: list  # losses beyond the baseline's
    early: list  # … before slow start ended
    seconds_more: list  # seconds beyond the baseline's
    losses: float | None  # sum over the cells, relative to the baseline's

    @staticmethod
    def of(cells, results, baseline):
        """Compares the results of an algorithm with those of the baseline, in the cells where its transfers ended."""
        cells = [cell for cell in cells if math.isfinite(baseline[cell.name].seconds)]
        pairs = [(results[cell.name], baseline[cell.name]) for cell in cells]
        sums = [sum(result.losses for result in each) for each in zip(*pairs)] or [0, 0]
        return Summary(
            cells,
            [mine.seconds / other.seconds for mine, other in pairs],
            [mine.losses - other.losses for mine, other in pairs],
            [mine.early - other.early for mine, other in pairs],
            [mine.seconds - other.seconds for mine, other in pairs],
            sums[0] / sums[1] if sums[1] else None,
        )

    def slower(self, limit):
        """Share of the cells that are more than `limit` slower."""
        return share(time > 1 + limit for time in self.times)

    def polite(self):
        """Share of the cells with at most half a loss more."""
        return share(more <= 0.5 for more in self.more)

    def quantile(self, at):
        """Quantile of the relative times."""
        times = sorted(self.times)
        return times[min(int(at * len(times)), len(times) - 1)] if times else None

    def worst(self, count):
        """The slowest cells: the cell, its relative time, and its losses beyond the baseline's."""
        order = sorted(range(len(self.cells)), key=lambda i: -self.times[i])[:count]
        return [(self.cells[i], self.times[i], self.more[i]) for i in order]


def share(flags):
    """Share of true ones; none of nothing."""
    flags = list(flags)
    return sum(flags) / len(flags) if flags else None
