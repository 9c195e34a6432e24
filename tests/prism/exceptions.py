"""Reasons why Prism rejects valid requests. Each exception is verified for the rejected request."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from typing import Any, Callable

from arrival import Judge, Request, distance
from openapi import IGNORED_HEADERS
from server import Exchange, Prism
from wire import Undecoded


@dataclass
class Case:
    """A request that Prism rejected."""

    judge: Judge
    arguments: dict[str, Any]
    exchange: Exchange
    prism: Prism

    def is_right(self) -> bool:
        """Whether the oracle, which reads OpenAPI for itself, finds every argument in its place and nothing else."""
        sent = self.exchange
        base = next(iter(self.judge.api.servers(self.judge.operation)), "/").rstrip("/")
        # The oracle reads the URL as it would be at the document's own server.
        url = (base if "://" in base and "{" not in base else f"http://127.0.0.1{base if '{' not in base else ''}") + sent.target
        headers = [(k, v) for k, v in sent.headers if k.lower() != "connection"]
        try:
            return self.judge.judge(self.arguments, Request(sent.method, url, headers, sent.body or None)) is None
        except Undecoded:
            return False

    def declared(self, location: str) -> list[dict[str, Any]]:
        """The parameters that the document has for a place, those included that a request ignores."""
        api, operation = self.judge.api, self.judge.operation
        listed = [api.resolve(p) for holder in (operation.item, operation.node) for p in api.resolve(holder.get("parameters")) or ()]
        return [p for p in listed if isinstance(p, dict) and p.get("in") == location]

    def missed(self, location: str) -> list[str] | None:
        """The names that Prism misses at a place, in lower case; None if it finds something else wrong, too."""
        names = []
        for violation in self.exchange.violations:
            named = re.search(r"must have required property '([^']*)'", str(violation.get("message")))
            if violation.get("location") != [location] or not named:
                return None
            names.append(named.group(1).lower())
        return names or None


@dataclass
class Exception_:
    """A reason, and its verification."""

    name: str
    reason: str
    shown: Callable[[Case], bool]

    def applies(self, case: Case) -> bool:
        """Whether it explains a rejection."""
        return self.shown(case) and case.is_right()


def _ended(case: Case) -> bool:
    return case.exchange.fault == "NO_ANSWER" and not case.prism.is_alive()


def _failed(case: Case) -> bool:
    return case.exchange.fault == "UNKNOWN" and not case.exchange.violations


def _fragment(case: Case) -> bool:
    return case.exchange.fault == "NO_PATH_MATCHED_ERROR" and "#" in case.judge.operation.path


def _ignored(case: Case) -> bool:
    declared = {p["name"].lower() for p in case.declared("header") if isinstance(p.get("name"), str)}
    return set(case.missed("header") or [""]) <= declared & IGNORED_HEADERS


def _other_path(case: Case) -> bool:
    own = {name.lower() for name in re.findall(r"\{([^{}]*)\}", case.judge.template)}
    missed = case.missed("path")
    return missed is not None and not own & set(missed)


def _empty_list(case: Case) -> bool:
    empty = [key for key, value in case.arguments.items() if value == []]
    wanted = [p.name for p in case.judge.parameters if p.location == "query" and any(distance(k, p.name) is not None for k in empty)]
    return set(case.missed("query") or [""]) <= {name.lower() for name in wanted}


def _multipart(case: Case) -> bool:
    said = [str(v.get("message")) for v in case.exchange.violations]
    is_form = case.exchange.header("content-type").startswith("multipart/form-data")
    return is_form and bool(said) and set(said) == {"Reserved characters used in request body"}


def _plain(case: Case) -> bool:
    """Verified by a second request, with a string of the type that Prism requires."""
    said = [(v.get("location"), v.get("code"), str(v.get("message"))) for v in case.exchange.violations]
    wanted = next((text for kind, text in (("boolean", "true"), ("integer", "1"), ("number", "1")) if said and said[0][2].endswith(kind)), None)
    if wanted is None or len(said) > 1 or said[0][:2] != (["body"], "type") or case.exchange.header("content-type") != "text/plain":
        return False
    other = copy.deepcopy(case.exchange)
    other.body = wanted.encode()
    other.headers = [(k, str(len(other.body)) if k.lower() == "content-length" else v) for k, v in other.headers]
    case.prism.ask(other)
    return [v.get("message") for v in other.violations] == [said[0][2]]


def _texts_of_a_boolean(case: Case) -> bool:
    impossible = set()
    for p in case.judge.parameters:
        schema = p.schema if isinstance(p.schema, dict) else {}
        if schema.get("type") in ("boolean", "integer", "number") and schema.get("enum") and all(isinstance(v, str) for v in schema["enum"]):
            impossible.add(p.name.lower())
    found = [(v.get("code"), str((v.get("location") or [""])[-1]).lower()) for v in case.exchange.violations]
    return bool(found) and all(code == "enum" and name in impossible for code, name in found)


EXCEPTIONS = [
    Exception_("it ends", "no request may end a server", _ended),
    Exception_("it fails", "it answers UNKNOWN, an exception of its own code, and finds nothing wrong", _failed),
    Exception_("fragment in a path", "it waits for the `#…` of a path, which is not a part of a request (RFC 9110, 7.1)", _fragment),
    Exception_("ignored header", "a header parameter of this name shall be ignored (OpenAPI, Parameter Object)", _ignored),
    Exception_("another path", "it asks for a part that the path does not have, as it took it for another one", _other_path),
    Exception_("empty list", "a list without items is not a pair of a query (RFC 6570, 3.2.8); an argument is that list", _empty_list),
    Exception_("multipart is not escaped", "it wants parts of multipart/form-data percent-encoded, which RFC 7578 does not", _multipart),
    Exception_("text of a number", "it takes a text/plain body for a text and refuses any, be it `true` or `1`", _plain),
    Exception_("texts of a boolean", "the parameter is a boolean or number of which texts are listed: no request fits both", _texts_of_a_boolean),
]
