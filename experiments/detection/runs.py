"""Networks of the experiment, and who shares a bottleneck in them: the answers of the detectors over time.

The networks are drawn from a seed. Each run has a trace with a row for each ACK: its RTT sample, from which the statistics of RFC 8382
are computed, and the word that coupled CUBIC publishes, which names the subflow that it shares with.
"""

import itertools
import json
import os
import random
import tempfile
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from detection.sbd import ONE, WAIT, Flow, Measures, T, groups
from start.cells import PACKET, log_uniform

RATE = (5e6, 100e6)  # bit/s
RTT = (0.01, 0.15)  # s
QUEUE = (0.3, 2)  # bandwidth-delay products
OTHER_RATE = (0.25, 1)  # of further paths, relative to the first
OTHER_RTT = (0.4, 2.5)
LEAST_PIPE = 15  # packets of path and queue for each subflow
STOP = 60  # s, as in the scenario files
STEP = 0.1  # s between two looks at the answers
PAYLOAD = 1448 * 8e-6  # Mbit of a segment
SEED = 8382

KINDS = {
    "shared 2": "2 subflows",
    "shared 4": "4 subflows",
    "shared tcp": "2 subflows beside a TCP",
    "shared web": "2 subflows beside short transfers",
    "shared jitter": "2 subflows, jitter of 5 ms",
    "equal": "2 equal paths",
    "unequal": "2 unequal paths",
    "separate 4": "4 unequal paths",
    "separate tcp": "2 unequal paths, each beside a TCP",
    "separate web": "2 unequal paths beside short transfers",
    "separate jitter": "2 unequal paths, jitter of 5 ms",
}
# `RECOMMENDED` answers after 2·M intervals, `AT_ONCE` from the second one on. `EITHER` and `BOTH` are those of `EVIDENCE` and `AT_ONCE`.
EVIDENCE, RECOMMENDED, AT_ONCE = "coupled CUBIC", "RFC 8382", "RFC 8382 at once"
EITHER, BOTH = "either", "both"
DETECTORS = (EVIDENCE, RECOMMENDED, AT_ONCE, EITHER, BOTH)


@dataclass(frozen=True)
class Network:
    """A network. `rate`, `rtt` and `queue` have a value for each bottleneck."""

    kind: str
    number: int
    subflows: int
    rate: tuple
    rtt: tuple
    queue: tuple

    @property
    def is_shared(self):
        """Whether all subflows cross one bottleneck."""
        return self.kind.startswith("shared")

    @property
    def file(self):
        """Its scenario."""
        more = {"tcp": "-rival", "web": "-web"}.get(self.kind.split()[-1], "")
        return f"{'shared' if self.is_shared else 'separate'}{more}.toml"

    @property
    def keys(self):
        """Its keys for `--set`."""

        def values(texts):
            texts = list(texts)
            return texts[0].strip('"') if self.is_shared else f"[{','.join(texts)}]"

        keys = {
            "topology.rate": values(f'"{rate:.0f}bit"' for rate in self.rate),
            "topology.rtt": values(f'"{rtt * 1e6:.0f}us"' for rtt in self.rtt),
            "topology.queue": values(map(str, self.queue)),
            "connection.download.subflows": self.subflows,
        }
        if self.kind.endswith("jitter"):
            keys["topology.jitter"] = "5ms"
        if self.kind.endswith("tcp") and self.number % 2 == 0:
            for bottleneck in range(len(self.rate)):
                keys[f"connection.rival {bottleneck + 1}.algorithm"] = "reno"
        return keys

    @property
    def truth(self):
        """Pairs of subflows that share a bottleneck."""
        return set(itertools.combinations(range(self.subflows), 2)) if self.is_shared else set()


