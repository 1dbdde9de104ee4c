"""The notebooks of notebooks/: each runs from its first cell to its last and holds its own assertions."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from traitlets.config import Config

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
#: Tag of cells that take minutes: `scripts/test-python.sh wheel` runs them, too.
LONG = "long"
#: Escape sequences of a traceback.
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def read(file: Path) -> NotebookNode:
    book: NotebookNode = nbformat.reads(file.read_text(), as_version=4)  # type: ignore[no-untyped-call]
    return book


def tags(cell: NotebookNode) -> list[str]:
    found: list[str] = cell.metadata.get("tags", [])
    return found


def is_long(file: Path) -> bool:
    return any(LONG in tags(cell) for cell in read(file).cells)


@pytest.fixture
def scratch(monkeypatch: pytest.MonkeyPatch, program_file: Path | None) -> Iterator[Path]:
    """A folder for all temporary files, and for those of Jupyter and IPython. It is deleted at the end."""
    with tempfile.TemporaryDirectory(prefix="nb-", ignore_cleanup_errors=True) as folder:
        for name in ("TMPDIR", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"):
            monkeypatch.setenv(name, folder)
        if program_file is not None:
            monkeypatch.setenv("LISA_PROGRAM", str(program_file))
        yield Path(folder)


def execute(file: Path, book: NotebookNode, scratch: Path, timeout: int) -> None:
    """Runs the cells of a notebook. Fails with the number of the cell, its code and its error; a cell that prints `skipped: REASON`
    skips the test.
    """
    client = NotebookClient(
        book,
        timeout=timeout,
        resources={"metadata": {"path": str(FOLDER)}},
        # Messages pass through sockets of the file system. Of ports the kernel opens that of its debugger alone, on the loopback.
        config=Config({"KernelManager": {"transport": "ipc", "ip": str(scratch / "kernel")}}),
    )
    failure = None
    try:
        client.execute()
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        failure = error
    outputs = [(number, output) for number, cell in enumerate(book.cells, 1) for output in cell.get("outputs", [])]
    if failure is not None:
        begun = [number for number, cell in enumerate(book.cells, 1) if cell.get("execution_count") is not None]
        failing = [number for number, output in outputs if output.output_type == "error"]
        number = (failing or begun or [0])[-1]
        pytest.fail(f"{file.name}, cell {number}:\n{COLOURS.sub('', str(failure))}", pytrace=False)
    for number, output in outputs:
        shown = output.get("data", {})
        if shown.get("text/plain", "").startswith("<Figure"):
            assert "image/png" in shown, f"{file.name}, cell {number}: a figure without a picture"
    printed = [line for _, output in outputs for line in output.get("text", "").splitlines()]
    for line in printed:
        if line.startswith("skipped: "):
            pytest.skip(f"{file.name}: {line.removeprefix('skipped: ')}")


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_notebook(file: Path, scratch: Path, program_file: Path | None) -> None:
    """Without the cells that take minutes."""
    if program_file is None and "LISA_PROGRAM" in file.read_text():
        pytest.skip("the program is not built: LISA_PROGRAM names no file")
    book = read(file)
    for cell in book.cells:
        if LONG in tags(cell):
            cell.cell_type = "markdown"
    execute(file, book, scratch, 300)


@pytest.mark.long
@pytest.mark.parametrize("file", [file for file in NOTEBOOKS if is_long(file)], ids=lambda file: file.stem)
def test_whole_notebook(file: Path, scratch: Path) -> None:
    execute(file, read(file), scratch, 3600)


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_has_no_outputs(file: Path) -> None:
    """Numbers in the repository would become stale."""
    book = read(file)
    nbformat.validate(book)
    for number, cell in enumerate(book.cells, 1):
        if cell.cell_type == "code":
            assert not cell.outputs and cell.execution_count is None, f"{file.name}, cell {number}"


def test_index_has_each_notebook() -> None:
    page = (FOLDER / "README.md").read_text()
    assert NOTEBOOKS
    for file in NOTEBOOKS:
        assert f"]({file.name})" in page, file.name
