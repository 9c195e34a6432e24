use serde_json::json;

use super::*;

fn found(path: &str, root: &Value) -> Vec<String> {
    let path = JsonPath::parse(path).unwrap_or_else(|why| panic!("{path}: {why}"));
    path.select(root).iter().map(ToString::to_string).collect()
}

#[test]
fn queries_find_what_the_rfc_says() {
    let root =
        json!({"a": [1, 2, 3, {"b": "x", "c-d": [true]}], "o": {"b": "y", "n": null}, "x/y": 1, "ü": 2});
    let cases: &[(&str, &[&str])] = &[
        ("$", &[""]),
        ("$.a[0]", &["/a/0"]),
        ("$.a[-1].b", &["/a/3/b"]),
        ("$['a'][\"0\"]", &[]),
        ("$.a[1:3]", &["/a/1", "/a/2"]),
        ("$.a[::-2]", &["/a/3", "/a/1"]),
        ("$.a[:0:-1]", &["/a/3", "/a/2", "/a/1"]),
        ("$.a[0,0,1]", &["/a/0", "/a/1"]),
        ("$.a[5]", &[]),
        ("$..b", &["/a/3/b", "/o/b"]),
        ("$.*.b", &["/o/b"]),
        ("$.a[3].c-d", &["/a/3/c-d"]),
        ("$['x/y']", &["/x~1y"]),
        ("$.ü", &["/ü"]),
        ("$['\\u00fc']", &["/ü"]),
        ("$ .a [ 0 , 1 ]", &["/a/0", "/a/1"]),
        ("$.a[?@ > 1]", &["/a/1", "/a/2"]),
        ("$.a[?@ >= 1 && !(@ == 2.0)]", &["/a/0", "/a/2"]),
        ("$[?@.b == 'y']", &["/o"]),
        ("$[?(@.b)]", &["/o"]),
        ("$[?@.n == null]", &["/o"]),
        ("$.o[?@ == $.o.b]", &["/o/b"]),
        ("$.a[?@.b == 'x' || @ == 1]", &["/a/0", "/a/3"]),
        ("$[?length(@) == 4]", &["/a"]),
        ("$[?count(@.*) > 3]", &["/a"]),
        ("$[?value(@..b) == 'y']", &["/o"]),
        ("$.o[?match(@, '[a-y]')]", &["/o/b"]),
        ("$..[?search(@, 'x|y')]", &["/a/3/b", "/o/b"]),
        ("$[?@[?(@ == 2)]]", &["/a"]),
        ("$[?@.missing == @.other]", &["/a", "/o", "/x~1y", "/ü"]),
    ];
    for (path, expected) in cases {
        assert_eq!(found(path, &root), *expected, "{path}");
    }
}

#[test]
fn what_is_no_query_is_told_with_its_place() {
    let cases = [
        (
            "info.title",
            "a query starts with `$`, the whole document, but there is something else at character 1",
        ),
        ("$.", "expected a name or `*`; other names are written as `['name']` at character 3"),
        ("$x", "expected `.`, `..` or `[` at character 2"),
        ("$['a", "the text does not end at character 5"),
        ("$[", "expected a quoted name, an index, a slice, `*` or a filter `?…` at character 3"),
        (
            "$[?@.a ==]",
            "expected `@`, `$`, a text in quotes, a number, `true`, `false` or `null` at character 10",
        ),
        ("$[?1]", "expected a comparison such as `==` at character 5"),
        ("$[0", "expected `]` or `,` at character 4"),
    ];
    for (path, expected) in cases {
        assert_eq!(JsonPath::parse(path).unwrap_err().to_string(), expected, "{path}");
    }
    assert!(JsonPath::parse(&format!("$[?{}@", "(".repeat(100_000))).is_err());
    assert!(JsonPath::parse(&format!("$[?{}@", "!".repeat(100_000))).is_err());
    assert!(JsonPath::parse(&format!("$[?{}@", "length(".repeat(100_000))).is_err());
    assert!(JsonPath::parse(&format!("${}", "[?@".repeat(100_000))).is_err());
}
