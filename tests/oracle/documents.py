"""Checks the command line with whole documents: counts, diagnostics, tools, schemas and requests."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any, Iterator

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

import generate
from arrival import Judge, Request
from cli import Cli
from load import load, places
from openapi import Operation
from report import Report
from swagger import api_of
from tamper import tampered
from wire import Undecoded

NAME = re.compile(r"^[a-zA-Z][a-zA-Z0-9_-]{0,63}$")
KEY = re.compile(r"^[a-zA-Z_][a-zA-Z0-9_]{0,63}$")
PROBLEM_KEYS = {"code", "severity", "file", "line", "column", "pointer", "message", "help"}
SEVERITIES = {"note", "warning", "error"}


class Subject:
    """One document under test."""

    def __init__(self, cli: Cli, report: Report, path: Path) -> None:
        self.cli, self.report, self.path = cli, report, path
        self.api = api_of(load(path), path)
        # Documents of several files share files in sibling directories; the corpus has a directory per project.
        parts = path.parts
        at = len(parts) - 1 - parts[::-1].index("multifile") if "multifile" in parts else None
        self.roots = [] if at is None else ["--root", str(Path(*parts[: at + 2]))]
        self.operations = {(o.method.upper(), o.path): o for o in self.api.operations()}

    def check(self, floor: float = 0.99) -> dict[str, Any] | None:
        """Checks `check --format json`; returns its only document."""
        name = self.path.name
        outcome = self.cli.run("check", str(self.path), "--format", "json", *self.roots)
        if not self.report.check(not outcome.crashed and outcome.code in (0, 1), name, f"check: {outcome.brief()}"):
            return None
        printed = outcome.json()
        try:
            document = printed["documents"][0]
            problems = document["problems"]
            shaped = all(PROBLEM_KEYS <= p.keys() and p["severity"] in SEVERITIES for p in problems)
        except (TypeError, KeyError, IndexError, AttributeError):
            self.report.fail(name, f"check prints another shape: {outcome.out[:200]!r}")
            return None
        report = self.report
        report.check(shaped, name, "check: a problem lacks a key or has an unknown severity")
        report.check(document.get("kind") == "openapi", name, f"kind {document.get('kind')}")
        report.check(document.get("version") == self.api.version, name, f"version {document.get('version')} for {self.api.version}")
        count = len(self.operations)
        report.check(document["operations"] == count, name, f"{document['operations']} operations, there are {count}")
        # Operations with dangling references cannot be sent; each is reported.
        broken = sum(1 for p in problems if p["code"] == "E0303")
        report.check(document["tools"] + broken >= floor * count, name, f"{document['tools']} tools of {count} operations")
        failed = any(p["severity"] == "error" for p in problems)
        report.check(outcome.code == int(failed), name, f"check: exit {outcome.code} with{'' if failed else 'out'} errors")
        self._places(problems)
        return document

    def _places(self, problems: list[dict[str, Any]]) -> None:
        """The location of every diagnostic must match its pointer."""
        asked = random.Random(0).sample(problems, 12) if len(problems) > 12 else problems
        # The document is read once per diagnostic, which is slow for large documents; there are few.
        for problem in asked:
            if problem["code"][1:3] == "01" and not problem["pointer"]:
                # Diagnostics of the parser refer to the text, not to the tree.
                continue
            place = (problem["line"], problem["column"])
            # A file of the document has its own diagnostics.
            named = Path(problem["file"])
            allowed = places(named if named.is_file() else self.path, problem["pointer"])
            self.report.check(place in allowed, self.path.name, f"{problem['code']} {problem['pointer']} said at {place}, stands at {sorted(allowed)}")

    def left_out(self, document: dict[str, Any], tools: list[dict[str, Any]]) -> None:
        """Each operation without a tool needs an error that points into it."""
        made = {(t["operation"]["method"].upper(), t["operation"]["path"]) for t in tools}
        for key, operation in self.operations.items():
            if key in made:
                continue
            item = operation.pointer.rpartition("/")[0]
            near = [p for p in document["problems"] if p["severity"] == "error" and (p["pointer"] == item or p["pointer"].startswith((operation.pointer, item + "/parameters")))]
            self.report.check(bool(near), self.path.name, f"{operation.id} is left out without a problem that points at it")

    def list(self) -> list[dict[str, Any]]:
        """Checks `list --format json`; returns the tools."""
        name = self.path.name
        outcome = self.cli.run("list", str(self.path), "--format", "json", *self.roots)
        printed = outcome.json()
        tools = printed.get("tools") if isinstance(printed, dict) else None
        if not self.report.check(isinstance(tools, list), name, f"list: {outcome.brief()}"):
            return []
        names = Counter(t["name"] for t in tools)
        self.report.check(all(c == 1 for c in names.values()), name, f"names occur twice: {[n for n, c in names.items() if c > 1][:5]}")
        self.report.check(tools == sorted(tools, key=lambda t: t["name"]), name, "tools are not sorted by name")
        for tool in tools:
            self._tool(tool)
        return tools

    def _tool(self, tool: dict[str, Any]) -> None:
        where = f"{self.path.name} {tool['name']}"
        check, schema = self.report.check, tool["input_schema"]
        check(bool(NAME.match(tool["name"])), where, "illegal name")
        check(isinstance(tool.get("description"), str) and bool(tool["description"].strip()), where, "no description")
        operation = tool["operation"]
        key = (operation["method"].upper(), operation["path"])
        check(key in self.operations, where, f"no operation {key}")
        check(schema.get("type") == "object" and not schema.keys() & {"oneOf", "anyOf", "allOf", "$ref"}, where, f"root is {list(schema)[:6]}")
        bad = [k for k in schema.get("properties", {}) if not KEY.match(k)]
        check(not bad, where, f"argument names {bad[:5]}")
        missing = [k for k in schema.get("required", ()) if k not in schema.get("properties", {})]
        check(not missing, where, f"required but unknown: {missing[:5]}")
        check(not (wrong := list(faults(schema, schema, ""))), where, f"schema: {wrong[:3]}")

    def sample(self, tools: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
        """Tools whose operations together have the most features."""
        known = [t for t in tools if (t["operation"]["method"].upper(), t["operation"]["path"]) in self.operations]
        if len(known) <= most:
            return known
        features = {t["name"]: self.features(self.operation(t)) for t in known}
        seen: set[str] = set()
        chosen: list[dict[str, Any]] = []
        while len(chosen) < most:
            best = max(known, key=lambda t: len(features[t["name"]] - seen))
            chosen.append(best)
            known.remove(best)
            seen |= features[best["name"]]
        return chosen

    def operation(self, tool: dict[str, Any]) -> Operation:
        """The operation that a tool declares."""
        return self.operations[(tool["operation"]["method"].upper(), tool["operation"]["path"])]

    def features(self, operation: Operation) -> set[str]:
        """The OpenAPI features of requests that an operation uses."""
        found = {operation.method}
        for p in self.api.parameters(operation):
            kind = p.schema.get("type") if isinstance(p.schema, dict) else None
            found.add(f"{p.location} {p.style} {p.explode} {p.media_type} {kind}")
            if not KEY.match(p.name):
                found.add("odd name")
        for media_type, media in self.api.contents(operation).items():
            media = self.api.resolve(media)
            found.add(f"body {media_type}")
            schema = self.api.resolve(media.get("schema")) if isinstance(media, dict) else None
            if isinstance(schema, dict):
                found |= {f"body schema {k}" for k in schema.keys() & {"oneOf", "anyOf", "allOf", "discriminator", "additionalProperties"}}
                found.add(f"body type {schema.get('type')}")
            if isinstance(media, dict) and "encoding" in media:
                found.add("encoding")
        return found

    def calls(self, tool: dict[str, Any], seeds: int) -> None:
        """Calls a tool with several sets of arguments, and decodes the requests."""
        operation = self.operation(tool)
        judge = Judge(self.api, operation)
        where = f"{self.path.name} {tool['name']} ({operation.id})"
        try:
            validator = Draft202012Validator(tool["input_schema"])
        except SchemaError as error:
            self.report.fail(where, f"schema: {error.message[:200]}")
            return
        for seed in range(seeds):
            arguments = valid_arguments(tool, judge, validator, seed, full=seed > 0)
            if arguments is None:
                self.report.skip("arguments the oracle could not make")
                continue
            self._call(tool["name"], arguments, judge, where)

    def _call(self, name: str, arguments: dict[str, Any], judge: Judge, where: str) -> None:
        given = json.dumps(arguments, ensure_ascii=False)
        outcome = self.cli.run("call", str(self.path), name, given, "--dry-run", "--format", "json", *self.roots, *self._server(judge))
        if not self.report.check(outcome.code == 0, where, f"{given[:300]} refused: {outcome.brief()}"):
            return
        try:
            request = Request.read(outcome.json())
            wrong = judge.judge(arguments, request)
        except Undecoded as error:
            wrong = str(error)
        shown = " ".join(outcome.out.split())
        if not self.report.check(wrong is None, where, f"{wrong}\n    arguments {given[:600]}\n    request   {shown[:900]}"):
            return
        for how, wrong_request in tampered(request, judge, random.Random(where)):
            try:
                seen = judge.judge(arguments, wrong_request) is not None
            except Undecoded:
                seen = True
            self.report.check(seen, where, f"the oracle does not see {how}: {wrong_request.url[:300]} {shown[:300]}")

    def _server(self, judge: Judge) -> list[str]:
        """A server URL for documents without an absolute one."""
        known = self.api.servers(judge.operation)[:1]
        return [] if known and "://" in known[0] else ["--base-url", "http://127.0.0.1:1"]


def valid_arguments(tool: dict[str, Any], judge: Judge, validator: Any, seed: int, full: bool) -> dict[str, Any] | None:
    """Arguments that are valid under the tool's schema; None after twelve failed attempts."""

    def texts(key: str) -> tuple[str, ...]:
        places = judge.locations(key)
        if judge.is_joined(key):
            return generate.MILD_TEXTS
        if all(p.location == "query" and p.style == "form" and not p.reserved for p in places):
            return generate.HARD_TEXTS
        path = all(p.location == "path" and p.style == "simple" and not p.media_type for p in places)
        return generate.PATH_TEXTS if path else generate.MILD_TEXTS

    for attempt in range(12):
        rng = random.Random(f"{tool['name']} {seed} {attempt}")
        maker = generate.Generator(tool["input_schema"], rng, full and attempt < 8)
        try:
            arguments = maker.arguments(texts)
            if _sendable(arguments, judge) and validator.is_valid(arguments):
                return arguments
        except (generate.Ungenerated, RecursionError, TypeError, re.error, OverflowError):
            continue
        except Exception as error:  # an unresolvable reference is the validator's own kind of error
            if "Unresolvable" in type(error).__name__ or "PointerToNowhere" in type(error).__name__:
                return None
            raise
    return None


