"""Reads a request back: the pieces of OpenAPI's serialisation, each from its own table ("Style Examples", 3.1.1)."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import unquote

Pair = tuple[str, str]


class Undecoded(Exception):
    """The text on the wire is not of the expected form."""


def percent(text: str, plus: bool = False) -> str:
    """Percent-decoding; strict, so that a lone `%` is an error."""
    if re.search(r"%(?![0-9A-Fa-f]{2})", text):
        raise Undecoded(f"a lone % in {text!r}")
    return unquote(text.replace("+", " ") if plus else text, errors="strict")


def pairs(query: str) -> list[Pair]:
    """The raw pairs of a query or a form; nothing is decoded yet."""
    return [tuple((part.split("=", 1) + [""])[:2]) for part in query.split("&") if part] if query else []  # type: ignore[misc]


def scalar_is(text: str, value: Any) -> bool:
    """Whether a decoded string is this scalar."""
    if value is None:
        return text in ("", "null")
    if isinstance(value, bool):
        return text == ("true" if value else "false")
    if isinstance(value, (int, float)):
        try:
            return json.loads(text) == value
        except ValueError:
            return False
    if isinstance(value, str):
        return text == value
    # The tables say nothing about lists and objects inside lists and objects: JSON is the sane choice.
    try:
        return bool(json.loads(text) == value)
    except ValueError:
        return False


def list_is(texts: list[str], values: list[Any]) -> bool:
    """Whether decoded strings are these scalars, in order."""
    return len(texts) == len(values) and all(scalar_is(t, v) for t, v in zip(texts, values))


def object_is(found: list[Pair], value: dict[str, Any]) -> bool:
    """Whether decoded pairs are this object."""
    return sorted(k for k, _ in found) == sorted(value) and all(scalar_is(t, value[k]) for k, t in found)


def _alternate(parts: list[str]) -> list[Pair]:
    if len(parts) % 2:
        raise Undecoded(f"an odd number of parts: {parts}")
    return list(zip(parts[::2], parts[1::2]))


def _equals(parts: list[str], plus: bool = False) -> list[Pair]:
    split = [part.split("=", 1) for part in parts]
    if any(len(pair) != 2 for pair in split):
        raise Undecoded(f"a part without =: {parts}")
    return [(percent(k, plus), percent(v, plus)) for k, v in split]


def simple_is(text: str, value: Any, explode: bool, decode: bool, style: str = "simple") -> bool:
    """`simple`: paths (percent-encoded) and headers (as they are). Swagger 2.0 has other delimiters, too."""
    plain = percent if decode else (lambda t: t)
    if isinstance(value, list):
        delimiter = DELIMITERS.get(style, ",")
        delimiter = delimiter if decode else percent(delimiter)
        return list_is([plain(p) for p in text.split(delimiter)] if text or value == [""] else [], value)
    if isinstance(value, dict):
        parts = text.split(",") if text else []
        if explode:
            split = [p.split("=", 1) for p in parts]
            return all(len(p) == 2 for p in split) and object_is([(plain(k), plain(v)) for k, v in split], value)
        return object_is(_alternate([plain(p) for p in parts]), value)
    return scalar_is(plain(text), value)


def label_is(text: str, value: Any, explode: bool) -> bool:
    """`label`: a dot first; exploded, a dot between."""
    if not text.startswith("."):
        return False
    body = text[1:]
    separator = "." if explode else ","
    if isinstance(value, list):
        return list_is([percent(p) for p in body.split(separator)] if body else [], value)
    if isinstance(value, dict):
        parts = body.split(separator) if body else []
        return object_is(_equals(parts) if explode else _alternate([percent(p) for p in parts]), value)
    return scalar_is(percent(body), value)


def matrix_is(text: str, name: str, value: Any, explode: bool) -> bool:
    """`matrix`: `;name=value`; exploded objects lose the name."""
    if not text.startswith(";"):
        return text == "" and value in ([], {})
    parts = [p.split("=", 1) for p in text[1:].split(";")]
    found = [(percent(p[0]), percent(p[1]) if len(p) == 2 else "") for p in parts]
    if isinstance(value, dict) and explode:
        return object_is(found, value)
    if any(k != name for k, _ in found):
        return False
    if isinstance(value, list):
        if explode:
            return list_is([v for _, v in found], value)
        return len(parts) == 1 and list_is([percent(p) for p in parts[0][1].split(",")], value) if len(parts[0]) == 2 else value in ([], [""])
    if isinstance(value, dict):
        return len(parts) == 1 and object_is(_alternate([percent(p) for p in parts[0][1].split(",")]), value)
    return len(found) == 1 and scalar_is(found[0][1], value)


DELIMITERS = {"form": ",", "spaceDelimited": "%20", "pipeDelimited": "%7C", "tabDelimited": "%09"}


def query_is(raw: list[Pair], name: str, value: Any, style: str, explode: bool, plus: bool) -> list[Pair] | None:
    """The pairs of a query with this value, or None if it is missing. `plus`: `+` is a space."""
    named = [p for p in raw if percent(p[0], plus) == name]
    texts = [percent(v, plus) if style in ("form", "deepObject") and explode else v for _, v in named]
    if style == "deepObject" and isinstance(value, dict):
        return _deep(raw, name, value, plus)
    if isinstance(value, dict) and explode:
        return _spread(raw, value, plus)
    if isinstance(value, list) and explode:
        if not value:
            return named if texts in ([], [""]) else None
        return named if list_is([percent(v, plus) for _, v in named], value) else None
    if isinstance(value, (list, dict)):
        return named if _delimited(named, value, style, plus) else None
    return named if len(named) == 1 and scalar_is(percent(named[0][1], plus), value) else None


def _spread(raw: list[Pair], value: dict[str, Any], plus: bool) -> list[Pair] | None:
    """An exploded object: a pair a key; a list inside repeats its key or is JSON. Other objects may have the same key."""
    used: list[Pair] = []
    for key, inner in value.items():
        named = [p for p in raw if percent(p[0], plus) == key]
        whole = [p for p in named if scalar_is(percent(p[1], plus), inner)][:1]
        if not whole and isinstance(inner, list) and list_is([percent(v, plus) for _, v in named], inner):
            whole = named
        if not whole and inner != []:
            return None
        used += whole
    return used


def _delimited(named: list[Pair], value: Any, style: str, plus: bool) -> bool:
    if not value:
        return [v for _, v in named] in ([], [""])
    if len(named) != 1:
        return False
    text = named[0][1]
    if style == "spaceDelimited":
        text = text.replace("+", "%20") if plus else text
    if style == "pipeDelimited":
        text = re.sub("%7c", "%7C", text.replace("|", "%7C"))
    delimiter = DELIMITERS.get(style, ",")
    if style == "form" and len(value) > 1 and "," not in text:
        return False
    parts = [percent(p, plus) for p in text.split(delimiter)]
    return list_is(parts, value) if isinstance(value, list) else object_is(_alternate(parts), value)


def _deep(raw: list[Pair], name: str, value: dict[str, Any], plus: bool) -> list[Pair] | None:
    """`name[key]=value`; deeper levels, which the specification leaves open, as further brackets or JSON."""
    used = [p for p in raw if percent(p[0], plus).startswith(name + "[")]
    found: dict[str, list[str]] = {}
    for key, text in used:
        found.setdefault(percent(key, plus), []).append(percent(text, plus))
    for key, inner in value.items():
        if not _deep_value(found, f"{name}[{key}]", inner):
            return None
    return used if not found else None


def _deep_value(found: dict[str, list[str]], path: str, value: Any) -> bool:
    texts = found.pop(path, [])
    if len(texts) == 1 and scalar_is(texts[0], value):
        return True
    if isinstance(value, list):
        texts = texts or found.pop(path + "[]", [])
        if texts:
            return list_is(texts, value)
        return all(_deep_value(found, f"{path}[{i}]", v) for i, v in enumerate(value))
    if isinstance(value, dict) and not texts:
        return all(_deep_value(found, f"{path}[{k}]", v) for k, v in value.items())
    return False


def template(path: str, given: str) -> list[dict[str, str]]:
    """The raw values of a path template's parameters in a path: every way to read it."""
    names = re.findall(r"\{([^{}]*)\}", path)
    literals = re.split(r"\{[^{}]*\}", path)
    if not names:
        return [{}] if _literal(path, given) == len(given) else []
    found: list[dict[str, str]] = []

    def step(index: int, position: int, values: dict[str, str]) -> None:
        length = _literal(literals[index], given[position:])
        if length is None or len(found) > 50:
            return
        position += length
        if index == len(names):
            if position == len(given):
                found.append(values)
            return
        end = given.find("/", position)
        stop = len(given) if end < 0 else end
        for cut in range(stop, position - 1, -1):
            if index + 1 == len(names) and not literals[-1] and cut != len(given):
                continue
            step(index + 1, cut, {**values, names[index]: given[position:cut]})

    step(0, 0, {})
    return found


