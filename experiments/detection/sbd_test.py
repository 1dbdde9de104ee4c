"""The integer statistics of sbd.py against the definitions of RFC 8382 in floating point: `python3 -m unittest detection/sbd_test.py`."""

import random
import statistics
import sys
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from detection.sbd import C_H, C_S, MEAN_SHIFT, ONE, P_L, F, Flow, M, Measures, N, Weighted, groups


class Plain:
    """A flow that keeps all delays, with the formulas of sections 3.2, 4.1.1, 4.1.2 and 4.2 as they stand there."""

    def __init__(self):
        self.intervals = []  # delays, mean_delay, E_T of the interval before, whether it has a bottleneck
        self.means, self.flags, self.var = [], [], 0.0
        self.sides, self.crossings = [], []
        self.skew_est, self.has_bottleneck = 0.0, False

    @staticmethod
    def weights(values):
        """Weights of the latest intervals, the latest first."""
        return [M - F + 1 if i < F else M - i for i, _ in zip(range(M), values)]

    def ratio(self, numerators, counts):
        """Weighted sum of the numerators over that of the counts."""
        numerators, counts = numerators[::-1][:M], counts[::-1][:M]
        weights = self.weights(counts)
        below = sum(w * c for w, c in zip(weights, counts))
        return sum(w * n for w, n in zip(weights, numerators)) / below if below else 0.0

    def add(self, delays):
        now = statistics.fmean(delays)
        if self.means:
            mean = statistics.fmean(self.means[-M:])
            base = sum((x < mean) - (x > mean) for x in delays)
            self.intervals.append((base, sum(abs(x - self.means[-1]) for x in delays), len(delays)))
            self.skew_est = self.ratio([each[0] for each in self.intervals], [each[2] for each in self.intervals])
            self.has_bottleneck = self.skew_est < (0.3 if self.has_bottleneck else 0.1)
            self.flags.append(self.has_bottleneck)
            kept = [each if flag else (0, 0, 0) for each, flag in zip(self.intervals, self.flags)]
            self.var = self.ratio([each[1] for each in kept], [each[2] for each in kept])
            away = 0.7 * self.var
            side = 1 if now > mean + away else -1 if now < mean - away else 0
            last = self.sides[-1] if self.sides else 0
            self.crossings.append(bool(side and last and side != last and self.has_bottleneck))
            if side:
                self.sides.append(side)
        self.means.append(now)


def series(seed, intervals):
    """Delays of a queue that fills and empties, µs, with few or many samples in an interval."""
    source = random.Random(seed)
    period, depth, noise = source.uniform(3, 30), source.uniform(1e3, 2e5), source.uniform(1, 5e3)
    for i in range(intervals):
        level = 20e3 + depth * (i / period % 1) ** source.choice((0.3, 1, 3))
        yield [round(level + source.expovariate(1 / noise)) for _ in range(source.randint(1, 60))]


