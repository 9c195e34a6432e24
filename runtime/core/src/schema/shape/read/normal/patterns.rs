//! Regular expressions.

use serde_json::Value;

use super::regex_translation::{Foreign, is_misread, rewrite};
use super::{Object, Reader};
use crate::base::truncate::cut;
use crate::schema::shape::read::{ReadProblemKind, Source};
use crate::schema::shape::{is_pattern, pattern};

/// Maximum length of a pattern in a problem, in characters.
const MAX_PATTERN_SHOWN: usize = 200;

impl<'a, S: Source<'a>> Reader<'_, S> {
    /// Reads `pattern`. A pattern of another dialect is translated. If it cannot be translated, it is not enforced,
    /// but a model may read it.
    pub(super) fn pattern(&mut self, value: &Value) -> Option<Value> {
        let text = self.text("pattern", value)?;
        let pattern = text.as_str().unwrap_or_default();
        match self.dialect(pattern) {
            Dialect::Ours => {
                self.untried(pattern);
                Some(text)
            }
            Dialect::Rewritten(pattern) => Some(Value::String(pattern)),
            Dialect::Other => {
                let pattern = cut(pattern, MAX_PATTERN_SHOWN);
                let message =
                    format!("`{pattern}` is of another dialect than ECMA-262; it is shown, but not checked");
                self.problem(ReadProblemKind::PatternDialect, message);
                Some(text)
            }
            Dialect::Unknown => {
                self.no_pattern(pattern);
                None
            }
        }
    }

    pub(super) fn patterns(&mut self, value: &'a Value) -> Option<Value> {
        let mut read = Object::new();
        for (pattern, schema) in self.map("patternProperties", value)? {
            let member = self.at(pattern, |reader| {
                let pattern = match reader.dialect(pattern) {
                    Dialect::Ours => pattern.clone(),
                    Dialect::Rewritten(pattern) => pattern,
                    Dialect::Other | Dialect::Unknown => {
                        reader.no_pattern(pattern);
                        return None;
                    }
                };
                Some((pattern, reader.schema(schema)))
            });
            read.extend(member);
        }
        Some(Value::Object(read))
    }

    /// Reports that a pattern is not matched.
    fn untried(&mut self, pattern: &str) {
        if pattern::is_untried(pattern) {
            let pattern = cut(pattern, MAX_PATTERN_SHOWN);
            let message = format!("`{pattern}` repeats too much to be tried; it is shown, but not checked");
            self.problem(ReadProblemKind::PatternUntried, message);
        }
    }

    fn dialect(&self, pattern: &str) -> Dialect {
        if !self.rules.is_openapi() || (is_pattern(pattern) && !is_misread(pattern)) {
            return Dialect::Ours;
        }
        let Foreign { pattern, flagged } = rewrite(pattern);
        match is_pattern(&pattern) {
            true if flagged => Dialect::Other,
            true => Dialect::Rewritten(pattern),
            false => Dialect::Unknown,
        }
    }

    fn no_pattern(&mut self, pattern: &str) {
        let what = if pattern::has_too_many_branches(pattern) {
            "has too many alternatives to be checked"
        } else {
            "is not a regular expression"
        };
        let message = format!("`{}` {what}; it is left out", cut(pattern, MAX_PATTERN_SHOWN));
        self.problem(ReadProblemKind::Pattern, message);
    }
}

/// The dialect of a pattern.
enum Dialect {
    /// ECMA-262.
    Ours,
    /// Another dialect, translated to ECMA-262.
    Rewritten(String),
    /// Another dialect, without an equivalent in ECMA-262.
    Other,
    /// No known dialect.
    Unknown,
}
