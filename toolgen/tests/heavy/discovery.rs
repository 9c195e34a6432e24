//! Asks the search for tools 400 questions about documents of the corpus, and demands that the operation that a person
//! would choose is among the first five answers for nine of ten.
//!
//! `tests/discovery/questions.tsv` holds the questions, written from the summaries of a random sample of operations
//! before the search was tuned. It was tuned on those of the set `tuned`; those of `held-out` only judge it. `cargo test
//! -p toolgen --test heavy discovery:: -- --ignored --nocapture` prints the figures and the misses.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use toolgen::{Document, Options, Problems, Program};
use toolgen_runtime::spec::search::SearchIndex;

use toolgen_test_support::needs;

const QUESTIONS: &str = include_str!("../../../tests/discovery/questions.tsv");

/// How many answers a model is given.
const FIRST: usize = 5;

fn compiled(path: &Path) -> Program {
    let mut problems = Problems::new();
    let document = Document::load(path, &mut problems).unwrap_or_else(|| panic!("{}", path.display()));
    toolgen::compile(&document, &Options::default(), &mut problems)
        .unwrap_or_else(|| panic!("{}", path.display()))
}

/// The places of the expected operations among the answers, from 1; 0 where it is not among them.
#[derive(Default)]
struct Figures {
    places: Vec<usize>,
    misses: Vec<String>,
}

impl Figures {
    fn share(&self, limit: usize) -> f64 {
        let found = self.places.iter().filter(|index| (1..=limit).contains(*index)).count();
        100.0 * real(found) / real(self.places.len().max(1))
    }

    fn reciprocal_rank(&self) -> f64 {
        let sum: f64 = self.places.iter().filter(|index| **index > 0).map(|index| 1.0 / real(*index)).sum();
        sum / real(self.places.len().max(1))
    }
}

fn real(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap())
}

#[test]
#[ignore = "heavy: corpus"]
fn most_queries_find_their_operation_in_the_top_five() {
    let Some(dir) = needs::corpus_folder("openapi") else { return };
    let mut documents: BTreeMap<&str, Vec<[&str; 3]>> = BTreeMap::new();
    for line in QUESTIONS.lines().skip(1) {
        let [document, operation, set, question] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        documents.entry(document).or_default().push([operation, set, question]);
    }
    let mut sets: BTreeMap<&str, Figures> = BTreeMap::new();
    let mut slowest = (0.0_f64, 0);
    for (document, questions) in documents {
        let program = compiled(&dir.join(document));
        let start = Instant::now();
        let paths = program.tools.iter().map(|tool| tool.call.http().map_or("", |plan| plan.path.as_str()));
        let index = SearchIndex::new(program.tools.iter().map(|tool| &tool.spec).zip(paths));
        let time = start.elapsed().as_secs_f64() * 1e3;
        if program.tools.len() > slowest.1 {
            slowest = (time, program.tools.len());
        }
        for [operation, set, question] in questions {
            let names: Vec<&str> = index
                .search(question, 20, |_| true)
                .into_iter()
                .map(|at| program.tools[at].spec.name.as_str())
                .collect();
            assert!(program.tools.iter().any(|tool| tool.spec.name.as_str() == operation), "{operation}");
            let offset = names.iter().position(|name| *name == operation).map_or(0, |at| at + 1);
            let figures = sets.entry(set).or_default();
            figures.places.push(offset);
            if !(1..=FIRST).contains(&offset) {
                let first = names[..names.len().min(3)].join(", ");
                figures.misses.push(format!("{document} {operation} ({offset}): {question}\n      {first}"));
            }
        }
    }
    println!("{} tools indexed in {:.1} ms", slowest.1, slowest.0);
    for (set, figures) in &sets {
        let [one, five] = [1, FIRST].map(|max| figures.share(max));
        let (count, rank) = (figures.places.len(), figures.reciprocal_rank());
        println!(
            "{set}: {count} questions, {five:.1} % in the first {FIRST}, {one:.1} % first, MRR {rank:.3}"
        );
        figures.misses.iter().for_each(|miss| println!("    {miss}"));
    }
    for (set, figures) in &sets {
        // What the search was not tuned on may be a few questions worse, and must not fall further.
        let least = if *set == "tuned" { 90.0 } else { 87.0 };
        assert!(figures.share(FIRST) >= least, "{set}: {:.1} %", figures.share(FIRST));
    }
}
