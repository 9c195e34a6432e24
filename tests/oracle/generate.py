"""Generates arguments that are valid under a JSON Schema 2020-12, from a seed."""

from __future__ import annotations

import base64
import math
import random
import re
from typing import Any, Callable

import patterns
from load import at

# Strings that break a request if a character is not escaped.
HARD_TEXTS = (
    "two words", "a&b=c", "100%", "\u00fcber \u65e5\u672c", "q?x#y", "1+1", "semi;colon", 'quo"te', "a,b", "x|y", "%41", "back\\slash",
    "[k]", "tab\there",
)
# For locations whose separators cannot be escaped: headers, cookies, arrays in paths.
MILD_TEXTS = ("blue", "a-b_c", "Zz9", "xy~z")
# A path has no text with a slash, which the engine may refuse, and no dot, which separates in some templates.
PATH_TEXTS = ("blue", "two words", "100%", "\u00fcber", "q?x#y", "a&b=c", "%41", "a+b", "semi;colon", "[k]")

FORMATS: dict[str, tuple[str, ...]] = {
    "date-time": ("2024-02-29T12:30:45Z", "1999-12-31T23:59:59+02:00"),
    "date": ("2024-02-29", "1999-12-31"),
    "time": ("12:30:45Z",),
    "duration": ("P1DT2H",),
    "uuid": ("3fa85f64-5717-4562-b3fc-2c963f66afa6", "00000000-0000-4000-8000-000000000001"),
    "email": ("jane@example.com", "a.b+c@example.org"),
    "uri": ("https://example.com/a?b=c&d=e#f",),
    "url": ("https://example.com/a?b=c",),
    "hostname": ("example.com",),
    "ipv4": ("192.0.2.1",),
    "ipv6": ("2001:db8::1",),
    "byte": ("aGVsbG8=",),
    "int64": ("9007199254740993",),
}
FILE_FIELDS = {"path", "base64"}


class Ungenerated(Exception):
    """The generator cannot create a value for a schema."""


