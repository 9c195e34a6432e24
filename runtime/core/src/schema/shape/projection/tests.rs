//! The shape of a projected value accepts every projected value.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::schema::shape::arbitrary;
use crate::schema::shape::decode::result_problems;
use crate::schema::shape::read::read_document;

fn read(schema: &Value) -> (Shape, List<Def>) {
    read_document(schema, &mut Vec::new())
}

fn path() -> impl Strategy<Value = String> {
    proptest::collection::vec("[a-c]{1,2}", 1..3).prop_map(|names| names.join("."))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn projected_value_has_the_projected_shape(
        root in arbitrary::shape(),
        (a, b) in (arbitrary::shape(), arbitrary::shape()),
        value in arbitrary::json(),
        paths in proptest::collection::vec(path(), 1..4),
    ) {
        let def = |name: &str, shape: Shape| Def { name: name.to_owned().into(), schema: shape.into() };
        let defs: List<Def> = vec![def("a", a), def("b", b)].into();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        if result_problems(&value, &root, &defs).is_empty() {
            let projected = project(&value, &paths).value;
            let shape = project_shape(&root, &defs, &paths);
            let problems = result_problems(&projected, &shape, &defs);
            prop_assert!(problems.is_empty(), "{projected} from {value}: {problems:?}\n{shape:?}");
        }
    }

    /// A path that the shape excludes selects nothing, or a value without parts.
    #[test]
    fn excluded_path_matches_nothing(root in arbitrary::shape(), value in arbitrary::json(), path in path()) {
        let excluded = matches!(presence(&root, &List::EMPTY, &path), Presence::Excluded(_));
        let has_values = value.as_array().is_some_and(|items| !items.is_empty()) || value.is_object();
        if excluded && has_values && result_problems(&value, &root, &List::EMPTY).is_empty() {
            let Projected { value: projected, unmatched, .. } = project(&value, &[&path]);
            prop_assert!(unmatched == [path] || value.to_string().contains("null") || value.to_string().contains("[]"),
                "{projected} from {value}");
        }
    }
}

#[test]
fn paths_select_parts_of_items() {
    let value = json!({
        "total": 2, "items": [
            {"id": 1, "owner": {"login": "ada", "id": 9}, "labels": [{"name": "x", "color": "red"}], "a.b": 5},
            {"id": 2, "owner": null, "labels": [], "a.b": 6, "meta": {"note": "n"}},
        ],
    });
    let paths = ["items.id", "items.owner.login", "items.labels.name", "items.a.b"];
    assert_eq!(
        project(&value, &paths),
        Projected {
            value: json!({"items": [
                {"id": 1, "owner": {"login": "ada"}, "labels": [{"name": "x"}], "a.b": 5},
                {"id": 2, "owner": null, "labels": [], "a.b": 6},
            ]}),
            unmatched: vec![],
            has_parts: true,
        }
    );
    // A root list, a whole member, a path after a single value, and a path that selects nothing.
    let list = &value["items"];
    let Projected { value, unmatched, has_parts } = project(list, &["owner", "owner.id", "id.x", "size"]);
    assert_eq!(value, json!([{"id": 1, "owner": {"login": "ada", "id": 9}}, {"id": 2, "owner": null}]));
    assert_eq!((unmatched, has_parts), (vec!["id.x".to_owned(), "size".to_owned()], true));
    // `null` may have any part, but has none.
    let failed = project(&json!({"data": null, "errors": [1]}), &["data.id"]);
    assert_eq!((failed.unmatched.is_empty(), failed.has_parts), (true, false));
    assert_eq!(project(&json!("text"), &["a"]).value, json!("text"));
}

#[test]
fn projected_shape_declares_only_selected_fields() {
    let (shape, defs) = read(&json!({
        "type": "object", "required": ["items", "total"], "additionalProperties": false,
        "properties": {"total": {"type": "integer"}, "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}}},
        "$defs": {"Item": {
            "type": "object", "required": ["id", "name"], "additionalProperties": false,
            "properties": {"id": {"type": "integer", "minimum": 1}, "name": {"type": "string"}},
        }},
    }));
    let (expected, _) = read(&json!({
        "type": "object", "required": ["items"], "additionalProperties": false,
        "properties": {"items": {"type": "array", "items": {
            "type": "object", "required": ["id"], "additionalProperties": false,
            "properties": {"id": {"type": "integer", "minimum": 1}},
        }}},
    }));
    assert_eq!(project_shape(&shape, &defs, &["items.id"]), expected);
    let answers = |path: &str| presence(&shape, &defs, path);
    assert_eq!((answers("items"), answers("items.id")), (Presence::Declared, Presence::Declared));
    for (path, message) in [
        ("items.naem", "`items` has no field `naem` (did you mean `items.name`?)"),
        ("itms.id", "the result has no field `itms` (did you mean `items.id`?)"),
        ("total.x", "`total` is an integer, without fields"),
        ("zzz", "the result has no field `zzz`; it has `total`, `items`"),
    ] {
        assert_eq!(answers(path), Presence::Excluded(message.to_owned()));
    }
    assert_eq!(candidates(&shape, &defs), ["total", "items", "items.id", "items.name"]);
    assert!(has_list_of_objects(&shape, &defs) && !is_scalar(&shape, &defs));
    // An open object may have other members.
    let (open, defs) = read(&json!({"type": "object", "properties": {"id": {"type": "integer"}}}));
    assert_eq!(presence(&open, &defs, "other"), Presence::Possible);
    assert!(!has_list_of_objects(&open, &defs));
}
