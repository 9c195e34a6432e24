use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::subsequence;
use serde_json::{Map, Value, json};

use crate::Text;
use crate::base::frozen::List;
use crate::schema::dialect::{ANTHROPIC, GEMINI, JSON_SCHEMA, OPENAI, OPENAI_STRICT};
use crate::schema::shape::decode::decode;
use crate::schema::shape::render::render_input;
use crate::schema::shape::{
    Extra, Field, Kind, NumberRules, ObjectRules, Relation, RelationKind, Shape, StringRules,
};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

fn arguments(fields: &[(bool, bool)], relations: Vec<Relation>) -> Shape {
    let field = |((required, nullable), name): (&(bool, bool), &'static str)| {
        let kind = if name < "c" { Kind::String(StringRules::ANY) } else { Kind::Integer(NumberRules::ANY) };
        let shape = Shape { nullable: *nullable, ..Shape::of(kind) };
        Field { name: name.into(), required: *required, shape, ..Field::OPTIONAL }
    };
    Shape::of(Kind::Object(ObjectRules {
        fields: fields.iter().zip(NAMES).map(field).collect(),
        extra: Extra::Closed,
        relations: relations.into(),
        ..ObjectRules::ANY
    }))
}

fn relation() -> impl Strategy<Value = Relation> {
    let kind = prop_oneof![
        Just(RelationKind::ExactlyOne),
        Just(RelationKind::AtMostOne),
        Just(RelationKind::Requires)
    ];
    // In any order: the first field of a `requires` need not be the first field of the tool.
    let names = subsequence(&NAMES[..], 2..=4).prop_shuffle();
    (kind, names)
        .prop_map(|(kind, names)| Relation { kind, fields: names.into_iter().map(Text::Static).collect() })
}

fn arguments_value() -> impl Strategy<Value = Value> {
    let value = prop_oneof![
        3 => Just(None),
        3 => Just(Some(json!("x"))),
        3 => Just(Some(json!(1))),
        2 => Just(Some(Value::Null)),
    ];
    vec(value, 4).prop_map(|values| {
        let pairs = NAMES.iter().zip(values).filter_map(|(name, value)| Some((String::from(*name), value?)));
        Value::Object(pairs.collect::<Map<_, _>>())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// The advertised schema and decoding agree on what is valid.
    #[test]
    fn validator_and_decoder_agree_on_relations(
        fields in vec((any::<bool>(), any::<bool>()), 4),
        relations in vec(relation(), 0..3),
        values in vec(arguments_value(), 24),
    ) {
        let shape = arguments(&fields, relations);
        let schema = render_input(&shape, &List::EMPTY, &JSON_SCHEMA).unwrap().schema;
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        for value in values {
            let decoded = decode(&value, &shape, &List::EMPTY, &JSON_SCHEMA);
            prop_assert_eq!(validator.is_valid(&value), decoded.is_ok(), "{} {}", value, schema);
        }
    }
}

fn schema_of(relation: Relation, nullable: bool) -> Value {
    let shape = arguments(&[(false, nullable); 4], vec![relation]);
    let mut schema = render_input(&shape, &List::EMPTY, &JSON_SCHEMA).unwrap().schema;
    let map = schema.as_object_mut().unwrap();
    for key in ["type", "properties", "additionalProperties"] {
        map.shift_remove(key);
    }
    schema
}

fn rule(kind: RelationKind) -> Relation {
    Relation { kind, fields: ["a", "b"].map(Text::Static).into_iter().collect() }
}

#[test]
fn relations_render_in_their_simplest_form() {
    let exactly_one = schema_of(rule(RelationKind::ExactlyOne), false);
    let message = "(give exactly one of `a`, `b`)";
    assert_eq!(
        exactly_one,
        json!({ "oneOf": [{ "required": ["a"] }, { "required": ["b"] }], "description": message })
    );
    let at_most_one = schema_of(rule(RelationKind::AtMostOne), false);
    assert_eq!(at_most_one["not"], json!({ "required": ["a", "b"] }));
    let requires = schema_of(rule(RelationKind::Requires), false);
    assert_eq!(requires["dependentRequired"], json!({ "a": ["b"] }));
    let with_null = schema_of(rule(RelationKind::ExactlyOne), true);
    assert_eq!(
        with_null["oneOf"][0],
        json!({ "required": ["a"], "properties": { "a": { "not": { "const": null } } } })
    );
}

#[test]
fn vendors_without_root_composition_get_relations_as_text() {
    let shape = arguments(&[(false, true); 4], vec![rule(RelationKind::AtMostOne)]);
    for dialect in [&OPENAI, &OPENAI_STRICT, &ANTHROPIC, &GEMINI] {
        let schema = render_input(&shape, &List::EMPTY, dialect).unwrap().schema;
        assert!(schema["description"].as_str().unwrap().contains("at most one of `a`, `b`"), "{schema}");
        for keyword in ["oneOf", "allOf", "not", "dependentRequired"] {
            assert!(schema.get(keyword).is_none(), "{schema}");
        }
    }
}
