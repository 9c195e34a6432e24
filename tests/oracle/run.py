#!/usr/bin/env python3
"""Checks the command line with an independent implementation of OpenAPI. See ../README.md."""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import os
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from cli import Cli
    from report import Report

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
# Into how many jobs the damaged documents are divided.
PARTS = 8
NEEDED = {"yaml": "PyYAML", "jsonschema": "jsonschema"}


def install() -> None:
    """Installs the two libraries of the oracle."""
    missing = [package for module, package in NEEDED.items() if importlib.util.find_spec(module) is None]
    if missing and subprocess.run([sys.executable, "-m", "pip", "install", "-q", *missing], check=False).returncode:
        sys.exit(f"NOT RUN: {', '.join(missing)} cannot be installed (pip install {' '.join(missing)})")


def main() -> int:
    """Reads the command line, runs the suites asked for, prints the verdict."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", help="the cargo-toolgen to judge (default: the newest that was built)")
    parser.add_argument("--all", action="store_true", help="every operation of every document instead of a sample")
    parser.add_argument("--only", action="append", choices=("tables", "bad", "documents", "mutants"), help="this suite alone")
    parser.add_argument("--document", action="append", help="judge only documents whose path contains this, such as swagger2/")
    parser.add_argument("--sample", type=int, default=8, help="operations called of each document (default 8)")
    parser.add_argument("--seeds", type=int, default=3, help="argument sets for each tool (default 3)")
    parser.add_argument("--mutants", type=int, default=300, help="damaged documents (default 300)")
    parser.add_argument("--failures", type=int, default=60, help="failures shown (default 60)")
    given = parser.parse_args()
    warnings.simplefilter("ignore", FutureWarning)
    install()

    from bad import judge_bad
    from cli import Cli, find
    from load import corpus, entries
    from mutate import judge_mutants
    from report import Report
    from tables import DOCUMENTS, judge_tables

    report, cli = Report(), Cli(find(given.binary))
    suites = given.only or ["tables", "bad", "documents", "mutants"]
    directory = Path(os.environ.get("TOOLGEN_CORPUS", REPOSITORY.parent / "shared/corpus"))
    broad: list[Path] = []
    found = [p for p in DOCUMENTS.glob("*.yaml") if ".calls." not in p.name]
    found += [p for folder in (REPOSITORY / "specs", REPOSITORY / "specs/openapi") if folder.is_dir() for p in corpus(folder) if _is_openapi(p)]
    if (directory / "openapi").is_dir():
        found += corpus(directory / "openapi")
        # These are many small ones: a sample of them has most of their features.
        broad = list(entries(directory, ("swagger2", "multifile")))
        found += broad if given.all or given.document else broad[::12]
    else:
        report.skip(f"the corpus is not at {directory} (TOOLGEN_CORPUS names another place)")
    found = [p for p in found if not given.document or any(part in str(p) for part in given.document)]
    Report.progress(f"judging {cli.binary}, {len(found)} documents")

    if "tables" in suites:
        judge_tables(cli, report)
    if "bad" in suites:
        judge_bad(cli, report)
    jobs: list[tuple[Callable[..., None], Cli, tuple[Any, ...]]] = []
    if "documents" in suites:
        # The largest first, so that no process runs alone at the end.
        for path in sorted(found, key=lambda path: -path.stat().st_size):
            jobs.append((_document, cli, (path, 10**9 if given.all else given.sample, given.seeds)))
    if "mutants" in suites:
        # A damaged copy does not have its files next to it.
        whole = [p for p in found if p not in broad]
        jobs += [(judge_mutants, cli, (whole, range(part, given.mutants, PARTS))) for part in range(PARTS)]
    with multiprocessing.get_context("fork").Pool() as pool:
        for other in pool.imap(_run, jobs, chunksize=1):
            report.add(other)
    return report.finish(given.failures)


def _run(job: tuple[Callable[..., None], Cli, tuple[Any, ...]]) -> Report:
    """One job of a process."""
    from report import Report

    judge, cli, words = job
    report = Report()
    judge(cli, report, *words)
    return report


def _document(cli: Cli, report: Report, path: Path, sample: int, seeds: int) -> None:
    from documents import judge_document

    started = time.monotonic()
    judge_document(cli, report, path, sample, seeds)
    report.progress(f"  {path.name}: {len(report.failures)} failures, {time.monotonic() - started:.1f} s")


def _is_openapi(path: Path) -> bool:
    with path.open(encoding="utf-8") as file:
        # A manifest has the key, too, for its imports: further in.
        return re.search(r'^(openapi|\s*\{?\s*"openapi")\s*:', file.read(2000), re.MULTILINE) is not None


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    sys.exit(main())
