"""Compares clients and servers of the Model Context Protocol with rmcp and FastMCP, in one run.

All peers speak over standard input and output. Of each the best round counts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import measure

INFO = {"name": "bench", "version": "1"}
ROUNDS = 2
CALLS = 300
# A round of calls ends after so many seconds.
LONGEST = 3

PROXY = """
import json, sys
from fastmcp.server import create_proxy
create_proxy({"mcpServers": json.loads(sys.argv[1])}).run(show_banner=False)
"""

FROM_OPENAPI = """
import json, sys
import httpx2
from fastmcp import FastMCP
client = httpx2.AsyncClient(base_url=sys.argv[2])
FastMCP.from_openapi(json.load(open(sys.argv[1])), client=client, validate_output=False).run(show_banner=False)
"""


class Api(BaseHTTPRequestHandler):
    """Answers every request with a small object."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "12")
        self.end_headers()
        self.wfile.write(b'{"ok": true}')

    def log_message(self, *_: object) -> None:
        pass


class Server:
    """A server, and the time of each of its answers. With `modern`, it is spoken to without a session."""

    def __init__(self, command: list[str], modern: bool = False) -> None:
        self.modern, self.next = modern, 0
        self.started = time.perf_counter()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if not modern:
            self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": INFO})
            self.write({"method": "notifications/initialized"})

    def write(self, message: dict) -> None:
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict) -> dict:
        self.next += 1
        if self.modern:
            prefix = "io.modelcontextprotocol/"
            meta = {"protocolVersion": "2026-07-28", "clientInfo": INFO, "clientCapabilities": {}}
            params = {**params, "_meta": {prefix + key: value for key, value in meta.items()}}
        self.write({"id": self.next, "method": method, "params": params})
        while line := self.process.stdout.readline():
            answer = json.loads(line)
            if answer.get("id") == self.next and "method" not in answer:
                return answer
        raise SystemExit(f"the server ended at {method}")

    def tools(self) -> list[dict]:
        """All pages, or nothing if there is no list."""
        found, cursor = [], {}
        while True:
            result = self.ask("tools/list", cursor).get("result", {})
            found += result.get("tools", [])
            if not result.get("nextCursor"):
                return found
            cursor = {"cursor": result["nextCursor"]}

    def call(self, tool: str, arguments: dict) -> tuple[float, dict]:
        start = time.perf_counter()
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        return time.perf_counter() - start, answer

    def close(self) -> None:
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def client(server: list[str]) -> None:
    program = measure.bench("mcp")
    for threads in ("0", "2"):
        command = [program, threads, "5", "3000" if not server else "500", *server]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        rows = {row["name"]: row for row in map(json.loads, out.splitlines())}
        raw, rmcp = rows["raw pipe"], rows["rmcp"]
        for name, row in rows.items():
            print(
                f"client, {threads} threads, {name:10} p50 {row['p50']:7.1f} µs ({row['p50'] - raw['p50']:+6.1f}) p99 {row['p99']:7.1f} µs"
                f"   {row['per_second']:8.0f} calls/s   {row['per_second'] / rmcp['per_second']:5.2f}x of rmcp"
            )


def gateway(toolgen: list[str], python: str, modules: Path, folder: Path) -> None:
    (folder / "data").mkdir()
    servers = {
        name: ["node", str(modules / f"@modelcontextprotocol/server-{name}/dist/index.js"), *arguments]
        for name, arguments in {"everything": [], "filesystem": [str(folder / "data")]}.items()
    }
    locks = [str(folder / f"{name}.lock.json") for name in servers]
    for lock, (name, command) in zip(locks, servers.items()):
        subprocess.run([*toolgen, "mcp", "lock", "--alias", name, "--out", lock, "--", *command], check=True, capture_output=True)
    config = {name: {"command": command[0], "args": command[1:]} for name, command in servers.items()}
    peers = {
        "everything alone": (servers["everything"], "echo"),
        "toolgen": ([*toolgen, "serve", *locks], "everything__echo"),
        "fastmcp": ([python, "-c", PROXY, json.dumps(config)], "everything_echo"),
    }
    for modern in (False, True):
        age = "modern" if modern else "legacy"
        for name, (command, tool) in peers.items():
            start, best, answer = 9e9, 9e9, {}
            for _ in range(ROUNDS):
                server = Server(command, modern)
                listed = server.tools()
                start = min(start, time.perf_counter() - server.started)
                server.call(tool, {"message": "hello"})
                times, ends = [], time.perf_counter() + LONGEST
                while len(times) < CALLS and time.perf_counter() < ends:
                    took, answer = server.call(tool, {"message": "hello"})
                    times.append(took)
                best = min(best, sorted(times)[len(times) // 2])
                server.close()
            said = "hello" in json.dumps(answer.get("result", {})) and not answer["result"].get("isError")
            outcome = f"{best * 1e6:7.0f} µs p50 of a call" if said else f"no call: {json.dumps(answer)[:90]}"
            print(f"gateway, {age} client, {name:16} {len(listed):3} tools after {start * 1e3:5.0f} ms   {outcome}", flush=True)


def openapi(toolgen: list[str], python: str, document: Path, operation: str, arguments: dict) -> None:
    """The operation is a GET: the call goes to a server in this process."""
    api = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    threading.Thread(target=api.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{api.server_port}"
    peers = {
        "toolgen": [*toolgen, "serve", str(document), "--base-url", base, "--private-host", "127.0.0.1"],
        "fastmcp": [python, "-c", FROM_OPENAPI, str(document), base],
    }
    for name, command in peers.items():
        best, took, answer = 9e9, 9e9, {}
        for _ in range(ROUNDS):
            server = Server(command)
            listed = server.tools()
            best = min(best, time.perf_counter() - server.started)
            plain = lambda text: text.replace("-", "").replace("_", "").lower()
            tool = next((tool["name"] for tool in listed if plain(tool["name"]) == plain(operation)), operation)
            for _ in range(10):
                time_, answer = server.call(tool, arguments)
                took = min(took, time_)
            server.close()
        size = len(json.dumps(listed))
        print(
            f"{document.name}, {name:8} {len(listed):4} tools ({size / 1e3:.0f} kB) after {best * 1e3:6.0f} ms   {tool}: {took * 1e3:.1f} ms, "
            f"{json.dumps(answer.get('result', answer))[:100]}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, help="an optimised cargo-toolgen (default: a release build is made)")
    parser.add_argument("--python", default=sys.executable, help="a Python that has FastMCP")
    parser.add_argument("--modules", type=Path, help="the folder node_modules that has the servers")
    parser.add_argument("--document", type=Path, help="an OpenAPI document in JSON")
    parser.add_argument("--operation", default="listUsers", help="its operation to call")
    parser.add_argument("--arguments", type=json.loads, default={}, help="what to call it with, as JSON")
    parser.add_argument("only", nargs="*", help="client, everything, gateway, openapi; without any, all that is possible")
    options = parser.parse_args()
    toolgen = lambda: [str(measure.toolgen(options.binary)), "toolgen"]
    wanted = lambda name: not options.only or name in options.only
    if wanted("client"):
        client([])
    if options.modules and wanted("everything"):
        client(["node", str(options.modules / "@modelcontextprotocol/server-everything/dist/index.js")])
    if options.modules and wanted("gateway"):
        with tempfile.TemporaryDirectory() as folder:
            gateway(toolgen(), options.python, options.modules.resolve(), Path(folder))
    if options.document and wanted("openapi"):
        openapi(toolgen(), options.python, options.document, options.operation, options.arguments)
