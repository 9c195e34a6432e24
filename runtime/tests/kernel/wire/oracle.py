"""Checks the cases and the lists of tools beside this file against the types of the providers' own SDKs.

    python3 -m venv venv && venv/bin/pip install openai anthropic google-genai botocore mcp
    venv/bin/python oracle.py
"""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any, Callable

import anthropic.types as claude
import botocore.session
from botocore.validate import ParamValidator
from google.genai import types as gemini
from mcp import types as mcp
from openai.types import responses as oai_responses
from openai.types.chat import ChatCompletion, ChatCompletionFunctionToolParam, ChatCompletionToolMessageParam
from openai.types.responses import Response, response_input_item_param
from pydantic import TypeAdapter

HERE = Path(__file__).parent


def strict(kind: Any) -> Callable[[Any], Any]:
    """A check that also refuses keys a type does not have."""
    adapter = TypeAdapter(kind)
    return lambda value: adapter.validate_python(value, strict=True, extra="forbid")


def bedrock(shape: str) -> Callable[[Any], None]:
    """A check by the service model, which wants bytes where the wire has base64."""
    model = botocore.session.get_session().get_service_model("bedrock-runtime").shape_for(shape)

    def decode(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: base64.b64decode(v) if k == "bytes" else decode(v) for k, v in value.items()}
        return [decode(item) for item in value] if isinstance(value, list) else value

    def check(value: Any) -> None:
        report = ParamValidator().validate(decode(value), model)
        if report.has_errors():
            raise ValueError(report.generate_report())

    return check


def mcp_answer(value: Any) -> None:
    if "error" in value:
        mcp.JSONRPCError.model_validate(value)
    else:
        mcp.JSONRPCResponse.model_validate(value)
        mcp.CallToolResult.model_validate(value["result"])


ANSWERS: dict[str, Callable[[Any], Any]] = {
    "openai-chat": lambda v: v.get("tool_name") or strict(ChatCompletionToolMessageParam)(v),
    "openai-responses": strict(response_input_item_param.FunctionCallOutput),
    "anthropic": strict(claude.MessageParam),
    "gemini": lambda v: gemini.Content.model_validate(v),
    "bedrock": bedrock("Message"),
    "mcp": mcp_answer,
}

RESPONSES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "openai-chat": ("choices", lambda v: ChatCompletion.model_validate(v)),
    "openai-responses": ("parallel_tool_calls", lambda v: Response.model_validate({"tool_choice": "auto", "tools": [], **v})),
    "anthropic": ("stop_reason", lambda v: claude.Message.model_validate(v)),
    "gemini": ("candidates", lambda v: gemini.GenerateContentResponse.model_validate(v)),
    "bedrock": ("output", bedrock("ConverseResponse")),
    "mcp": ("method", lambda v: mcp.CallToolRequest.model_validate({k: v[k] for k in ("method", "params")})),
}

TOOLS: dict[str, Callable[[Any], Any]] = {
    "openai-chat": lambda v: [strict(ChatCompletionFunctionToolParam)(tool) for tool in v],
    "openai-responses": lambda v: [strict(oai_responses.FunctionToolParam)(tool) for tool in v],
    "anthropic": lambda v: [strict(claude.ToolParam)(tool) for tool in v],
    "gemini": lambda v: [gemini.Tool.model_validate(tool) for tool in v],
    "bedrock": bedrock("ToolConfiguration"),
    "mcp": lambda v: mcp.ListToolsResult.model_validate({"resultType": "complete", **v}),
}


def main() -> int:
    bad, checked = 0, 0

    def run(title: str, check: Callable[[Any], Any], value: Any) -> None:
        nonlocal bad, checked
        checked += 1
        try:
            check(value)
        except Exception as error:  # noqa: BLE001 - each SDK has its own kinds
            bad += 1
            print(f"{title}\n{error}\n")

    for path in sorted(HERE.glob("cases/*/*.json")):
        case, name = json.loads(path.read_text()), path.parent.name
        for answer in case.get("answers", []):
            run(str(path), ANSWERS[name], answer)
        key, check = RESPONSES[name]
        # Only whole responses that are as they should be are for the SDKs.
        lenient = case.get("problems") or case.get("lenient")
        if isinstance(case.get("response"), dict) and key in case["response"] and not lenient:
            run(str(path), check, case["response"])
    lines = (HERE / "tools.golden").read_text().splitlines()
    for name, tools in zip(lines[::2], lines[1::2]):
        run(f"tools of {name}", TOOLS[name.split()[0]], json.loads(tools))
    print(f"{checked} checked, {bad} refused")
    return min(bad, 1)


if __name__ == "__main__":
    sys.exit(main())
