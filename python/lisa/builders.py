"""Scenarios from arguments: a function for each kind of network and each kind of connection.

The arguments are the keys of docs/scenario.md. Times, rates and sizes are texts with units: ``"40ms"``, ``"5Mbit"``,
``"300KB"``. An unknown key is a :class:`ScenarioError` that names the nearest known one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lisa.scenario import Scenario

Connection = dict[str, Any]
#: Waiting packets, or a table such as ``{"kind": "codel"}``.
Queue = int | Mapping[str, Any]


def mptcp(
    algorithm: str | None = None,
    *,
    name: str | None = None,
    bytes: str | int | None = None,
    subflows: int | None = None,
    **keys: Any,
) -> Connection:
    """An MPTCP connection.

    Args:
        algorithm: One of :func:`lisa.algorithms`; ``None``: ``lia``.
        name: Unique name; ``None``: protocol and algorithm.
        bytes: Size of the transfer; ``None``: endless.
        subflows: Number of subflows; ``None``: 2.
        keys: Further keys of a connection, such as ``start="1s"`` or ``count=3``.

    Example:
        >>> import lisa
        >>> lisa.mptcp("lisa", bytes="300KB")
        {'protocol': 'mptcp', 'algorithm': 'lisa', 'bytes': '300KB'}
    """
    return _connection("mptcp", algorithm=algorithm, name=name, bytes=bytes, subflows=subflows, **keys)


def tcp(
    algorithm: str | None = None, *, name: str | None = None, bytes: str | int | None = None, **keys: Any
) -> Connection:
    """A TCP connection.

    Args:
        algorithm: One of :func:`lisa.algorithms`; ``None``: ``cubic``.
        name: As for :func:`mptcp`.
        bytes: As for :func:`mptcp`.
        keys: As for :func:`mptcp`.

    Example:
        >>> import lisa
        >>> lisa.tcp("reno", name="rival")
        {'protocol': 'tcp', 'algorithm': 'reno', 'name': 'rival'}
    """
    return _connection("tcp", algorithm=algorithm, name=name, bytes=bytes, **keys)


def udp(rate: str, *, name: str | None = None, **keys: Any) -> Connection:
    """Data at a rate over UDP.

    Args:
        rate: Rate of the data.
        name: As for :func:`mptcp`.
        keys: As for :func:`mptcp`.

    Example:
        >>> import lisa
        >>> lisa.udp("500kbit")
        {'protocol': 'udp', 'rate': '500kbit'}
    """
    return _connection("udp", rate=rate, name=name, **keys)


def _connection(protocol: str, **keys: Any) -> Connection:
    return {"protocol": protocol, **{key.rstrip("_"): value for key, value in keys.items() if value is not None}}


def shared_bottleneck(
    *connections: Connection,
    rate: str | Mapping[str, Any],
    rtt: str | Sequence[str],
    queue: Queue,
    stop: str = "60s",
    title: str | None = None,
    warmup: str | None = None,
    rtt_spread: str | float | None = None,
    **topology: Any,
) -> Scenario:
    """A scenario in which all paths between one server and one client cross one bottleneck.

    Args:
        connections: What :func:`mptcp`, :func:`tcp` and :func:`udp` return.
        rate: Rate of the bottleneck.
        rtt: Round-trip time without queues; a list has one for each path.
        queue: Queue of the bottleneck, in each direction.
        stop: Latest end of the run; a run of transfers ends with the last of them.
        title: Title of tables and figures.
        warmup: Start of the measurement of endless connections and links.
        rtt_spread: Share by which each seed varies the round-trip times, such as ``"10%"``.
        topology: Further keys of ``[topology]``, such as ``loss="1%"``.

    Raises:
        ScenarioError: The first problem, with its key.

    Example:
        >>> import lisa
        >>> lisa.shared_bottleneck(lisa.mptcp("lisa", bytes="300KB"), rate="5Mbit", rtt="40ms", queue=17, title="A download")
        <lisa.Scenario: A download>
    """
    network = {"kind": "shared-bottleneck", "rate": rate, "rtt": rtt, "queue": queue, **topology}
    return _scenario(network, connections, stop=stop, title=title, warmup=warmup, rtt_spread=rtt_spread)


def non_shared_bottleneck(
    *connections: Connection,
    rate: str | Sequence[Any],
    rtt: str | Sequence[str],
    queue: Queue | Sequence[Any],
    stop: str = "60s",
    title: str | None = None,
    warmup: str | None = None,
    rtt_spread: str | float | None = None,
    **topology: Any,
) -> Scenario:
    """A scenario in which each path between one server and one client has a bottleneck of its own.

    Args:
        connections: As for :func:`shared_bottleneck`.
        rate: Rate of each bottleneck, or a list with one for each path.
        rtt: As for :func:`shared_bottleneck`.
        queue: Queue of each bottleneck, or a list with one for each path.
        stop: As for :func:`shared_bottleneck`.
        title: As for :func:`shared_bottleneck`.
        warmup: As for :func:`shared_bottleneck`.
        rtt_spread: As for :func:`shared_bottleneck`.
        topology: As for :func:`shared_bottleneck`.

    Raises:
        ScenarioError: The first problem, with its key.

    Example:
        >>> import lisa
        >>> phone = lisa.non_shared_bottleneck(
        ...     lisa.mptcp("convoy", bytes="1MB"),
        ...     rate=["20Mbit", "5Mbit"], rtt=["20ms", "60ms"], queue=[50, 100], names=["Wi-Fi", "LTE"], title="A phone",
        ... )
    """
    network = {"kind": "non-shared-bottleneck", "rate": rate, "rtt": rtt, "queue": queue, **topology}
    return _scenario(network, connections, stop=stop, title=title, warmup=warmup, rtt_spread=rtt_spread)


def fat_tree(
    *connections: Connection,
    k: int,
    rate: str,
    queue: Queue,
    delay: str | None = None,
    stop: str = "1s",
    title: str | None = None,
    warmup: str | None = None,
    rtt_spread: str | float | None = None,
    **topology: Any,
) -> Scenario:
    """A scenario in a data centre: a fat tree of switches with ``k`` ports.

    Args:
        connections: As for :func:`shared_bottleneck`; ``pattern="permutation"`` has one from every host to another.
        k: Ports of a switch, an even number.
        rate: Rate of each link.
        queue: Queue of each link.
        delay: Delay of each link, one way; without one give ``rtt``, that of the longest paths.
        stop: As for :func:`shared_bottleneck`.
        title: As for :func:`shared_bottleneck`.
        warmup: As for :func:`shared_bottleneck`.
        rtt_spread: As for :func:`shared_bottleneck`.
        topology: As for :func:`shared_bottleneck`.

    Raises:
        ScenarioError: The first problem, with its key.

    Example:
        >>> import lisa
        >>> tree = lisa.fat_tree(
        ...     lisa.mptcp(pattern="permutation", subflows=8), k=4, rate="100Mbit", delay="100us", queue=100, title="A tree"
        ... )
    """
    network = {"kind": "fat-tree", "k": k, "rate": rate, "queue": queue, "delay": delay, **topology}
    return _scenario(network, connections, stop=stop, title=title, warmup=warmup, rtt_spread=rtt_spread)


def _scenario(network: dict[str, Any], connections: Sequence[Connection], **keys: Any) -> Scenario:
    return Scenario.from_dict({**keys, "topology": network, "connection": list(connections)})
