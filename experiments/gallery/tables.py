"""Figures of docs/plots.md: the commands on the page, run in a folder of their own."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from support.experiment import REPOSITORY, Experiment

PAGE = "docs/plots.md"
FIGURES = "docs/img/plots"


def commands(text):
    """The lines of the page that begin with `lisa` in its blocks of shell commands."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [shlex.split(line) for block in blocks for line in block.splitlines() if line.startswith("lisa ")]


def limited(experiment, arguments):
    """The arguments, within the limits of `--seeds` and `--seconds`."""
    arguments = list(arguments)
    if "--seeds" in arguments:
        at = arguments.index("--seeds") + 1
        arguments[at] = str(experiment.seeds(int(arguments[at])))
    seconds = experiment.options.seconds
    # Transfers end by themselves; these presets run until `stop`.
    if seconds and arguments[0] == "sweep" and arguments[1] in ("fairness.toml", "tree.toml"):
        arguments += ["--set", f"stop={seconds}s", "--set", "warmup=0s", "--set", "connection.*.start=0s"]
    return arguments


def figures(experiment):
    """Runs the commands, and copies the figures that the page shows."""
    text = (REPOSITORY / PAGE).read_text()
    to = experiment.options.root / FIGURES
    to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "experiments").symlink_to(REPOSITORY / "experiments")
        for _, *arguments in commands(text):
            arguments = limited(experiment, arguments)
            done = subprocess.run(
                [os.path.abspath(experiment.program), *arguments],
                cwd=folder,
                check=False,
                capture_output=True,
                text=True,
            )
            if done.returncode != 0:
                sys.exit(f"{experiment.name}: lisa {shlex.join(arguments)}\n{done.stderr.strip()}")
        for name in re.findall(r"\]\(img/plots/([^)]+)\)", text):
            shutil.copyfile(Path(folder) / name, to / name)
            print(f"{FIGURES}/{name}", flush=True)


if __name__ == "__main__":
    Experiment(__file__).run(figures)