def draw(count):
    """`count` networks of each kind."""
    networks = []
    for kind in KINDS:
        source = random.Random(f"{SEED} {kind}")
        number = 0
        while number < count:
            subflows = 4 if kind.endswith("4") else 2
            others = 0 if kind.startswith("shared") else subflows - 1
            rate, rtt, queue = (log_uniform(source, bounds) for bounds in (RATE, RTT, QUEUE))
            rates, rtts = [rate], [rtt]
            for _ in range(others):
                equal = kind == "equal"
                rates.append(rate if equal else rate * log_uniform(source, OTHER_RATE))
                rtts.append(rtt if equal else rtt * log_uniform(source, OTHER_RTT))
            bdps = [a * b / 8 / PACKET for a, b in zip(rates, rtts)]
            queues = tuple(max(1, round(queue * bdp)) for bdp in bdps)
            if min(map(sum, zip(bdps, queues))) < LEAST_PIPE * (1 if others else subflows):
                continue
            number += 1
            networks.append(Network(kind, number, subflows, tuple(rates), tuple(rtts), queues))
    return networks


@dataclass(frozen=True)
class Run:
    """Answers in one run. `right` has for each detector the share of right pairs at each look, the first at `begin`."""

    network: Network
    begin: float  # s: all subflows are established, rounded up to a look
    right: dict
    mbps: float  # goodput of the download
    loss: float  # largest loss of a subflow in N intervals

    def first(self, detector):
        """Time since the start of the transfer until all pairs are right, s; none if that is never so."""
        for i, right in enumerate(self.right[detector]):
            if right == 1:
                return self.begin + i * STEP
        return None

    def wrong(self, detector, after=0.0):
        """Share of the time from `after` on with a wrong answer, of an average pair."""
        looks = self.right[detector][max(0, round((after - self.begin) / STEP)) :]
        return 1 - sum(looks) / len(looks) if looks else 0.0


class Observed:
    """What a trace has of one subflow."""

    def __init__(self, established):
        self.established = established  # s
        self.delays = defaultdict(list)  # RTT samples as texts, by interval
        self.changes = []  # time and the subflow that coupled CUBIC says this one shares with, or none
        self.partner, self.word = None, "0\n"

    def look(self, time, word):
        """The word that coupled CUBIC publishes has changed."""
        self.word = word
        # struct mpcc_coupled_cubic_curve: `shares` and `partner`, a slot. Slots are in the order of the subflows.
        partner = int(word) >> 28 if int(word) >> 27 & 1 else None
        if partner != self.partner:
            self.partner = partner
            self.changes.append((time, partner))


def read(path):
    """The subflows of the download, in the order of their numbers."""
    subflows = {}
    with path.open() as lines:
        for line in lines:
            if ",download," not in line:
                continue
            time, _, number, _, _, _, _, _, rtt, _, word = line.split(",")
            subflow = subflows.get(number)
            if subflow is None:
                subflow = subflows[number] = Observed(float(time))
            if rtt:
                subflow.delays[int(float(time) / T)].append(rtt)
            if word != subflow.word:
                subflow.look(float(time), word)
    return [subflows[number] for number in sorted(subflows, key=int)]


def losses(path):
    """Lost and sent packets of each subflow of the download in each interval."""
    found = {}
    with path.open() as lines:
        columns = next(lines).strip().split(",")
        at = [columns.index(name) for name in ("time_s", "subflow", "goodput_mbps", "retransmits")]
        for line in lines:
            if ",download," not in line:
                continue
            fields = line.strip().split(",")
            time, number, goodput, lost = (float(fields[i]) for i in at)
            found[int(number) - 1, round(time / T) - 1] = (int(lost), round(goodput * T / PAYLOAD) + int(lost))
    return found


def evidence(subflows, times):
    """Pairs that coupled CUBIC couples, at each time: those that are linked, also by others."""
    answers, partner, at = [], [None] * len(subflows), [0] * len(subflows)
    for time in times:
        for i, subflow in enumerate(subflows):
            while at[i] < len(subflow.changes) and subflow.changes[at[i]][0] <= time:
                partner[i] = subflow.changes[at[i]][1]
                at[i] += 1
        linked = [{i} for i in range(len(subflows))]
        for i, other in enumerate(partner):
            if other is not None and other < len(subflows):
                together = linked[i] | linked[other]
                for each in together:
                    linked[each] = together
        answers.append(frozenset(pair for each in linked for pair in itertools.combinations(sorted(each), 2)))
    return answers


