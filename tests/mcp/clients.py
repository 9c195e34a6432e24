#!/usr/bin/env python3
"""Runs foreign clients of the Model Context Protocol against our server.

    tests/mcp/install.sh DIR
    cargo build -p cargo-toolgen
    cargo build -p toolgen-runtime --features macros,mcp-server --example mcp_conformance
    tests/mcp/clients.py --installed DIR --binary target/debug/cargo-toolgen --fixture target/debug/examples/mcp_conformance

The Python package, both TypeScript SDKs and the inspector list and call every tool of the quickstart's document, over
standard streams and HTTP, in each era they speak. The conformance suite runs all server scenarios that both revisions
require; those of conformance-REVISION.yaml, each with its reason, are
expected to fail, and one that passes in spite of it is a failure, too.
"""

import argparse
import json
import os
import re
import select
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HERE = Path(__file__).resolve().parent
DOCUMENT = HERE.parent.parent / "specs" / "tasks.yaml"
TOKEN = "quickstart-token"
CALLS = [
    ["createTask", {"title": "Try a client", "tags": ["demo"]}],
    ["listTasks", {"status": "open"}],
    ["getTask", {"id": 7}],
    ["deleteTask", {"id": 7}],
    ["getTask", {"id": "seven"}],
]
# Of each answer: whether it is an error, and what its text says.
EXPECTED = [(False, "Try a client"), (False, "Try a client"), (False, '"id":7'), (False, ""), (True, "id")]


class Tasks(BaseHTTPRequestHandler):
    """The service behind the document."""

    def answer(self, status: int, body: object) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def serve(self) -> None:
        task = {"id": 7, "title": "Try a client", "status": "open", "tags": ["demo"]}
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self.answer(401, {"error": "a bearer token is needed"})
        one = re.search(r"/tasks/\d+$", self.path)
        if self.command == "POST":
            return self.answer(201, task)
        if self.command == "DELETE":
            return self.answer(204, None)
        return self.answer(200, task if one else [task])

    do_GET = do_POST = do_DELETE = serve

    def log_message(self, *_: object) -> None:
        pass


class Failures(list):
    def __init__(self):
        super().__init__()
        self.last = time.monotonic()

    def check(self, what: str, holds: bool, why: object = "") -> None:
        now = time.monotonic()
        print(f"  {'ok    ' if holds else 'FAILED'} {what} ({now - self.last:.1f} s)", flush=True)
        self.last = now
        if not holds:
            self.append(what)
            print(f"         {why}", flush=True)


def run(words: list, folder: Path, env: dict | None = None) -> subprocess.CompletedProcess:
    words = [str(word) for word in words]
    return subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)


