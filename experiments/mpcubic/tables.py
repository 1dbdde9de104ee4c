"""Tables of docs/algorithms/mpcubic.md: MPCUBIC beside the other algorithms that grow as CUBIC, and LIA."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from start.wider import SHARES
from support.experiment import Experiment, table
from support.mean import Mean

PAGE = "docs/algorithms/mpcubic.md"
NAMES = {"mpcubic": "`mpcubic`", "convoy": "`convoy`", "cubic": "uncoupled CUBIC", "lia": "`lia`"}
COUNTS = (2, 4, 8)
SEPARATE = {
    "10 and 4 Mbit/s, 40 ms": ("10Mbit", "4Mbit", "40ms", "40ms", 33, 13),
    "20 and 20 Mbit/s, 40 ms": ("20Mbit", "20Mbit", "40ms", "40ms", 67, 67),
    "20 and 20 Mbit/s, 20 and 80 ms": ("20Mbit", "20Mbit", "20ms", "80ms", 33, 133),
    "100 and 40 Mbit/s, 40 ms": ("100Mbit", "40Mbit", "40ms", "40ms", 333, 133),
}


def shares(experiment):
    """Share of the goodput of a download beside one TCP with CUBIC, 300 s: the networks of docs/starting.md."""
    rows = []
    for title, (rate, rtt, queue) in SHARES.items():
        keys = {"topology.rate": rate, "topology.rtt": rtt, "topology.queue": queue}
        vary = {"connection.1.subflows": ",".join(map(str, COUNTS))}
        found = experiment.rows("../start/shares.toml", vary, 5, keys, list(NAMES), ["share"])
        cells = []
        for algorithm in NAMES:
            of = [row for row in found if row["algorithm"] == algorithm and row["connection"] == "download"]
            values = [[row["share"] for row in of if row["connection.1.subflows"] == count] for count in COUNTS]
            cells.append(", ".join(Mean.of(each).text(2) for each in values))
        rows.append([title, *cells])
    experiment.fill(PAGE, "shares", table(["share with 2, 4, 8 subflows", *NAMES.values()], rows))


def separate(experiment):
    """Goodput over two separate paths, idle and beside one TCP with CUBIC each."""
    rows = []
    for file, beside in (("separate.toml", "idle"), ("separate-rival.toml", "each beside a TCP")):
        for title, (rate, other_rate, rtt, other_rtt, queue, other_queue) in SEPARATE.items():
            keys = {
                "topology.rate": f'["{rate}","{other_rate}"]',
                "topology.rtt": f'["{rtt}","{other_rtt}"]',
                "topology.queue": f"[{queue},{other_queue}]",
            }
            found = experiment.compare(file, list(NAMES), 5, keys, metrics=["goodput_mbps"])
            cells = [found[algorithm].of("download", "goodput_mbps").text(1) for algorithm in NAMES]
            rows.append([f"{title}, {beside}", *cells])
    experiment.fill(PAGE, "separate", table(["goodput, Mbit/s", *NAMES.values()], rows))


if __name__ == "__main__":
    Experiment(__file__).run(shares, separate)
