//! The attribute macros of `toolgen-runtime`, which turn Rust functions into tools.
//!
//! Use them through `toolgen-runtime`, which re-exports all of them; generated code names its types. The macros check
//! what the compiler would report less clearly, and leave the rest to it: traits decide whether a type can be an
//! argument, and constants that the compiler evaluates decide whether a rule fits a type. The spelling of a type only
//! decides which parameters are injected, and `#[arg]` and `#[inject]` override that.
//!
//! Every error is reported at its token, and the function is emitted unchanged, so that an error does not cause others.
//! The compiler works in phases and starts the next phase only if the previous ones found no errors, so a run reports
//! all errors of one phase:
//!
//! 1. Attributes, comments, signatures, and names within a tool: everything that the macros read, for all tools of a
//!    crate.
//! 2. Names of the program: types, functions in [`toolset!`].
//! 3. Types of arguments, defaults, results, injected values and entries of a list; rules, defaults and examples that
//!    are invalid for their type.
//! 4. Values: duplicate tool names in a list, cyclic requirements, fields of flattened types, arguments that a vendor
//!    would reject.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod arg_attr;
mod argument;
mod attr;
mod check;
mod derive;
mod dialects;
mod docs;
mod effects;
mod errors;
mod expand;
mod foreign;
mod foreign_keys;
mod hints;
mod json;
mod methods;
mod names;
mod param;
mod parameter_type;
mod pattern;
mod requires;
mod rules;
mod runtime_path;
mod signature;
mod stub;
mod tool_attr;
mod toolset;

use proc_macro::TokenStream;

/// Turns a function into a tool. `toolgen_runtime::function::tool` describes its parameters and results.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand::tool(attribute.into(), &item.into()).into()
}

/// Lets a struct or an enum be an argument of tools. `toolgen_runtime::function::input` describes what it accepts.
#[proc_macro_derive(ToolInput, attributes(arg, serde, tool_input))]
pub fn tool_input(item: TokenStream) -> TokenStream {
    derive::tool_input(item.into()).into()
}

/// Turns the methods of an `impl` block that have `#[tool]` into tools. `toolgen_runtime::function::tool` describes
/// what it accepts.
#[proc_macro_attribute]
pub fn tools(attribute: TokenStream, item: TokenStream) -> TokenStream {
    methods::tools(attribute.into(), &item.into()).into()
}

/// Lists tools: functions with `#[tool]` by name, others as expressions. The list is a `Vec<Arc<dyn AgentTool>>`.
/// Duplicate names are compile errors if the macro can see them.
///
/// A function without `#[tool]` is a compile error. Write a tool in a variable in parentheses:
/// `toolset![(my_tool)]`.
#[proc_macro]
pub fn toolset(input: TokenStream) -> TokenStream {
    toolset::toolset(input.into()).into()
}
