"""Tables and figures of docs/rfc9743.md, the questions of RFC 9743 put to `convoy`, and of docs/latency.md."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from rfc9743 import changes, latency, mixed, single
from support.experiment import Experiment

if __name__ == "__main__":
    Experiment(__file__).run(*single.PARTS, *mixed.PARTS, *changes.PARTS, *latency.PARTS)
