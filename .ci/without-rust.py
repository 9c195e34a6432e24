#!/usr/bin/env python3
"""Installs the files of a release where there is no Rust and no network, and serves tools with them.

    .ci/without-rust.py pip|npm DIR        DIR is what .ci/release made, target/release-VERSION

Each environment is empty: a home of its own, and a PATH with the installed program and with Node, where it needs Node.
An MCP client, which is this script, talks to the server over its standard streams, and the tool asks a service on the
loopback.
"""

import base64
import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import zipfile

import bundle

# How long a program may take, in seconds.
PATIENCE = 60
DOCUMENT = """\
openapi: 3.1.0
info: {{title: Greetings, version: "1"}}
servers: [{{url: "http://127.0.0.1:{port}"}}]
paths:
  /greet/{{name}}:
    get:
      operationId: greet
      description: Greets a person.
      parameters: [{{name: name, in: path, required: true, schema: {{type: string}}}}]
      responses: {{"200": {{description: The greeting., content: {{text/plain: {{schema: {{type: string}}}}}}}}}}
"""


class Service(http.server.BaseHTTPRequestHandler):
    """Answers each request with its path."""

    def do_GET(self):
        body = f"asked for {self.path}".encode()
        self.send_response(200)
        self.send_header("content-type", "text/plain")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def check(holds, message):
    if not holds:
        sys.exit(f"without-rust: {message}")


class Place:
    """A directory that has a home, the document of the service, and the only PATH of the programs that it runs."""

    def __init__(self, root, *programs):
        self.root = pathlib.Path(root)
        self.programs = self.root / "programs"
        self.programs.mkdir()
        (self.root / "home").mkdir()
        for program in programs:
            found = shutil.which(program)
            check(found, f"there is no {program}")
            (self.programs / program).symlink_to(found)
        self.environment = {"HOME": str(self.root / "home"), "PATH": str(self.programs), "LANG": "C.UTF-8"}

    def add_to_path(self, folder):
        self.environment["PATH"] += os.pathsep + str(folder)
        for tool in ("cargo", "rustc", "rustup"):
            check(not shutil.which(tool, path=self.environment["PATH"]), f"{tool} is on the PATH")

    def run(self, *command, cwd=None):
        return subprocess.run([str(word) for word in command], cwd=cwd or self.root, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)

    def must(self, *command, cwd=None):
        ran = self.run(*command, cwd=cwd)
        check(ran.returncode == 0, f"{command} exits with {ran.returncode}:\n{ran.stdout}{ran.stderr}")
        return ran.stdout

    def start(self, *command, cwd=None):
        return subprocess.Popen(command, cwd=cwd or self.root, env=self.environment, text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)


class Client:
    """Requests to an MCP server, over its standard streams."""

    def __init__(self, process):
        self.process, self.id, self.late = process, 0, False
        self.watch = threading.Timer(PATIENCE, self.stop)
        self.watch.daemon = True
        self.watch.start()

    def stop(self):
        self.late = True
        os.killpg(self.process.pid, signal.SIGKILL)

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.id += 1
        self.send({"id": self.id, "method": method, "params": params})
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.id:
                check("result" in answer, f"{method} is answered with {line}")
                return answer["result"]
        sys.exit(f"without-rust: the server ends before it answers {method}")

    def initialize(self):
        about = {"name": "rehearsal", "version": "1"}
        result = self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about})
        self.send({"method": "notifications/initialized"})
        return result

    def ended(self):
        """Waits until all processes with the server's output have ended. Returns the exit code of the one started."""
        self.process.stdout.read()
        code = self.process.wait(PATIENCE)
        self.watch.cancel()
        check(not self.late, f"the server, or what it started, still ran after {PATIENCE} s")
        return code


