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
        line.add_word(word)?;
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
        return Err(invalid_argument(template, scope, |text| text.contains('\0'), NUL));
    }
    Ok(Some(text))
}

/// Returns the first reference in a template to a value with this defect.
fn culprit<'t>(
    template: &'t Template,
    scope: &Scope<'_>,
    has_defect: impl Fn(&str) -> bool,
) -> Option<&'t Reference> {
    let mut first = None;
    template.references(&mut |reference| {
        if first.is_none() && scope.find(reference).is_some_and(|value| contains_defect(value, &has_defect)) {
            first = Some(reference);
        }
    });
    first
}

fn contains_defect(value: &Value, has_defect: &impl Fn(&str) -> bool) -> bool {
    match value {
        Value::Array(items) if items.iter().any(|item| has_defect(&text_of(item))) => true,
        value => has_defect(&text_of(value)),
    }
}

const NUL: &str = "must not contain the character U+0000, which cannot be passed to a program";

fn invalid_argument(
    template: &Template,
    scope: &Scope<'_>,
    has_defect: impl Fn(&str) -> bool,
    message: &str,
) -> ToolError {
    match culprit(template, scope, has_defect) {
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
    fn add_word(&mut self, word: &ArgvTemplate) -> Result<bool, ToolError> {
        match word {
            ArgvTemplate::One { text, allow_leading_dash: allow_dash } => {
                let Some(value) = text.fill_text(self.scope).map_err(missing)? else { return Ok(false) };
                self.add(value, text, *allow_dash)?;
                Ok(true)
            }
            ArgvTemplate::Each { list, allow_leading_dash: allow_dash } => {
                let items = match list.fill(self.scope).map_err(missing)? {
                    None => return Ok(false),
                    Some(Value::Array(items)) => items,
                    Some(single) => vec![single],
                };
                for item in &items {
                    self.add(text_of(item).into_owned(), list, *allow_dash)?;
                }
                Ok(!items.is_empty())
            }
            ArgvTemplate::Group { condition, words } => {
                let is_met =
                    |condition: &toolgen_kernel::spec::template::Condition| condition.holds(self.scope);
                if !condition.as_ref().map_or(Ok(true), is_met).map_err(missing)? {
                    return Ok(true);
                }
                let saved = (self.words.len(), self.options_ended);
                for word in words {
                    if !self.add_word(word)? {
                        self.words.truncate(saved.0);
                        self.options_ended = saved.1;
                        break;
                    }
                }
                Ok(true)
            }
        }
    }

    fn add(&mut self, value: String, template: &Template, allow_dash: bool) -> Result<(), ToolError> {
        if value.contains('\0') {
            return Err(invalid_argument(template, self.scope, |text| text.contains('\0'), NUL));
        }
        let is_allowed = allow_dash || self.options_ended || !starts_with_value(template);
        if value.starts_with('-') && !is_allowed {
            let program = self.words.first().map_or("the program", String::as_str);
            let mut message =
                format!("must not begin with `-`, because `{program}` would parse it as an option");
            // A number is never a file name.
            if value.parse::<f64>().is_err() {
                message.push_str("; a file of such a name is `./-…`");
            }
            return Err(invalid_argument(template, self.scope, |text| text.starts_with('-'), &message));
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
    let mut has_no_references = true;
    template.references(&mut |_| has_no_references = false);
    has_no_references
}
