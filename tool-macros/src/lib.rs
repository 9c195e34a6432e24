//! The attribute macros of `toolgen-runtime`.
//!
//! This crate is the home of three entry points, which turn Rust items into the same `ToolSpec` values that
//! `toolgen` emits for documents:
//!
//! * `#[tool]` on a function,
//! * `#[tools]` on an `impl` block, for methods that take `&self`,
//! * `#[derive(ToolInput)]` on a struct or an enum used as an argument.
//!
//! None of them is exported yet. Use it through `toolgen-runtime`, which re-exports what is here.
