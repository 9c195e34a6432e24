//! Items that `toolgen-runtime` and the compiler need from this crate and programs do not. Not part of the public
//! interface: they change with any version, which all crates of the workspace share.

use serde_json::Value;

use crate::schema::dialect::Dialect;
use crate::schema::shape::decode::{self, ArgumentProblem};
use crate::schema::shape::{
    ArrayRules, Def, Extra, Literal, Number, NumberRules, ObjectRules, Shape, StringRules, TupleRules,
};
use crate::spec::plan::{
    AgentPlan, Call, CommandPlan, CompletePlan, ComposePlan, EffectPlan, McpPlan, RequestPlan,
};
use crate::spec::{ToolSpec, docs, graph};

pub use crate::base::check::Check;
pub use crate::base::json::json_bytes;
pub use crate::base::{canonical, const_text, frozen, hidden, json, printable, sha256, truncate};
pub use crate::schema::shape::belong::complete_all;
pub use crate::schema::shape::decode::borrowed::{BorrowedValue, Entries, entry};
pub use crate::schema::shape::decode::exact::is_exact;
pub use crate::schema::shape::decode::integers::rounded_integers;
pub use crate::schema::shape::decode::say::{article, meant, meant_pattern};
pub use crate::schema::shape::decode::texts::{read_text, read_texts};
pub use crate::schema::shape::fitting::{meant_call, without_misfits};
pub use crate::schema::shape::never::Never;
pub use crate::schema::shape::pattern::is_found;
pub use crate::schema::shape::rules::number::is_told;
pub use crate::schema::shape::schema::{object_in, resolved};
pub use crate::schema::shape::slim::outline_within;
pub use crate::spec::complete;
pub use crate::spec::graph::{Found, find_field};
pub use crate::spec::size::Forms;

use frozen::{Frozen, List};

/// JSON pointers.
pub mod pointer {
    pub use crate::schema::shape::pointer::{push, referenced, token_of};
}

/// Relative paths that stay below where they start.
pub mod below {
    pub use crate::schema::shape::below::{LEADS_OUT, REFUSED, begins_elsewhere, climbs, fault};
}

/// The hosts that tools may contact.
pub mod hosts {
    pub use crate::spec::hosts::{allows, both, covers, covers_name, host_within, is_host, told, wrong};
}

/// The version of the contract between generated code and `toolgen-runtime`. It is raised when code from an older
/// `toolgen` would not compile there, or would change its meaning.
pub const CONTRACT: u32 = 3;

/// A [`Call`] for crates that have the same version and must handle every kind: unlike the original, it can be matched
/// exhaustively.
#[derive(Clone, Copy, Debug)]
pub enum CallKind<'a> {
    /// By an HTTP request.
    Http(&'a RequestPlan),
    /// By starting a program.
    Command(&'a CommandPlan),
    /// By calls of other tools.
    Compose(&'a ComposePlan),
    /// By a tool of an MCP server.
    Mcp(&'a McpPlan),
    /// By ending the loop of the agent.
    Complete(&'a CompletePlan),
    /// By requesting an effect.
    Effect(&'a EffectPlan),
    /// By another agent.
    Agent(&'a AgentPlan),
    /// By a function that the program implements.
    Function,
}

/// Returns the kind of a call.
#[must_use]
pub fn kind_of_call(call: &Call) -> CallKind<'_> {
    match call {
        Call::Http(plan) => CallKind::Http(plan),
        Call::Command(plan) => CallKind::Command(plan),
        Call::Compose(plan) => CallKind::Compose(plan),
        Call::Mcp(plan) => CallKind::Mcp(plan),
        Call::Complete(plan) => CallKind::Complete(plan),
        Call::Effect(plan) => CallKind::Effect(plan),
        Call::Agent(plan) => CallKind::Agent(plan),
        Call::Function => CallKind::Function,
    }
}

#[doc(hidden)]
impl<T: ?Sized> Frozen<T> {
    /// Returns what is part of the program, which is all that constants hold.
    #[expect(clippy::panic, reason = "constants hold nothing that is made at run time")]
    #[must_use]
    pub const fn program(&self) -> &'static T {
        match self {
            Frozen::Static(value) => value,
            Frozen::Shared(_) => panic!("a constant holds only what is part of the program"),
        }
    }

    /// Copies a borrow in a constant.
    #[must_use]
    pub const fn borrowed(&self) -> Frozen<T> {
        Frozen::Static(self.program())
    }
}

/// Copies a literal in a constant.
#[must_use]
pub const fn literal_copied(literal: &Literal) -> Literal {
    literal.copied()
}

/// Copies the rule for other keys in a constant.
#[must_use]
pub const fn extra_copied(extra: &Extra) -> Extra {
    extra.copied()
}

/// Copies the rules of a tuple in a constant.
#[must_use]
pub const fn tuple_copied(rules: &TupleRules) -> TupleRules {
    rules.copied()
}

/// Adds rules to those of a number, in a constant.
#[must_use]
pub const fn number_with(base: &NumberRules, rules: &NumberRules) -> NumberRules {
    base.with(rules)
}

/// Adds rules to those of a text, in a constant.
#[must_use]
pub const fn text_with(base: &StringRules, rules: &StringRules) -> StringRules {
    base.with(rules)
}

/// Adds rules to those of an array, in a constant.
#[must_use]
pub const fn array_with(
    base: &ArrayRules,
    items: Frozen<Shape>,
    least: Option<u64>,
    most: Option<u64>,
) -> ArrayRules {
    base.with(items, least, most)
}

/// Adds rules to those of an object, in a constant.
#[must_use]
pub const fn object_with(base: &ObjectRules, least: Option<u64>, most: Option<u64>) -> ObjectRules {
    base.with(least, most)
}

/// Returns a number as a floating-point one, in a constant.
#[must_use]
pub const fn float(number: Number) -> f64 {
    number.float()
}

/// Returns valid arguments as people should read them, see [`decode`].
///
/// # Errors
///
/// Returns a problem if that takes too many steps.
pub fn completed(
    arguments: &Value,
    shape: &Shape,
    defs: &List<Def>,
    dialect: &Dialect,
) -> Result<Value, Vec<ArgumentProblem>> {
    decode::completed(arguments, shape, defs, dialect)
}

/// Returns valid arguments under their wire names, without checking them again.
///
/// # Errors
///
/// Returns a problem if that takes too many steps.
pub fn under_wire_names(
    arguments: &Value,
    shape: &Shape,
    defs: &List<Def>,
) -> Result<Value, Vec<ArgumentProblem>> {
    decode::under_wire_names(arguments, shape, defs)
}

/// Whether a value fits a shape in the sense of JSON Schema.
#[must_use]
pub fn fits(value: &Value, shape: &Shape, defs: &List<Def>) -> bool {
    decode::fits(value, shape, defs)
}

/// Returns the wanted tools and those they require, each once and after all it requires, without those that are done.
pub fn in_order<'a>(
    wanted: impl IntoIterator<Item = &'a str>,
    find: impl Fn(&str) -> Option<&'a ToolSpec>,
    done: impl Fn(&str) -> bool,
) -> Vec<&'a str> {
    graph::order(wanted, find, done)
}

/// Returns the first sentence of a tool's description.
#[must_use]
pub fn first_sentence(spec: &ToolSpec) -> String {
    docs::first_sentence(spec)
}
