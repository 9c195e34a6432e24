"""Invalid input: each case is rejected or tolerated with a location, in bounded time and memory."""

from __future__ import annotations

import json
import re
import socket
import tempfile
import threading
from pathlib import Path
from typing import Any

from cli import Cli, Outcome
from report import Report

HEAD = 'openapi: 3.0.3\ninfo: {title: t, version: "1"}\n'
GET = "get: {operationId: fine, responses: {'200': {description: fine}}}"

Case = tuple[str, "str | bytes", str]


def _schema(schema: Any) -> str:
    """A document with one operation whose body has this schema."""
    body = {"content": {"application/json": {"schema": {"type": "object", "properties": {"p": schema}}}}}
    return _document({"post": {"operationId": "op", "requestBody": body, "responses": {"200": {"description": "fine"}}}})


def _document(item: Any, **more: Any) -> str:
    return json.dumps({"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": {"/p": item}, **more})


def _nested(depth: int) -> str:
    return '{"properties":{"a":' * depth + "{}" + "}}" * depth


def cases() -> list[Case]:
    """Name of the file, content, and what must come of it: `refuse` (exit 1, a problem with a place), `warn` (a problem
    with a place, the operation may stay), `degrade` (a problem or not, the operation stays) or `accept`."""
    number = '{"type":"number","minimum":%s,"maximum":%s}'
    plain = _schema("@@")
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join([f'*{chr(97 + i)}'] * 9)}]\n" for i in range(12))
    merge = "m0: &m0 {k: v}\n" + "".join(f"m{i}: &m{i} {{a: *m{i - 1}, b: *m{i - 1}}}\n" for i in range(1, 60))
    schemas = "components: {schemas: {A: {$ref: '#/components/schemas/B'}, B: {$ref: '#/components/schemas/A'}}}"
    return [
        ("cut.json", '{"openapi": "3.0.3", "info": {', "refuse"),
        ("comma.json", '{"openapi": "3.0.3",}', "refuse"),
        ("trailing.json", _document({}) + " x", "refuse"),
        ("garbage.json", bytes(range(256)), "refuse"),
        ("utf16.json", _document({}).encode("utf-16"), "refuse"),
        ("latin1.yaml", (HEAD + "paths: {}\nx-y: \xfc").encode("latin-1"), "refuse"),
        ("surrogate.json", _document({"get": {"operationId": "a", "description": "@@", "responses": {}}}).replace("@@", r"\ud800"), "any"),
        ("bom.yaml", "\ufeff" + HEAD + "paths: {/p: {" + GET + "}}", "accept"),
        ("crlf.yaml", (HEAD + "paths:\n  /p:\n    " + GET + "\n").replace("\n", "\r\n"), "accept"),
        ("nul.yaml", HEAD + "paths: {}\nx: \0", "refuse"),
        ("empty.yaml", "", "refuse"),
        ("blank.json", "  \n", "refuse"),
        ("scalar.yaml", "hello", "refuse"),
        ("list.json", "[]", "refuse"),
        ("tab.yaml", "openapi: 3.0.3\n\tinfo: x", "refuse"),
        ("open.yaml", HEAD + 'paths: {"/p: 1', "refuse"),
        ("indent.yaml", HEAD + "paths:\n    /p:\n  get: x\n   - y", "refuse"),
        ("alias.yaml", HEAD + "paths: *nowhere", "refuse"),
        ("cycle.yaml", HEAD + "paths: &a {/p: *a}", "any"),
        ("two.yaml", HEAD + "paths: {}\n---\n" + HEAD, "any"),
        ("tag.yaml", HEAD + "paths: {/p: {" + GET + "}}\nx-y: !!python/object/apply:os.system [ls]\nx-z: !own 1", "any"),
        ("complex-key.yaml", HEAD + "paths: {/p: {" + GET + "}}\nx-y: {? [a, b] : c, ? {d: e} : f, 1: g, null: h, true: i}", "any"),
        ("swagger.json", '{"swagger":"1.2","info":{"title":"t","version":"1"},"paths":{}}', "refuse"),
        ("four.yaml", HEAD.replace("3.0.3", "4.0.0") + "paths: {}", "refuse"),
        ("no-version.yaml", "info: {title: t}\npaths: {}", "refuse"),
        ("version-object.yaml", HEAD.replace("3.0.3", "{a: 1}") + "paths: {}", "refuse"),
        ("version-number.yaml", HEAD.replace("3.0.3", "3.1") + "paths: {/p: {" + GET + "}}", "accept"),
        ("no-info.yaml", "openapi: 3.0.3\npaths: {/p: {" + GET + "}}", "degrade"),
        ("no-paths.yaml", HEAD, "any"),
        ("paths-list.yaml", HEAD + "paths: [1, 2]", "warn"),
        ("paths-null.yaml", HEAD + "paths:", "any"),
        ("item-null.yaml", HEAD + "paths: {/n: null, /s: text, /p: {" + GET + "}}", "degrade"),
        ("operation-text.yaml", HEAD + "paths: {/n: {get: text}, /p: {" + GET + "}}", "degrade"),
        ("bomb.yaml", HEAD + "paths: {}\n" + bomb, "refuse"),
        ("bomb-maps.yaml", HEAD + "paths: {}\n" + merge, "refuse"),
        ("deep-list.json", '{"openapi":"3.0.3","x":' + "[" * 10_000 + "]" * 10_000 + "}", "refuse"),
        ("deep-open.json", "[" * 200_000, "refuse"),
        ("deep-schema.json", plain.replace('"@@"', _nested(10_000)), "refuse"),
        ("deep-schema-1000.json", plain.replace('"@@"', _nested(1000)), "any"),
        ("deep-flow.yaml", HEAD + "x: " + "[" * 10_000 + "]" * 10_000, "refuse"),
        ("deep-block.yaml", HEAD + "x:\n" + "".join(" " * i + "- \n" for i in range(1, 3000)), "any"),
        ("deep-dashes.yaml", HEAD + "x:\n  " + "- " * 10_000 + "a", "refuse"),
        ("deep-refs.json", _document({"get": {"operationId": "fine", "responses": {}, "parameters": [{"name": "a", "in": "query", "schema": {"$ref": "#/components/schemas/S0"}}]}}, components={"schemas": {f"S{i}": {"$ref": f"#/components/schemas/S{i + 1}"} for i in range(10_000)}}), "degrade"),
        ("deep-allof.json", _document({"get": {"operationId": "fine", "responses": {}, "parameters": [{"name": "a", "in": "query", "schema": {"$ref": "#/components/schemas/S0"}}]}}, components={"schemas": {f"S{i}": {"allOf": [{"$ref": f"#/components/schemas/S{i + 1}"}] * 2} for i in range(2_000)}}), "degrade"),
        ("self.yaml", HEAD + "paths: {/p: {get: {operationId: fine, parameters: [{name: a, in: query, schema: {$ref: '#/components/schemas/A'}}], responses: {}}}}\n" + schemas, "degrade"),
        ("root-ref.json", _schema({"$ref": "#"}).replace('"op"', '"fine"'), "degrade"),
        ("dangling.json", _schema({"$ref": "#/components/schemas/No"}).replace('"op"', '"fine"'), "warn"),
        ("body-self.json", _document({"post": {"operationId": "a", "requestBody": {"$ref": "#/paths/~1p/post/requestBody"}, "responses": {}}}), "warn"),
        ("item-self.json", _document({"$ref": "#/paths/~1p"}), "any"),
        ("outside-file.json", _schema({"$ref": "../../../../../../etc/passwd#/x"}), "warn"),
        ("outside-absolute.json", _schema({"$ref": "/etc/passwd"}), "warn"),
        ("outside-url.json", _schema({"$ref": "http://127.0.0.1:PORT/x.json#/a"}), "warn"),
        ("outside-parameter.json", _document({"get": {"operationId": "a", "parameters": [{"$ref": "http://127.0.0.1:PORT/x.json"}], "responses": {}}}), "refuse"),
        ("outside-item.json", _document({"$ref": "http://127.0.0.1:PORT/x.json"}), "warn"),
        ("regex.json", _schema({"type": "string", "pattern": "[a-"}).replace('"op"', '"fine"'), "warn"),
        ("regex-group.json", _schema({"type": "string", "pattern": "(?<n>a)\\k<m>(?i)"}).replace('"op"', '"fine"'), "any"),
        ("regex-size.json", _schema({"type": "string", "pattern": "((a{1000}){1000}){1000}"}).replace('"op"', '"fine"'), "any"),
        ("regex-long.json", _schema({"type": "string", "pattern": "(" * 5000 + "a" + ")" * 5000}).replace('"op"', '"fine"'), "any"),
        ("numbers.json", plain.replace('"@@"', number % ("1e400", "-1e999999")).replace('"op"', '"fine"'), "warn"),
        ("numbers.yaml", HEAD + "paths: {/p: {" + GET.replace("}}}", "}}, parameters: [{name: a, in: query, schema: {type: number, minimum: 1e400, maximum: .inf, multipleOf: .nan}}]}") + "}}", "warn"),
        ("digits.json", plain.replace('"@@"', number % ("1" * 5000, "0." + "3" * 5000)).replace('"op"', '"fine"'), "degrade"),
        ("negative.json", _schema({"type": "array", "minItems": -5, "maxItems": 1e30, "multipleOf": 0, "maxLength": "x"}).replace('"op"', '"fine"'), "degrade"),
        ("twice.json", '{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{"/p":{},"/p":{}}}', "refuse"),
        ("twice.yaml", HEAD + "paths: {}\npaths: {}", "refuse"),
        ("twice-deep.yaml", HEAD + "paths: {/p: {" + GET + "}}\nx-y: {a: 1, a: 2}", "warn"),
        ("long-text.json", _document({"get": {"operationId": "fine", "description": "x" * 50_000_000, "responses": {}}}), "degrade"),
        ("long-text.yaml", HEAD + "paths: {/p: {" + GET + "}}\nx-y: " + "x" * 50_000_000, "degrade"),
        ("long-line.yaml", HEAD + "paths: {/p: {" + GET + "}}\nx-y: [" + "1," * 1_000_000 + "1]", "any"),
        ("long-name.json", _document({"get": {"operationId": "n" * 1_000_000, "responses": {}}}), "any"),
        ("enum.json", _schema({"type": "string", "enum": [f"v{i}" for i in range(100_000)]}).replace('"op"', '"fine"'), "degrade"),
        ("wide.json", _schema({"type": "object", "properties": {f"p{i}": {"type": "string"} for i in range(50_000)}}).replace('"op"', '"fine"'), "degrade"),
        ("union.json", _schema({"oneOf": [{"type": "object", "properties": {f"p{i}": {"type": "string"}}} for i in range(20_000)]}).replace('"op"', '"fine"'), "degrade"),
        ("same-names.json", json.dumps({"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": {f"/p{i}": {"get": {"operationId": "fine", "responses": {}}} for i in range(5_000)}}), "any"),
        ("parameters.json", _document({"get": {"operationId": "fine", "responses": {}, "parameters": [{"name": f"a{i % 10}", "in": "query"} for i in range(20_000)]}}), "any"),
        ("odd-parameters.json", _document({"get": {"operationId": "fine", "responses": {}, "parameters": [None, 1, {}, {"name": 5, "in": "query"}, {"name": "x", "in": "space"}, {"name": "", "in": "query"}, "text"]}}), "any"),
    ]


