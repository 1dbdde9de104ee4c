"""The settings of docs/starting.md: what each changes in the cells of `cells.py`. `SETTINGS` is the table of them."""

import atexit
import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from start.cells import LEAST_PIPE, PACKET, Cell
from start.traces import trace

SLOW = 100e6  # bit/s: the fastest cells of settings that simulate much more than the transfer
LOAD, SHORT = 0.25, 50e3  # of the transfers beside a download: share of the bottleneck, mean size in bytes
LEAST_SIZE = 0.5e6  # bytes, of a transfer beside short ones
BEFORE = 5  # s that a rival has the path alone, the start of the transfer in *-rival.toml
LINE = 4  # rate of the line behind a policer, relative to the policer's
LEAST_BURST = 4  # packets that a policer lets pass at once
LEAST_QUEUE = 32  # packets, of a link that sends in bursts


def has_large_pipes(cell):
    """Whether each subflow has room for some packets."""
    return cell.least_pipe >= LEAST_PIPE


def is_slow(cell):
    """Whether a cell with large pipes is cheap to simulate."""
    return has_large_pipes(cell) and max(cell.rate) <= SLOW


@dataclass(frozen=True)
class Setting:
    """How cells are run. Without further arguments each transfer is alone, on the links that were drawn."""

    name: str
    title: str
    changes: str  # for the reader
    has: Callable[[Cell], bool] = has_large_pipes  # whether a cell is one of the setting
    point: Callable[[Cell], dict] = Cell.point  # keys of a cell
    keys: dict = field(default_factory=dict)  # of all runs
    several: dict = field(default_factory=dict)  # of runs with several subflows
    files: tuple = ("shared.toml", "separate.toml")  # of cells with one bottleneck, and of others
    # Keys of TCP and of MPTCP with one subflow, on the first of separate paths.
    first_path: tuple = ({"connection.1.path": 1}, {"connection.1.paths": "[1]"})
    kinds: tuple = ("shared 2", "shared 4", "equal", "unequal")
    beside: str | None = None  # measure of the connections beside the transfer


def listed(values):
    """One value, or a list for `--points`."""
    values = list(values)
    return values[0] if len(values) == 1 else "[" + ",".join(values) + "]"


def without(key):
    """The keys of a cell except for this one."""
    return lambda cell: {name: value for name, value in cell.point().items() if name != key}


def each_direction(cell):
    """Keys of a graph with a link for data and a link for ACKs."""
    point = {key: value for key, value in cell.point().items() if not key.startswith("topology.")}
    for number, (rate, rtt, queue) in enumerate(zip(cell.rate, cell.rtt, cell.queue), 1):
        link, delay = f"topology.link.data{number}", f"{rtt / 2 * 1e6:.0f}us"
        point |= {f"{link}.rate": f"{rate:.0f}bit", f"{link}.delay": delay, f"{link}.queue": queue}
        point[f"topology.link.acks{number}.delay"] = delay
    return point


class Traces:
    """Files of recorded rates, deleted at the end of the script."""

    def __init__(self):
        self.folder = None

    def point(self, cell):
        """Keys of a cell whose links follow traces."""
        if self.folder is None:
            self.folder = tempfile.TemporaryDirectory()
            atexit.register(self.folder.cleanup)
        links = []
        for number, rate in enumerate(cell.rate):
            kind = "lte" if number and cell.kind == "unequal" else "wifi"
            file = Path(self.folder.name) / f"{cell.name} {number}"
            file.write_text(trace(kind, rate, file.name))
            links.append(f'{{ trace = "{file}" }}')
        queues = listed(str(max(queue, LEAST_QUEUE)) for queue in cell.queue)
        return cell.point() | {"topology.rate": listed(links), "topology.queue": queues}


def beside_rival(cell):
    """Keys of a cell with an endless connection, whose run does not end with the transfer."""
    longest = BEFORE + 6 * 8 * cell.size / cell.rate[0] + 60 * max(cell.rtt)
    return cell.point() | {"stop": f"{longest:.1f}s"}


