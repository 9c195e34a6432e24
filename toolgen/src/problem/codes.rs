//! The catalogue of problems: one entry a code, grouped by the stage that reports it.
//!
//! To add a code, add an entry to the file of its stage in `codes/`: a name, an identifier whose first letter says
//! how bad the problem is (`E`, `W`, `N`), a title and a page. The page says what the problem means, why it is one
//! and how to mend it, and shows an example.

use std::fmt;

use super::Severity;

/// Defines codes, and the list of their pages for the catalogue.
macro_rules! codes {
    ($($name:ident = $id:literal, $title:literal, $text:literal;)*) => {
        $(
            #[doc = $title]
            pub const $name: $crate::problem::codes::Code = $crate::problem::codes::Code::new($id);
        )*
        pub(super) const PAGES: &[$crate::problem::codes::Page] = &[$(
            $crate::problem::codes::Page { code: $name, name: stringify!($name), title: $title, text: $text },
        )*];
    };
}

mod openapi;
mod source;

pub use openapi::*;
pub use source::*;

/// A problem's stable name, such as `E0104`; `cargo toolgen explain CODE` says more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(&'static str);

impl Code {
    /// Only the catalogue makes codes, so each has a page.
    const fn new(id: &'static str) -> Code {
        assert!(id.len() == 5 && matches!(id.as_bytes()[0], b'E' | b'W' | b'N'));
        Code(id)
    }

    /// The code with an identifier, upper or lower case.
    #[must_use]
    pub fn parse(id: &str) -> Option<Code> {
        pages().map(|page| page.code).find(|code| code.0.eq_ignore_ascii_case(id))
    }

    /// The identifier.
    #[must_use]
    pub const fn id(self) -> &'static str {
        self.0
    }

    /// How bad the problem is, which the first letter says.
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self.0.as_bytes() {
            [b'E', ..] => Severity::Error,
            [b'W', ..] => Severity::Warning,
            _ => Severity::Note,
        }
    }

    /// What `cargo toolgen explain` prints. `None` cannot happen: the catalogue makes all codes.
    #[must_use]
    pub fn page(self) -> Option<&'static Page> {
        pages().find(|page| page.code == self)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// What is known about a kind of problem.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// The code.
    pub code: Code,
    /// The name of its constant.
    pub name: &'static str,
    /// The kind of problem, in a sentence.
    pub title: &'static str,
    /// What it means, why it is a problem, how to mend it, an example.
    pub text: &'static str,
}

/// All pages, in the order of the codes' numbers.
#[expect(unused_qualifications, reason = "the globs above import one of the lists, under the same name")]
pub fn pages() -> impl Iterator<Item = &'static Page> {
    [source::PAGES, openapi::PAGES].into_iter().flatten()
}
