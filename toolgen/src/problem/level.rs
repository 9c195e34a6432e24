//! The severity level that the user chose for each code.

use std::collections::BTreeMap;

use super::{Problem, Severity};

/// The level of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The problems are not reported.
    Allow,
    /// The problems are warnings.
    Warn,
    /// The problems are errors: `check` and builds fail.
    Deny,
}

impl Level {
    /// Returns the level as a word: `allow`, `warn` or `deny`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Level::Allow => "allow",
            Level::Warn => "warn",
            Level::Deny => "deny",
        }
    }
}

/// The levels of codes. A code without a level has the severity of its first letter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Levels {
    /// The levels by name in upper case, as in identifiers, each with the name as the user wrote it.
    /// Some names may be unknown codes.
    by_code: BTreeMap<String, (String, Level)>,
    warnings: Option<Level>,
}

impl Levels {
    /// Sets the level of a code such as `N0706`, or of all `warnings`. The last level set applies, and that of a code
    /// takes precedence over that of all warnings. A name that is not a code is reported with the other problems, as
    /// an error (E0338).
    pub fn set(&mut self, name: &str, level: Level) {
        if name.eq_ignore_ascii_case("warnings") {
            self.warnings = Some(level);
        } else {
            self.by_code.insert(name.to_ascii_uppercase(), (name.to_owned(), level));
        }
    }

    /// Whether no level is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Levels::default()
    }

    /// Returns these levels, completed with those in `others`.
    #[must_use]
    pub(crate) fn over(&self, others: &Levels) -> Levels {
        let mut merged = others.clone();
        merged.by_code.extend(self.by_code.clone());
        merged.warnings = self.warnings.or(others.warnings);
        merged
    }

    /// Returns the names that have a level.
    pub(crate) fn by_code(&self) -> impl Iterator<Item = (&str, Level)> {
        self.by_code.values().map(|(name, level)| (name.as_str(), *level))
    }

    /// Returns the severity of a problem; `None` if it is not reported.
    pub(super) fn severity(&self, problem: &Problem) -> Option<Severity> {
        let to_severity = |level| match level {
            Level::Allow => None,
            Level::Warn => Some(Severity::Warning),
            Level::Deny => Some(Severity::Error),
        };
        if problem.code.severity() == Severity::Error {
            return Some(Severity::Error);
        }
        let chosen = self.by_code.get(problem.code.id());
        let severity = match chosen {
            // A code that is a warning by its letter or by choice is one of the warnings, which may be denied.
            Some((_, Level::Warn)) => Severity::Warning,
            Some((_, level)) => return to_severity(*level),
            None => problem.code.severity(),
        };
        match self.warnings {
            Some(Level::Deny) if severity == Severity::Warning => Some(Severity::Error),
            Some(level) if severity == Severity::Warning && chosen.is_none() => to_severity(level),
            _ => Some(severity),
        }
    }

    /// Returns the arguments that make `cargo toolgen check` use the same levels, each after a space.
    pub(crate) fn command_line(&self) -> String {
        let codes = self.by_code.iter().map(|(code, (_, level))| format!(" --{} {code}", level.as_str()));
        let warnings = self.warnings.map(|level| format!(" --{} warnings", level.as_str()));
        codes.chain(warnings).collect()
    }
}
