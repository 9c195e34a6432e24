//! Redaction for approvers: all arguments are shown, with secrets replaced by their lengths.
//!
//! A model writes the arguments, and wants them approved. So nothing is hidden because of the surrounding words, which
//! the model chooses, and no array or object is hidden because of its name. Only strings are hidden: those that a tool
//! declares secret, those under a secret key, and those that consist only of a token.

use serde_json::Value;

use super::rules::RedactionRules;
use super::scan;
use super::{REDACTED, Redactor, Secrets, ToolRedactor};

/// Maximum depth of the arguments that people approve.
const MAX_DEPTH: usize = 64;

/// Maximum size of the JSON that people are shown, in bytes.
const MAX_JSON_BYTES: usize = 1024 * 1024;

impl ToolRedactor {
    /// Returns the arguments as approvers see them.
    ///
    /// # Errors
    ///
    /// Returns the reason why they cannot be shown in full, as part of a sentence.
    pub(crate) fn for_approval(&self, arguments: &Value) -> Result<Value, String> {
        if !is_within(arguments, MAX_DEPTH) {
            return Err(format!("its arguments are nested more than {MAX_DEPTH} levels deep"));
        }
        let mut visible = arguments.clone();
        if let Some(rules) = self.redactor.active_rules() {
            if let Some(input) = &self.input {
                input.hide_leaves(&mut visible);
            }
            rules.hide_strings(&mut visible);
        }
        match visible.to_string().len() {
            0..=MAX_JSON_BYTES => Ok(visible),
            length => Err(format!("its arguments are {length} bytes long; the maximum is {MAX_JSON_BYTES}")),
        }
    }
}

impl Redactor {
    /// Returns a reason for an approval without secrets, except for those that are visible in the shown arguments.
    ///
    /// # Errors
    ///
    /// Returns the reason why it cannot be shown, as part of a sentence.
    pub(crate) fn reason(&self, reason: &str, visible: &Value, secrets: &Secrets) -> Result<String, String> {
        let Some(rules) = self.active_rules() else { return Ok(reason.to_owned()) };
        if secrets.are_too_many() {
            return Err(
                "its arguments hold too many secrets to keep all of them out of the reason".to_owned()
            );
        }
        let redacted = secrets.absent_from(visible).replace(reason);
        let reason = redacted.as_deref().unwrap_or(reason);
        Ok(scan::mask_issued_tokens(reason, &rules.prefixes).unwrap_or_else(|| reason.to_owned()))
    }
}

impl RedactionRules {
    /// Hides strings under secret keys, and tokens in all other strings.
    fn hide_strings(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(clean) = scan::mask_issued_tokens(text, &self.prefixes) {
                    *text = clean;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide_strings(item)),
            Value::Object(fields) => {
                for (key, value) in fields {
                    match value {
                        value if !self.keys.holds(key) => self.hide_strings(value),
                        Value::Number(number) => {
                            *value = Value::from(scan::mask_with_length(&number.to_string()));
                        }
                        value => hide_all_strings(value),
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Hides every string in a value, and nothing else.
fn hide_all_strings(value: &mut Value) {
    match value {
        // This string is already hidden because it is declared as a secret.
        Value::String(text) if text == REDACTED => {}
        Value::String(text) => *text = scan::mask_with_length(text),
        Value::Array(items) => items.iter_mut().for_each(hide_all_strings),
        Value::Object(fields) => fields.values_mut().for_each(hide_all_strings),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether a value is nested at most `depth` levels deep.
fn is_within(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(_) | Value::Object(_) if depth == 0 => false,
        Value::Array(items) => items.iter().all(|item| is_within(item, depth - 1)),
        Value::Object(fields) => fields.values().all(|value| is_within(value, depth - 1)),
        _ => true,
    }
}
