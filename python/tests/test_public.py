"""The public interface: docstrings with examples that run, and the examples of the documentation."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lisa
import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(
    module.name for module in pkgutil.walk_packages(lisa.__path__, "lisa.") if not module.name.endswith("_native")
)


def public() -> Iterator[tuple[str, Any]]:
    for owner in (lisa, lisa.plot):
        for name in owner.__all__:
            thing = getattr(owner, name)
            if inspect.isfunction(thing) or inspect.isclass(thing):
                yield name, thing
            if inspect.isclass(thing) and thing.__module__.startswith("lisa"):
                members: dict[str, Any] = {}
                for base in reversed(thing.__mro__):
                    if base.__module__.startswith("lisa"):
                        members.update(vars(base))
                for inner, member in members.items():
                    member = getattr(member, "fget", member)
                    member = getattr(member, "__func__", member)
                    if inspect.isfunction(member) and not inner.startswith("_"):
                        yield f"{name}.{inner}", member


@pytest.mark.parametrize(("name", "thing"), list(public()))
def test_each_name_has_a_docstring(name: str, thing: Any) -> None:
    text = inspect.getdoc(thing)
    assert text, name
    if inspect.isfunction(thing):
        parameters = [key for key in inspect.signature(thing).parameters if key not in ("self", "cls")]
        for parameter in parameters:
            assert re.search(rf"^ +{parameter}: ", text, re.MULTILINE), f"{name}: {parameter}"
        if "." not in name and parameters:
            assert "Example:" in text and "Raises:" in text or name in ("mptcp", "tcp", "udp"), name


@pytest.mark.parametrize("module", MODULES)
def test_examples_of_docstrings(module: str) -> None:
    results = doctest.testmod(importlib.import_module(module))
    assert results.failed == 0


@pytest.mark.parametrize("page", ["docs/python.md", "README.md", "python/README.md"])
def test_examples_of_pages(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page run in order, as one program."""
    text = (ROOT / page).read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert blocks, page
    (tmp_path / "experiments").symlink_to(ROOT / "experiments")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lisa.ScenarioWarning)
        for number, block in enumerate(blocks, 1):
            exec(compile(block, f"{page}, block {number}", "exec"), names)  # noqa: S102
    if page != "docs/python.md":
        assert list(tmp_path.glob("*.png")), "the ten lines give a figure"


def test_public_names_are_documented() -> None:
    page = (ROOT / "docs/python.md").read_text()
    for owner in (lisa, lisa.plot):
        for name in owner.__all__:
            if not name.startswith("_") and name not in ("Algorithm", "Setting", "Outcome"):
                assert name in page, name
