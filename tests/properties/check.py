#!/usr/bin/env python3
"""Compares the tool interfaces of vendors' packages with `table.toml`, which says what becomes of each property.

Every property of a package is in the table, as written, read, or left out with the reason; and every property that the
table calls written is in what the Rust tests render, which the packages accept (`tests/conversation/validate.py`).

    TOOLGEN_CONVERSATIONS=conversations.json cargo test -p toolgen-runtime --test kernel recordings
    pip install openai anthropic google-genai botocore mcp-types
    tests/properties/check.py conversations.json [--page docs/tool-properties.md]

With `--page`, the page is compared with the table; with `TOOLGEN_UPDATE=1`, it is written.
"""

import argparse
import importlib.metadata
import json
import os
import sys
import tomllib
import typing
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGES = {
    "anthropic": "anthropic",
    "openai-responses": "openai",
    "openai-chat": "openai",
    "gemini": "google-genai",
    "bedrock": "botocore",
    "mcp": "mcp-types",
}
HEAD = """# Properties of tools

This page lists the properties that the tool interfaces of vendors have, and what toolgen does with each. CI compares it with the
types of the vendors' packages, so that a new property in a newer package fails a test. *Written* properties are rendered, and accepted by the types of
the package; *read* ones are parsed from replies; the others are left out for the reason given.

[Hints](tools.md#hints) of a tool and `PlanOptions` set them.
"""


def named(kind):
    """The properties of a typed dictionary or of a pydantic model, as they are written."""
    if hasattr(kind, "model_fields"):
        return {field.serialization_alias or field.alias or name for name, field in kind.model_fields.items()}
    return set(kind.__required_keys__) | set(kind.__optional_keys__)


def types_of(union):
    """The types of tools in a union: the values of `type`."""
    kinds = set()
    for kind in typing.get_args(union):
        hints = typing.get_type_hints(kind)
        if "type" in hints:
            kinds |= {value for value in literals(hints["type"]) if isinstance(value, str)}
    return kinds


def literals(kind):
    if typing.get_origin(kind) is typing.Literal:
        return set(typing.get_args(kind))
    return set().union(*(literals(inner) for inner in typing.get_args(kind)))


def anthropic():
    from anthropic import types

    return {
        "tool": named(types.ToolParam),
        "cache_control": named(types.CacheControlEphemeralParam),
        "tool_choice": set().union(*(named(kind) for kind in typing.get_args(types.ToolChoiceParam))),
        "tool_use": named(types.ToolUseBlock),
        "tool_result": named(types.ToolResultBlockParam),
        "tool types": types_of(types.ToolUnionParam),
    }


def openai_responses():
    from openai.types import responses

    choice = responses.response_create_params.ToolChoice
    chosen = [kind for kind in typing.get_args(choice) if hasattr(kind, "__required_keys__")]
    params = named(responses.response_create_params.ResponseCreateParamsBase)
    return {
        "tool": named(responses.FunctionToolParam),
        "custom tool": named(responses.CustomToolParam),
        "namespace": named(responses.NamespaceToolParam),
        "tool_search": named(responses.ToolSearchToolParam),
        "tool_choice": set().union(*(named(kind) for kind in chosen)),
        "request": {name for name in params if "tool" in name},
        "function_call": named(responses.ResponseFunctionToolCall),
        "function_call_output": named(responses.response_input_item_param.FunctionCallOutput),
        "tool types": types_of(responses.tool_param.ToolParam),
    }


def openai_chat():
    from openai.types import chat, shared_params

    params = named(chat.completion_create_params.CompletionCreateParamsBase)
    return {
        "function": named(shared_params.FunctionDefinition),
        "custom tool": named(chat.chat_completion_custom_tool_param.Custom),
        "request": {name for name in params if "tool" in name or "function" in name},
        "tool message": named(chat.ChatCompletionToolMessageParam),
    }


