//! The specification of a tool: its name, descriptions, schemas, effects and requirements.
//!
//! `plan` describes how a tool is executed, `surface` is the contract of all tools of a program, and `drift`
//! classifies changes of it.

use serde_json::Value;

use crate::base::frozen::{List, Text};
use crate::schema::dialect::JSON_SCHEMA;
use crate::schema::shape::closed_variants::with_complete_variants;
use crate::schema::shape::decode::{decode, fits};
use crate::schema::shape::{Def, Kind, Schema, Shape, Slim, resolved};

pub use hints::Hints;
pub use name::{MAX_NAME, NameError, ToolName};
pub use projection::{Projection, ProjectionError};
pub use size::ToolSchema;

pub mod docs;
#[doc(hidden)]
pub mod drift;
#[doc(hidden)]
pub mod graph;
pub mod hints;
pub(crate) mod hosts;
pub mod limits;
pub mod lint;
#[doc(hidden)]
pub mod mcp;
mod name;
pub mod output;
#[doc(hidden)]
pub mod plan;
#[doc(hidden)]
pub mod projection;
pub(crate) mod require;
mod schema;
#[doc(hidden)]
pub mod search;
#[doc(hidden)]
pub mod selector;
pub(crate) mod size;
mod strict_reader;
#[doc(hidden)]
pub mod surface;
#[doc(hidden)]
pub mod template;
#[doc(hidden)]
pub mod toolset;

/// A complete description of a tool, without the code that runs it.
///
/// The macros and generated code write it as a constant; dynamic loaders build it in memory. End a literal with
/// `..ToolSpec::EMPTY`, so that it compiles when fields are added.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// The name of the tool for a model.
    pub name: ToolName,
    /// A short title for people. If empty, the name is shown.
    pub label: Text,
    /// What the tool does, for the model.
    pub description: Text,
    /// What the tool returns, in one or a few sentences. May be empty.
    pub returns: Text,
    /// When to use the tool. May be empty.
    pub use_for: Text,
    /// Prompt documentation that replaces the generated documentation. It may contradict the other fields.
    pub documentation: Text,
    /// Example calls for a model to imitate.
    pub examples: List<Example>,
    /// The schema of the arguments: always an object.
    pub input: Schema,
    /// The schema of the structured result, if known.
    pub output: Option<Schema>,
    /// Whether results may differ from `output`, as responses of services differ from their documents. Contracts do
    /// not record it.
    pub output_may_differ: bool,
    /// The arguments that are sent as strings, by their wire names. For these, a value of another type with the same
    /// text is accepted: `"7"` for an integer, `7` for a string. Contracts do not record it.
    pub string_arguments: List<Text>,
    /// The named shapes that `input` and `output` refer to, sorted by name. The tools of one document share the list;
    /// rendering uses only the shapes that a tool refers to.
    pub defs: List<Def>,
    /// The parts that are trimmed before a model reads the tool. By default, a tool is trimmed only if it exceeds a
    /// ceiling.
    pub slim: Slim,
    /// Whether a vendor must see the complete schema of the arguments: a dialect that loses a part of it rejects the
    /// tool, and no ceiling trims it.
    pub exact: bool,
    /// The effects that running the tool may have.
    pub effects: Effects,
    /// The group of the tool. Default: `general`.
    pub category: Text,
    /// The scopes that the caller needs.
    pub scopes: List<Text>,
    /// The time limit of a call.
    pub timeout: Timeout,
    /// Whether the tool must run alone among the calls of its toolbox: those of its turn, of other turns, and nested
    /// calls. A tool that calls an exclusive tool waits for it. Tools that an exclusive tool calls run while it waits.
    pub exclusive: bool,
    /// The service that a circuit breaker monitors for this tool. Empty for none.
    pub service: Text,
    /// The resources that a call reads, such as `file:{path}`, where `{path}` stands for the argument. Two calls of a
    /// turn do not overlap if one writes a resource that the other reads or writes.
    pub reads: List<Text>,
    /// The resources that a call writes, in the form of `reads`.
    pub writes: List<Text>,
    /// Maximum size of a result that a model gets in one part, in bytes, if it is less than the general limit.
    pub result_limit: Option<u64>,
    /// The requirements that must hold before a call.
    pub requires: List<Requirement>,
    /// The name of the argument that lists the fields which the result should have, see
    /// [`with_projection`](Self::with_projection). Empty if there is none.
    pub projection: Text,
    /// If set, a successful call ends the loop of the agent.
    pub completion: Option<Completion>,
    /// Whether the tool delegates a task to another agent; see `SubAgentTool`. Such an agent gets no delegating tools.
    pub sub_agent: bool,
    /// Properties for the tool interfaces of vendors and of MCP.
    pub hints: Hints,
    /// If set, the tool is deprecated; the text names the replacement or is empty.
    pub deprecated: Option<Text>,
}

