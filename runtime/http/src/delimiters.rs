//! Detects values that a service would split differently: a member that contains the delimiter of members.
//!
//! Styles that percent-encode members but not their delimiter, such as `form` with its commas, are safe. In
//! `spaceDelimited`, `pipeDelimited` and with tabs, the delimiter looks the same within a member (OpenAPI 3.1, "Style
//! Examples"), and nothing is encoded in headers and in parts of forms.

use serde_json::Value;
use toolgen_kernel::spec::plan::{Encoding, Location, Style};

use super::request::{RequestProblem, RequestProblemKind};
use super::style;

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WireForm {
    /// As one encoded string.
    Path,
    /// As one string that is not encoded.
    Header,
    /// As encoded pairs.
    Pairs,
    /// As parts that are not encoded.
    Parts,
}

impl From<Location> for WireForm {
    fn from(location: Location) -> Self {
        match location {
            Location::Path => WireForm::Path,
            Location::Header => WireForm::Header,
            Location::Query | Location::Cookie => WireForm::Pairs,
        }
    }
}

/// Returns the problem of a value that the service would not receive unchanged.
pub(super) fn delimiter_problem(
    argument: &str,
    value: &Value,
    encoding: &Encoding,
    wire_form: WireForm,
) -> Option<RequestProblem> {
    let Encoding::Style { style, explode, allow_reserved } = encoding else { return None };
    let message = if *style == Style::DeepObject {
        let message = "must not be empty or contain `[` or `]`: the request writes keys in brackets";
        has_bracket(value).then(|| format!("a key in `{argument}` {message}"))
    } else {
        let (delimiter, name, plural) = delimiter(*style, *explode, *allow_reserved, wire_form)?;
        let message = || {
            format!(
                "a member of `{argument}` must not contain {name}: the request separates members by {plural}"
            )
        };
        let equals = *explode && wire_form == WireForm::Header && has_key_with_equals(value);
        match contains_delimiter(value, delimiter) {
            true => Some(message()),
            false => equals.then(|| {
                format!(
                    "a key in `{argument}` must not contain `=`: the request separates keys and values by it"
                )
            }),
        }
    };
    let kind = match wire_form {
        WireForm::Header => RequestProblemKind::Header,
        WireForm::Path | WireForm::Pairs | WireForm::Parts => RequestProblemKind::Arguments,
    };
    message.map(|message| RequestProblem::new(kind, argument, message))
}

/// Returns the delimiter that cannot be distinguished within a member, with its name and its plural.
fn delimiter(
    style: Style,
    explode: bool,
    allow_reserved: bool,
    wire_form: WireForm,
) -> Option<(char, &'static str, &'static str)> {
    let is_repeated = explode && matches!(wire_form, WireForm::Pairs | WireForm::Parts);
    let is_encoded = matches!(wire_form, WireForm::Path | WireForm::Pairs)
        && !(allow_reserved && wire_form == WireForm::Pairs);
    match style {
        _ if is_repeated => None,
        Style::SpaceDelimited => Some((' ', "a space", "spaces")),
        Style::PipeDelimited => Some(('|', "`|`", "`|`")),
        Style::TabDelimited => Some(('\t', "a tab", "tabs")),
        Style::Label if explode => Some(('.', "a dot", "dots")),
        _ if is_encoded => None,
        _ => Some((',', "a comma", "commas")),
    }
}

/// Whether a member of an array or an object contains a delimiter.
fn contains_delimiter(value: &Value, delimiter: char) -> bool {
    let has_delimiter = |member: &Value| !member.is_null() && style::text(member).contains(delimiter);
    match value {
        Value::Array(items) => items.iter().any(has_delimiter),
        Value::Object(fields) => fields
            .iter()
            .any(|(key, value)| !value.is_null() && (key.contains(delimiter) || has_delimiter(value))),
        _ => false,
    }
}

fn has_key_with_equals(value: &Value) -> bool {
    value.as_object().is_some_and(|fields| fields.keys().any(|key| key.contains('=')))
}

/// Whether a key at any level is empty, which would mark an array, or contains a bracket.
fn has_bracket(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.iter().any(|(key, value)| {
            !value.is_null() && (key.is_empty() || key.contains(['[', ']']) || has_bracket(value))
        }),
        Value::Array(items) => items.iter().any(has_bracket),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn encodings_reject_values_that_would_not_round_trip() {
        use WireForm::{Header, Pairs, Parts, Path};
        let encoding = |style, explode, allow_reserved| Encoding::Style { style, explode, allow_reserved };
        let reported = |value: &Value, encoding, wire_form| {
            delimiter_problem("x", value, &encoding, wire_form).is_some()
        };
        for (style, member) in
            [(Style::SpaceDelimited, "a b"), (Style::PipeDelimited, "a|b"), (Style::TabDelimited, "a\tb")]
        {
            for wire_form in [Path, Header, Pairs, Parts] {
                let list = json!([member, "c"]);
                assert!(reported(&list, encoding(style, false, false), wire_form), "{style:?} {wire_form:?}");
                assert!(reported(&json!({"k": member}), encoding(style, false, false), wire_form));
                assert!(reported(&json!({member: "v"}), encoding(style, false, false), wire_form));
                assert!(!reported(&json!(["a,b", "c"]), encoding(style, false, false), wire_form));
                assert!(!reported(&json!(member), encoding(style, false, false), wire_form));
            }
            assert!(!reported(&json!([member, "c"]), encoding(style, true, false), Pairs));
            assert!(!reported(&json!([member, "c"]), encoding(style, true, false), Parts));
        }
        let commas = json!(["a,b", "c"]);
        // The delimiter is a comma, and a comma in a member is `%2C` (RFC 6570, 3.2.1).
        assert!(!reported(&commas, encoding(Style::Form, false, false), Pairs));
        assert!(!reported(&commas, encoding(Style::Simple, false, false), Path));
        assert!(!reported(&commas, encoding(Style::Label, false, false), Path));
        assert!(!reported(&commas, encoding(Style::Matrix, false, false), Path));
        assert!(!reported(&commas, encoding(Style::Simple, false, true), Path));
        assert!(reported(&commas, encoding(Style::Form, false, true), Pairs));
        assert!(reported(&commas, encoding(Style::Form, false, false), Parts));
        assert!(reported(&commas, encoding(Style::Simple, true, false), Header));
        assert!(!reported(&commas, encoding(Style::Form, true, true), Pairs));
        // A dot is not encoded in a path.
        assert!(reported(&json!(["1.5", "2"]), encoding(Style::Label, true, false), Path));
        assert!(reported(&json!({"a": 1.5}), encoding(Style::Label, true, false), Path));
        assert!(!reported(&json!(1.5), encoding(Style::Label, true, false), Path));
        assert!(!reported(&json!(["1.5"]), encoding(Style::Label, false, false), Path));
        assert!(reported(&json!({"a=b": "c"}), encoding(Style::Simple, true, false), Header));
        assert!(!reported(&json!({"a": "b=c"}), encoding(Style::Simple, true, false), Header));
        for invalid in [json!({"a]": 1}), json!({"a": {"[": 1}}), json!([{"": 1}])] {
            assert!(reported(&invalid, encoding(Style::DeepObject, true, false), Pairs), "{invalid}");
        }
        assert!(!reported(&json!({"a.b": {"c d": "[x]"}}), encoding(Style::DeepObject, true, false), Pairs));
    }
}
