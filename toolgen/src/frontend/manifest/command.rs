//! Compiles tools that start a program.

mod code;
mod starters;
mod variables;
mod words;

use serde_json::Value;
use toolgen_core::spec::Effects;
use toolgen_core::spec::plan::{CommandOutput, CommandPlan, ExitCode, Stdin};
use toolgen_core::spec::template::Template;
use toolgen_core::{ExecutionPlan, List, Text};

use self::variables::determines_code;
use self::words::argv_of;
use super::attributes::argument_names;
use super::calls::Lowered;
use super::codes;
use super::context::Context;
use super::keys;
use super::node::Node;
use super::template::{PlaceholderTarget, Scope};
use super::tools::Draft;
use crate::source::Pointer;

impl<'a> Context<'a> {
    /// Compiles a plan that starts a program.
    pub(super) fn command(&mut self, draft: &Draft<'a>, scope: &mut Scope) -> Lowered {
        let call = self.command_plan(draft, scope).map(ExecutionPlan::Command);
        let uses_all_arguments =
            matches!(&call, Some(ExecutionPlan::Command(plan)) if plan.stdin == Stdin::Arguments);
        Lowered { call, effects: Effects::UNDECLARED, uses_all_arguments }
    }

    fn command_plan(&mut self, draft: &Draft<'a>, scope: &mut Scope) -> Option<CommandPlan> {
        let node = &draft.plan_node;
        if matches!(node.value, Value::String(_) | Value::Array(_)) {
            let argv = argv_of(node.value);
            self.report_wrong_type(node, "an object", &format!("write `command: {{argv: {argv}}}`"));
            return None;
        }
        if !self.object(node, &keys::COMMAND) {
            return None;
        }
        self.check_constants(node);
        let (argv, script) = self.program(draft, scope)?;
        let limits = node.get("limits");
        if let Some(limits) = &limits {
            self.object(limits, &keys::LIMITS);
        }
        let limit = |key: &str| limits.as_ref().and_then(|limits| limits.get(key));
        let cpus = limit("cpus").and_then(|node| self.positive_number(&node));
        let memory = limit("memory").and_then(|node| self.size(&node));
        let pids = limits.as_ref().and_then(|limits| self.count(limits, "pids"));
        let outputs = [
            ("text", CommandOutput::Text),
            ("json", CommandOutput::Json),
            ("json_lines", CommandOutput::JsonLines),
            ("envelope", CommandOutput::Envelope),
        ];
        Some(CommandPlan {
            argv: argv.into(),
            script,
            stdin: self.stdin(node, scope),
            env: self.variables(node, scope),
            inherit: self.inherited_variables(node),
            work_dir: node.get("cwd").and_then(|node| {
                let text = self.text_of(&node)?;
                self.text_template(text, &node.pointer, PlaceholderTarget::Directory, scope)
            }),
            output: self.choice(node, "output", &outputs).unwrap_or(CommandOutput::Text),
            exit_codes: self.exit_codes(node),
            stream: self.flag(node, "stream").unwrap_or(false),
            max_output: node.get("max_output").and_then(|node| self.size(&node)).unwrap_or_default(),
            cpus,
            memory,
            pids: pids.map(|count| u32::try_from(count).unwrap_or(u32::MAX).max(1)),
            programs: self
                .texts(node, "programs")
                .unwrap_or_default()
                .into_iter()
                .map(|(name, _)| Text::from(name.to_owned()))
                .collect(),
        })
    }

    /// Rejects constants that make every call fail: a NUL in the command, and a `cwd` that is not below the work
    /// directory.
    fn check_constants(&mut self, node: &Node<'a>) {
        let command_parts =
            ["argv", "script", "args", "env", "cwd"].into_iter().filter_map(|key| node.get(key));
        for (_, pointer) in command_parts.flat_map(strings_in).filter(|(text, _)| text.contains('\0')) {
            let message = "the arguments of a program cannot contain a NUL";
            self.report(
                codes::COMMAND,
                &pointer,
                message,
                "remove it; standard input (`stdin`) may contain one",
            );
        }
        let Some((text, cwd)) = node.get("cwd").and_then(|cwd| Some((cwd.value.as_str()?, cwd))) else {
            return;
        };
        let has_parent_segment = text.split(['/', '\\']).any(|part| part == "..");
        if has_parent_segment || text.starts_with('/') {
            let reason = if has_parent_segment { "leads upwards with `..`" } else { "is an absolute path" };
            let help = "name a directory below the work directory, which your program sets";
            self.report(codes::COMMAND, &cwd.pointer, format!("`cwd: {text}` {reason}"), help);
        }
    }

