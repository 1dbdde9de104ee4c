"""Arguments of public functions, checked by their annotations: a wrong one is an :class:`ArgumentError` of one line."""

from __future__ import annotations

import functools
import inspect
import operator
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

from lisa.errors import ArgumentError

P = ParamSpec("P")
R = TypeVar("R")

#: Largest whole number that the native module takes.
MOST = 2**63 - 1
#: Longest value in an error.
LONGEST = 60


def whole(given: object) -> int | None:
    """The value as an ``int``, if it is a whole number of any type."""
    if _is_flag(given) or not hasattr(given, "__index__"):
        return None
    try:
        return operator.index(given)
    except TypeError:  # an array of numpy
        return None


def _is_flag(given: object) -> bool:
    # numpy has a type of its own.
    return isinstance(given, bool) or type(given).__name__ in ("bool", "bool_")


def _is_list(given: object) -> bool:
    return isinstance(given, Iterable) and not isinstance(given, (str, bytes, Mapping))


#: For each part of an annotation what is expected, and whether a value is that.
KINDS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "None": ("None", lambda given: given is None),
    "bool": ("True or False", _is_flag),
    "int": ("a whole number", lambda given: whole(given) is not None),
    "str": ("a text", lambda given: isinstance(given, str)),
    "Rows": ("a text", lambda given: isinstance(given, str)),
    "Library": ("a text", lambda given: isinstance(given, str)),
    "Literal": ("a text", lambda given: isinstance(given, str)),
    "os.PathLike": ("a path", lambda given: isinstance(given, os.PathLike)),
    "Mapping": ("a dictionary", lambda given: isinstance(given, Mapping)),
    "Sequence": ("a list", lambda given: isinstance(given, Sequence) and not isinstance(given, (str, bytes))),
    "Iterable": ("a list of names", lambda given: _is_list(given) and not hasattr(given, "__array_interface__")),
    "Seeds": ("seeds", lambda given: True),
    "Set": ("changes of keys", lambda given: True),
    "Client": ("a client of Dask", lambda given: not isinstance(given, (str, int, float)) and given is not None),
}


def _parts(annotation: str) -> list[str]:
    """The alternatives of a union, without the types in brackets."""
    parts, depth = [""], 0
    for character in annotation:
        depth += {"[": 1, "]": -1}.get(character, 0)
        if character == "|" and depth == 0:
            parts.append("")
        elif depth == 0 and character not in " ]":
            parts[-1] += character
    return parts


def shown(given: object) -> str:
    """A value in an error: on one line, and not long."""
    text = repr(given)
    text = "".join(c if c.isprintable() else " " for c in text)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _kind(part: str) -> tuple[str, Callable[[object], bool]]:
    if part in KINDS:
        return KINDS[part]
    # A class of this package, which need not be imported here.
    article = "an" if part[0] in "AEIO" else "a"
    return f"{article} lisa.{part}", lambda given: part in [kind.__name__ for kind in type(given).__mro__]


def check(name: str, annotation: str, given: object) -> Any:
    """The value of an argument; a whole number of any type as an ``int``.

    Raises:
        ArgumentError: For a value of another type, and for a whole number that is negative or too large.
    """
    kinds = [_kind(part) for part in _parts(annotation)]
    if not any(is_kind(given) for _, is_kind in kinds):
        expected = list(dict.fromkeys(text for text, _ in kinds))
        choices = " or ".join(filter(None, (", ".join(expected[:-1]), expected[-1])))
        raise ArgumentError(f"{name}: expected {choices}, found {shown(given)}")
    if isinstance(given, bool) or given is None or isinstance(given, str):
        return given
    if _is_flag(given):
        return bool(given)
    number = whole(given)
    if number is not None and "int" in _parts(annotation):
        least = -MOST if name == "index" else 0
        if not least <= number <= MOST:
            raise ArgumentError(f"{name} {shown(number)}: a whole number from {least} to {MOST}")
        return number
    return given


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which refuses arguments of other types than its annotations'. Keys of scenarios (``**``) are left to the reader
    of scenarios."""
    signature = inspect.signature(function)
    annotations = {
        name: str(parameter.annotation)
        for name, parameter in signature.parameters.items()
        if parameter.annotation is not parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }

    @functools.wraps(function)
    def call(*positional: P.args, **named: P.kwargs) -> R:
        bound = signature.bind(*positional, **named)
        for name, annotation in annotations.items():
            if name in bound.arguments:
                bound.arguments[name] = check(name, annotation, bound.arguments[name])
        return function(*bound.args, **bound.kwargs)

    return call
