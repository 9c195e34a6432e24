//! Decoding agrees with an independent JSON Schema validator on the plain rendering of a shape.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::base::frozen::List;
use crate::schema::dialect::{ANTHROPIC, Dialect, JSON_SCHEMA, OPENAI, OPENAI_STRICT};
use crate::schema::shape::arbitrary::{numbers, texts};
use crate::schema::shape::decode::decode;
use crate::schema::shape::render::{render_input, render_output};
use crate::schema::shape::{
    Access, ArrayRules, Def, Extra, Field, Kind, Literal, ObjectRules, PatternField, Shape, TupleRules,
    UnionMode, UnionRules, arbitrary,
};

pub(crate) fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..6).prop_map(Value::from),
        prop_oneof![Just(0.5), Just(2.5), Just(1.0), Just(0.75), Just(1e15)].prop_map(Value::from),
        "[abß]{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec(("[a-d]", inner), 0..4).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn leaf() -> impl Strategy<Value = Kind> {
    prop_oneof![
        1 => Just(Kind::Any),
        1 => Just(Kind::Never),
        1 => Just(Kind::Null),
        2 => Just(Kind::Boolean),
        3 => numbers::small().prop_map(Kind::Integer),
        3 => numbers::small().prop_map(Kind::Number),
        4 => texts::small().prop_map(Kind::String),
        3 => vec(value().prop_map(|value| Literal::of(&value)), 1..4).prop_map(|values| Kind::Enum(values.into())),
        2 => prop_oneof![Just("first"), Just("second"), Just("tree")].prop_map(|name| Kind::Ref(name.into())),
    ]
}

pub(crate) fn shape() -> impl Strategy<Value = Shape> {
    let nullable =
        |kind| (kind, any::<bool>()).prop_map(|(kind, nullable)| Shape { nullable, ..Shape::of(kind) });
    nullable(leaf().boxed()).prop_recursive(3, 24, 4, move |inner| {
        let inner = inner.boxed();
        let extra = prop_oneof![
            3 => Just(Extra::Open), 3 => Just(Extra::Closed), 1 => inner.clone().prop_map(|shape| Extra::Of(shape.into())),
        ]
        .boxed();
        let array = (inner.clone(), option::of(0u64..3), option::of(1u64..4), any::<bool>()).prop_map(
            |(items, min_items, max_items, unique)| {
                Kind::Array(ArrayRules { items: items.into(), min_items, max_items, unique })
            },
        );
        let tuple = (vec(inner.clone(), 0..3), extra.clone(), option::of(0u64..3)).prop_map(|(items, rest, min_items)| {
            Kind::Tuple(TupleRules { items: items.into(), rest, min_items, max_items: None })
        });
        let access = prop_oneof![5 => Just(Access::Both), 1 => Just(Access::ReadOnly), 1 => Just(Access::WriteOnly)];
        let field = (any::<bool>(), access, inner.clone());
        let object = (vec(field, 0..4), option::weighted(0.2, inner.clone()), extra, option::weighted(0.2, 0u64..3))
            .prop_map(|(fields, pattern, extra, max_properties)| {
                let names = ["a", "b", "c", "d"];
                let field = |((required, access, shape), name): ((bool, Access, Shape), &'static str)| Field {
                    name: name.into(),
                    required,
                    access,
                    shape,
                    ..Field::OPTIONAL
                };
                Kind::Object(ObjectRules {
                    fields: fields.into_iter().zip(names).map(field).collect(),
                    patterns: pattern.into_iter().map(|shape| PatternField { pattern: "^[ad]".into(), shape }).collect(),
                    extra,
                    min_properties: None,
                    max_properties,
                    relations: List::EMPTY,
                })
            });
        let mode = prop_oneof![Just(UnionMode::Any), Just(UnionMode::One)];
        let union = (mode, vec(inner.clone(), 1..4)).prop_map(|(mode, variants)| {
            Kind::Union(UnionRules { mode, variants: variants.into(), discriminator: None })
        });
        let condition = condition(inner.clone().boxed());
        let all = vec(prop_oneof![2 => inner.boxed(), 1 => condition.clone().prop_map(Shape::of)], 1..3)
            .prop_map(|parts| Kind::All(parts.into()));
        nullable(prop_oneof![1 => array, 1 => tuple, 3 => object, 2 => union, 1 => all, 1 => condition].boxed())
    })
}

/// Rules that refer to another schema and can be fully expressed in JSON Schema keywords.
fn condition(inner: BoxedStrategy<Shape>) -> BoxedStrategy<Kind> {
    let schema = inner.prop_map(|shape| match render_output(&shape, &List::EMPTY, &JSON_SCHEMA) {
        Ok(rendered) if rendered.losses.is_empty() => rendered.schema,
        _ => json!({"type": ["integer", "object"]}),
    });
    let keys = || proptest::collection::btree_set("[a-d]", 0..3);
    let raw = prop_oneof![
        3 => schema.clone().prop_map(|not| json!({ "not": not })),
        3 => (schema.clone(), schema.clone(), schema.clone())
            .prop_map(|(when, then, other)| json!({"if": when, "then": then, "else": other})),
        2 => (schema.clone(), 0u64..3, 0u64..3)
            .prop_map(|(item, least, max)| json!({"contains": item, "minContains": least, "maxContains": max})),
        1 => schema.clone().prop_map(|names| json!({ "propertyNames": names })),
        1 => ("[a-d]", schema).prop_map(|(key, schema)| json!({ "dependentSchemas": { key: schema } })),
        1 => ("[a-d]", keys()).prop_map(|(key, others)| json!({ "dependentRequired": { key: others } })),
        1 => keys().prop_map(|keys| json!({"not": {"required": keys}})),
    ];
    raw.prop_map(|raw| Kind::Raw(raw.to_string().into())).boxed()
}