def _sendable(arguments: dict[str, Any], judge: Judge) -> bool:
    """Whether arguments fit on a command line, and no path parameter is empty: an engine may reject that."""
    empty = any(value in ([], {}, [""]) and any(p.location == "path" for p in judge.locations(key)) for key, value in arguments.items())
    return not empty and len(json.dumps(arguments)) < 100_000


def faults(schema: Any, root: dict[str, Any], at: str) -> Iterator[str]:
    """Errors of a schema: unknown references, keywords with values of a wrong type."""
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        yield f"{at or '/'} is {type(schema).__name__}"
        return
    reference = schema.get("$ref")
    if reference is not None and not (isinstance(reference, str) and reference.startswith("#/$defs/") and _unescape(reference[8:]) in root.get("$defs", {})):
        yield f"{at}: $ref {reference}"
    for keyword, kinds in _KINDS.items():
        if keyword in schema and (not isinstance(schema[keyword], kinds) or isinstance(schema[keyword], bool) and bool not in kinds):
            yield f"{at}/{keyword} is {json.dumps(schema[keyword])[:60]}"
    for word in schema.keys() & {"nullable", "discriminator", "xml", "externalDocs", "example", "readOnly", "x-wire", "x-aliases"}:
        yield f"{at}: {word} is not a keyword for models"
    for keyword in ("properties", "patternProperties", "$defs"):
        for key, part in (schema.get(keyword) or {}).items() if isinstance(schema.get(keyword), dict) else ():
            yield from faults(part, root, f"{at}/{keyword}/{key}")
    for keyword in ("oneOf", "anyOf", "allOf", "prefixItems"):
        parts = schema.get(keyword, [True])
        if not isinstance(parts, list) or not parts:
            yield f"{at}/{keyword} is not a list of schemas"
            continue
        for index, part in enumerate(parts):
            yield from faults(part, root, f"{at}/{keyword}/{index}")
    for keyword in ("items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"):
        if keyword in schema:
            yield from faults(schema[keyword], root, f"{at}/{keyword}")