impl ToolSpec {
    /// A specification without descriptions or arguments and with the most dangerous [`Effects`]: the base of every
    /// literal.
    pub const EMPTY: ToolSpec = ToolSpec {
        name: ToolName(Text::Static("unnamed")),
        label: Text::EMPTY,
        description: Text::EMPTY,
        returns: Text::EMPTY,
        use_for: Text::EMPTY,
        documentation: Text::EMPTY,
        examples: List::EMPTY,
        input: Schema::Tree(crate::base::frozen::Frozen::Static(&Shape::NO_ARGUMENTS)),
        output: None,
        output_may_differ: false,
        string_arguments: List::EMPTY,
        defs: List::EMPTY,
        slim: Slim::DEFAULT,
        exact: false,
        effects: Effects::UNDECLARED,
        category: Text::Static("general"),
        scopes: List::EMPTY,
        timeout: Timeout::Default,
        exclusive: false,
        service: Text::EMPTY,
        reads: List::EMPTY,
        writes: List::EMPTY,
        result_limit: None,
        requires: List::EMPTY,
        projection: Text::EMPTY,
        completion: None,
        sub_agent: false,
        hints: Hints::NONE,
        deprecated: None,
    };
}

/// An example call for a model to imitate.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// The purpose of the call. May be empty.
    pub summary: Text,
    /// The arguments, as JSON.
    pub arguments: Text,
}

/// The effects that running a tool may have.
///
/// Before a call, a policy compares them with what its context allows. An undeclared effect is assumed to be the most
/// dangerous one.
#[derive(Clone, Debug, PartialEq)]
pub struct Effects {
    /// Whether the tool changes nothing.
    pub read_only: bool,
    /// Whether the tool may destroy or overwrite something irrecoverably.
    pub destructive: bool,
    /// Whether a second call with the same arguments has no additional effect.
    pub idempotent: bool,
    /// Whether the tool interacts with things outside the program's control.
    pub open_world: bool,
    /// The hosts that the tool may contact.
    pub network: Network,
    /// The access of the tool to files.
    pub files: Files,
    /// Whether the tool starts other programs.
    pub spawns: bool,
}

impl Effects {
    /// Nothing is declared, so every effect is possible.
    pub const UNDECLARED: Effects = Effects {
        read_only: false,
        destructive: true,
        idempotent: false,
        open_world: true,
        network: Network::Any,
        files: Files::Write,
        spawns: true,
    };

    /// The tool has no effects outside the program.
    pub const NONE: Effects = Effects {
        read_only: true,
        destructive: false,
        idempotent: true,
        open_world: false,
        network: Network::None,
        files: Files::None,
        spawns: false,
    };
}

/// The hosts that a tool may contact.
#[derive(Clone, Debug, PartialEq)]
pub enum Network {
    /// No host.
    None,
    /// Only these hosts, as `host` or `host:port`.
    Hosts(List<Text>),
    /// Any host.
    Any,
}

/// The access of a tool to files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// No access.
    None,
    /// Read access.
    Read,
    /// Read and write access.
    Write,
}

/// The time limit of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeout {
    /// The default of the caller, which is 30 seconds unless it is changed.
    Default,
    /// This number of milliseconds.
    Millis(u64),
    /// No time limit.
    Never,
}

/// A requirement that must hold before a tool is called.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// The kind of requirement.
    pub kind: RequirementKind,
    /// The name of the required item.
    pub name: Text,
    /// The argument that identifies an entity. Empty for other kinds.
    pub argument: Text,
    /// The message for a caller if the requirement does not hold. If empty, the default of the kind is used.
    pub message: Text,
    /// Whether the requirement is only checked and reported, and does not block the call.
    pub optional: bool,
}