def exchange(place, *command, cwd=None):
    """Starts a server and talks to it: what it lists, and what a call returns."""
    service = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=service.serve_forever, daemon=True).start()
    document = place.root / "greet.yaml"
    document.write_text(DOCUMENT.format(port=service.server_port))
    client = Client(place.start(*command, "serve", str(document), "--private-host", "127.0.0.1", cwd=cwd))
    check("tools" in client.initialize()["capabilities"], "the server offers no tools")
    tools = [tool["name"] for tool in client.ask("tools/list", {})["tools"]]
    check(tools == ["greet"], f"the server lists {tools}")
    result = client.ask("tools/call", {"name": "greet", "arguments": {"name": "Ada"}})
    check(not result.get("isError") and "asked for /greet/Ada" in result["content"][0]["text"], f"a call returns {result}")
    client.process.stdin.close()
    code = client.ended()
    check(code == 0, f"the server exits with {code} when its input ends")
    service.shutdown()


def only(folder, pattern):
    found = list(folder.glob(pattern))
    check(len(found) == 1, f"{folder} has {len(found)} files {pattern}; .ci/release makes one")
    return found[0]


def packed(wheel):
    """The program in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(next(name for name in archive.namelist() if "/scripts/" in name))


def reproduced(folder):
    """The same binary and the same commit give the same files, and none for another platform."""
    archive = only(folder, "cargo-toolgen-v*.tar.gz")
    target = re.fullmatch(r"cargo-toolgen-v[^-]+(?:-(?:alpha|beta|rc)\.\d+)?-(.*)\.tar\.gz", archive.name)[1]
    seconds = subprocess.check_output(["git", "log", "-1", "--format=%ct"], cwd=bundle.ROOT, text=True)
    binary = packed(only(folder, "*.whl"))
    for name, content in bundle.bundles(binary, target, int(seconds)).items():
        check((folder / name).read_bytes() == content, f"{name} differs when it is made again")
    # What is static for musl runs with glibc, too.
    others = [other for other in bundle.PLATFORMS if other not in (target, target.replace("musl", "gnu"))]
    for other in others:
        try:
            bundle.glibc_of(binary, bundle.PLATFORMS[other])
        except SystemExit:
            continue
        check(False, f"the binary for {target} is packed for {other}")


def recorded(wheel):
    """The record of the wheel has each of its files, with its digest and size."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        rows = [line.split(",") for line in archive.read(names[-1]).decode().splitlines()]
        check([path for path, *_ in rows] == names, f"the record of {wheel.name} has {rows}, and the wheel {names}")
        for path, digest, size in rows[:-1]:
            content = archive.read(path)
            expected = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
            check((digest, size) == (f"sha256={expected}", str(len(content))), f"the record of {path} is wrong")


def claimed(wheel):
    """A tag for glibc names the newest version that binutils find in the binary, if they are there."""
    tag = re.search(r"manylinux_(\d+)_(\d+)_", wheel.name)
    if not tag or not shutil.which("readelf"):
        return
    with tempfile.NamedTemporaryFile() as binary:
        binary.write(packed(wheel))
        binary.flush()
        needed = subprocess.check_output(["readelf", "--version-info", "--wide", binary.name], text=True)
    found = [(int(a), int(b)) for a, b in re.findall(r"Name: GLIBC_(\d+)\.(\d+)", needed)]
    check(found, "readelf finds no version of glibc")
    newest = max(*found, bundle.OLDEST_GLIBC)
    check((int(tag[1]), int(tag[2])) == newest, f"{wheel.name} is for another glibc than {newest}, which the binary needs")


def by_pip(folder, scratch):
    reproduced(folder)
    wheel = only(folder, "*.whl")
    recorded(wheel)
    claimed(wheel)
    place = Place(scratch)
    environment = place.root / "environment"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    place.add_to_path(environment / "bin")
    place.must(environment / "bin/python", "-m", "pip", "-q", "--disable-pip-version-check", "install", "--no-index", wheel)
    exchange(place, environment / "bin/cargo-toolgen")
    place.must(environment / "bin/python", "-m", "pip", "-q", "uninstall", "-y", "cargo-toolgen")
    check(not (environment / "bin/cargo-toolgen").exists(), "pip does not remove what it installed")


