//! The rules of a manifest on the calls of its tools: `rules`.

use toolgen_core::ToolSpec;
use toolgen_rules::{Action, Problem, ProblemKind, Rule, Rules, duration};

use super::codes;
use super::context::Context;
use super::keys;
use super::node::Node;
use crate::names::with_namespace;
use crate::problem::Code;
use crate::source::Pointer;
use crate::tool::Program;

const HELP: &str = "write `deny pay when args.amount > 5000`, or an object with `deny`, `ask` or `rate`";

/// A rule with its place in the manifest.
struct Placed {
    rule: Rule,
    item: Pointer,
    /// The place of the condition.
    condition: Pointer,
}

impl<'a> Context<'a> {
    /// Reads the rules, and checks them against all tools of a program that is otherwise complete.
    pub(super) fn lower_rules(&mut self, program: &mut Program) {
        let top = self.top();
        let errors = self.errors;
        let items = self.list(&top, "rules").unwrap_or_default();
        if items.is_empty() && self.errors == errors {
            return;
        }
        let namespace = self.options.namespace.clone().or_else(|| self.namespace_of(&top).map(str::to_owned));
        let read: Vec<Placed> = items.iter().filter_map(|item| self.rule(item)).collect();
        if self.errors > errors {
            deny_all(program, "The rules of the document cannot be read, so that no call is allowed.");
        }
        let mut placed = Vec::new();
        for rule in read {
            for selector in selectors(rule.rule.selector(), namespace.as_deref(), program) {
                match with_selector(&rule.rule, &selector) {
                    Ok(rule_of_tools) => placed.push(Placed {
                        rule: rule_of_tools,
                        item: rule.item.clone(),
                        condition: rule.condition.clone(),
                    }),
                    Err(problem) => self.rule_problem(&rule, &problem),
                }
            }
        }
        let rules: Rules = placed.iter().map(|placed| placed.rule.clone()).collect();
        let tools = program.all_tools();
        let specs: Vec<&ToolSpec> = tools.iter().map(|tool| &tool.spec).collect();
        let wrong = rules.check(specs.iter().copied()).err().map_or_else(Vec::new, |error| error.problems);
        // Tools that could not be compiled are missing, and their rules select nothing. That is an error also then, but
        // the tools that were compiled can be called.
        let is_complete = errors == 0 && !self.imported.incomplete;
        let selects_nothing =
            is_complete && wrong.iter().any(|problem| problem.problem.kind == ProblemKind::UnknownTool);
        let reports = if wrong.is_empty() { rules.reports(specs.iter().copied()) } else { Vec::new() };
        for problem in wrong.iter().chain(&reports) {
            if let Some(placed) = placed.get(problem.rule) {
                self.rule_problem(placed, &problem.problem);
            }
        }
        if selects_nothing {
            deny_all(program, "A rule of the document selects no tool, so that no call is allowed.");
        }
        if program.rules.is_empty() {
            program.rules = placed.into_iter().map(|placed| self.placed(placed)).collect();
            // The tools of some rules may have errors.
            program.retain_rules();
        }
    }

    /// Notes where a rule is, for engineers.
    fn placed(&self, placed: Placed) -> Rule {
        let position = self.document.source.locate(&placed.item);
        let path = &self.document.source.path;
        let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        placed.rule.with_place(format!("{file}:{}", position.line))
    }

    fn rule_problem(&mut self, placed: &Placed, problem: &Problem) {
        let pointer = if problem.span.is_some() { &placed.condition } else { &placed.item };
        let column = problem
            .span
            .map_or_else(String::new, |span| format!(" (at column {} of the condition)", span.start + 1));
        self.report(
            code(problem.kind),
            pointer,
            format!("{}{column}", problem.message),
            problem.help.clone(),
        );
    }

    fn rule(&mut self, node: &Node<'a>) -> Option<Placed> {
        if let Some(line) = node.value.as_str() {
            return match Rule::parse(line) {
                Ok(rule) => {
                    Some(Placed { rule, item: node.pointer.clone(), condition: node.pointer.clone() })
                }
                Err(problem) => self.unreadable(&node.pointer, &problem),
            };
        }
        if !self.object(node, &keys::RULE) {
            return None;
        }
        let kinds: Vec<&str> =
            ["deny", "ask", "rate"].into_iter().filter(|kind| node.get(kind).is_some()).collect();
        let [kind] = kinds.as_slice() else {
            let message = "a rule needs exactly one of `deny`, `ask` and `rate`";
            self.report(codes::RULE, &node.pointer, message, HELP);
            return None;
        };
        let selector = self.text(node, kind);
        let action = self.action(kind, node);
        let when = match node.get("when") {
            Some(when) => Some(self.text_of(&when)?),
            None => None,
        };
        let reason = match node.get("reason") {
            Some(reason) => self.text_of(&reason)?,
            None => "",
        };
        let condition = node.pointer.child("when");
        match Rule::new(action?, selector?, when) {
            Ok(rule) => {
                let rule = rule.with_reason(reason.to_owned());
                Some(Placed { rule, item: node.pointer.clone(), condition })
            }
            Err(problem) => {
                let pointer = if problem.span.is_some() { condition } else { node.pointer.child(kind) };
                self.unreadable(&pointer, &problem)
            }
        }
    }

