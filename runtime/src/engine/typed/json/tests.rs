use super::*;
use serde_json::json;

#[test]
fn null_and_absence_differ_where_they_must() {
    let mut fields = Fields::new(json!({"a": null, "b": 1})).unwrap();
    assert_eq!(fields.nullable::<i64>("a"), Ok(Some(None)));
    assert_eq!(fields.nullable::<i64>("b"), Ok(Some(Some(1))));
    assert_eq!(fields.nullable::<i64>("c"), Ok(None));
    assert_eq!(fields.get::<Option<i64>>("d"), Ok(None));
    assert_eq!(fields.get::<i64>("d").unwrap_err().to_string(), "a required field is missing at /d");
    let (some, none): (Option<Option<i64>>, Option<Option<i64>>) = (Some(None), None);
    assert_eq!(object(&[], &[("a", &some), ("b", &none)]), json!({"a": null}));
    assert_eq!(object(&[("a", &None::<i64>)], &[]), json!({"a": null}));
}

#[test]
fn an_error_says_where() {
    let error = BTreeMap::<String, Vec<i64>>::from_json(json!({"a/b": [1, "x"]})).unwrap_err();
    assert_eq!(error.to_string(), "expected an integer of 64 bits, got a text at /a~1b/1");
}

#[test]
fn integers_may_be_written_as_floats() {
    assert_eq!(i64::from_json(json!(5.0)), Ok(5));
    assert_eq!(u64::from_json(json!(u64::MAX)), Ok(u64::MAX));
    assert!(i64::from_json(json!(5.5)).is_err());
    assert!(i64::from_json(json!(1e300)).is_err());
    assert!(u64::from_json(json!(-1)).is_err());
}
