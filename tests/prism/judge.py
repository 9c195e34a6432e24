"""Calls the tools of one document at Prism, and classifies rejections."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from arrival import Judge
from cli import Cli
from documents import Subject, valid_arguments
from exceptions import EXCEPTIONS, Case
from report import Report
from server import Exchange, NotStarted, Prism, prism

# Answers that Prism gives after it took the request: it finds no response to make up.
AFTER_REQUEST = {"NO_RESPONSE_DEFINED", "NO_RESPONSE_RESPONSE_DEFINED", "NO_SUCCESS_RESPONSE_DEFINED", "NO_COMPLEX_OBJECT_TEXT", "SCHEMA_TOO_COMPLEX"}


@dataclass
class Outcome:
    """The result of one document."""

    name: str
    sent: int = 0
    unread: str = ""
    excused: Counter[str] = field(default_factory=Counter)
    refused: list[str] = field(default_factory=list)


def judge_document(cli: Cli, installed: Path, path: Path, most: int, seeds: int) -> Outcome:
    """Calls a sample of a document's tools."""
    outcome = Outcome(path.name)
    subject = Subject(cli, Report(), path)
    tools = subject.sample(subject.list(), most)
    if not tools:
        outcome.unread = "no tools"
        return outcome
    try:
        with prism(installed, path) as server:
            for tool in tools:
                _calls(subject, server, tool, seeds, outcome)
    except NotStarted as error:
        outcome.unread = f"Prism does not read it: {error}"
    return outcome


def _calls(subject: Subject, server: Prism, tool: dict[str, Any], seeds: int, outcome: Outcome) -> None:
    judge = Judge(subject.api, subject.operation(tool))
    validator = Draft202012Validator(tool["input_schema"])
    for seed in range(seeds):
        arguments = valid_arguments(tool, judge, validator, seed, full=seed > 0)
        if arguments is None:
            continue
        where = f"{outcome.name} {tool['name']} ({judge.operation.id}) {json.dumps(arguments, ensure_ascii=False)[:300]}"
        before = len(server.seen)
        called = subject.cli.run(
            "call", str(subject.path), tool["name"], json.dumps(arguments), "--base-url", server.url, "--retries", "0",
            *credentials(subject), env={"PRISM_SECRET": "user:secret"},
        )
        outcome.sent += 1
        if len(server.seen) == before:
            outcome.refused.append(f"{where}: not sent: {called.brief()}")
            continue
        exchange = server.seen[-1]
        if is_accepted(exchange):
            continue
        case = Case(judge, arguments, exchange, server)
        excuse = next((e for e in EXCEPTIONS if e.applies(case)), None)
        if not server.is_alive():
            server.start()
        if excuse:
            outcome.excused[excuse.name] += 1
        else:
            outcome.refused.append(f"{where}: {told(exchange)}")


def is_accepted(exchange: Exchange) -> bool:
    """Whether Prism takes the request; what it makes up as the response may break the document's own rules."""
    places = [v.get("location") or [""] for v in exchange.violations]
    of_response = exchange.fault == "VIOLATIONS" and bool(places) and all(place[0] == "response" for place in places)
    return not exchange.fault or exchange.fault in AFTER_REQUEST or of_response


def credentials(subject: Subject) -> list[str]:
    """A secret for each security scheme of the document."""
    components = subject.api.resolve(subject.api.root.get("components"))
    schemes = subject.api.resolve(components.get("securitySchemes")) if isinstance(components, dict) else None
    return [word for name in (schemes if isinstance(schemes, dict) else ()) for word in ("--auth", f"{name}=PRISM_SECRET")]


def told(exchange: Exchange) -> str:
    """The request, and the errors of Prism."""
    said = [f"{'.'.join(map(str, v.get('location', [])))} {v.get('code')}: {v.get('message')}" for v in exchange.violations[:3]]
    return (
        f"{exchange.status} {exchange.fault} {'; '.join(said) or exchange.answer.get('detail', '')}\n"
        f"    {exchange.method} {exchange.target[:300]} {exchange.header('content-type')} {exchange.body[:400]!r}"
    )