def judge_bad(cli: Cli, report: Report) -> None:
    """Runs every case, and counts forbidden connections."""
    listener = socket.create_server(("127.0.0.1", 0))
    connections: list[Any] = []
    threading.Thread(target=_accept, args=(listener, connections), daemon=True).start()
    with tempfile.TemporaryDirectory() as directory:
        for name, content, fate in cases():
            raw = content if isinstance(content, bytes) else content.encode()
            path = Path(directory, name)
            path.write_bytes(raw.replace(b"PORT", str(listener.getsockname()[1]).encode()))
            _case(cli, report, path, fate)
        _usage(cli, report, Path(directory))
        _slow_patterns(cli, report, Path(directory))
    report.check(not connections, "outside references", f"{len(connections)} connections were opened")
    listener.close()


def _accept(listener: socket.socket, connections: list[Any]) -> None:
    while True:
        try:
            connections.append(listener.accept())
        except OSError:
            return


def _case(cli: Cli, report: Report, path: Path, fate: str) -> None:
    name = f"bad input {path.name}"
    large = path.stat().st_size > 5_000_000
    outcome = cli.run("check", str(path), "--format", "json")
    if not report.check(not outcome.crashed and outcome.code in (0, 1), name, outcome.brief()):
        return
    # Far above the cost of any case: only superlinear work reaches it.
    report.check(outcome.seconds < (30 if large else 10), name, f"takes {outcome.seconds:.1f} s")
    report.check(outcome.megabytes < (1000 if large else 600), name, f"takes {outcome.megabytes:.0f} MB")
    if not report.check(_shaped(outcome), name, f"prints {outcome.out[:200]!r}"):
        return
    document = outcome.json()["documents"][0]
    problems = document["problems"]
    for problem in problems[:50]:
        ok = problem["line"] >= 1 and problem["column"] >= 1 and problem["file"] and problem["message"] and "help" in problem
        report.check(ok, name, f"no place or text: {problem}")
    if fate == "refuse":
        report.check(outcome.code == 1 and any(p["severity"] == "error" for p in problems), name, f"should be refused: exit {outcome.code}, {str(problems)[:200]}")
    if fate == "warn":
        report.check(bool(problems), name, "it is not reported")
    if fate == "accept":
        report.check(outcome.code == 0, name, f"should be fine: {str(problems)[:300]}")
    if fate in ("accept", "degrade"):
        report.check(document["tools"] >= 1, name, f"the operation is lost: {str(problems)[:300]}")
    if problems:
        people = cli.run("check", str(path))
        report.check(bool(re.search(re.escape(path.name) + r":\d+:\d+", people.out + people.err)), name, f"no file:line:column for people: {people.brief()}")


