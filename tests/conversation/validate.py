#!/usr/bin/env python3
"""Checks recorded streams, and requests from transcripts, with the vendors' own libraries.

The recordings must be what the libraries read as events, and give what the libraries assemble from them; the requests
must be what the libraries take. Nothing is sent. Usage:

    TOOLGEN_CONVERSATIONS=conversations.json cargo test -p toolgen-runtime --test kernel recordings
    pip install openai anthropic google-genai botocore mcp-types
    tests/conversation/validate.py conversations.json
"""

import json
import sys


def walk(value):
    """Validates what pydantic leaves for later: lists that the types call iterables are judged when they are walked."""
    if isinstance(value, dict):
        value = value.values()
    if not isinstance(value, (str, bytes)) and hasattr(value, "__iter__"):
        for inner in value:
            walk(inner)


def known(kind, value):
    """A typed dictionary has no keys but those of its type: pydantic ignores others."""
    unknown = value.keys() - kind.__required_keys__ - kind.__optional_keys__
    assert not unknown, f"{kind.__name__} has no {unknown}"


def openai_chat():
    from openai.types.chat import ChatCompletion, ChatCompletionChunk, ChatCompletionMessageParam
    from openai.types.chat import ChatCompletionToolChoiceOptionParam, ChatCompletionToolUnionParam
    from openai.types.chat.chat_completion_custom_tool_param import Custom
    from openai.types.shared_params import FunctionDefinition
    from pydantic import TypeAdapter

    messages = TypeAdapter(list[ChatCompletionMessageParam])
    tools, choices = TypeAdapter(list[ChatCompletionToolUnionParam]), TypeAdapter(ChatCompletionToolChoiceOptionParam)

    def offer(value):
        walk(tools.validate_python(value["tools"]))
        walk(choices.validate_python(value["tool_choice"]))
        for tool in value["tools"]:
            custom = tool["type"] == "custom"
            known(Custom if custom else FunctionDefinition, tool["custom" if custom else "function"])

    def event(value):
        ChatCompletionChunk.model_validate(value, strict=False)

    def whole(value):
        ChatCompletion.model_validate({"object": "chat.completion", **value})

    def request(value):
        # Reasoning of other hosts is beside what OpenAI documents; the types allow further members.
        walk(messages.validate_python(value["messages"]))

    return event, whole, request, offer


def openai_responses():
    from openai.types.responses import CustomToolParam, FunctionToolParam, NamespaceToolParam
    from openai.types.responses import Response, ResponseInputParam, ResponseStreamEvent, ToolParam
    from openai.types.responses.response_create_params import ToolChoice
    from pydantic import TypeAdapter

    events, inputs = TypeAdapter(ResponseStreamEvent), TypeAdapter(ResponseInputParam)
    tools, choices = TypeAdapter(list[ToolParam]), TypeAdapter(ToolChoice)
    kinds = {"function": FunctionToolParam, "custom": CustomToolParam, "namespace": NamespaceToolParam}

    def offer(value):
        walk(tools.validate_python(value["tools"]))
        walk(choices.validate_python(value["tool_choice"]))
        for tool in value["tools"]:
            for one in [tool, *tool.get("tools", [])]:
                if one["type"] in kinds:
                    known(kinds[one["type"]], one)

    def request(value):
        walk(inputs.validate_python(value["input"]))

    return events.validate_python, Response.model_validate, request, offer


def anthropic():
    from anthropic.types import Message, MessageParam, RawMessageStreamEvent
    from anthropic.types import ToolChoiceAnyParam, ToolChoiceAutoParam, ToolChoiceNoneParam, ToolChoiceToolParam
    from anthropic.types import ToolChoiceParam, ToolParam, ToolUnionParam
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
    from pydantic import TypeAdapter

    events, messages = TypeAdapter(RawMessageStreamEvent), TypeAdapter(list[MessageParam])
    tools, choices = TypeAdapter(list[ToolUnionParam]), TypeAdapter(ToolChoiceParam)
    chosen = {"auto": ToolChoiceAutoParam, "any": ToolChoiceAnyParam, "tool": ToolChoiceToolParam, "none": ToolChoiceNoneParam}

    def offer(value):
        walk(tools.validate_python(value["tools"]))
        walk(choices.validate_python(value["tool_choice"]))
        known(chosen[value["tool_choice"]["type"]], value["tool_choice"])
        for tool in value["tools"]:
            if "input_schema" in tool:
                known(ToolParam, tool)

    def event(value):
        # A ping is in the protocol and not in the types.
        if value["type"] != "ping":
            events.validate_python(value)

    def request(value):
        missing = {"model", "max_tokens", "messages"} - value.keys()
        unknown = value.keys() - MessageCreateParamsNonStreaming.__required_keys__
        unknown -= MessageCreateParamsNonStreaming.__optional_keys__
        assert not missing and not unknown, (missing, unknown)
        walk(messages.validate_python(value["messages"]))

    return event, Message.model_validate, request, offer