/// Named shapes. `second` and `tree` have no other references, so that no reference leads to itself without a value
/// in between.
pub(crate) fn defs(first: Shape, second: Shape) -> List<Def> {
    let tree = Kind::Object(ObjectRules {
        fields: vec![Field {
            name: "a".into(),
            shape: Shape::of(Kind::Ref("tree".into())),
            ..Field::OPTIONAL
        }]
        .into(),
        extra: Extra::Closed,
        ..ObjectRules::ANY
    });
    let def = |name: &'static str, shape: Shape| Def { name: name.into(), schema: shape.into() };
    vec![def("first", first), def("second", second), def("tree", Shape::of(tree))].into()
}

fn no_references(shape: &Shape) -> bool {
    let text = crate::schema::shape::render::canonical(shape);
    !text.contains("/first\"") && !text.contains("/second\"")
}

pub(crate) fn arguments(shape: Shape) -> Shape {
    Shape::of(Kind::Object(ObjectRules {
        fields: vec![Field { name: "v".into(), shape, ..Field::REQUIRED }].into(),
        extra: Extra::Closed,
        ..ObjectRules::ANY
    }))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn decoder_agrees_with_a_validator(
        shape in shape(),
        named in (shape().prop_filter("acyclic", no_references), shape().prop_filter("acyclic", no_references)),
        values in vec(value(), 1..12),
    ) {
        let (shape, defs) = (arguments(shape), defs(named.0, named.1));
        let rendered = render_input(&shape, &defs, &JSON_SCHEMA);
        let schema = rendered.map_err(|refusals| TestCaseError::fail(format!("{refusals:?}")))?.schema;
        let validator = jsonschema::draft202012::new(&schema).map_err(|e| TestCaseError::fail(format!("{e}: {schema}")))?;
        for value in values {
            let arguments = json!({ "v": value });
            let decoded = decode(&arguments, &shape, &defs, &JSON_SCHEMA);
            prop_assert_eq!(decoded.is_ok(), validator.is_valid(&arguments), "{} {} {:?}", arguments, schema, decoded);
            // The fast path gives the result of the slow path, or none.
            if super::super::fast_path::is_exact(&arguments, &shape, &defs, &JSON_SCHEMA) {
                prop_assert_eq!(decoded.as_ref(), Ok(&arguments));
            }
            if super::super::fast_path::is_exact_result(&arguments, &shape, &defs) {
                prop_assert_eq!(super::super::all_result_problems(&arguments, &shape, &defs), []);
            }
            // Without renames, decoding changes at most the notation of an integer.
            if let Ok(decoded) = decoded {
                prop_assert!(validator.is_valid(&decoded), "{} {}", decoded, schema);
                prop_assert_eq!(decoded.to_string().replace(".0", ""), arguments.to_string().replace(".0", ""));
            }
        }
    }

    #[test]
    fn inexpressible_rules_do_not_restrict_the_schema(
        shape in shape(),
        named in (shape().prop_filter("acyclic", no_references), shape().prop_filter("acyclic", no_references)),
        values in vec(value(), 1..12),
    ) {
        let (shape, defs) = (arguments(shape), defs(named.0, named.1));
        for dialect in [OPENAI, ANTHROPIC, OPENAI_STRICT] {
            let Ok(rendered) = render_input(&shape, &defs, &dialect) else { continue };
            let schema = rendered.schema;
            let validator = jsonschema::draft202012::new(&schema).map_err(|e| TestCaseError::fail(format!("{e}: {schema}")))?;
            for value in &values {
                let arguments = json!({ "v": value });
                let (decoded, valid) = (decode(&arguments, &shape, &defs, &dialect), validator.is_valid(&arguments));
                // Strict mode forbids more. What it allows is valid, unless it reports a loss.
                let agrees = match !dialect.open_objects {
                    false => valid || decoded.is_err(),
                    true => !valid || decoded.is_ok() || !rendered.losses.is_empty(),
                };
                prop_assert!(agrees, "{} {} {} {:?}", dialect.name, arguments, schema, decoded);
            }
        }
    }

}

proptest! {
    // For each of many dialects.
    #![proptest_config(ProptestConfig { cases: 320, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn decoding_and_rendering_never_panic(
        shape in arbitrary::shape(),
        named in vec(arbitrary::shape(), 3),
        value in arbitrary::json(),
    ) {
        let names = ["a", "b", "c"];
        let defs: List<Def> = names.into_iter().zip(named).map(|(name, shape)| Def { name: name.into(), schema: shape.into() }).collect();
        for dialect in Dialect::ALL {
            for shape in [shape.clone(), arguments(shape.clone())] {
                let _ = render_input(&shape, &defs, dialect);
                let _ = decode(&value, &shape, &defs, dialect);
                let _ = decode(&json!({ "v": value }), &shape, &defs, dialect);
            }
        }
    }
}
