//! Compiles the example documents, as a user's build script would: with types and without.

#![allow(clippy::print_stdout, reason = "cargo reads standard output")]

fn main() {
    for file in [
        "bookshop.yaml",
        "kitchen-sink.json",
        "manifest-agents.yaml",
        "manifest-commands.yaml",
        "manifest-mcp.yaml",
        "manifest-program.yaml",
        "manifest-requests.yaml",
        "manifest-rules.yaml",
        "petstore.yaml",
        "tasks.yaml",
    ] {
        let path = format!("../specs/{file}");
        let name = file.split('.').next().unwrap_or(file).replace('-', "_");
        toolgen::Build::new(&*name).document(&path).emit();
        let options = toolgen::Options::default().types(false);
        toolgen::Build::new(format!("{name}_untyped")).document(&path).options(options).emit();
    }
    toolgen::Build::new("shop").document("../specs/mcp/shop.lock.json").emit();
    for name in ["types", "deep"] {
        toolgen::Build::new(name).document(format!("documents/{name}.yaml")).emit();
    }
    let options = toolgen::Options::default().modules(toolgen::Modules::ByTag);
    toolgen::Build::new("tagged").document("documents/tagged.yaml").options(options).emit();
    for (name, page) in [
        ("books", "docs/manifests/function.md"),
        ("guide_toolsets", "docs/manifests/toolsets.md"),
        ("tools", "README.md"),
    ] {
        manifest_of(name, &format!("../{page}"));
    }
}

/// Compiles the first manifest of a page.
fn manifest_of(name: &str, page: &str) {
    println!("cargo::rerun-if-changed={page}");
    let text = std::fs::read_to_string(page).unwrap_or_default();
    let manifest =
        text.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap_or_default();
    let file =
        std::path::Path::new(&std::env::var("OUT_DIR").unwrap_or_default()).join(format!("{name}.yaml"));
    if std::fs::write(&file, manifest).is_ok() {
        toolgen::Build::new(name).document(file).emit();
    }
}
