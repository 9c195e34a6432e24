//! Overlays that others wrote, against what others made of them.

use std::path::{Path, PathBuf};

use serde_json::Value;
use toolgen::{Document, Problems, Severity};

use toolgen_test_support::golden::cases;
use toolgen_test_support::needs;

fn folder() -> Option<PathBuf> {
    needs::corpus_folder("overlay")
}

/// Returns what an overlay makes of a document, and what is told of it.
fn applied(document: &Path, overlay: &Path) -> (Value, Problems) {
    let mut problems = Problems::new();
    let document = Document::load(document, &mut Problems::new());
    let overlay = Document::load(overlay, &mut problems);
    let root = match (document, overlay) {
        (Some(document), Some(overlay)) => document.overlaid(&overlay, &mut problems).root,
        (Some(document), None) => document.root.clone(),
        (None, _) => Value::Null,
    };
    (root, problems)
}

/// The examples of others: the document, the overlay and what both give.
fn examples(dir: &Path) -> Vec<[PathBuf; 3]> {
    let sets = cases(&dir.join("oai-compliant-sets/compliant-sets"));
    let sets =
        sets.iter().map(|set| ["openapi.yaml", "overlay.yaml", "output.yaml"].map(|name| set.join(name)));
    let test = dir.join("lornajane-overlays-js/test");
    let named = [
        ("petstore", "overlay", "output1"),
        ("openapi-with-servers", "remove-server", "one-less-server"),
        ("town", "update-root", "town-root-updated"),
        ("town", "building-description", "town-building-description"),
        ("town", "remove-descriptions", "town-remove-descriptions"),
        ("town", "remove-example", "town-remove-example"),
        ("town", "remove-properties", "town-remove-properties"),
        ("responses", "remove-responses", "remove-responses"),
        ("immutable", "immutable", "immutable"),
        ("not-jsonpath", "not-jsonpath", "not-jsonpath"),
        ("not-overlay", "not-overlay", "not-overlay"),
        ("empty", "empty", "empty"),
    ];
    let named = named.map(|(document, overlay, expected)| {
        [("openapi", document), ("overlays", overlay), ("expected", expected)]
            .map(|(location, name)| test.join(location).join(format!("{name}.yaml")))
    });
    sets.chain(named).collect()
}

#[test]
#[ignore = "heavy: corpus"]
fn overlay_results_agree_with_other_implementations() {
    let Some(dir) = folder() else { return };
    let mut wrong = Vec::new();
    let examples = examples(&dir);
    for [document, overlay, expected] in &examples {
        let (made, problems) = applied(document, overlay);
        let expected =
            Document::load(expected, &mut Problems::new()).map_or(Value::Null, |one| one.root.clone());
        // Overlays that cannot be applied change nothing, and say why.
        let unchanged = made == applied(document, document).0;
        if made != expected || problems.has_errors() != unchanged {
            wrong.push(format!("{}: {problems}\n{made}\n{expected}", overlay.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(examples.len() >= 20, "only {}", examples.len());
    let products = dir.join("api-evangelist-products");
    let document = products.join("openapi/_original/products-api-openapi.yml");
    for language in ["de", "fr"] {
        let overlay = products.join("overlays").join(language).join("openapi.yml");
        let (made, problems) = applied(&document, &overlay);
        assert_eq!(problems.to_string(), "", "{language}");
        assert_ne!(made, applied(&document, &document).0, "{language}");
    }
}

/// Mistakes in what is only for people, a version without its last number, and an action that is given twice: what is
/// meant is still known.
const TOLERATED: [&str; 10] = [
    "actions-invalid-description.yaml",
    "actions-not-unique.yaml",
    "extends-invalid-type.yaml",
    "info-description-invalid-type.yaml",
    "info-invalid-type.yaml",
    "info-missing-title.yaml",
    "info-missing-version.yaml",
    "info-title-invalid-type.yaml",
    "info-version-invalid-type.yaml",
    "overlay-invalid-pattern.yaml",
];

#[test]
#[ignore = "heavy: corpus"]
fn overlays_are_accepted_as_the_specification_requires() {
    let Some(dir) = folder() else { return };
    let town = dir.join("lornajane-overlays-js/test/openapi/town.yaml");
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for version in ["v1.0", "v1.1"] {
        for (kind, fine) in [("pass", true), ("fail", false)] {
            for overlay in cases(&dir.join("oai-tests/tests").join(version).join(kind)) {
                let name = overlay.file_name().unwrap().to_str().unwrap();
                let (_, problems) = applied(&town, &overlay);
                let refused = problems.as_slice().iter().any(|problem| {
                    // The town has not what the example copies.
                    problem.severity() == Severity::Error && !problem.message.ends_with("but finds 0")
                });
                checked += 1;
                if refused == (fine || TOLERATED.contains(&name)) {
                    wrong.push(format!("{version}/{kind}/{name}: {problems}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked >= 60, "only {checked}");
}
