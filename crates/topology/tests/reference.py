"""Compares lengths of paths with those of networkx.

    reference.py MAPS RESULTS

MAPS is a folder of GML files. Each line of RESULTS has a map, two ids, `hops` or `delay`, a kind, and lengths: of `shortest` those of the
shortest paths, of `links-K` and `nodes-K` the number of at most K disjoint paths and their total length.
"""

import itertools
import re
import sys
from functools import cache
from pathlib import Path

import networkx as nx

FOLDER = Path(sys.argv[1])


@cache
def network(name):
    """The map as networkx reads it, where edges have their delay as in tests/networkx.rs."""
    text = (FOLDER / f"{name}.gml").read_text().replace("graph [", "graph [\n  multigraph 1", 1)
    numbers = itertools.count()
    text = re.sub(
        r"^  edge \[", lambda _: f"  edge [\n    delay {1 + 7 * next(numbers) % 11}", text, flags=re.MULTILINE
    )
    return nx.parse_gml(text, label="id")


@cache
def subdivided(name):
    """Each edge with a node in its middle, so that parallel edges make different paths: lengths are twice as large."""
    graph = nx.Graph()
    for number, (one, other, delay) in enumerate(network(name).edges(data="delay")):
        for end in (one, other):
            graph.add_edge(end, ("edge", number), hops=1, delay=delay)
    return graph


@cache
def directed(name, splits):
    """Arcs of capacity 1 in both directions of each edge, and with `splits` within each node."""
    graph = nx.DiGraph()
    for number, (one, other, delay) in enumerate(network(name).edges(data="delay")):
        for tail, head in ((one, other), (other, one)):
            middle = ("edge", number, tail)
            graph.add_edge((tail, "out"), middle, capacity=1, hops=1, delay=delay)
            graph.add_edge(middle, (head, "in"), capacity=1, hops=0, delay=0)
    for node in network(name):
        within = {"capacity": 1} if splits else {}
        graph.add_edge((node, "in"), (node, "out"), hops=0, delay=0, **within)
    return graph


def shortest(name, source, target, metric, number):
    if not nx.has_path(network(name), source, target):
        return []
    graph = subdivided(name)
    paths = nx.shortest_simple_paths(graph, source, target, weight=metric)
    return [nx.path_weight(graph, path, metric) // 2 for path in itertools.islice(paths, number)]


def disjoint(name, source, target, metric, splits, most):
    graph = directed(name, splits)
    graph.add_edge("source", (source, "out"), capacity=most, hops=0, delay=0)
    flow = nx.max_flow_min_cost(graph, "source", (target, "in"), weight=metric)
    graph.remove_node("source")
    return [sum(flow["source"].values()), nx.cost_of_flow(graph, {n: flow[n] for n in graph}, weight=metric)]


def expected(name, source, target, metric, kind):
    if kind == "shortest":
        return shortest(name, source, target, metric, 4)
    what, most = kind.split("-")
    return disjoint(name, source, target, metric, what == "nodes", int(most))


def main():
    equal = 0
    wrong = []
    for line in Path(sys.argv[2]).read_text().splitlines():
        name, source, target, metric, kind, *found = line.split()
        found = [int(number) for number in found]
        right = expected(name, int(source), int(target), metric, kind)
        if found == right:
            equal += 1
        else:
            wrong.append(f"{line}: networkx has {right}")
    print("\n".join(wrong[:20]))
    print(f"{equal} lines equal")
    sys.exit(bool(wrong))


main()
