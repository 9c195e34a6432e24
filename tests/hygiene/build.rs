//! Compiles the example documents for a crate that calls the runtime by another name.

#![allow(clippy::expect_used, clippy::print_stdout, reason = "it is a build script")]

mod names;

use std::path::PathBuf;

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
    // One document is the module itself, so that the items next to it are in scope.
    let build = toolgen::Build::new("beside").runtime("::renamed");
    build.document("../../specs/kitchen-sink.json").emit();
    let build = toolgen::Build::new("beside_functions").runtime("::renamed");
    build.document("../../specs/manifest-program.yaml").emit();
    // Names that generated code uses internally.
    let module =
        |path: &&str| toolgen::Build::new("words").document(format!("../../{path}")).compile().module;
    let modules: Vec<String> = documents.iter().filter_map(module).collect();
    let dir = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let documents = names::documents(&modules, &dir);
    for (name, modules) in
        [("names", toolgen::emit::Modules::One), ("names_by_tag", toolgen::emit::Modules::ByTag)]
    {
        let options = toolgen::Options::default().modules(modules);
        let build = toolgen::Build::new(name).options(options).runtime("::renamed");
        let of_tags = |path: &&PathBuf| name == "names" || path.ends_with("operations.json");
        let built =
            documents.iter().filter(of_tags).fold(build, |build, path| build.document(path)).compile();
        // Warnings about such documents are ignored.
        let module = built.module.expect("the documents of names compile");
        std::fs::write(dir.join(name).with_extension("rs"), module).expect("a module");
    }
}
