"""Shared bottleneck detection by the statistics of RFC 8382, in integers.

Each flow has the summary statistics of its delays: skewness (section 3.2.2), variability (3.2.3), oscillation (3.2.4) and loss (3.2.5),
with the weights of section 4.1 and without the noise of flows that cross no bottleneck (4.2). `groups` is the algorithm of section 3.3.1.

A delay is a one-way delay or a round-trip time: only differences count. All values are integers that fit 64 bits, so that a kernel could
compute them: delays in microseconds, means of delays in Q8 (a mean must be more precise than a sample, section 3.2.2), shares in Q16.
A kernel would count samples below and above the mean as they arrive; here an interval is a list.
"""

from bisect import bisect_left, bisect_right
from collections import deque
from dataclasses import dataclass
from itertools import pairwise

T = 0.35  # s: base interval. This and the next eight: section 2.2
N = 50  # intervals of oscillation and loss
M = 30  # intervals of mean, skewness and variability
F = 20  # of these, the latest with full weight
ONE = 1 << 16  # a share of 1
C_S = ONE // 10  # skewness below which a flow crosses a bottleneck
C_H = 3 * ONE // 10  # the same for a flow that crossed one in the interval before
P_F = ONE // 10  # difference of two oscillations
P_S = 15 * ONE // 100  # difference of two skewnesses
P_MAD, P_D = 10, 10  # divisors: a tenth of the larger variability, of the larger loss
P_V = (7, 10)  # part of the variability by which a mean must pass the long-term mean
P_L = (
    ONE // 10
)  # loss above which a flow crosses a bottleneck; section 2.2 has no value, kernels with MPTCP-SBD have this one
WAIT = 2 * M  # intervals before the first decision that section 3.3.2 recommends
MEAN_SHIFT = 8


class Weighted:
    """A sum over the latest M intervals: the latest F count M − F + 1 times, the ones before M − F times, then once less each (4.1.1)."""

    def __init__(self):
        self.latest = deque([0] * M, M)  # the latest first
        self.flat = self.declining = self.rest = 0

    def add(self, value):
        """Adds the value of an interval."""
        leaves, oldest = self.latest[F - 1], self.latest[M - 1]
        self.declining += (M - F) * leaves - self.rest
        self.rest += leaves - oldest
        self.flat += value - leaves
        self.latest.appendleft(value)

    @property
    def sum(self):
        """The weighted sum."""
        return (M - F + 1) * self.flat + self.declining


class Flow:
    """The summary statistics of a flow."""

    def __init__(self):
        self.means = deque(maxlen=M)  # E_T, Q8
        self.skew, self.samples = Weighted(), Weighted()
        self.variability, self.varied = Weighted(), Weighted()
        self.crossings = 0  # a bit for each of the latest N intervals, the latest is bit 0
        self.side = 0  # of the latest significant mean: 1 above, −1 below
        self.lost, self.sent = deque(maxlen=N), deque(maxlen=N)
        self.has_bottleneck = False
        self.intervals = 0

    @property
    def mean_delay(self):
        """The long-term mean, Q8 µs; none before the first interval."""
        return sum(self.means) // len(self.means) if self.means else None

    @property
    def skew_est(self):
        """Skewness, Q16: positive where most delays are below the mean."""
        return ONE * self.skew.sum // self.samples.sum if self.samples.sum else 0

    @property
    def var_est(self):
        """Mean absolute deviation, Q8 µs."""
        return self.variability.sum // self.varied.sum if self.varied.sum else 0

    @property
    def freq_est(self):
        """Significant crossings of the mean for each interval, Q16."""
        return ONE * self.crossings.bit_count() // N

    @property
    def pkt_loss(self):
        """Share of the packets that were lost, Q16."""
        sent = sum(self.sent)
        return ONE * sum(self.lost) // sent if sent else 0

    def add(self, delays, lost=0, sent=0):
        """Ends an interval with these delays, µs. `sent`: packets, of which `lost` were lost."""
        self.intervals += 1
        self.lost.append(lost)
        self.sent.append(sent)
        mean, latest = self.mean_delay, self.means[-1] if self.means else None
        self.crossings = self.crossings << 1 & (1 << N) - 1
        if not delays:
            for each in (self.skew, self.samples, self.variability, self.varied):
                each.add(0)
            return
        delays = sorted(delays)
        now = (sum(delays) << MEAN_SHIFT) // len(delays)
        if mean is not None:
            below = bisect_left(delays, -(-mean >> MEAN_SHIFT))
            above = len(delays) - bisect_right(delays, mean >> MEAN_SHIFT)
            self.skew.add(below - above)
            self.samples.add(len(delays))
            had = self.has_bottleneck
            limit = C_H if had else C_S
            self.has_bottleneck = self.skew_est < limit or self.pkt_loss > P_L
            deviation = absolute_deviation(delays, latest)
            self.variability.add(deviation if self.has_bottleneck else 0)
            self.varied.add(len(delays) if self.has_bottleneck else 0)
            self.cross(now, mean)
        self.means.append(now)

    def cross(self, now, mean):
        """Records whether the mean of an interval crosses the long-term mean significantly."""
        away = self.var_est * P_V[0] // P_V[1]
        side = (now > mean + away) - (now < mean - away)
        if side and side != self.side:
            self.crossings |= self.has_bottleneck and self.side != 0
            self.side = side


def absolute_deviation(delays, mean):
    """Sum of |delay − mean| over sorted delays in µs, Q8."""
    below = bisect_left(delays, -(-mean >> MEAN_SHIFT))
    low = sum(delays[:below])
    high = sum(delays) - low
    return (below * mean - (low << MEAN_SHIFT)) + ((high << MEAN_SHIFT) - (len(delays) - below) * mean)


def split(flows, value, near):
    """Divides flows where two values that are next to each other, highest first, are not near."""
    flows = sorted(flows, key=value, reverse=True)
    parts = [flows[:1]]
    for flow, other in pairwise(flows):
        if near(value(flow), value(other)):
            parts[-1].append(other)
        else:
            parts.append([other])
    return parts


@dataclass(frozen=True)
class Measures:
    """The statistics of a flow at the end of an interval."""

    flow: int
    has_bottleneck: bool
    freq: int
    var: int
    skew: int
    loss: int

    @staticmethod
    def of(number, flow):
        """Those of this flow."""
        return Measures(number, flow.has_bottleneck, flow.freq_est, flow.var_est, flow.skew_est, flow.pkt_loss)


def groups(measures):
    """Groups of flows that share a bottleneck: sets of their numbers. Flows without a bottleneck are in none (section 3.3.1)."""
    found = [[each for each in measures if each.has_bottleneck]]
    steps = [
        (lambda each: each.freq, lambda high, low: high - low < P_F),
        (lambda each: each.var, lambda high, low: (high - low) * P_MAD < high or high == low),
        (lambda each: each.skew, lambda high, low: high - low < P_S),
    ]
    for value, near in steps:
        found = [part for group in found if group for part in split(group, value, near)]
    parts = []
    for group in found:
        if group and max(each.loss for each in group) > P_L:
            parts += split(group, lambda each: each.loss, lambda high, low: (high - low) * P_D < high or high == low)
        else:
            parts.append(group)
    return [{each.flow for each in part} for part in parts if part]
