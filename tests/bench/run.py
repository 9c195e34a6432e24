#!/usr/bin/env python3
"""Runs a bench: `run.py NAME [ARGUMENTS]`. Without a name, lists them. See README.md."""

from __future__ import annotations

import importlib
import subprocess
import sys

import measure

# What each measures, and the module that runs it. Without a module, it is the program of the crate of this name.
BENCHES = {
    "dispatch": ("calls of functions: a match by hand, rig, rmcp; and what each layer of a provider adds", None),
    "compile": ("`cargo check` of a hundred functions: by hand, rig, rmcp", "compile"),
    "cold": ("the first build of a tool, an API, an agent, the command line; rmcp, rig, FastMCP", "cold"),
    "load": ("processes under load: calls, latencies, records, memory", "load"),
    "search": ("the index of the search, a search, and reading schemas", None),
    "shared": ("rate limits, approvals and circuit breakers, in memory and in Redis", None),
}


def main() -> int:
    """Lists the benches or runs one with what else is given."""
    if len(sys.argv) < 2 or sys.argv[1] not in BENCHES:
        for name, (what, _) in BENCHES.items():
            print(f"{name:12} {what}")
        return int(len(sys.argv) > 1)
    name, *arguments = sys.argv[1:]
    module = BENCHES[name][1]
    if module is None:
        return subprocess.call([measure.bench(name), *arguments])
    sys.argv[:] = [f"run.py {name}", *arguments]
    return importlib.import_module(module).main() or 0


if __name__ == "__main__":
    sys.exit(main())
