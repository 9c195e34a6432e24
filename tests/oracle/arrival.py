"""Checks that a request contains the arguments of its call, and nothing else."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from typing import Any, Callable, Iterator
from urllib.parse import quote, unquote, urlsplit

import wire
import xmlread
import yaml
from openapi import Api, Operation, Parameter
from wire import Pair, Undecoded

LINES = {"application/ndjson", "application/x-ndjson", "application/jsonl", "application/x-jsonlines"}
YAML = {"application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"}
# Headers that an HTTP client adds.
OWN_HEADERS = {"accept", "accept-encoding", "content-type", "content-length", "host", "user-agent"}


@dataclass
class Request:
    """A request in the output of `call --dry-run`."""

    method: str
    url: str
    headers: list[Pair]
    body: bytes | None

    @staticmethod
    def read(printed: Any) -> Request:
        """Parses the machine-readable output; raises Undecoded if it is invalid."""
        try:
            kind, value = printed["body"]["kind"], printed["body"].get("value")
            body = {"none": lambda: None, "text": lambda: value.encode(), "base64": lambda: base64.b64decode(value, validate=True)}[kind]()
            return Request(printed["method"], printed["url"], [(str(k), str(v)) for k, v in printed["headers"]], body)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Undecoded(f"no request of the documented form: {error!r}") from None

    def header(self, name: str) -> str:
        """The first header of this name."""
        return next((v for k, v in self.headers if k.lower() == name), "")


@dataclass
class Left:
    """The parts of a request that are not matched yet."""

    path: dict[str, str]
    query: list[Pair]
    headers: list[Pair]
    cookies: list[Pair]
    body: Any


Take = Callable[[Left], "Left | None"]


class Judge:
    """Checks the calls of one operation."""

    def __init__(self, api: Api, operation: Operation) -> None:
        self.api, self.operation = api, operation
        self.template, _, query = operation.path.partition("#")[0].partition("?")
        # A trailing space, which makes two keys of a document different, is not a part of a path.
        self.template = self.template.rstrip()
        self.fixed = [(unquote(k), unquote(v)) for k, v in wire.pairs(query)]
        self.parameters = api.parameters(operation)
        declared = {p.name for p in self.parameters if p.location == "path"}
        in_template = re.findall(r"\{([^{}]*)\}", self.template)
        # `?city={city}` in a path: the path parameter `city` is in the query.
        in_query = {v[1:-1]: k for k, v in self.fixed if re.fullmatch(r"\{[^{}]*\}", v)}
        self.fixed = [(k, v) for k, v in self.fixed if v[1:-1] not in in_query]
        self.parameters += [Parameter(k, "query", True, "form", False, False, None) for name, k in in_query.items() if name in declared]
        self.parameters = [p for p in self.parameters if p.location != "path" or p.name in in_template]
        self.parameters += [Parameter(n, "path", True, "simple", False, False, None) for n in in_template if n not in declared]
        # Free names in the query may be percent-encoded either way unless reserved characters are allowed.
        self.plus = not any(p.reserved for p in self.parameters if p.location == "query")

    def locations(self, key: str) -> list[Parameter]:
        """The parameters an argument of this name may be."""
        return [p for p in self.parameters if distance(key, p.name) is not None]

    def is_joined(self, key: str) -> bool:
        """Whether a list of this name is one text in a form, in which nothing tells its commas from those of the items."""
        encodings = [m.get("encoding") for m in map(self.api.resolve, self.api.contents(self.operation).values()) if isinstance(m, dict)]
        fields = [field for encoding in encodings if isinstance(encoding, dict) for field in encoding.items()]
        return any(distance(key, name) is not None and isinstance(e, dict) and e.get("explode") is False for name, e in fields)

    def judge(self, arguments: dict[str, Any], request: Request) -> str | None:
        """None, or the error."""
        self.steps = 0
        if request.method.upper() != self.operation.method.upper():
            return f"method {request.method}"
        try:
            path = self._base(request.url)
            if path is None:
                return f"url {request.url} is not below {self.api.servers(self.operation)[:1] or ['/']}"
            readings = wire.template(self.template, path)
            if not readings:
                return f"path {path} is not of {self.template}"
            body = self._body(request)
            worst: list[str] = []
            for reading in readings:
                left = self._left(request, reading, body)
                if isinstance(left, str):
                    return left
                if self._place(list(arguments.items()), left, worst):
                    return None
            return worst[0] if worst else "the arguments do not account for the request"
        except (Undecoded, UnicodeDecodeError) as error:
            return str(error)

    def _base(self, url: str) -> str | None:
        """The path below the server."""
        given = urlsplit(url)
        # A placeholder such as `https://hostname:<port>/` is not a server, and the document's own host is taken.
        for server in [s for s in self.api.servers(self.operation)[:1] if not re.search(r"[<>]", s)] or ["/"]:
            base = urlsplit(server.strip())
            if "{" in server:
                return given.path[max(given.path.find(self.template.split("{")[0]), 0) :]
            if base.scheme and (base.scheme.lower(), base.hostname) != (given.scheme, given.hostname):
                return None
            path = base.path.rstrip("/")
            prefix = path if path.startswith("/") or not path else f"/{path}"
            # A base named by the caller replaces a relative server, or goes before it.
            if given.path.startswith(prefix) or not base.scheme:
                rest = given.path.removeprefix(prefix)
                return rest if self.template.startswith("/") else rest.removeprefix("/")
        return None

    def _left(self, request: Request, reading: dict[str, str], body: Any) -> Left | str:
        query = wire.pairs(urlsplit(request.url).query)
        for pair in self.fixed:
            found = next((p for p in query if (unquote(p[0]), unquote(p[1])) == pair), None)
            if not found:
                return f"the pair {pair} of the path is missing"
            query.remove(found)
        credentials = self.api.credentials()
        query = [p for p in query if ("query", unquote(p[0])) not in credentials]
        declared = {p.name.lower() for p in self.parameters if p.location == "header"}
        headers = [
            (k.lower(), v) for k, v in request.headers
            if k.lower() in declared or not (k.lower() in OWN_HEADERS or k.lower() == "cookie" or ("header", k.lower()) in credentials)
        ]
        cookies = [tuple(re.split("=", c.strip(), maxsplit=1)) for k, v in request.headers if k.lower() == "cookie" for c in re.split(r"[;&]", v) if c.strip()]
        return Left(reading, query, headers, [c for c in cookies if len(c) == 2 and ("cookie", c[0]) not in credentials], body)

    def _body(self, request: Request) -> Any:
        """The body by its media type: ("json", value), ("xml", value), ("form", pairs), ("multipart", parts), ("bytes", content)."""
        if request.body is None:
            return None
        media_type = request.header("content-type")
        kind = media_type.partition(";")[0].strip().lower()
        offered = self.api.contents(self.operation)
        # An empty name does not identify a value.
        fitting = [m for m in offered if _covers(m, kind) or not m.strip()]
        if not fitting:
            raise Undecoded(f"Content-Type {media_type!r} is none of {list(offered)}")
        self.media = self.api.resolve(offered[fitting[0]])
        if kind.endswith(("/json", "+json")):
            return ("json", _json(request.body))
        schema = self.media.get("schema") if isinstance(self.media, dict) else None
        if kind in LINES and wire.is_structured(self.api, schema):
            return ("json", [_json(line) for line in request.body.splitlines()])
        if kind in YAML and wire.is_structured(self.api, schema):
            return ("json", _yaml(request.body))
        if (kind in ("application/xml", "text/xml") or kind.endswith("+xml")) and wire.is_structured(self.api, schema):
            return ("xml", xmlread.read(self.api, schema, request.body))
        if kind == "application/x-www-form-urlencoded" and (schema is None or wire.is_structured(self.api, schema)):
            return ("form", wire.pairs(request.body.decode()))
        if kind == "multipart/form-data":
            return ("multipart", wire.multipart(request.body, media_type))
        return ("bytes", request.body)

    def _place(self, arguments: list[tuple[str, Any]], left: Left, worst: list[str]) -> bool:
        """Assigns each argument to a part of the request, so that no part is left over."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Undecoded(worst[0] if worst else "too many arguments could be at the same places")
        if not arguments:
            over = _over(left)
            if over and not worst:
                worst.append(f"left over: {over}")
            return not over
        key, value = arguments[0]
        tried = False
        for take in self._takes(key, value, left):
            rest = take(left)
            if rest is not None:
                tried = True
                if self._place(arguments[1:], rest, worst):
                    return True
        if not tried:
            worst.insert(0, f"argument {key} = {json.dumps(value, ensure_ascii=False)[:200]} did not arrive")
        return False

    def _takes(self, key: str, value: Any, left: Left) -> list[Take]:
        """The locations where an argument may be, the likeliest first."""
        ranked: list[tuple[int, Take]] = []
        for parameter in self.parameters:
            rank = distance(key, parameter.name)
            if rank is not None:
                ranked.append((rank * 2, lambda left, p=parameter: take_parameter(p, value, left, self.plus)))
        if left.body is not None:
            for name in field_names(left.body, key):
                rank = distance(key, name)
                if rank is not None:
                    ranked.append((rank * 2 + 1, lambda left, n=name: self._take_field(n, value, left)))
            ranked.append((9, lambda left: self._take_body(value, left)))
        return [take for _, take in sorted(ranked, key=lambda pair: pair[0])]

    def _take_field(self, name: str, value: Any, left: Left) -> Left | None:
        kind, content = left.body
        if kind == "json":
            if not isinstance(content, dict) or name not in content or not same(value, content[name]):
                return None
            return _with(left, body=(kind, {k: v for k, v in content.items() if k != name}))
        if kind == "xml":
            if xmlread.bare(value) is None:
                return left
            if not isinstance(content, dict) or name not in content or not told(value, content[name]):
                return None
            return _with(left, body=(kind, {k: v for k, v in content.items() if k != name}))
        encoding = self._encoding(name)
        rest = take_form(name, value, content, encoding) if kind == "form" else take_parts(name, value, content, encoding if self._styles_parts() else {})
        return None if rest is None else _with(left, body=(kind, rest))

    def _styles_parts(self) -> bool:
        """Whether parts of forms have styles: in Swagger 2.0, not in 3.0, and again since 3.1."""
        return not str(self.api.root.get("openapi", "")).startswith("3.0")

    def _encoding(self, name: str) -> dict[str, Any]:
        encodings = self.media.get("encoding") if isinstance(self.media, dict) else None
        found = self.api.resolve(encodings.get(name)) if isinstance(encodings, dict) else None
        return found if isinstance(found, dict) else {}

    def _take_body(self, value: Any, left: Left) -> Left | None:
        kind, content = left.body
        if kind == "json":
            return _with(left, body=(kind, {})) if same(value, content) else None
        if kind == "xml" and told(value, content):
            return _with(left, body=(kind, {}))
        if kind == "bytes":
            wanted = file_content(value)
            if wanted is None:
                wanted = value.encode() if isinstance(value, str) else json.dumps(value).encode()
            return _with(left, body=None) if content == wanted else None
        if not isinstance(value, dict):
            return None
        for key, inner in value.items():
            ranks = {name: distance(key, name) for name in field_names(left.body, key)}
            names = sorted((name for name, rank in ranks.items() if rank is not None), key=lambda name: ranks[name])
            taken = (self._take_field(name, inner, left) for name in names)
            found = next((rest for rest in taken if rest is not None), None)
            if found is None:
                return None
            left = found
        return left


