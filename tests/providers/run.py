#!/usr/bin/env python3
"""Validates rendered tools with the vendors' own code.

    tests/providers/install.sh DIR
    python3 tests/providers/run.py --installed DIR [--all] [--document FILE…]
    python3 tests/providers/run.py --all --only llguidance --shard 1/8 --results samples-1.jsonl

Every tool is rendered in every dialect, and planned into requests. OpenAI's npm package must return strict schemas as they
are, and pydantic-ai must call them strict; Anthropic's Python package must not change strict schemas, and the requests
must keep its limits; google-genai must take the declarations, and botocore the requests of Bedrock. Then llguidance, which
decodes with grammars as providers do, compiles each schema and draws arguments, which must decode.

A run takes some documents; `--all` takes the whole corpus (TOOLGEN_CORPUS) and draws a thousand arguments from each tool.
That takes long, so it can be done in parts: `--shard I/N` takes the same tools each time, and `--results` names the file that
has a line for each tool that is done. A run that was ended goes on with the others.
What is not installed is told and left out.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
PROGRAM = HERE / "grammar"

# A short run uses the corpus documents in which most classes of errors were found.
SAMPLE = 12
# The largest share of tools that OpenAI's strict mode may refuse, so that they fall back to the lax one.
MOST_REFUSED = 0.005
# How many findings of a kind are shown.
SHOWN = 5
NAME = re.compile(r"^[a-zA-Z][a-zA-Z0-9_-]{0,63}$")


def documents(everything: bool) -> list[str]:
    """Our own documents, the tools of the macros' tests, and those of the corpus."""
    own = [path for path in sorted((REPOSITORY / "specs").glob("*.*")) if path.name[:8] not in ("manifest", "mcp-lock")]
    own += sorted((REPOSITORY / "specs").glob("manifest-*.yaml")) + sorted((REPOSITORY / "specs" / "mcp").glob("*.json"))
    corpus = Path(os.environ.get("TOOLGEN_CORPUS", REPOSITORY / "../shared/corpus"))
    found = sorted(path for path in (corpus / "openapi").glob("*.*") if path.suffix in (".json", ".yaml"))
    if not found:
        print(f"SKIPPED: documents of the corpus: there are none in {corpus}", flush=True)
    if not everything:
        found = sorted(found, key=lambda path: (path.stat().st_size, path.name))[:: max(1, len(found) // SAMPLE)][:SAMPLE]
    servers = sorted((corpus / "mcp").glob("*.json"))
    return ["--macros", *(str(path) for path in [*own, *servers, *found])]


class Report:
    """Counts and errors by vendor."""

    def __init__(self) -> None:
        self.judged: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()

    def add(self, vendor: str, judged: int) -> None:
        self.judged[vendor] += judged

    def wrong(self, vendor: str, where: str, why: str) -> None:
        self.failed[vendor] += 1
        if self.failed[vendor] <= SHOWN:
            print(f"FAILED {vendor}: {where}: {why}", flush=True)

    def end(self) -> int:
        for vendor, judged in self.judged.items():
            failed = self.failed[vendor]
            print(f"{'FAILED' if failed else 'ok    '} {vendor}: {judged} judged, {failed} wrong")
        return 1 if sum(self.failed.values()) else 0


@dataclass
class Draw:
    """How many arguments are drawn, of which part of the tools, and where the results go."""

    count: int
    seed: int
    shard: str
    results: Path


def lines(words: list[Any], cwd: Path | None = None) -> list[dict[str, Any]]:
    """The lines of JSON that a program prints."""
    ended = subprocess.run([str(word) for word in words], cwd=cwd, stdout=subprocess.PIPE, text=True, check=False)
    if ended.returncode != 0:
        raise SystemExit(f"{words[0]} {words[1]} ended with {ended.returncode}")
    return [json.loads(line) for line in ended.stdout.splitlines()]


def names(rendered: Path, report: Report) -> None:
    """Each name is one that all providers take."""
    seen: set[tuple[str, str]] = set()
    with rendered.open(encoding="utf-8") as file:
        for text in file:
            line = json.loads(text)
            if "tool" not in line or (key := (line["source"], line["tool"])) in seen:
                continue
            seen.add(key)
            if not NAME.match(line["tool"]):
                report.wrong("names", *key)
    report.add("names", len(seen))


def losses(rendered: Path, report: Report) -> None:
    """What each dialect refuses and no longer says, as a table; few tools may be refused by OpenAI's strict mode."""
    tools: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    reasons: Counter[tuple[str, str]] = Counter()
    told: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    with rendered.open(encoding="utf-8") as file:
        for line in map(json.loads, file):
            if "tool" not in line:
                continue
            dialect, shown = line["dialect"], line["shown"]
            tools[dialect] += 1
            if "refused" in shown:
                refused[dialect] += 1
                why = re.sub(r"[0-9][0-9,]*|`[^`]*`", "…", shown["refused"][0].partition(": ")[2])
                reasons[dialect, why] += 1
                continue
            told[dialect] += any(in_prose for _, _, in_prose in shown["losses"])
            lost[dialect] += any(not in_prose for _, _, in_prose in shown["losses"])
    print(f"{'dialect':20} {'tools':>6} {'refused':>8} {'share':>8} {'rules in prose':>15} {'rules lost':>11}")
    for dialect, count in tools.items():
        share = f"{100 * refused[dialect] / count:.2f} %"
        print(f"{dialect:20} {count:6} {refused[dialect]:8} {share:>8} {told[dialect]:15} {lost[dialect]:11}")
    for (dialect, why), count in reasons.most_common():
        print(f"       {dialect} refuses {count}: {why}")
    report.add("tools that OpenAI's strict mode takes", tools["openai-strict"])
    if refused["openai-strict"] > MOST_REFUSED * tools["openai-strict"]:
        why = f"{refused['openai-strict']} of {tools['openai-strict']} are refused"
        report.wrong("tools that OpenAI's strict mode takes", "all", why)


def strict(installed: Path, rendered: Path, report: Report) -> None:
    """OpenAI's own package."""
    node, modules = shutil.which("node"), installed / "node" / "node_modules"
    if node is None or not modules.is_dir():
        print(f"SKIPPED: openai (npm): no node, or {modules} is not installed", flush=True)
        return
    *findings, counts = lines([node, HERE / "strict.mjs", modules.resolve(), rendered])
    report.add("openai (npm), toStrictJsonSchema", counts["judged"])
    for one in findings:
        report.wrong("openai (npm), toStrictJsonSchema", f"{one['source']} {one['tool']}", one["error"])


def judge(installed: Path, rendered: Path, report: Report) -> None:
    """The packages in Python."""
    python = installed / "python" / "bin" / "python"
    if not python.exists():
        print(f"SKIPPED: vendors' Python packages: {python} is not installed", flush=True)
        return
    *findings, counts = lines([python, HERE / "judge.py", rendered])
    for vendor, judged in counts["judged"].items():
        report.add(vendor, judged)
    for one in findings:
        report.wrong(one["vendor"], f"{one['source']} {one['tool'] or ''}", one["error"])


def sample(program: Path, drawn: Draw, sources: list[str], report: Report) -> None:
    """llguidance, and our decoder. What the results have already is not drawn again."""
    words = [program, "sample", drawn.count, drawn.seed, drawn.shard, drawn.results, *sources]
    subprocess.run([str(word) for word in words], check=True)
    totals: dict[str, Counter[str]] = {}
    with drawn.results.open(encoding="utf-8") as file:
        for line in map(json.loads, file):
            for finding in line["findings"]:
                if finding["kind"] == "sample":
                    where = f"{line['source']} {line['tool']}"
                    report.wrong(f"llguidance, {finding['dialect']}", where, f"{finding['error']} for {finding['sample']}")
            for dialect, counts in line["counts"].items():
                totals.setdefault(dialect, Counter()).update(counts)
    for dialect, of in totals.items():
        report.add(f"llguidance, {dialect}", of["samples"])
        print(
            f"       {dialect}: {of['tools']} tools, {of['refused']} refused by the dialect, {of['not_compiled']} not "
            f"expressed by llguidance, {of['samples']} samples, {of['refused_as_told']} refused for a rule that was told as "
            f"lost, {of['unfinished']} not finished, {of['failed']} failed"
        )


def main() -> int:
    """Renders, judges and samples."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--installed", type=Path, default=REPOSITORY / "target" / "providers")
    parser.add_argument("--all", action="store_true", help="the whole corpus, and a thousand arguments of each tool")
    parser.add_argument("--samples", type=int, help="how many arguments are drawn from each tool in each dialect")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--document", action="append", help="only this one")
    parser.add_argument("--only", choices=["vendors", "llguidance"])
    parser.add_argument("--shard", default="1/1", metavar="I/N", help="the I-th of N parts of the tools")
    parser.add_argument("--results", type=Path, help="a file of samples that goes on where it ended")
    given = parser.parse_args()

    subprocess.run(["cargo", "build", "--quiet", "--release"], cwd=PROGRAM, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", PROGRAM / "target"))
    program = target / "release" / "toolgen-provider-grammar"
    sources = given.document or documents(given.all)
    report = Report()
    if given.only != "llguidance":
        rendered = target / "rendered.jsonl"
        with rendered.open("w", encoding="utf-8") as file:
            subprocess.run([program, "render", *sources], stdout=file, check=True)
        names(rendered, report)
        losses(rendered, report)
        strict(given.installed, rendered, report)
        judge(given.installed, rendered, report)
    if given.only != "vendors":
        count = given.samples or (1_000 if given.all else 20)
        results = given.results or target / "samples.jsonl"
        if given.results is None:
            results.unlink(missing_ok=True)
        sample(program, Draw(count, given.seed, given.shard, results.resolve()), sources, report)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
