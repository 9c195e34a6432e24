"""Compile time of a hundred tools with each contender.

One crate a contender, the same functions in each, dependencies built beforehand, no incremental compilation: what is
measured is rustc on the crate alone. The contenders take turns; the medians are told.
"""

from __future__ import annotations

import argparse
import statistics

import measure

WORK = measure.WORK / "compile"
RUNTIME = measure.REPOSITORY / "runtime"
SERDE = 'serde = { version = "1", features = ["derive"] }\nserde_json = { version = "1", features = ["preserve_order"] }\n'
TYPES = ["String", "Option<u32>", "bool", "Vec<String>", "f64"]
NAMES = ["query", "limit", "exact", "kinds", "weight"]


def fields(indent: str, docs: bool = True) -> str:
    """The arguments, documented."""
    pairs = zip(NAMES, TYPES)
    doc = (lambda name: f"{indent}/// The {name} to search with.\n") if docs else (lambda _: "")
    return "".join(f"{doc(name)}{indent}{name}: {ty},\n" for name, ty in pairs)


BODY = '    format!("{query} {limit:?} {exact} {kinds:?} {weight}")\n'


def by_hand(count: int) -> str:
    """A `match` over structs."""
    structs = "".join(f"#[derive(serde::Deserialize)]\nstruct Args{i} {{\n{fields('    ', False)}}}\n" for i in range(count))
    arms = "".join(
        f'        "tool_{i}" => {{\n            let Args{i} {{ {", ".join(NAMES)} }} = serde_json::from_str(arguments).ok()?;\n        {BODY}        }}\n'
        for i in range(count)
    )
    return f"{structs}pub fn call(name: &str, arguments: &str) -> Option<String> {{\n    Some(match name {{\n{arms}        _ => return None,\n    }})\n}}\n"


def toolgen(count: int) -> str:
    """`#[tool]` of this repository."""
    tools = "".join(f"/// Searches in place {i}.\n#[tool]\nfn tool_{i}(\n{fields('    ')}) -> String {{\n{BODY}}}\n" for i in range(count))
    names = ", ".join(f"tool_{i}" for i in range(count))
    return f"use toolgen_runtime::{{Registry, tool, toolset}};\n{tools}pub fn all() -> Option<Registry> {{\n    Registry::new(toolset![{names}]).ok()\n}}\n"


def rmcp(count: int) -> str:
    """rmcp's `#[tool]` on methods of a `#[tool_router]`."""
    structs = "".join(f"#[derive(serde::Deserialize, schemars::JsonSchema)]\npub struct Args{i} {{\n{fields('    ')}}}\n" for i in range(count))
    methods = "".join(
        f"    /// Searches in place {i}.\n    #[tool]\n    fn tool_{i}(&self, Parameters(Args{i} {{ {', '.join(NAMES)} }}): Parameters<Args{i}>) -> String {{\n    {BODY}    }}\n"
        for i in range(count)
    )
    return (
        "use rmcp::handler::server::wrapper::Parameters;\nuse rmcp::{tool, tool_router};\n"
        f"{structs}pub struct Tools;\n#[tool_router(vis = \"pub\")]\nimpl Tools {{\n{methods}}}\n"
    )


def rig(count: int) -> str:
    """rig's `#[rig_tool]`."""
    tools = "".join(
        f"/// Searches in place {i}.\n#[rig_tool(required(query, exact, kinds, weight))]\nfn tool_{i}(\n{fields('    ')}) -> Result<String, ToolExecutionError> {{\n"
        f"    Ok({BODY.strip()})\n}}\n"
        for i in range(count)
    )
    entries = "".join(f"        ErasedHandler::new(ToolAdapter::new(Tool{i})),\n" for i in range(count))
    return (
        "use rig_core::serve::ErasedHandler;\nuse rig_core::serve::adapters::ToolAdapter;\nuse rig_core::tool::ToolExecutionError;\nuse rig_derive::rig_tool;\n"
        f"{tools}pub fn all() -> Vec<ErasedHandler> {{\n    vec![\n{entries}    ]\n}}\n"
    )


def empty(_: int) -> str:
    """What a crate costs that holds nothing."""
    return ""


CONTENDERS = {
    "empty": (empty, SERDE),
    "by-hand": (by_hand, SERDE),
    "toolgen": (toolgen, f'toolgen-runtime = {{ path = "{RUNTIME}" }}\n'),
    "rig": (rig, SERDE + 'schemars = "1"\nrig-core = { version = "=0.46.0", default-features = false, features = ["derive"] }\nrig-derive = "=0.46.0"\n'),
    "rmcp": (rmcp, SERDE + 'schemars = "1"\nrmcp = { version = "=3.11.0", features = ["server", "macros"] }\n'),
}


def cargo(name: str, command: str) -> float:
    """The seconds of one build of a contender whose source has just changed."""
    (WORK / name / "src/lib.rs").touch()
    environment = {"CARGO_INCREMENTAL": "0", "CARGO_TARGET_DIR": str(WORK / "target")}
    words = ["cargo", command, "--quiet", "--offline", "--ignore-rust-version", "-p", f"compile-{name}"]
    spent = measure.cost(words, WORK, environment)
    if spent is None:
        raise SystemExit(f"{name}: cargo {command} failed; see {measure.WORK / 'last.log'}")
    return spent.seconds


def main() -> None:
    """Writes the crates, builds their dependencies and measures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", type=int, default=100)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--command", choices=["check", "build"], default="check")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    members = ", ".join(f'"{name}"' for name in CONTENDERS)
    (WORK / "Cargo.toml").write_text(f'[workspace]\nresolver = "3"\nmembers = [{members}]\n')
    if not (WORK / "Cargo.lock").exists():
        (WORK / "Cargo.lock").write_bytes((measure.HERE / "Cargo.lock").read_bytes())
    for name, (source, dependencies) in CONTENDERS.items():
        (WORK / name / "src").mkdir(parents=True, exist_ok=True)
        manifest = f'[package]\nname = "compile-{name}"\nversion = "0.0.0"\nedition = "2024"\n\n[dependencies]\n{dependencies}'
        (WORK / name / "Cargo.toml").write_text(manifest)
        (WORK / name / "src" / "lib.rs").write_text("#![allow(dead_code)]\n" + source(options.tools))
    for name in CONTENDERS:
        cargo(name, options.command)
    times: dict[str, list[float]] = {name: [] for name in CONTENDERS}
    for _ in range(options.runs):
        for name in CONTENDERS:
            times[name].append(cargo(name, options.command))
    base = statistics.median(times["empty"])
    hand = statistics.median(times["by-hand"]) - base
    print(f"cargo {options.command}, {options.tools} tools, median of {options.runs}, beyond an empty crate ({base:.2f} s)")
    for name, runs in times.items():
        if name != "empty":
            seconds = statistics.median(runs) - base
            print(f"{name:<10} {seconds:6.2f} s  {seconds / hand:5.2f}")
