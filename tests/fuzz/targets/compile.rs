//! Fuzzes documents: parsing, compiling, emitting and printing diagnostics must not panic, and two runs must agree.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use toolgen::problem::HumanRenderer;
use toolgen::{Document, Options, Problems, emit};

fuzz_target!(|bytes: &[u8]| {
    let name = if bytes.first() == Some(&b'{') { "fuzz.json" } else { "fuzz.yaml" };
    let first = compile(name, bytes);
    assert_eq!(first, compile(name, bytes), "two runs differ");
});

/// Returns the module and the diagnostics, as a user sees them.
fn compile(name: &str, bytes: &[u8]) -> (Option<String>, String) {
    let mut problems = Problems::new();
    let module = Document::from_bytes(Path::new(name), bytes.to_vec(), &mut problems)
        .and_then(|document| toolgen::compile(&document, &Options::default(), &mut problems))
        .map(|program| emit::module(&program, &emit::ModuleStyle::new(name)));
    assert!(module.is_some() || problems.has_errors(), "refused without a problem");
    let mut human = HumanRenderer::new(false);
    let shown = problems.placed().into_iter().map(|(place, problem)| human.show(place, problem)).collect();
    (module, shown)
}
