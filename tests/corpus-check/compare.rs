/// The end of a generated program: compares one document, compiled by rustc, with a new compilation.
fn compare(path: &str, compiled: &[&toolgen_runtime::Tool]) {
    let mut problems = toolgen::Problems::new();
    let document = toolgen::Document::load(path.as_ref(), &mut problems).expect(path);
    let program = toolgen::compile(&document, &toolgen::Options::default(), &mut problems);
    let program = program.expect(path);
    assert_eq!(compiled.len(), program.tools.len(), "{path}");
    for (compiled, lowered) in compiled.iter().zip(&program.tools) {
        let same = compiled.spec == lowered.spec && compiled.call == lowered.call;
        assert!(same, "{path}: {}", compiled.spec.name);
    }
}
