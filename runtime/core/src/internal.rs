//! Items that `toolgen-runtime` and the compiler need from this crate, and programs do not. They are not part of the
//! public API and change with any version. All crates of the workspace have the same version.

use crate::schema::shape::Number;
use crate::spec::plan::{
    AgentPlan, CommandPlan, CompletePlan, ComposePlan, EffectPlan, ExecutionPlan, McpPlan, RequestPlan,
};

pub use crate::base::check::Check;
pub use crate::base::json::json_bytes;
pub use crate::base::{canonical, const_text, entity, frozen, invisible, json, printable, sha256, truncate};
pub use crate::schema::shape::closed_variants::complete_variants;
pub use crate::schema::shape::coercion::{coerce_arguments, with_valid_values};
pub use crate::schema::shape::decode::borrowed::{BorrowedValue, Entries, entry};
pub use crate::schema::shape::decode::check::fits;
pub use crate::schema::shape::decode::describe::{article, closest_match, closest_pattern};
pub use crate::schema::shape::decode::fast_path::is_exact;
pub use crate::schema::shape::decode::integers::rounded_integers;
pub use crate::schema::shape::decode::string_coercion::{coerce_strings, read_text};
pub use crate::schema::shape::decode::transform::{completed, to_wire_names};
pub use crate::schema::shape::literal::copy_literal;
pub use crate::schema::shape::never::Never;
pub use crate::schema::shape::pattern::{is_found, try_find};
pub use crate::schema::shape::rules::array::{array_with, copy_tuple};
pub use crate::schema::shape::rules::number::{is_described, number_with};
pub use crate::schema::shape::rules::object::{copy_extra, object_with};
pub use crate::schema::shape::rules::text::text_with;
pub use crate::schema::shape::schema::{object_in, resolved};
pub use crate::schema::shape::slim::outline_within;
pub use crate::spec::complete;
pub use crate::spec::docs::level::sentence as first_sentence;
pub use crate::spec::graph::{ArgumentLookup, find_field};
pub use crate::spec::require::in_order;
pub use crate::spec::size::Forms;

use frozen::Frozen;

/// JSON pointers.
pub mod pointer {
    pub use crate::schema::shape::pointer::{push, referenced, token_of};
}

/// Relative paths that stay within their base directory.
pub mod below {
    pub use crate::schema::shape::relative_path::{
        OUTSIDE_PATTERN, REFUSED, fault, parent_fault, root_fault,
    };
}

/// The hosts that tools may contact.
pub mod hosts {
    pub use crate::spec::hosts::{
        allows, both, covers, covers_name, describe_hosts, host_within, is_host, wrong,
    };
}

/// The version of the contract between generated code and `toolgen-runtime`. It is raised when code from an older
/// `toolgen` would no longer compile, or would change its meaning.
pub const CONTRACT: u32 = 4;

/// An [`ExecutionPlan`] for crates of the same version, which must handle every kind. Unlike the original, it can be
/// matched exhaustively.
#[derive(Clone, Copy, Debug)]
pub enum CallKind<'a> {
    /// An HTTP request.
    Http(&'a RequestPlan),
    /// A command.
    Command(&'a CommandPlan),
    /// Calls of other tools.
    Compose(&'a ComposePlan),
    /// A call of a tool of an MCP server.
    Mcp(&'a McpPlan),
    /// The end of the agent loop.
    Complete(&'a CompletePlan),
    /// A request for an effect.
    Effect(&'a EffectPlan),
    /// A run of another agent.
    Agent(&'a AgentPlan),
    /// A call of a Rust function.
    Function,
}

/// Returns the kind of a call.
#[must_use]
pub fn kind_of_call(call: &ExecutionPlan) -> CallKind<'_> {
    match call {
        ExecutionPlan::Http(plan) => CallKind::Http(plan),
        ExecutionPlan::Command(plan) => CallKind::Command(plan),
        ExecutionPlan::Compose(plan) => CallKind::Compose(plan),
        ExecutionPlan::Mcp(plan) => CallKind::Mcp(plan),
        ExecutionPlan::Complete(plan) => CallKind::Complete(plan),
        ExecutionPlan::Effect(plan) => CallKind::Effect(plan),
        ExecutionPlan::Agent(plan) => CallKind::Agent(plan),
        ExecutionPlan::Function => CallKind::Function,
    }
}

#[doc(hidden)]
impl<T: ?Sized> Frozen<T> {
    /// Returns the static value. A constant contains no shared values.
    #[expect(clippy::panic, reason = "a constant cannot contain a shared value")]
    #[must_use]
    pub const fn program(&self) -> &'static T {
        match self {
            Frozen::Static(value) => value,
            Frozen::Shared(_) => panic!("a constant cannot contain a shared value"),
        }
    }

    /// Copies a static value in a constant.
    #[must_use]
    pub const fn borrowed(&self) -> Frozen<T> {
        Frozen::Static(self.program())
    }
}

/// Converts a number to a float, in a constant.
#[must_use]
pub const fn float(number: Number) -> f64 {
    number.float()
}
