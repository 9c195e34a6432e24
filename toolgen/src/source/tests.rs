use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolgen_test_support::script;

use super::*;
use crate::problem::{Problems, codes};

fn parse(name: &str, text: &str) -> (Option<Arc<Document>>, Problems) {
    let mut problems = Problems::new();
    let document = Document::parse(Path::new(name), text, &mut problems);
    (document, problems)
}

/// Texts as values: `read` is a text, as JSON; `place` gives the location of a pointer in it, and `written` the
/// source text there.
#[test]
fn parsing_matches_the_script() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/source/tests/texts.txt");
    script::replay(&file, || {
        let mut last = None;
        move |word, rest| {
            if word == "read" {
                let (document, problems) = parse("x", &serde_json::from_str::<String>(rest).unwrap());
                last = document;
                let read = last.as_ref().map_or("nothing".to_owned(), |document| document.root.to_string());
                let problems = problems.placed().into_iter().map(|(at, one)| {
                    format!("{}:{} {} {}", at.line, at.column, one.code.id(), one.pointer)
                        .trim_end()
                        .to_owned()
                });
                return std::iter::once(read).chain(problems).collect();
            }
            let (document, pointer) = (last.as_ref().unwrap(), Pointer::parse(rest).unwrap());
            match word {
                "place" => {
                    let at = document.source.locate(&pointer);
                    assert_eq!(document.source.locate_all(&[&pointer]), [at]);
                    vec![format!("{}:{}", at.line, at.column)]
                }
                "written" => {
                    let text = document.text_at(&pointer);
                    vec![text.map_or("nothing".to_owned(), |text| format!("`{text}`"))]
                }
                other => panic!("there is no word `{other}`"),
            }
        }
    });
}

#[test]
fn locations_found_in_bulk_equal_single_lookups() {
    let json = "{\n  \"ä\": {\"b/c\": [1,\n   {\"d\": null}]},\n  \"e\": \"}\\\"\"\n}";
    let yaml = "# top\nä:\n  b/c: [1,\n   {d: null}]\ne: x\n";
    let pointers = ["/e", "", "/ä", "/ä/b~1c/1/d", "/ä/b~1c/9", "/x/y"].map(|at| Pointer::parse(at).unwrap());
    for text in [json, yaml] {
        let source = &parse("x", text).0.unwrap().source;
        let alone = pointers.each_ref().map(|pointer| source.locate(pointer));
        assert_eq!(source.locate_all(&pointers.each_ref()), alone);
    }
}

/// The codes and positions of the problems of a text, and whether it was parsed.
fn trouble(text: &str) -> (bool, Vec<(&'static str, usize, usize)>) {
    let (document, problems) = parse("x", text);
    let placed = problems.placed();
    (document.is_some(), placed.iter().map(|(at, p)| (p.code.id(), at.line, at.column)).collect())
}

#[test]
fn aliases_are_bounded() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let inner = format!("*a{}, ", level - 1).repeat(10);
        bomb.push_str(&format!("a{level}: &a{level} [{inner}]\n"));
    }
    let (read, problems) = trouble(&bomb);
    assert!(!read);
    assert_eq!(problems[0].0, "E0109");
    let long = "x".repeat(100_000);
    let texts = format!("a: &a {long}\nb: [{}]\n", "*a, ".repeat(100_000));
    assert_eq!(trouble(&texts).1[0].0, "E0109");
    for copy in ["*m", "{*k : 1}"] {
        let keys =
            format!("k: &k {long}\na: &m {{? {long} : 1}}\nb: [{}]\n", format!("{copy}, ").repeat(2000));
        assert_eq!(trouble(&keys).1[0].0, "E0109", "{copy}");
    }
}

#[test]
fn depth_is_bounded() {
    for (text, code) in [
        ("[".repeat(10_000), "E0107"),
        ("{\"a\":".repeat(10_000), "E0107"),
        ((0..10_000).map(|level| format!("{}a:\n", " ".repeat(level))).collect(), "E0107"),
        ("- ".repeat(10_000), "E0107"),
        (format!("a: {}", "[".repeat(10_000)), "E0104"),
    ] {
        let (read, problems) = trouble(&text);
        assert!(!read);
        assert_eq!(problems[0].0, code);
    }
    let deep = format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
    assert!(parse("x", &deep).0.is_some());
}

#[test]
fn aliases_count_towards_document_depth() {
    let mut text = String::from("a0: &a0 [[[[x]]]]\n");
    for level in 1..200 {
        text.push_str(&format!("a{level}: &a{level} [[[[*a{}]]]]\n", level - 1));
    }
    let (read, problems) = trouble(&text);
    assert!(!read);
    assert_eq!(problems[0].0, "E0107");
}

#[test]
fn file_name_is_irrelevant() {
    assert_eq!(parse("x.json", "a: 1\n").0.unwrap().root, json!({"a": 1}));
    assert_eq!(parse("x.yaml", "{\"a\": 1}").0.unwrap().source.format, Format::Json);
    let (document, problems) = parse("x.yaml", "{a: 1, \"b\": 2,}");
    assert_eq!(document.unwrap().root, json!({"a": 1, "b": 2}));
    assert!(problems.is_empty());
}

