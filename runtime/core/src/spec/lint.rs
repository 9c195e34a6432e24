//! Lints of tool descriptions: defects that prevent a model from choosing and calling tools correctly.
//!
//! A finding is not an error in the program. Tests of a program can still require that there are no findings:
//!
//! ```
//! use toolgen_runtime::spec::lint::{Lint, lint};
//! use toolgen_runtime::tool;
//!
//! /// Waits.
//! #[tool]
//! fn wait(
//!     /// How long to wait.
//!     timeout: u64,
//! ) -> String {
//!     timeout.to_string()
//! }
//!
//! # use toolgen_runtime::AgentTool;
//! let specs = [wait::tool().spec().clone()];
//! let lints: Vec<Lint> = lint(&specs).iter().map(|finding| finding.lint).collect();
//! assert_eq!(lints, [Lint::RestatesName, Lint::NoUnit]);
//! ```

mod shape_walk;
mod similar;
mod units;
mod values;
mod words;

use std::fmt;

use crate::base::invisible::InvisibleChar;
use crate::schema::shape::{Access, Field, Kind, StringRules, object_in, resolved};
use crate::spec::mcp::lint::find_instruction;
use crate::spec::{ToolName, ToolSpec};

/// The kinds of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lint {
    /// The tool has no description, or only the method and path of its request: a model chooses it by its name alone.
    NoDescription,
    /// Arguments have no description.
    NoArgumentDescription,
    /// The description of the tool says no more than its name.
    RestatesName,
    /// Descriptions of arguments say no more than their names.
    ArgumentRestatesName,
    /// A number is a duration, a size or a similar measure, and nothing states its unit.
    NoUnit,
    /// Tools have the same description, or names made of the same words.
    NearDuplicate,
    /// A string has invisible characters.
    HiddenCharacters,
    /// A string instructs a model to do something beyond the tool.
    Instructions,
    /// An example is a call that the tool rejects.
    Example,
    /// Nothing describes how to call a tool that may have effects: no argument is required, each accepts any string,
    /// and no description says more than a name.
    Vague,
    /// The schema of an argument, or of all arguments, accepts no value.
    NoValue,
}

impl Lint {
    /// All lints.
    pub const ALL: [Lint; 11] = [
        Lint::NoDescription,
        Lint::NoArgumentDescription,
        Lint::RestatesName,
        Lint::ArgumentRestatesName,
        Lint::NoUnit,
        Lint::NearDuplicate,
        Lint::HiddenCharacters,
        Lint::Instructions,
        Lint::Example,
        Lint::Vague,
        Lint::NoValue,
    ];

    /// Returns the code with which `cargo toolgen` reports and configures the lint, such as `N0706`.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Lint::NoDescription => "W0701",
            Lint::NoArgumentDescription => "N0702",
            Lint::RestatesName => "N0703",
            Lint::ArgumentRestatesName => "N0704",
            Lint::NoUnit => "N0706",
            Lint::NearDuplicate => "N0709",
            Lint::HiddenCharacters => "W0710",
            Lint::Instructions => "N0711",
            Lint::Example => "N0712",
            Lint::Vague => "W0713",
            Lint::NoValue => "W0714",
        }
    }
}

/// A finding of a lint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kind of finding.
    pub lint: Lint,
    /// The tool.
    pub tool: ToolName,
    /// The arguments of the finding, as `filter.tags[]`. Empty for the tool itself.
    pub arguments: Vec<String>,
    /// The finding, as a sentence without its period.
    pub message: String,
    /// How to fix it.
    pub help: &'static str,
}

/// The code and the message: `N0706: the argument …`.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.lint.code(), self.message, self.help)
    }
}

/// Returns the findings of all lints, in the order of the tools and then of [`Lint::ALL`]. A finding about a named
/// shape or a description that several tools share is reported for the first of them.
#[must_use]
pub fn lint<'a>(specs: impl IntoIterator<Item = &'a ToolSpec>) -> Vec<Finding> {
    let specs: Vec<&ToolSpec> = specs.into_iter().collect();
    let similar = similar::similar(&specs);
    let mut visited = shape_walk::Visited::default();
    let mut findings = Vec::new();
    let mut state = values::SharedState::default();
    for (index, spec) in specs.iter().enumerate() {
        let mut tool_findings = Findings { spec, findings: Vec::new() };
        tool_findings.check_tool();
        tool_findings.check_arguments();
        tool_findings.check_texts(&mut visited);
        tool_findings.check_examples();
        tool_findings.check_values(&mut state);
        for (message, _) in similar.iter().filter(|(_, first)| *first == index) {
            let help = "state in each description what only that tool does, or omit tools";
            tool_findings.add(Lint::NearDuplicate, &[], message.clone(), help);
        }
        tool_findings.findings.sort_by_key(|finding| finding.lint);
        findings.append(&mut tool_findings.findings);
    }
    findings
}

/// The findings of one tool.
struct Findings<'a> {
    spec: &'a ToolSpec,
    findings: Vec<Finding>,
}

impl<'a> Findings<'a> {
    fn add(&mut self, lint: Lint, arguments: &[String], message: String, help: &'static str) {
        let tool = self.spec.name.clone();
        self.findings.push(Finding { lint, tool, arguments: arguments.to_vec(), message, help });
    }

    fn check_tool(&mut self) {
        let ToolSpec { name, description, .. } = self.spec;
        if description.trim().is_empty() {
            let help = "say what the tool does, when to use it and what it returns";
            self.add(Lint::NoDescription, &[], format!("the tool `{name}` has no description"), help);
        } else if words::is_request(description) {
            let message = format!("the tool `{name}` has no description but its request, `{description}`");
            let help = "say what the tool does, when to use it and what it returns";
            self.add(Lint::NoDescription, &[], message, help);
        } else if words::restates(description, name.as_str()) {
            let message = format!("the description of the tool `{name}` says no more than its name");
            self.add(
                Lint::RestatesName,
                &[],
                message,
                "add what the name does not say: the object, when to use it, what it returns",
            );
        }
    }

