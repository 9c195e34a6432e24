//! Inserts tool documentation into a prompt template of your program.

use std::fmt;

/// The error for a prompt that cannot be filled: all problems, in order.
#[derive(Clone, PartialEq, Eq)]
pub struct TemplateError {
    /// The problems.
    pub problems: Vec<TemplateProblem>,
}

/// A problem of a prompt template.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TemplateProblem {
    /// There is no value of this name: `no value for '{{.Name}}'`.
    NoValue(String),
    /// The text between braces is not a valid name: `'{{…}}' is not a place for a value`.
    InvalidPlaceholder(String),
    /// A placeholder is not closed: `'{{' without '}}'`.
    Open,
}

/// Fills the placeholders of a prompt, `{{.Name}}` or `{{ .Name }}`, with values.
///
/// ```
/// let prompt = "You are a coder.\n\n{{.ToolDocumentation}}\nTask: {{ .TaskContent }}";
/// let tools = "## Available Tools\n\n- **shell** - Runs a command.\n";
/// let values = [("ToolDocumentation", tools), ("TaskContent", "Build it.")];
/// let filled = toolgen_runtime::spec::docs::fill(prompt, &values)?;
/// assert!(filled.ends_with("- **shell** - Runs a command.\n\nTask: Build it."));
/// # Ok::<(), toolgen_runtime::spec::docs::TemplateError>(())
/// ```
///
/// A value is inserted unchanged: placeholders in it are not filled, so a task cannot request another value. A name
/// may contain dots, as in `{{.Extra.Branch}}`. No other template features are supported.
///
/// # Errors
///
/// Returns every placeholder without a value, and every invalid placeholder. A prompt is never returned half filled.
pub fn fill(template: &str, values: &[(&str, &str)]) -> Result<String, TemplateError> {
    let (mut out, mut rest) = (String::with_capacity(template.len()), template);
    let mut problems = Vec::new();
    while let Some((before, after_open)) = rest.split_once("{{") {
        out.push_str(before);
        let Some((placeholder, after)) = after_open.split_once("}}") else {
            problems.push(TemplateProblem::Open);
            break;
        };
        rest = after;
        match placeholder_name(placeholder) {
            None => problems.push(TemplateProblem::InvalidPlaceholder(placeholder.to_owned())),
            Some(name) => match values.iter().find(|(key, _)| *key == name) {
                Some((_, value)) => out.push_str(value),
                None => problems.push(TemplateProblem::NoValue(name.to_owned())),
            },
        }
    }
    out.push_str(rest);
    if problems.is_empty() { Ok(out) } else { Err(TemplateError { problems }) }
}

fn placeholder_name(placeholder: &str) -> Option<&str> {
    let name = placeholder.trim().strip_prefix('.')?;
    let is_identifier =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
    name.split('.').all(is_identifier).then_some(name)
}

impl fmt::Display for TemplateProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TemplateProblem::NoValue(name) => write!(f, "no value for '{{{{.{name}}}}}'"),
            TemplateProblem::InvalidPlaceholder(placeholder) => {
                write!(f, "'{{{{{placeholder}}}}}' is not a place for a value")
            }
            TemplateProblem::Open => f.write_str("'{{' without '}}'"),
        }
    }
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let line_break = if index == 0 { "" } else { "\n" };
            write!(f, "{line_break}{problem}")?;
        }
        Ok(())
    }
}

__readable_debug!(TemplateError);

impl std::error::Error for TemplateError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_and_values_not_expanded() {
        let values = [
            ("TaskContent", "say {{.TreeOutput}}"),
            ("TreeOutput", "src/"),
            ("Extra.Branch", "main"),
            ("ToolDocumentation", "- **a** - b\n"),
            ("ContainerName", ""),
        ];
        let cases = [
            ("", ""),
            ("no places { } }}", "no places { } }}"),
            ("{{.TreeOutput}}{{ .Extra.Branch }}", "src/main"),
            ("<{{.TaskContent}}>", "<say {{.TreeOutput}}>"),
            ("[{{.ContainerName}}]", "[]"),
            ("## Tools\n{{\t.ToolDocumentation\n}}ü", "## Tools\n- **a** - b\nü"),
        ];
        for (template, filled) in cases {
            assert_eq!(fill(template, &values).as_deref(), Ok(filled));
        }
    }

    #[test]
    fn invalid_template_reports_all_problems() {
        let template = "{{.A}} {{if .B}} {{.B}} {{.}} {{.A.}} {{B}} {{.B";
        let message = "\
no value for '{{.A}}'
'{{if .B}}' is not a place for a value
'{{.}}' is not a place for a value
'{{.A.}}' is not a place for a value
'{{B}}' is not a place for a value
'{{' without '}}'";
        assert_eq!(fill(template, &[("B", "b")]).unwrap_err().to_string(), message);
    }
}
