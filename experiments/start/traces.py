"""Recorded rates of links that are like Wi-Fi and LTE. They are synthetic: drawn from a seed, and no recording of a real link.

Wi-Fi: a station sends when it gets the medium, after 4 ms on average (exponential), everything that its rate allows since then, so
that packets and ACKs leave in bursts. One access in 200 comes 50 ms late, as after a scan, and that time is lost. LTE: the scheduler
serves the link each millisecond. The rate of both varies around the given one.
"""

import math
import random

OPPORTUNITY = 1500 * 8  # bits
LENGTH = 5000  # ms, then a trace is repeated
ACCESS = 4.0  # mean time between two accesses of Wi-Fi, ms
LATE, SHARE_LATE = 50, 1 / 200  # ms
SPREAD, MEMORY = 0.4, {"wifi": 250.0, "lte": 100.0}  # of the logarithm of the rate: deviation, correlation time in ms


def trace(kind, rate, seed):
    """The text of a mahimahi file with this mean rate."""
    source = random.Random(f"{kind} {rate:.0f} {seed}")
    times, weights = [], []
    now, level = 0, source.gauss(0, SPREAD)
    while now < LENGTH:
        step = 1 if kind == "lte" else max(1, round(source.expovariate(1 / ACCESS)))
        late = LATE if kind == "wifi" and source.random() < SHARE_LATE else 0
        kept = math.exp(-step / MEMORY[kind])
        level = kept * level + math.sqrt(1 - kept * kept) * source.gauss(0, SPREAD)
        now = min(now + late + step, LENGTH)
        times.append(now)
        weights.append(step * math.exp(level))
    each = rate * LENGTH / 1000 / OPPORTUNITY / math.fsum(weights)
    lines, due, given = [], 0.0, 0
    for time, weight in zip(times, weights):
        due += weight * each
        lines += [time] * (round(due) - given)
        given = round(due)
    # The last line is the length of the recording.
    return "".join(f"{line}\n" for line in lines if line < LENGTH) + f"{LENGTH}\n"
