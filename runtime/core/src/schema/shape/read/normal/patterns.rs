//! Regular expressions.

use serde_json::Value;

use super::regex_translation::{Translation, is_foreign, translate};
use super::{Object, Reader};
use crate::base::truncate::cut;
use crate::schema::shape::read::{ReadProblemKind, Source};
use crate::schema::shape::{is_pattern, pattern};

/// Maximum length of a pattern in a problem, in characters.
const MAX_PATTERN_SHOWN: usize = 200;

impl<'a, S: Source<'a>> Reader<'_, S> {
    /// Reads `pattern`. A pattern of another dialect is translated. If it cannot be translated, it is not enforced,
    /// but a model may read it.
    pub(super) fn read_pattern(&mut self, value: &Value) -> Option<Value> {
        let text = self.read_text("pattern", value)?;
        let pattern = text.as_str().unwrap_or_default();
        match self.detect_dialect(pattern) {
            Dialect::Ecma262 => {
                self.report_unchecked(pattern);
                Some(text)
            }
            Dialect::Translated(pattern) => Some(Value::String(pattern)),
            Dialect::Untranslatable => {
                let pattern = cut(pattern, MAX_PATTERN_SHOWN);
                let message =
                    format!("`{pattern}` is of another dialect than ECMA-262; it is shown, but not checked");
                self.report(ReadProblemKind::PatternDialect, message);
                Some(text)
            }
            Dialect::Unknown => {
                self.report_invalid_pattern(pattern);
                None
            }
        }
    }

    pub(super) fn read_patterns(&mut self, value: &'a Value) -> Option<Value> {
        let mut schemas = Object::new();
        for (pattern, schema) in self.expect_object("patternProperties", value)? {
            let member = self.at(pattern, |reader| {
                let pattern = match reader.detect_dialect(pattern) {
                    Dialect::Ecma262 => pattern.clone(),
                    Dialect::Translated(pattern) => pattern,
                    Dialect::Untranslatable | Dialect::Unknown => {
                        reader.report_invalid_pattern(pattern);
                        return None;
                    }
                };
                Some((pattern, reader.read_schema(schema)))
            });
            schemas.extend(member);
        }
        Some(Value::Object(schemas))
    }

    /// Reports that a pattern is not matched.
    fn report_unchecked(&mut self, pattern: &str) {
        if pattern::is_unchecked(pattern) {
            let pattern = cut(pattern, MAX_PATTERN_SHOWN);
            let message = format!("`{pattern}` repeats too much to be tried; it is shown, but not checked");
            self.report(ReadProblemKind::PatternUnchecked, message);
        }
    }

    fn detect_dialect(&self, pattern: &str) -> Dialect {
        if !self.rules.is_openapi() || (is_pattern(pattern) && !is_foreign(pattern)) {
            return Dialect::Ecma262;
        }
        let Translation { pattern, has_unsupported_flags } = translate(pattern);
        match is_pattern(&pattern) {
            true if has_unsupported_flags => Dialect::Untranslatable,
            true => Dialect::Translated(pattern),
            false => Dialect::Unknown,
        }
    }

    fn report_invalid_pattern(&mut self, pattern: &str) {
        let what = if pattern::has_too_many_branches(pattern) {
            "has too many alternatives to be checked"
        } else {
            "is not a regular expression"
        };
        let message = format!("`{}` {what}; it is left out", cut(pattern, MAX_PATTERN_SHOWN));
        self.report(ReadProblemKind::Pattern, message);
    }
}

/// The dialect of a pattern.
enum Dialect {
    /// ECMA-262.
    Ecma262,
    /// Another dialect, translated to ECMA-262.
    Translated(String),
    /// Another dialect, without an equivalent in ECMA-262.
    Untranslatable,
    /// No known dialect.
    Unknown,
}
