"""The progress bar of long calls."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from lisa.optional import load

#: Shorter work shows no bar, seconds.
SHORT = 1.0


def _is_watched() -> bool:
    """Whether a person sees standard error: a terminal, or a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return sys.stderr.isatty() or type(shell).__name__ == "ZMQInteractiveShell"


class Progress:
    """Number of finished runs, as a bar of tqdm.

    Args:
        show: ``None``: on a terminal or in a notebook, if tqdm is installed and the work takes longer than a second; ``True``:
            always and at once.

    Raises:
        MissingPackage: With ``show=True``, without tqdm.
    """

    def __init__(self, show: bool | None) -> None:
        self._begun = time.monotonic()
        self._wait = 0.0 if show else SHORT
        self._bar: Any = None
        self._tqdm: Any = load("tqdm.auto", "progress").tqdm if show else None
        self._wanted = _is_watched() if show is None else show

    def __call__(self, finished: int, runs: int) -> None:
        """Shows these numbers of finished runs and of all runs."""
        if not self._wanted or time.monotonic() - self._begun < self._wait:
            return
        if self._tqdm is None:
            try:
                self._tqdm = load("tqdm.auto", "progress").tqdm
            except ImportError:
                self._wanted = False
                return
        if self._bar is None:
            self._bar = self._tqdm(total=runs, unit="run")
        self._bar.update(finished - self._bar.n)

    def callback(self) -> Progress | None:
        """The function to call; ``None`` if no bar is wanted."""
        return self if self._wanted else None

    def close(self) -> None:
        """Ends the bar."""
        if self._bar is not None:
            self._bar.close()


@contextmanager
def progress(show: bool | None) -> Iterator[Callable[[int, int], None] | None]:
    """The function to call with the numbers of finished runs and of all runs; ``None`` if no bar is wanted.

    Args:
        show: As of :class:`Progress`.
    """
    bar = Progress(show)
    try:
        yield bar.callback()
    finally:
        bar.close()
