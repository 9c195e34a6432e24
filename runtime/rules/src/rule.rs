//! Rules, and their form as one line of text.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use toolgen_core::internal::closest_pattern;
use toolgen_core::spec::selector::ToolSelector;
use toolgen_core::{Text, ToolSpec};

use crate::check::compile;
use crate::problem::{Problem, ProblemKind, RuleProblem, RulesError, Span};
use crate::syntax::{Expr, parse};
use crate::tool_rules::ToolRules;
use crate::types::may_have_argument;

/// What a rule does with the calls that it matches, from the most to the least restrictive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Action {
    /// They are refused.
    Deny,
    /// They need an approval.
    Ask,
    /// They are limited to a number of calls per tool and principal in a time window.
    Rate {
        /// The maximum number of calls.
        limit: u32,
        /// The length of the window.
        per: Duration,
    },
}

impl Action {
    /// Returns the name: `deny`, `ask` or `rate`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Action::Deny => "deny",
            Action::Ask => "ask",
            Action::Rate { .. } => "rate",
        }
    }
}

/// A condition with its text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Condition {
    pub(crate) text: Text,
    pub(crate) expr: Expr,
    /// The names of the arguments in it.
    names: Vec<String>,
}

/// A rule about the calls of some tools.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    pub(crate) action: Action,
    pub(crate) selector: ToolSelector,
    pub(crate) when: Option<Condition>,
    pub(crate) reason: Text,
    pub(crate) place: Text,
}

impl Rule {
    /// Creates a rule from a selector of tools and a condition. Without a condition, it matches all their calls.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with the selector or the condition, or that a limit or a window is zero.
    pub fn new(action: Action, selector: &str, when: Option<&str>) -> Result<Rule, Problem> {
        let syntax = |message: String, help: &str| Problem::new(ProblemKind::Syntax, None, message, help);
        if let Action::Rate { limit, per } = action
            && (limit == 0 || per.is_zero())
        {
            return Err(syntax("the limit of a rate is zero".to_owned(), "use `deny` to refuse all calls"));
        }
        let selector = ToolSelector::parse(Text::copy_of(selector.trim())).map_err(|problem| {
            syntax(
                format!("`{selector}` selects no tools: {problem}"),
                "write a name, `category:…` or `effect:…`; `*` selects all tools",
            )
        })?;
        let when = match when {
            Some(text) => {
                let expr = parse(text.trim())?;
                let mut names = Vec::new();
                expr.collect_arguments(&mut names);
                Some(Condition { text: Text::copy_of(text.trim()), expr, names })
            }
            None => None,
        };
        Ok(Rule { action, selector, when, reason: Text::EMPTY, place: Text::EMPTY })
    }

    /// Parses one line: `deny pay when args.amount > 5000`, `ask effect:destructive`, or `rate pay 10 per 1m`. The
    /// units of a window are `ms`, `s`, `m`, `h` and `d`.
    ///
    /// # Errors
    ///
    /// Returns what is wrong. Places are those in the condition.
    pub fn parse(line: &str) -> Result<Rule, Problem> {
        let syntax = |message: String, help: &str| Problem::new(ProblemKind::Syntax, None, message, help);
        let (head, when) = split_condition(line);
        let mut words: Vec<&str> = head.split_whitespace().collect();
        if words.is_empty() {
            return Err(syntax("the rule is empty".to_owned(), "write `deny`, `ask` or `rate`, and tools"));
        }
        let action = match words.remove(0) {
            "deny" => Action::Deny,
            "ask" => Action::Ask,
            "rate" => match words.as_slice() {
                [.., limit, "per", window] => {
                    let help = "write `rate TOOLS 10 per 1m`";
                    let action = rate(limit, window).map_err(|message| syntax(message, help))?;
                    words.truncate(words.len() - 3);
                    action
                }
                _ => {
                    let message = "a rate has a limit and a window".to_owned();
                    return Err(syntax(message, "write `rate TOOLS 10 per 1m`"));
                }
            },
            "allow" => {
                let message = "there are no `allow` rules: the most restrictive rule decides".to_owned();
                return Err(syntax(
                    message,
                    "write the exception into the condition of the other rule: `deny pay when !(…)`",
                ));
            }
            other => {
                return Err(syntax(
                    format!("unknown rule `{other}`"),
                    "a rule starts with `deny`, `ask` or `rate`",
                ));
            }
        };
        Rule::new(action, &words.join(" "), when)
    }

