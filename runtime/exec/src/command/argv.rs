//! Builds the command line of a call. No value becomes another argument, an option, or code.

use serde_json::Value;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::engine::arguments::{missing, unusable};
use toolgen_kernel::schema::shape::decode::ArgumentProblemKind;
use toolgen_kernel::spec::plan::{ArgvTemplate, CommandPlan};
use toolgen_kernel::spec::template::{Reference, Scope, Segment, Template, text_of};

/// Returns the program and its arguments.
pub(super) fn argv(plan: &CommandPlan, scope: &Scope<'_>) -> Result<Vec<String>, ToolError> {
    let mut line = CommandLine { scope, words: Vec::new(), options_ended: false };
    if !plan.script.is_empty() {
        // The second `sh` is `$0`; the following words are `$1`, `$2` and so on.
        line.words.extend(["sh", "-c", &plan.script, "sh"].map(str::to_owned));
    }
    for word in &plan.argv {
        line.word(word)?;
    }
    if line.words.is_empty() {
        return Err(ToolError::failed("the command has no program for these arguments"));
    }
    Ok(line.words)
}

/// Returns the string of a template that is not an argument but a variable or a directory.
pub(super) fn text(template: &Template, scope: &Scope<'_>) -> Result<Option<String>, ToolError> {
    let Some(text) = template.fill_text(scope).map_err(missing)? else { return Ok(None) };
    if text.contains('\0') {
        return Err(refused(template, scope, |text| text.contains('\0'), NUL));
    }
    Ok(Some(text))
}

/// Returns the first reference in a template to a value with this defect.
fn culprit<'t>(
    template: &'t Template,
    scope: &Scope<'_>,
    is_wrong: impl Fn(&str) -> bool,
) -> Option<&'t Reference> {
    let mut found = None;
    template.references(&mut |reference| {
        if found.is_none() && scope.find(reference).is_some_and(|value| holds(value, &is_wrong)) {
            found = Some(reference);
        }
    });
    found
}

fn holds(value: &Value, is_wrong: &impl Fn(&str) -> bool) -> bool {
    match value {
        Value::Array(items) if items.iter().any(|item| is_wrong(&text_of(item))) => true,
        value => is_wrong(&text_of(value)),
    }
}

const NUL: &str = "must not contain the character U+0000, which cannot be passed to a program";

fn refused(
    template: &Template,
    scope: &Scope<'_>,
    is_wrong: impl Fn(&str) -> bool,
    message: &str,
) -> ToolError {
    match culprit(template, scope, is_wrong) {
        Some(reference) => unusable(reference, ArgumentProblemKind::Value, message),
        None => {
            ToolError::failed(format!("the command of this tool is invalid: one of its strings {message}"))
        }
    }
}

/// A command line that is being built.
struct CommandLine<'a> {
    scope: &'a Scope<'a>,
    words: Vec<String>,
    /// Whether there was a `--`, after which programs parse no options.
    options_ended: bool,
}

impl CommandLine<'_> {
    /// Adds a word. Returns `false` if it is omitted because an optional value is missing, or an array is empty.
    fn word(&mut self, word: &ArgvTemplate) -> Result<bool, ToolError> {
        match word {
            ArgvTemplate::One { text, allow_leading_dash: dash } => {
                let Some(value) = text.fill_text(self.scope).map_err(missing)? else { return Ok(false) };
                self.add(value, text, *dash)?;
                Ok(true)
            }
            ArgvTemplate::Each { list, allow_leading_dash: dash } => {
                let items = match list.fill(self.scope).map_err(missing)? {
                    None => return Ok(false),
                    Some(Value::Array(items)) => items,
                    Some(single) => vec![single],
                };
                for item in &items {
                    self.add(text_of(item).into_owned(), list, *dash)?;
                }
                Ok(!items.is_empty())
            }
            ArgvTemplate::Group { condition, words } => {
                let holds =
                    |condition: &toolgen_kernel::spec::template::Condition| condition.holds(self.scope);
                if !condition.as_ref().map_or(Ok(true), holds).map_err(missing)? {
                    return Ok(true);
                }
                let before = (self.words.len(), self.options_ended);
                for word in words {
                    if !self.word(word)? {
                        self.words.truncate(before.0);
                        self.options_ended = before.1;
                        break;
                    }
                }
                Ok(true)
            }
        }
    }

    fn add(&mut self, value: String, template: &Template, dash: bool) -> Result<(), ToolError> {
        if value.contains('\0') {
            return Err(refused(template, self.scope, |text| text.contains('\0'), NUL));
        }
        let free = dash || self.options_ended || !starts_with_value(template);
        if value.starts_with('-') && !free {
            let program = self.words.first().map_or("the program", String::as_str);
            let mut message =
                format!("must not begin with `-`, because `{program}` would parse it as an option");
            // A number is never a file name.
            if value.parse::<f64>().is_err() {
                message.push_str("; a file of such a name is `./-…`");
            }
            return Err(refused(template, self.scope, |text| text.starts_with('-'), &message));
        }
        self.options_ended |= value == "--" && is_literal(template);
        self.words.push(value);
        Ok(())
    }
}

/// Whether a template may begin with a value of the call.
fn starts_with_value(template: &Template) -> bool {
    match template {
        Template::Constant(_) => false,
        Template::Text(segments) => {
            let first =
                segments.iter().find(|segment| !matches!(segment, Segment::Literal(text) if text.is_empty()));
            matches!(first, Some(Segment::Value(_)))
        }
        Template::Value(_) | Template::List(_) | Template::Object(_) | Template::With(..) => true,
    }
}

fn is_literal(template: &Template) -> bool {
    let mut literal = true;
    template.references(&mut |_| literal = false);
    literal
}
