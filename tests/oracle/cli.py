"""Runs the command line under limits and measures it."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]

# The limit for a document, so that a runaway process does not block the machine.
ADDRESS_SPACE = 8 << 30


@dataclass
class Outcome:
    """The result of one run of the command line."""

    code: int
    out: str
    err: str
    seconds: float  # in CPU time, which does not depend on other load of the machine
    megabytes: float
    timed_out: bool

    @property
    def crashed(self) -> bool:
        """Whether it ended by a signal, a panic or a timeout."""
        return self.timed_out or self.code < 0 or self.code == 101 or "panicked at" in self.err

    def json(self) -> Any:
        """The output as JSON, or None."""
        try:
            return json.loads(self.out)
        except ValueError:
            return None

    def brief(self) -> str:
        """One line for a report."""
        if self.timed_out:
            return f"no end, {self.seconds:.1f} s of processor time"
        text = " ".join((self.err or self.out).split())
        return f"exit {self.code}: {text[:300]}"


class Cli:
    """The binary under test."""

    def __init__(self, binary: Path) -> None:
        self.binary = binary

    def run(self, *arguments: str, timeout: float = 60, env: dict[str, str] | None = None) -> Outcome:
        """Runs it with these arguments, without network configuration or colours."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(
                [str(self.binary), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env={**os.environ, "NO_COLOR": "1", **(env or {})},
                preexec_fn=_limit,
            )
            stopped = threading.Event()

            def stop() -> None:
                stopped.set()
                os.kill(process.pid, signal.SIGKILL)

            timer = threading.Timer(timeout, stop)
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            timer.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            return Outcome(
                process.returncode,
                out.read().decode("utf-8", "replace"),
                err.read().decode("utf-8", "replace"),
                usage.ru_utime + usage.ru_stime,
                usage.ru_maxrss / 1024,
                stopped.is_set(),
            )


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def find(given: str | None) -> Path:
    """The binary: the given one, the newest existing build, or a new debug build."""
    if given:
        return Path(given).resolve()
    target = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
    built = [path for kind in ("release", "debug") if (path := target / kind / "cargo-toolgen").exists()]
    if not built:
        build = ["cargo", "build", "-q", "-p", "cargo-toolgen"]
        subprocess.run(build, cwd=REPOSITORY, check=True)
        built = [target / "debug" / "cargo-toolgen"]
    return max(built, key=lambda path: path.stat().st_mtime)