class Served:
    """A server over HTTP, for as long as it is needed."""

    def __init__(self, words: list, env: dict | None = None):
        self.process = subprocess.Popen(
            [str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=env
        )

    def url(self) -> str:
        """The address, as the server tells it."""
        while select.select([self.process.stderr], [], [], 30)[0] and (line := self.process.stderr.readline()):
            if found := re.search(r"http://\S+/mcp", line):
                return found.group()
        self.process.kill()
        raise SystemExit("the server does not say where it serves")

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()


def quickstart(installed: Path, binary: Path, failures: Failures) -> None:
    service = ThreadingHTTPServer(("127.0.0.1", 0), Tasks)
    threading.Thread(target=service.serve_forever, daemon=True).start()
    env = {**os.environ, "TASKS_TOKEN": TOKEN}
    words = [binary, "serve", DOCUMENT, "--auth", "token=TASKS_TOKEN"]
    words += ["--base-url", f"http://127.0.0.1:{service.server_port}/v1"]
    words = [str(word) for word in words]
    python, node = installed / "python/bin/python", installed / "node22"
    clients = [
        ("Python", [python, HERE / "client.py"], None, ["legacy", "modern"]),
        ("TypeScript 1", [node, HERE / "client.mjs"], 1, ["legacy"]),
        ("TypeScript 2", [node, HERE / "client.mjs"], 2, ["legacy", "modern"]),
    ]
    with Served([*words, "--http", "127.0.0.1:0"], env) as http:
        url = http.url()
        for name, command, sdk, eras in clients:
            for era in eras:
                for way, where in [("stdio", {"command": words}), ("HTTP", {"url": url})]:
                    asked = {"sdk": sdk, "era": era, "calls": CALLS, "env": {"TASKS_TOKEN": TOKEN}, **where}
                    ended = run([*command, json.dumps(asked)], installed, env)
                    failures.check(f"{name}, {way}, {era}", *judged(ended, era))
        inspector(installed, words, url, env, failures)
    service.shutdown()


def judged(ended: subprocess.CompletedProcess, era: str) -> tuple[bool, str]:
    """Whether a client listed and called all tools, or what it did instead."""
    try:
        said = json.loads(ended.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        return False, ended.stdout + ended.stderr
    listed = said["tools"] == ["createTask", "deleteTask", "getTask", "listTasks"]
    pairs = zip(said["answers"], EXPECTED, strict=True)
    answered = all(got[0] == is_error and text in got[1] for got, (is_error, text) in pairs)
    # Not every client tells which revision it speaks.
    spoken = said.get("version") is None or (said["version"] >= "2026") == (era == "modern")
    return listed and answered and spoken, f"{said} {ended.stderr}"


def inspector(installed: Path, words: list, url: str, env: dict, failures: Failures) -> None:
    program = installed / "node_modules/.bin/mcp-inspector"
    env = {**env, "PATH": f"{(installed / 'node22').resolve().parent}:{env['PATH']}"}
    for era in ["legacy", "modern"]:
        for way, where in [("stdio", words), ("HTTP", [url])]:
            given = ["-e", f"TASKS_TOKEN={TOKEN}"] if way == "stdio" else []
            start = [installed / "node22", program, "--cli", *where, *given, "--protocol-era", era]
            listed = run([*start, "--method", "tools/list", "--format", "json", "--strict"], installed, env)
            fine = listed.returncode == 0 and all(f'"{name}"' in listed.stdout for name, _ in CALLS)
            failures.check(f"inspector, {way}, {era}, lists", fine, listed.stdout + listed.stderr)
            for (name, arguments), (is_error, text) in list(zip(CALLS, EXPECTED, strict=True))[:4]:
                pairs = [f"{key}={json.dumps(value) if not isinstance(value, str) else value}" for key, value in arguments.items()]
                options = ["--tool-arg", *pairs] if pairs else []
                called = run([*start, "--method", "tools/call", "--tool-name", name, *options], installed, env)
                fine = called.returncode == 0 and text.replace('"', '\\"') in called.stdout
                failures.check(f"inspector, {way}, {era}, {name}", fine, called.stdout + called.stderr)


def conformance(installed: Path, fixture: Path, failures: Failures) -> None:
    suite = installed / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
    with Served([fixture, "127.0.0.1:0"]) as served:
        url = served.url()
        for revision in ["2025-11-25", "2026-07-28"]:
            baseline = HERE / f"conformance-{revision}.yaml"
            words = [installed / "node22", suite, "server", "--url", url, "--requirements", revision]
            ended = run([*words, "--expected-failures", baseline], installed)
            lines = ended.stdout.splitlines()
            passed = sum(line.startswith("✓") for line in lines)
            what = f"conformance {revision}: {passed} scenarios passed"
            failures.check(what, ended.returncode == 0, "\n".join(lines[-80:]) + ended.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--installed", type=Path, required=True)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--fixture", type=Path, required=True)
    options = parser.parse_args()
    failures = Failures()
    quickstart(options.installed.resolve(), options.binary.resolve(), failures)
    conformance(options.installed.resolve(), options.fixture.resolve(), failures)
    print(f"{len(failures)} failed")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
