"""The conformance documents: fixed calls and exactly what must be on the wire."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree.ElementTree import canonicalize

from arrival import Request, distance
from cli import Cli
from load import load
from report import Report
from wire import Undecoded, multipart

DOCUMENTS = Path(__file__).parent / "documents"


def judge_tables(cli: Cli, report: Report) -> None:
    """Every `NAME.calls.yaml` next to its document."""
    for table in sorted(DOCUMENTS.glob("*.calls.yaml")):
        document = table.with_name(table.name.replace(".calls", ""))
        listed = cli.run("list", str(document), "--format", "json").json()
        tools = {t["operation"]["id"]: t for t in listed["tools"]} if isinstance(listed, dict) else {}
        for number, row in enumerate(load(table)):
            where = f"{table.name} {number} {row['operation']} {json.dumps(row['arguments'], ensure_ascii=False)}"
            tool = tools.get(row["operation"])
            if report.check(tool is not None, where, "no such tool"):
                _row(cli, report, document, tool, row, where)


def _named(arguments: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """The arguments under the names the tool gave them: tables use the nearest legal ones."""
    known = schema.get("properties", {})

    def name(key: str) -> str:
        near = [k for k in known if distance(key, k) == 1]
        return key if key in known or len(near) != 1 else near[0]

    return {name(key): value for key, value in arguments.items()}


def _row(cli: Cli, report: Report, document: Path, tool: dict[str, Any], row: dict[str, Any], where: str) -> None:
    # Names in the wrong case are errors of the table.
    arguments = row["arguments"] if row.get("refused") else _named(row["arguments"], tool["input_schema"])
    outcome = cli.run("call", str(document), tool["name"], json.dumps(arguments), "--dry-run", "--format", "json")
    if row.get("refused") or ("refused_or" in row and outcome.code == 1):
        ok = outcome.code == 1 and not outcome.crashed and bool(outcome.err.strip() or outcome.out.strip())
        report.check(ok, where, f"should be refused with exit 1: {outcome.brief()} {outcome.out[:300]}")
        return
    if not report.check(outcome.code == 0, where, f"refused: {outcome.brief()}"):
        return
    try:
        request = Request.read(outcome.json())
        for expectation in sorted(row.keys() - {"operation", "arguments"}):
            wrong = _CHECKS[expectation](request, row[expectation])
            report.check(wrong is None, where, f"{expectation}: expected {row[expectation]!r}, got {wrong!r}")
    except (Undecoded, UnicodeDecodeError) as error:
        report.fail(where, str(error))


def _canonical(text: str) -> str:
    """Characters that a URL may or may not escape, escaped; escapes in capitals."""
    for char, escape in (("|", "%7C"), ("[", "%5B"), ("]", "%5D")):
        text = text.replace(char, escape)
    return re.sub(r"%[0-9a-fA-F]{2}", lambda m: m.group().upper(), text)


def _one_of(got: str, wanted: Any) -> str | None:
    options = wanted if isinstance(wanted, list) else [wanted]
    return None if _canonical(got) in [_canonical(option) for option in options] else got


def _target(request: Request, wanted: Any) -> str | None:
    parts = urlsplit(request.url)
    return _one_of(parts.path + (f"?{parts.query}" if parts.query else ""), wanted)


def _headers(request: Request, wanted: dict[str, Any]) -> dict[str, str] | None:
    wrong = {name: request.header(name.lower()) for name, text in wanted.items() if _one_of(request.header(name.lower()), text) is not None}
    return wrong or None


def _json(request: Request, wanted: Any) -> Any:
    got = json.loads(request.body) if request.body is not None else "no body"
    return None if got == wanted else got


def _xml(request: Request, wanted: str) -> Any:
    got = (request.body or b"").decode()
    return None if canonicalize(got) == canonicalize(wanted) else got


def _parts(request: Request, wanted: list[dict[str, str]]) -> Any:
    got = multipart(request.body or b"", request.header("content-type"))
    if len(got) != len(wanted):
        return [name for name, _, _ in got]
    for (name, headers, content), want in zip(got, wanted):
        expected = base64.b64decode(want["base64"]) if "base64" in want else want["text"].encode()
        disposition = headers.get("content-disposition", "")
        file = "base64" in want
        ok = name == want["name"] and content == expected and ("filename=" in disposition) == file
        ok = ok and headers.get("content-type", "").startswith(want.get("type", "")) and want.get("filename", "") in disposition
        if not ok:
            return (name, headers, content)
    return None


_CHECKS: dict[str, Any] = {
    "url": lambda request, wanted: _one_of(request.url, wanted),
    "target": _target,
    "refused_or": _target,
    "headers": _headers,
    "json": _json,
    "body": lambda request, wanted: _one_of((request.body or b"").decode(), wanted),
    "base64": lambda request, wanted: None if request.body == base64.b64decode(wanted) else request.body,
    "empty": lambda request, wanted: None if not request.body else request.body,
    "parts": _parts,
    "xml": _xml,
}
