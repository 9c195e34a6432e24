"""Reads an XML body as the value that its schema describes (OpenAPI, "XML Object"), with the parser of Python's library."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from openapi import Api
from wire import Undecoded

NIL = "{http://www.w3.org/2001/XMLSchema-instance}nil"


def read(api: Api, schema: Any, body: bytes) -> Any:
    """The value of a document."""
    try:
        root = ElementTree.fromstring(body)
    except ElementTree.ParseError as error:
        raise Undecoded(f"the body is not XML: {error}") from None
    merged = _merged(api, schema)
    named = merged["xml"].get("name")
    if named and _local(root.tag) != named.rpartition(":")[2]:
        raise Undecoded(f"the root is {root.tag!r}, not {named!r}")
    return _value(api, merged, root, named or "")


def bare(value: Any) -> Any:
    """A value without what XML does not show: nulls, and what is empty."""
    if isinstance(value, dict):
        inner = {k: bare(v) for k, v in value.items()}
        return {k: v for k, v in inner.items() if v not in (None, [], {}, "")} or None
    if isinstance(value, list):
        return [bare(v) for v in value] or None
    return None if value == "" else value


def _merged(api: Api, schema: Any, depth: int = 12) -> dict[str, Any]:
    """A schema with what it refers to and takes in: types, fields, items and hints; its own come first."""
    out: dict[str, Any] = {"types": set(), "properties": {}, "xml": {}, "items": None, "extra": None}
    own = schema if isinstance(schema, dict) else {}
    target = api.resolve(own)
    parts = [own] if target is own or not isinstance(target, dict) else [own, target]
    for part in parts:
        given = part.get("type")
        out["types"] |= {given} if isinstance(given, str) else set(given or [])
        for key, value in (part.get("properties") or {}).items():
            out["properties"].setdefault(key, value)
        out["xml"] = {**(part.get("xml") or {}), **out["xml"]}
        out["items"] = out["items"] if out["items"] is not None else part.get("items")
        if isinstance(part.get("additionalProperties"), dict):
            out["extra"] = part["additionalProperties"]
        for word in ("allOf", "oneOf", "anyOf") if depth else ():
            inner = [_merged(api, one, depth - 1) for one in part.get(word) or []]
            for one in inner:
                out["types"] |= one["types"]
                out["properties"] = {**one["properties"], **out["properties"]}
                out["items"] = out["items"] if out["items"] is not None else one["items"]
            if word == "allOf" and len(inner) == 1:
                out["xml"] = {**inner[0]["xml"], **out["xml"]}
    return out


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _kind(schema: dict[str, Any]) -> str:
    xml, many = schema["xml"], _is_list(schema)
    given = xml.get("nodeType") or ("attribute" if xml.get("attribute") else None)
    return str(given or ("none" if many and not xml.get("wrapped") else "element"))


def _is_list(schema: dict[str, Any]) -> bool:
    return "array" in schema["types"] or schema["items"] is not None


def _value(api: Api, schema: dict[str, Any], element: ElementTree.Element, name: str) -> Any:
    if element.get(NIL) == "true":
        return None
    if _is_list(schema):
        item = _merged(api, schema["items"])
        return [_value(api, item, child, name) for child in element]
    if schema["properties"] or "object" in schema["types"] or len(element):
        return _fields(api, schema, element)
    return _scalar(schema, element.text or "")


def _fields(api: Api, schema: dict[str, Any], element: ElementTree.Element) -> dict[str, Any]:
    out: dict[str, Any] = {}
    used: set[str] = set()
    for key, node in schema["properties"].items():
        field = _merged(api, node)
        kind, called = _kind(field), str(field["xml"].get("name") or key).rpartition(":")[2]
        if kind == "attribute":
            found = [v for k, v in element.attrib.items() if _local(k) == called]
            if found:
                out[key] = _scalar(field, found[0])
        elif kind in ("text", "cdata"):
            out[key] = _scalar(field, "".join([element.text or "", *(child.tail or "" for child in element)]))
        elif kind == "none" and _is_list(field):
            item = _merged(api, field["items"])
            item_name = str(item["xml"].get("name") or called).rpartition(":")[2]
            out[key] = [_value(api, item, child, item_name) for child in element if _local(child.tag) == item_name]
            used.add(item_name)
        elif kind == "none":
            out[key] = _fields(api, field, element)
            used |= set(field["properties"])
        else:
            found = [_value(api, field, child, called) for child in element if _local(child.tag) == called]
            if found:
                out[key] = found[0] if len(found) == 1 else found
            used.add(called)
    extra = _merged(api, schema["extra"])
    for child in element:
        if _local(child.tag) not in used:
            known = out.get(_local(child.tag))
            value = _value(api, extra, child, "")
            out[_local(child.tag)] = value if known is None else [*(known if isinstance(known, list) else [known]), value]
    return out


def _scalar(schema: dict[str, Any], text: str) -> Any:
    try:
        if schema["types"] & {"integer", "number"} and "string" not in schema["types"]:
            return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        return text
    if "boolean" in schema["types"] and text in ("true", "false"):
        return text == "true"
    return text