class Statistics(unittest.TestCase):
    def test_weights(self):
        """The incremental sum of section 4.1.1 is the weighted sum."""
        source, weighted, values = random.Random(1), Weighted(), []
        for _ in range(200):
            values.append(source.randint(-1000, 1000))
            weighted.add(values[-1])
            latest = values[::-1][:M]
            plain = sum(w * v for w, v in zip(Plain.weights(latest), latest))
            self.assertEqual(weighted.sum, plain)

    def test_definitions(self):
        """Skewness within 0.002, variability within 0.1 % and 0.1 µs, oscillation within one crossing."""
        for seed in range(40):
            flow, plain = Flow(), Plain()
            for delays in series(seed, 150):
                flow.add(delays)
                plain.add(delays)
                self.assertAlmostEqual(flow.skew_est / ONE, plain.skew_est, delta=0.002)
                self.assertEqual(flow.has_bottleneck, plain.has_bottleneck)
                var = flow.var_est / (1 << MEAN_SHIFT)
                self.assertAlmostEqual(var, plain.var, delta=0.001 * plain.var + 0.1)
                crossings = sum(plain.crossings[-N:])
                self.assertAlmostEqual(flow.freq_est / ONE * N, crossings, delta=1.01)

    def test_skew_sign(self):
        """Most samples below the mean: positive. A sample equal to the mean does not count."""
        flow = Flow()
        flow.add([100] * 10)
        flow.add([90] * 8 + [100] * 2)
        self.assertEqual(flow.skew_est, ONE * 8 // 10)
        self.assertFalse(flow.has_bottleneck)
        flow = Flow()
        flow.add([100] * 10)
        flow.add([110] * 8 + [100] * 2)
        self.assertEqual(flow.skew_est, -ONE * 8 // 10)
        self.assertTrue(flow.has_bottleneck)

    def test_variability(self):
        """|110 − 100| and |80 − 100| of the mean of the interval before."""
        flow = Flow()
        flow.add([100])
        flow.add([110, 110, 110, 80])
        self.assertEqual(flow.var_est, ((10 + 10 + 10 + 20) << MEAN_SHIFT) // 4)

    def test_hysteresis(self):
        """A flow with a bottleneck keeps it up to a skewness of 0.3; another one needs less than 0.1."""
        flow = Flow()
        flow.add([100] * 10)
        flow.add([110] * 10)  # skewness −1
        self.assertTrue(flow.has_bottleneck)
        for share in (60, 90):  # then the skewness rises
            for _ in range(M):
                mean = flow.mean_delay >> MEAN_SHIFT
                flow.add([mean - 10] * share + [mean + 10] * (100 - share))
            self.assertEqual(flow.has_bottleneck, share == 60)
            self.assertEqual(C_S < flow.skew_est < C_H, share == 60)

    def test_loss(self):
        """Loss above 10 % shows a bottleneck whatever the skewness is."""
        flow = Flow()
        flow.add([100] * 10, 0, 100)
        flow.add([90] * 10, 30, 100)
        self.assertGreater(flow.pkt_loss, P_L)
        self.assertTrue(flow.has_bottleneck)

    def test_intervals_without_samples(self):
        flow = Flow()
        for _ in range(3):
            flow.add([])
        self.assertEqual((flow.skew_est, flow.var_est, flow.freq_est, flow.has_bottleneck), (0, 0, 0, False))


class Groups(unittest.TestCase):
    def grouped(self, *measures):
        """Groups of flows with these statistics: freq and skew as shares, var in µs, loss as a share."""
        made = []
        for number, (freq, var, skew, loss) in enumerate(measures):
            made.append(Measures(number, True, int(freq * ONE), var << MEAN_SHIFT, int(skew * ONE), int(loss * ONE)))
        return groups(made)

    def test_each_measure_divides(self):
        same = (0.2, 1000, 0.0, 0.0)
        self.assertEqual(self.grouped(same, same), [{0, 1}])
        self.assertEqual(self.grouped(same, (0.28, 950, 0.14, 0.0)), [{0, 1}])
        self.assertEqual(len(self.grouped(same, (0.32, 1000, 0.0, 0.0))), 2)
        self.assertEqual(len(self.grouped(same, (0.2, 890, 0.0, 0.0))), 2)
        self.assertEqual(len(self.grouped(same, (0.2, 1000, 0.16, 0.0))), 2)
        self.assertEqual(len(self.grouped((0.2, 1000, 0.0, 0.2), (0.2, 1000, 0.0, 0.15))), 2)
        self.assertEqual(self.grouped((0.2, 1000, 0.0, 0.05), (0.2, 1000, 0.0, 0.01)), [{0, 1}])

    def test_two_pairs(self):
        found = self.grouped((0.2, 1000, 0, 0), (0.2, 3000, 0, 0), (0.22, 1040, 0, 0), (0.2, 2900, 0, 0))
        self.assertEqual(sorted(map(sorted, found)), [[0, 2], [1, 3]])

    def test_without_a_bottleneck(self):
        free = Measures(0, False, 0, 0, ONE, 0)
        self.assertEqual(groups([free, free]), [])


if __name__ == "__main__":
    unittest.main()
