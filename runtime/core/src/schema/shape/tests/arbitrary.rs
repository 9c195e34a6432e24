//! Strategies for shapes, for property tests.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::Value;

use crate::base::frozen::{List, Text};
use crate::schema::shape::*;

fn word() -> impl Strategy<Value = Text> {
    prop_oneof!["[a-c]{1,2}", "[a-z~/%ß ]{0,4}"].prop_map(Text::from)
}

/// A JSON value.
pub(crate) fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-5i64..30).prop_map(Value::from),
        prop_oneof![Just(1.0), Just(0.3), Just(1e300)].prop_map(Value::from),
        word().prop_map(|word| word.as_str().into()),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((word(), inner), 0..4).prop_map(|pairs| {
                Value::Object(pairs.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
            }),
        ]
    })
}

fn literal() -> impl Strategy<Value = Literal> {
    json().prop_map(|value| Literal::of(&value))
}

fn raw() -> impl Strategy<Value = Kind> {
    let texts = [
        r#"{"not":{"type":"string"}}"#,
        r#"{"not":{}}"#,
        r##"{"if":{"$ref":"#/$defs/a"},"then":{}}"##,
        r#"{"then":{}}"#,
        r#"{"uniqueItems":true}"#,
        r#"{"unevaluatedProperties":false}"#,
        r#"{"type":"string"}"#,
        r#"{ "not": 5 }"#,
        "not JSON",
    ];
    proptest::sample::select(texts.to_vec()).prop_map(|text| Kind::Raw(text.into()))
}

fn leaf() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::Any),
        Just(Kind::Never),
        Just(Kind::Null),
        Just(Kind::Boolean),
        Just(Kind::Integer(NumberRules::ANY)),
        Just(Kind::String(StringRules::ANY)),
        Just(Kind::Object(ObjectRules::ANY)),
        numbers::any().prop_map(Kind::Integer),
        numbers::any().prop_map(Kind::Number),
        texts::any().prop_map(Kind::String),
        vec(literal(), 0..4).prop_map(|values| Kind::Enum(values.into())),
        word().prop_filter("a reference names something", |name| !name.is_empty()).prop_map(Kind::Ref),
        raw(),
    ]
}

fn annotated(kind: impl Strategy<Value = Kind>) -> impl Strategy<Value = Shape> {
    (kind, any::<bool>(), word(), option::of(literal()), vec(literal(), 0..2), any::<bool>()).prop_map(
        |(kind, nullable, description, default, examples, deprecated)| Shape {
            kind,
            nullable,
            description,
            default,
            examples: examples.into(),
            deprecated,
            title: Title::NONE,
            choices: Choices::NONE,
        },
    )
}

fn extra(shape: impl Strategy<Value = Shape>) -> impl Strategy<Value = Extra> {
    prop_oneof![Just(Extra::Open), Just(Extra::Closed), shape.prop_map(|shape| Extra::Of(shape.into()))]
}

fn fields(shape: impl Strategy<Value = Shape>) -> impl Strategy<Value = List<Field>> {
    let access = prop_oneof![Just(Access::Both), Just(Access::ReadOnly), Just(Access::WriteOnly)];
    let field = (word(), word(), vec(word(), 0..2), any::<bool>(), access, shape).prop_map(
        |(name, wire, aliases, required, access, shape)| Field {
            name,
            wire,
            aliases: aliases.into(),
            required,
            access,
            shape,
        },
    );
    vec(field, 0..4).prop_map(|mut fields| {
        let mut names: Vec<Text> = Vec::new();
        fields.retain(|field| {
            let new = !names.contains(&field.name);
            names.push(field.name.clone());
            new
        });
        fields.into()
    })
}

/// Shapes of every kind, nested.
pub(crate) fn shape() -> impl Strategy<Value = Shape> {
    annotated(leaf()).prop_recursive(3, 24, 4, |inner| {
        let inner = inner.boxed();
        let array =
            (inner.clone(), option::of(0u64..3), any::<bool>()).prop_map(|(items, min_items, unique)| {
                Kind::Array(ArrayRules { items: items.into(), min_items, max_items: None, unique })
            });
        let tuple = (vec(inner.clone(), 0..3), extra(inner.clone()), option::of(0u64..3)).prop_map(
            |(items, rest, max_items)| {
                Kind::Tuple(TupleRules { items: items.into(), rest, min_items: None, max_items })
            },
        );
        let object =
            (fields(inner.clone()), vec(inner.clone(), 0..2), extra(inner.clone()), option::of(0u64..3))
                .prop_map(|(fields, patterns, extra, min_properties)| {
                    let pattern =
                        |(index, shape)| PatternField { pattern: format!("^p{index}").into(), shape };
                    let patterns = patterns.into_iter().enumerate().map(pattern).collect();
                    Kind::Object(ObjectRules {
                        fields,
                        patterns,
                        extra,
                        min_properties,
                        max_properties: None,
                        relations: List::EMPTY,
                    })
                });
        let mode = prop_oneof![Just(UnionMode::Any), Just(UnionMode::One)];
        let name = || word().prop_filter("a name", |name| !name.is_empty());
        let discriminator =
            option::of((word(), option::of(name())).prop_map(|(property, by_default)| Discriminator {
                property,
                mapping: vec![(Text::from("x"), Text::from("a"))].into(),
                default_variant: by_default,
            }));
        let union =
            (mode, vec(inner.clone(), 0..4), discriminator).prop_map(|(mode, variants, discriminator)| {
                Kind::Union(UnionRules { mode, variants: variants.into(), discriminator })
            });
        let all = vec(inner, 0..4).prop_map(|parts| Kind::All(parts.into()));
        annotated(prop_oneof![array, tuple, object, union, all])
    })
}

