//! Tests of the cost of hostile arguments and patterns.

use serde_json::{Value, json};

use super::{assert_decodes, cpu_time, decoded, object};
use crate::schema::dialect::JSON_SCHEMA;
use crate::schema::shape::decode::check::Checker;
use crate::schema::shape::decode::decode_owned;
use crate::schema::shape::decode::transform::{completed, to_wire_names};
use crate::schema::shape::read::read_document;

#[test]
fn hostile_patterns_and_strings_are_bounded() {
    let schema = object(
        &json!({"a": {"type": "string", "pattern": "^(a+)+$"}, "b": {"type": "string", "pattern": "["}}),
    );
    let problems = decoded(&schema, &json!({"a": "a".repeat(3_000) + "!"}), &JSON_SCHEMA).unwrap_err();
    assert!(problems[0].starts_with("/a: must match the pattern ^(a+)+$"), "{problems:?}");
    assert_decodes(&schema, &json!({"b": "x"}), &json!({"b": "x"}));
    let problems = decoded(&schema, &json!({"ß".repeat(500): 1, "b": 7}), &JSON_SCHEMA).unwrap_err();
    assert!(problems.iter().all(|problem| problem.len() < 2_000), "{problems:?}");
    let many: Vec<Value> = (0..10_000).map(Value::from).collect();
    let list = object(&json!({"a": {"type": "array", "items": {"type": "string"}}}));
    assert_eq!(decoded(&list, &json!({ "a": many }), &JSON_SCHEMA).unwrap_err().len(), 100);
}

#[test]
fn long_strings_are_matched_or_accepted() {
    let schema = object(&json!({
        "slug": {"type": "string", "pattern": "^[a-z0-9_-]+$"},
        "url": {"type": "string", "pattern": r"^https://([a-z]+\.)*corp\.example/"},
        "twice": {"type": "string", "pattern": r"^(.+)\1$"},
    }));
    let long = "a".repeat(5_000);
    let first_problem = |given: Value| decoded(&schema, &given, &JSON_SCHEMA).unwrap_err().remove(0);
    let message = first_problem(json!({"slug": format!("../x; DROP {long}")}));
    assert!(message.starts_with("/slug: must match the pattern"), "{message}");
    let message = first_problem(json!({"url": format!("http://evil.example/{long}")}));
    assert!(message.starts_with("/url: must match the pattern"), "{message}");
    for valid in [json!({"slug": long}), json!({"url": format!("https://a.corp.example/{long}")})] {
        assert_decodes(&schema, &valid, &valid);
    }
    for (twice, expected) in [("a".repeat(5_000), true), ("a".repeat(501), false)] {
        let given = json!({ "twice": twice });
        assert_eq!(decoded(&schema, &given, &JSON_SCHEMA).is_ok(), expected, "{}", twice.len());
    }

    // The combinations of matched groups are unlimited. If that takes too long, the result is unknown.
    let thrice = r"^(a+)(a+)(a+)\1\2\3b";
    let schema = object(&json!({"thrice": {"type": "string", "pattern": thrice}}));
    let given = json!({"thrice": "a".repeat(5_000)});
    assert_decodes(&schema, &given, &given);
    assert_eq!(
        unchecked_notes(&schema, &given),
        [format!("/thrice: passed without a check against the pattern {thrice}: it takes too many steps")]
    );
    assert_eq!(unchecked_notes(&schema, &json!({"thrice": "aaaaaab"})), [""; 0]);
    let keys = json!({"type": "object", "patternProperties": {thrice: {"type": "integer"}}, "additionalProperties": false});
    let given = json!({"a".repeat(5_000): "no integer"});
    assert_decodes(&keys, &given, &given);
    let messages = unchecked_notes(&keys, &given);
    let expected_end =
        format!("…\" passed without a check against the pattern {thrice}: it takes too many steps");
    assert!(
        messages.len() == 1
            && messages[0].starts_with(": the key \"aaa")
            && messages[0].ends_with(&expected_end),
        "{messages:?}"
    );
    // A pattern that is never matched, and an invalid one: both were reported when the schema was read.
    let schema = object(
        &json!({"a": {"pattern": "((((a{1,9}b){99}){99}){99}){99}"}, "b": {"type": "string", "pattern": "["}}),
    );
    let messages = unchecked_notes(&schema, &json!({"a": "b", "b": "b"}));
    assert!(messages.len() == 1 && messages[0].starts_with("/a: passed"), "{messages:?}");
    // A string in an array and in a union, in the form that a dialect requires.
    let schema = object(&json!({"a": {"type": "object", "additionalProperties": {"anyOf": [
        {"type": "string", "pattern": thrice}, {"type": "integer"}
    ]}}}));
    let messages = unchecked_notes(&schema, &json!({"a": {"x": "a".repeat(5_000), "y": 1}}));
    assert!(messages.len() == 1 && messages[0].starts_with("/a/x: passed"), "{messages:?}");
}

