//! How the tools of a plan are shown, and why.

use std::fmt;

use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::schema::dialect::Dialect;
use toolgen_kernel::schema::shape::render::{Loss, Refusal};

/// How a tool of a request is shown, and why.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolDecision {
    /// The name of the tool.
    pub tool: Text,
    /// The dialect in which it is shown; `None` if it is left out.
    pub dialect: Option<&'static Dialect>,
    /// Why.
    pub reason: DecisionReason,
    /// What the dialect cannot express of the arguments.
    pub losses: Vec<Loss>,
}

/// Why a tool is shown as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecisionReason {
    /// The wanted dialect takes it.
    Wanted,
    /// The dialect that was wanted refuses the arguments, for these reasons.
    Refused(Vec<Refusal>),
    /// The dialect that was wanted has no form for values that the tool takes.
    Withheld(Vec<Loss>),
    /// One of the limits on all strict tools of a request does not hold with it.
    Limit {
        /// What is limited, such as `optional fields`.
        of: &'static str,
        /// The limit.
        most: usize,
        /// How much of it the tool needs.
        required: usize,
        /// How much of it the strict tools leave.
        remaining: usize,
    },
    /// The request has no place for more tools than this.
    TooMany {
        /// The number of tools that a request may have.
        most: usize,
    },
}

/// Shows the tool, its dialect and the reason: `openai: find, because openai-strict refuses /tags: …`.
impl fmt::Display for ToolDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let displayed = self.dialect.map_or("left out", |dialect| dialect.name);
        write!(f, "{}: {displayed}", self.tool)?;
        if self.reason == DecisionReason::Wanted { Ok(()) } else { write!(f, ", because {}", self.reason) }
    }
}

impl fmt::Display for DecisionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecisionReason::Wanted => f.write_str("it was wanted"),
            DecisionReason::Refused(reasons) => {
                let reasons_text: Vec<String> =
                    reasons.iter().map(|cause| format!("{}: {}", cause.pointer, cause.reason)).collect();
                write!(f, "the strict dialect refuses it: {}", reasons_text.join("; "))
            }
            DecisionReason::Withheld(losses) => {
                let messages: Vec<String> = losses.iter().map(|loss| loss.pointer.clone()).collect();
                write!(
                    f,
                    "the strict dialect cannot send `null`, which stands for what is left out: {}",
                    messages.join(", ")
                )
            }
            DecisionReason::Limit { of, most: max, required: needs, remaining: left } => {
                write!(f, "strict tools may have {max} {of} in all: it needs {needs}, and {left} are left")
            }
            DecisionReason::TooMany { most: max } => write!(f, "a request takes {max} tools"),
        }
    }
}
