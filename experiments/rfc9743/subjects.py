"""The connections that the tables compare, and what runs say of them."""

import csv
import json
import statistics
import tempfile
from pathlib import Path

from support.mean import Mean, number

PACKET_BITS = 1500 * 8
BOTTLENECK = "bottleneck down"

TCP, UNCOUPLED, CONVOY, CONVOY_CUBIC, LIA = "one TCP", "uncoupled", "`convoy`", "`convoy_cubic`", "`lia`"
ALGORITHMS = {TCP: "cubic", UNCOUPLED: "cubic", CONVOY: "convoy", CONVOY_CUBIC: "convoy_cubic", LIA: "lia"}
ONE = "one subflow"
ALGORITHMS[ONE] = "cubic"
SUBJECTS = (TCP, UNCOUPLED, CONVOY, LIA)
COLOURS = {
    "one TCP": "#7f7f7f",
    "uncoupled": "#0072B2",
    "convoy": "#D55E00",
    "lia": "#009E73",
    "convoy_cubic": "#CC79A7",
}


def keys_of(subject, *connections, subflows=2, paths=None):
    """Keys that make these connections of a scenario the subject: one TCP with CUBIC, or MPTCP with this many subflows."""
    keys = {}
    for name in connections or ("download",):
        each = {"algorithm": ALGORITHMS[subject], "subflows": 1 if subject == ONE else subflows}
        if paths:
            each["paths"] = f"[{','.join(map(str, paths))}]"
        if subject == TCP:
            each = {"algorithm": "cubic", "protocol": "tcp", "subflows": ""}
            if paths:
                each |= {"paths": "", "path": paths[0]}
        keys |= {f"connection.{name}.{key}": value for key, value in each.items()}
    return keys


def outcomes(experiment, file, seeds, keys):
    """The outcome of each seed."""
    arguments = ["run", experiment.folder / file, "--json", "--seeds", experiment.seeds(seeds)]
    return [json.loads(line) for line in experiment.lisa(*arguments, *experiment.set(file, keys)).splitlines()]


def series(experiment, file, seeds, keys, interval="1s"):
    """Rows of the time series of all seeds: dictionaries of texts."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "series.csv"
        arguments = ["run", experiment.folder / file, "--rows", "sample", "--sample", interval, "-o", table]
        experiment.lisa(*arguments, "--seeds", experiment.seeds(seeds), *experiment.set(file, keys))
        with table.open(newline="") as stream:
            return list(csv.DictReader(stream))


def connections(outcome, name):
    """The connections of this name."""
    return [connection for connection in outcome["connections"] if connection["name"] == name]


def goodput(outcome, name):
    """Goodput of all connections of this name together, Mbit/s."""
    return sum(connection["goodput_mbps"] or 0 for connection in connections(outcome, name))


def share(outcome):
    """Share of the downloads in the goodput of downloads and rivals."""
    whole = goodput(outcome, "download") + goodput(outcome, "rival")
    return goodput(outcome, "download") / whole if whole else 0


def link(outcome, name=BOTTLENECK):
    """Results of a link."""
    return next(each for each in outcome["links"] if each["name"] == name)


def jain(values):
    """Jain's fairness index."""
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else 1


def mean(values, digits):
    """Mean with its 95 % confidence interval."""
    return Mean.of(list(values)).interval(digits)


def plain(values, digits, factor=1):
    """Mean alone."""
    values = list(values)
    return number(factor * statistics.fmean(values), digits) if values else "–"