# What arrived is found in as many steps as there are arguments; what did not is not looked for in every order.
MOST_STEPS = 300


def distance(key: str, name: str) -> int | None:
    """Distance of an argument name from a name on the wire: 0 is equal, None is a different name."""
    if key == name:
        return 0
    short, long = _plain(key), _plain(name)
    if short == long:
        return 1
    if (short and short in long) or (long and long in short) or not long:
        return 2
    return 3 if len(long) > 20 and short[:12] == long[:12] else None


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def same(given: Any, found: Any) -> bool:
    """JSON equality in which `5` is `5.0` and renamed keys may have their wire names back."""
    if isinstance(given, bool) or isinstance(found, bool):
        return given is found
    if isinstance(given, dict) and isinstance(found, dict):
        if len(given) != len(found):
            return False
        for key, value in given.items():
            keys = [key] if key in found else [k for k in found if distance(key, k) == 1]
            if not any(same(value, found[k]) for k in keys):
                return False
        return True
    if isinstance(given, list) and isinstance(found, list):
        return len(given) == len(found) and all(same(g, f) for g, f in zip(given, found))
    return bool(given == found)


def told(given: Any, found: Any) -> bool:
    """Whether XML tells this value, in which numbers of any value are texts."""
    given, found = xmlread.bare(given), xmlread.bare(found)
    if isinstance(given, dict) and isinstance(found, dict):
        if len(given) != len(found):
            return False
        return all(any(told(v, found[k]) for k in found if k == key or distance(key, k) == 1) for key, v in given.items())
    if isinstance(given, list) and isinstance(found, list):
        return len(given) == len(found) and all(told(g, f) for g, f in zip(given, found))
    if isinstance(given, list) and len(given) == 1:
        return told(given[0], found)
    if isinstance(found, str) and not isinstance(given, str):
        return json_is(found, given)
    return same(given, found)


