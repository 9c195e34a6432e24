//! The example documents of the repository.

use std::fs;

use crate::support::{Folder, checkout};

#[test]
fn every_tool_of_every_example_passes_its_tests() {
    let dir = Folder::new("examples");
    let mut documents = Vec::new();
    for dir in ["", "mcp", "systems"] {
        for entry in fs::read_dir(checkout().join("specs").join(dir)).unwrap() {
            let path = entry.unwrap().path().display().to_string();
            let is_document = path.ends_with(".yaml") || path.ends_with(".json");
            if is_document && !path.ends_with(".schema.json") && !path.ends_with(".tools.json") {
                documents.push(path);
            }
        }
    }
    assert!(documents.iter().filter(|path| path.contains("systems")).count() == 4, "{documents:?}");
    assert!(documents.len() >= 14, "{documents:?}");
    for document in documents {
        dir.run(format!("test '{document}'")).exits(0);
    }
}