    /// Sets the reason that a model reads about a refused call, and a person about a call that needs an approval.
    /// Without one, they read the rule.
    #[must_use]
    pub fn with_reason(mut self, reason: impl Into<Text>) -> Rule {
        self.reason = reason.into();
        self
    }

    /// Sets the place of the rule for engineers, such as `tools.yaml:12`.
    #[must_use]
    pub fn with_place(mut self, place: impl Into<Text>) -> Rule {
        self.place = place.into();
        self
    }

    /// Returns what the rule does.
    #[must_use]
    pub fn action(&self) -> Action {
        self.action
    }

    /// Returns the selector of tools, as it was written.
    #[must_use]
    pub fn selector(&self) -> &str {
        self.selector.text()
    }

    /// Returns the condition, as it was written.
    #[must_use]
    pub fn condition(&self) -> Option<&str> {
        self.when.as_ref().map(|when| when.text.as_str())
    }

    /// Returns the reason; empty if there is none.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Returns the place; empty if it is unknown.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Returns the sentence about a matched call: the reason, or the rule itself.
    #[must_use]
    pub fn sentence(&self) -> String {
        if self.reason.is_empty() { format!("The rule `{self}` applies.") } else { self.reason.to_string() }
    }

    /// Returns whether the rule is about tools with this name and category, whatever their effects are.
    #[must_use]
    pub fn may_select(&self, spec: &ToolSpec) -> bool {
        self.selector.matches_identity(spec)
    }

    /// Returns whether the rule is about a tool: its selector matches, and, unless it is the name of the tool, the tool
    /// has all arguments that the condition names.
    #[must_use]
    pub fn selects(&self, spec: &ToolSpec) -> bool {
        self.selector.matches(spec) && (self.selector() == spec.name.as_str() || self.has_arguments(spec))
    }

    fn has_arguments(&self, spec: &ToolSpec) -> bool {
        self.when.as_ref().is_none_or(|when| when.names.iter().all(|name| may_have_argument(spec, name)))
    }
}

/// Writes the rule as one line.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.action.name(), self.selector.text())?;
        if let Action::Rate { limit, per } = self.action {
            write!(f, " {limit} per {}", duration_text(per))?;
        }
        if let Some(when) = &self.when {
            let text: Vec<&str> = when.text.lines().map(str::trim).collect();
            write!(f, " when {}", text.join(" "))?;
        }
        Ok(())
    }
}

/// Splits a line before and after the word `when`.
fn split_condition(line: &str) -> (&str, Option<&str>) {
    let is_space_at = |at: usize| line[at..].starts_with(char::is_whitespace);
    let found = line.match_indices("when").find(|(at, word)| {
        let end = at + word.len();
        line[..*at].ends_with(char::is_whitespace) && (end == line.len() || is_space_at(end))
    });
    match found {
        Some((at, word)) => (&line[..at], Some(&line[at + word.len()..])),
        None => (line, None),
    }
}

/// Parses the limit and the window of a rate.
pub(crate) fn rate(limit: &str, window: &str) -> Result<Action, String> {
    let limit = limit.parse().map_err(|_| format!("`{limit}` is not a number of calls"))?;
    let per =
        duration(window).ok_or_else(|| format!("`{window}` is not a duration; write `30s`, `1m` or `2h`"))?;
    Ok(Action::Rate { limit, per })
}

const UNITS: [(&str, u64); 5] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// Parses a duration: `500ms`, `30s`, `1m`, `2h`, `1d`.
#[must_use]
pub fn duration(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
    number.parse::<u64>().ok()?.checked_mul(*factor).map(Duration::from_millis)
}

/// Writes a duration in its largest whole unit.
fn duration_text(duration: Duration) -> String {
    let millis = duration.as_millis();
    let unit = UNITS.iter().rev().find(|(_, factor)| millis.is_multiple_of(u128::from(*factor)));
    let (name, factor) = unit.copied().unwrap_or(("ms", 1));
    format!("{}{name}", millis / u128::from(factor))
}

/// Rules about calls. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules(Arc<[Rule]>);

impl Rules {
    /// Parses rules, each from one line; see [`Rule::parse`].
    ///
    /// # Errors
    ///
    /// Returns the problems of all rules that cannot be parsed.
    pub fn parse<S: AsRef<str>>(lines: impl IntoIterator<Item = S>) -> Result<Rules, RulesError> {
        let (mut rules, mut problems) = (Vec::new(), Vec::new());
        for (index, line) in lines.into_iter().enumerate() {
            match Rule::parse(line.as_ref()) {
                Ok(rule) => rules.push(rule),
                Err(problem) => {
                    let text = line.as_ref().trim().to_owned();
                    problems.push(RuleProblem { rule: index, text, problem });
                }
            }
        }
        if problems.is_empty() { Ok(rules.into_iter().collect()) } else { Err(RulesError { problems }) }
    }

