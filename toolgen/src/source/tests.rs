use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::problem::{Problems, codes};

fn parse(name: &str, text: &str) -> (Option<Arc<Document>>, Problems) {
    let mut problems = Problems::new();
    let document = Document::parse(Path::new(name), text, &mut problems);
    (document, problems)
}

fn value(text: &str) -> Value {
    let (document, problems) = parse("x", text);
    assert!(problems.is_empty(), "{text}: {:?}", problems.as_slice());
    document.unwrap().root.clone()
}

/// The codes and positions of the problems of a text, and whether it was read.
fn trouble(text: &str) -> (bool, Vec<(&'static str, usize, usize)>) {
    let (document, problems) = parse("x", text);
    let placed = problems.placed();
    (document.is_some(), placed.iter().map(|(at, p)| (p.code.id(), at.line, at.column)).collect())
}

#[test]
fn scalars_follow_the_core_schema() {
    let text = "a: 1e-08\nb: NO\nc: 0o17\nd: 0x1F\ne: '1'\nf: yes\ng: 2001-12-14\nh: ~\ni:\nj: True\nk: 1_000\n\
                l: 1.\nm: .5\nn: -12\no: +3\np: 12:30:45\nq: 007\nr: 1.0.0\ns: '-'\n? t\n: .\nu: 0b1\nv: !!str 5\nw: ! 5\n\
                x: !!int 5\n";
    let want = json!({
        "a": 1e-8, "b": "NO", "c": 15, "d": 31, "e": "1", "f": "yes", "g": "2001-12-14", "h": null, "i": null,
        "j": true, "k": "1_000", "l": 1.0, "m": 0.5, "n": -12, "o": 3, "p": "12:30:45", "q": 7, "r": "1.0.0",
        "s": "-", "t": ".", "u": "0b1", "v": "5", "w": "5", "x": 5,
    });
    assert_eq!(value(text), want);
}

#[test]
fn keys_are_texts() {
    assert_eq!(
        value("200: a\ntrue: b\n1.0: c\nnull: d\n"),
        json!({"200": "a", "true": "b", "1.0": "c", "null": "d"})
    );
}

#[test]
fn absurd_numbers_are_read_as_near_as_possible() {
    for (text, want, code) in [
        ("[18446744073709551616]", json!([18446744073709551616.0]), codes::INEXACT_NUMBER),
        ("[-9223372036854775809]", json!([-9223372036854775809.0]), codes::INEXACT_NUMBER),
        ("[1e400]", json!([f64::MAX]), codes::INFINITE_NUMBER),
        ("[-1e400]", json!([f64::MIN]), codes::INFINITE_NUMBER),
    ] {
        let (document, problems) = parse("x", text);
        assert_eq!(document.unwrap().root, want);
        assert_eq!(problems.as_slice()[0].code, code);
        assert_eq!(problems.as_slice()[0].pointer.as_str(), "/0");
        let (document, problems) = parse("x", &format!("a:\n  b: {}\n", &text[1..text.len() - 1]));
        assert_eq!(document.unwrap().root["a"]["b"], want[0]);
        assert_eq!(problems.placed()[0].0, Position { line: 2, column: 6 });
    }
    assert_eq!(
        value("[18446744073709551615, -9223372036854775808, 1e-400]"),
        json!([u64::MAX, i64::MIN, 0.0])
    );
    assert_eq!(trouble("a: .inf\nb: -.INF\nc: .nan\n").1.len(), 3);
}

#[test]
fn duplicate_keys_keep_the_last_value() {
    for text in
        ["{\n \"a\": 1,\n \"b\": {},\n \"a\": 2\n}", "a: 1\nb: {}\n\n a: 2\n".replace(" a", "a").as_str()]
    {
        let (document, problems) = parse("x", text);
        assert_eq!(document.as_ref().unwrap().root, json!({"a": 2, "b": {}}));
        assert_eq!(problems.as_slice().len(), 1);
        let (at, problem) = problems.placed()[0];
        assert_eq!((problem.code, problem.pointer.as_str(), at.line), (codes::DUPLICATE_KEY, "/a", 4));
    }
}

#[test]
fn merge_keys_are_honoured() {
    let text = "base: &base {a: 1, b: 2}\nother: &other {b: 3, c: 4}\none:\n  <<: *base\n  b: 5\n\
                two:\n  <<: [*base, *other]\nthree:\n  '<<': 1\nfour:\n  <<: *base\n  <<: *other\n";
    let value = value(text);
    assert_eq!(value["one"], json!({"a": 1, "b": 5}));
    assert_eq!(value["two"], json!({"a": 1, "b": 2, "c": 4}));
    assert_eq!(value["three"], json!({"<<": 1}));
    assert_eq!(value["four"], json!({"a": 1, "b": 2, "c": 4}));
    let (document, _) = parse("x", text);
    let place = |pointer| document.as_ref().unwrap().source.locate(&Pointer::parse(pointer).unwrap());
    assert_eq!(place("/one/a"), Position { line: 1, column: 14 });
    assert_eq!(place("/one/b"), Position { line: 5, column: 3 });
}

#[test]
fn aliases_are_copies_and_bounded() {
    assert_eq!(value("a: &x [1, {b: 2}]\nc: *x\n"), json!({"a": [1, {"b": 2}], "c": [1, {"b": 2}]}));
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
    assert_eq!(trouble("a: &a\n  b: *a\n"), (true, vec![("E0110", 2, 6)]));
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
fn aliases_cannot_go_deeper_than_the_document() {
    let mut text = String::from("a0: &a0 [[[[x]]]]\n");
    for level in 1..200 {
        text.push_str(&format!("a{level}: &a{level} [[[[*a{}]]]]\n", level - 1));
    }
    let (read, problems) = trouble(&text);
    assert!(!read);
    assert_eq!(problems[0].0, "E0107");
}

#[test]
fn broken_texts_have_a_place() {
    for (text, code, line, column) in [
        ("", "E0103", 1, 1),
        (" \n\n", "E0103", 1, 1),
        ("# nothing\n", "E0103", 1, 1),
        ("{\"a\": 1,}", "E0104", 1, 9),
        ("[1, 2,\n]", "E0104", 2, 1),
        ("[,]", "E0104", 1, 2),
        ("{\"a\": 1\n \"b\": 2}", "E0104", 2, 2),
        ("{\"ä\": tru}", "E0104", 1, 7),
        ("{\"a\": 01}", "E0104", 1, 7),
        ("{\"a\": 1.}", "E0104", 1, 7),
        ("{\"a\": \"b\n", "E0104", 1, 7),
        ("{\"a\": \"\\x\"}", "E0104", 1, 8),
        ("{\"a\"", "E0104", 1, 5),
        ("{a: 1, \"b\": 2}", "E0104", 1, 2),
        ("a: b: c\n", "E0104", 1, 5),
        ("a: *unknown\n", "E0104", 1, 4),
    ] {
        let (read, problems) = trouble(text);
        assert!(!read, "{text}");
        assert_eq!(problems, [(code, line, column)], "{text}");
    }
}

#[test]
fn readable_oddities_are_read() {
    let cases = [
        ("{\"a\": 1} }", json!({"a": 1}), "E0108"),
        ("{\"a\": \"b\nc\"}", json!({"a": "b\nc"}), "W0112"),
        ("{\"a\": \"\\ud800x\"}", json!({"a": "\u{fffd}x"}), "W0112"),
        ("a: 1\n---\nb: 2\n", json!({"a": 1}), "W0114"),
        ("a: Posts to the channel #general of it\n", json!({"a": "Posts to the channel"}), "W0119"),
        ("- é x: Fixes issue #5\n", json!([{"é x": "Fixes issue"}]), "W0119"),
        ("a: !include b\n", json!({"a": "b"}), "W0115"),
        ("a: !!int b\n", json!({"a": "b"}), "W0116"),
        ("? [1, 2]\n: 3\na: 4\n", json!({"a": 4}), "E0111"),
    ];
    for (text, want, code) in cases {
        let (document, problems) = parse("x", text);
        assert_eq!(document.unwrap().root, want, "{text}");
        let codes: Vec<_> = problems.as_slice().iter().map(|problem| problem.code.id()).collect();
        assert_eq!(codes, [code], "{text}");
    }
}

#[test]
fn comments_are_no_part_of_a_text() {
    for text in [
        "a: x #y\n",
        "a: x y # z\n",
        "a: x y ## z\n",
        "a: 'x y' #z\n",
        "a: x#y z\n",
        "a: [x y, z] #w\n",
        "#a b\na: >\n  x y #z\n",
    ] {
        assert!(parse("x", text).1.as_slice().is_empty(), "{text}");
    }
}

#[test]
fn the_name_of_a_file_does_not_matter() {
    assert_eq!(parse("x.json", "a: 1\n").0.unwrap().root, json!({"a": 1}));
    assert_eq!(parse("x.yaml", "{\"a\": 1}").0.unwrap().source.format, Format::Json);
    let (document, problems) = parse("x.yaml", "{a: 1, \"b\": 2,}");
    assert_eq!(document.unwrap().root, json!({"a": 1, "b": 2}));
    assert!(problems.is_empty());
}

#[test]
fn bytes_that_are_no_text_are_refused_and_others_replaced() {
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
fn files_that_cannot_be_read_are_said_to_be() {
    for name in ["no/such/file.yaml", env!("CARGO_MANIFEST_DIR")] {
        let mut problems = Problems::new();
        assert!(Document::load(Path::new(name), &mut problems).is_none());
        assert_eq!(problems.as_slice()[0].code, codes::UNREADABLE_FILE);
    }
}

#[test]
fn places_are_keys_of_members_and_values_of_items() {
    let json = "{\n  \"ä\": {\"b/c\": [1,\n   {\"d\": null}]},\n  \"e\": \"}\\\"\"\n}";
    let yaml = "# top\nä:\n  b/c: [1,\n   {d: null}]\ne: x\n";
    let places = |text, pointers: &[&str]| {
        let (document, _) = parse("x", text);
        let pointers: Vec<Pointer> = pointers.iter().map(|text| Pointer::parse(text).unwrap()).collect();
        let refs: Vec<&Pointer> = pointers.iter().collect();
        let all = document.as_ref().unwrap().source.locate_all(&refs);
        for (pointer, at) in pointers.iter().zip(&all) {
            assert_eq!(document.as_ref().unwrap().source.locate(pointer), *at);
        }
        all.iter().map(|at| (at.line, at.column)).collect::<Vec<_>>()
    };
    let pointers =
        ["/e", "", "/ä", "/ä/b~1c", "/ä/b~1c/1", "/ä/b~1c/1/d", "/ä/b~1c/9", "/x/y", "/ä/b~1c/1/d/z"];
    let want = [(4, 3), (1, 1), (2, 3), (2, 9), (3, 4), (3, 5), (2, 9), (1, 1), (3, 5)];
    assert_eq!(places(json, &pointers), want);
    let want = [(5, 1), (2, 1), (2, 1), (3, 3), (4, 4), (4, 5), (3, 3), (2, 1), (4, 5)];
    assert_eq!(places(yaml, &pointers), want);
    assert_eq!(
        places("{\"a\": {\"b\": 1},\n\"a\": {\n\"c\": 2}}", &["/a/b", "/a/c", "/a"]),
        [(2, 1), (3, 1), (2, 1)]
    );
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
    fn json_is_read_as_it_was_written(value in any_json()) {
        for text in [value.to_string(), format!("{value:#}")] {
            let (read, findings) = json::read(&text);
            prop_assert!(findings.is_empty(), "{findings:?}");
            prop_assert_eq!(read.as_ref().map(|(read, _)| read), Some(&value));
        }
    }

    #[test]
    fn yaml_reads_json_as_json_does(value in any_json()) {
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
    fn almost_json_is_accepted_exactly_where_it_is_json(text in "[\\[\\]{},:\"\\\\a1.e \\n-]{0,12}") {
        let (read, findings) = json::read(&text);
        let strict = serde_json::from_str::<Value>(&text).is_ok();
        prop_assert_eq!(read.is_some() && findings.iter().all(|f| f.code == codes::DUPLICATE_KEY), strict, "{:?}", findings);
    }

    #[test]
    fn almost_yaml_never_panics(text in "[\\[\\]{},:\"'&*!|>?#%@a1.~<=é \\n\\t-]{0,60}") {
        let (read, findings) = yaml::read(&text);
        prop_assert!(read.is_some() || !findings.is_empty());
        yaml::places(&text, &[&Pointer::parse("/a/1").unwrap()]);
    }

    #[test]
    fn every_place_of_a_document_is_found(value in any_json()) {
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

#[test]
fn the_text_of_a_scalar_is_kept_where_its_value_prints_otherwise() {
    let text = "a: &a {v: 1.10, w: 2.5, x: [01, 7, 0x1F, 1e3, .5, +1, 1_000, True, true, ~, \"1.10\", 1.0]}\n\
                b: {<<: *a, v: 3.20, w: 2.50}\nc: {<<: *a, v: 3.2}\nv: 1.10\nv: 1.1\n";
    let mut problems = Problems::new();
    let document = Document::parse(Path::new("x"), text, &mut problems).unwrap();
    let of = |place: &str| {
        let place = Pointer::parse(place).unwrap();
        document.text_at(&place).map(std::borrow::Cow::into_owned)
    };
    for (place, written) in [
        ("/a/v", "1.10"),
        ("/a/w", "2.5"),
        ("/a/x/0", "01"),
        ("/a/x/1", "7"),
        ("/a/x/2", "0x1F"),
        ("/a/x/3", "1e3"),
        ("/a/x/4", ".5"),
        ("/a/x/5", "+1"),
        ("/a/x/6", "1_000"),
        ("/a/x/7", "True"),
        ("/a/x/8", "true"),
        ("/a/x/10", "1.10"),
        ("/a/x/11", "1.0"),
        ("/b/v", "3.20"),
        ("/b/w", "2.50"),
        ("/b/x/0", "01"),
        ("/c/v", "3.2"),
        ("/c/w", "2.5"),
        ("/v", "1.1"),
    ] {
        assert_eq!(of(place).as_deref(), Some(written), "{place}");
    }
    assert_eq!((of("/a/x/9"), of("/a")), (None, None));
    let document =
        Document::parse(Path::new("x"), "{\"a\": [1.10, {\"b/c\": 1E3}, 12]}", &mut problems).unwrap();
    for (place, written) in [("/a/0", "1.10"), ("/a/1/b~1c", "1E3"), ("/a/2", "12")] {
        assert_eq!(document.text_at(&Pointer::parse(place).unwrap()).as_deref(), Some(written), "{place}");
    }
}