def gemini():
    from google.genai import types

    def request(value):
        for content in value["contents"]:
            types.Content.model_validate(content)
        types.Content.model_validate(value["systemInstruction"])
        assert value.keys() <= {"contents", "systemInstruction", "tools"}, value.keys()

    def offer(value):
        for tool in value["tools"]:
            types.Tool.model_validate(tool)
        types.ToolConfig.model_validate(value["toolConfig"])

    response = types.GenerateContentResponse.model_validate
    return response, response, request, offer


def bedrock():
    import botocore.session
    from botocore.validate import ParamValidator

    service = botocore.session.get_session().get_service_model("bedrock-runtime")
    operation = service.operation_model("Converse")
    shapes = {
        "event": service.shape_for("ConverseStreamOutput"),
        "whole": operation.output_shape,
        "request": operation.input_shape,
    }

    def check(kind, value):
        report = ParamValidator().validate(value, shapes[kind])
        assert not report.has_errors(), report.generate_report()

    def event(value):
        check("event", without_padding(value))

    def whole(value):
        check("whole", value)

    def request(value):
        check("request", {"modelId": "model-1", **value})
        roles = [message["role"] for message in value["messages"]]
        assert all(one != two for one, two in zip(roles, roles[1:])), roles

    return event, whole, request, request


def mcp():
    from mcp_types import CallToolResult, ListToolsResult

    def offer(value):
        ListToolsResult.model_validate(value["list"])
        for result in value["results"]:
            CallToolResult.model_validate(result["result"])

    return None, None, None, offer


def same_events(frames, events):
    assert decoded_by_botocore(frames) == events, "the frames hold other events"


def without_padding(value):
    """The padding of an event hides its length, and is not in the model of the service."""
    if isinstance(value, dict):
        return {key: without_padding(inner) for key, inner in value.items() if key != "p"}
    return value


FORMATS = {
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "bedrock": bedrock,
    "mcp": mcp,
}


def assembled_by_anthropic(events):
    """What Anthropic's library makes of a stream."""
    from anthropic.lib.streaming._messages import accumulate_event
    from anthropic.types import RawMessageStreamEvent
    from pydantic import TypeAdapter

    adapter, message, buffers = TypeAdapter(RawMessageStreamEvent), None, {}
    for event in events:
        if event["type"] != "ping":
            event = adapter.validate_python(event)
            message = accumulate_event(event=event, current_snapshot=message, json_bufs=buffers)
    return json.loads(message.model_dump_json(exclude_none=True))["content"]


def decoded_by_botocore(frames):
    """The events that Amazon's library reads from the bytes of a stream."""
    from botocore.eventstream import EventStreamBuffer

    buffer = EventStreamBuffer()
    buffer.add_data(bytes(frames))
    return [{event.headers[":event-type"]: json.loads(event.payload)} for event in buffer]


def main(path):
    with open(path, encoding="utf-8") as file:
        conversations = json.load(file)
    checked, wrong = 0, []

    def check(about, judge, value):
        nonlocal checked
        checked += 1
        try:
            judge(value)
        except Exception as why:  # Every library has its own.
            wrong.append(f"{about}: {str(why)[:1500]}\n  in {json.dumps(value)[:600]}")

    judges = {name: make() for name, make in FORMATS.items()}
    for recorded in conversations["recorded"]:
        # Ollama's own form has no types of OpenAI.
        if recorded["name"] == "ollama":
            continue
        event, whole, _, _ = judges[recorded["format"]]
        for number, value in enumerate(recorded["events"]):
            check(f"{recorded['name']}, event {number}", event, value)
        check(f"{recorded['name']}, whole", whole, recorded["whole"])
        if recorded["name"] == "anthropic":
            content = assembled_by_anthropic(recorded["events"])

            def same(value):
                assert content == value, content

            check("anthropic, as its library assembles it", same, recorded["whole"]["content"])
        if recorded["name"] == "bedrock":
            check("bedrock, frames", lambda frames: same_events(frames, recorded["events"]), recorded["frames"])
    for written in conversations["requests"]:
        judge = judges[written["format"]][2]
        # What Ollama writes goes back to Ollama, which is laxer than OpenAI.
        if written["from"] != "ollama" or written["format"] != "openai-chat":
            check(f"{written['from']} as {written['format']}", judge, written["request"])
    for offered in conversations["offers"]:
        check(f"tools and their choice as {offered['format']}", judges[offered["format"]][3], offered["request"])
    print("\n".join(wrong))
    print(f"{checked} checked, {len(wrong)} wrong")
    return 1 if wrong or checked < 100 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
