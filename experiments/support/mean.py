"""Means with 95 % confidence intervals, as text for a table."""

import functools
import math
import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Mean:
    """A mean, and the half width of its 95 % confidence interval."""

    mean: float | None
    ci95: float | None

    @staticmethod
    def of_json(value):
        """A metric of `lisa compare --json`; one without a value is `null` there."""
        return Mean(value["mean"], value["ci95"]) if value else Mean(None, None)

    @staticmethod
    def of(values):
        """Mean of one value for each seed, with Student's t."""
        if any(value is None for value in values) or not values:
            return Mean(None, None)
        if len(values) == 1:
            return Mean(values[0], None)
        spread = statistics.stdev(values) / math.sqrt(len(values))
        return Mean(statistics.fmean(values), student(len(values) - 1) * spread)

    def scaled(self, factor):
        """The same in another unit."""
        return Mean(*(None if value is None else value * factor for value in (self.mean, self.ci95)))

    def text(self, digits):
        """The mean alone."""
        return "–" if self.mean is None else number(self.mean, digits)

    def interval(self, digits):
        """`4.9 ± 0.1`."""
        if self.ci95 is None:
            return self.text(digits)
        return f"{self.text(digits)} ± {number(self.ci95, digits)}"

    def difference(self, digits):
        """`−4.9 ± 0.1`, in bold where the interval excludes zero, and 0 where all seeds have none.

        >>> [Mean(*value).difference(1) for value in ((-4.9, 0.1), (0.2, 0.3), (0.0, 0.0))]
        ['**−4.9 ± 0.1**', '+0.2 ± 0.3', '0']
        """
        if self.mean is None:
            return "–"
        if self.mean == 0 and not self.ci95:
            return "0"
        text = self.interval(digits)
        text = text if text.startswith("−") else f"+{text}"
        return f"**{text}**" if self.is_clear() and number(self.mean, digits).strip("−0.") else text

    def is_clear(self):
        """Whether the interval excludes zero."""
        return self.mean is not None and self.ci95 is not None and abs(self.mean) > self.ci95


def number(value, digits):
    """A number with this many digits after the point, and a minus sign instead of a hyphen."""
    text = f"{value:.{digits}f}"
    if not float(text):
        text = text.lstrip("-")
    return text.replace("-", "−")


def ratio(one, other, digits):
    """The ratio of two means."""
    if not one.mean or not other.mean:
        return "–"
    return number(one.mean / other.mean, digits)


def percent(one, other):
    """How much one mean is more than the other, in per cent of the other."""
    if one.mean is None or not other.mean:
        return "–"
    change = round(100 * (one.mean / other.mean - 1))
    return f"{'+' if change > 0 else ''}{number(change, 0)} %"


@functools.cache
def student(freedom):
    """The 97.5 % quantile of Student's t, by bisection of its integral.

    >>> [round(student(freedom), 3) for freedom in (1, 9, 29)]
    [12.706, 2.262, 2.045]
    """
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)

    def half(limit, steps=2000):
        width = limit / steps
        ends = [(1 + (width * i) ** 2 / freedom) ** (-(freedom + 1) / 2) for i in range(steps + 1)]
        weights = [4 if i % 2 else 2 for i in range(steps + 1)]
        weights[0] = weights[-1] = 1
        return scale * width / 3 * sum(map(lambda weight, end: weight * end, weights, ends))

    low, high = 1.9, 13.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if half(middle) < 0.475 else (low, middle)
    return low
