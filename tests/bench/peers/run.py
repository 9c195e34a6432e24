#!/usr/bin/env python3
"""Compares the ready-made tools and the executor with ripgrep, sed, awk, Bubblewrap and plain processes. See ../../README.md.

Each pair is measured in turns, in this one run; of each the least processor time counts, so that other work on the
machine counts little. What has no peer here says so.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[2]
OURS = HERE / "target/release/peers-bench"
ROUNDS = 5


def cost(command: list[str], cwd: Path) -> tuple[float, float]:
    """Processor seconds of a command, and its peak memory in MB."""
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def compare(title: str, ours: list[str], peers: dict[str, list[str]], cwd: Path) -> None:
    """Measures in turns and prints a row for each peer."""
    best: dict[str, tuple[float, float]] = {}
    for _ in range(ROUNDS):
        for name, command in {"ours": ours, **peers}.items():
            if shutil.which(command[0]):
                best[name] = min(best.get(name, (9e9, 9e9)), cost(command, cwd))
    mine = best["ours"]
    for name in peers:
        if name not in best:
            print(f"{title:44} {name} is not installed")
            continue
        peer = best[name]
        print(
            f"{title:44} {mine[0] * 1e3:8.0f} ms {mine[1]:6.0f} MB   {name:12} {peer[0] * 1e3:8.0f} ms {peer[1]:6.0f} MB"
            f"   {mine[0] / max(peer[0], 1e-4):5.2f}x"
        )


def tool(directory: Path, name: str, **arguments: object) -> list[str]:
    return [str(OURS), "tool", str(directory), name, json.dumps(arguments)]


def searches(tree: Path) -> None:
    rg = ["rg", "-j1", "--no-require-git", "--no-config", "--no-ignore-global", "-n", "-i"]
    rare = "zyxwvut_not_there"
    compare("search, nothing found", tool(tree, "search", pattern=rare), {"rg": [*rg, rare], "grep": ["grep", "-rniI", rare, "."]}, tree)
    compare("search *.rs, a pattern", tool(tree, "search", pattern=r"fn \w+_never_\d+", include="*.rs"), {"rg": [*rg, "-g", "*.rs", r"fn \w+_never_\d+"]}, tree)
    plain = ["rg", "-j1", "--no-ignore", "--no-config", "-n"]
    compare("GrepTool, nothing found", tool(tree, "GrepTool", pattern=rare), {"rg": [*plain, rare]}, tree)
    files = ["rg", "-j1", "--no-ignore", "--no-config", "--files", "-g"]
    compare("GlobTool **/build.rs", tool(tree, "GlobTool", pattern="**/build.rs"), {"rg": [*files, "**/build.rs"], "find": ["find", ".", "-name", "build.rs"]}, tree)
    compare("list_files *.toml", tool(tree, "list_files", pattern="*.toml", max_depth=64), {"rg": [*files, "*.toml", "--hidden"], "find": ["find", ".", "-name", "*.toml"]}, tree)


def reads(folder: Path) -> None:
    """Slices of a file of 100 MB."""
    text = folder / "large.txt"
    with open(text, "w") as file:
        for number in range(1_400_000):
            file.write(f"{number:09d} the quick brown fox jumps over the lazy dog and on, and on\n")
    for first in (1, 700_000, 1_399_900):
        slice_ = f"{first},{first + 99}p"
        peers = {
            "sed": ["sed", "-n", slice_, str(text)],
            "awk": ["awk", f"NR>={first} && NR<{first + 100}", str(text)],
            "wc -l": ["wc", "-l", str(text)],
        }
        compare(f"read_file, 100 lines from {first}", tool(folder, "read_file", path="large.txt", offset=first, limit=100), peers, folder)
        compare(f"View, 100 lines from {first}", tool(folder, "View", file_path=str(text), offset=first - 1, limit=100), peers, folder)
    single = folder / "one-line.txt"
    with open(single, "w") as file:
        for _ in range(1000):
            file.write("x" * 100_000)
    compare("read_file, a line of 100 MB", tool(folder, "read_file", path="one-line.txt", offset=1), {"cut": ["cut", "-c", "1-1000000", str(single)]}, folder)


def starts() -> None:
    """Microseconds of a start, best and mean, by a process that uses this much memory."""
    for megabytes in ("0", "1024"):
        for how in ("plain", "executor", "engine", "read-only", "landlock", "limits"):
            out = subprocess.run([OURS, "start", how, "200", megabytes], capture_output=True, text=True)
            print(f"start, {megabytes:>4} MB, {how:9} best and mean µs: {out.stdout.strip() or out.stderr.strip()}")
    if shutil.which("bwrap"):
        words = "bwrap --unshare-all --die-with-parent --cap-drop ALL --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp printf %s x"
        times = []
        for _ in range(200):
            started = time.perf_counter()
            subprocess.run(words.split(), capture_output=True, check=True)
            times.append(time.perf_counter() - started)
        print(f"start, bwrap by hand best and mean µs: {min(times) * 1e6:.1f} {sum(times) / len(times) * 1e6:.1f}")


def streams(folder: Path) -> None:
    size = 1_000_000_000
    line = "The quick brown fox jumps over the lazy dog, again and again and again."
    peer = {"cat": ["sh", "-c", f"yes '{line}' | head -c {size} | cat"]}
    compare("1 GB of output, kept", [str(OURS), "stream", str(size), "kept"], peer, folder)
    compare("1 GB of output, by lines", [str(OURS), "stream", str(size), "lines"], peer, folder)


def manifests(folder: Path) -> None:
    head = "toolgen: 1\ntools:\n"
    tools = "".join(
        f"  tool_{number}:\n    description: Does the thing number {number}.\n    parameters:\n      path: string - The file.\n"
        f"      limit: integer? = 10 - The most rows.\n    command: {{argv: [printf, '%s', '{{path}}', '{{limit}}']}}\n"
        for number in range(2000)
    )
    (folder / "many.yaml").write_text(head + tools)
    for file in [*sorted((REPOSITORY / "specs/systems").glob("*.yaml")), folder / "many.yaml"]:
        out = subprocess.run([OURS, "manifest", file, "10"], capture_output=True, text=True)
        print(f"compile {file.name:30} ms and tools: {out.stdout.strip() or out.stderr.strip()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, default=Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo")) / "registry/src")
    parser.add_argument("only", nargs="*", help="search, read, start, stream, manifest; without any, all of them")
    options = parser.parse_args()
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=HERE, check=True)
    with tempfile.TemporaryDirectory() as folder:
        parts = {
            "search": lambda: searches(options.tree.resolve()),
            "read": lambda: reads(Path(folder)),
            "start": starts,
            "stream": lambda: streams(Path(folder)),
            "manifest": lambda: manifests(Path(folder)),
        }
        for name, part in parts.items():
            if not options.only or name in options.only:
                part()
                sys.stdout.flush()


if __name__ == "__main__":
    main()
