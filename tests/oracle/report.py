"""Collects results, and prints them at the end."""

from __future__ import annotations

import sys
from collections import Counter


class Report:
    """One run of the oracle."""

    def __init__(self) -> None:
        self.passed = 0
        self.failures: list[str] = []
        self.skipped: Counter[str] = Counter()
        self.figures: list[str] = []

    def check(self, ok: bool, where: str, what: str) -> bool:
        """Counts one check; `what` says what was expected and what was found."""
        if ok:
            self.passed += 1
        else:
            self.fail(where, what)
        return ok

    def fail(self, where: str, what: str) -> None:
        """Counts a failure."""
        self.failures.append(f"{where}: {what}")

    def skip(self, why: str) -> None:
        """Counts something that could not be checked; it is always printed."""
        self.skipped[why] += 1

    def figure(self, line: str) -> None:
        """Stores a measurement for the end."""
        self.figures.append(line)

    def add(self, other: Report) -> None:
        """Adds the counts of another process."""
        self.passed += other.passed
        self.failures += other.failures
        self.skipped += other.skipped
        self.figures += other.figures

    @staticmethod
    def progress(text: str) -> None:
        """Prints progress."""
        print(text, file=sys.stderr, flush=True)

    def finish(self, limit: int) -> int:
        """Prints everything; returns the exit code."""
        for line in self.figures:
            print(line)
        for why, count in sorted(self.skipped.items()):
            print(f"NOT JUDGED {count} x {why}")
        for line in self.failures[:limit]:
            print(f"FAILED {line}")
        if len(self.failures) > limit:
            print(f"... and {len(self.failures) - limit} more (--failures N shows more)")
        print(f"{self.passed} passed, {len(self.failures)} failed")
        return 1 if self.failures else 0
