//! Compiles the program that a command starts, and its arguments.

use serde_json::Value;
use toolgen_core::Text;
use toolgen_core::spec::plan::ArgvTemplate;
use toolgen_core::spec::template::Template;

use super::super::codes;
use super::super::context::Context;
use super::super::keys;
use super::super::node::Node;
use super::super::placeholder::{Placeholder, TemplateSegment};
use super::super::template::{PlaceholderTarget, Scope};
use super::super::tools::Draft;
use super::super::typed_value::Class;
use super::code::{CodeWord, code_words};
use super::starters::starter;
use crate::source::Pointer;

/// Words that only have a meaning in a shell.
const SHELL_OPERATORS: [&str; 11] = ["|", "||", "&&", "&", ";", ">", ">>", "<", "2>", "2>&1", "$("];

impl<'a> Context<'a> {
    /// Returns the arguments and the script of a command; without a script, the first argument is the program.
    pub(super) fn program(
        &mut self,
        draft: &Draft<'a>,
        scope: &mut Scope,
    ) -> Option<(Vec<ArgvTemplate>, Text)> {
        let node = &draft.plan_node;
        let shell = self.flag(node, "shell").unwrap_or(false);
        let (argv, script) = (node.get("argv"), node.get("script"));
        match (&argv, &script) {
            (Some(_), Some(script)) => {
                let message = "a command has either `argv` or `script`";
                self.report(
                    codes::COMMAND,
                    &script.pointer,
                    message,
                    "keep `argv`, unless the command needs a shell",
                );
                None
            }
            (None, None) => {
                let help = if shell { "add `script`" } else { "add `argv: [program, …]`" };
                self.report(codes::COMMAND, &node.pointer, "the command does not name a program", help);
                None
            }
            (None, Some(script)) => {
                if !shell {
                    let message = "a script runs in a shell, which must be declared";
                    self.report(codes::COMMAND, &script.pointer, message, "add `shell: true`, or use `argv`");
                }
                let text = self.text_of(script)?;
                self.check_script(text, draft, script);
                let args = self.list(node, "args").unwrap_or_default();
                let words = self.words(&args, scope);
                Some((words?, Text::from(text.to_owned())))
            }
            (Some(argv), None) => {
                if shell {
                    let message = "`argv` starts a program without a shell";
                    let help = "leave `shell` out, or write a `script`";
                    self.report(codes::COMMAND, &argv.pointer, message, help);
                }
                if let Some(args) = node.get("args") {
                    let message = "`args` needs a `script`";
                    self.report(codes::COMMAND, &args.pointer, message, "append them to `argv`");
                }
                if argv.value.is_string() {
                    self.report_wrong_type(
                        argv,
                        "an array",
                        &format!("write `argv: {}`", argv_of(argv.value)),
                    );
                    return None;
                }
                let items = self.list(node, "argv")?;
                let words = self.words(&items, scope);
                self.check_program(argv, &items, words.as_deref(), scope);
                Some((words?, Text::EMPTY))
            }
        }
    }

