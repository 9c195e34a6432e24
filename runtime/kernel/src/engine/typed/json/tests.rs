use super::choice::Best;
use super::members::{And, read, read_all};
use super::*;
use serde_json::json;

#[test]
fn null_and_absence_stay_distinct() {
    type Nullable = Option<Option<i64>>;
    let value = json!({"a": null, "b": 1});
    let members: (Nullable, Nullable, Nullable, Option<i64>) =
        read(value.clone(), &["a", "b", "c", "d"]).unwrap();
    assert_eq!(members, (Some(None), Some(Some(1)), None, None));
    let error = read::<(i64,)>(value.clone(), &["d"]).unwrap_err();
    assert_eq!(error.to_string(), "a required field is missing at /d");
    let (And((b,), ()), extra) = read_all::<And<(i64,), ()>, Value>(value, &["b"]).unwrap();
    assert_eq!((b, extra.len()), (1, 1));
    let (null, absent): (Nullable, Nullable) = (Some(None), None);
    assert_eq!(object(&[], &[("a", &null), ("b", &absent)]), json!({"a": null}));
    assert_eq!(object(&[("a", &None::<i64>)], &[]), json!({"a": null}));
}

#[test]
fn error_contains_the_json_pointer() {
    let error = BTreeMap::<String, Vec<i64>>::from_json(json!({"a/b": [1, "x"]})).unwrap_err();
    assert_eq!(error.to_string(), "expected a 64-bit integer, got a string at /a~1b/1");
}

#[test]
fn integers_may_be_written_as_floats() {
    assert_eq!(i64::from_json(json!(5.0)), Ok(5));
    assert_eq!(u64::from_json(json!(u64::MAX)), Ok(u64::MAX));
    assert!(i64::from_json(json!(5.5)).is_err());
    assert!(i64::from_json(json!(1e300)).is_err());
    assert!(u64::from_json(json!(-1)).is_err());
}

#[test]
fn i32_rejects_integers_out_of_range() {
    assert_eq!(i32::from_json(json!(-7.0)), Ok(-7));
    assert_eq!(
        i32::from_json(json!(i64::MAX)).unwrap_err().to_string(),
        "expected a 32-bit integer, got a number"
    );
}

#[test]
fn best_variant_preserves_most_of_a_value() {
    #[derive(Debug, PartialEq)]
    enum Form {
        List(Vec<i64>),
        Map(BTreeMap<String, Value>),
        Any(Value),
    }
    let read = |value: Value| Best::of(&value).or(Form::List).or(Form::Map).or(Form::Any).found();
    assert_eq!(read(json!([1])), Some(Form::List(vec![1])));
    assert_eq!(read(json!({"a": 1})), Some(Form::Map(BTreeMap::from([("a".to_owned(), json!(1))]))));
    assert_eq!(read(json!(["x"])), Some(Form::Any(json!(["x"]))));
    assert_eq!(Best::of(&json!(1)).or(Form::List).found(), None);
}
