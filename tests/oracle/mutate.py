"""Damages documents at random locations: nothing may crash, and undamaged operations must still become tools."""

from __future__ import annotations

import copy
import json
import random
import tempfile
from pathlib import Path
from typing import Any

from cli import Cli
from load import load
from openapi import METHODS, Api
from report import Report

VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1e308, 2**70, "", "text", "..", "\u0000", [], {}, [None], {"": None}, {"$ref": "#/nowhere"}, {"$ref": 5},
    {"$ref": "#"}, {"$ref": "other.yaml#/x"}, {"type": "no"}, {"type": ["string", "null", 5]}, {"allOf": []}, {"oneOf": [None]},
    {"enum": []}, {"items": 5}, {"properties": []}, {"required": "x"}, {"pattern": "("}, {"default": {}},
)


def nodes(root: Any, limit: int = 200_000) -> list[tuple[str, ...]]:
    """The path of every node but the root."""
    found: list[tuple[str, ...]] = []
    stack: list[tuple[tuple[str, ...], Any]] = [((), root)]
    while stack and len(found) < limit:
        path, node = stack.pop()
        children = node.items() if isinstance(node, dict) else ((str(i), v) for i, v in enumerate(node)) if isinstance(node, list) else ()
        for key, child in children:
            found.append((*path, key))
            stack.append(((*path, key), child))
    return found


def damage(root: Any, path: tuple[str, ...], rng: random.Random) -> str:
    """Changes one node; returns a description."""
    parent = root
    for key in path[:-1]:
        parent = parent[key] if isinstance(parent, dict) else parent[int(key)]
    key: Any = path[-1] if isinstance(parent, dict) else int(path[-1])
    kind = rng.choice(("delete", "value", "value", "self", "swap"))
    if kind == "delete":
        del parent[key]
    elif kind == "self":
        parent[key] = {"$ref": "#/" + "/".join(t.replace("~", "~0").replace("/", "~1") for t in path)}
    elif kind == "swap" and isinstance(parent, dict):
        parent[key] = {f"{key}": parent[key]} if rng.random() < 0.5 else [parent[key]]
    else:
        parent[key] = copy.deepcopy(rng.choice(VALUES))
    return kind


def judge_mutants(cli: Cli, report: Report, paths: list[Path], numbers: range) -> None:
    """Damages documents and checks them; small and medium ones, for there the damage is easy to see."""
    small = [p for p in paths if p.stat().st_size < 120_000]
    if not small:
        report.skip("mutation: no documents")
        return
    bases = {p: load(p) for p in small}
    places = {p: nodes(root) for p, root in bases.items()}
    whole: dict[Path, set[tuple[str, str]]] = {}
    with tempfile.TemporaryDirectory() as directory:
        for number in numbers:
            rng = random.Random(number)
            path = rng.choice(small)
            if path not in whole:
                whole[path] = _tools(cli, path)
            root = copy.deepcopy(bases[path])
            hit = rng.choice(places[path])
            kind = damage(root, hit, rng)
            mutant = Path(directory, f"mutant-{number}.json")
            mutant.write_text(json.dumps(root))
            where = f"mutant {number} of {path.name} ({kind} at /{'/'.join(hit)})"
            outcome = cli.run("check", str(mutant), "--format", "json", timeout=20)
            if report.check(not outcome.crashed and outcome.code in (0, 1), where, outcome.brief()):
                _unaffected(cli, report, mutant, hit, whole[path], where, Api(root))
            mutant.unlink()


def _tools(cli: Cli, path: Path) -> set[tuple[str, str]]:
    printed = cli.run("list", str(path), "--format", "json").json()
    if not isinstance(printed, dict):
        return set()
    return {(t["operation"]["method"].upper(), t["operation"]["path"]) for t in printed["tools"]}


def _unaffected(cli: Cli, report: Report, mutant: Path, hit: tuple[str, ...], whole: set[tuple[str, str]], where: str, api: Api) -> None:
    """Damage in one operation costs that operation at most; in a path, that path; in a schema, nothing."""
    if hit[0] == "paths" and len(hit) > 1:
        own = (hit[2].upper(), hit[1]) if len(hit) > 2 and hit[2] in METHODS else None
        wanted = {t for t in whole if (t != own if own else t[1] != hit[1])}
        # Other parts may refer to the damaged one.
        pointer = json.dumps("#/paths/" + hit[1].replace("~", "~0").replace("/", "~1"))[:-1]
        if pointer in json.dumps(api.root):
            return
    elif hit[:2] == ("components", "schemas") and len(hit) == 3 and hit[2] not in api.root["components"]["schemas"]:
        # References to it are dangling, so that operations with such requests are lost.
        return
    elif hit[:2] == ("components", "schemas") and len(hit) > 2:
        wanted = whole
    else:
        return
    lost = wanted - _tools(cli, mutant)
    report.check(not lost, where, f"also lost {sorted(lost)[:3]}")
