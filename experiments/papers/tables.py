"""Tables and figures of docs/papers: the verdicts of `lisa reproduce`. `--vm` adds those of a kernel."""

import json
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from support.experiment import Experiment, table

PAPERS = ("lisa", "css", "lia-olia", "nmcc")
# Figures of the pages, and those that a quick trial runs.
FIGURES = (
    "lisa-fig6a-r_ss-then",
    "lisa-fig6a-r_ss-now",
    "css-fig5a-retransmissions-then",
    "css-fig5a-retransmissions-now",
)
SMALL = {"lisa": "lisa/fig6a", "css": "css/fig5a", "lia-olia": "lia-olia/table2", "nmcc": "nmcc/table1"}
VERDICTS = ("confirmed", "explained", "direction_only", "not", "undecided", "not_stated", "not_run")
HEADER = ["", *(verdict.replace("_", " ") for verdict in VERDICTS)]


def reproduce(experiment, paper, folder, *more):
    """The summary of a paper; a trial has one figure of it and tries no causes."""
    is_small = experiment.options.seconds is not None
    arguments = ["reproduce", SMALL[paper] if is_small else paper, "--json", "-o", folder, *more]
    if experiment.options.seeds:
        arguments += ["--seeds", experiment.options.seeds]
    if is_small and "--no-causes" not in more:
        arguments.append("--no-causes")
    if is_small:
        arguments += ["--cache", Path(folder) / "cache"]
    return json.loads(experiment.lisa(*arguments))


def measured(claim, day):
    """Verdict and value of a claim, as the report prints them."""
    explained, printed = claim.get(f"explained_{day}"), claim[f"printed_{day}"]
    verdict = claim[f"verdict_{day}"].replace("-", " ")
    if not printed:
        return verdict
    cause = f"; **explained**: {explained}" if explained else ""
    return f"{verdict}: {printed}{cause}"


def named(claim):
    """Figure, name and published value of a claim, with what confirms it."""
    condition = "" if claim["condition"] == "same" else claim["condition"]
    name = f"{condition}: {claim['metric']} ({claim['algorithm']})".removeprefix(": ")
    value = " ".join(filter(None, (claim["value"], claim["unit"]))) or "–"
    value += f" ({claim['note']})" if claim["note"] else ""
    value += f"; confirmed: {claim['confirmed_by']}" if claim["confirmed_by"] else ""
    return [claim["figure"], name, value]


def rows(summary, days):
    """A row for each claim that was run."""
    is_run = [claim for claim in summary["claims"] if not claim.get(f"not_run_{days[0]}")]
    return [named(claim) + [measured(claim, day) for day in days] for claim in is_run]


def causes(summary):
    """The causes of claims that were not run on the kernel, with their numbers."""
    counts = Counter(claim["not_run_vm"] for claim in summary["claims"] if claim["not_run_vm"])
    return [[number, cause] for cause, number in counts.most_common()]


def papers(experiment):
    """The tables of all claims, and of their numbers."""
    totals = []
    with tempfile.TemporaryDirectory() as folder:
        for paper in PAPERS:
            summary = reproduce(experiment, paper, folder)
            header = ["figure", "claim", "published", "paper's day", "today's Linux"]
            experiment.fill(f"docs/papers/{paper}.md", "claims", table(header, rows(summary, ("then", "now")), "l"))
            for day, name in (("then", "paper's day"), ("now", "today's Linux")):
                totals.append([f"{paper}, {name}", *(str(summary[day][verdict]) for verdict in VERDICTS)])
        for name in FIGURES:
            target = experiment.options.root / f"docs/img/papers/{name}.svg"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(Path(folder) / f"{name}.svg", target)
    experiment.fill("docs/papers/README.md", "verdicts", table(HEADER, totals))


def papers_in_the_vm(experiment):
    """The tables of the claims with the endpoints of a kernel."""
    totals = []
    with tempfile.TemporaryDirectory() as folder:
        for paper in PAPERS:
            summary = reproduce(experiment, paper, folder, "--no-causes", "--on", "vm")
            kernel = summary["kernel"]
            header = [
                "figure",
                "claim",
                "published",
                f"Linux {kernel['release']} in a VM",
                "simulated, its points and seeds",
            ]
            tables = [(header, rows(summary, ("vm", "same"))), (["claims not run", "cause"], causes(summary))]
            text = "\n\n".join(table(header, rows, "l") for header, rows in tables if rows)
            experiment.fill(f"docs/papers/{paper}.md", "claims-vm", text)
            is_run = [claim for claim in summary["claims"] if not claim["not_run_vm"]]
            same = sum(claim["verdict_vm"] == claim["verdict_same"] for claim in is_run)
            for result, name, equal in (
                ("vm", f"Linux {kernel['release']} in a VM", f"{same} of {len(is_run)}"),
                ("same", "simulated, its points and seeds", ""),
            ):
                counts = [str(kernel[result][verdict]) for verdict in VERDICTS]
                totals.append([f"{paper}, {name}", *counts, equal])
    experiment.fill("docs/papers/README.md", "verdicts-vm", table([*HEADER, "as simulated"], totals))


if __name__ == "__main__":
    Experiment(__file__).run(papers, vm=(papers_in_the_vm,))