#[test]
fn invalid_utf8_is_rejected_or_replaced() {
    let read = |bytes: &[u8]| {
        let mut problems = Problems::new();
        let document = Document::from_bytes(Path::new("x"), bytes.to_vec(), &mut problems);
        (document.map(|document| document.root.clone()), problems.as_slice().first().map(|p| p.code.id()))
    };
    assert_eq!(read(b"\xff\xfe{\0}\0"), (None, Some("E0102")));
    assert_eq!(read(b"{\0}\0"), (None, Some("E0102")));
    assert_eq!(read(b"\x7fELF\0\x01\x02"), (None, Some("E0102")));
    assert_eq!(read(b"\xef\xbb\xbf{\"a\": 1}"), (Some(json!({"a": 1})), None));
    assert_eq!(read(b"\xef\xbb\xbfa: 1"), (Some(json!({"a": 1})), None));
    assert_eq!(read(b"a: gr\xfcn"), (Some(json!({"a": "gr\u{fffd}n"})), Some("E0105")));
    assert_eq!(read(&vec![b' '; MAX_BYTES + 1]), (None, Some("E0102")));
}

#[test]
fn unreadable_files_are_reported() {
    for name in ["no/such/file.yaml", env!("CARGO_MANIFEST_DIR")] {
        let mut problems = Problems::new();
        assert!(Document::load(Path::new(name), &mut problems).is_none());
        assert_eq!(problems.as_slice()[0].code, codes::UNREADABLE_FILE);
    }
}

#[test]
fn pointers_follow_rfc_6901() {
    let document = json!({"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "m~n": 8, " ": 7});
    for (fragment, want) in [
        ("#/foo/0", json!("bar")),
        ("#/", json!(0)),
        ("#/a~1b", json!(1)),
        ("#/c%25d", json!(2)),
        ("#/%20", json!(7)),
    ] {
        assert_eq!(Pointer::from_fragment(fragment).unwrap().resolve(&document), Some(&want), "{fragment}");
    }
    assert_eq!(Pointer::from_fragment("#").unwrap().resolve(&document), Some(&document));
    assert_eq!(Pointer::from_fragment("#/c%d").unwrap().resolve(&document), Some(&json!(2)));
    assert_eq!(Pointer::from_fragment("#anchor"), None);
    assert_eq!(Pointer::from_fragment("#/%ff"), None);
    let odd = Pointer::ROOT.child("m~n").child("a/b").item(3);
    assert_eq!(odd.as_str(), "/m~0n/a~1b/3");
    assert_eq!(odd.tokens().collect::<Vec<_>>(), ["m~n", "a/b", "3"]);
    assert_eq!(odd.parent().unwrap().last().unwrap(), "a/b");
    assert_eq!(Pointer::ROOT.parent(), None);
    assert_eq!(Pointer::ROOT.tokens().count(), 0);
}

/// Any JSON value.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[a-z0-9:#&*! \\n\\t'\"-]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn json_round_trips(value in any_json()) {
        for text in [value.to_string(), format!("{value:#}")] {
            let (read, findings) = json::read(&text);
            prop_assert!(findings.is_empty(), "{findings:?}");
            prop_assert_eq!(read.as_ref().map(|(read, _)| read), Some(&value));
        }
    }

    #[test]
    fn yaml_parses_json_like_json(value in any_json()) {
        let text = value.to_string();
        let (read, findings) = yaml::read(&text);
        prop_assert!(findings.is_empty(), "{text} {findings:?}");
        prop_assert_eq!(read.map(|(read, _)| read), json::read(&text).0.map(|(read, _)| read));
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut problems = Problems::new();
        let document = Document::from_bytes(Path::new("x"), bytes, &mut problems);
        prop_assert!(document.is_some() || problems.has_errors());
        let _ = problems.placed();
    }

    #[test]
    fn lenient_json_is_accepted_only_if_it_is_json(text in "[\\[\\]{},:\"\\\\a1.e \\n-]{0,12}") {
        let (read, findings) = json::read(&text);
        let strict = serde_json::from_str::<Value>(&text).is_ok();
        prop_assert_eq!(read.is_some() && findings.iter().all(|f| f.code == codes::DUPLICATE_KEY), strict, "{:?}", findings);
    }

    #[test]
    fn damaged_yaml_never_panics(text in "[\\[\\]{},:\"'&*!|>?#%@a1.~<=é \\n\\t-]{0,60}") {
        let (read, findings) = yaml::read(&text);
        prop_assert!(read.is_some() || !findings.is_empty());
        yaml::locate(&text, &[&Pointer::parse("/a/1").unwrap()]);
    }

    #[test]
    fn every_location_of_a_document_is_found(value in any_json()) {
        let text = format!("{value:#}");
        let mut pointers = Vec::new();
        collect(&value, &Pointer::ROOT, &mut pointers);
        let source = Source { path: PathBuf::new(), text: text.clone(), ..Source::default() };
        let refs: Vec<&Pointer> = pointers.iter().collect();
        let lines: Vec<&str> = text.split('\n').collect();
        for (pointer, at) in pointers.iter().zip(source.locate_all(&refs)) {
            let rest: String = lines[at.line - 1].chars().skip(at.column - 1).collect();
            let parent = pointer.parent().and_then(|parent| parent.resolve(&value));
            let want = match (parent, pointer.last()) {
                (Some(Value::Object(_)), Some(key)) => Value::from(key.into_owned()).to_string(),
                _ => format!("{:#}", pointer.resolve(&value).unwrap()).lines().next().unwrap_or("").to_owned(),
            };
            prop_assert!(rest.starts_with(&want), "{pointer}: {rest:?} does not begin with {want:?}");
        }
    }
}

fn collect(value: &Value, at: &Pointer, pointers: &mut Vec<Pointer>) {
    pointers.push(at.clone());
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(key, value)| collect(value, &at.child(key), pointers));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, value)| collect(value, &at.item(i), pointers));
        }
        _ => {}
    }
}
