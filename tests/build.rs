//! Compiles the example documents, as a user's build script would.

fn main() {
    for name in ["bookshop", "tasks"] {
        toolgen::Build::new(name).document(format!("../specs/{name}.yaml")).emit();
    }
}
