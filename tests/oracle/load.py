"""Parses documents, and finds locations in them, without code of the compiler."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Iterator

import yaml


class Yaml12(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML with the scalars of the 1.2 core schema: `NO` and `2020-01-01` are texts, `1e-08` is a number."""


Yaml12.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", "~nN"),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", "-+.0123456789"),
    ("merge", r"<<", "<"),
):
    Yaml12.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_pattern})$"), list(_first) + ([""] if _tag == "null" else []))


def _integer(loader: Any, node: Any) -> int:
    text = loader.construct_scalar(node)
    return int(text, 8) if text.startswith("0o") else int(text, 16) if text.startswith("0x") else int(text)


def _number(loader: Any, node: Any) -> float:
    text = loader.construct_scalar(node).lower()
    return float(text.replace(".inf", "inf").replace(".nan", "nan"))


Yaml12.add_constructor("tag:yaml.org,2002:int", _integer)
Yaml12.add_constructor("tag:yaml.org,2002:float", _number)


def load(path: Path) -> Any:
    """The document as a tree; keys are strings."""
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix == ".json":
        return json.loads(text)
    return _text_keys(yaml.load(text, Loader=Yaml12), {})


def _text_keys(node: Any, seen: dict[int, Any]) -> Any:
    """YAML keys such as `200` as texts; anchors stay shared."""
    if not isinstance(node, (dict, list)):
        return node
    if id(node) in seen:
        return seen[id(node)]
    made: Any = {} if isinstance(node, dict) else []
    seen[id(node)] = made
    if isinstance(node, dict):
        for key, value in node.items():
            made[_key(key)] = _text_keys(value, seen)
    else:
        made.extend(_text_keys(value, seen) for value in node)
    return made


def _key(key: Any) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    return "null" if key is None else str(key)


def rebased(node: Any, path: Path, is_document: bool) -> Any:
    """A tree whose references name files by their absolute paths; those in the document itself stay as they are."""
    import os.path
    from urllib.parse import unquote

    seen: dict[int, Any] = {}

    def absolute(reference: str) -> str:
        name, mark, fragment = reference.partition("#")
        if "://" in name or (not name and is_document):
            return reference
        named = os.path.normpath(path.absolute().parent / unquote(name)) if name else str(path.absolute())
        own = is_document and named == str(path.absolute())
        return mark + fragment if own else named + mark + fragment

    def walk(node: Any) -> Any:
        if not isinstance(node, (dict, list)):
            return node
        if id(node) in seen:
            return seen[id(node)]
        made: Any = {} if isinstance(node, dict) else []
        seen[id(node)] = made
        if isinstance(node, dict):
            for key, value in node.items():
                made[key] = absolute(value) if key == "$ref" and isinstance(value, str) else walk(value)
        else:
            made.extend(walk(value) for value in node)
        return made

    return walk(node)


def tokens(pointer: str) -> list[str]:
    """The tokens of a JSON pointer."""
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]


def at(root: Any, pointer: str) -> Any:
    """The value at a pointer; KeyError if there is none."""
    node = root
    for token in tokens(pointer):
        if isinstance(node, dict):
            node = node[token]
        elif isinstance(node, list) and token.isdigit() and int(token) < len(node):
            node = node[int(token)]
        else:
            raise KeyError(pointer)
    return node


def places(path: Path, pointer: str) -> set[tuple[int, int]]:
    """Line and column (both from 1, columns in characters) that may be called the place of a pointer: where its
    key starts and where its value starts. Empty if the pointer does not resolve."""
    if path.suffix not in (".json", ".yaml", ".yml"):
        return {(1, 1)}
    text = path.read_text(encoding="utf-8-sig")
    root = yaml.compose(text, Loader=Yaml12) if path.suffix != ".json" else _json_node(text)
    key, node = None, root
    for token in tokens(pointer):
        if isinstance(node, yaml.MappingNode):
            pairs = [(k, v) for k, v in node.value if getattr(k, "value", None) == token]
            if not pairs:
                return set()
            key, node = pairs[-1]
        elif isinstance(node, yaml.SequenceNode) and token.isdigit() and int(token) < len(node.value):
            key, node = None, node.value[int(token)]
        else:
            return set()
    return {(n.start_mark.line + 1, n.start_mark.column + 1) for n in (key, node) if n is not None}


_JSON_TOKEN = re.compile(r'[\s,:]*("(?:[^"\\]|\\.)*"|[\[\]{}]|[^\s,:\[\]{}"]+)', re.S)


def _json_node(text: str) -> Any:
    """JSON as the nodes of the YAML library: only a scanner, the grammar was checked by `json` before."""
    lines = [0, *(m.end() for m in re.finditer("\n", text))]

    def mark(offset: int) -> Any:
        import bisect

        line = bisect.bisect_right(lines, offset) - 1
        return yaml.Mark("", offset, line, offset - lines[line], None, None)

    stack: list[tuple[str, Any, list[Any]]] = []
    result: Any = None
    for match in _JSON_TOKEN.finditer(text):
        token, start = match.group(1), match.start(1)
        if token in "[{":
            stack.append((token, mark(start), []))
            continue
        if token in "]}":
            kind, begin, children = stack.pop()
            if kind == "{":
                node: Any = yaml.MappingNode("map", list(zip(children[::2], children[1::2])), begin, None)
            else:
                node = yaml.SequenceNode("seq", children, begin, None)
        else:
            value = json.loads(token) if token[0] == '"' else token
            node = yaml.ScalarNode("str", value, mark(start), None)
        if stack:
            stack[-1][2].append(node)
        else:
            result = node
    return result


def corpus(directory: Path) -> Iterator[Path]:
    """The OpenAPI documents of a directory, by name."""
    for path in sorted(directory.iterdir()):
        if path.suffix in (".json", ".yaml", ".yml"):
            yield path


def entries(directory: Path, kinds: tuple[str, ...]) -> Iterator[Path]:
    """The entry documents of these kinds, as the list of the corpus has them."""
    listed = directory / "breadth.tsv"
    for line in listed.read_text(encoding="utf-8").splitlines() if listed.is_file() else ():
        row = line.split("\t")
        if len(row) > 4 and row[0] in kinds and row[2] == "root":
            yield directory / row[4]
