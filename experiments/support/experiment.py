"""Runs of `lisa` for the tables and figures of the documentation.

`Experiment` runs the program, writes tables between the markers of a page, and draws figures. A page names the script
that fills it:

    <!-- experiments/nmcc/tables.py: share -->

    | … |

    <!-- end -->

| option | effect |
| --- | --- |
| `--seeds N`, `--seconds S` | limits of the seeds and of the simulated time of each run |
| `--root DIR` | the copy of the repository that is written |
| `--vm` | also the parts that need a kernel in the VM |
| `--only NAME…` | these functions of the script alone |

The environment variable `LISA` names the program; without it, that is target/release/lisa.
"""

import argparse
import atexit
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from support.mean import Mean

REPOSITORY = Path(__file__).resolve().parents[2]


class Experiment:
    """The runs of one script, whose scenario files stand beside it."""

    def __init__(self, script, arguments=None):
        self.folder = Path(script).resolve().parent
        self.name = Path(script).resolve().relative_to(REPOSITORY).as_posix()
        parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
        parser.add_argument("--seeds", type=int, help="at most N seeds for each setting", metavar="N")
        parser.add_argument("--seconds", type=float, help="at most S simulated seconds for each run", metavar="S")
        parser.add_argument("--root", type=Path, default=REPOSITORY, help="where docs/ and experiments/ are written")
        parser.add_argument("--vm", action="store_true", help="also the tables of runs on a kernel in the VM")
        parser.add_argument("--only", nargs="+", help="functions of the script to run", metavar="NAME")
        self.options = parser.parse_args(arguments)
        begin = time.monotonic()
        atexit.register(lambda: print(f"{self.name}: {time.monotonic() - begin:.0f} s", flush=True))
        self.program = os.environ.get("LISA", str(REPOSITORY / "target/release/lisa"))

    def run(self, *parts, vm=()):
        """Runs the parts of the script, and those in the VM if requested."""
        for part in parts + (vm if self.options.vm else ()):
            if not self.options.only or part.__name__ in self.options.only:
                part(self)

    def seeds(self, wanted):
        """Number of seeds to run, for a table with `wanted` of them."""
        return min(wanted, self.options.seeds or wanted)

    def lisa(self, *arguments):
        """Standard output of `lisa ARGUMENTS…`; ends the script where the program fails."""
        done = subprocess.run([self.program, *map(str, arguments)], check=False, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{self.name}: lisa {' '.join(map(str, arguments))}\n{done.stderr.strip()}")
        return done.stdout

    def compare(self, file, algorithms, seeds, keys=None, connection=None, on="sim", metrics=None, plot=None):
        """Results of `lisa compare`, by algorithm: `{"lia": Results}`; with several backends by backend and algorithm."""
        arguments = ["compare", self.folder / file, "-a", ",".join(algorithms), "--json"]
        arguments += ["--seeds", self.seeds(seeds), "--on", on]
        if connection:
            arguments += ["--connection", connection]
        if metrics:
            arguments += ["--metrics", ",".join(metrics)]
        if plot:
            (self.options.root / plot).parent.mkdir(parents=True, exist_ok=True)
            arguments += ["--plot", self.options.root / plot, "--force"]
        lines = [json.loads(line) for line in self.lisa(*arguments, *self.set(file, keys or {})).splitlines()]
        if "," not in on:
            return {line["algorithm"]: Results(line) for line in lines}
        return {(line["backend"], line["algorithm"]): Results(line) for line in lines}

    def rows(self, file, vary, seeds, keys=None, algorithms=None, metrics=None, rows="connection"):
        """Rows of `lisa sweep`, one for each run and connection, or as `rows` says; `vary` has the values of each key as one text."""
        varied = [text for key, values in vary.items() for text in ("--vary", f"{key}={values}")]
        return self._sweep(file, ["--rows", rows, *varied], seeds, keys, algorithms, metrics)

    def points(self, file, points, seeds, keys=None, algorithms=None, metrics=None, on="sim"):
        """Rows of `lisa sweep --points`, one for each run and connection; a point is a dictionary of its keys."""
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "points.csv"
            with table.open("w", newline="") as stream:
                writer = csv.DictWriter(stream, points[0])
                writer.writeheader()
                writer.writerows(points)
            return self._sweep(file, ["--points", table, "--on", on], seeds, keys, algorithms, metrics)

    def _sweep(self, file, more, seeds, keys, algorithms, metrics):
        """Rows of `lisa sweep` with these further arguments."""
        arguments = ["sweep", self.folder / file, "--json", "--seeds", self.seeds(seeds), *more]
        arguments += ["-a", ",".join(algorithms)] if algorithms else []
        arguments += ["--metrics", ",".join(metrics)] if metrics else []
        lines = [json.loads(line) for line in self.lisa(*arguments, *self.set(file, keys or {})).splitlines()]
        return [line for line in lines if "seed" in line]  # the last line may have the warnings

    def set(self, file, keys):
        """Arguments `--set KEY=VALUE`, within the limit of `--seconds`."""
        keys = dict(keys)
        limit = self.options.seconds
        if limit:
            scenario = tomllib.loads((self.folder / file).read_text())
            stop = min(limit, seconds(keys.get("stop", scenario["stop"])))
            warmup = seconds(keys.get("warmup", scenario.get("warmup", "0s")))
            keys["stop"] = f"{stop}s"
            keys["warmup"] = f"{min(warmup, stop / 4):.3f}s"
            if any("start" in connection for connection in scenario["connection"]):
                keys = {key: value for key, value in keys.items() if not key.endswith(".start")}
                keys["connection.*.start"] = "0s"
        return [part for key, value in keys.items() for part in ("--set", f"{key}={value}")]

    def fill(self, page, block, text):
        """Writes `text` between the markers of `block` in `page`."""
        path = self.options.root / page
        begin = f"<!-- {self.name}: {block} -->\n"
        old = path.read_text()
        marked = re.compile(re.escape(begin) + r".*?<!-- end -->", re.DOTALL)
        if len(marked.findall(old)) != 1:
            sys.exit(f"{self.name}: {page} has no `{begin.strip()}` with its `<!-- end -->`, or more than one")
        path.write_text(marked.sub(lambda _: f"{begin}\n{text.strip()}\n\n<!-- end -->", old))
        print(f"{page}: {block}", flush=True)


def seconds(text):
    """A time of a scenario file, which has no other units here."""
    return float(text[:-2]) / 1000 if text.endswith("ms") else float(text[:-1])


class Results:
    """One line of `lisa compare --json`: the metrics of each connection, by its name."""

    def __init__(self, line):
        self.line = line
        self.connections = {connection["name"]: connection for connection in line["connections"]}

    def of(self, connection, metric):
        """Mean of a metric of a connection."""
        return Mean.of_json(self.connections[connection].get(metric))

    def difference(self, connection, metric):
        """Mean of the differences to the first algorithm, seed by seed."""
        value = self.connections[connection].get(metric)
        return Mean.of_json(value and value.get("difference"))

    def subflow(self, connection, number, metric):
        """Mean of a metric of a subflow; `number` counts from 1."""
        return Mean.of_json(self.connections[connection]["subflows"][number - 1].get(metric))

    def link(self, name, metric):
        """Mean of a metric of a link."""
        link = next(link for link in self.line["links"] if link["name"] == name)
        return Mean.of_json(link.get(metric))


def table(header, rows, align="r"):
    """A Markdown table. The first column is aligned to the left, the others by `align`, `r` or `l`."""
    rule = ["---"] + ["--:" if align == "r" else "---"] * (len(header) - 1)
    lines = [header, rule, *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
