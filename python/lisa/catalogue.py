"""Algorithms, and paths through networks."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from lisa import _native
from lisa.checks import checked
from lisa.errors import ArgumentError
from lisa.scenario import Scenario, load


class Setting(TypedDict):
    """A setting of an algorithm: a whole number in a range."""

    name: str
    unit: str
    min: int
    max: int
    default: int
    about: str


class Algorithm(TypedDict):
    """An algorithm: a slow start and a congestion avoidance."""

    name: str
    about: str
    slow_start: str
    avoidance: str
    #: Whether Linux has it by itself.
    linux_own: bool
    #: Whether ``lisa kernel load`` loads it into Linux. Without either it runs in the simulator only.
    loadable: bool
    settings: list[Setting]


def algorithms() -> list[Algorithm]:
    """The algorithms, as ``lisa algorithms`` lists them.

    Example:
        >>> import lisa
        >>> "lisa" in [algorithm["name"] for algorithm in lisa.algorithms()]
        True
    """
    listed: list[Algorithm] = json.loads(_native.algorithms())
    return listed


@checked
def paths(
    network: Scenario | str | os.PathLike[str] | Mapping[str, Any],
    from_node: str | int | None = None,
    to_node: str | int | None = None,
    k: int | None = None,
    *,
    disjoint: Literal["links", "nodes"] | None = None,
    by: Literal["hops", "delay"] = "hops",
    rate: str | None = None,
    both_ways: bool = False,
) -> dict[str, Any]:
    """Paths between two nodes of a network, the links that they share, and their groups, as ``lisa paths --json``.

    Args:
        network: A map (the name of a file that ends with ``.gml``), or a scenario: itself, its file, or a dictionary.
        from_node: Name of the first node, or its id on a map; without nodes the result has the nodes of the network.
        to_node: Name of the last node.
        k: Largest number of paths; ``None``: 3, and 2 disjoint ones.
        disjoint: What the paths do not share; ``None``: they may share links.
        by: Length of a path: number of links, or sum of the delays.
        rate: Rate of the links of a map that have none in the file.
        both_ways: Whether edges of a map that have one direction get the other one, too.

    Returns:
        A dictionary as docs/paths.schema.json describes it.

    Raises:
        ArgumentError: For a node that the network does not have, or a wrong argument.
        ScenarioError: For a map or a scenario that cannot be read.

    Example:
        >>> import lisa
        >>> tree = lisa.fat_tree(lisa.tcp(pattern="permutation"), k=4, rate="100Mbit", delay="100us", queue=100)
        >>> len(lisa.paths(tree, "h1", "h16", k=4)["paths"])
        4
    """
    question: _native._Question = {
        "from_node": None if from_node is None else str(from_node),
        "to_node": None if to_node is None else str(to_node),
        "k": k,
        "disjoint": disjoint,
        "by": by,
    }
    if isinstance(network, (str, os.PathLike)) and os.fspath(network).lower().endswith(".gml"):
        answer = _native.paths_of_map(network, rate, both_ways, question)
    elif both_ways:
        raise ArgumentError("both_ways is for maps (.gml); a scenario has set={'topology.both_ways': True}")
    elif rate is not None:
        raise ArgumentError("rate is for maps (.gml); a scenario has rates: set={'topology.rate': '10Mbit'}")
    else:
        answer = _native.paths_of_scenario(load(network)._native, question)
    found: dict[str, Any] = json.loads(answer)
    return found