/// The kinds of [`Requirement`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequirementKind {
    /// A value of the call's context.
    Context,
    /// A value of the session's state.
    Session,
    /// An entity that must exist.
    Entity,
    /// A tool that must have been called successfully before.
    Tool,
    /// A service of the program, needed to build the tool.
    Service,
    /// A check that the program defines.
    Custom,
}

/// How a completion tool ends the loop of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// The state to enter next. If empty, the loop ends.
    pub next_state: Text,
}

impl ToolSpec {
    /// Returns validated arguments with the schema's defaults for missing arguments. Defaults that are invalid under
    /// their own schema are skipped. Engines apply this, except for HTTP requests to services with their own
    /// [defaults](crate::RequestPlan::defaults).
    #[must_use]
    pub fn with_defaults(&self, mut arguments: Value) -> Value {
        if let Value::Object(object) = &mut arguments
            && let Some(Kind::Object(rules)) = resolved(&self.input, &self.defs).map(|shape| &shape.kind)
        {
            for field in &rules.fields {
                if let Some(default) = &field.shape.default
                    && !object.contains_key(field.wire_name())
                    && let value = default.to_json()
                    && (value.is_null() || fits(&value, &field.shape, &self.defs))
                {
                    object.insert(field.wire_name().to_owned(), value);
                }
            }
        }
        arguments
    }
}

/// Adds to closed alternatives the fields that are declared next to them, in the arguments and the result.
pub fn complete(spec: &mut ToolSpec) {
    if let Some(input) = with_complete_variants(&spec.input, &spec.defs) {
        spec.input = input.into();
    }
    let output = spec.output.as_ref().and_then(|output| with_complete_variants(output, &spec.defs));
    if let Some(output) = output {
        spec.output = Some(output.into());
    }
}

impl ToolSpec {
    /// Returns the example calls that the tool would accept. Documentation shows only these, because a model imitates
    /// them.
    pub fn fitting_examples(&self) -> impl Iterator<Item = &Example> {
        self.examples.iter().filter(|example| self.check_example(example).is_ok())
    }

    /// Checks that the tool would accept an example call.
    ///
    /// # Errors
    ///
    /// Returns the reason: the string is not JSON, or the problems of the arguments, joined.
    pub fn check_example(&self, example: &Example) -> Result<(), String> {
        let call: Value = serde_json::from_str(&example.arguments)
            .map_err(|error| format!("the arguments are not JSON: {error}"))?;
        match decode(&call, self.input.shape(), &self.defs, &JSON_SCHEMA) {
            Ok(_) => Ok(()),
            Err(problems) => {
                let lines = problems.iter().map(|problem| match problem.pointer.as_str() {
                    "" => problem.message.clone(),
                    pointer => format!("{pointer}: {}", problem.message),
                });
                Err(lines.collect::<Vec<_>>().join("; "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_names_are_validated() {
        for good in ["a", "get_pet", "filesystem__read-file", &"x".repeat(64)] {
            assert!(ToolName::parse(good.to_owned()).is_ok(), "{good}");
        }
        let too_long = "x".repeat(65);
        let cases = [
            ("", NameError::Empty),
            ("1a", NameError::Start),
            ("_a", NameError::Start),
            ("a.b", NameError::Character),
            ("größe", NameError::Character),
            (too_long.as_str(), NameError::TooLong),
        ];
        for (bad, error) in cases {
            assert_eq!(ToolName::parse(bad.to_owned()), Err(error), "{bad}");
        }
    }

    #[test]
    fn tool_spec_can_be_a_constant() {
        static SPEC: ToolSpec = ToolSpec {
            name: ToolName::new("add"),
            description: Text::Static("Adds two numbers."),
            effects: Effects::NONE,
            ..ToolSpec::EMPTY
        };
        let built = ToolSpec {
            name: ToolName::parse(String::from("add")).unwrap(),
            description: String::from("Adds two numbers.").into(),
            effects: Effects::NONE,
            ..ToolSpec::EMPTY
        };
        assert_eq!(SPEC, built);
    }
}
