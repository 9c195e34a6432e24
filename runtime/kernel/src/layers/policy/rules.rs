//! Rules that include and exclude tools.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use toolgen_core::internal::closest_pattern;
use toolgen_core::spec::selector::ToolSelector;
pub use toolgen_core::spec::selector::{EffectKind, RuleProblem};

use crate::base::frozen::Text;
use crate::registry::{Registry, UnknownTool};
use crate::spec::ToolSpec;

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
    include: Option<Vec<ToolSelector>>,
    exclude: Vec<ToolSelector>,
}

/// A builder for [`PolicyRules`].
#[derive(Clone, Debug, Default)]
pub struct RulesBuilder {
    include: Option<Vec<Text>>,
    exclude: Vec<Text>,
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
        let mut parse_all = |rules: Vec<Text>| -> Vec<ToolSelector> {
            let rules =
                rules.into_iter().filter_map(|text| parse(text).map_err(|error| problems.push(error)).ok());
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
        let first = |rules: &[ToolSelector]| {
            rules.iter().find(|rule| rule.matches(spec)).map(|rule| rule.text().clone())
        };
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
        self.0.exclude.iter().any(|rule| rule.text().trim() == name)
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
        let to_unknown_tool = |rule: &ToolSelector| {
            let condition = rule.text().split_whitespace().find(|word| !word.starts_with("effect:"));
            let suggestion = condition
                .and_then(|condition| closest_pattern(condition, candidates.iter().map(String::as_str)));
            UnknownTool { name: rule.text().clone(), suggestion: suggestion.map(Text::from) }
        };
        unused.map(to_unknown_tool).collect()
    }
}

fn parse(text: Text) -> Result<ToolSelector, RuleError> {
    ToolSelector::parse(text.clone()).map_err(|problem| RuleError { rule: text, problem })
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
