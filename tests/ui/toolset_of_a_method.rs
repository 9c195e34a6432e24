#![allow(unused)]

use toolgen_runtime::{tools, toolset};

struct Notes;

#[tools]
impl Notes {
    /// Keeps it.
    #[tool]
    fn keep(&self) {}
}

fn main() {
    let _ = toolset![Notes::keep];
}
