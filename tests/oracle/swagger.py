"""What a Swagger 2.0 document says about its operations, read for the oracle alone (specification 2.0)."""

from __future__ import annotations

from typing import Any

from openapi import IGNORED_HEADERS, TOKEN, Api, Operation, Parameter

# "Determines the format of the array if type array is used": the style that writes the same text, and whether each
# value has a key of its own.
FORMATS = {"csv": ("form", False), "ssv": ("spaceDelimited", False), "tsv": ("tabDelimited", False), "pipes": ("pipeDelimited", False), "multi": ("form", True)}

FORM = "application/x-www-form-urlencoded"
PARTS = "multipart/form-data"


class Swagger(Api):
    """A document of version 2.0."""

    def __init__(self, root: Any, path: Any = None) -> None:
        super().__init__(root, path)
        self.version = str(self.root.get("swagger", ""))

    def _listed(self, operation: Operation) -> list[dict[str, Any]]:
        """The parameters of an operation as they stand, those of its path that it does not replace among them."""
        found: dict[tuple[str, str], dict[str, Any]] = {}
        for holder in (operation.item, operation.node):
            listed = self.resolve(holder.get("parameters"))
            for node in listed if isinstance(listed, list) else ():
                node = self.resolve(node)
                if isinstance(node, dict) and isinstance(node.get("name"), str) and isinstance(node.get("in"), str):
                    # There is one body.
                    key = ("body", "") if node["in"] == "body" else (node["in"], node["name"])
                    found[key] = node
        return list(found.values())

    def parameters(self, operation: Operation) -> list[Parameter]:
        found = []
        for node in self._listed(operation):
            name, location = node["name"], node["in"]
            if location not in ("path", "query", "header") or (location == "header" and (name.lower() in IGNORED_HEADERS or not TOKEN.match(name))):
                continue
            style, explode = self._written(node)
            if location != "query" and style == "form":
                style, explode = "simple", False
            found.append(Parameter(name, location, location == "path" or node.get("required") is True, style, explode, False, None, node))
        return found

    @staticmethod
    def _written(node: dict[str, Any]) -> tuple[str, bool]:
        """The style of a parameter; "default value is csv"."""
        if node.get("type") != "array":
            return ("form", True)
        return FORMATS.get(node.get("collectionFormat", "csv"), FORMATS["csv"])

    def contents(self, operation: Operation) -> dict[str, Any]:
        consumes = operation.node.get("consumes", self.root.get("consumes"))
        consumes = [c for c in consumes if isinstance(c, str) and "/" in c] if isinstance(consumes, list) else []
        listed = self._listed(operation)
        body = [n for n in listed if n["in"] == "body"]
        if body:
            return {media_type: {"schema": body[0].get("schema")} for media_type in consumes or ["application/json"]}
        fields = [n for n in listed if n["in"] == "formData"]
        if not fields:
            return super().contents(operation)
        forms = [c for c in consumes if c.partition(";")[0].strip().lower() in (FORM, PARTS)]
        # "If type is file, the consumes MUST be either multipart/form-data, application/x-www-form-urlencoded or both":
        # only parts carry files.
        file = any(n.get("type") == "file" for n in fields)
        if file:
            forms = [c for c in forms if c.startswith("multipart")] or [PARTS]
        encoding = {}
        for node in fields:
            if node.get("type") == "array":
                style, explode = self._written(node)
                encoding[node["name"]] = {"style": style, "explode": explode}
        return {media_type: {"encoding": encoding} for media_type in forms or [FORM]}

    def servers(self, operation: Operation) -> list[str]:
        host, base = self.root.get("host"), self.root.get("basePath")
        base = "/" + base.strip("/") if isinstance(base, str) and base.strip("/") else ""
        if not isinstance(host, str) or "{" in host or not host.strip():
            return [base] if base else super().servers(operation)
        schemes = operation.node.get("schemes") or self.root.get("schemes") or []
        schemes = [s.lower() for s in schemes if isinstance(s, str)]
        # Of several the safe one; of none as well, since the document does not say how it was reached.
        scheme = "https" if "https" in schemes or "http" not in schemes else "http"
        return [f"{scheme}://{host.strip()}{base}"]

    def credentials(self) -> set[tuple[str, str]]:
        found = super().credentials()
        schemes = self.resolve(self.root.get("securityDefinitions"))
        for scheme in schemes.values() if isinstance(schemes, dict) else ():
            scheme = self.resolve(scheme)
            if isinstance(scheme, dict) and scheme.get("type") == "apiKey" and isinstance(scheme.get("name"), str):
                name = scheme["name"]
                found.add((str(scheme.get("in")), name.lower() if scheme.get("in") == "header" else name))
        return found


def api_of(root: Any, path: Any = None) -> Api:
    """A document, by the version it says it has."""
    return Swagger(root, path) if isinstance(root, dict) and "swagger" in root and "openapi" not in root else Api(root, path)
