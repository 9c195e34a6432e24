//! Compiles documents into tools for LLM agents.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod build;
pub mod catalogue;
mod choice;
pub mod contract;
#[cfg(feature = "dynamic")]
pub mod dynamic;
pub mod emit;
pub mod frontend;
mod lint;
pub mod losses;
pub mod names;
pub mod options;
mod overlay;
pub mod problem;
pub mod select;
mod shapes;
pub mod size;
pub mod source;
#[cfg(feature = "tokens")]
pub mod tokens;
mod tool;
pub mod write;

pub use build::{Build, Built};
pub use frontend::{Frontend, compile};
pub use lint::lint;
pub use options::{Options, TokenBudget};
pub use problem::{Code, Problem, Problems, Severity};
pub use select::Selector;
pub use source::{Document, Pointer, Position, Source};
pub use tool::{McpSource, Origin, Part, Program, Tool, with_called};