def _shaped(outcome: Outcome) -> bool:
    printed = outcome.json()
    return isinstance(printed, dict) and len(printed.get("documents", ())) == 1 and "problems" in printed["documents"][0]


def _usage(cli: Cli, report: Report, directory: Path) -> None:
    """Exit codes: 0 success, 1 errors, 2 usage error."""
    fine = directory / "fine.yaml"
    fine.write_text(HEAD + "servers: [{url: 'http://x.test'}]\npaths: {/p: {" + GET + "}}")
    for arguments, codes in (
        ([], (0, 2)), (["--help"], (0,)), (["--version"], (0,)), (["nonsense"], (2,)), (["check"], (2,)), (["check", "--nonsense"], (2,)),
        (["check", str(fine)], (0,)), (["check", str(directory)], (1, 2)), (["check", str(directory / "missing.yaml")], (1, 2)),
        (["call", str(fine), "fine"], (0, 1, 2)), (["call", str(fine), "fine", "{}", "--dry-run"], (0,)), (["call", str(fine), "fin", "{}", "--dry-run"], (1, 2)),
        (["call", str(fine), "fine", "{", "--dry-run"], (1, 2)), (["call", str(fine), "fine", "[]", "--dry-run"], (1, 2)),
        (["call", str(fine), "fine", '{"x":1}', "--dry-run"], (1,)), (["schema", str(fine), "--dialect", "nonsense"], (2,)),
        (["explain", "NOPE"], (1, 2)), (["gen", str(fine)], (2,)),
    ):
        if arguments == ["call", str(fine), "fine"]:
            continue
        outcome = cli.run(*arguments)
        where = "usage " + " ".join(Path(a).name if "/" in a else a for a in arguments)
        report.check(outcome.code in codes and not outcome.crashed, where, f"expected {codes}: {outcome.brief()}")
        report.check(bool(outcome.out.strip() or outcome.err.strip()), where, "says nothing")


def _slow_patterns(cli: Cli, report: Report, directory: Path) -> None:
    """A pattern with unbounded backtracking must not block a call."""
    for number, pattern in enumerate((r"^(a+)+$", r"^(a|aa)+$", r"^(.*a){20}$", r"(x+x+)+y")):
        path = directory / f"slow{number}.json"
        document = json.loads(_schema({"type": "string", "pattern": pattern}))
        document["servers"] = [{"url": "http://x.test"}]
        path.write_text(json.dumps(document))
        text = "a" * 40 + "!" if number < 3 else "x" * 5000
        outcome = cli.run("call", str(path), "op", json.dumps({"p": text}), "--dry-run")
        report.check(outcome.code in (0, 1) and outcome.seconds < 5, f"pattern {pattern}", outcome.brief())
