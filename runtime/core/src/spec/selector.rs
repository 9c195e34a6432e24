//! Selecting tools by name, category and effects.

mod glob;

use std::fmt;

use super::{Effects, Files, Network, ToolSpec};
use crate::base::frozen::Text;

/// Selects tools: conditions separated by spaces, all of which must hold. A name, such as `get_*`, in which `*` matches
/// any characters and `?` exactly one; `category:files`, with the same wildcards; `effect:destructive` and similar
/// conditions, see [`EffectKind`]. Case-sensitive.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSelector {
    text: Text,
    conditions: Vec<Condition>,
}

#[derive(Clone, Debug, PartialEq)]
enum Condition {
    Name(String),
    Category(String),
    Effect(EffectKind),
}

/// A condition `effect:…` of a rule on the effects of a tool. A tool that declares no effects is assumed to have all of
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EffectKind {
    /// `read_only`: the tool changes and destroys nothing.
    ReadOnly,
    /// `mutating`: the tool is not read-only.
    Mutating,
    /// `destructive`: the tool may destroy things.
    Destructive,
    /// `idempotent`: a second call changes nothing further.
    Idempotent,
    /// `open_world`: the tool interacts with things outside the program's control.
    OpenWorld,
    /// `network`: the tool may reach a host.
    Network,
    /// `files_read`: the tool may read files.
    FilesRead,
    /// `files_write`: the tool may write files.
    FilesWrite,
    /// `spawns`: the tool may start programs.
    Spawns,
    /// `undeclared`: the tool does not declare its effects.
    Undeclared,
}

impl EffectKind {
    /// All kinds, with their names.
    pub const ALL: [(&'static str, EffectKind); 10] = [
        ("read_only", EffectKind::ReadOnly),
        ("mutating", EffectKind::Mutating),
        ("destructive", EffectKind::Destructive),
        ("idempotent", EffectKind::Idempotent),
        ("open_world", EffectKind::OpenWorld),
        ("network", EffectKind::Network),
        ("files_read", EffectKind::FilesRead),
        ("files_write", EffectKind::FilesWrite),
        ("spawns", EffectKind::Spawns),
        ("undeclared", EffectKind::Undeclared),
    ];

    /// Returns whether the effects are of this kind.
    #[must_use]
    pub fn is_in(self, effects: &Effects) -> bool {
        let read_only = effects.read_only && !effects.destructive;
        match self {
            EffectKind::ReadOnly => read_only,
            EffectKind::Mutating => !read_only,
            EffectKind::Destructive => effects.destructive,
            EffectKind::Idempotent => effects.idempotent,
            EffectKind::OpenWorld => effects.open_world,
            EffectKind::Network => match &effects.network {
                Network::None => false,
                Network::Hosts(hosts) => !hosts.is_empty(),
                Network::Any => true,
            },
            EffectKind::FilesRead => effects.files != Files::None,
            EffectKind::FilesWrite => effects.files == Files::Write,
            EffectKind::Spawns => effects.spawns,
            EffectKind::Undeclared => *effects == Effects::UNDECLARED,
        }
    }
}

/// The problem of an invalid rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuleProblem {
    /// It has no condition.
    Empty,
    /// A name with a character that no tool name contains, so that no tool could match.
    Character(char),
    /// `x:` with an `x` other than `category` and `effect`.
    Kind(String),
    /// `effect:x` with an unknown effect `x`.
    Effect(String),
    /// `category:` without a category.
    NoCategory,
}

impl ToolSelector {
    /// Parses a selector.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with the first invalid condition.
    pub fn parse(text: Text) -> Result<ToolSelector, RuleProblem> {
        let conditions: Vec<Condition> =
            text.split_whitespace().map(Condition::parse).collect::<Result<_, _>>()?;
        if conditions.is_empty() { Err(RuleProblem::Empty) } else { Ok(ToolSelector { text, conditions }) }
    }

    /// Returns the selector as it was written.
    #[must_use]
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// Returns whether a tool is selected.
    #[must_use]
    pub fn matches(&self, spec: &ToolSpec) -> bool {
        self.conditions.iter().all(|condition| match condition {
            Condition::Effect(kind) => kind.is_in(&spec.effects),
            other => other.matches_identity(spec),
        })
    }

    /// Returns whether the name and the category of the tool match, regardless of its effects.
    #[must_use]
    pub fn matches_identity(&self, spec: &ToolSpec) -> bool {
        self.conditions.iter().all(|condition| condition.matches_identity(spec))
    }
}

impl Condition {
    fn matches_identity(&self, spec: &ToolSpec) -> bool {
        match self {
            Condition::Name(pattern) => glob::matches(pattern, spec.name.as_str()),
            Condition::Category(pattern) => glob::matches(pattern, &spec.category),
            Condition::Effect(_) => true,
        }
    }

    fn parse(text: &str) -> Result<Condition, RuleProblem> {
        match text.split_once(':') {
            Some(("category", "")) => Err(RuleProblem::NoCategory),
            Some(("category", pattern)) => Ok(Condition::Category(pattern.to_owned())),
            Some(("effect", name)) => {
                let kind = EffectKind::ALL.iter().find(|(kind_name, _)| *kind_name == name);
                kind.map(|(_, kind)| Condition::Effect(*kind))
                    .ok_or_else(|| RuleProblem::Effect(name.to_owned()))
            }
            Some((kind, _)) => Err(RuleProblem::Kind(kind.to_owned())),
            None => {
                let is_invalid =
                    |c: &char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '*' | '?'));
                match text.chars().find(is_invalid) {
                    Some(invalid) => Err(RuleProblem::Character(invalid)),
                    None => Ok(Condition::Name(text.to_owned())),
                }
            }
        }
    }
}

impl fmt::Display for RuleProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RuleProblem::Empty => f.write_str("it is empty"),
            RuleProblem::Character(invalid) => {
                write!(f, "a tool name cannot contain {invalid:?}; `*` and `?` are wildcards")
            }
            RuleProblem::Kind(kind) => {
                write!(f, "unknown condition '{kind}:'; use 'category:', 'effect:' or a name without a colon")
            }
            RuleProblem::Effect(name) => {
                let names: Vec<&str> = EffectKind::ALL.iter().map(|(name, _)| *name).collect();
                write!(f, "unknown effect '{name}'; use one of {}", names.join(", "))
            }
            RuleProblem::NoCategory => f.write_str("the category after 'category:' is missing"),
        }
    }
}