def by_npm(folder, scratch):
    launcher, binary = only(folder, "cargo-toolgen-*.tgz"), only(folder, "toolgen-cli-*.tgz")
    place = Place(scratch, "node", "npm", "npx", "sh")
    install = ["npm", "install", "--offline", "--no-audit", "--no-fund", "--silent"]
    project, incomplete = place.root / "project", place.root / "incomplete"
    place.add_to_path(project / "node_modules/.bin")
    for directory, files in ((project, [launcher, binary]), (incomplete, [launcher])):
        directory.mkdir()
        place.must(*install, *files, cwd=directory)
    exchange(place, "npx", "--offline", "cargo-toolgen", cwd=project)
    exchange(place, "cargo-toolgen")
    status(place)
    named = without_package(place, incomplete / "node_modules/cargo-toolgen/bin/cargo-toolgen.js")
    installed = project / "node_modules" / named
    stopped(place, str(only(installed / "bin", "cargo-toolgen*")))
    too_old(place, installed / "package.json")


def status(place):
    """The launcher exits as the program does, and passes on what it writes."""
    ran = place.run("cargo-toolgen", "check", "missing.yaml")
    check(ran.returncode == 1 and "missing.yaml" in ran.stdout, f"a missing document: {ran.returncode}, {ran.stdout}")
    ran = place.run("cargo-toolgen", "--no-such-option")
    check(ran.returncode == 2, f"an unknown option: {ran.returncode}, {ran.stderr}")


def stopped(place, program):
    """A signal to the launcher ends the program, and it exits as the program does that is signaled itself."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        codes = []
        for command in (program, "cargo-toolgen"):
            client = Client(place.start(command, "serve", str(place.root / "greet.yaml"), "--private-host", "127.0.0.1"))
            client.initialize()
            client.process.send_signal(number)
            codes.append(client.ended())
        check(codes[0] == codes[1], f"after {number.name}, the program exits with {codes[0]}, and the launcher with {codes[1]}")


def without_package(place, launcher):
    """Where no package fits, the launcher names what to do. Returns the package of this platform."""
    ran = place.run("node", launcher, "--version")
    named = re.search(r"the package (@toolgen/cli-\S+), .* is not installed.*npm install --include=optional", ran.stderr, re.S)
    check(ran.returncode == 1 and named, f"without the platform's package: {ran.returncode}, {ran.stderr}")
    for change, message in (
        ("Object.defineProperty(process, 'platform', {value: 'freebsd'})", "there is no package for freebsd"),
        ("process.report.getReport = () => ({header: {}})", "the package @toolgen/cli-linux-x64-musl"),
    ):
        if "musl" not in message or named[1] == "@toolgen/cli-linux-x64":
            ran = place.run("node", "-e", f"{change}; require({json.dumps(str(launcher))})")
            check(ran.returncode == 1 and message in ran.stderr, f"after {change}: {ran.returncode}, {ran.stderr}")
    return named[1]


def too_old(place, manifest):
    """A system with a glibc that is older than the program needs is named before the program fails to start."""
    stated = json.loads(manifest.read_text())
    if "glibc" not in stated:
        return
    manifest.write_text(json.dumps({**stated, "glibc": "99.0"}))
    ran = place.run("cargo-toolgen", "--version")
    check(ran.returncode == 1 and "needs glibc 99.0, and this system has 2." in ran.stderr, f"glibc: {ran.stderr}")
    manifest.write_text(json.dumps(stated))
    place.must("cargo-toolgen", "--version")


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("pip", "npm"):
        sys.exit(__doc__)
    manager, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        {"pip": by_pip, "npm": by_npm}[manager](folder, scratch)
    print(f"installed by {manager} in an empty environment: it serves a document, without Rust")


if __name__ == "__main__":
    main()
