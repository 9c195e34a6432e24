//! The tests across the crates, see `tests/README.md`.

use toolgen::{Document, Options, Problems, Program};

pub mod sampler;

pub use toolgen_test_support::{golden, needs, pages};

/// Compiles a document of the repository.
///
/// # Panics
///
/// Panics if there is no such document.
#[must_use]
#[allow(clippy::panic, reason = "a test fails by panicking")]
pub fn compiled(path: &str) -> Program {
    let mut problems = Problems::new();
    let document = Document::load(&pages::root().join(path), &mut problems);
    let program =
        document.and_then(|document| toolgen::compile(&document, &Options::default(), &mut problems));
    program.unwrap_or_else(|| panic!("{path}: {problems}"))
}

#[cfg(doctest)]
#[doc = include_str!("../../tool-macros/README.md")]
struct Macros;
