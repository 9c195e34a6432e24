"""The first build: processor seconds of a program in an empty target directory, with each contender.

Each contender is the smallest program that calls a tool `add`. `command-line` is `cargo install` of `cargo-toolgen`. User and
system time of all processes of the build are added. FastMCP has no build: what is measured is the import and the call, if
Python has it.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys

import measure

WORK = measure.WORK / "cold"
RUNTIME = measure.REPOSITORY / "runtime"
TOKIO = 'tokio = { version = "1", features = ["macros", "rt-multi-thread"] }\nserde_json = "1"\n'
SERDE = 'serde = { version = "1", features = ["derive"] }\nschemars = "1"\n'

TOOLGEN = """use serde_json::json;
use toolgen_runtime::{Toolbox, tool, toolset};

/// Adds two numbers.
#[tool(pure, undocumented)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{}", Toolbox::new(toolset![add])?.call("add", json!({"a": 2, "b": 40})).await.text());
    Ok(())
}
"""

RMCP = """use rmcp::handler::server::{ServerHandler, wrapper::Parameters};
use rmcp::transport::stdio;
use rmcp::{ServiceExt, tool, tool_router};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Clone)]
struct Tools;

#[tool_router(server_handler)]
impl Tools {
    /// Adds two numbers.
    #[tool]
    fn add(&self, Parameters(Add { a, b }): Parameters<Add>) -> String {
        (a + b).to_string()
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Tools.serve(stdio()).await?.waiting().await?;
    Ok(())
}
"""

RIG = """use rig_core::tool::ToolExecutionError;
use rig_derive::rig_tool;

/// Adds two numbers.
#[rig_tool(required(a, b))]
fn add(a: i64, b: i64) -> Result<i64, ToolExecutionError> {
    Ok(a + b)
}

#[tokio::main]
async fn main() {
    let _ = Add;
}
"""

FASTMCP = "import asyncio; from fastmcp import Client, FastMCP\nm = FastMCP('m')\n@m.tool\ndef add(a: int, b: int) -> int: return a + b\nasync def main():\n async with Client(m) as c: print((await c.call_tool('add', {'a': 2, 'b': 40})).data)\nasyncio.run(main())\n"


def runtime(features: str) -> str:
    """The dependencies of a program with features of the runtime."""
    return TOKIO + f'toolgen-runtime = {{ path = "{RUNTIME}", features = [{features}] }}\n'


CONTENDERS = {
    "tool": (TOOLGEN, runtime("")),
    "api": (TOOLGEN, runtime('"http", "typed"')),
    "agent": (TOOLGEN, runtime('"model"')),
    "agent-mcp": (TOOLGEN, runtime('"model", "mcp"')),
    "rmcp": (RMCP, TOKIO + SERDE + 'rmcp = { version = "=3.11.0", features = ["server", "macros", "transport-io"] }\n'),
    "rig": (RIG, TOKIO + SERDE + 'rig-core = { version = "=0.46.0", default-features = false, features = ["derive"] }\nrig-derive = "=0.46.0"\n'),
}


def spent(command: list[str], directory: object, environment: dict[str, str]) -> float | None:
    """User and system seconds of a command and its children, or nothing if it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = subprocess.run(command, cwd=directory, env={**os.environ, **environment}, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ran.returncode:
        sys.stderr.write(ran.stderr[-4000:])
        return None
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def cold(name: str) -> float | None:
    """The seconds of a contender's first build."""
    target = WORK / "target"
    shutil.rmtree(target, ignore_errors=True)
    environment = {"CARGO_TARGET_DIR": str(target), "CARGO_TERM_COLOR": "never"}
    if name == "command-line":
        words = ["cargo", "install", "--offline", "--locked", "--path", str(measure.REPOSITORY / "toolgen/cli"), "--root", str(WORK / "root"), "--force"]
        seconds = spent(words, WORK, environment)
        print(f"  {(WORK / 'root/bin/cargo-toolgen').stat().st_size / 1e6:.1f} MB")
        return seconds
    if name == "quickstart":
        return spent(["cargo", "build", "--offline", "-p", "quickstart"], measure.REPOSITORY, environment)
    if name == "fastmcp":
        return spent([sys.executable, "-c", FASTMCP], WORK, environment)
    source, dependencies = CONTENDERS[name]
    crate = WORK / name
    (crate / "src").mkdir(parents=True, exist_ok=True)
    (crate / "Cargo.toml").write_text(f'[package]\nname = "cold-{name}"\nversion = "0.0.0"\nedition = "2024"\n\n[workspace]\n\n[dependencies]\n{dependencies}')
    (crate / "src/main.rs").write_text(source)
    lock = measure.HERE if name in ("rmcp", "rig") else measure.REPOSITORY
    shutil.copy(lock / "Cargo.lock", crate / "Cargo.lock")
    return spent(["cargo", "build", "--offline", "--ignore-rust-version"], crate, environment)


def main() -> None:
    """Builds each contender once, from nothing."""
    everyone = [*CONTENDERS, "quickstart", "command-line", "fastmcp"]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *everyone], metavar="NAME", help=", ".join(everyone))
    names = parser.parse_args().names or everyone
    WORK.mkdir(parents=True, exist_ok=True)
    base = None
    for name in names:
        seconds = cold(name)
        if seconds is None:
            print(f"{name:<14} failed, or is not there")
            continue
        base = base or seconds
        print(f"{name:<14} {seconds:6.1f} s  {seconds / base:5.2f}", flush=True)
    shutil.rmtree(WORK / "target", ignore_errors=True)
