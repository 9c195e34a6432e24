//! Codes of problems, each with a page that explains it.
//!
//! Each stage has a table of codes, and a front end has its table in its own directory;
//! [`catalogue`](crate::catalogue) finds a code in all of them. To add a code, add an entry to the table of its
//! stage: a name, an identifier whose first letter is the severity (`E`, `W`, `N`), a title and a page. The page says
//! what the problem means, why it is a problem and how to fix it, and shows an example.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// Defines a table of codes, and `ALL`, the list of them.
macro_rules! table {
    ($($name:ident = $id:literal, $title:literal, $text:literal;)*) => {
        $(
            #[doc = $title]
            pub const $name: $crate::problem::codes::Code =
                $crate::problem::codes::Code::new(&$crate::problem::codes::Page {
                    id: $id,
                    name: stringify!($name),
                    title: $title,
                    text: $text,
                });
        )*
        /// The codes of this table.
        pub(crate) const ALL: &[$crate::problem::codes::Code] = &[$($name),*];
    };
}
pub(crate) use table;

pub(crate) mod choice;
pub(crate) mod overlay;
pub(crate) mod size;
pub(crate) mod source;
pub(crate) mod text;

pub use choice::*;
pub use overlay::{ACTION, NO_CHANGE, NO_TARGET, OTHER_DOCUMENT, OVERLAY};
pub use size::*;
pub use source::*;
pub use text::*;

/// The severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Something is compiled in a way that is worth knowing.
    Note,
    /// Something is compiled, but less faithfully than documented.
    Warning,
    /// Something is omitted: an operation, or the whole document.
    Error,
}

impl Severity {
    /// Returns the severity as a word: `error`, `warning` or `note`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The stable name of a problem, such as `E0104`; `cargo toolgen explain CODE` explains it.
#[derive(Clone, Copy)]
pub struct Code(&'static Page);

/// The description of a kind of problem.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// The identifier, such as `E0104`.
    pub id: &'static str,
    /// The name of the code's constant.
    pub name: &'static str,
    /// The kind of problem, in a sentence.
    pub title: &'static str,
    /// Its meaning, why it is a problem, how to fix it, and an example.
    pub text: &'static str,
}

impl Code {
    /// Creates a code. Only tables do this, so each code has a page.
    pub(crate) const fn new(page: &'static Page) -> Code {
        assert!(page.id.len() == 5 && matches!(page.id.as_bytes()[0], b'E' | b'W' | b'N'));
        Code(page)
    }

    /// Returns the identifier.
    #[must_use]
    pub const fn id(self) -> &'static str {
        self.0.id
    }

    /// Returns the digits of the identifier. The catalogue is sorted by them.
    pub(crate) fn number(self) -> &'static str {
        self.0.id.get(1..).unwrap_or_default()
    }

    /// Returns the severity, given by the first letter.
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self.0.id.as_bytes() {
            [b'E', ..] => Severity::Error,
            [b'W', ..] => Severity::Warning,
            _ => Severity::Note,
        }
    }

    /// Returns the page that `cargo toolgen explain` prints.
    #[must_use]
    pub const fn page(self) -> &'static Page {
        self.0
    }

    /// Whether the problem is in a manifest, which is the user's own file: errors in it must be corrected, not
    /// tolerated.
    #[must_use]
    pub fn is_own(self) -> bool {
        self.number().starts_with("04")
    }

    /// Whether the problem is in the options and not in the document: a filter or a name that matches nothing in the
    /// document.
    #[must_use]
    pub fn is_choice(self) -> bool {
        OF_OPTIONS.contains(&self)
    }
}

// A code is identified by its identifier; the page follows from it.
impl PartialEq for Code {
    fn eq(&self, other: &Code) -> bool {
        self.0.id == other.0.id
    }
}

impl Eq for Code {}

impl PartialOrd for Code {
    fn partial_cmp(&self, other: &Code) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Code {
    fn cmp(&self, other: &Code) -> Ordering {
        self.0.id.cmp(other.0.id)
    }
}

impl Hash for Code {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.id.hash(state);
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.id)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.id)
    }
}
