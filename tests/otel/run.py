#!/usr/bin/env python3
"""Runs an agent, a service and an MCP server in three processes, which export to a collector, and checks what it passes on.

The collector is rotel, an implementation of OTLP of its own: it takes what the library of OpenTelemetry for Rust sends, and
hands it on to this script, which reads it with the types of opentelemetry-proto. Everything stays on the loopback. Usage:

    python3 -m venv DIR && DIR/bin/pip install rotel==0.0.1a15 opentelemetry-proto==1.45.2
    cargo build -p toolgen-runtime --features agent,http,macros,mcp,mcp-server,otel --example telemetry
    DIR/bin/python tests/otel/run.py target/debug/examples/telemetry
"""

import gzip
import http.server
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time

import rotel
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

# How long the collector may take to start, or to hand on what it got, in seconds.
PATIENCE = 30

# The spans of the trace as their names and those of their parents.
TREE = {
    "invoke_agent forecaster": None,
    "chat a-model": "invoke_agent forecaster",
    "execute_tool weather": "invoke_agent forecaster",
    "execute_tool units__fahrenheit": "invoke_agent forecaster",
    "tools/call fahrenheit": "execute_tool units__fahrenheit",
    "execute_tool fahrenheit": "tools/call fahrenheit",
}

# What each span must say, beside what others may.
SAYS = {
    "invoke_agent forecaster": {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "forecaster",
        "gen_ai.request.model": "a-model",
        "gen_ai.usage.input_tokens": 20,
        "gen_ai.usage.output_tokens": 10,
    },
    "chat a-model": {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "anthropic"},
    "execute_tool weather": {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "weather",
        "gen_ai.tool.call.id": "1",
        "gen_ai.tool.type": "function",
    },
    "execute_tool units__fahrenheit": {"mcp.method.name": "tools/call", "network.transport": "pipe"},
    "tools/call fahrenheit": {"mcp.method.name": "tools/call", "gen_ai.tool.name": "fahrenheit"},
    "execute_tool fahrenheit": {"gen_ai.tool.name": "fahrenheit"},
}

# The metrics, with their units.
METRICS = {
    "gen_ai.execute_tool.duration": "s",
    "gen_ai.invoke_agent.duration": "s",
    "gen_ai.invoke_agent.inference_calls": "{inference_call}",
    "gen_ai.invoke_agent.tool_calls": "{tool_call}",
    "gen_ai.client.inference.duration": "s",
    "gen_ai.client.inference.usage.input_tokens": "{token}",
    "gen_ai.client.inference.usage.output_tokens": "{token}",
    "mcp.server.operation.duration": "s",
}


class World(http.server.ThreadingHTTPServer):
    """The service that the agent asks, and what the collector hands its data on to."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.spans, self.metrics, self.asked = [], {}, []
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers both."""

    def do_GET(self):
        self.server.asked.append(self.headers.get("traceparent"))
        self.answer(b'{"celsius": 20}', "application/json")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        if self.path == "/v1/traces":
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.server.spans += [span for scope in resource.scope_spans for span in scope.spans]
        elif self.path == "/v1/metrics":
            for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                self.server.metrics |= {one.name: one for scope in resource.scope_metrics for one in scope.metrics}
        self.answer(b"", "application/x-protobuf")

    def answer(self, body, kind):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def until(holds, what):
    """Waits until a condition holds."""
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            sys.exit(f"FAILED: {what} within {PATIENCE} s")
        time.sleep(0.05)


def listens(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def collector(world, port, folder):
    """Starts the collector."""
    program = pathlib.Path(rotel.__file__).parent / "rotel-agent"
    return subprocess.Popen(
        [program, "start"]
        + ["--otlp-http-endpoint", f"127.0.0.1:{port}", "--otlp-grpc-endpoint", f"127.0.0.1:{free_port()}"]
        + ["--exporter", "otlp", "--otlp-exporter-endpoint", world.url, "--otlp-exporter-protocol", "http"]
        + ["--batch-timeout", "100ms"]
        + ["--pid-file", f"{folder}/pid", "--log-file", f"{folder}/log"],
        env={"PATH": os.environ["PATH"], "ROTEL_TELEMETRY_DISABLED": "true"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def told(span):
    """The attributes of a span."""
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in span.attributes}


def problems(world):
    """Returns the errors."""
    names = {span.span_id: span.name for span in world.spans}
    counts = {name: sum(span.name == name for span in world.spans) for name in TREE}
    if counts != {name: 3 if name.startswith("chat") else 1 for name in TREE}:
        yield f"these spans arrived: {sorted(names.values())}"
    if len({span.trace_id for span in world.spans}) != 1:
        yield "they are not of one trace"
    for span in world.spans:
        parent = names.get(span.parent_span_id)
        if span.name in TREE and parent != TREE[span.name]:
            yield f"{span.name} is inside of {parent}, not of {TREE[span.name]}"
        says = told(span)
        lacking = {key: value for key, value in SAYS.get(span.name, {}).items() if says.get(key) != value}
        if lacking:
            yield f"{span.name} does not say {lacking}, but {says}"
        if any(key.startswith("gen_ai.tool.call.") and key != "gen_ai.tool.call.id" for key in says):
            yield f"{span.name} has content that nobody asked for"
        if span.status.code == 2:
            yield f"{span.name} failed: {says}"
    calls = [span for span in world.spans if span.name == "execute_tool weather"]
    wanted = [f"00-{span.trace_id.hex()}-{span.span_id.hex()}-01" for span in calls]
    if world.asked != wanted:
        yield f"the service got the traceparent {world.asked}, not {wanted}"
    units = {name: metric.unit for name, metric in world.metrics.items()}
    if not METRICS.items() <= units.items():
        yield f"these metrics arrived: {units}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = str(pathlib.Path(sys.argv[1]).resolve())
    world, port = World(), free_port()
    threading.Thread(target=world.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        running = collector(world, port, folder)
        try:
            until(lambda: listens(port), "the collector did not start")
            env = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}"}
            subprocess.run([program, world.url], env=env, check=True, timeout=60)
            enough = lambda: len(world.spans) >= 8 and METRICS.keys() <= world.metrics.keys()
            until(enough, f"the collector did not hand on everything: {[one.name for one in world.spans]}, {list(world.metrics)}")
        finally:
            running.terminate()
            running.wait()
    found = list(problems(world))
    for problem in found:
        print(f"FAILED: {problem}")
    print(f"{len(world.spans)} spans, {len(world.metrics)} metrics, {len(world.asked)} request, {len(found)} problems")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
