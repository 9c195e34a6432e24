"""Reads the operations of an OpenAPI document, independently of the compiler."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterator

from load import at, load, rebased

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")

# "If in is 'header' and the name is one of these, the definition shall be ignored" (Parameter Object).
IGNORED_HEADERS = {"accept", "content-type", "authorization"}

# What may be the name of a header at all (RFC 9110, 5.6.2).
TOKEN = re.compile(r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

STYLES = {
    "path": ("simple", "label", "matrix"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "header": ("simple",),
    "cookie": ("form",),
}


@dataclass(frozen=True)
class Parameter:
    """One parameter as the document declares it."""

    name: str
    location: str
    required: bool
    style: str
    explode: bool
    reserved: bool
    media_type: str | None
    schema: Any = field(hash=False, compare=False, default=None)


@dataclass
class Operation:
    """One operation."""

    pointer: str
    path: str
    method: str
    node: dict[str, Any]
    item: dict[str, Any]

    @property
    def id(self) -> str:
        """A name for reports."""
        return f"{self.method.upper()} {self.path}"


class Api:
    """A document."""

    def __init__(self, root: Any, path: Path | None = None) -> None:
        self.root = root if isinstance(root, dict) else {}
        self.version = str(self.root.get("openapi", ""))
        # Files that the document refers to, by their absolute paths. References in them are absolute, too.
        self.parts: dict[str, Any] = {}
        if path is not None and path.is_file():
            self.root = rebased(self.root, path, True)

    def resolve(self, node: Any) -> Any:
        """Resolves references in the document and its files; None for dangling ones."""
        for _ in range(100):
            if not (isinstance(node, dict) and isinstance(node.get("$ref"), str)):
                return node
            name, _, fragment = node["$ref"].partition("#")
            fragment = _unquote(fragment)
            # Missing parts are those of the document.
            trees = [self._part(name), self.root] if name else [self.root]
            for tree in trees:
                try:
                    node = at(tree, fragment)
                    break
                except (KeyError, TypeError):
                    continue
            else:
                return None
        return None

    def _part(self, name: str) -> Any:
        if name not in self.parts:
            path = Path(name)
            known = path.is_file() and path.suffix.lower() in ("", ".json", ".yaml", ".yml")
            self.parts[name] = rebased(load(path), path, False) if known else None
        return self.parts[name]

    def operations(self) -> Iterator[Operation]:
        """Every operation under `paths`."""
        paths = self.resolve(self.root.get("paths"))
        for path, item in (paths.items() if isinstance(paths, dict) else ()):
            if path.startswith("x-") or not isinstance(item, dict):
                continue
            target = self.resolve(item)
            merged = {**target, **{k: v for k, v in item.items() if k != "$ref"}} if isinstance(target, dict) else item
            pointer = "/paths/" + path.replace("~", "~0").replace("/", "~1")
            methods = METHODS + (("query",) if self.version.startswith("3.2") else ())
            for method in methods:
                if isinstance(merged.get(method), dict):
                    yield Operation(f"{pointer}/{method}", path, method, merged[method], merged)

    def parameters(self, operation: Operation) -> list[Parameter]:
        """The parameters of an operation: its own, and those of its path that it does not replace."""
        found: dict[tuple[str, str], Parameter] = {}
        for holder in (operation.item, operation.node):
            listed = self.resolve(holder.get("parameters"))
            for node in listed if isinstance(listed, list) else ():
                parameter = self._parameter(self.resolve(node))
                if parameter:
                    found[(parameter.location, parameter.name)] = parameter
        return list(found.values())

    def _parameter(self, node: Any) -> Parameter | None:
        if not isinstance(node, dict) or not isinstance(node.get("name"), str):
            return None
        name, location = node["name"], node.get("in")
        if location not in STYLES or (location == "header" and (name.lower() in IGNORED_HEADERS or not TOKEN.match(name))):
            return None
        content = self.resolve(node.get("content"))
        media_type = next(iter(content), None) if isinstance(content, dict) and "schema" not in node else None
        style = node.get("style")
        if style not in STYLES[location]:
            style = STYLES[location][0]
        explode = node.get("explode")
        if not isinstance(explode, bool):
            explode = style in ("form", "deepObject")
        return Parameter(
            name, location, location == "path" or node.get("required") is True, style, explode,
            node.get("allowReserved") is True, media_type, self.resolve(node.get("schema")),
        )

    def contents(self, operation: Operation) -> dict[str, Any]:
        """The media types of the body."""
        body = self.resolve(operation.node.get("requestBody"))
        content = self.resolve(body.get("content")) if isinstance(body, dict) else None
        return content if isinstance(content, dict) else {}

    def servers(self, operation: Operation) -> list[str]:
        """The URLs of the servers, with the defaults of their variables."""
        for holder in (operation.node, operation.item, self.root):
            listed = self.resolve(holder.get("servers"))
            listed = [self.resolve(s) for s in listed] if isinstance(listed, list) else None
            urls = [self._url(s) for s in listed if isinstance(s, dict) and isinstance(s.get("url"), str)] if isinstance(listed, list) else []
            if urls:
                return urls
        return []

    @staticmethod
    def _url(server: dict[str, Any]) -> str:
        variables = server.get("variables")
        variables = variables if isinstance(variables, dict) else {}

        def value(match: re.Match[str]) -> str:
            variable = variables.get(match.group(1))
            return str(variable["default"]) if isinstance(variable, dict) and "default" in variable else match.group(0)

        return re.sub(r"\{([^{}]*)\}", value, server["url"])

    def credentials(self) -> set[tuple[str, str]]:
        """Where credentials may travel: location and name, in lower case for headers."""
        found = {("header", "authorization")}
        components = self.resolve(self.root.get("components"))
        schemes = self.resolve(components.get("securitySchemes")) if isinstance(components, dict) else None
        for scheme in schemes.values() if isinstance(schemes, dict) else ():
            scheme = self.resolve(scheme)
            if isinstance(scheme, dict) and scheme.get("type") == "apiKey" and isinstance(scheme.get("name"), str):
                name = scheme["name"]
                found.add((str(scheme.get("in")), name.lower() if scheme.get("in") == "header" else name))
        return found


def _unquote(fragment: str) -> str:
    from urllib.parse import unquote

    return unquote(fragment)