/// Returns the notes about strings that were accepted without a check.
fn unchecked_notes(schema: &Value, given: &Value) -> Vec<String> {
    let (shape, defs) = read_document(schema, &mut Vec::new());
    let mut unchecked = Vec::new();
    decode_owned(given.clone(), &shape, &defs, &JSON_SCHEMA, &mut unchecked).unwrap();
    unchecked.into_iter().map(|problem| format!("{}: {}", problem.pointer, problem.message)).collect()
}

#[test]
fn patterns_share_the_step_budget_of_a_call() {
    let pattern = "^(a*){300}b";
    let schema = object(&json!({"a": {"type": "array", "items": {"type": "string", "pattern": pattern}}}));
    let problems = decoded(&schema, &json!({"a": vec!["a".repeat(2_000); 30]}), &JSON_SCHEMA).unwrap_err();
    let spent = "takes too many steps to be checked; send fewer and shorter values";
    assert!(problems.last().is_some_and(|problem| problem.contains(spent)), "{problems:?}");
    let keys = json!({"type": "object", "patternProperties": {pattern: {}}});
    let given: serde_json::Map<String, Value> =
        (0..30).map(|index| ("a".repeat(2_000) + &index.to_string(), Value::Null)).collect();
    assert!(decoded(&keys, &Value::Object(given), &JSON_SCHEMA).is_err());
    // Steps are counted, not estimated: these match immediately.
    let quick = object(&json!({"a": {"type": "array", "items": {"type": "string", "pattern": "^a*a*a*b"}}}));
    let given = json!({"a": vec!["b".repeat(250); 4_000]});
    assert_decodes(&quick, &given, &given);
    let mails = object(&json!({"a": {"type": "array", "items":
        {"type": "string", "pattern": "^[^@]+@[^@]+\\.[a-z]{2,}$"}}}));
    let given = json!({"a": vec!["someone@example.com"; 5_000]});
    assert_decodes(&mails, &given, &given);
}

#[test]
fn compiled_patterns_are_cached_or_use_the_step_budget() {
    let fields = |count: usize| -> serde_json::Map<String, Value> {
        (0..count)
            .map(|at| (format!("f{at}"), json!({"type": "string", "pattern": format!("^[a-z]{{{at},30}}x")})))
            .collect()
    };
    let row = |count: usize| -> serde_json::Map<String, Value> {
        (0..count).map(|at| (format!("f{at}"), json!(format!("{}x", "a".repeat(at))))).collect()
    };
    let rows = object(&json!({"a": {"type": "array", "items": {"properties": fields(20)}}}));
    let given = json!({"a": vec![row(20); 2_000]});
    let (_, spent) = cpu_time(|| assert_decodes(&rows, &given, &given));
    assert!(spent.as_secs() < 20, "{spent:?}");

    let patterns: serde_json::Map<String, Value> =
        (0..1_000).map(|at| (format!("^z{at}[a-z]*x"), json!({}))).collect();
    let schema = json!({"type": "object", "patternProperties": patterns});
    let keys: serde_json::Map<String, Value> = (0..5_000).map(|at| (format!("s{at}"), json!(1))).collect();
    let (outcome, spent) = cpu_time(|| decoded(&schema, &json!(keys), &JSON_SCHEMA));
    assert!(outcome.unwrap_err()[0].contains("too many steps"));
    assert!(spent.as_secs() < 20, "{spent:?}");
}

#[test]
fn enums_and_fields_share_the_step_budget_of_a_call() {
    let enum_items = |values: Vec<Value>| object(&json!({"a": {"type": "array", "items": {"enum": values}}}));
    let texts = |letter: char| (0..30_000).map(move |index| json!(format!("{letter}{index}")));
    let objects = |letter: char| (0..4_000).map(move |index| json!({"key": format!("{letter}{index}")}));
    let fields: serde_json::Map<String, Value> =
        (0..3_000).map(|index| (format!("field{index}"), json!({}))).collect();
    let keys: serde_json::Map<String, Value> =
        (0..200_000).map(|index| (format!("key{index}"), Value::Null)).collect();
    let required: Vec<&String> = fields.keys().collect();
    for (what, schema, given) in [
        ("texts", enum_items(texts('v').collect()), json!({"a": texts('w').collect::<Vec<_>>()})),
        ("objects", enum_items(objects('v').collect()), json!({"a": objects('w').collect::<Vec<_>>()})),
        ("keys", json!({"type": "object", "properties": fields}), json!(keys)),
        (
            "required",
            object(&json!({"a": {"type": "array", "items": {"properties": fields, "required": required}}})),
            json!({"a": vec![json!({}); 300_000]}),
        ),
    ] {
        let (shape, defs) = read_document(&schema, &mut Vec::new());
        let (problems, spent) = cpu_time(|| Checker::new(&defs, &JSON_SCHEMA).problems_of(&given, &shape));
        assert!(!problems.is_empty(), "{what}");
        assert!(spent.as_secs() < 20, "{what}: {spent:?}");
    }
    // Enumerated values of services are checked completely.
    let names: Vec<String> = (0..300).map(|index| format!("value{index}")).collect();
    let rows = object(&json!({"a": {"type": "array", "items": {"type": "string", "enum": names}}}));
    let given = json!({"a": (0..20_000).map(|index| &names[index % 300]).collect::<Vec<_>>()});
    assert_decodes(&rows, &given, &given);
}

