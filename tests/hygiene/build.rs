//! Compiles the example documents for a crate that calls the runtime by another name.

fn main() {
    let documents = [
        "specs/bookshop.yaml",
        "specs/kitchen-sink.json",
        "specs/manifest-agents.yaml",
        "specs/manifest-program.yaml",
        "specs/petstore.yaml",
        "specs/tasks.yaml",
        "tests/documents/deep.yaml",
        "tests/documents/types.yaml",
    ];
    for types in [true, false] {
        let name = if types { "typed" } else { "untyped" };
        let options = toolgen::Options::default().types(types);
        let build = toolgen::Build::new(name).options(options).runtime("::renamed");
        documents.iter().fold(build, |build, path| build.document(format!("../../{path}"))).emit();
    }
    // One document is the module itself, so that what stands beside it is in scope.
    let build = toolgen::Build::new("beside").runtime("::renamed");
    build.document("../../specs/kitchen-sink.json").emit();
    let build = toolgen::Build::new("beside_functions").runtime("::renamed");
    build.document("../../specs/manifest-program.yaml").emit();
}
