//! Compiles the documents of the examples: an API into the module `forge`, a manifest into the module `texts`.

fn main() {
    toolgen::Build::new("forge")
        .document("api-agent/forge.yaml")
        .options(toolgen::Options::default().credential("token", "FORGE_TOKEN"))
        .emit();
    toolgen::Build::new("texts").document("command-tools/tools.yaml").emit();
}
