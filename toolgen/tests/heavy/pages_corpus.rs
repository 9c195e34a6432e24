//! Counts the operations of the corpus whose lists come in pages, if the corpus is there.
//!
//! The corpus is not part of the repository: `TOOLGEN_CORPUS` names it, `../shared/corpus` beside the repository is
//! the default. `TOOLGEN_LIST=1` prints what is recognised, and lists of which nothing is.

use toolgen::{Document, Options, Problems};

use toolgen_test_support::needs;

#[test]
#[ignore = "heavy: corpus"]
fn pagination_is_recognized_in_the_corpus() {
    let visible = std::env::var_os("TOOLGEN_LIST").is_some();
    let (mut gets, mut recognised) = (0, 0);
    for path in needs::corpus() {
        let mut problems = Problems::new();
        let Some(document) = Document::load(&path, &mut problems) else { continue };
        let Some(program) = toolgen::compile(&document, &Options::default(), &mut problems) else { continue };
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        for tool in program.tools.iter().filter(|tool| tool.origin.title.starts_with("GET ")) {
            gets += 1;
            let plan = tool.call.http().unwrap();
            recognised += usize::from(plan.pagination.is_some());
            if visible {
                let names: Vec<&str> =
                    plan.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
                let pages = plan.pagination.as_ref().map_or("-".to_owned(), ToString::to_string);
                println!("{file}\t{}\t{pages}\t{}", tool.origin.title, names.join(","));
            }
        }
    }
    println!("{recognised} of {gets} GET operations");
    assert!(gets == 0 || recognised * 10 > gets, "{recognised} of {gets}");
}
