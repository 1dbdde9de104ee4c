"""Tables of docs/doctor.md: what the receive buffer costs, with Linux's default and with other sizes."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from support.experiment import Experiment, table
from support.mean import Mean, number, percent

PAGE = "docs/doctor.md"
SEEDS = 5
PACKET = 1500  # bytes
ENOUGH = 4  # bandwidth-delay products
AT_START = 1 << 20  # bytes, and at least this
SEND = 4 << 20  # bytes: Linux's send buffer, which is to be no smaller than the receive buffer
DEFAULT = None  # without the key: Linux's, 128 KiB that grow to 6 MiB
SUBJECTS = {
    "one TCP": {"connection.1.algorithm": "cubic", "connection.1.protocol": "tcp", "connection.1.subflows": ""},
    "uncoupled": {"connection.1.algorithm": "cubic"},
    "`convoy`": {"connection.1.algorithm": "convoy"},
}
PATHS = {
    "20 Mbit/s, 40 ms": (20, 40),
    "100 Mbit/s, 40 ms": (100, 40),
    "100 Mbit/s, 100 ms": (100, 100),
    "500 Mbit/s, 100 ms": (500, 100),
    "1000 Mbit/s, 100 ms": (1000, 100),
}
SHORT = {"100 KB": 100e3, "300 KB": 300e3, "1 MB": 1e6}
LONG = {"200 MB": 200e6}
FIXED = {"128 KiB": 128 << 10, "256 KiB": 256 << 10, "512 KiB": 512 << 10, "1 MiB": 1 << 20, "4 MiB": 4 << 20}


def completion(experiment, path, size, subject, buffer):
    """Mean completion time of a transfer, s."""
    rate, rtt = path
    bdp = rate * 1e6 / 8 * rtt / 1e3
    keys = {
        "topology.rate": f"{rate}Mbit",
        "topology.rtt": f"{rtt}ms",
        "topology.queue": round(bdp / PACKET),
        "connection.1.bytes": round(size),
    }
    if buffer is not None:
        keys |= {"connection.1.receive_window": buffer, "connection.1.send_buffer": max(buffer, SEND)}
    rows = experiment.points("buffer.toml", [keys | SUBJECTS[subject]], SEEDS, metrics=["completion_s"])
    return Mean.of([row["completion_s"] for row in rows])


def default(experiment):
    """Linux's default beside a buffer of four bandwidth-delay products, for short and long transfers."""
    rows = []
    cases = [(path, size) for path in PATHS for size in SHORT] + [
        (path, size) for path in list(PATHS)[-2:] for size in LONG
    ]
    for path, size in cases:
        rate, rtt = PATHS[path]
        enough = max(AT_START, round(ENOUGH * rate * 1e6 / 8 * rtt / 1e3))
        cells = []
        for subject in SUBJECTS:
            times = [
                completion(experiment, PATHS[path], (SHORT | LONG)[size], subject, buffer)
                for buffer in (DEFAULT, enough)
            ]
            cells.append(f"{times[0].text(2)} s, {percent(*times)}")
        rows.append([path, size, *cells])
    experiment.fill(PAGE, "default", table(["path", "transfer", *SUBJECTS], rows))


def fixed(experiment):
    """Completion times with buffers of one size, on the fourth path."""
    path = "500 Mbit/s, 100 ms"
    rows = []
    for size, length in SHORT.items():
        for subject in SUBJECTS:
            times = [completion(experiment, PATHS[path], length, subject, buffer) for buffer in FIXED.values()]
            cells = ["–" if time.mean is None else f"{number(time.mean, 2)} s" for time in times]
            rows.append([size, subject, *cells])
    experiment.fill(PAGE, "fixed", table(["transfer", "", *FIXED], rows))


if __name__ == "__main__":
    Experiment(__file__).run(default, fixed)
