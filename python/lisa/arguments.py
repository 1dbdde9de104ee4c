"""Arguments in the form of the native module."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lisa import _native
from lisa.checks import shown, whole
from lisa.errors import ArgumentError, ScenarioWarning

Seeds = int | str | Iterable[int]
Set = Mapping[str, Any] | Sequence[str]


def seeds(given: Seeds) -> list[int]:
    """The seeds: ``10`` is 1 to 10, ``"11..20"`` a range, ``"1,5,10..20"`` a list, as is any iterable of numbers."""
    if isinstance(given, str):
        return _native.parse_seeds(given)
    if (number := whole(given)) is not None:
        return _native.parse_seeds(str(number))
    if isinstance(given, (bool, Mapping)) or not isinstance(given, Iterable):
        raise ArgumentError(f"seeds {shown(given)}: a number of seeds, a text like `11..20`, or a list of numbers")
    numbers = []
    # No more than there may be: an iterable can be endless.
    for seed in itertools.islice(given, _native.MOST_SEEDS + 1):
        if (number := whole(seed)) is None:
            raise ArgumentError(f"seeds: {shown(seed)} is no whole number")
        if not 0 <= number < 1 << 64:
            raise ArgumentError(f"seeds: `{shown(number)}` is not from 0 to 18446744073709551615")
        numbers.append(number)
    if len(numbers) > _native.MOST_SEEDS:
        raise ArgumentError(f"seeds: more than {_native.MOST_SEEDS}")
    return numbers


def overrides(given: Set | None) -> list[str]:
    """Changes of keys as ``KEY=VALUE``. A value of ``None`` removes the key."""
    if given is None:
        return []
    if isinstance(given, str):
        return [given]
    if isinstance(given, Mapping):
        return [f"{key}={value(item)}" for key, item in given.items()]
    if not isinstance(given, Sequence) or not all(isinstance(item, str) for item in given):
        raise ArgumentError(
            f"set: expected a dictionary of keys, or a list of texts like `stop=10s`, found {shown(given)}"
        )
    return list(given)


def value(item: Any) -> str:
    """A value as a scenario file has it: text is quoted only inside of lists and tables."""
    if item is None:
        return ""
    if isinstance(item, str):
        # Text like `5Mbit` needs no quotes; an empty text would remove the key.
        return item or '""'
    return _toml(item)


def _toml(item: Any) -> str:
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, str):
        text = item.replace("\\", "\\\\").replace('"', '\\"')
        return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in text) + '"'
    if isinstance(item, Mapping):
        return "{ " + ", ".join(f"{_toml(str(key))} = {_toml(inner)}" for key, inner in item.items()) + " }"
    if isinstance(item, Sequence):
        return "[" + ", ".join(_toml(inner) for inner in item) + "]"
    if hasattr(item, "__index__"):
        return str(item.__index__())
    try:
        return repr(float(item))
    except (TypeError, ValueError):
        raise ArgumentError(
            f"a value of type `{type(item).__name__}`: text, numbers, true or false, lists and dictionaries are possible"
        ) from None


def names(given: str | Iterable[str] | None) -> list[str]:
    """A list of names; one text is a list with commas, as on the command line."""
    if given is None:
        return []
    if isinstance(given, str):
        return [name.strip() for name in given.split(",")]
    listed = list(given)
    for name in listed:
        if not isinstance(name, str):
            raise ArgumentError(f"a name is a text, found {shown(name)}")
    return listed


def some(given: str | Iterable[str] | None) -> list[str] | None:
    """A list of names, or ``None`` for the default."""
    return None if given is None else names(given)


def warn(lines: Iterable[str], depth: int = 4) -> None:
    """Issues a :class:`ScenarioWarning` for each line, at the caller of the public function, which is :func:`lisa.checks.checked`."""
    for line in lines:
        warnings.warn(line, ScenarioWarning, stacklevel=depth)
