"""Installs Prism, starts it for one document, and records its traffic."""

from __future__ import annotations

import http.client
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Iterator

# The last one that runs on Node 20.
PRISM = "@stoplight/prism-cli@5.14.2"
# No document of the sample takes longer to load.
START = 30
# What the types of its problems start with.
ERRORS = "https://stoplight.io/prism/errors#"


class NotStarted(Exception):
    """Prism failed to serve a document; contains its output."""


def install(folder: Path) -> None:
    """Installs Prism; exits with NOT RUN if that fails."""
    if _entry(folder).exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder), PRISM]
    if not shutil.which("npm") or subprocess.run(npm, check=False).returncode:
        sys.exit(f"NOT RUN: {PRISM} cannot be installed (npm, and Node 20 or later)")


def _entry(folder: Path) -> Path:
    return folder / "node_modules/@stoplight/prism-cli/dist/index.js"


@dataclass
class Exchange:
    """A recorded request, and the errors of Prism."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes
    status: int = 0
    answer: dict[str, Any] = field(default_factory=dict)

    @property
    def fault(self) -> str:
        """The name of Prism's error, such as UNPROCESSABLE_ENTITY; empty if Prism answered as the document says."""
        kind = str(self.answer.get("type", ""))
        return kind.rpartition("#")[2] if kind.startswith(ERRORS) else ""

    @property
    def violations(self) -> list[dict[str, Any]]:
        """What Prism finds wrong: a location, a code, a message each."""
        listed = self.answer.get("validation")
        return listed if isinstance(listed, list) else []

    def header(self, name: str) -> str:
        """The first header of this name, in lower case."""
        return next((v for k, v in self.headers if k.lower() == name), "")


class Prism:
    """Prism with one document, behind a recording proxy."""

    def __init__(self, folder: Path, document: Path) -> None:
        self.folder, self.document = folder, document
        self.seen: list[Exchange] = []
        self.log = tempfile.TemporaryFile()
        self.start()
        prism = self

        class Handler(BaseHTTPRequestHandler):
            """Forwards requests verbatim, and responds to each with an empty success."""

            def __getattr__(self, name: str) -> Any:
                if name.startswith("do_"):
                    return self._pass
                raise AttributeError(name)

            def _pass(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                exchange = Exchange(self.command, self.path, list(self.headers.items()), body)
                prism.ask(exchange)
                prism.seen.append(exchange)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def start(self) -> None:
        """Starts Prism, or restarts it if it has exited; raises NotStarted."""
        self.port = free_port()
        command = ["node", str(_entry(self.folder)), "mock", "--errors", "--verboseLevel", "error", "--host", "127.0.0.1"]
        command += ["--port", str(self.port), str(self.document)]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT)
        end = time.monotonic() + START
        while time.monotonic() < end and self.is_alive():
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.05)
        self.stop()
        self.log.seek(0)
        said = " ".join(self.log.read().decode("utf-8", "replace").split())
        raise NotStarted(said[-160:] or f"it does not listen after {START} s")

    def is_alive(self) -> bool:
        """Whether Prism still runs."""
        return self.process.poll() is None

    def stop(self) -> None:
        """Stops Prism."""
        self.process.kill()
        self.process.wait()

    def ask(self, exchange: Exchange) -> None:
        """Sends a request to Prism, byte for byte."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.putrequest(exchange.method, exchange.target, skip_host=True, skip_accept_encoding=True)
            for name, value in exchange.headers:
                connection.putheader(name, value)
            connection.endheaders(exchange.body or None)
            answer = connection.getresponse()
            exchange.status = answer.status
            text = answer.read()
            try:
                read = json.loads(text)
                exchange.answer = read if isinstance(read, dict) else {}
            except ValueError:
                pass
        except (OSError, http.client.HTTPException) as error:
            exchange.answer = {"type": f"{ERRORS}NO_ANSWER", "detail": str(error)}
            # A process that ends may take a moment to do so.
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                pass
        finally:
            connection.close()


def free_port() -> int:
    """A free loopback port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def prism(folder: Path, document: Path) -> Iterator[Prism]:
    """Prism as long as it is needed; raises NotStarted."""
    running = Prism(folder, document)
    try:
        yield running
    finally:
        running.server.shutdown()
        running.server.server_close()
        running.stop()
