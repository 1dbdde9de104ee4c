"""Connections beside standard TCP: shares, RTTs, queues, calls."""

from rfc9743.subjects import (
    PACKET_BITS,
    SUBJECTS,
    TCP,
    connections,
    goodput,
    keys_of,
    link,
    mean,
    outcomes,
    plain,
    share,
)
from support.experiment import table

PAGE = "docs/rfc9743.md"
SEEDS = 5
RTT_SEEDS = 10
RATE = 20e6  # bit/s, of beside.toml
FAST = 50  # Mbit/s, of the bottleneck with several rivals
PATHS = (1, 2)  # of the download in beside.toml
OTHER_RTT = "40ms"


def listed(*times):
    """A list for `topology.rtt`."""
    return "[" + ",".join(f'"{time}"' for time in times) + "]"


def rivals(experiment):
    """As many standard TCPs as downloads: the downloads' share, and the goodput of the slowest TCP relative to its part."""
    rows = []
    for algorithm in ("cubic", "reno"):
        for count in (1, 8, 32):
            cells = []
            for subject in SUBJECTS:
                keys = {f"connection.{name}.count": count for name in ("download", "rival")}
                keys |= {"connection.rival.algorithm": algorithm, "topology.rate": "50Mbit", "topology.queue": 167}
                keys |= {"stop": "60s"}
                found = outcomes(experiment, "beside.toml", SEEDS, keys_of(subject, paths=PATHS) | keys)
                shares = mean((share(each) for each in found), 2)
                least = [
                    min(each["goodput_mbps"] or 0 for each in connections(one, "rival")) * 2 * count / FAST
                    for one in found
                ]
                cells.append(f"{shares}, {plain(least, 2)}")
            rows.append(
                [f"{count} beside {count} with {algorithm.upper() if algorithm == 'cubic' else 'Reno'}", *cells]
            )
    experiment.fill(PAGE, "rivals", table(["", *SUBJECTS], rows))


def rtts(experiment):
    """Share of a download beside one connection of 40 ms, over the RTT of the download."""
    for block, others in (("rtt-cubic", "cubic"), ("rtt-reno", "reno"), ("rtt-same", None)):
        rows = []
        for title, first, second in (
            ("10 ms", "10ms", "10ms"),
            ("40 ms", "40ms", "40ms"),
            ("160 ms", "160ms", "160ms"),
            ("20 and 100 ms", "20ms", "100ms"),
        ):
            cells = []
            for subject in SUBJECTS:
                if subject == TCP and first != second:
                    cells.append("–")
                    continue
                keys = keys_of(subject, paths=PATHS) | {"topology.rtt": listed(first, second, OTHER_RTT, OTHER_RTT)}
                if others:
                    keys["connection.rival.algorithm"] = others
                elif subject != TCP:
                    keys |= {"connection.rival.protocol": "mptcp", "connection.rival.path": ""}
                    keys |= keys_of(subject, "rival", paths=(3, 4))
                found = outcomes(experiment, "beside.toml", RTT_SEEDS, keys)
                cells.append(mean((share(each) for each in found), 2))
            rows.append([title, *cells])
        experiment.fill(PAGE, block, table(["RTT of the download", *SUBJECTS], rows))


DISCIPLINES = {
    "DropTail, 67 packets": "67",
    "RED": '{ kind = "red" }',
    "RED with ECN": '{ kind = "red", ecn = true }',
    "CoDel": '{ kind = "codel" }',
    "CoDel with ECN": '{ kind = "codel", ecn = true }',
    "PIE": '{ kind = "pie" }',
    "PIE with ECN": '{ kind = "pie", ecn = true }',
    "FQ-CoDel": '{ kind = "fq-codel" }',
}


def disciplines(experiment):
    """Share of a download beside one TCP with CUBIC behind other queues, and the queue's delay."""
    rows = []
    for title, queue in DISCIPLINES.items():
        for subflows in (2, 4):
            cells = []
            for subject in SUBJECTS:
                if subject == TCP and subflows > 2:
                    cells.append("–")
                    continue
                paths = tuple(range(1, subflows + 1))
                keys = keys_of(subject, subflows=subflows, paths=paths)
                keys |= {"topology.queue": queue, "topology.rtt": listed(*[OTHER_RTT] * 6), "connection.rival.path": 5}
                keys |= {f"connection.{name}.ecn": "true" for name in ("download", "rival") if "ECN" in title}
                found = outcomes(experiment, "beside.toml", SEEDS, keys)
                delay = plain((link(each)["queue_mean_packets"] for each in found), 0, 1e3 * PACKET_BITS / RATE)
                cells.append(f"{mean((share(each) for each in found), 2)}, {delay} ms")
            rows.append([f"{title}, {subflows} subflows", *cells])
    experiment.fill(PAGE, "disciplines", table(["", *SUBJECTS], rows))


def calls(experiment):
    """A call beside a download: its lost packets, and the delay of the queue."""
    rows = []
    for title, queue in (("17 packets (1 BDP)", 17), ("67 packets", 67), ("CoDel", '{ kind = "codel" }')):
        cells = []
        for subject in SUBJECTS:
            found = outcomes(experiment, "call.toml", SEEDS, keys_of(subject) | {"topology.queue": queue})
            lost = plain((1 - goodput(each, "call") / 0.08 for each in found), 2, 100)
            delay = plain((link(each)["queue_mean_packets"] for each in found), 0, 1e3 * PACKET_BITS / 5e6)
            cells.append(f"{lost} %, {delay} ms")
        rows.append([title, *cells])
    experiment.fill(PAGE, "calls", table(["queue", *SUBJECTS], rows))


PARTS = (rivals, rtts, disciplines, calls)
