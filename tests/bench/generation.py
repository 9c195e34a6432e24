"""Compares toolgen with openapi-generator and progenitor on the largest document that each of them takes.

A peer takes a document if it generates a crate that passes `cargo check`. Times are those of processors, so that other work on
the machine counts little; memory is the peak of the largest process. Dependencies are built beforehand.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import time
import venv
from pathlib import Path

from measure import REPOSITORY, WORK, Cost, cost, median, toolgen

OPENAPI_GENERATOR = "7.26.0"
PROGENITOR = "0.15.1"
# What is hoped for: generation, memory of generation, `cargo check` without types and with them, in times less.
AIMS = {"openapi-generator": (15, 25, 50, 10), "progenitor": (None, 6, None, None)}


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
        filled = [part.format(document=document, out=place, toolgen=REPOSITORY) for part in self.command]
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


def openapi_generator() -> Generator | None:
    """Installs the generator's archive from PyPI, once; it needs Java 11 or later."""
    place = WORK / "openapi-generator"
    archives = lambda: sorted(place.rglob("openapi-generator.jar"))
    if not archives():
        venv.create(place, with_pip=True)
        subprocess.run([place / "bin/pip", "install", "-q", f"openapi-generator-cli=={OPENAPI_GENERATOR}"], check=False)
    try:
        subprocess.run(["java", "-version"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    if not archives():
        return None
    words = ["generate", "-i", "{document}", "-g", "rust", "--library", "reqwest", "-o", "{out}"]
    more = ["--package-name", "subject", "--skip-validate-spec"]
    return Generator("openapi-generator", ["java", "-jar", str(archives()[0]), *words, *more])


def progenitor(jobs: str) -> Generator | None:
    """Builds progenitor, once."""
    place = WORK / "progenitor"
    binary = place / "bin/cargo-progenitor"
    if not binary.exists():
        install = ["cargo", "install", "--quiet", "cargo-progenitor", "--version", PROGENITOR, "--locked", "--root", str(place), "-j", jobs]
        subprocess.run(install, check=False)
    if not binary.exists():
        return None
    words = ["progenitor", "-i", "{document}", "-o", "{out}", "-n", "subject", "-v", "0.1.0", "--interface", "builder"]
    return Generator("progenitor", [str(binary), *words])


def taken(peer: Generator, documents: list[Path], runs: int) -> tuple[Path, Cost] | None:
    """The largest document that the peer takes, and the cost of checking its crate."""
    for document in documents:
        if peer.generate(document) is None:
            print(f"  {document.name}: {peer.name} does not generate it", flush=True)
            continue
        checked = peer.check(document, runs)
        if checked is not None:
            return document, checked
        print(f"  {document.name}: what {peer.name} generates does not compile", flush=True)
    return None


def ratio(theirs: float, ours: float, aim: int | None) -> str:
    """How many times less, beside the aim."""
    told = "" if aim is None else f" (aim: {aim}x)"
    return f"{theirs / max(ours, 0.001):.1f}x less{told}"


def compare(peer: Generator, own: tuple[Generator, Generator], documents: list[Path], runs: int) -> bool:
    """Prints the figures of one peer; returns whether all aims are met."""
    print(f"{peer.name}:", flush=True)
    found = taken(peer, documents, runs)
    if found is None:
        print(f"  {peer.name} takes none of the documents")
        return False
    document, checked = found
    untyped, typed = own
    made = median([peer.generate(document) for _ in range(runs)])
    own_made = median([typed.generate(document) for _ in range(runs)])
    own_checked = typed.check(document, runs)
    plain_made = median([untyped.generate(document) for _ in range(runs)])
    plain_checked = untyped.check(document, runs)
    if not (made and own_made and own_checked and plain_made and plain_checked):
        print(f"  {document.name}: a run failed; see {WORK / 'last.log'}")
        return False
    print(f"  {document.name}, {document.stat().st_size / 1e6:.1f} MB; seconds of processors")
    rows = (
        ("generation", "s", made.cpu, own_made.cpu),
        ("memory of it", "MB", made.megabytes, own_made.megabytes),
        ("check, untyped", "s", checked.cpu, plain_checked.cpu),
        ("check, typed", "s", checked.cpu, own_checked.cpu),
    )
    met = True
    for (what, unit, theirs, ours), aim in zip(rows, AIMS[peer.name]):
        print(f"  {what:15} {theirs:9.2f} {unit} to {ours:8.2f} {unit}: {ratio(theirs, ours, aim)}", flush=True)
        met = met and (aim is None or theirs / max(ours, 0.001) >= aim)
    return met


def main() -> int:
    """Builds what is compared and prints the tables; 1 if an aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="runs of which the median is taken (default 3)")
    parser.add_argument("--document", action="append", help="only documents whose name contains this")
    parser.add_argument("--peer", choices=sorted(AIMS), action="append", help="only this peer")
    parser.add_argument("--jobs", default="2", help="jobs for building progenitor (default 2)")
    parser.add_argument("--binary", type=Path, help="an optimised cargo-toolgen (default: a release build is made)")
    given = parser.parse_args()
    corpus = Path(os.environ.get("TOOLGEN_CORPUS", REPOSITORY.parent / "shared/corpus")) / "openapi"
    if not corpus.is_dir():
        print(f"BENCH NOT RUN: no corpus at {corpus} (TOOLGEN_CORPUS names another place)")
        return 0
    wanted = lambda path: not given.document or any(part in path.name for part in given.document)
    documents = [path for path in corpus.iterdir() if path.suffix in (".json", ".yaml") and wanted(path)]
    documents.sort(key=lambda path: path.stat().st_size, reverse=True)
    binary = toolgen(given.binary)
    words = [str(binary), "gen", "{document}", "--out", "{out}", "--crate", "subject", "--toolgen-path", "{toolgen}"]
    own = (Generator("toolgen-untyped", [*words, "--no-types"]), Generator("toolgen-typed", words))
    met = True
    for name in given.peer or sorted(AIMS):
        peer = openapi_generator() if name == "openapi-generator" else progenitor(given.jobs)
        if peer is None:
            print(f"PEER NOT MEASURED: {name} cannot be installed")
            continue
        met = compare(peer, own, documents, given.runs) and met
    return 0 if met else 1
