"""Figures on matplotlib. Each function returns a ``matplotlib.figure.Figure``, which a notebook shows and ``savefig`` writes.

Colours are those of the program's figures, which colour-blind readers can distinguish; axes have units. Without matplotlib the
functions raise :class:`lisa.MissingPackage`.
"""

from lisa.plot.bars import bars
from lisa.plot.cdf import cdf
from lisa.plot.connections import connections
from lisa.plot.heatmap import heatmap
from lisa.plot.lines import lines
from lisa.plot.windows import windows

__all__ = ["bars", "cdf", "connections", "heatmap", "lines", "windows"]
