//! The crates whose types generated types use instead of strings.

use std::fmt;
use std::str::FromStr;

/// A crate whose types generated types use instead of strings of certain formats.
///
/// The crate that includes the generated module needs the feature of this name of `toolgen-runtime`. The crate of the
/// type determines how values are serialized: a time with another offset in UTC, `https://example.com` as
/// `https://example.com/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextType {
    /// `date-time` as `chrono::DateTime<chrono::Utc>`, and `date` as `chrono::NaiveDate`.
    Chrono,
    /// `date-time` as `jiff::Timestamp`, and `date` as `jiff::civil::Date`.
    Jiff,
    /// `uri` as `url::Url`.
    Url,
    /// `uuid` as `uuid::Uuid`.
    Uuid,
}

impl TextType {
    /// All crates.
    pub const ALL: &'static [TextType] = &[TextType::Chrono, TextType::Jiff, TextType::Url, TextType::Uuid];

    /// Returns the name of the crate, and of the feature of `toolgen-runtime`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            TextType::Chrono => "chrono",
            TextType::Jiff => "jiff",
            TextType::Url => "url",
            TextType::Uuid => "uuid",
        }
    }

    /// Returns its type for strings of a format.
    pub(super) fn of(self, format: &str) -> Option<&'static str> {
        Some(match (self, format) {
            (TextType::Chrono, "date-time") => "chrono::DateTime<chrono::Utc>",
            (TextType::Chrono, "date") => "chrono::NaiveDate",
            (TextType::Jiff, "date-time") => "jiff::Timestamp",
            (TextType::Jiff, "date") => "jiff::civil::Date",
            (TextType::Url, "uri") => "url::Url",
            (TextType::Uuid, "uuid") => "uuid::Uuid",
            _ => return None,
        })
    }
}

impl fmt::Display for TextType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for TextType {
    type Err = String;

    /// Parses the name of a crate.
    fn from_str(text: &str) -> Result<TextType, String> {
        TextType::ALL.iter().copied().find(|text_type| text_type.name() == text).ok_or_else(|| {
            let names: Vec<&str> = TextType::ALL.iter().map(|text_type| text_type.name()).collect();
            format!("`{text}` is not a crate with types for strings; expected one of {}", names.join(", "))
        })
    }
}
