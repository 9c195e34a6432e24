//! Rules that include and exclude tools.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use toolgen_core::internal::closest_pattern;

use super::glob;
use crate::base::frozen::Text;
use crate::registry::{Registry, UnknownTool};
use crate::spec::{Effects, Files, Network, ToolSpec};

/// Rules that decide which tools are available. Cheap to clone. Without rules, all tools are available.
///
/// A rule is a string of conditions separated by spaces, all of which must hold:
///
/// * a name, such as `get_*`, in which `*` matches any characters and `?` exactly one; case-sensitive;
/// * `category:files`, with the same wildcards;
/// * `effect:destructive` and similar conditions, see [`EffectKind`].
///
/// A tool that matches an exclusion is unavailable even if another rule includes it. If there is a list of inclusions,
/// even an empty one, a tool that matches none of them is also unavailable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyRules(Arc<Lists>);

#[derive(Debug, Default, PartialEq)]
struct Lists {
    include: Option<Vec<Rule>>,
    exclude: Vec<Rule>,
}

/// A builder for [`PolicyRules`].
#[derive(Clone, Debug, Default)]
pub struct RulesBuilder {
    include: Option<Vec<Text>>,
    exclude: Vec<Text>,
}

#[derive(Clone, Debug, PartialEq)]
struct Rule {
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
    const ALL: [(&'static str, EffectKind); 10] = [
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

/// The decision of [`PolicyRules`] about a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuleDecision {
    /// The tool is available.
    Allowed {
        /// The first rule that includes the tool. `None` if there is no list of inclusions.
        rule: Option<Text>,
    },
    /// The tool is excluded.
    Excluded {
        /// The first rule that excludes the tool.
        rule: Text,
    },
    /// There is a list of inclusions, and none of them matches the tool.
    NotIncluded,
}

impl RuleDecision {
    /// Returns whether the tool is available.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        matches!(self, RuleDecision::Allowed { .. })
    }
}

/// The error of building rules, with every string that is not a valid rule.
#[derive(Clone, PartialEq, Eq)]
pub struct RulesError {
    /// The problems, in the order of the rules, inclusions first.
    pub problems: Vec<RuleError>,
}

/// The reason why a string is not a rule: `rule '{rule}': {problem}`.
#[derive(Clone, PartialEq, Eq)]
pub struct RuleError {
    /// The string.
    pub rule: Text,
    /// What is wrong with it.
    pub problem: RuleProblem,
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

impl RulesBuilder {
    /// Includes tools that match one of these rules. After this call, tools that match no inclusion are excluded, even
    /// if the list is empty.
    #[must_use]
    pub fn include<S: Into<Text>>(mut self, rules: impl IntoIterator<Item = S>) -> RulesBuilder {
        self.include.get_or_insert_default().extend(rules.into_iter().map(Into::into));
        self
    }

    /// Excludes tools that match one of these rules.
    #[must_use]
    pub fn exclude<S: Into<Text>>(mut self, rules: impl IntoIterator<Item = S>) -> RulesBuilder {
        self.exclude.extend(rules.into_iter().map(Into::into));
        self
    }

    /// Parses the rules.
    ///
    /// # Errors
    ///
    /// Returns every string that is not a rule. No rule is skipped: an invalid rule might have excluded something.
    pub fn build(self) -> Result<PolicyRules, RulesError> {
        let mut problems = Vec::new();
        let mut parse_all = |rules: Vec<Text>| -> Vec<Rule> {
            let rules = rules
                .into_iter()
                .filter_map(|text| Rule::parse(text).map_err(|error| problems.push(error)).ok());
            rules.collect()
        };
        let lists = Lists { include: self.include.map(&mut parse_all), exclude: parse_all(self.exclude) };
        if problems.is_empty() { Ok(PolicyRules(Arc::new(lists))) } else { Err(RulesError { problems }) }
    }
}

impl PolicyRules {
    /// Returns a builder without rules.
    #[must_use]
    pub fn builder() -> RulesBuilder {
        RulesBuilder::default()
    }

    /// Returns whether the tool is available.
    #[must_use]
    pub fn allows(&self, spec: &ToolSpec) -> bool {
        let Lists { include, exclude } = &*self.0;
        !exclude.iter().any(|rule| rule.matches(spec))
            && include.as_ref().is_none_or(|include| include.iter().any(|rule| rule.matches(spec)))
    }

    /// Returns the decision of the rules about a tool, and the deciding rule.
    #[must_use]
    pub fn explain(&self, spec: &ToolSpec) -> RuleDecision {
        let first =
            |rules: &[Rule]| rules.iter().find(|rule| rule.matches(spec)).map(|rule| rule.text.clone());
        if let Some(rule) = first(&self.0.exclude) {
            return RuleDecision::Excluded { rule };
        }
        match &self.0.include {
            None => RuleDecision::Allowed { rule: None },
            Some(include) => first(include)
                .map_or(RuleDecision::NotIncluded, |rule| RuleDecision::Allowed { rule: Some(rule) }),
        }
    }

    /// Whether a rule that consists only of this name excludes the tool.
    pub(crate) fn excludes_by_name(&self, name: &str) -> bool {
        self.0.exclude.iter().any(|rule| rule.text.trim() == name)
    }

    /// Returns the rules whose name or category matches no tool of a registry or of a sub-agent in it, inclusions
    /// first. Often the name is misspelled. Conditions on effects are ignored, because a rule may guard against effects
    /// that no tool has at present.
    #[must_use]
    pub fn unused(&self, registry: &Registry) -> Vec<UnknownTool> {
        let Lists { include, exclude } = &*self.0;
        let rules = include.iter().flatten().chain(exclude);
        let unused = rules.filter(|rule| !registry.all_specs().any(|spec| rule.matches_identity(spec)));
        let names = |spec: &ToolSpec| [spec.name.to_string(), format!("category:{}", spec.category)];
        let candidates: BTreeSet<String> = registry.all_specs().flat_map(names).collect();
        let to_unknown_tool = |rule: &Rule| {
            let condition = rule.text.split_whitespace().find(|word| !word.starts_with("effect:"));
            let suggestion = condition
                .and_then(|condition| closest_pattern(condition, candidates.iter().map(String::as_str)));
            UnknownTool { name: rule.text.clone(), suggestion: suggestion.map(Text::from) }
        };
        unused.map(to_unknown_tool).collect()
    }
}

impl Rule {
    fn parse(text: Text) -> Result<Rule, RuleError> {
        let conditions: Result<Vec<Condition>, RuleProblem> =
            text.split_whitespace().map(Condition::parse).collect();
        match conditions {
            Ok(conditions) if conditions.is_empty() => {
                Err(RuleError { rule: text, problem: RuleProblem::Empty })
            }
            Ok(conditions) => Ok(Rule { text, conditions }),
            Err(problem) => Err(RuleError { rule: text, problem }),
        }
    }

    fn matches(&self, spec: &ToolSpec) -> bool {
        self.conditions.iter().all(|condition| match condition {
            Condition::Effect(kind) => kind.is_in(&spec.effects),
            other => other.matches_identity(spec),
        })
    }

    /// Returns whether the name and the category of the tool match the rule, regardless of its effects.
    fn matches_identity(&self, spec: &ToolSpec) -> bool {
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

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rule '{}': {}", self.rule, self.problem)
    }
}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let line_break = if index == 0 { "" } else { "\n" };
            write!(f, "{line_break}{problem}")?;
        }
        Ok(())
    }
}

toolgen_core::__readable_debug!(RuleError);

impl std::error::Error for RuleError {}
toolgen_core::__readable_debug!(RulesError);

impl std::error::Error for RulesError {}