/// Rules of numbers, for property tests.
pub(crate) mod numbers {
    use proptest::option::{of, weighted};
    use proptest::prelude::*;

    use crate::base::frozen::Text;
    use crate::schema::shape::{Number, NumberRules};

    /// Any rules.
    pub(crate) fn any() -> impl Strategy<Value = NumberRules> {
        let number = || {
            prop_oneof![
                (-20i128..20).prop_map(Number::Int),
                prop_oneof![Just(0.1), Just(2.5), Just(-1e-9), Just(1e200)].prop_map(Number::Float),
                prop_oneof![Just(i128::from(u64::MAX)), Just(i128::from(i64::MIN)), Just(1i128 << 100)]
                    .prop_map(Number::Int),
            ]
        };
        let format = prop_oneof!["[a-c]{1,2}", "[a-z~/%ß ]{0,4}"].prop_map(Text::from);
        (of(number()), of(number()), of(number()), of(number()), format).prop_map(
            |(minimum, maximum, exclusive_minimum, exclusive_maximum, format)| NumberRules {
                minimum,
                maximum,
                exclusive_minimum,
                exclusive_maximum,
                multiple_of: Some(Number::Float(0.25)),
                format,
            },
        )
    }

    /// Rules that small numbers satisfy or violate.
    pub(crate) fn small() -> impl Strategy<Value = NumberRules> {
        let number = || {
            prop_oneof![(-3i128..6).prop_map(Number::Int), Just(Number::Float(0.5)), Just(Number::Float(2.5))]
        };
        let step = prop_oneof![(1i128..4).prop_map(Number::Int), Just(Number::Float(0.5))];
        let sides = (of(number()), of(number()), weighted(0.2, number()), weighted(0.2, number()));
        (sides, weighted(0.3, step)).prop_map(
            |((minimum, maximum, exclusive_minimum, exclusive_maximum), multiple_of)| NumberRules {
                minimum,
                maximum,
                exclusive_minimum,
                exclusive_maximum,
                multiple_of,
                format: Text::EMPTY,
            },
        )
    }
}

/// Rules of strings, for property tests.
pub(crate) mod texts {
    use proptest::option;
    use proptest::prelude::*;

    use crate::base::frozen::Text;
    use crate::schema::shape::StringRules;

    /// Any rules.
    pub(crate) fn any() -> impl Strategy<Value = StringRules> {
        let word = || prop_oneof!["[a-c]{1,2}", "[a-z~/%ß ]{0,4}"].prop_map(Text::from);
        let words = [word(), word(), word(), word(), word(), word()];
        (option::of(0u64..5), option::of(proptest::num::u64::ANY), words).prop_map(
            |(
                min_length,
                max_length,
                [pattern, deny, deny_message, format, content_encoding, content_media_type],
            )| StringRules {
                min_length,
                max_length,
                pattern,
                deny,
                deny_message,
                format,
                content_encoding,
                content_media_type,
            },
        )
    }

    /// Rules that short strings satisfy or violate.
    pub(crate) fn small() -> impl Strategy<Value = StringRules> {
        let pattern = prop_oneof![Just(""), Just("^a"), Just("b$"), Just("[ab]{2}"), Just("ß")];
        let deny = prop_oneof![9 => Just(""), 1 => Just("^b"), 1 => Just("ab")];
        (option::of(0u64..3), option::of(0u64..4), pattern, deny).prop_map(
            |(min_length, max_length, pattern, deny)| StringRules {
                min_length,
                max_length,
                pattern: pattern.into(),
                deny: deny.into(),
                deny_message: Text::EMPTY,
                format: Text::EMPTY,
                content_encoding: Text::EMPTY,
                content_media_type: Text::EMPTY,
            },
        )
    }
}
