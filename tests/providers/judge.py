"""Judges rendered tools by the code of vendors that is written in Python: judge.py RENDERED.

RENDERED has a line for each tool and dialect, and one for each planned request. Prints a line of JSON for each tool
that a vendor's code refuses, and a last one with the counts.
"""

from __future__ import annotations

import copy
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import botocore.session
import botocore.validate
from anthropic import transform_schema
from google.genai import types
from pydantic_ai.models._anthropic_schema_limits import exceeded_limit
from pydantic_ai.profiles.openai import _OpenAIJsonSchemaTransformer

Schema = dict[str, Any]
Judge = Callable[[Any], str | None]

_MODEL = botocore.session.get_session().get_service_model("bedrock-runtime")
_CONVERSE = _MODEL.operation_model("Converse").input_shape


def openai_strict(shown: Any) -> str | None:
    """The predicate that pydantic-ai derived from live requests."""
    transformer = _OpenAIJsonSchemaTransformer(copy.deepcopy(shown["schema"]))
    transformer.walk()
    return None if transformer.is_strict_compatible else "the strict predicate says no"


def anthropic_strict(shown: Any) -> str | None:
    """What Anthropic's package would send instead of the schema must be the schema, apart from texts."""
    schema = shown["schema"]
    sent = transform_schema(copy.deepcopy(schema))
    if _without_order(sent) != _without_order(schema):
        return f"it is changed at {_difference(schema, sent)}"
    return None


def gemini(shown: Any) -> str | None:
    """`FunctionDeclaration` refuses unknown keys and values of other types."""
    return _valid(types.FunctionDeclaration, {"name": "tool", "description": shown["description"] or None, "parameters": shown["schema"]})


def gemini_json(shown: Any) -> str | None:
    """The other field of a declaration takes any JSON Schema."""
    return _valid(types.FunctionDeclaration, {"name": "tool", "parameters_json_schema": shown["schema"]})


def anthropic_request(tools: Any) -> str | None:
    """The limits that hold over all strict tools of a request."""
    return exceeded_limit([tool["input_schema"] for tool in tools if tool.get("strict")], None)


def claude_request(config: Any) -> str | None:
    """The same limits, for the models of Anthropic on Bedrock."""
    tools = [tool["toolSpec"] for tool in config["tools"]]
    return exceeded_limit([tool["inputSchema"]["json"] for tool in tools if tool.get("strict")], None)


def bedrock_request(config: Any) -> str | None:
    """A request as botocore checks it before it is sent."""
    request = {"modelId": "m", "messages": [], "toolConfig": config}
    report = botocore.validate.ParamValidator().validate(request, _CONVERSE)
    return report.generate_report() if report.has_errors() else None


def gemini_request(tools: Any) -> str | None:
    """The list of tools of a request."""
    for tool in tools:
        if error := _valid(types.Tool, tool):
            return error
    return None


DIALECTS: dict[str, list[tuple[str, Judge]]] = {
    "openai-strict": [("pydantic-ai, OpenAI strict", openai_strict)],
    "anthropic-strict": [("anthropic, transform_schema", anthropic_strict)],
    "gemini": [("google-genai, FunctionDeclaration", gemini)],
    "gemini-json-schema": [("google-genai, parametersJsonSchema", gemini_json)],
}
REQUESTS: dict[str, list[tuple[str, Judge]]] = {
    "anthropic": [("pydantic-ai, Anthropic's limits", anthropic_request)],
    "bedrock": [("botocore, Converse", bedrock_request), ("pydantic-ai, Anthropic's limits on Bedrock", claude_request)],
    "gemini": [("google-genai, Tool", gemini_request)],
}


def _valid(model: Any, value: Any) -> str | None:
    try:
        model.model_validate(value)
    except Exception as error:  # noqa: BLE001, every error is a refusal
        return " ".join(str(error).split())[:300]
    return None


def _without_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_order(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_without_order(one) for one in value]
    return value


def _difference(ours: Any, theirs: Any, at: str = "") -> str:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in [*ours, *theirs]:
            if key not in ours or key not in theirs:
                return f"{at}/{key}"
            if ours[key] != theirs[key]:
                return _difference(ours[key], theirs[key], f"{at}/{key}")
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            if one != other:
                return _difference(one, other, f"{at}/{index}")
    return at


def _judged(line: dict[str, Any]) -> Iterator[tuple[str, str | None]]:
    if "request" in line:
        if not line["given"]:
            return
        judges, value = REQUESTS.get(line["format"], []), line["request"]
    elif "refused" in line["shown"] or line["shown"]["schema"] is None:
        return
    else:
        judges, value = DIALECTS.get(line["dialect"], []), line["shown"]
    for name, judge in judges:
        try:
            yield name, judge(value)
        except Exception as error:  # noqa: BLE001, a vendor's code that throws refuses
            yield name, f"{type(error).__name__}: {error}"[:300]


def main() -> None:
    """Judges every line."""
    judged: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    with open(sys.argv[1], encoding="utf-8") as lines:
        for text in lines:
            line = json.loads(text)
            for name, error in _judged(line):
                judged[name] += 1
                if error is not None:
                    failed[name] += 1
                    print(json.dumps({"vendor": name, "source": line["source"], "tool": line.get("tool"), "error": error}))
    print(json.dumps({"judged": judged, "failed": {name: failed[name] for name in judged}}))


if __name__ == "__main__":
    main()