def field_names(body: Any, key: str) -> Iterator[str]:
    """The fields of a body that may be this argument."""
    kind, content = body
    names = {}
    if kind in ("json", "xml") and isinstance(content, dict):
        names = dict.fromkeys([*content, key] if kind == "xml" else content)
    elif kind == "form":
        names = dict.fromkeys([key, *(re.split(r"\[", wire.percent(k, True))[0] for k, _ in content), *(wire.percent(k, True) for k, _ in content)])
    elif kind == "multipart":
        names = dict.fromkeys([key, *(name for name, _, _ in content)])
    return iter(names)


def take_parameter(parameter: Parameter, value: Any, left: Left, plus: bool) -> Left | None:
    """Removes a parameter from the request if it has the value."""
    p = parameter
    if p.location == "path":
        if p.name not in left.path or not path_is(p, left.path[p.name], value):
            return None
        return _with(left, path={k: v for k, v in left.path.items() if k != p.name})
    if p.location == "header":
        found = [(k, v) for k, v in left.headers if k == p.name.lower()]
        fits = len(found) == 1 and (json_is(found[0][1], value) if p.media_type else wire.simple_is(found[0][1], value, p.explode, False, p.style))
        if not fits and not (value == [] and not found):
            return None
        return _with(left, headers=[h for h in left.headers if h not in found])
    if p.location == "cookie":
        used = taken(p, value, left.cookies, False)
        return None if used is None else _with(left, cookies=_minus(left.cookies, used))
    used = taken(p, value, left.query, plus)
    return None if used is None else _with(left, query=_minus(left.query, used))


