//! Keys that a dialect accepts in place of those that it does not.

use std::borrow::Cow;

use crate::schema::dialect::KeyRule;
use crate::schema::shape::Field;

/// Returns the keys under which fields are written, each one once. A key that the dialect accepts stays.
pub(super) fn written<'s>(fields: &[&'s Field], rule: KeyRule) -> Vec<Cow<'s, str>> {
    let KeyRule::Ascii { also, starts_with_letter, length } = rule else {
        return fields.iter().map(|field| Cow::Borrowed(field.name.as_str())).collect();
    };
    let mut keys: Vec<Cow<'s, str>> = Vec::with_capacity(fields.len());
    for field in fields {
        let name = field.name.as_str();
        if rule.takes(name) {
            keys.push(name.into());
            continue;
        }
        let plain = |c: char| if c.is_ascii_alphanumeric() || also.contains(c) { c } else { '_' };
        let mut base: String = name.chars().map(plain).collect();
        let trimmed = base.trim_matches('_');
        base = if trimmed.is_empty() { String::from("field") } else { trimmed.to_owned() };
        if starts_with_letter && !base.starts_with(|c: char| c.is_ascii_alphabetic()) {
            base.insert(0, '_');
        }
        let is_used = |key: &str| {
            fields.iter().any(|field| field.name == *key) || keys.iter().any(|known| known == key)
        };
        let mut key: String = base.chars().take(length).collect();
        let mut number = 1;
        while is_used(&key) {
            number += 1;
            let end = format!("_{number}");
            key = base.chars().take(length.saturating_sub(end.len())).chain(end.chars()).collect();
        }
        keys.push(key.into());
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::dialect::{ANTHROPIC, GEMINI, JSON_SCHEMA};

    fn keys(names: &[&'static str], rule: KeyRule) -> Vec<String> {
        let fields: Vec<Field> =
            names.iter().map(|name| Field { name: (*name).into(), ..Field::OPTIONAL }).collect();
        let fields: Vec<&Field> = fields.iter().collect();
        written(&fields, rule).into_iter().map(Cow::into_owned).collect()
    }

    #[test]
    fn keys_that_are_not_taken_are_changed_without_a_collision() {
        let names = ["filter[x]", "filter_x", "$select", "größe", "page-size", "$", "[]", "filter{x}"];
        assert_eq!(keys(&names, JSON_SCHEMA.keys), names);
        let anthropic =
            ["filter_x_2", "filter_x", "select", "gr__e", "page-size", "field", "field_2", "filter_x_3"];
        assert_eq!(keys(&names, ANTHROPIC.keys), anthropic);
        assert_eq!(keys(&["1st", "a-b", "a_b"], GEMINI.keys), ["_1st", "a_b_2", "a_b"]);
        let long: &'static str = Box::leak("x".repeat(70).into_boxed_str());
        let longer: &'static str = Box::leak("x".repeat(71).into_boxed_str());
        let cut = keys(&[long, longer], ANTHROPIC.keys);
        assert_eq!((cut[0].len(), cut[1].len(), cut[0] == cut[1]), (64, 64, false));
    }
}