    fn unreadable<T>(&mut self, pointer: &Pointer, problem: &Problem) -> Option<T> {
        let column = problem
            .span
            .map_or_else(String::new, |span| format!(" (at column {} of the condition)", span.start + 1));
        self.report(codes::RULE, pointer, format!("{}{column}", problem.message), problem.help.clone());
        None
    }

    fn action(&mut self, kind: &str, node: &Node<'a>) -> Option<Action> {
        if kind != "rate" {
            for key in ["limit", "per"] {
                if let Some(member) = node.get(key) {
                    let message = format!("`{key}` belongs to `rate`, not to `{kind}`");
                    self.report(codes::RULE, &member.pointer, message, "leave it out");
                }
            }
            return Some(if kind == "deny" { Action::Deny } else { Action::Ask });
        }
        let help = "write `rate: pay`, `limit: 10` and `per: 1m`";
        let has_limit = self.required(node, "limit", "a rate", help).is_some();
        let window = self.required(node, "per", "a rate", help);
        let limit = if has_limit { self.count(node, "limit") } else { None };
        let window = window?;
        let text = self.text_of(&window)?;
        let Some(per) = duration(text) else {
            let message = format!("`{text}` is not a duration");
            self.report(codes::MEASURE, &window.pointer, message, "write `30s`, `1m` or `2h`");
            return None;
        };
        Some(Action::Rate { limit: u32::try_from(limit?).unwrap_or(u32::MAX), per })
    }
}

/// Denies all calls: a program that loads the manifest nevertheless must not run calls that a rule would have denied.
fn deny_all(program: &mut Program, reason: &'static str) {
    let rule = Rule::new(Action::Deny, "*", None).map(|rule| rule.with_reason(reason));
    program.rules = rule.into_iter().collect();
}

fn code(kind: ProblemKind) -> Code {
    match kind {
        ProblemKind::Never => codes::RULE_NEVER,
        ProblemKind::Shadowed => codes::RULE_SHADOWED,
        ProblemKind::Contradiction => codes::RULE_CONTRADICTION,
        ProblemKind::UnknownName | ProblemKind::Type => codes::RULE_CONDITION,
        _ => codes::RULE,
    }
}

fn with_selector(rule: &Rule, selector: &str) -> Result<Rule, Problem> {
    let changed = Rule::new(rule.action(), selector, rule.condition())?;
    Ok(changed.with_reason(rule.reason().to_owned()))
}

/// Returns the selectors by final names for one that may use the names of the manifest, without its namespace.
fn selectors(selector: &str, namespace: Option<&str>, program: &Program) -> Vec<String> {
    let with_name = |name: &str| -> String {
        let words = selector.split_whitespace().map(|word| if word.contains(':') { word } else { name });
        words.collect::<Vec<_>>().join(" ")
    };
    let mut names = selector.split_whitespace().filter(|word| !word.contains(':'));
    let (Some(name), None) = (names.next(), names.next()) else { return vec![selector.to_owned()] };
    let matches = |pattern: &str, name: &str| {
        let spec = |name: &str| toolgen_core::ToolName::parse(name.to_owned()).ok();
        spec(name).is_some_and(|name| {
            Rule::new(Action::Deny, pattern, None)
                .is_ok_and(|rule| rule.selects(&ToolSpec { name, ..ToolSpec::EMPTY }))
        })
    };
    // The tools that the name selects only without their namespace, or before they were renamed.
    let local: Vec<&str> = program
        .tools
        .iter()
        .filter(|tool| matches(name, &tool.origin.id) && !matches(name, tool.spec.name.as_str()))
        .map(|tool| tool.spec.name.as_str())
        .collect();
    let mut all = Vec::new();
    if local.is_empty() || program.all_tools().iter().any(|tool| matches(name, tool.spec.name.as_str())) {
        all.push(selector.to_owned());
    }
    let prefixed = namespace.map(|namespace| with_namespace(namespace, name));
    match prefixed.filter(|prefixed| !local.is_empty() && local.iter().all(|name| matches(prefixed, name))) {
        Some(prefixed) => all.push(with_name(&prefixed)),
        None => all.extend(local.into_iter().map(with_name)),
    }
    all
}
