//! Errors of operations on calls in a queue.

use std::fmt;

use super::state::ApprovalDecision;
use crate::call::error::ToolError;
use crate::call::store::StoreError;

/// The reason why an operation on a call in a queue failed.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum ApprovalError {
    /// The toolbox has no queue, see [`approval_queue`](crate::toolbox::ToolboxBuilder::approval_queue).
    NoQueue,
    /// No call has this ID.
    NotFound {
        /// The ID, or its beginning.
        id: String,
    },
    /// The IDs of several calls begin with this string.
    Ambiguous {
        /// The beginning of the ID.
        id: String,
        /// The number of such calls.
        count: usize,
    },
    /// The call has no decision yet.
    Undecided,
    /// The call was already decided, and a decision is final.
    Decided(Box<ApprovalDecision>),
    /// The call has waited too long.
    Expired,
    /// A worker has claimed the call, or it has been resumed.
    Taken,
    /// The call belongs to a different caller than the turn that resumes it.
    OtherCaller {
        /// What differs: `principal`, `session` or `agent`.
        what: &'static str,
    },
    /// The row was changed by something else and cannot be read.
    Damaged(String),
    /// The queue could not be read or written.
    Queue(ToolError),
}

impl fmt::Display for ApprovalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ApprovalError::NoQueue => f.write_str(
                "the toolbox has no approval queue; set one with `ToolboxBuilder::approval_queue`",
            ),
            ApprovalError::NotFound { id } => {
                write!(f, "the queue has no call with the ID '{id}'; list the calls to see their IDs")
            }
            ApprovalError::Ambiguous { id, count } => {
                write!(f, "the IDs of {count} calls begin with '{id}'; give more characters")
            }
            ApprovalError::Undecided => f.write_str("the call is not decided yet; grant or deny it first"),
            ApprovalError::Decided(first) => {
                let verb = if first.granted { "granted" } else { "denied" };
                match (first.by.as_str(), first.note.as_str()) {
                    ("", "") => write!(f, "it was already {verb}, and that is final"),
                    (by, "") => write!(f, "{by} has already {verb} it, and that is final"),
                    ("", note) => write!(f, "it was already {verb}, and that is final: {note}"),
                    (by, note) => write!(f, "{by} has already {verb} it, and that is final: {note}"),
                }
            }
            ApprovalError::Expired => {
                f.write_str("the call has waited too long and can no longer run; it has to be made again")
            }
            ApprovalError::Taken => f.write_str("a worker has claimed the call, or it was already resumed"),
            ApprovalError::OtherCaller { what } => {
                write!(f, "the call is for another {what}: resume it in a turn of its own caller, `caller`")
            }
            ApprovalError::Damaged(reason) => {
                write!(f, "its row in the queue was changed and cannot be read, so it cannot run: {reason}")
            }
            ApprovalError::Queue(error) => write!(f, "the approval queue did not respond: {error}"),
        }
    }
}

toolgen_core::__readable_debug!(ApprovalError);

impl std::error::Error for ApprovalError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ApprovalError::Queue(reason) => Some(reason),
            _ => None,
        }
    }
}

impl From<StoreError> for ApprovalError {
    fn from(error: StoreError) -> ApprovalError {
        ApprovalError::Queue(error.into())
    }
}