def _unescape(token: str) -> str:
    from urllib.parse import unquote

    return unquote(token).replace("~1", "/").replace("~0", "~")


_NUMBER = (int, float)
_KINDS: dict[str, tuple[type, ...]] = {
    "type": (str, list), "properties": (dict,), "required": (list,), "enum": (list,), "description": (str,), "title": (str,),
    "pattern": (str,), "format": (str,), "minimum": _NUMBER, "maximum": _NUMBER, "exclusiveMinimum": _NUMBER,
    "exclusiveMaximum": _NUMBER, "multipleOf": _NUMBER, "minLength": (int,), "maxLength": (int,), "minItems": (int,),
    "maxItems": (int,), "minProperties": (int,), "maxProperties": (int,), "uniqueItems": (bool,), "deprecated": (bool,),
    "examples": (list,), "$defs": (dict,),
}


def judge_document(cli: Cli, report: Report, path: Path, most: int, seeds: int, floor: float = 0.99) -> None:
    """All checks of one document."""
    subject = Subject(cli, report, path)
    document = subject.check(floor)
    tools = subject.list()
    if document:
        report.check(len(tools) == document["tools"], path.name, f"list has {len(tools)} tools, check says {document['tools']}")
        subject.left_out(document, tools)
    for tool in subject.sample(tools, most):
        subject.calls(tool, seeds)
