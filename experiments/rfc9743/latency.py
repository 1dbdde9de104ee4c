"""Latency of requests on one long connection: what one path's delay costs the requests of all (head-of-line blocking)."""

import statistics

from rfc9743.subjects import COLOURS, CONVOY, CONVOY_CUBIC, LIA, ONE, TCP, UNCOUPLED, keys_of, outcomes
from support.chart import chart
from support.experiment import table

PAGE = "docs/latency.md"
SEEDS = 10
SUBJECTS = (TCP, ONE, UNCOUPLED, CONVOY, CONVOY_CUBIC, LIA)
SIZES = {"20 KB": "20KB", "200 KB": "200KB"}
NETWORKS = {
    "two equal paths, 40 ms": ("", {}),
    "RTTs of 20 and 100 ms": ("", {"topology.rtt": '["20ms", "100ms"]'}),
    "second path loses 1 %": ("", {"topology.loss": '["0%", "1%"]'}),
    "one bottleneck, 40 ms": ("-shared", {}),
}
TRAFFIC = {"alone": "", "beside a TCP on each path": "-busy"}
DRAWN = "200 KB"


def latencies(experiment, file, keys):
    """Latencies of the requests of all seeds, ms."""
    found = outcomes(experiment, file, SEEDS, keys)
    clients = (each for one in found for each in one["connections"] if each["name"] == "client")
    return sorted(1e3 * value for client in clients for value in client.get("requests_s", []))


def quantile(values, per_cent):
    """A quantile, with linear interpolation."""
    if len(values) < 2:
        return "–"
    return f"{statistics.quantiles(values, n=100, method='inclusive')[per_cent - 1]:.0f}"


def latency(experiment):
    """Median and 99th percentile for each network and size, and the distributions."""
    rows, panels = [], []
    for traffic, busy in TRAFFIC.items():
        for network, (shared, changed) in NETWORKS.items():
            lines = {}
            for title, size in SIZES.items():
                cells = []
                for subject in SUBJECTS:
                    keys = keys_of(subject, "client") | changed | {"connection.client.requests.bytes": size}
                    keys |= {"connection.client.path": 1} if subject == TCP else {}
                    values = latencies(experiment, f"requests{shared}{busy}.toml", keys)
                    cells.append(f"{quantile(values, 50)}, {quantile(values, 99)}")
                    if title == DRAWN and subject != ONE:
                        points = [(value, (i + 1) / len(values)) for i, value in enumerate(values)]
                        lines[subject.strip("`")] = points[:: max(1, len(points) // 300)] + points[-20:]
                rows.append([f"{network}, {traffic}", title, *cells])
            panels.append((f"{network}, {traffic}", lines))
    experiment.fill(PAGE, "latency", table(["ms: median, 99th percentile", "size", *SUBJECTS], rows))
    chart(
        experiment.options.root / "docs/img/latency.svg",
        f"Latency of requests of {DRAWN} on a long connection",
        panels,
        ("ms", (50, 2000)),
        ("share of the requests", (0, 1)),
        COLOURS,
        logarithmic=True,
    )


PARTS = (latency,)