def taken(p: Parameter, value: Any, raw: list[Pair], plus: bool) -> list[Pair] | None:
    """The pairs of a query or of cookies that represent the value."""
    if p.media_type:
        named = [pair for pair in raw if wire.percent(pair[0], plus) == p.name]
        return named if len(named) == 1 and json_is(wire.percent(named[0][1], plus), value) else None
    return wire.query_is(raw, p.name, value, p.style, p.explode, plus)


def path_is(p: Parameter, text: str, value: Any) -> bool:
    """Whether the raw text in a path represents the value."""
    if p.media_type:
        return json_is(wire.percent(text), value)
    if p.style == "label":
        return wire.label_is(text, value, p.explode)
    if p.style == "matrix":
        return wire.matrix_is(text, p.name, value, p.explode)
    return wire.simple_is(text, value, p.explode, True, p.style)


def json_is(text: str, value: Any) -> bool:
    """Whether a text is this value as JSON, or as it is where it is a text."""
    try:
        return same(value, json.loads(text))
    except ValueError:
        return text == value


def take_form(name: str, value: Any, raw: list[Pair], encoding: dict[str, Any]) -> list[Pair] | None:
    """Removes a field from a form (Encoding Object: a style if one is named, else by content type)."""
    if encoding.keys() & {"style", "explode", "allowReserved"}:
        style = encoding.get("style", "form")
        used = wire.query_is(raw, name, value, style, encoding.get("explode", style in ("form", "deepObject")), True)
        return None if used is None else _minus(raw, used)
    named = [p for p in raw if wire.percent(p[0], True) == name]
    texts = [wire.percent(v, True) for _, v in named]
    fits = wire.list_is(texts, value) or (texts == [""] and value == []) if isinstance(value, list) else len(texts) == 1 and wire.scalar_is(texts[0], value)
    return _minus(raw, named) if fits else None


