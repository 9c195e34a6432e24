//! Rules on the calls of tools, as data: `deny pay when args.amount > 5000 && !principal.has("treasurer")`.
//!
//! A rule denies the calls that it matches, asks for an approval, or limits their rate. Its condition is written in a
//! part of CEL, the Common Expression Language, and is checked against the schemas of the tools:
//!
//! ```
//! use toolgen_runtime::rules::{CallView, Rules};
//! use toolgen_runtime::{Schema, ToolName, ToolSpec};
//!
//! let pay = ToolSpec {
//!     name: ToolName::new("pay"),
//!     input: Schema::text(
//!         r#"{"type":"object","properties":{"amount":{"type":"integer"}},"required":["amount"],"additionalProperties":false}"#,
//!     ),
//!     ..ToolSpec::EMPTY
//! };
//! let rules = Rules::parse(["deny pay when args.amount > 5000"])?;
//! rules.check([&pay])?;
//!
//! let arguments = serde_json::json!({"amount": 7000});
//! let for_pay = rules.for_tool(&pay);
//! assert_eq!(for_pay.deciding(&CallView::new(&arguments)).map(|(index, _)| index), Some(0));
//!
//! let wrong = Rules::parse(["deny pay when args.amout > 5000"])?;
//! assert_eq!(
//!     wrong.check([&pay]).unwrap_err().to_string(),
//!     "rule 1 `deny pay when args.amout > 5000`: at column 1: the tool `pay` has no argument `amout`; did you mean \
//!      `args.amount`?"
//! );
//! # Ok::<(), toolgen_runtime::rules::RulesError>(())
//! ```
//!
//! With the feature `layer`, `RulesLayer` applies them to the calls of a toolbox.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod check;
#[cfg(feature = "layer")]
mod layer;
mod logic;
mod node;
mod problem;
mod report;
mod rule;
mod syntax;
mod token;
mod tool_rules;
mod types;
mod value;

#[cfg(feature = "layer")]
pub use layer::{RulesLayer, generated};
pub use node::CallView;
pub use problem::{Problem, ProblemKind, RuleProblem, RulesError, Span};
pub use report::{RuleChange, RuleChangeKind};
pub use rule::{Action, Rule, Rules, duration};
pub use tool_rules::{Explained, Matched, Part, ToolRules};

#[cfg(test)]
mod tests;