    fn positive_number(&mut self, node: &Node<'a>) -> Option<f64> {
        let number = node.value.as_f64().filter(|number| *number > 0.0);
        if number.is_none() {
            self.report_wrong_type(node, "a positive number", "");
        }
        number
    }

    fn stdin(&mut self, node: &Node<'a>, scope: &mut Scope) -> Stdin {
        const HELP: &str = "write `stdin: arguments` or `stdin: {text: \"{name}\"}`";
        let Some(stdin) = node.get("stdin") else { return Stdin::Nothing };
        match stdin.value {
            Value::String(text) if text == "arguments" => Stdin::Arguments,
            Value::Object(_) => {
                self.object(&stdin, &keys::STDIN);
                let text = self.required(&stdin, "text", "`stdin`", HELP);
                let text = text.and_then(|text| self.scalar_template(&text, scope));
                text.map_or(Stdin::Nothing, Stdin::Text)
            }
            _ => {
                self.report_wrong_type(&stdin, "`arguments`, or an object with a `text`", HELP);
                Stdin::Nothing
            }
        }
    }

    /// Compiles a string with placeholders, or a number or a boolean as a string.
    pub(super) fn scalar_template(&mut self, node: &Node<'a>, scope: &mut Scope) -> Option<Template> {
        match node.value {
            Value::String(text) => self.text_template(text, &node.pointer, PlaceholderTarget::Text, scope),
            Value::Number(_) | Value::Bool(_) => self.template(node, PlaceholderTarget::Texts, scope),
            _ => {
                self.report_wrong_type(node, "a string", "");
                None
            }
        }
    }

    fn exit_codes(&mut self, node: &Node<'a>) -> List<ExitCode> {
        const HELP: &str = "write `1: What it means.` for a failure, or `1: {success: true, message: …}`";
        let mut codes = Vec::new();
        for (key, meaning) in self.object_members(node, "exit_codes", "meanings") {
            let code = match key {
                "other" => Some(ExitCode::OTHER),
                key => key.parse::<i32>().ok().filter(|code| (0..=255).contains(code)),
            };
            let Some(code) = code else {
                let message = format!("`{key}` is not an exit code: an integer from 0 to 255, or `other`");
                self.report(codes::EXIT_CODE, &meaning.pointer, message, HELP);
                continue;
            };
            let (success, message) = match meaning.value {
                Value::String(text) => (false, text.as_str()),
                Value::Object(_) => {
                    self.object(&meaning, &keys::EXIT_CODE);
                    let success = self.flag(&meaning, "success").unwrap_or(code == 0);
                    (success, self.text(&meaning, "message").unwrap_or_default())
                }
                _ => {
                    self.report_wrong_type(&meaning, "a string, or an object", HELP);
                    continue;
                }
            };
            codes.push(ExitCode { code, success, message: Text::from(message.to_owned()) });
        }
        codes.into()
    }

    /// Reports placeholders in a script, whose values a shell would read as code.
    fn check_script(&mut self, script: &str, draft: &Draft<'a>, script_node: &Node<'a>) {
        for name in argument_names(&draft.spec) {
            if script.contains(&format!("{{{name}}}")) || script.contains(&format!("{{{name}?}}")) {
                let message =
                    format!("`{{{name}}}` is part of the script, where a shell would read its value as code");
                let variable = name.to_uppercase();
                let variable = if determines_code(&variable) { format!("ARG_{variable}") } else { variable };
                let help = format!(
                    "write `\"${variable}\"` and `env: {{{variable}: \"{{{name}}}\"}}`, or `\"$1\"` and `args: [\"{{{name}}}\"]`"
                );
                self.report(codes::SCRIPT, &script_node.pointer, message, help);
            }
        }
    }
}

/// Returns the strings in a value, with their locations.
fn strings_in(node: Node<'_>) -> Vec<(&str, Pointer)> {
    match node.value {
        Value::String(text) => vec![(text.as_str(), node.pointer)],
        Value::Array(_) => node.items().into_iter().flat_map(strings_in).collect(),
        Value::Object(_) => node.entries().into_iter().flat_map(|(_, member)| strings_in(member)).collect(),
        _ => Vec::new(),
    }
}