@dataclass
class Delays:
    """What RFC 8382 says of a run."""

    answers: list  # at each look: intervals so far, grouped pairs
    loss: int  # largest loss, Q16


def statistics_of_delays(subflows, lost, times):
    """Pairs that RFC 8382 groups, at each time."""
    flows, found = [Flow() for _ in subflows], Delays([], 0)
    now, pairs = 0, frozenset()
    for time in times:
        while (now + 1) * T <= time:
            for i, (subflow, flow) in enumerate(zip(subflows, flows)):
                delays = [int(float(text) * 1e6 + 0.5) for text in subflow.delays.get(now, ())]
                if delays or flow.intervals:
                    flow.add(delays, *lost.get((i, now), (0, 0)))
            measures = [Measures.of(i, flow) for i, flow in enumerate(flows)]
            pairs = frozenset(pair for group in groups(measures) for pair in itertools.combinations(sorted(group), 2))
            found.loss = max([found.loss, *(each.loss for each in measures)])
            now += 1
        found.answers.append((now, pairs))
    return found


def judge(job):
    """The runs of one network, a seed each."""
    experiment, network, seeds = job
    found = []
    stop = min(STOP, experiment.options.seconds or STOP)
    with tempfile.TemporaryDirectory() as folder:
        arguments = experiment.set(network.file, network.keys)
        arguments += ["--seeds", seeds, "--trace", folder, "--trace-format", "csv", "--sample", f"{T * 1e3:.0f}ms"]
        lines = experiment.lisa("run", experiment.folder / network.file, *arguments, "--json").splitlines()
        goodputs = goodput_by_seed(lines)
        for seed in range(1, seeds + 1):
            (series,) = Path(folder).glob(f"*-seed-{seed}.subflows.csv")
            trace = series.with_name(series.name.replace(".subflows.csv", ".csv"))
            subflows = read(trace)
            if len(subflows) < network.subflows:
                continue
            begin = STEP * int(max(subflow.established for subflow in subflows) / STEP + 1)
            times = [begin + STEP * i for i in range(max(0, int((stop - begin) / STEP)) + 1)]
            coupled = evidence(subflows, times)
            delays = statistics_of_delays(subflows, losses(series), times)
            answers = {
                EVIDENCE: coupled,
                RECOMMENDED: [pairs if intervals >= WAIT else frozenset() for intervals, pairs in delays.answers],
                AT_ONCE: [pairs for _, pairs in delays.answers],
                EITHER: [mine | pairs for mine, (_, pairs) in zip(coupled, delays.answers)],
                BOTH: [mine & pairs for mine, (_, pairs) in zip(coupled, delays.answers)],
            }
            pairs, truth = network.subflows * (network.subflows - 1) // 2, network.truth
            right = {name: [1 - len(truth ^ answer) / pairs for answer in each] for name, each in answers.items()}
            found.append(Run(network, begin, right, goodputs[seed], delays.loss / ONE))
    return found


def goodput_by_seed(lines):
    """Goodput of the download, Mbit/s, by seed, from `lisa run --json`."""
    outcomes = [outcome for outcome in map(json.loads, lines) if "connections" in outcome]
    downloads = {each["seed"]: next(c for c in each["connections"] if c["name"] == "download") for each in outcomes}
    return {seed: download["goodput_mbps"] for seed, download in downloads.items()}


def run(experiment, networks, seeds):
    """All runs, on all cores."""
    jobs = [(experiment, network, seeds) for network in networks]
    # The longest first, so that no core waits at the end.
    jobs.sort(key=lambda job: -sum(job[1].rate))
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return [each for found in pool.map(judge, jobs) for each in found]
