"""What the benches share: where things are, what is built, and what a command costs."""

from __future__ import annotations

import os
import statistics
import subprocess
import threading
import time
from dataclasses import astuple, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
# What peers, generated crates and logs of this folder need.
WORK = HERE / "target"


def built(manifest: Path, program: str, *words: str) -> Path:
    """An optimised build of a program."""
    build = ["cargo", "build", "--release", "--quiet", "--ignore-rust-version", "--manifest-path", str(manifest), *words]
    subprocess.run(build, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", manifest.parent / "target")).resolve() / "release" / program


def bench(name: str) -> Path:
    """The program of a bench."""
    return built(HERE / "Cargo.toml", f"{name}-bench", "-p", f"{name}-bench")


def toolgen(given: Path | None) -> Path:
    """The command line: the one that is given, or a build."""
    return given.resolve() if given else built(REPOSITORY / "Cargo.toml", "cargo-toolgen", "-p", "cargo-toolgen")


@dataclass
class Cost:
    """What a command cost."""

    seconds: float
    # Seconds of all processors, of it and all its children.
    cpu: float
    # The peak of it or of any one child.
    megabytes: float


def cost(command: list[str], cwd: Path, env: dict[str, str] | None = None, timeout: float = 600) -> Cost | None:
    """Runs a command; None if it fails. What it says is in `last.log`."""
    WORK.mkdir(exist_ok=True)
    with open(WORK / "last.log", "wb") as log:
        started = time.monotonic()
        process = subprocess.Popen(command, cwd=cwd, env={**os.environ, **(env or {})}, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        timer = threading.Timer(timeout, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        return None
    return Cost(time.monotonic() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def median(runs: list[Cost | None]) -> Cost | None:
    """The median of each figure; None if a run failed."""
    if not runs or None in runs:
        return None
    return Cost(*map(statistics.median, zip(*map(astuple, runs))))
