//! Compiles documents into tools for LLM agents.
//!
//! A build script uses [`Build`]; everything else compiles a [`Document`] with [`compile`], under some [`Options`].
//! Operations that cannot be compiled are omitted, and [`Problems`] say where, why and what to do.
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `dynamic` | `dynamic::Loader`: tools of a document that is read when the program runs |
//! | `archives` | documents in archives: ZIP, and tar with or without gzip |
//! | `tokens` | `tokens`: reports and budgets, by a real tokenizer |
//!
//! The command `cargo toolgen` is a separate crate, `cargo-toolgen`.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod argument_rules;
mod build;
pub mod catalogue;
pub mod contract;
#[cfg(feature = "dynamic")]
pub mod dynamic;
pub mod emit;
pub mod frontend;
mod lint;
pub mod names;
pub mod options;
mod overlay;
mod pagination;
pub mod problem;
pub mod schema_losses;
mod selection;
pub mod selector;
mod shape_walk;
pub mod size;
pub mod source;
#[cfg(feature = "tokens")]
pub mod tokens;
mod tool;
pub mod write;

#[doc(inline)]
pub use toolgen_rules as rules;

pub use build::{Build, BuildOutput};
pub use emit::Modules;
pub use frontend::{Frontend, compile};
pub use lint::{apply_levels, lint};
pub use options::{ArgumentRule, Options};
pub use problem::{Code, Problem, Problems, Severity};
pub use selector::Selector;
pub use source::{Bundle, Document, Pointer, Position, Source};
pub use tool::{About, McpSource, Origin, Part, Program, Success, TokenBudget, Tool, with_callees};
