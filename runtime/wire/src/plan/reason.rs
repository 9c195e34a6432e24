//! How the tools of a plan are shown, and why.

use std::fmt;

use crate::properties::Property;
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::schema::dialect::Dialect;
use toolgen_kernel::schema::shape::render::{Loss, Refusal};

/// How a tool of a request is shown, and why.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolDecision {
    /// The name of the tool.
    pub tool: Text,
    /// The dialect in which the tool is shown; `None` if the tool is omitted.
    pub dialect: Option<&'static Dialect>,
    /// The reason.
    pub reason: DecisionReason,
    /// What the dialect cannot express in the schema of the arguments.
    pub losses: Vec<Loss>,
    /// The properties of the tool that the vendor's definition does not have. Its description states
    /// examples, output schemas and grammars, if its length allows that.
    pub lost: Vec<Property>,
}

/// The reason for the dialect of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecisionReason {
    /// The requested dialect accepts the tool.
    Wanted,
    /// The requested dialect rejects the arguments, for these reasons.
    Refused(Vec<Refusal>),
    /// The requested dialect cannot represent values that the tool accepts.
    Withheld(Vec<Loss>),
    /// The tool would exceed a limit on all strict tools of a request.
    Limit {
        /// What is limited, such as `optional fields`.
        of: &'static str,
        /// The limit.
        most: usize,
        /// How much of the limit the tool uses.
        required: usize,
        /// How much of the limit the other strict tools leave.
        remaining: usize,
    },
    /// The request cannot hold more tools.
    TooMany {
        /// The maximum number of tools in a request.
        most: usize,
    },
}

/// Shows the tool, its dialect and the reason: `openai: find, because openai-strict refuses /tags: …`.
impl fmt::Display for ToolDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let displayed = self.dialect.map_or("omitted", |dialect| dialect.name);
        write!(f, "{}: {displayed}", self.tool)?;
        if self.reason != DecisionReason::Wanted {
            write!(f, ", because {}", self.reason)?;
        }
        for (index, property) in self.lost.iter().enumerate() {
            write!(f, "{}{property}", if index == 0 { "; the format has no " } else { ", " })?;
        }
        Ok(())
    }
}

impl fmt::Display for DecisionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecisionReason::Wanted => f.write_str("it was requested"),
            DecisionReason::Refused(reasons) => {
                let messages: Vec<String> = reasons
                    .iter()
                    .map(|refusal| format!("{}: {}", refusal.pointer, refusal.reason))
                    .collect();
                write!(f, "the strict dialect rejects it: {}", messages.join("; "))
            }
            DecisionReason::Withheld(losses) => {
                let messages: Vec<String> = losses.iter().map(|loss| loss.pointer.clone()).collect();
                write!(
                    f,
                    "the strict dialect cannot send `null`, which stands for omitted values: {}",
                    messages.join(", ")
                )
            }
            DecisionReason::Limit { of, most, required, remaining } => {
                write!(
                    f,
                    "strict tools may have {most} {of} in total: it needs {required}, and {remaining} are left"
                )
            }
            DecisionReason::TooMany { most } => write!(f, "a request can have {most} tools"),
        }
    }
}
