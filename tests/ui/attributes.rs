//! Attributes of tools without effect or with contradictions, and items that are not tools.

#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(read_only = "yes", exclusive(true))]
fn attr_flag_with_text() {}

/// Does it.
#[tool(read_only idempotent)]
fn attr_missing_comma() {}

/// Does it.
#[tool(name =)]
fn attr_missing_value() {}

/// Does it.
#[tool(name = 5, category = x)]
fn attr_not_a_text() {}

/// Does it.
#[tool(timeout = 5, result_limit = 64)]
fn attr_timeout_of_a_number() {}

/// Does it.
#[tool(read_only, read_only)]
fn attr_twice() {}

/// Does it.
#[tool(nmae = "x")]
fn attr_unknown_key() {}

/// Does it.
#[tool(colour = "x")]
fn attr_unknown_key_far() {}

#[tool("Does it.")]
fn attr_without_a_name() {}

/// Does it.
#[tool(pure)]
fn description_without_a_name(#[arg("How much.", default = 1)] amount: i64) {}

/// Does it.
#[tool(blocking)]
async fn blocking_async() {}

/// Does it.
#[tool(dialects(open_ai, gemini))]
fn dialect_unknown() {}

/// Does it.
#[tool(doc_override = " ")]
fn doc_override_empty() {}

/// Does it.
#[tool(doc_override = 7)]
fn doc_override_number() {}

/// Does it.
#[tool(read_only, destructive)]
fn effects_contradict() {}

/// Does it.
#[tool(pure, network("api.example.com"))]
fn effects_pure() {}

/// Does it.
#[tool(files = "read", pure, spawns, destructive, open_world)]
fn effects_pure_and_others() {}

/// Does it.
#[tool(pure, network = "none", files = "none", destructive = false, spawns = false)]
fn effects_pure_fine() {}

/// Does it.
#[tool(files = "append", network)]
fn effects_unknown_files() {}

/// Does it.
#[tool]
fn _hidden() {}

/// Does it.
#[tool(name = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")]
fn name_too_long() {}

/// Does it.
#[tool(name = "get weather")]
fn name_with_space() {}

#[tool]
struct OnAStruct;

struct OnAnImpl;

#[tool]
impl OnAnImpl {}

/// Does it.
#[tool(requires(sesion("cart")))]
fn requires_unknown_kind() {}

/// Does it.
#[tool(requires(session), requires)]
fn requires_without_name() {}

/// Does it.
#[tool(result_limit = "64K")]
fn result_limit_without_unit() {}

/// Does it.
#[tool]
fn result_never() -> ! {
    loop {}
}

/// Does it.
#[tool(timeout = "100ms")]
fn timeout_inline() {}

/// Nothing is promised here.
#[tool(timeout = "none")]
fn timeout_none_inline() {}

/// A call can stop waiting for it.
#[tool(timeout = "100ms", blocking)]
fn timeout_blocking() {}

/// Does it.
#[tool(timeout = "30")]
fn timeout_without_unit() {}

#[tool]
fn undocumented_tool() {}

/// Does it.
#[tool]
unsafe fn unsafe_function() {}

fn main() {}
