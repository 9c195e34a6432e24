//! Searches visit the same files as the walk of ripgrep.

use std::collections::BTreeSet;
use std::path::Path;

use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;
use proptest::prelude::*;

use crate::Bench;
use crate::prelude::*;

/// Returns the files in a directory that ripgrep searches, except hidden ones: a rule may include those.
fn by_ripgrep(root: &Path, start: &str, include: Option<&str>) -> BTreeSet<String> {
    let mut globs = OverrideBuilder::new(root);
    globs.add("!target/").unwrap().add("!node_modules/").unwrap();
    if let Some(include) = include {
        globs.add(include).unwrap();
    }
    let mut builder = WalkBuilder::new(if start == "." { root.to_owned() } else { root.join(start) });
    builder.git_global(false).git_exclude(false).overrides(globs.build().unwrap());
    let entries = builder.build().map(Result::unwrap);
    let files = entries.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let paths = files.map(|entry| entry.path().strip_prefix(root).unwrap().to_str().unwrap().to_owned());
    paths.filter(|path| path.split('/').all(|name| !name.starts_with('.'))).collect()
}

/// Returns the files that `search` searches.
fn by_search(bench: &Bench, start: &str, include: Option<&str>) -> BTreeSet<String> {
    let mut arguments = json!({"pattern": "needle", "path": start});
    if let Some(include) = include {
        arguments["include"] = json!(include);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let text = runtime.block_on(bench.text("search", arguments));
    text.lines().filter_map(|line| Some(line.strip_suffix(":1:needle")?.to_owned())).collect()
}

#[track_caller]
fn same(bench: &Bench, start: &str, include: Option<&str>) {
    let root = bench.base.join("work");
    let expected = by_ripgrep(&root, start, include);
    assert_eq!(by_search(bench, start, include), expected, "{start} {include:?}");
}

/// Creates a repository with files of these paths; each of them contains `needle`.
fn tree(files: &[&str]) -> Bench {
    files
        .iter()
        .fold(Bench::new(builtin::pack()).file(".git/HEAD", ""), |bench, file| bench.file(file, "needle\n"))
}

#[test]
fn ignore_rules_of_parent_directories_apply() {
    let files =
        ["sub/gen/a", "sub/a.log", "sub/only", "sub/b", "sub/deep/gen/x", "sub/deep/c.log", "sub/deep/d"];
    let bench = tree(&files).file(".gitignore", "gen/\n*.log\n/sub/only\n").file("sub/.ignore", "/deep/d\n");
    for start in [".", "sub", "sub/deep", "sub/gen"] {
        same(&bench, start, None);
    }
    assert_eq!(by_search(&bench, "sub", None), BTreeSet::from(["sub/b".to_owned()]));
}

#[test]
fn ignore_rules_have_the_precedence_of_ripgrep() {
    let bench =
        tree(&["s/keep.log", "s/x"]).file(".ignore", "!keep.log\nx\n").file("s/.gitignore", "keep.log\n!x\n");
    same(&bench, ".", None);
    assert_eq!(by_search(&bench, ".", None), BTreeSet::from(["s/keep.log".to_owned()]));
    // A nested repository has its own rules.
    let bench = tree(&["repo/a.x", "repo/in/b.x", "repo/c.y", "repo/d.z", "e.x"])
        .file(".gitignore", "*.x\n")
        .file(".ignore", "*.z\n")
        .file("repo/.git/HEAD", "")
        .file("repo/.gitignore", "*.y\n");
    for start in [".", "repo", "repo/in"] {
        same(&bench, start, None);
    }
    assert_eq!(by_search(&bench, ".", None), ["repo/a.x", "repo/in/b.x"].map(str::to_owned).into());
}

#[test]
fn invalid_ignore_rule_does_not_affect_others() {
    let bench = tree(&["a", "b", "c", "d"]).file(".gitignore", b"\xEF\xBB\xBFa\r\n\xFF\n[z\nb\n");
    assert_eq!(by_search(&bench, ".", None), ["c", "d"].map(str::to_owned).into());
}

#[test]
fn glob_excluding_a_directory_excludes_its_contents() {
    let bench = tree(&["a.rs", "s/b.rs", "s/t/c.rs", "v/d.rs", "v/e.txt", "tests/x/y.rs"]);
    for include in
        ["*.rs", "s/*.rs", "/s/*.rs", "!v", "!v/", "!v/**", "!tests", "*.{rs,txt}", "s", "s/**", "a.rs"]
    {
        same(&bench, ".", Some(include));
        same(&bench, "s", Some(include));
    }
    assert!(!by_search(&bench, ".", Some("!tests")).contains("tests/x/y.rs"));
}

#[tokio::test]
async fn excluded_directory_is_skipped_with_its_contents() {
    let mut bench = tree(&["a.rs", "v/d.rs", "v/w/e.rs"]);
    bench.tools = builtin::coding();
    for exclude in ["v", "v/", "v/**"] {
        let text = bench.text("GlobTool", json!({"pattern": "**/*.rs", "exclude": exclude})).await;
        assert!(text.contains("a.rs") && !text.contains("v/"), "{exclude}: {text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn ignore_rules_match_ripgrep(
        rules in prop::collection::vec(
            ("(a/|b/|a/b/|b/a/|c/)?", prop::bool::ANY, "(!?/?((a|b|c|\\*|\\*\\*|a\\*|\\?)/?){1,3}\n){1,3}"), 0..4
        ),
        repositories in prop::collection::vec("a|b|a/b|b/a", 0..2),
    ) {
        let files = ["a/a/a", "a/a/b", "a/b/a", "a/b/c", "a/c", "b/a/a", "b/a/c", "b/b/b", "b/c", "c/a", "c/b/ab", "ab"];
        let mut bench = tree(&files);
        for (dir, git, text) in &rules {
            bench = bench.file(&format!("{dir}{}", if *git { ".gitignore" } else { ".ignore" }), text);
        }
        for dir in &repositories {
            fs::create_dir_all(bench.path(dir).join(".git")).unwrap();
        }
        for start in [".", "a", "a/b", "b/a", "c"] {
            same(&bench, start, None);
        }
    }
}
