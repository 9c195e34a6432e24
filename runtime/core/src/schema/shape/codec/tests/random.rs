//! Tests that every valid value can be written in every dialect, that the schema accepts it there, and that it is
//! read back.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

use crate::base::frozen::List;
use crate::schema::dialect::{Dialect, Nulls};
use crate::schema::shape::decode::tests::oracle;
use crate::schema::shape::decode::{decode, fits};
use crate::schema::shape::encode;
use crate::schema::shape::render::{Loss, render_input};
use crate::schema::shape::{ArrayRules, Extra, Field, Kind, ObjectRules, Shape, TupleRules, UnionRules};

/// Returns a value with the equality of JSON Schema: `1.0` becomes `1`, and a key with `null` is removed if it cannot
/// be distinguished from an absent key.
fn normalized(value: &Value, dialect: &Dialect) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if float.fract() == 0.0 && float.abs() < 9e15 => json!(float as i64),
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(|item| normalized(item, dialect)).collect(),
        Value::Object(fields) => {
            let members = fields.iter().filter(|(_, value)| dialect.optional_fields || !value.is_null());
            members.map(|(key, value)| (key.clone(), normalized(value, dialect))).collect()
        }
        other => other.clone(),
    }
}

/// Returns a shape whose objects with fields are closed, unless they define additional keys.
fn with_closed_objects(shape: &Shape) -> Shape {
    let list = |shapes: &List<Shape>| shapes.iter().map(with_closed_objects).collect::<Vec<Shape>>().into();
    let closed_extra = |extra: &Extra| {
        if let Extra::Of(shape) = extra {
            Extra::Of(with_closed_objects(shape).into())
        } else {
            extra.clone()
        }
    };
    let kind = match &shape.kind {
        Kind::Object(rules) => {
            let is_closed = !rules.fields.is_empty() && rules.extra == Extra::Open;
            let field = |field: &Field| Field { shape: with_closed_objects(&field.shape), ..field.clone() };
            let extra = if is_closed { Extra::Closed } else { closed_extra(&rules.extra) };
            Kind::Object(ObjectRules {
                fields: rules.fields.iter().map(field).collect(),
                extra,
                ..rules.clone()
            })
        }
        Kind::Array(rules) => {
            Kind::Array(ArrayRules { items: with_closed_objects(&rules.items).into(), ..rules.clone() })
        }
        Kind::Tuple(rules) => Kind::Tuple(TupleRules {
            items: list(&rules.items),
            rest: closed_extra(&rules.rest),
            ..rules.clone()
        }),
        Kind::Union(rules) => Kind::Union(UnionRules { variants: list(&rules.variants), ..rules.clone() }),
        Kind::All(parts) => Kind::All(list(parts)),
        kind => kind.clone(),
    };
    Shape { kind, ..shape.clone() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn encoded_values_round_trip(
        shape in oracle::shape(),
        optional in any::<bool>(),
        values in vec(oracle::value(), 1..12),
    ) {
        let defs = oracle::defs(Shape::of(Kind::Boolean), Shape::of(Kind::Null));
        let mut shape = oracle::arguments(shape);
        if let (Kind::Object(rules), true) = (&mut shape.kind, optional) {
            let field = Field { required: false, ..rules.fields[0].clone() };
            rules.fields = vec![field].into();
        }
        for dialect in Dialect::ALL {
            let Ok(rendered) = render_input(&shape, &defs, dialect) else { continue };
            let validator = jsonschema::draft202012::new(&rendered.schema)
                .map_err(|e| TestCaseError::fail(format!("{e}: {}", rendered.schema)))?;
            for value in &values {
                let arguments = json!({ "v": value });
                if !fits(&arguments, &shape, &defs) {
                    continue;
                }
                let written = encode(&arguments, &shape, &defs, dialect);
                let message = || format!("{} {arguments} as {written} for {} {:?}", dialect.name, rendered.schema, rendered.losses);
                // Keys without a schema, which a strict dialect cannot express. The dialect reports what it cannot
                // express.
                let has_unnamed_keys = !dialect.open_objects && !fits(&arguments, &with_closed_objects(&shape), &defs);
                let is_lost = |loss: &Loss| !loss.in_prose || loss.keyword == "nullable";
                let is_reported = has_unnamed_keys || rendered.losses.iter().any(is_lost);
                prop_assert!(validator.is_valid(&written) || is_reported || dialect.nulls == Nulls::Keyword, "{}", message());
                let decoded = decode(&written, &shape, &defs, dialect);
                if is_reported {
                    continue;
                }
                prop_assert!(decoded.is_ok(), "{} {:?}", message(), decoded);
                let decoded = decoded.unwrap_or_default();
                prop_assert_eq!(
                    normalized(&decoded, dialect), normalized(&arguments, dialect),
                    "{}", message()
                );
            }
        }
    }
}