def take_parts(name: str, value: Any, parts: list[Any], encoding: dict[str, Any]) -> list[Any] | None:
    """Takes a field out of a multipart body: a list is several parts, unless it has a style, which nothing is encoded in."""
    named = [p for p in parts if p[0] == name]
    files = any(file_content(v) is not None for v in (value if isinstance(value, list) else [value]))
    if encoding.keys() & {"style", "explode", "allowReserved"} and not files:
        style = encoding.get("style", "form")
        if isinstance(value, list) and encoding.get("explode") is False and value:
            fits = len(named) == 1 and wire.simple_is(named[0][2].decode(), value, False, False, style)
            return [p for p in parts if p[0] != name] if fits else None
        if isinstance(value, dict) and style == "form" and encoding.get("explode") is False and any("," in v for v in value.values() if isinstance(v, str)):
            # Nothing says which comma separates: all texts between commas must be there.
            between = sorted(t for pair in value.items() for part in pair for t in (part if isinstance(part, str) else json.dumps(part)).split(","))
            fits = len(named) == 1 and sorted(named[0][2].decode().split(",")) == between
            return [p for p in parts if p[0] != name] if fits else None
        raw = [(quote(p[0], safe=""), quote(p[2].decode(), safe=",")) for p in parts if "filename" not in p[1].get("content-disposition", "")]
        used = wire.query_is(raw, name, value, style, encoding.get("explode", style in ("form", "deepObject")), True)
        return None if used is None else [p for p in parts if quote(p[0], safe="") not in {u[0] for u in used}]
    values = value if isinstance(value, list) else [value]
    if len(named) != len(values) or not all(part_is(p, v) for p, v in zip(named, values)):
        one = len(named) == 1 and isinstance(value, list) and "json" in named[0][1].get("content-type", "")
        if not (one and part_is(named[0], value)):
            return None
    return [p for p in parts if p[0] != name]


def part_is(part: Any, value: Any) -> bool:
    """Whether one part has the value."""
    _, headers, content = part
    wanted = file_content(value)
    if wanted is not None:
        return bool(content == wanted and "filename" in headers.get("content-disposition", ""))
    text = content.decode()
    kind = headers.get("content-type", "")
    if isinstance(value, (dict, list)) and "json" not in kind:
        return False
    return json_is(text, value) if "json" in kind else wire.scalar_is(text, value)


def file_content(value: Any) -> bytes | None:
    """The bytes of a file argument."""
    if isinstance(value, dict) and isinstance(value.get("base64"), str) and value.keys() <= {"base64", "filename", "content_type"}:
        return base64.b64decode(value["base64"])
    if isinstance(value, dict) and isinstance(value.get("text"), str) and value.keys() <= {"text", "filename", "content_type"}:
        return value["text"].encode()
    return None


def _yaml(text: bytes) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise Undecoded(f"no YAML: {error}") from None


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError as error:
        raise Undecoded(f"the body is not JSON: {error}") from None


def _covers(offered: str, kind: str) -> bool:
    offered = offered.partition(";")[0].strip().lower()
    return offered == kind or offered == "*/*" or (offered.endswith("/*") and kind.startswith(offered[:-1]))


def _minus(pairs: list[Pair], used: list[Pair]) -> list[Pair]:
    rest = list(pairs)
    for pair in used:
        rest.remove(pair)
    return rest


def _with(left: Left, **changed: Any) -> Left:
    return Left(**{**left.__dict__, **changed})


def _over(left: Left) -> str:
    parts = [str(v) for v in (left.path, left.query, left.headers, left.cookies) if v]
    if left.body is not None and left.body[1] not in ({}, []) and not (left.body[0] == "xml" and xmlread.bare(left.body[1]) is None):
        parts.append(str(left.body)[:200])
    return " ".join(parts)