    /// Reports a program that an argument of the call would choose, and other problems of `argv`.
    fn check_program(
        &mut self,
        argv: &Node<'a>,
        items: &[Node<'a>],
        words: Option<&[ArgvTemplate]>,
        scope: &mut Scope,
    ) {
        let Some(first) = items.first() else {
            let message = "`argv` is empty, so there is no program";
            self.report(codes::COMMAND, &argv.pointer, message, "write `argv: [program, …]`");
            return;
        };
        let constant = matches!(words.and_then(<[ArgvTemplate]>::first), Some(ArgvTemplate::One { text: Template::Constant(text), .. }) if text != "\"\"");
        if words.is_some() && !constant {
            let message = "the program must be a constant: no argument can choose the program";
            let text = first.value.as_str().unwrap_or_default();
            let help = match text.split_once(char::is_whitespace) {
                Some((program, _)) if !program.contains('{') => {
                    format!("write each argument separately: `argv: {}`", argv_of(first.value))
                }
                _ => "write a tool for each program".to_owned(),
            };
            self.report(codes::COMMAND, &first.pointer, message, help);
        }
        if words.is_some() {
            self.check_code(items, scope);
        }
        if let Some(starter) = starter(words.unwrap_or_default()) {
            let message = format!(
                "`--` ends the options of `{starter}`, not those of the program that `{starter}` starts: a value after it may be one of them"
            );
            let help = "remove `--` if `{starter}` does not need it, or write the program and a second `--` before \
                the values, as in `[…, --, wc, --, \"{file}\"]`";
            let help = help.replace("{starter}", starter);
            self.report(codes::STARTER, &argv.pointer, message, help);
        }
        for item in items {
            let text = item.value.as_str().unwrap_or_default();
            if SHELL_OPERATORS.contains(&text) {
                let message = format!("`{text}` is passed to the program literally: no shell reads `argv`");
                let help = "write `shell: true` and a `script`, or a tool for each program";
                self.report(codes::SHELL_WORD, &item.pointer, message, help);
            }
        }
    }

    /// Reports values that a program runs as code, or may run as code, unless the manifest declares that the complete
    /// argument is code, or that a possible code argument is data.
    fn check_code(&mut self, items: &[Node<'a>], scope: &mut Scope) {
        let items = flatten(items);
        let texts: Vec<&str> =
            items.iter().map(|(item, _)| item.value.as_str().unwrap_or_default()).collect();
        for CodeWord { index, program, help, is_certain, is_started } in code_words(&texts) {
            let (Some((item, is_declared_code)), Some(text)) = (items.get(index), texts.get(index)) else {
                continue;
            };
            let pieces = self.pieces(text, &item.pointer).unwrap_or_default();
            let is_whole = pieces.len() == 1;
            if (*is_declared_code == Some(true) && is_whole)
                || (*is_declared_code == Some(false) && !is_certain)
            {
                continue;
            }
            for piece in &pieces {
                let TemplateSegment::Placeholder(placeholder) = piece else { continue };
                if self.is_fixed(placeholder, &item.pointer, scope) {
                    continue;
                }
                let value_text =
                    if is_whole { (*text).to_owned() } else { format!("{{{}}}", placeholder.path_text()) };
                let code_declaration = format!("{{arg: \"{value_text}\", code: true}}");
                let (message, help) = if !is_certain {
                    let message = format!(
                        "`{value_text}` may be code: nothing declares that `{program}` takes data there"
                    );
                    let data_declaration = format!("{{arg: \"{}\", code: false}}", text.replace('"', "\\\""));
                    (message, format!("write `{data_declaration}` if it does. Otherwise {help}"))
                } else if is_started {
                    let message = format!(
                        "`{value_text}` determines what `{program}` starts: a model, or content that it read, could run \
                         anything"
                    );
                    let hint = if is_whole {
                        format!(". If that is the purpose of the tool, declare it: `{code_declaration}`")
                    } else {
                        String::new()
                    };
                    (message, format!("{help}{hint}"))
                } else if is_whole {
                    let message = format!(
                        "`{program}` runs `{value_text}` as code: a model, or content that it read, could run anything"
                    );
                    (
                        message,
                        format!(
                            "{help}. If that is the purpose of the tool, declare it: `{code_declaration}`"
                        ),
                    )
                } else {
                    let message = format!(
                        "`{value_text}` is part of code that `{program}` runs: its value would also be code"
                    );
                    (message, help.to_owned())
                };
                self.report(codes::SCRIPT, &item.pointer, message, help);
            }
        }
    }

    /// Whether a placeholder is replaced by a number, a boolean or an enumerated string.
    pub(super) fn is_fixed(
        &mut self,
        placeholder: &Placeholder,
        pointer: &Pointer,
        scope: &mut Scope,
    ) -> bool {
        let reference = self.resolve_placeholder(placeholder, pointer, scope);
        reference.and_then(|(_, value_type)| value_type).is_some_and(|value_type| value_type.is_fixed())
    }

    fn words(&mut self, items: &[Node<'a>], scope: &mut Scope) -> Option<Vec<ArgvTemplate>> {
        // All items are read, so that all problems are reported.
        let words: Vec<Option<ArgvTemplate>> = items.iter().map(|item| self.word(item, scope)).collect();
        words.into_iter().collect()
    }

    fn word(&mut self, node: &Node<'a>, scope: &mut Scope) -> Option<ArgvTemplate> {
        match node.value {
            Value::String(text) => self.one_or_each(text, node, false, scope),
            Value::Number(_) => Some(ArgvTemplate::One {
                text: self.template(node, PlaceholderTarget::Texts, scope)?,
                allow_leading_dash: false,
            }),
            Value::Array(_) => {
                let words = self.words(&node.items(), scope)?;
                Some(ArgvTemplate::Group { condition: None, words: words.into() })
            }
            Value::Object(members) if members.contains_key("arg") => {
                self.object(node, &keys::ARGUMENT);
                let allow_dash = self.flag(node, "allow_dash").unwrap_or(false);
                self.flag(node, "code");
                let arg = node.get("arg")?;
                let text = self.text_of(&arg)?;
                self.one_or_each(text, &arg, allow_dash, scope)
            }
            Value::Object(_) => {
                self.object(node, &keys::CONDITIONAL_ARGUMENTS);
                let help =
                    "write `{if: \"{flag}\", args: [--option]}`, or `{arg: \"{name}\", allow_dash: true}`";
                let condition = self.required(node, "if", "a group of arguments", help);
                let condition = condition.and_then(|condition| self.condition(&condition, scope));
                let args = self.required(node, "args", "a group of arguments", help).is_some();
                let args = if args { self.list(node, "args") } else { None };
                let words = args.and_then(|args| self.words(&args, scope));
                Some(ArgvTemplate::Group { condition: Some(condition?), words: words?.into() })
            }
            _ => {
                self.report_wrong_type(
                    node,
                    "a string, an array of arguments that belong together, or an object",
                    "put it in quotes",
                );
                None
            }
        }
    }

    /// Compiles one argument, or an argument for each item of an array: `{names*}`.
    fn one_or_each(
        &mut self,
        text: &str,
        node: &Node<'a>,
        allow_dash: bool,
        scope: &mut Scope,
    ) -> Option<ArgvTemplate> {
        let pointer = &node.pointer;
        let pieces = self.pieces(text, pointer)?;
        if let [TemplateSegment::Placeholder(placeholder @ Placeholder { each: true, .. })] =
            pieces.as_slice()
        {
            let (reference, value_type) = self.resolve_placeholder(placeholder, pointer, scope)?;
            let class = value_type.map_or(Class::Mixed, |value_type| value_type.class());
            if !matches!(class, Class::List | Class::Mixed) {
                let name = placeholder.path_text();
                let message = format!("`{name}` is {}, but `*` needs an array", class.name());
                self.report(codes::PLACEHOLDER_KIND, pointer, message, format!("write `{{{name}}}`"));
                return None;
            }
            return Some(ArgvTemplate::Each {
                list: Template::Value(reference),
                allow_leading_dash: allow_dash,
            });
        }
        let text = self.text_template(text, pointer, PlaceholderTarget::Argument, scope)?;
        Some(ArgvTemplate::One { text, allow_leading_dash: allow_dash })
    }
}

/// Returns the strings of arguments, including those in groups, and whether the manifest declares each as code.
fn flatten<'a>(items: &[Node<'a>]) -> Vec<(Node<'a>, Option<bool>)> {
    let strings_of = |item: &Node<'a>| match item.value {
        Value::Array(_) => flatten(&item.items()),
        Value::Object(members) => match (item.get("arg"), item.get("args")) {
            (Some(text), _) => vec![(text, members.get("code").and_then(Value::as_bool))],
            (None, Some(args)) if args.value.is_array() => flatten(&args.items()),
            (None, args) => args.into_iter().map(|args| (args, None)).collect(),
        },
        _ => vec![(Node { value: item.value, pointer: item.pointer.clone() }, None)],
    };
    items.iter().flat_map(strings_of).collect()
}

/// Returns the likely `argv` for words in another form, such as one string.
pub(super) fn argv_of(value: &Value) -> String {
    let words: Vec<String> = match value {
        Value::String(text) => text.split_whitespace().map(|word| Value::from(word).to_string()).collect(),
        other => other.as_array().into_iter().flatten().map(Value::to_string).collect(),
    };
    format!("[{}]", words.join(", "))
}