#[test]
fn suggestions_are_limited() {
    let names: Vec<String> = (0..600).map(|index| format!("value{index}")).collect();
    let schema = object(&json!({"a": {"type": "array", "items": {"type": "string", "enum": names}}}));
    let (shape, defs) = read_document(&schema, &mut Vec::new());
    let given = json!({"a": (0..300).map(|index| format!("velue{index}")).collect::<Vec<_>>()});
    let mut checker = Checker::new(&defs, &JSON_SCHEMA);
    let problems = checker.problems_of(&given, &shape);
    assert_eq!(problems.len(), 100);
    assert!(problems[0].message.contains("did you mean"), "{}", problems[0].message);
    assert!(!problems[99].message.contains("did you mean"), "{}", problems[99].message);
    // Suggestions are computed only for reported problems.
    let compared_pairs = checker.compared_pairs;
    let more = json!({"a": (0..600).map(|index| format!("velue{index}")).collect::<Vec<_>>()});
    let mut checker = Checker::new(&defs, &JSON_SCHEMA);
    assert_eq!(checker.problems_of(&more, &shape), problems);
    assert_eq!(checker.compared_pairs, compared_pairs);
}

#[test]
fn arguments_needing_too_many_steps_are_rejected() {
    let mut shape = json!({"type": "object", "properties": {"v": {"type": "integer"}}});
    for _ in 0..20 {
        shape = json!({"anyOf": [{"type": "string"}, shape]});
    }
    let schema = object(&json!({"a": {"type": "array", "items": shape}}));
    let given = |count: usize| json!({"a": vec![json!({"v": 5.0}); count]});
    assert_decodes(&schema, &given(1), &json!({"a": [{"v": 5}]}));
    let (shape, defs) = read_document(&schema, &mut Vec::new());
    // Valid, and over the limit only while decoding: each variant is checked once per item, and then again at each
    // depth.
    let mut checker = Checker::new(&defs, &JSON_SCHEMA);
    let many = given(8_000);
    assert!(checker.problems_of(&many, &shape).is_empty());
    let problems = decoded(&schema, &many, &JSON_SCHEMA).unwrap_err();
    assert_eq!(problems, [": takes too many steps to be checked; send fewer and shorter values"]);
    assert!(completed(&many, &shape, &defs, &JSON_SCHEMA).is_err());
    assert!(to_wire_names(&many, &shape, &defs).is_err());
}

#[test]
fn long_keys_are_truncated_in_every_problem() {
    let schema =
        json!({"type": "object", "additionalProperties": {"type": "object", "additionalProperties": false}});
    let fields: serde_json::Map<String, Value> =
        (0..120).map(|index| (format!("u{index}"), Value::from(1))).collect();
    let key = "ä".repeat(100_000);
    let problems = decoded(&schema, &json!({ key: fields }), &JSON_SCHEMA).unwrap_err();
    assert_eq!(problems.len(), 100);
    assert!(
        problems[0].starts_with(&format!("/{}…/u0: unknown field `u0`", "ä".repeat(100))),
        "{}",
        problems[0]
    );
    let deep = (0..30).fold(json!({"x": 1}), |inner, _| json!({"k".repeat(1_000): inner}));
    let shape =
        (0..30).fold(object(&json!({})), |inner, _| json!({"type": "object", "additionalProperties": inner}));
    let problems = decoded(&shape, &deep, &JSON_SCHEMA).unwrap_err();
    assert!(problems[0].len() < 3_000, "{}", problems[0].len());
}

#[test]
fn many_keys_and_variants_decode_quickly() {
    let fields: serde_json::Map<String, Value> =
        (0..50).map(|field| (format!("f{field}"), json!({}))).collect();
    let required: Vec<&String> = fields.keys().collect();
    let variant = json!({"type": "object", "properties": fields, "required": required});
    let variants: Vec<Value> = (0..40).map(|_| variant.clone()).collect();
    let schema = object(&json!({"a": {"anyOf": variants}}));
    let keys: serde_json::Map<String, Value> = (0..5_000).map(|key| (format!("k{key}"), json!(1))).collect();
    let (decoded, time) = cpu_time(|| decoded(&schema, &json!({ "a": keys }), &JSON_SCHEMA));
    assert!(decoded.is_err());
    assert!(time.as_secs() < 10, "{time:?}");
}