def gemini():
    from google.genai import types

    camel = lambda kind: {field.alias or name for name, field in kind.model_fields.items()}
    return {
        "function": camel(types.FunctionDeclaration),
        "functionCallingConfig": camel(types.FunctionCallingConfig),
        "toolConfig": camel(types.ToolConfig),
        "functionCall": camel(types.FunctionCall),
        "functionResponse": camel(types.FunctionResponse),
        "modes": {mode.value for mode in types.FunctionCallingConfigMode},
        "tool types": camel(types.Tool),
    }


def bedrock():
    import botocore.session

    service = botocore.session.get_session().get_service_model("bedrock-runtime")
    members = lambda name: set(service.shape_for(name).members)
    return {
        "toolConfig": members("ToolConfiguration"),
        "toolSpec": members("ToolSpecification"),
        "cachePoint": members("CachePointBlock"),
        "toolChoice": members("ToolChoice"),
        "toolUse": members("ToolUseBlock"),
        "toolResult": members("ToolResultBlock"),
        "tool types": members("Tool"),
    }


def mcp():
    import mcp_types as types

    camel = lambda kind: {field.alias or name for name, field in kind.model_fields.items()}
    return {
        "tool": camel(types.Tool),
        "annotations": camel(types.ToolAnnotations),
        "icon": camel(types.Icon),
        "result": camel(types.CallToolResult),
    }


VENDORS = {
    "anthropic": anthropic,
    "openai-responses": openai_responses,
    "openai-chat": openai_chat,
    "gemini": gemini,
    "bedrock": bedrock,
    "mcp": mcp,
}


def inside(value):
    """All objects in a value, with the key under which each is."""
    stack = [("", value)]
    while stack:
        key, value = stack.pop()
        if isinstance(value, dict):
            yield key, value
            stack.extend(value.items())
        elif isinstance(value, list):
            stack.extend((key, inner) for inner in value)


def of_type(*kinds):
    return lambda key, value: value.get("type") in kinds


def under(*names):
    return lambda key, value: key in names


# Which objects of a request or of a reply have the properties of an object of the table.
OBJECTS = {
    ("anthropic", "tool"): lambda key, value: "input_schema" in value,
    ("anthropic", "cache_control"): under("cache_control"),
    ("anthropic", "tool_choice"): under("tool_choice"),
    ("anthropic", "tool_use"): of_type("tool_use"),
    ("anthropic", "tool_result"): of_type("tool_result"),
    ("openai-responses", "tool"): lambda key, value: value.get("type") == "function" and "parameters" in value,
    ("openai-responses", "custom tool"): lambda key, value: value.get("type") == "custom" and "format" in value,
    ("openai-responses", "namespace"): of_type("namespace"),
    ("openai-responses", "tool_search"): of_type("tool_search"),
    ("openai-responses", "tool_choice"): under("tool_choice"),
    ("openai-responses", "request"): under(""),
    ("openai-responses", "function_call"): of_type("function_call"),
    ("openai-responses", "function_call_output"): of_type("function_call_output"),
    ("openai-chat", "function"): lambda key, value: key == "function" and "parameters" in value,
    ("openai-chat", "custom tool"): lambda key, value: key == "custom" and "format" in value,
    ("openai-chat", "request"): under(""),
    ("openai-chat", "tool message"): lambda key, value: value.get("role") == "tool",
    ("gemini", "function"): under("functionDeclarations"),
    ("gemini", "functionCallingConfig"): under("functionCallingConfig"),
    ("gemini", "toolConfig"): under("toolConfig"),
    ("gemini", "functionCall"): under("functionCall"),
    ("gemini", "functionResponse"): under("functionResponse"),
    ("bedrock", "toolConfig"): under("toolConfig"),
    ("bedrock", "toolSpec"): under("toolSpec"),
    ("bedrock", "cachePoint"): under("cachePoint"),
    ("bedrock", "toolChoice"): under("toolChoice"),
    ("bedrock", "toolUse"): under("toolUse"),
    ("bedrock", "toolResult"): under("toolResult"),
    ("bedrock", "tool types"): lambda key, value: key == "tools" and len(value) == 1,
    ("gemini", "tool types"): lambda key, value: key == "tools",
    ("mcp", "tool"): lambda key, value: "inputSchema" in value,
    ("mcp", "annotations"): under("annotations"),
    ("mcp", "icon"): under("icons"),
    ("mcp", "result"): under("result"),
}
# These properties are the values of a member.
VALUES = {
    ("anthropic", "tool types"): "type",
    ("openai-responses", "tool types"): "type",
    ("gemini", "modes"): "mode",
}