    /// Returns the arguments that a model passes, and their descriptions.
    fn fields(&self) -> Vec<(&'a Field, &'a str)> {
        let spec = self.spec;
        let Some(rules) = object_in(&spec.input, &spec.defs) else { return Vec::new() };
        let arguments = rules.fields.iter().filter(|field| field.access != Access::ReadOnly);
        let with_description = |field: &'a Field| {
            let description = field.shape.description.as_str();
            let target_description =
                || resolved(&field.shape, &spec.defs).map_or("", |shape| shape.description.as_str());
            (field, if description.trim().is_empty() { target_description() } else { description })
        };
        arguments.map(with_description).collect()
    }

    fn check_arguments(&mut self) {
        let (mut undescribed, mut restating, mut unitless) = (Vec::new(), Vec::new(), Vec::new());
        let fields = self.fields();
        for &(field, description) in &fields {
            let name = field.name.as_str();
            if description.trim().is_empty() {
                undescribed.push(name.to_owned());
            } else if words::restates(description, name) {
                restating.push(name.to_owned());
            }
            let shape = resolved(&field.shape, &self.spec.defs).unwrap_or(&field.shape);
            if matches!(shape.kind, Kind::Integer(_) | Kind::Number(_))
                && units::is_missing(
                    name,
                    description,
                    matches!(shape.kind, Kind::Integer(_)),
                    fields.iter().map(|(field, _)| field.name.as_str()),
                )
            {
                unitless.push(name.to_owned());
            }
        }
        let name = &self.spec.name;
        let is_any_text = |field: &Field| {
            let shape = resolved(&field.shape, &self.spec.defs).unwrap_or(&field.shape);
            let allows_any = matches!(&shape.kind, Kind::String(rules) if *rules == StringRules::ANY);
            allows_any && !field.required && field.shape.default.is_none() && field.shape.examples.is_empty()
        };
        if !fields.is_empty()
            && undescribed.len() + restating.len() == fields.len()
            && !self.spec.effects.read_only
            && self.spec.examples.is_empty()
            && fields.iter().all(|(field, _)| is_any_text(field))
        {
            let message = format!(
                "nothing describes how to call the tool `{name}`: no argument is required, and no description says more \
                 than a name"
            );
            let help = "state which arguments are required, describe each with an example, and give the defaults of the others";
            self.add(Lint::Vague, &[], message, help);
        }
        let sentence = |arguments: &[String], singular: &str, plural: &str| match arguments {
            [only] => format!("the argument `{only}` of the tool `{name}` {singular}"),
            all => format!("the arguments {} of the tool `{name}` {plural}", words::join_names(all)),
        };
        if !undescribed.is_empty() {
            let message = sentence(&undescribed, "has no description", "have no description");
            self.add(Lint::NoArgumentDescription, &undescribed, message, "describe the value and its format");
        }
        if !restating.is_empty() {
            let (singular, plural) = ("is described by its name alone", "are described by their names alone");
            let message = sentence(&restating, singular, plural);
            self.add(
                Lint::ArgumentRestatesName,
                &restating,
                message,
                "add what the name does not say: the value and its format",
            );
        }
        if !unitless.is_empty() {
            let (singular, plural) = ("is a number without a unit", "are numbers without a unit");
            let message = sentence(&unitless, singular, plural);
            self.add(
                Lint::NoUnit,
                &unitless,
                message,
                "name the unit in the description: seconds, bytes, metres",
            );
        }
    }

    /// Checks every string: those of the tool, and those of its arguments at any depth.
    fn check_texts(&mut self, visited: &mut shape_walk::Visited) {
        let ToolSpec { name, label, description, returns, use_for, documentation, .. } = self.spec;
        let strings = [
            ("title", label),
            ("description", description),
            ("`returns`", returns),
            ("`use_for`", use_for),
            ("documentation", documentation),
        ];
        for (kind, text) in strings {
            // The summary of an operation is its title and begins its description.
            if kind != "title" || !description.starts_with(text.as_str()) {
                self.check_text(text, &format!("the {kind} of the tool `{name}`"), &[]);
            }
        }
        for (location, shape, _) in shape_walk::shapes(self.spec, visited) {
            let subject = match location.as_str() {
                "" => format!("the description of all arguments of the tool `{name}`"),
                location => format!("the description of the argument `{location}` of the tool `{name}`"),
            };
            let arguments: Vec<String> = if location.is_empty() { Vec::new() } else { vec![location] };
            self.check_text(&shape.description, &subject, &arguments);
        }
    }

    fn check_text(&mut self, text: &str, subject: &str, arguments: &[String]) {
        if let Some(finding) = InvisibleChar::describe_first(text) {
            let help = "remove it: a model reads what a person does not see";
            self.add(Lint::HiddenCharacters, arguments, format!("{subject} {finding}"), help);
        }
        if let Some(finding) = find_instruction(text) {
            let help = "review it; describe only the tool, and keep instructions in the program's prompt";
            self.add(Lint::Instructions, arguments, format!("{subject} {finding}"), help);
        }
    }

    fn check_examples(&mut self) {
        for example in &self.spec.examples {
            if let Err(error) = self.spec.check_example(example) {
                let message = format!("an example of the tool `{}` is invalid: {error}", self.spec.name);
                self.add(Lint::Example, &[], message, "correct the example or the schema");
            }
        }
    }
}

#[cfg(test)]
mod tests;
