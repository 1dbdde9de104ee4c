"""Errors and warnings, each of one line."""

from __future__ import annotations


class LisaError(ValueError):
    """Base of the errors of this package."""


class ArgumentError(LisaError):
    """A wrong argument of a function: its name, its value and the allowed values, in one line."""


class ScenarioError(LisaError):
    """An error of a scenario, in the line that the program ``lisa`` prints for the same scenario.

    Attributes:
        file: Name of the file; ``None`` for a scenario without one, such as a dictionary.
        line: Number of the line, from 1; ``None`` if the error has none.
        key: Key with dots, such as ``topology.queue``; ``None`` if the error is that of no key.
        problem: The problem, and the allowed values.
        set: The change ``KEY=VALUE`` that is wrong; ``None`` if the text of the scenario is.

    Example:
        >>> import lisa
        >>> try:
        ...     lisa.Scenario.from_dict({"topology": {"kind": "ring"}})
        ... except lisa.ScenarioError as error:
        ...     print(error.key)
        stop
    """

    def __init__(
        self,
        message: str,
        file: str | None = None,
        line: int | None = None,
        key: str | None = None,
        problem: str = "",
        set: str | None = None,
    ) -> None:
        super().__init__(message, file, line, key, problem, set)
        self.file = file
        self.line = line
        self.key = key
        self.problem = problem or message
        self.set = set

    def __str__(self) -> str:
        return str(self.args[0])


class MissingPackage(LisaError, ImportError):
    """A package that a function needs is not installed; the text has the command that installs it."""


class ScenarioWarning(UserWarning):
    """A result that misleads, as docs/scenario.md lists them under Warnings."""
