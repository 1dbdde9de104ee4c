"""Tables of docs/algorithms/olia.md and, of the same scenarios, docs/algorithms/balia.md and docs/theory.md."""

import json
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from support.experiment import Experiment, table
from support.mean import number

ALGORITHMS = ["lia", "olia", "balia", "reno"]
NAMES = ["LIA", "OLIA", "Balia", "uncoupled"]
RED_ON_ONE_PATH = {"connection.red.protocol": "tcp", "connection.red.path": 1, "connection.red.algorithm": "reno"}
# draft-khalili-mptcp-performance-issues-04: what it measured with LIA and OLIA, and its optimum with probing.
DRAFT = {
    "A, N1 = 10: type 2": ("0.70", "0.86", "0.94"),
    "A, N1 = 30: type 2": ("0.44", "0.75", "0.8"),
    "C, N1 = 10: single path": ("0.68", "", "0.94"),
    "C, N1 = 30: single path": ("0.38", "", "0.8"),
    "B, Red on one path: Red": ("1.5", "", "2.1"),
    "B, Red on one path: Blue": ("2.5", "", "2.1"),
    "B, Red on two paths: Red": ("1.4", "", "2.04"),
    "B, Red on two paths: Blue": ("2.0", "", "2.04"),
    "B, cost of the upgrade for all users": ("13 %", "", "3 %"),
}


def goodputs(results, connection):
    """Goodput of a user, for each algorithm."""
    return [results[algorithm].of(connection, "goodput_mbps") for algorithm in ALGORITHMS]


def measure(experiment):
    """Goodput of each kind of user, by the table's rows."""
    found = {}
    for scenario, connection in (("A", "type 2"), ("C", "single-path")):
        for n1 in (10, 30):
            file = f"scenario-{scenario.lower()}.toml"
            multipath = {"A": "type 1", "C": "multipath"}[scenario]
            results = experiment.compare(file, ALGORITHMS, 10, {"topology.n1": n1}, connection=multipath)
            found[f"{scenario}, N1 = {n1}: {connection.replace('-', ' ')}"] = goodputs(results, connection)
    one = experiment.compare("scenario-b.toml", ALGORITHMS, 10, RED_ON_ONE_PATH, connection="blue")
    two = experiment.compare("scenario-b.toml", ALGORITHMS, 10)
    for paths, results in (("one path", one), ("two paths", two)):
        for name in ("red", "blue"):
            found[f"B, Red on {paths}: {name.title()}"] = goodputs(results, name)
    return found


def upgrade(found):
    """Part of the goodput of all users that the second path of the Red users costs."""
    costs = []
    for column in range(len(ALGORITHMS)):
        one, two = (
            [found[f"B, Red on {paths}: {name}"][column].mean for name in ("Red", "Blue")]
            for paths in ("one path", "two paths")
        )
        measured = None not in one + two and sum(one)
        costs.append(f"{number(100 * (1 - sum(two) / sum(one)), 1)} %" if measured else "–")
    return costs


def theory(experiment):
    """What `lisa theory` predicts, with the draft's RTT of 150 ms: 80 ms and queueing."""
    columns = ["fair", "fair-probing", "reno", "lia", "olia", "balia", "nmcc"]
    rows = []
    for scenario, n1, names in (
        ("A", 10, {"type 2": "type 2"}),
        ("A", 30, {"type 2": "type 2"}),
        ("C", 10, {"single-path": "single path", "multipath": "multipath"}),
        ("C", 30, {"single-path": "single path", "multipath": "multipath"}),
        ("B", None, {"red": "Red", "blue": "Blue"}),
    ):
        file = experiment.folder / f"scenario-{scenario.lower()}.toml"
        keys = ["--set", f"topology.n1={n1}"] if n1 else []
        found = json.loads(experiment.lisa("theory", file, "--queueing", "70ms", "--json", *keys))
        rates = {prediction["name"]: prediction["connections"] for prediction in found["predictions"]}
        for name, title in names.items():
            row = [f"{rates[column][name]['mean_mbps']:.3f}" if rates[column] else "–" for column in columns]
            rows.append([f"{scenario}, N1 = {n1}: {title}" if n1 else f"{scenario}: {title}", *row])
    header = ["Mbit/s for each user", "fair", "fair, probing", *columns[2:]]
    experiment.fill("docs/theory.md", "theory", table(header, rows))


def scenarios(experiment):
    """Both pages."""
    found = measure(experiment)
    olia(experiment, found)
    balia(experiment, found)


def olia(experiment, found):
    """All scenarios beside the draft's measurements."""
    rows = [[name, *(mean.interval(3) for mean in means)] for name, means in found.items()]
    rows.append(["B, cost of the upgrade for all users", *upgrade(found)])
    header = ["Mbit/s for each user", *NAMES, "draft: LIA", "draft: OLIA", "optimum"]
    experiment.fill("docs/algorithms/olia.md", "scenarios", table(header, [row + list(DRAFT[row[0]]) for row in rows]))


def balia(experiment, found):
    """The scenarios with the most multipath users."""
    rows = []
    for name in ("A, N1 = 30: type 2", "C, N1 = 30: single path"):
        rows.append([name, *(mean.interval(3) for mean in found[name])])
    experiment.fill("docs/algorithms/balia.md", "scenarios", table(["Mbit/s for each user", *NAMES], rows))


if __name__ == "__main__":
    Experiment(__file__).run(scenarios, theory)
