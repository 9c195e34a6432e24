//! What a tool *is*: its name, its texts, its schemas and what it may do.

use std::fmt;

use crate::base::frozen::{List, Text};
use crate::schema::shape::{Def, Schema, Shape};

pub mod docs;
pub mod graph;
#[cfg(feature = "runtime")]
pub(crate) mod hosts;
pub mod output;
pub mod plan;
mod require;

/// A complete description of a tool, without the code that runs it.
///
/// Written as a constant by generated code and by the macros, built in memory by the dynamic loaders. Write a
/// literal with `..ToolSpec::EMPTY` so that later fields do not break it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// The name a model calls.
    pub name: ToolName,
    /// A short title for people. Empty: none, show the name.
    pub label: Text,
    /// What the tool does, for the model.
    pub description: Text,
    /// What comes back, one or a few sentences. Empty: not said.
    pub returns: Text,
    /// When to use the tool. Empty: not said.
    pub use_for: Text,
    /// The documentation for a prompt, in place of the one that is made of the other fields. It drifts apart from them,
    /// so it is for what they cannot say. Empty: it is made of them.
    pub documentation: Text,
    /// Calls a model can imitate.
    pub examples: List<Example>,
    /// The arguments: always an object.
    pub input: Schema,
    /// The structured result, where it is known.
    pub output: Option<Schema>,
    /// Named shapes that `input` and `output` refer to, sorted by name. Tools of one document share the list;
    /// rendering takes from it what a tool reaches.
    pub defs: List<Def>,
    /// What running the tool may do to the world.
    pub effects: Effects,
    /// The group a tool belongs to. `general` unless given.
    pub category: Text,
    /// What the caller must be allowed to do.
    pub scopes: List<Text>,
    /// How long a call may take.
    pub timeout: Timeout,
    /// No other call of the same turn may run beside it.
    pub exclusive: bool,
    /// The service that a circuit breaker watches for the tool. Empty: none.
    pub service: Text,
    /// The resources a call reads, such as `file:{path}`, where `{path}` stands for the argument. Calls of one turn
    /// do not overlap if one writes what the other reads or writes.
    pub reads: List<Text>,
    /// The resources a call writes, as in `reads`.
    pub writes: List<Text>,
    /// The most bytes of a result that a model gets at once, if that is less than elsewhere.
    pub result_limit: Option<u64>,
    /// What must hold before a call.
    pub requires: List<Requirement>,
    /// Set if a successful call ends the loop of the agent.
    pub completion: Option<Completion>,
    /// The tool has another agent do a task, see `SubAgentTool`. Such an agent is not given tools that do.
    pub sub_agent: bool,
    /// Set if the tool should no longer be used; says what to use instead, or is empty.
    pub deprecated: Option<Text>,
}

impl ToolSpec {
    /// No texts, no arguments and the worst [`Effects`]: the base of every literal.
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
        defs: List::EMPTY,
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
        completion: None,
        sub_agent: false,
        deprecated: None,
    };
}

/// A name every provider accepts: `^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`.
///
/// The rule is the intersection of what OpenAI, Anthropic, Gemini, Bedrock and MCP accept.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ToolName(Text);

/// The longest name every provider accepts, in bytes.
pub const MAX_NAME: usize = 64;

impl ToolName {
    /// A name known when the program is written.
    ///
    /// # Panics
    ///
    /// If the name breaks the rule; in a constant that is a compile error at the caller's literal.
    #[track_caller]
    #[must_use]
    #[expect(clippy::panic, reason = "a wrong literal is a compile error where it is written")]
    pub const fn new(name: &'static str) -> ToolName {
        match check_name(name) {
            Ok(()) => ToolName(Text::Static(name)),
            Err(problem) => panic!("{}", problem.message()),
        }
    }

    /// A name made at run time.
    ///
    /// # Errors
    ///
    /// Says which part of the rule the name breaks.
    pub fn parse(name: impl Into<Text>) -> Result<ToolName, NameError> {
        let name = name.into();
        check_name(&name).map(|()| ToolName(name))
    }

