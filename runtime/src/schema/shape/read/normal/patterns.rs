//! Regular expressions.

use serde_json::Value;

use super::{Object, Reader};
use crate::schema::shape::is_pattern;
use crate::schema::shape::read::{ReadProblemKind, Source};

impl<'a, S: Source<'a>> Reader<'_, S> {
    /// Reads `pattern`. One of another dialect is not enforced, but a model may read it.
    pub(super) fn pattern(&mut self, value: &Value) -> Option<Value> {
        let text = self.text("pattern", value)?;
        let pattern = text.as_str().unwrap_or_default();
        if !self.rules.is_openapi() || is_pattern(pattern) {
            return Some(text);
        }
        let foreign = is_of_other_dialect(pattern);
        if foreign {
            let message =
                format!("`{pattern}` is of another dialect than ECMA-262; it is told, but not checked");
            self.problem(ReadProblemKind::PatternDialect, message);
        } else {
            self.no_pattern(pattern);
        }
        foreign.then_some(text)
    }

    pub(super) fn patterns(&mut self, value: &'a Value) -> Option<Value> {
        let mut read = Object::new();
        for (pattern, schema) in self.map("patternProperties", value)? {
            let schema = self.at(pattern, |reader| {
                if !reader.rules.is_openapi() || is_pattern(pattern) {
                    return Some(reader.schema(schema));
                }
                reader.no_pattern(pattern);
                None
            });
            read.extend(schema.map(|schema| (pattern.clone(), schema)));
        }
        Some(Value::Object(read))
    }

    fn no_pattern(&mut self, pattern: &str) {
        let message = format!("`{pattern}` is no regular expression; it is left out");
        self.problem(ReadProblemKind::Pattern, message);
    }
}

/// Whether a text would be a regular expression without features of other dialects: flags at its start, `\A` and `\z`,
/// atomic groups, named groups and possessive repetitions.
fn is_of_other_dialect(pattern: &str) -> bool {
    const OTHER: [(&str, &str); 8] = [
        ("\\A", "^"),
        ("\\z", "$"),
        ("\\Z", "$"),
        ("(?>", "(?:"),
        ("(?P<", "(?<"),
        ("++", "+"),
        ("*+", "*"),
        ("?+", "?"),
    ];
    let flags = pattern.strip_prefix("(?").and_then(|rest| rest.split_once(')'));
    let rest = flags.filter(|(flags, _)| flags.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'));
    let mut plain = rest.map_or(pattern, |(_, rest)| rest).to_owned();
    for (theirs, ours) in OTHER {
        plain = plain.replace(theirs, ours);
    }
    is_pattern(&plain)
}