def beside_short(cell):
    """Keys of a cell with as many short transfers as begin while one TCP has the rest of the link."""
    count = math.ceil(LOAD / (1 - LOAD) * cell.size / SHORT)
    gap = SHORT * 8 / (LOAD * cell.rate[0])
    short = "connection.2.arrivals"
    return cell.point() | {f"{short}.count": count, f"{short}.gap.mean": f"{gap * 1e6:.0f}us"}


def policed(cell):
    """Keys of a cell with a policer instead of a queue."""
    policers = (
        f'{{ kind = "policer", rate = "{rate:.0f}bit", burst = {max(queue, LEAST_BURST) * PACKET} }}'
        for rate, queue in zip(cell.rate, cell.queue)
    )
    rates = (f'"{LINE * rate:.0f}bit"' for rate in cell.rate)
    return cell.point() | {"topology.rate": listed(rates), "topology.queue": listed(policers)}


RIVAL = ("shared-rival.toml", "separate-rival.toml")
AT_MOST = f"at most {SLOW / 1e6:.0f} Mbit/s"
FILLED = f"a TCP that has filled the first path for {BEFORE} s; {AT_MOST}"

PLAIN = Setting("plain", "As drawn", "nothing: the tables of docs/algorithms/convoy.md")
SETTINGS = (
    Setting(
        "small",
        "Small pipes",
        f"fewer than {LEAST_PIPE} packets of path and queue for each subflow",
        has=lambda cell: not has_large_pipes(cell),
    ),
    Setting(
        "buffer",
        "Default receive buffer",
        "Linux's receive buffer, which grows to 6 MB, instead of eight times path and queue",
        point=without("connection.1.receive_window"),
        keys={"connection.1.receive_window": ""},
    ),
    Setting(
        "jitter",
        "Jitter",
        "each packet and each ACK arrives up to 5 ms later, in order",
        keys={"topology.jitter": "5ms"},
    ),
    Setting(
        "acks",
        "ACK compression",
        "ACKs arrive in bursts 4 ms apart",
        point=each_direction,
        files=("shared-acks.toml", "separate-acks.toml"),
        first_path=({"connection.1.paths": "first"},) * 2,
    ),
    Setting(
        "wifi",
        "Wi-Fi and LTE",
        "synthetic recorded rates (traces.py): Wi-Fi, which sends in bursts at a rate that varies; of unequal paths "
        f"the second is LTE; a queue of {LEAST_QUEUE} packets or more; {AT_MOST}",
        has=is_slow,
        point=Traces().point,
    ),
    Setting(
        "cubic",
        "Beside one TCP with CUBIC",
        FILLED,
        has=is_slow,
        point=beside_rival,
        keys={"connection.2.algorithm": "cubic"},
        files=RIVAL,
        beside="goodput",
    ),
    Setting(
        "reno",
        "Beside one TCP with Reno",
        FILLED,
        has=is_slow,
        point=beside_rival,
        keys={"connection.2.algorithm": "reno"},
        files=RIVAL,
        beside="goodput",
    ),
    Setting(
        "short",
        "Beside short transfers",
        f"TCP transfers of {SHORT / 1e3:.0f} KB on average, {100 * LOAD:.0f} % of the first path's rate; "
        f"downloads of {LEAST_SIZE / 1e6} MB or more; {AT_MOST}",
        has=lambda cell: is_slow(cell) and cell.size >= LEAST_SIZE,
        point=beside_short,
        files=("shared-web.toml", "separate-web.toml"),
        beside="completion time",
    ),
    Setting(
        "codel",
        "CoDel with ECN",
        "CoDel as the queue, which marks packets",
        point=without("topology.queue"),
        keys={"topology.queue": '{ kind = "codel", ecn = true }', "connection.1.ecn": "true"},
    ),
    Setting(
        "fq",
        "FQ-CoDel",
        "a fair queue, in which N subflows get N shares whatever their windows are",
        point=without("topology.queue"),
        keys={"topology.queue": '{ kind = "fq-codel" }'},
    ),
    Setting(
        "policer",
        "Policer",
        f"a policer with the queue's size as burst, in front of a line {LINE} times as fast",
        point=policed,
    ),
    Setting(
        "backup",
        "Backup path",
        "the second subflow is a backup, which sends nothing",
        several={"connection.1.backup": "[false, true]"},
        kinds=("equal", "unequal"),
    ),
)
