//! Reports placeholders that are invalid in their position.

use crate::frontend::manifest::codes;
use crate::frontend::manifest::context::{Context, suggest_name};
use crate::frontend::manifest::placeholder::Placeholder;
use crate::frontend::manifest::template::PlaceholderTarget;
use crate::frontend::manifest::typed_value::{Class, TypedValue};
use crate::source::Pointer;

/// The reason why a value may be missing.
#[derive(Clone, Copy, Debug)]
pub(super) enum AbsenceReason {
    /// The argument is optional.
    Argument,
    /// The array may be too short to contain the item.
    Item,
    /// The step may be skipped, or fail.
    Step,
    /// The result of the step may lack the member.
    Member,
}

impl AbsenceReason {
    /// Returns a description of the value, and an alternative to writing a `?`.
    fn explanation(self) -> (&'static str, &'static str) {
        match self {
            AbsenceReason::Argument => ("is optional", "make the argument required, or give it a default"),
            AbsenceReason::Item => {
                ("is an item of an array that may be shorter", "set `minItems` in the schema of the array")
            }
            AbsenceReason::Step => (
                "belongs to a step that may be skipped or fail",
                "make the step unconditional, without `if` and `on_error: continue`",
            ),
            AbsenceReason::Member => {
                ("may be missing in the result of the step", "require it in the `output` of the step's tool")
            }
        }
    }
}

impl Context<'_> {
    /// Reports a placeholder for a value that may be missing.
    pub(super) fn report_optional_value(
        &mut self,
        placeholder: &Placeholder,
        reason: AbsenceReason,
        pointer: &Pointer,
    ) {
        let (name, star) = (placeholder.path_text(), if placeholder.each { "*" } else { "" });
        let (description, alternative) = reason.explanation();
        let message = format!("`{name}` {description}, so a call may have no value for `{{{name}{star}}}`");
        let help =
            format!("write `{{{name}?{star}}}`, which omits the surrounding element; or {alternative}");
        self.report(codes::OPTIONAL_PLACEHOLDER, pointer, message, help);
    }

    /// Reports a member that a placeholder names but its value does not have.
    pub(super) fn report_unknown_member(
        &mut self,
        prefix: &str,
        key: &str,
        names: &[String],
        class: Class,
        pointer: &Pointer,
    ) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (message, help) = match class {
            Class::List => (
                format!("`{prefix}` is an array, which has no member `{key}`"),
                format!("write the index of an item, as in `{{{prefix}.0}}`"),
            ),
            Class::Object => (format!("`{prefix}` has no member `{key}`"), suggest_name(key, &names)),
            other => (
                format!("`{prefix}` is {}, which has no members", other.name()),
                // The result of a request is only known from the `output` of its tool.
                match prefix.strip_prefix("steps.").filter(|_| other == Class::Text) {
                    Some(step) => format!(
                        "write `{{{prefix}}}`, or declare the `output` of the tool that the step `{step}` calls"
                    ),
                    None => format!("write `{{{prefix}}}`"),
                },
            ),
        };
        self.report(codes::PLACEHOLDER_PATH, pointer, message, help);
    }

    /// Reports an array or an object that becomes part of a string.
    pub(super) fn check_inline(
        &mut self,
        placeholder: &Placeholder,
        value_type: Option<&TypedValue>,
        pointer: &Pointer,
        target: PlaceholderTarget,
    ) {
        let class = value_type.map_or(Class::Mixed, TypedValue::class);
        if matches!(class, Class::List | Class::Object) {
            let name = placeholder.path_text();
            let message = format!("`{name}` is {}, so the string contains its JSON", class.name());
            let help = match class {
                Class::List => {
                    let hint = match target {
                        PlaceholderTarget::Argument => {
                            format!("; `{{{name}*}}` alone becomes one argument per item")
                        }
                        PlaceholderTarget::Url => {
                            "; under `query`, an array becomes one pair per item".to_owned()
                        }
                        PlaceholderTarget::Json
                        | PlaceholderTarget::Texts
                        | PlaceholderTarget::Text
                        | PlaceholderTarget::Directory => String::new(),
                    };
                    format!("name one item, as in `{{{name}.0}}`{hint}")
                }
                _ => format!("name one member, as in `{{{name}.NAME}}`"),
            };
            self.report(codes::INLINE_JSON, pointer, message, help);
        }
    }
}
