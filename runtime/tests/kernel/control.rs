//! Requests in results: completion, effects, questions, input.
#![allow(clippy::needless_pass_by_value, reason = "tools take what a model sends")]

mod completion;
mod effects;
mod input;
mod sealed;

use crate::prelude::*;

async fn call(toolbox: &Toolbox, name: &str, arguments: Value) -> ToolResponse {
    toolbox.run(ToolCall::new("c1", name, arguments), &Turn::new("turn")).await
}