def properties_in(vendor, name, values):
    """The properties of an object of the table that values have."""
    found = set()
    member = VALUES.get((vendor, name))
    for key, value in (pair for whole in values for pair in inside(whole)):
        if member:
            found.add(value.get(member) if isinstance(value.get(member), str) else None)
        elif OBJECTS[vendor, name](key, value):
            found |= value.keys()
    return found


def page(table):
    """The table as a page of the guide."""
    lines = [HEAD]
    for vendor, objects in table.items():
        package = PACKAGES[vendor]
        lines.append(f"## {vendor}\n\nTested against {package} {importlib.metadata.version(package)}.\n")
        lines.append("| where | written | read | left out |\n|---|---|---|---|")
        for name, properties in objects.items():
            by_fate = {}
            for prop, what in properties.items():
                by_fate.setdefault(what, []).append(f"`{prop}`")
            row = [", ".join(by_fate.pop(what, [])) for what in ("written", "read")]
            row.append("; ".join(f"{', '.join(props)}: {reason}" for reason, props in by_fate.items()))
            lines.append("| " + " | ".join([name, *(cell or "–" for cell in row)]) + " |")
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("conversations", type=Path)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    table = tomllib.loads((HERE / "table.toml").read_text(encoding="utf-8"))
    conversations = json.loads(given.conversations.read_text(encoding="utf-8"))
    wrong, count = [], 0
    for vendor, objects in ((vendor, extract()) for vendor, extract in VENDORS.items()):
        requests = [*conversations["offers"], *conversations["requests"]]
        requests = [one["request"] for one in requests if one["format"] == vendor]
        replies = [one["whole"] for one in conversations["recorded"] if one["format"] == vendor]
        replies += [one["events"] for one in conversations["recorded"] if one["format"] == vendor]
        listed = table.get(vendor, {})
        for name in sorted(objects.keys() | listed.keys()):
            there, rows = objects.get(name, set()), listed.get(name, {})
            for prop in sorted(there - rows.keys()):
                wrong.append(f"{vendor}, {name}: `{prop}` is new: write or read it, or say in table.toml why not")
            for prop in sorted(rows.keys() - there):
                wrong.append(f"{vendor}, {name}: `{prop}` is no longer in the package")
            written, read = properties_in(vendor, name, requests), properties_in(vendor, name, replies)
            for prop, what in rows.items():
                count += 1
                if what == "written" and prop not in written:
                    wrong.append(f"{vendor}, {name}: `{prop}` is called written, but no test renders it")
                if what == "read" and prop not in read:
                    wrong.append(f"{vendor}, {name}: `{prop}` is called read, but no recorded reply has it")
                if what not in ("written", "read") and " " not in what:
                    wrong.append(f"{vendor}, {name}: `{what}` is not a reason for leaving `{prop}` out")
    if given.page:
        text = page(table)
        if os.environ.get("TOOLGEN_UPDATE"):
            given.page.write_text(text, encoding="utf-8")
        elif given.page.read_text(encoding="utf-8") != text:
            wrong.append(f"{given.page} is not what the table says: TOOLGEN_UPDATE=1 writes it")
    print("\n".join(wrong))
    print(f"{count} properties compared, {len(wrong)} wrong")
    return 1 if wrong or count < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
