//! Types of other crates that generated types use instead of strings of a format, each behind the feature of its
//! crate.

/// Implements reading and writing of a type in its own string format.
#[allow(unused_macros, reason = "each use of it is behind a feature")]
macro_rules! by_text {
    ($($type:ty, $what:literal, $value:ident => $write:expr;)+) => {$(
        impl crate::engine::typed::ToJson for $type {
            fn to_json(&self) -> serde_json::Value {
                let $value = self;
                serde_json::Value::String($write)
            }
        }

        impl crate::engine::typed::FromJson for $type {
            fn from_json(value: serde_json::Value) -> Result<Self, crate::engine::typed::JsonError> {
                let text = String::from_json(value)?;
                text.parse().map_err(|why| {
                    crate::engine::typed::JsonError::new(format!("{text:?} is not {}: {why}", $what))
                })
            }
        }
    )+};
}

#[cfg(feature = "chrono")]
by_text! {
    chrono::NaiveDate, "a date such as 2026-01-31", value => value.to_string();
    chrono::DateTime<chrono::Utc>, "a time such as 2026-01-31T12:00:00Z",
        value => value.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true);
}

#[cfg(feature = "jiff")]
by_text! {
    jiff::civil::Date, "a date such as 2026-01-31", value => value.to_string();
    jiff::Timestamp, "a time such as 2026-01-31T12:00:00Z", value => value.to_string();
}

#[cfg(feature = "url")]
by_text! { url::Url, "a URL", value => value.to_string(); }

#[cfg(feature = "uuid")]
by_text! { uuid::Uuid, "a UUID", value => value.to_string(); }

#[cfg(all(test, feature = "chrono", feature = "jiff", feature = "url", feature = "uuid"))]
mod tests {
    use serde_json::json;

    use super::super::{FromJson, ToJson};

    #[track_caller]
    fn stays<T: FromJson + ToJson>(text: &str) {
        assert_eq!(T::from_json(json!(text)).map(|value| value.to_json()), Ok(json!(text)));
    }

    #[test]
    fn formatted_strings_round_trip_as_types() {
        stays::<chrono::NaiveDate>("2026-01-31");
        stays::<jiff::civil::Date>("2026-01-31");
        stays::<chrono::DateTime<chrono::Utc>>("2026-01-31T12:00:00.250Z");
        stays::<jiff::Timestamp>("2026-01-31T12:00:00.25Z");
        stays::<url::Url>("https://example.com/a?b=c");
        stays::<uuid::Uuid>("67e55044-10b1-426f-9247-bb680e5fe0c8");
        // Another offset is the same time.
        let east = jiff::Timestamp::from_json(json!("2026-01-31T14:00:00+02:00")).unwrap();
        assert_eq!(east.to_json(), json!("2026-01-31T12:00:00Z"));
        let wrong = uuid::Uuid::from_json(json!("x")).unwrap_err().to_string();
        assert!(wrong.starts_with("\"x\" is not a UUID: "), "{wrong}");
    }
}
