#!/usr/bin/env python3
"""Compares toolgen with progenitor: generation, `cargo check` of what was generated, peak memory. See ../README.md.

Everything is measured in this one run, on this one machine, on the documents both accept: progenitor must generate a
crate that compiles. Dependencies are built beforehand, so a check is the check of the generated crate alone.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
WORK = HERE / "target"
PROGENITOR = "0.15.1"
CHECK_TIMEOUT = 600


@dataclass
class Cost:
    """What one command cost."""

    seconds: float
    megabytes: float
    # Seconds of all processors, of it and all its children.
    cpu: float = 0.0


def cost(command: list[str], cwd: Path, env: dict[str, str] | None = None, timeout: float = CHECK_TIMEOUT) -> Cost | None:
    """Runs a command; None if it fails. Memory is the peak of it or of any one child."""
    import threading

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
    return Cost(time.monotonic() - started, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime)


def median(runs: list[Cost | None]) -> Cost | None:
    """The median of both figures; None if a run failed."""
    done = [run for run in runs if run]
    if len(done) < len(runs) or not done:
        return None
    figures = zip(*((r.seconds, r.megabytes, r.cpu) for r in done))
    return Cost(*(statistics.median(figure) for figure in figures))


class Generator:
    """One way to make a crate of a document."""

    def __init__(self, name: str, command: list[str]) -> None:
        self.name, self.command = name, command

    def place(self, document: Path) -> Path:
        """Where its crate for a document stands."""
        return WORK / "crates" / self.name / document.stem

    def generate(self, document: Path) -> Cost | None:
        """One generation, into an empty folder."""
        place = self.place(document)
        shutil.rmtree(place, ignore_errors=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        filled = [part.format(document=document, out=place, runtime=REPOSITORY / "runtime") for part in self.command]
        return cost(filled, WORK, timeout=120)

    def check(self, document: Path, runs: int) -> Cost | None:
        """The median check of the generated crate alone; the first one, which builds dependencies, is not counted."""
        place = self.place(document)
        manifest = place / "Cargo.toml"
        if "[workspace]" not in manifest.read_text():
            manifest.write_text(manifest.read_text() + "\n[workspace]\n")
        lock = WORK / f"{self.name}.lock"
        if lock.exists():
            shutil.copy(lock, place / "Cargo.lock")
        env = {"CARGO_TARGET_DIR": str(WORK / "check" / self.name.split("-")[0])}
        command = ["cargo", "check", "--quiet"]
        if cost(command, place, env) is None:
            return None
        shutil.copy(place / "Cargo.lock", lock)
        found = []
        for _ in range(runs):
            time.sleep(0.01)
            (place / "src/lib.rs").touch()
            found.append(cost(command, place, env))
        return median(found)


def floor(generator: Generator, runs: int) -> Cost | None:
    """What cargo and rustc cost with an empty crate of the same dependencies: it is in every figure."""
    place = next((WORK / "crates" / generator.name).iterdir())
    empty = WORK / "crates" / generator.name / "empty"
    shutil.rmtree(empty, ignore_errors=True)
    (empty / "src").mkdir(parents=True)
    text = (place / "Cargo.toml").read_text().splitlines()
    (empty / "Cargo.toml").write_text("\n".join('name = "empty"' if line.startswith("name") else line for line in text) + "\n")
    (empty / "src/lib.rs").write_text("")
    found = generator.check(empty, runs)
    shutil.rmtree(empty)
    return found


def install_progenitor(jobs: str) -> Path | None:
    """Builds the peer once."""
    binary = WORK / "progenitor/bin/cargo-progenitor"
    if not binary.exists():
        print("building progenitor, once", file=sys.stderr)
        subprocess.run(["cargo", "install", "--quiet", "cargo-progenitor", "--version", PROGENITOR, "--locked", "--root", str(WORK / "progenitor"), "-j", jobs], check=False)
    return binary if binary.exists() else None


def ratio(peer: float, own: float) -> str:
    """How many times cheaper."""
    return f"{peer / own:.1f}x" if own else "-"


def compare(documents: list[Path], progenitor: Path, own: Path, runs: int) -> None:
    """The table of documents both accept."""
    peer = Generator("progenitor", [str(progenitor), "progenitor", "-i", "{document}", "-o", "{out}", "-n", "subject", "-v", "0.1.0", "--interface", "builder"])
    base = [str(own), "gen", "{document}", "--out", "{out}", "--crate", "subject", "--runtime-path", "{runtime}"]
    typed, untyped = Generator("toolgen-typed", base), Generator("toolgen-untyped", [*base, "--no-types"])
    ratios: dict[str, list[float]] = {}
    totals: dict[str, float] = {}
    checks: dict[str, list[tuple[float, float]]] = {}
    print(f"\n{'document':34} {'':17} {'generate':>22} {'cargo check':>22} {'peak memory':>18}")
    for document in documents:
        if peer.generate(document) is None or (checked := peer.check(document, runs)) is None:
            continue
        generated = median([peer.generate(document) for _ in range(runs)])
        peer.generate(document)
        row(document, "progenitor", generated, checked, generated, checked)
        for generator in (untyped, typed):
            made = median([generator.generate(document) for _ in range(runs)])
            own_check = generator.check(document, runs) if made else None
            if not made or not own_check or not generated:
                print(f"{document.stem:34} {generator.name:17} FAILED: {(WORK / 'last.log').read_text()[-300:]}")
                continue
            row(document, generator.name, made, own_check, generated, checked)
            checks.setdefault(generator.name, []).append((checked.seconds, own_check.seconds))
            for what, theirs, ours in (("generate", generated, made), ("check", checked, own_check)):
                key = f"{generator.name} {what}"
                ratios.setdefault(key, []).append(theirs.seconds / ours.seconds)
                totals[f"{key} ours"] = totals.get(f"{key} ours", 0) + ours.seconds
                totals[f"{key} theirs"] = totals.get(f"{key} theirs", 0) + theirs.seconds
    for key, found in ratios.items():
        whole = totals[f"{key} theirs"] / totals[f"{key} ours"]
        print(f"{key}: {statistics.median(found):.1f}x faster at the median of {len(found)} documents, {whole:.1f}x in sum, {min(found):.1f}x to {max(found):.1f}x")
    floors = {g.name: floor(g, runs) for g in (peer, untyped, typed) if (WORK / "crates" / g.name).is_dir()}
    for name, empty in floors.items():
        if empty:
            print(f"{name}: an empty crate with the same dependencies checks in {empty.seconds:.2f} s, {empty.megabytes:.0f} MB")
    for name, pairs in checks.items():
        own_floor, peer_floor = floors.get(name), floors.get(peer.name)
        if own_floor and peer_floor:
            # Cargo and rustc cost what they cost; this is what the generated code adds to it.
            theirs = sum(max(p - peer_floor.seconds, 0) for p, _ in pairs)
            ours = sum(max(o - own_floor.seconds, 0.001) for _, o in pairs)
            print(f"{name} check beyond the empty crate: {theirs / ours:.1f}x faster in sum ({theirs:.2f} s to {ours:.2f} s)")


def row(document: Path, name: str, made: Cost | None, checked: Cost | None, peer_made: Cost | None, peer_checked: Cost | None) -> None:
    """One line of the table; peak memory is that of the check."""
    if made and checked and peer_made and peer_checked:
        print(
            f"{document.stem[:34]:34} {name:17} {made.seconds * 1000:10.0f} ms {ratio(peer_made.seconds, made.seconds):>8}"
            f" {checked.seconds:11.2f} s {ratio(peer_checked.seconds, checked.seconds):>8} {checked.megabytes:8.0f} MB {ratio(peer_checked.megabytes, checked.megabytes):>6}",
            flush=True,
        )


def alone(documents: list[Path], own: Path, runs: int) -> None:
    """The largest document, and the lines a tool takes over all documents."""
    largest = max(documents, key=lambda path: path.stat().st_size)
    out = WORK / "crates/largest"
    for label, extra in (("check", None), ("gen, untyped", ["--no-types"]), ("gen, typed", [])):
        command = [str(own), "check", str(largest)] if extra is None else [str(own), "gen", str(largest), "--out", str(out), "--crate", "subject", *extra]
        found = []
        for _ in range(runs):
            shutil.rmtree(out, ignore_errors=True)
            found.append(tolerant(command))
        print(f"largest document {largest.name}, {label}: {statistics.median(f.seconds for f in found):.2f} s, {max(f.megabytes for f in found):.0f} MB (aim: under 2 s, 600 MB)")
    lines = tools = 0
    for document in documents:
        shutil.rmtree(out, ignore_errors=True)
        tolerant([str(own), "gen", str(document), "--out", str(out), "--crate", "subject", "--no-types"])
        for path in out.rglob("*.rs") if out.exists() else ():
            text = path.read_text()
            lines += text.count("\n")
            tools += text.count("pub static ") - text.count("pub static TOOLS")
    print(f"untyped code of {len(documents)} documents: {lines} lines, {tools} tools, {lines / max(tools, 1):.1f} lines a tool (aim: at most 60)")
    shutil.rmtree(out, ignore_errors=True)


def tolerant(command: list[str]) -> Cost:
    """The cost of a command that may report problems (exit 1)."""
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return Cost(time.monotonic() - started, usage.ru_maxrss / 1024)


def main() -> int:
    """Builds both programs and prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="runs of which the median is taken (default 3)")
    parser.add_argument("--document", action="append", help="only documents whose name contains this")
    parser.add_argument("--jobs", default="2", help="jobs for building progenitor (default 2)")
    parser.add_argument("--alone", action="store_true", help="without progenitor")
    given = parser.parse_args()
    corpus = Path(os.environ.get("TOOLGEN_CORPUS", REPOSITORY.parent / "shared/corpus")) / "openapi"
    WORK.mkdir(exist_ok=True)
    if not corpus.is_dir():
        print(f"BENCH NOT RUN: no corpus at {corpus} (TOOLGEN_CORPUS names another place)")
        return 0
    documents = sorted(p for p in corpus.iterdir() if p.suffix in (".json", ".yaml") and (not given.document or any(d in p.name for d in given.document)))
    subprocess.run(["cargo", "build", "--release", "-q", "-p", "toolgen", "--features", "cli"], cwd=REPOSITORY, check=True)
    own = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target")) / "release/cargo-toolgen"
    alone(documents, own, given.runs)
    if not given.alone:
        progenitor = install_progenitor(given.jobs)
        if progenitor is None:
            print("PEER NOT MEASURED: cargo-progenitor cannot be installed")
            return 0
        compare(documents, progenitor, own, given.runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