    /// Returns the rules, in order.
    #[must_use]
    pub fn as_slice(&self) -> &[Rule] {
        &self.0
    }

    /// Returns whether there is no rule.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns those rules that may be about one of these tools.
    #[must_use]
    pub fn about<'a>(&self, tools: impl IntoIterator<Item = &'a ToolSpec>) -> Rules {
        let tools: Vec<&ToolSpec> = tools.into_iter().collect();
        let is_about = |rule: &&Rule| tools.iter().any(|spec| rule.may_select(spec));
        self.0.iter().filter(is_about).cloned().collect()
    }

    /// Returns the rules about a tool, compiled for its arguments.
    #[must_use]
    pub fn for_tool(&self, spec: &ToolSpec) -> ToolRules {
        ToolRules::new(self, spec)
    }

    /// Checks all rules against the tools that they are used with.
    ///
    /// # Errors
    ///
    /// Returns all problems that make a rule unusable: it selects no tool, names an unknown argument, or
    /// applies an operation to values of the wrong type. A rule is checked for each tool that it selects.
    pub fn check<'a>(&self, tools: impl IntoIterator<Item = &'a ToolSpec>) -> Result<(), RulesError> {
        let tools: Vec<&ToolSpec> = tools.into_iter().collect();
        let problems = self.problems(&tools);
        if problems.is_empty() { Ok(()) } else { Err(RulesError { problems }) }
    }

    /// Returns the problems that make a rule unusable.
    pub(crate) fn problems(&self, tools: &[&ToolSpec]) -> Vec<RuleProblem> {
        let mut problems: Vec<RuleProblem> = Vec::new();
        for (index, rule) in self.0.iter().enumerate() {
            for problem in rule.problems(tools) {
                problems.push(RuleProblem { rule: index, text: rule.to_string(), problem });
            }
        }
        problems
    }
}

impl FromIterator<Rule> for Rules {
    fn from_iter<I: IntoIterator<Item = Rule>>(rules: I) -> Rules {
        Rules(rules.into_iter().collect())
    }
}

impl Rule {
    fn problems(&self, tools: &[&ToolSpec]) -> Vec<Problem> {
        if !tools.iter().any(|spec| self.selector.matches_identity(spec)) {
            return vec![self.unknown_tool(tools)];
        }
        let Some(when) = &self.when else { return Vec::new() };
        let mut problems: Vec<Problem> = Vec::new();
        let matching = || tools.iter().filter(|spec| self.selector.matches(spec));
        let mut selected: Vec<&&ToolSpec> = matching().filter(|spec| self.selects(spec)).collect();
        if selected.is_empty() {
            // No tool has all arguments: with the first, the problem says which.
            selected.extend(matching().next());
        }
        for spec in selected {
            let found = compile(&when.expr, spec).err().unwrap_or_default();
            for problem in found {
                // The same problem with several tools is reported once, for the first.
                let is_known = |other: &Problem| {
                    other.span == problem.span && (other.kind, &other.help) == (problem.kind, &problem.help)
                };
                if !problems.iter().any(is_known) {
                    problems.push(self.with_tool(problem, spec));
                }
            }
        }
        problems
    }

    /// Names the tool, if the rule does not.
    fn with_tool(&self, problem: Problem, spec: &ToolSpec) -> Problem {
        let (name, mut problem) = (spec.name.as_str(), problem);
        if self.selector() != name && !problem.message.contains(&format!("`{name}`")) {
            problem.message = format!("for the tool `{name}`: {}", problem.message);
        }
        problem
    }

    fn unknown_tool(&self, tools: &[&ToolSpec]) -> Problem {
        let names = tools.iter().map(|spec| spec.name.to_string());
        let categories = tools.iter().map(|spec| format!("category:{}", spec.category));
        let candidates: Vec<String> = names.chain(categories).collect();
        let word = self.selector().split_whitespace().find(|word| !word.starts_with("effect:"));
        let closest = word.and_then(|word| closest_pattern(word, candidates.iter().map(String::as_str)));
        let help = match closest {
            Some(closest) => format!("did you mean `{closest}`?"),
            None => "name a tool, or a pattern such as `get_*`".to_owned(),
        };
        let message = format!("`{}` selects no tool", self.selector());
        Problem::new(ProblemKind::UnknownTool, None::<Span>, message, help)
    }
}
