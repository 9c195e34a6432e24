//! Compiles the example documents, as a user's build script would: with types and without.

fn main() {
    for file in [
        "bookshop.yaml",
        "kitchen-sink.json",
        "manifest-agents.yaml",
        "manifest-commands.yaml",
        "manifest-mcp.yaml",
        "manifest-program.yaml",
        "manifest-requests.yaml",
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
}