def _literal(literal: str, given: str) -> int | None:
    """How much of `given` is the literal, each character as it is or percent-encoded."""
    position = 0
    for char in literal:
        encoded = "".join(f"%{b:02X}" for b in char.encode())
        if given[position : position + len(char)] == char:
            position += len(char)
        elif given[position : position + len(encoded)].upper() == encoded:
            position += len(encoded)
        else:
            return None
    return position


def multipart(body: bytes, content_type: str) -> list[tuple[str, dict[str, str], bytes]]:
    """The parts of a `multipart/form-data` body: name, headers (lower case) and content."""
    match = re.search(r'boundary="?([^";]+)"?', content_type)
    if not match:
        raise Undecoded("no boundary")
    delimiter = b"--" + match.group(1).encode()
    pieces = (b"\r\n" + body).split(b"\r\n" + delimiter)
    if not pieces[-1].startswith(b"--"):
        raise Undecoded("no closing boundary")
    parts = []
    for piece in pieces[1:-1]:
        head, _, content = piece.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        headers = {}
        for line in head.decode().split("\r\n"):
            key, _, text = line.partition(":")
            headers[key.strip().lower()] = text.strip()
        name = re.search(r'[; ]name="((?:[^"\\]|\\.)*)"', headers.get("content-disposition", ""))
        if not name:
            raise Undecoded(f"a part without name: {headers}")
        parts.append((percent_name(name.group(1)), headers, content))
    return parts


def percent_name(text: str) -> str:
    """A field name as browsers escape it (`%22` for a quote)."""
    return text.replace("%22", '"').replace("%0D", "\r").replace("%0A", "\n").replace('\\"', '"')


def is_structured(api: Any, schema: Any, depth: int = 8) -> bool:
    """Whether values of a schema are objects or lists."""
    schema = api.resolve(schema)
    if not isinstance(schema, dict) or not depth:
        return False
    given = schema.get("type")
    if {"object", "array"} & ({given} if isinstance(given, str) else set(given or [])) or schema.keys() & {"properties", "items", "additionalProperties"}:
        return True
    return any(is_structured(api, one, depth - 1) for word in ("allOf", "oneOf", "anyOf") for one in schema.get(word) or [])
