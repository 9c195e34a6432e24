//! Tests of the levers: the trimmed shape accepts what the full shape accepts.

use jsonschema::Validator;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

use super::*;
use crate::schema::dialect::JSON_SCHEMA;
use crate::schema::shape::arbitrary;
use crate::schema::shape::read::read;
use crate::schema::shape::render::render_input;

fn shape(schema: &Value) -> Shape {
    read(schema, &mut Vec::new())
}

fn defs(schemas: &Value) -> List<Def> {
    let mut defs: Vec<Def> = schemas
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, schema)| Def { name: name.clone().into(), schema: shape(schema).into() })
        .collect();
    defs.sort_by(|left, right| left.name.as_str().cmp(&right.name));
    defs.into()
}

/// Returns the trimmed schema, and the trims as text.
fn trimmed(schema: &Value, named: &Value, levers: &str) -> (Value, Vec<String>) {
    let slimmed = slim(&shape(schema), &defs(named), &levers.parse().unwrap());
    let rendered = render_input(&slimmed.shape, &slimmed.defs, &JSON_SCHEMA).unwrap();
    (rendered.schema, slimmed.trims.iter().map(ToString::to_string).collect())
}

#[test]
fn slim_options_round_trip_as_text() {
    for text in ["default", "none", "compact", "compact, optional=a+b, depth=3, ceiling=off", "parameters=80"]
    {
        let slim: Slim = text.parse().unwrap();
        assert_eq!(slim.to_string().parse::<Slim>().unwrap(), slim, "{text}");
        let json = serde_json::to_string(&slim).unwrap();
        assert_eq!(serde_json::from_str::<Slim>(&json).unwrap(), slim);
    }
    assert_eq!(Slim::DEFAULT.to_string(), "default");
    assert_eq!(Slim::NONE.to_string(), "ceiling=off");
    for wrong in ["tiny", "depth=0", "depth", "nested=long", "examples=on", "size=4"] {
        let message = wrong.parse::<Slim>().unwrap_err().to_string();
        assert!(message.contains("write") || message.contains("expected one of"), "{message}");
    }
}

fn levers() -> impl Strategy<Value = Slim> {
    let words = || {
        prop_oneof![
            Just(DescriptionLimit::All),
            Just(DescriptionLimit::None),
            Just(DescriptionLimit::Sentence(10)),
            Just(DescriptionLimit::Characters(5))
        ]
    };
    let flags = prop::collection::vec(any::<bool>(), 3);
    let count = || prop::option::of(1usize..4);
    (words(), words(), flags, count()).prop_map(|(parameters, nested, flags, depth)| Slim {
        parameters,
        nested,
        drop_examples: flags[0],
        drop_closed: flags[1],
        inline: flags[2],
        depth,
        ..Slim::NONE
    })
}

/// Returns a validator for the argument `v`, without read-only fields.
fn validator(shape: &Shape, defs: &List<Def>) -> Option<Validator> {
    let fields = vec![Field { name: "v".into(), shape: shape.clone(), ..Field::REQUIRED }];
    let arguments = Shape::of(Kind::Object(ObjectRules {
        fields: fields.into(),
        extra: Extra::Closed,
        ..ObjectRules::ANY
    }));
    let rendered = render_input(&arguments, defs, &JSON_SCHEMA).ok()?;
    jsonschema::options().with_draft(jsonschema::Draft::Draft202012).build(&rendered.schema).ok()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn slim_shape_accepts_everything_the_full_shape_accepts(
        shape in arbitrary::shape(),
        named in prop::collection::vec(arbitrary::shape(), 3),
        levers in levers(),
        values in prop::collection::vec(arbitrary::json(), 8),
    ) {
        let names = ["a", "b", "c"];
        let by_name = names.iter().zip(named).map(|(name, shape)| ((*name).to_owned(), shape));
        let mut shapes: BTreeMap<String, Shape> = by_name.collect();
        let _ = crate::schema::shape::cycles::cut(&mut shapes);
        let defs: List<Def> =
            shapes.into_iter().map(|(name, shape)| Def { name: name.into(), schema: shape.into() }).collect();
        let slimmed = slim(&shape, &defs, &levers);
        prop_assert_eq!(&slimmed, &slim(&shape, &defs, &levers));
        let (Some(full), Some(small)) = (validator(&shape, &defs), validator(&slimmed.shape, &slimmed.defs)) else {
            return Ok(());
        };
        let reported = shape.examples.iter().chain(&shape.default).map(|literal| literal.to_json());
        for value in values.into_iter().chain(reported.collect::<Vec<_>>()) {
            let value = json!({ "v": value });
            prop_assert!(!full.is_valid(&value) || small.is_valid(&value), "{} {:?}", value, slimmed);
        }
    }
}

#[test]
fn inlining_of_named_shapes_is_limited_in_depth() {
    let link = |to: usize| json!({"$ref": format!("#/$defs/N{to}")});
    let field = |to: usize| json!({"type": "object", "properties": {"next": link(to)}});
    let choice = |to: usize| json!({"anyOf": [link(to), {"type": "integer"}]});
    let name = |to: usize| json!({"$ref": format!("#/$defs/N{to}"), "description": "Another name."});
    for next in [&field as &dyn Fn(usize) -> Value, &choice, &name] {
        let mut by_name: serde_json::Map<String, Value> =
            (0..5_000).map(|number| (format!("N{number}"), next(number + 1))).collect();
        by_name.insert("N5000".to_owned(), json!({"type": "string"}));
        let (schema, _) = trimmed(&field(0), &Value::Object(by_name), "inline=on");
        let kept = schema["$defs"].as_object().map_or(0, serde_json::Map::len);
        assert!(kept < 100, "{kept}");
    }
}