    /// The name as a text that shares it.
    #[must_use]
    pub fn to_text(&self) -> Text {
        self.0.clone()
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a text is not a tool name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameError {
    /// It is empty.
    Empty,
    /// It does not start with an ASCII letter.
    Start,
    /// It holds a character other than an ASCII letter, a digit, `_` or `-`.
    Character,
    /// It is longer than [`MAX_NAME`].
    TooLong,
}

impl NameError {
    const fn message(self) -> &'static str {
        match self {
            NameError::Empty => "a tool name may not be empty",
            NameError::Start => "a tool name must start with an ASCII letter",
            NameError::Character => "a tool name may contain only ASCII letters, digits, `_` and `-`",
            NameError::TooLong => "a tool name may have at most 64 characters",
        }
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl std::error::Error for NameError {}

const fn check_name(name: &str) -> Result<(), NameError> {
    let bytes = name.as_bytes();
    if bytes.is_empty() {
        return Err(NameError::Empty);
    }
    if !bytes[0].is_ascii_alphabetic() {
        return Err(NameError::Start);
    }
    if bytes.len() > MAX_NAME {
        return Err(NameError::TooLong);
    }
    let mut index = 0;
    while index < bytes.len() {
        let byte = bytes[index];
        if !(byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-') {
            return Err(NameError::Character);
        }
        index += 1;
    }
    Ok(())
}

/// A call a model can imitate.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// What the call is for. Empty: not said.
    pub summary: Text,
    /// The arguments, as JSON text.
    pub arguments: Text,
}

/// What running a tool may do to the world.
///
/// A policy compares this with what its context allows before a call, so what is not declared counts as the worst.
#[derive(Clone, Debug, PartialEq)]
pub struct Effects {
    /// Changes nothing.
    pub read_only: bool,
    /// May destroy or overwrite what it cannot bring back.
    pub destructive: bool,
    /// A second call with the same arguments changes nothing more.
    pub idempotent: bool,
    /// Talks to things outside the program's control.
    pub open_world: bool,
    /// The hosts it may talk to.
    pub network: Network,
    /// What it may do to files.
    pub files: Files,
    /// Starts other programs.
    pub spawns: bool,
}

impl Effects {
    /// Nothing is known, so everything must be expected.
    pub const UNDECLARED: Effects = Effects {
        read_only: false,
        destructive: true,
        idempotent: false,
        open_world: true,
        network: Network::Any,
        files: Files::Write,
        spawns: true,
    };

    /// Touches nothing outside the program.
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

/// The part of the network a tool may use.
#[derive(Clone, Debug, PartialEq)]
pub enum Network {
    /// None at all.
    None,
    /// Only these hosts, as `host` or `host:port`.
    Hosts(List<Text>),
    /// Any host.
    Any,
}

/// What a tool may do to files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// Nothing.
    None,
    /// Read.
    Read,
    /// Read and write.
    Write,
}

/// How long a call may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeout {
    /// As long as the caller's default, 30 seconds unless set.
    Default,
    /// This many milliseconds.
    Millis(u64),
    /// As long as it takes. Must be asked for.
    Never,
}

/// Something that must hold before a tool is called.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// What kind of thing.
    pub kind: RequirementKind,
    /// Its name.
    pub name: Text,
    /// The argument that identifies an entity. Empty for other kinds.
    pub argument: Text,
    /// What to tell a caller for whom it does not hold. Empty: the default of the kind.
    pub message: Text,
    /// Checked and reported, but does not block the call.
    pub optional: bool,
}

/// The kinds of [`Requirement`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequirementKind {
    /// A value of the call's context.
    Context,
    /// A value of the session's state.
    Session,
    /// A thing that must exist.
    Entity,
    /// A tool that must have been called successfully before.
    Tool,
    /// A service of the program, needed to build the tool.
    Service,
    /// A check of the program's own.
    Custom,
}

/// How a completion tool ends the loop of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// The state to go to. Empty: just end.
    pub next_state: Text,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_rule() {
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
        for (bad, why) in cases {
            assert_eq!(ToolName::parse(bad.to_owned()), Err(why), "{bad}");
        }
    }

    #[test]
    fn a_specification_is_a_constant() {
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
