use std::collections::{BTreeMap, HashSet};

use serde_json::{Value, json};

use super::{ArgumentRules, ConstLiteral, StaticShape, ToolInput, refine};
use toolgen_kernel::schema::shape::{Kind, Number, Shape};

#[test]
fn integer_schemas_have_bounds() {
    let Kind::Integer(rules) = <u8 as ToolInput>::SHAPE.kind else { panic!("no integer") };
    assert_eq!((rules.minimum, rules.maximum), (Some(Number::Int(0)), Some(Number::Int(255))));
    assert_eq!(u8::decode(json!(5.0)).unwrap(), 5);
    assert_eq!(u8::decode(json!(256)).unwrap_err().message, "expected an integer that fits u8, got 256");
    assert!(i64::decode(json!(1.5)).is_err());
    assert_eq!(u64::decode(json!(u64::MAX)).unwrap(), u64::MAX);
}

#[test]
fn problem_has_a_json_pointer() {
    let problem = <Vec<BTreeMap<String, (bool, u8)>>>::decode(json!([{"a/b": [true, "x"]}])).unwrap_err();
    assert_eq!(problem.pointer, "/0/a~1b/1");
}

#[test]
fn values_decode_to_their_types() {
    assert_eq!(Option::<u8>::decode(Value::Null).unwrap(), None);
    assert_eq!(<[u8; 2]>::decode(json!([1, 2])).unwrap(), [1, 2]);
    assert!(<[u8; 2]>::decode(json!([1])).is_err());
    assert_eq!(HashSet::<String>::decode(json!(["a"])).unwrap().len(), 1);
    assert_eq!(char::decode(json!("ß")).unwrap(), 'ß');
    assert!(char::decode(json!("ab")).is_err());
}

#[test]
fn rules_extend_the_shape_of_a_type() {
    const LIMIT: Shape = refine(
        StaticShape::<Option<u32>>::SHAPE,
        ArgumentRules {
            minimum: Some(Number::Int(1)),
            default: Some(ConstLiteral::Int(10)),
            description: "How many.",
            ..ArgumentRules::NONE
        },
    );
    let limit = LIMIT;
    assert!(limit.nullable);
    let Kind::Integer(rules) = limit.kind else { panic!("no integer") };
    assert_eq!(rules.minimum, Some(Number::Int(1)));
    assert_eq!(rules.maximum, Some(Number::Int(i128::from(u32::MAX))));
}
