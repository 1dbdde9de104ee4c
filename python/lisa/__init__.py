"""Coupled congestion control for Multipath TCP, in a fast packet simulator.

    >>> import lisa
    >>> download = lisa.shared_bottleneck(
    ...     lisa.mptcp(name="download", bytes="300KB"), rate="5Mbit", rtt="40ms", queue=9, rtt_spread="10%"
    ... )
    >>> compared = download.compare(["lia", "lisa"], seeds=10)

The same scenario and seed give the same bytes of results as the program ``lisa``, on any machine. docs/python.md is the guide.
"""

from lisa import plot
from lisa._native import VERSION as __version__
from lisa.builders import fat_tree, mptcp, non_shared_bottleneck, shared_bottleneck, tcp, udp
from lisa.catalogue import Algorithm, Setting, algorithms, paths
from lisa.comparison import Comparison
from lisa.errors import ArgumentError, LisaError, MissingPackage, ScenarioError, ScenarioWarning
from lisa.outcomes import Outcome, Outcomes
from lisa.parts import Parts
from lisa.scenario import Scenario
from lisa.sweep import Sweep
from lisa.table import Table

__all__ = [
    "Algorithm",
    "ArgumentError",
    "Comparison",
    "LisaError",
    "MissingPackage",
    "Outcome",
    "Outcomes",
    "Parts",
    "Scenario",
    "ScenarioError",
    "ScenarioWarning",
    "Setting",
    "Sweep",
    "Table",
    "__version__",
    "algorithms",
    "fat_tree",
    "mptcp",
    "non_shared_bottleneck",
    "paths",
    "plot",
    "shared_bottleneck",
    "tcp",
    "udp",
]
