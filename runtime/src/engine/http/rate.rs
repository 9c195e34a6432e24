//! What answers say about how many requests may follow.

use std::time::SystemTime;

use reqwest::header::HeaderMap;
use serde_json::{Map, Value};

use super::retry::retry_after;
use crate::base::time::whole_millis;

/// Returns what the headers say, as numbers: `limit`, `remaining`, `reset` (in seconds, or as the service says it,
/// which may be a time since 1970), and `retry_after_ms`. What they do not say is left out.
///
/// Three forms are read: `RateLimit-Limit` and the like, the same with the prefix `X-`, and `RateLimit` as one list
/// (draft-ietf-httpapi-ratelimit-headers). `details.headers` holds all of them as they came.
pub(super) fn told(headers: &HeaderMap) -> Map<String, Value> {
    let mut told = Map::new();
    let mut put = |key: &str, value: Option<u64>| {
        if let Some(value) = value.filter(|_| !told.contains_key(key)) {
            told.insert(key.to_owned(), value.into());
        }
    };
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    for (key, names) in [
        ("limit", ["ratelimit-limit", "x-ratelimit-limit", "x-rate-limit-limit"]),
        ("remaining", ["ratelimit-remaining", "x-ratelimit-remaining", "x-rate-limit-remaining"]),
        ("reset", ["ratelimit-reset", "x-ratelimit-reset", "x-rate-limit-reset"]),
    ] {
        // `100, 100;w=60` says the policy after the number.
        for name in names {
            put(key, text(name).and_then(|text| number(text.split([',', ';']).next()?)));
        }
    }
    // `"default";r=50;t=30`, and earlier `limit=100, remaining=50, reset=30`.
    for part in text("ratelimit").unwrap_or_default().split([';', ',']) {
        let Some((name, value)) = part.trim().split_once('=') else { continue };
        let key = match name {
            "r" | "remaining" => "remaining",
            "t" | "reset" => "reset",
            "limit" => "limit",
            _ => continue,
        };
        put(key, number(value));
    }
    put("retry_after_ms", retry_after(headers, SystemTime::now()).map(whole_millis));
    told
}

fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};
    use serde_json::json;

    use super::*;

    #[test]
    fn the_forms_of_services_are_read() {
        for (given, expected) in [
            (vec![("content-type", "text/plain")], json!({})),
            (
                vec![
                    ("ratelimit-limit", "100, 100;w=60"),
                    ("ratelimit-remaining", "7"),
                    ("ratelimit-reset", "50"),
                ],
                json!({"limit": 100, "remaining": 7, "reset": 50}),
            ),
            (
                vec![
                    ("x-ratelimit-remaining", "0"),
                    ("x-ratelimit-reset", "1767225599"),
                    ("retry-after", "2"),
                ],
                json!({"remaining": 0, "reset": 1_767_225_599, "retry_after_ms": 2000}),
            ),
            (vec![("ratelimit", "\"default\";r=50;t=30")], json!({"remaining": 50, "reset": 30})),
            (vec![("ratelimit", "limit=9, remaining=x, reset=1")], json!({"limit": 9, "reset": 1})),
        ] {
            let headers = given
                .iter()
                .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
            assert_eq!(Value::from(told(&headers.collect())), expected, "{given:?}");
        }
    }
}
