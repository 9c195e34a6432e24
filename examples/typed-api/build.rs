//! Compiles the document of the service into the module `petstore`: its dates are those of `jiff`.

use toolgen::emit::TextType;

fn main() {
    toolgen::Build::new("petstore")
        .document("../../specs/petstore.yaml")
        .options(toolgen::Options::default().credential("api_key", "PETSTORE_KEY").text_type(TextType::Jiff))
        .emit();
}
