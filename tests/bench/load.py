"""Processes of the runtime under load: calls and records a second, latencies, memory, and how they grow with the number of
tools, agents and processes. The service that tools call is on this machine and answers at once, so that what is measured
is the runtime. Prints tables; `--plots DIR` also writes a figure of each, as SVG.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from measure import bench

# How long each setting is measured, and how often: the median of its runs counts.
SECONDS = 2.0
RUNS = 3


@dataclass
class Setting:
    """What the workers of one measurement do."""

    label: str
    processes: int = 1
    tools: int = 10
    agents: int = 1
    beside: int = 8
    records: str = "none"
    over_http: bool = True


@dataclass
class Axis:
    """Settings that differ in one thing."""

    name: str
    title: str
    settings: list[Setting]


AXES = [
    Axis("records", "Records of calls (one process, functions)", [
        Setting(records, records=records, over_http=False)
        for records in ("none", "memory", "jsonl", "sqlite", "durable")
    ]),
    Axis("tools", "Tools (one process, HTTP)", [
        Setting(str(count), tools=count) for count in (10, 100, 1000, 5000)
    ]),
    Axis("agents", "Agents in a process, each with 8 calls at a time (HTTP)", [
        Setting(str(count), agents=count) for count in (1, 4, 16, 64)
    ]),
    Axis("processes", "Processes with one SQLite database (HTTP)", [
        Setting(str(count), processes=count, records="sqlite") for count in (1, 2, 4)
    ]),
]


def records_of(setting: Setting, folder: Path) -> object:
    """Where the workers record: all of a measurement in one place."""
    if setting.records in ("none", "memory"):
        return setting.records
    return {setting.records: str(folder / f"calls.{setting.records}")}


def measure(binary: Path, setting: Setting, seconds: float, port: int) -> dict[str, float]:
    """Runs the workers of a setting once, and sums up what they say."""
    with tempfile.TemporaryDirectory() as folder:
        words = {
            "port": port if setting.over_http else None,
            "tools": setting.tools,
            "agents": setting.agents,
            "beside": setting.beside,
            "seconds": seconds,
            "records": records_of(setting, Path(folder)),
        }
        workers = [
            subprocess.Popen([binary, "worker", json.dumps(words)], stdout=subprocess.PIPE, text=True)
            for _ in range(setting.processes)
        ]
        told = []
        for worker in workers:
            out, _ = worker.communicate(timeout=seconds * 10 + 60)
            if worker.returncode != 0:
                sys.exit(f"a worker failed: {setting}")
            told.append(json.loads(out))
    whole = {key: sum(one[key] for one in told) for key in ("calls_per_second", "records_per_second")}
    # Of several processes the slowest counts, and the memory of one.
    most = {key: max(one[key] for one in told) for key in ("lost", "p50_us", "p99_us", "ready_ms", "resting_kib", "peak_kib")}
    return whole | most


def median(runs: list[dict[str, float]]) -> dict[str, float]:
    return {key: sorted(run[key] for run in runs)[len(runs) // 2] for key in runs[0]}


COLUMNS = [
    ("calls/s", "calls_per_second", "{:,.0f}"),
    ("p50", "p50_us", "{:,.0f} µs"),
    ("p99", "p99_us", "{:,.0f} µs"),
    ("calls recorded/s", "records_per_second", "{:,.0f}"),
    ("not recorded", "lost", "{:.0%}"),
    ("startup time", "ready_ms", "{:,.1f} ms"),
    ("idle memory", "resting_kib", "{:,.0f} KiB"),
    ("peak memory", "peak_kib", "{:,.0f} KiB"),
]


def table(axis: Axis, figures: list[dict[str, float]]) -> str:
    """The figures as a table of Markdown."""
    shown = [column for column in COLUMNS if any(one[column[1]] for one in figures)]
    lines = ["| " + " | ".join([""] + [name for name, _, _ in shown]) + " |", "|---" * (len(shown) + 1) + "|"]
    for setting, one in zip(axis.settings, figures):
        cells = [setting.label] + [form.format(one[key]) if one[key] else "–" for _, key, form in shown]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def plot(axis: Axis, figures: list[dict[str, float]]) -> str:
    """Bars of calls a second, each with its figure and the 99th percentile."""
    width, row, left = 640, 28, 110
    height = 46 + row * len(figures)
    most = max(one["calls_per_second"] for one in figures)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
        f"<title>{axis.title}</title>",
        # A ground of its own, so that it is legible on a dark page, too.
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="10" y="22" font-weight="bold">{axis.title}: calls a second, p99</text>',
    ]
    for place, (setting, one) in enumerate(zip(axis.settings, figures)):
        top = 38 + row * place
        long = one["calls_per_second"] / most * (width - left - 190)
        parts += [
            f'<text x="{left - 8}" y="{top + 14}" text-anchor="end">{setting.label}</text>',
            f'<rect x="{left}" y="{top}" width="{max(long, 1):.1f}" height="{row - 8}" fill="#3b6ea5"/>',
            f'<text x="{left + long + 6:.1f}" y="{top + 14}">{one["calls_per_second"]:,.0f}, {one["p99_us"]:,.0f} µs</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=[axis.name for axis in AXES], help="one table")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long each setting is measured")
    parser.add_argument("--runs", type=int, default=RUNS, help="of how many runs the median counts")
    parser.add_argument("--plots", type=Path, help="the folder for the figures")
    args = parser.parse_args()

    binary = bench("load")
    service = subprocess.Popen([binary, "service"], stdout=subprocess.PIPE, text=True)
    try:
        port = int(service.stdout.readline())
        for axis in AXES:
            if args.only in (None, axis.name):
                figures = [
                    median([measure(binary, setting, args.seconds, port) for _ in range(args.runs)])
                    for setting in axis.settings
                ]
                print(f"\n{axis.title}\n\n{table(axis, figures)}", flush=True)
                if args.plots:
                    args.plots.mkdir(parents=True, exist_ok=True)
                    (args.plots / f"load-{axis.name}.svg").write_text(plot(axis, figures), encoding="utf-8")
    finally:
        service.kill()
        service.wait()
