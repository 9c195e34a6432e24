#!/usr/bin/env python3
"""Sends calls of tools to Prism, a mock server that validates requests by the document. See ../README.md."""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path.insert(0, str(REPOSITORY / "tests/oracle"))

import run as oracle  # noqa: E402  (the oracle's stands first on the path)

# The share of calls that Prism must accept, those left out that an exception explains.
AIM = 0.98


def main() -> int:
    """Reads the command line, judges the documents, prints the verdict."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", help="the cargo-toolgen to judge (default: the newest that was built)")
    parser.add_argument("--installed", type=Path, default=REPOSITORY / "target/prism", help="where Prism is installed (default target/prism)")
    parser.add_argument("--document", action="append", help="only documents whose path contains this")
    parser.add_argument("--largest", type=int, default=250_000, help="leave out larger documents, which Prism takes long to load (default 250000 bytes)")
    parser.add_argument("--sample", type=int, default=4, help="operations called of each document (default 4)")
    parser.add_argument("--seeds", type=int, default=2, help="argument sets for each tool (default 2)")
    given = parser.parse_args()
    warnings.simplefilter("ignore", FutureWarning)
    oracle.install()

    import server
    from cli import Cli, find
    from exceptions import EXCEPTIONS
    from judge import judge_document
    from load import corpus

    server.install(given.installed)
    cli, started = Cli(find(given.binary)), time.monotonic()
    directory = Path(os.environ.get("TOOLGEN_CORPUS", REPOSITORY.parent / "shared/corpus")) / "openapi"
    if not directory.is_dir():
        sys.exit(f"NOT RUN: the corpus is not at {directory.parent} (TOOLGEN_CORPUS names another place)")
    documents = [p for p in corpus(directory) if p.stat().st_size <= given.largest]
    documents = [p for p in documents if not given.document or any(part in str(p) for part in given.document)]
    # The largest first, so that none of them is waited for alone.
    documents.sort(key=lambda p: -p.stat().st_size)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        outcomes = list(pool.map(lambda p: judge_document(cli, given.installed, p, given.sample, given.seeds), documents))

    sent = sum(o.sent for o in outcomes)
    excused, refused = Counter(), []
    for outcome in outcomes:
        if outcome.unread:
            print(f"not judged: {outcome.name}: {outcome.unread}")
        excused.update(outcome.excused)
        refused += outcome.refused
    for refusal in refused:
        print(f"REFUSED {refusal}")
    for exception in EXCEPTIONS:
        if excused[exception.name]:
            print(f"{excused[exception.name]:5} by exception, {exception.name}: {exception.reason}")
    judged = sent - sum(excused.values())
    share = (judged - len(refused)) / judged if judged else 0
    print(
        f"{judged - len(refused)} of {judged} calls accepted ({share:.1%}; {sum(excused.values())} more by exceptions; the aim is {AIM:.0%}), "
        f"{sum(not o.unread for o in outcomes)} of {len(outcomes)} documents, {time.monotonic() - started:.0f} s"
    )
    return int(share < AIM)


if __name__ == "__main__":
    sys.exit(main())