class Generator:
    """Generates values for one schema document."""

    def __init__(self, root: Any, rng: random.Random, full: bool, texts: tuple[str, ...] = HARD_TEXTS) -> None:
        self.root, self.rng, self.full, self.texts = root, rng, full, texts

    def arguments(self, texts_of: Callable[[str], tuple[str, ...]]) -> dict[str, Any]:
        """Arguments for a tool; `texts_of` says which free texts a top-level argument may hold."""
        schema = self._resolve(self.root)
        made = {}
        for key, part in schema.get("properties", {}).items():
            if key in schema.get("required", ()) or self.full:
                self.texts = texts_of(key)
                try:
                    made[key] = self.value(part, 1)
                except (Ungenerated, RecursionError):
                    if key in schema.get("required", ()):
                        raise Ungenerated(key) from None
        return made

    def value(self, schema: Any, depth: int) -> Any:
        """Returns a value that is probably valid; the caller validates it."""
        schema = self._resolve(schema)
        if schema is True or schema == {}:
            return self.rng.choice(self.texts)
        if not isinstance(schema, dict) or depth > 40:
            raise Ungenerated(str(schema)[:60])
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            named = [v for v in schema["enum"] if v is not None and self._typed(v, schema)] or schema["enum"]
            return self.rng.choice(named)
        if "allOf" in schema:
            return self._all(schema, depth)
        for key in ("oneOf", "anyOf"):
            if isinstance(schema.get(key), list) and schema[key]:
                return self._union(schema, key, depth)
        return self._plain(schema, depth)

    @staticmethod
    def _typed(value: Any, schema: dict[str, Any]) -> bool:
        kinds = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict}
        kind = schema.get("type")
        return not isinstance(kind, str) or kind not in kinds or isinstance(value, kinds[kind])  # type: ignore[arg-type]

    def _resolve(self, schema: Any) -> Any:
        for _ in range(50):
            if not (isinstance(schema, dict) and isinstance(schema.get("$ref"), str)):
                return schema
            try:
                target = at(self.root, schema["$ref"][1:])
            except KeyError:
                raise Ungenerated(schema["$ref"]) from None
            rest = {k: v for k, v in schema.items() if k not in ("$ref", "description", "default", "examples", "deprecated", "title")}
            schema = {"allOf": [target, rest]} if rest else target
        raise Ungenerated("a reference to itself")

    def _all(self, schema: dict[str, Any], depth: int) -> Any:
        merged = self._merge(schema)
        if merged.keys() & {"oneOf", "anyOf"}:
            key = "oneOf" if "oneOf" in merged else "anyOf"
            return self._union(merged, key, depth)
        return self.value(merged, depth + 1)

    def _merge(self, schema: dict[str, Any], depth: int = 0) -> dict[str, Any]:
        """Merges schemas of an `allOf`: precise enough to generate values, not to validate them."""
        if depth > 30:
            raise Ungenerated("allOf without end")
        merged: dict[str, Any] = {k: v for k, v in schema.items() if k != "allOf"}
        for part in schema.get("allOf", ()):
            part = self._resolve(part)
            if not isinstance(part, dict):
                continue
            if "allOf" in part:
                part = self._merge(part, depth + 1)
            for key, value in part.items():
                if key == "properties":
                    merged[key] = {**value, **merged.get(key, {})}
                elif key == "required":
                    merged[key] = list(dict.fromkeys([*merged.get(key, ()), *value]))
                elif key == "enum" and key in merged:
                    merged[key] = [v for v in merged[key] if v in value]
                else:
                    merged.setdefault(key, value)
        return merged

    def _union(self, schema: dict[str, Any], key: str, depth: int) -> Any:
        tags = _tags(schema)
        names = [v["$ref"].rpartition("/")[2] if isinstance(v, dict) and "$ref" in v else "" for v in schema[key]]
        variants = [self._tagged(self._resolve(v), tags.get(name)) for v, name in zip(schema[key], names)]
        useful = [v for v in variants if v != {"type": "null"}] or variants
        rest = {k: v for k, v in schema.items() if k != key}
        # At depth, the smallest variant ends the recursion.
        variant = self.rng.choice(useful) if depth < 4 else min(useful, key=lambda v: len(str(v)))
        if rest.keys() & {"properties", "type", "required", "allOf", "oneOf", "anyOf", "minLength", "pattern"}:
            return self._all({"allOf": [variant, rest]}, depth + 1)
        return self.value(variant, depth + 1)

    @staticmethod
    def _tagged(variant: Any, tag: tuple[str, str] | None) -> Any:
        """A variant whose discriminator has the one value that the union's description names."""
        if tag is None or not isinstance(variant, dict):
            return variant
        return {"allOf": [variant, {"properties": {}, "required": [tag[0]]}], "properties": {tag[0]: {"const": tag[1]}}}

    def _plain(self, schema: dict[str, Any], depth: int) -> Any:
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = next((k for k in kind if k != "null"), "null")
        if kind is None:
            kind = next((k for k, words in _HINTS.items() if schema.keys() & words), None)
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            return self._array(schema, depth)
        if kind == "string":
            return self._string(schema)
        if kind == "boolean":
            return self.rng.random() < 0.5
        if kind in ("integer", "number"):
            return self._number(schema, kind)
        if kind == "null":
            return None
        return self.rng.choice(self.texts)

    def _object(self, schema: dict[str, Any], depth: int) -> Any:
        properties = schema.get("properties", {})
        if FILE_FIELDS <= properties.keys():
            content = self.rng.choice((b"hello\n", b"\x00\xff\r\n--x\r\n", b""))
            if "text" in properties and content.isascii():
                return {"text": content.decode()}
            return {"base64": base64.b64encode(content).decode(), **({"filename": "a b.bin"} if "filename" in properties else {})}
        required = schema.get("required", ())
        made = {}
        for key in dict.fromkeys([*properties, *required]):
            part = properties.get(key, schema.get("additionalProperties", True))
            if key in required:
                made[key] = self.value(part, depth + 1)
            elif self.full and depth < 4:
                try:
                    made[key] = self.value(part, depth + 2)
                except Ungenerated:
                    pass
        extra = schema.get("additionalProperties")
        wanted = schema.get("minProperties", 1 if extra is not False and not properties and self.full else 0)
        for number in range(12):
            if len(made) >= wanted or extra is False:
                break
            if number < len(properties):
                key = list(properties)[number]
                made.setdefault(key, self.value(properties[key], depth + 1))
            else:
                made[f"key{number}"] = self.value(extra if isinstance(extra, dict) else {"type": "string"}, depth + 2)
        return dict(list(made.items())[: schema["maxProperties"]]) if "maxProperties" in schema and not required else made

    def _array(self, schema: dict[str, Any], depth: int) -> Any:
        first = [self.value(part, depth + 1) for part in schema.get("prefixItems", ())]
        low, high = schema.get("minItems", 0), schema.get("maxItems", 1000)
        items = schema.get("items", {"type": "string"})
        wanted = max(low, min(high, self.rng.choice((1, 2, 3)) if self.full and depth < 5 else 0))
        if wanted > 300:
            raise Ungenerated("a list of hundreds")
        for _ in range(wanted * 6):
            if len(first) >= wanted or items is False:
                break
            try:
                value = self.value(items, depth + 1)
            except Ungenerated:
                if len(first) >= low:
                    break
                raise
            if not schema.get("uniqueItems") or value not in first:
                first.append(value)
        return first[:high] if high >= 0 else first

    def _string(self, schema: dict[str, Any]) -> str:
        low, high = schema.get("minLength", 0), schema.get("maxLength")
        if low > 100_000:
            raise Ungenerated("a text that long")
        pattern = schema.get("pattern")
        if pattern:
            for candidate in FORMATS.get(schema.get("format", ""), ()):
                try:
                    if re.search(pattern, candidate):
                        return candidate
                except re.error:
                    break
            made = patterns.text(pattern, self.rng, low, high)
            if made is None:
                raise Ungenerated(f"pattern {pattern}")
            return made
        fitting = [t for t in FORMATS.get(schema.get("format", ""), ()) if low <= len(t) <= (high if high is not None else 9999)]
        if fitting:
            return self.rng.choice(fitting)
        fitting = [t for t in self.texts if low <= len(t) <= (high if high is not None else 9999)]
        return self.rng.choice(fitting) if fitting else "abcdefghij"[: high if high is not None else 5].ljust(low, "x")

    def _number(self, schema: dict[str, Any], kind: str) -> Any:
        low, high = _bound(schema, "minimum", "exclusiveMinimum", 1), _bound(schema, "maximum", "exclusiveMaximum", -1)
        step = schema.get("multipleOf")
        if low is None and high is None:
            number: Any = self.rng.choice((1, 7, 42, 1000)) if kind == "integer" else self.rng.choice((1, 2.5, 0.001, 12345.678))
        elif low is None:
            number = min(7, high)
        else:
            number = max(low, min(7, high)) if high is not None else max(low, 7)
        if step:
            number = math.ceil(number / step) * step
        if kind == "integer":
            return int(math.ceil(number)) if low is not None else int(math.floor(number))
        return number


def _tags(schema: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Parses the description of a discriminator: (`kind` is "dog" for Dog, "cat" for Cat)."""
    said = re.search(r"\(`([^`]+)` is ((?:\"[^\"]*\" for [^,)]+(?:, )?)+)\)", str(schema.get("description", "")))
    return {name: (said.group(1), value) for value, name in re.findall(r'"([^"]*)" for ([^,)]+)', said.group(2))} if said else {}


_HINTS: dict[str, set[str]] = {
    "object": {"properties", "additionalProperties", "required", "minProperties"},
    "array": {"items", "prefixItems", "minItems"},
    "string": {"pattern", "minLength", "maxLength", "format"},
    "number": {"minimum", "maximum", "multipleOf"},
}


def _bound(schema: dict[str, Any], plain: str, exclusive: str, step: int) -> Any:
    found = []
    if isinstance(schema.get(plain), (int, float)) and not isinstance(schema.get(plain), bool):
        found.append(schema[plain])
    if isinstance(schema.get(exclusive), (int, float)) and not isinstance(schema.get(exclusive), bool):
        found.append(schema[exclusive] + step * (1 if schema.get("type") == "integer" else 0.5))
    return (max(found) if step > 0 else min(found)) if found else None
