"""What the tests share: the program, and scenarios."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import lisa
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def program_file() -> Path | None:
    """The program `lisa`, if it is built. `LISA_PROGRAM` names it."""
    named = os.environ.get("LISA_PROGRAM")
    places = [Path(named)] if named else [ROOT / "target" / profile / "lisa" for profile in ("debug", "release")]
    return next((place.resolve() for place in places if place.exists()), None)


@pytest.fixture(scope="session")
def program(program_file: Path | None) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the program `lisa` with these arguments."""
    if program_file is None:
        pytest.skip("the program is not built: LISA_PROGRAM names no file")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(program_file), *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300, check=False)

    return run


@pytest.fixture(scope="session")
def web() -> Iterator[Callable[[str], str] | None]:
    """Answers a request to the simulator in WebAssembly, as the explorer's page sends it. `None` without node, or if the
    WebAssembly is not built."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    wasm = target / "wasm32-unknown-unknown/release/lisa_explore.wasm"
    if shutil.which("node") is None or not wasm.exists():
        yield None
        return
    command = ["node", str(ROOT / "web/answers.js"), str(wasm)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout

        def answer(request: str) -> str:
            assert process.stdin and process.stdout
            process.stdin.write(request + "\n")
            process.stdin.flush()
            return process.stdout.readline().removesuffix("\n")

        yield answer
        process.stdin.close()


@pytest.fixture(autouse=True)
def in_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of files are those that the program gets."""
    monkeypatch.chdir(ROOT)


@pytest.fixture
def download() -> lisa.Scenario:
    """A short download whose round-trip times differ from seed to seed."""
    return lisa.shared_bottleneck(
        lisa.mptcp(name="download", bytes="100KB"),
        rate="5Mbit",
        rtt="40ms",
        queue=9,
        rtt_spread="10%",
        title="A download",
    )
