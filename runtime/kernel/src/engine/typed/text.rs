//! Types of other crates for strings with a format in generated types, each behind the feature of its crate.

/// Implements the conversion of types from and to their string formats.
#[allow(unused_macros, reason = "each use is behind a feature")]
macro_rules! convert_text {
    ($($type:ty, $format:literal, $value:ident => $write:expr;)+) => {$(
        impl crate::engine::typed::ToJson for $type {
            fn to_json(&self) -> serde_json::Value {
                let $value = self;
                serde_json::Value::String($write)
            }
        }

        impl crate::engine::typed::FromJson for $type {
            fn from_json(value: serde_json::Value) -> Result<Self, crate::engine::typed::JsonError> {
                let text = String::from_json(value)?;
                text.parse().map_err(|error| {
                    crate::engine::typed::JsonError::new(format!("{text:?} is not {}: {error}", $format))
                })
            }
        }
    )+};
}

#[cfg(feature = "chrono")]
convert_text! {
    chrono::NaiveDate, "a date such as 2026-01-31", value => value.to_string();
    chrono::DateTime<chrono::Utc>, "a time such as 2026-01-31T12:00:00Z",
        value => value.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true);
}

#[cfg(feature = "jiff")]
convert_text! {
    jiff::civil::Date, "a date such as 2026-01-31", value => value.to_string();
    jiff::Timestamp, "a time such as 2026-01-31T12:00:00Z", value => value.to_string();
}

#[cfg(feature = "url")]
convert_text! { url::Url, "a URL", value => value.to_string(); }

#[cfg(feature = "uuid")]
convert_text! { uuid::Uuid, "a UUID", value => value.to_string(); }

#[cfg(all(test, feature = "chrono", feature = "jiff", feature = "url", feature = "uuid"))]
mod tests {
    use serde_json::json;

    use super::super::{FromJson, ToJson};

    #[track_caller]
    fn assert_round_trip<T: FromJson + ToJson>(text: &str) {
        assert_eq!(T::from_json(json!(text)).map(|value| value.to_json()), Ok(json!(text)));
    }

    #[test]
    fn formatted_strings_round_trip_as_types() {
        assert_round_trip::<chrono::NaiveDate>("2026-01-31");
        assert_round_trip::<jiff::civil::Date>("2026-01-31");
        assert_round_trip::<chrono::DateTime<chrono::Utc>>("2026-01-31T12:00:00.250Z");
        assert_round_trip::<jiff::Timestamp>("2026-01-31T12:00:00.25Z");
        assert_round_trip::<url::Url>("https://example.com/a?b=c");
        assert_round_trip::<uuid::Uuid>("67e55044-10b1-426f-9247-bb680e5fe0c8");
        // A time with another offset is the same.
        let east = jiff::Timestamp::from_json(json!("2026-01-31T14:00:00+02:00")).unwrap();
        assert_eq!(east.to_json(), json!("2026-01-31T12:00:00Z"));
        let error = uuid::Uuid::from_json(json!("x")).unwrap_err().to_string();
        assert!(error.starts_with("\"x\" is not a UUID: "), "{error}");
    }
}
