"""Packages that are imported when a function needs them, and not before: ``import lisa`` stays fast."""

from __future__ import annotations

import importlib
from typing import Any

from lisa.errors import MissingPackage


def load(module: str, extra: str) -> Any:
    """The module of this name.

    Args:
        module: Name of the module.
        extra: The extra of this package that has it.

    Raises:
        MissingPackage: If the module is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        top = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != top:
            raise
        raise MissingPackage(f"{top} is not installed: pip install 'lisa-mptcp[{extra}]'") from error
