//! Retries of HTTP requests: which failures are retried, how many times, and with which backoff.

use std::time::{Duration, SystemTime};

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::{Map, Value};
use toolgen_kernel::base::time::{http_date, whole_millis};

use super::transport::SendError;

/// The policy for retries of failed requests.
///
/// A request is retried if the service returns 429 or 503, a gateway returns 502 or 504, or the connection breaks,
/// and the operation declares that a second request has no further effect: its tool is read-only or idempotent, or it
/// has a header for an idempotency key, which is the same for all attempts. A request that was not sent, because the
/// connection failed, is retried for every operation.
///
/// `Retry-After` determines the delay. Otherwise the delays double, and a part of each is random. If the service
/// requests a longer delay than this policy or the time limit of the call allows, its response is the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    max_retries: u32,
    initial_delay: Duration,
    max_delay: Duration,
    total: Duration,
}

impl Default for RetryPolicy {
    /// Returns the default policy: two retries, the first after 250 ms, at most 10 s per delay, and 20 s in total.
    fn default() -> RetryPolicy {
        RetryPolicy {
            max_retries: 2,
            initial_delay: Duration::from_millis(250),
            max_delay: Duration::from_secs(10),
            total: Duration::from_secs(20),
        }
    }
}

impl RetryPolicy {
    /// A policy without retries.
    pub const NONE: RetryPolicy = RetryPolicy {
        max_retries: 0,
        initial_delay: Duration::ZERO,
        max_delay: Duration::ZERO,
        total: Duration::ZERO,
    };

    /// Sets the maximum number of retries of a request.
    #[must_use]
    pub fn max_retries(mut self, max: u32) -> RetryPolicy {
        self.max_retries = max;
        self
    }

    /// Sets the first delay. It doubles with each retry.
    #[must_use]
    pub fn initial_delay(mut self, delay: Duration) -> RetryPolicy {
        self.initial_delay = delay;
        self
    }

    /// Sets the maximum delay. If a service requests a longer delay, the request is not retried.
    #[must_use]
    pub fn max_delay(mut self, max: Duration) -> RetryPolicy {
        self.max_delay = max;
        self
    }

    /// Sets the maximum sum of all delays of a request.
    #[must_use]
    pub fn max_total_delay(mut self, total: Duration) -> RetryPolicy {
        self.total = total;
        self
    }
}

/// The attempts of one request.
#[derive(Debug)]
#[doc(hidden)]
pub struct RetryState {
    retries: RetryPolicy,
    waited: Duration,
    /// The reasons and delays of the retries so far, one object each.
    pub(super) history: Vec<Value>,
}

impl RetryState {
    #[must_use]
    pub fn new(retries: RetryPolicy) -> RetryState {
        RetryState { retries, waited: Duration::ZERO, history: Vec::new() }
    }

    /// Returns the delay before the next attempt, or `None` if the request is not retried.
    ///
    /// `remaining` is the remaining time of the call.
    pub fn next_delay(&mut self, reason: &RetryReason, remaining: Option<Duration>) -> Option<Duration> {
        let RetryPolicy { max_retries: max, initial_delay: first, max_delay: longest, total } = self.retries;
        let retries = u32::try_from(self.history.len()).unwrap_or(u32::MAX);
        if retries >= max {
            return None;
        }
        let backoff = first.saturating_mul(1 << retries.min(16)).min(longest);
        let delay = reason.retry_after.unwrap_or_else(|| backoff.mul_f64(0.5 + 0.5 * random()));
        let is_within_limits = delay <= longest
            && self.waited.saturating_add(delay) <= total
            && remaining.is_none_or(|remaining| delay < remaining);
        if !is_within_limits {
            return None;
        }
        self.waited += delay;
        let mut entry = Map::new();
        match reason.status {
            Some(status) => entry.insert("status".to_owned(), status.as_u16().into()),
            None => entry.insert("error".to_owned(), reason.message.clone().into()),
        };
        entry.insert("waited_ms".to_owned(), whole_millis(delay).into());
        self.history.push(entry.into());
        Some(delay)
    }
}

/// A failure that may be retried.
#[derive(Debug)]
#[doc(hidden)]
pub struct RetryReason {
    status: Option<StatusCode>,
    /// The minimum delay that the service requests.
    retry_after: Option<Duration>,
    #[doc(hidden)]
    pub message: String,
}

impl RetryReason {
    /// A reason that this crate does not know of: the program decides to retry.
    #[must_use]
    pub fn new(message: impl Into<String>) -> RetryReason {
        RetryReason { status: None, retry_after: None, message: message.into() }
    }

    /// Sets the minimum delay, unless a header did.
    #[must_use]
    pub fn or_after(mut self, delay: Option<Duration>) -> RetryReason {
        self.retry_after = self.retry_after.or(delay);
        self
    }

    /// Returns the reason to retry after a response of any status.
    #[must_use]
    pub fn after_response(status: StatusCode, headers: &HeaderMap) -> RetryReason {
        RetryReason {
            status: Some(status),
            retry_after: retry_after(headers, SystemTime::now()),
            message: format!("the service returned {}", status.as_u16()),
        }
    }

    /// Returns the reason to retry after this response, if there is one.
    pub(super) fn from_response(status: StatusCode, headers: &HeaderMap) -> Option<RetryReason> {
        let is_retryable = matches!(status.as_u16(), 429 | 502 | 503 | 504);
        is_retryable.then(|| RetryReason::after_response(status, headers))
    }

    /// Returns the reason to retry after this failure, if there is one. `repeatable` states whether a request that was
    /// sent may be retried.
    pub(super) fn from_error(error: &SendError, repeatable: bool) -> Option<RetryReason> {
        let SendError::Network(error) = error else { return None };
        let is_retryable = is_retryable(error) && (repeatable || error.is_connect());
        let message = if error.is_connect() { "there was no connection" } else { "the connection broke" };
        is_retryable.then(|| RetryReason { status: None, retry_after: None, message: message.to_owned() })
    }
}

/// Whether another attempt may succeed: the connection failed or broke, and not because of TLS.
pub(super) fn is_retryable(error: &reqwest::Error) -> bool {
    !is_tls_error(error) && (error.is_connect() || error.is_request())
}

/// Whether the failure is a TLS error, which a retry does not fix.
fn is_tls_error(error: &reqwest::Error) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        if error.is::<rustls::Error>() {
            return true;
        }
        // The source of an I/O error is not the error that it wraps, but the source of that one.
        let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        cause = match wrapped {
            Some(wrapped) => Some(wrapped),
            None => error.source(),
        };
    }
    false
}

/// Returns the delay in `Retry-After` (RFC 9110, section 10.2.3): seconds, which services also write with a fraction, or a
/// date. `retry-after-ms` of model vendors is more exact.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let exact = text("retry-after-ms")
        .and_then(|millis| Duration::try_from_secs_f64(millis.parse::<f64>().ok()? / 1e3).ok());
    exact.or_else(|| {
        let text = text(RETRY_AFTER.as_str())?;
        match text.parse() {
            Ok(seconds) => Some(Duration::from_secs(seconds)),
            Err(_) => match text.parse() {
                Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
                Err(_) => Some(http_date(text)?.duration_since(now).unwrap_or_default()),
            },
        }
    })
}

/// Returns a random number from 0 to 1; always 1 if the system provides no randomness.
fn random() -> f64 {
    let mut bytes = [0; 4];
    match getrandom::fill(&mut bytes) {
        Ok(()) => f64::from(u32::from_ne_bytes(bytes)) / f64::from(u32::MAX),
        Err(_) => 1.0,
    }
}

/// Returns a unique idempotency key: a random UUID (RFC 9562, section 5.4).
pub(super) fn idempotency_key() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    let number = u128::from_ne_bytes(bytes) & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let hex = format!("{number:032x}");
    Ok([&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-"))
}

/// Parses rate limit headers into numbers: `limit`, `remaining`, `reset` (seconds, or the unit of the service, which
/// may be a Unix time), and `retry_after_ms`. Missing values are omitted.
///
/// Three forms are supported: `RateLimit-*` headers, the same with the prefix `X-`, and the structured `RateLimit`
/// (draft-ietf-httpapi-ratelimit-headers). `details.headers` contains the original headers.
pub(super) fn rate_limits(headers: &HeaderMap) -> Map<String, Value> {
    let mut limits = Map::new();
    let mut insert = |key: &str, value: Option<u64>| {
        if let Some(value) = value.filter(|_| !limits.contains_key(key)) {
            limits.insert(key.to_owned(), value.into());
        }
    };
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    for (key, names) in [
        ("limit", ["ratelimit-limit", "x-ratelimit-limit", "x-rate-limit-limit"]),
        ("remaining", ["ratelimit-remaining", "x-ratelimit-remaining", "x-rate-limit-remaining"]),
        ("reset", ["ratelimit-reset", "x-ratelimit-reset", "x-rate-limit-reset"]),
    ] {
        // `100, 100;w=60` has the policy after the number.
        for name in names {
            insert(key, text(name).and_then(|text| number(text.split([',', ';']).next()?)));
        }
    }
    // `"default";r=50;t=30`, and in earlier drafts `limit=100, remaining=50, reset=30`.
    for part in text("ratelimit").unwrap_or_default().split([';', ',']) {
        let Some((name, value)) = part.trim().split_once('=') else { continue };
        let key = match name {
            "r" | "remaining" => "remaining",
            "t" | "reset" => "reset",
            "limit" => "limit",
            _ => continue,
        };
        insert(key, number(value));
    }
    insert("retry_after_ms", retry_after(headers, SystemTime::now()).map(whole_millis));
    limits
}

fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};
    use serde_json::json;

    use super::*;

    fn parsed_delay(text: &str) -> Option<Duration> {
        let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_str(text).unwrap())]);
        // Sun, 06 Nov 1994 08:49:37 GMT
        retry_after(&headers, SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777))
    }

    #[test]
    fn retry_after_accepts_seconds_and_http_date() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(parsed_delay("120"), seconds(120));
        assert_eq!(parsed_delay("Sun, 06 Nov 1994 08:49:47 GMT"), seconds(10));
        assert_eq!(parsed_delay("Sun, 06 Nov 1994 08:49:27 GMT"), seconds(0));
        for text in ["soon", "-1", "Sun, 06 Nov 1994", "1994-11-06T08:49:47Z"] {
            assert_eq!(parsed_delay(text), None, "{text}");
        }
    }

    #[test]
    fn delays_double_up_to_their_limits() {
        let reason = |retry_after: Option<u64>| RetryReason {
            status: Some(StatusCode::SERVICE_UNAVAILABLE),
            retry_after: retry_after.map(Duration::from_secs),
            message: String::new(),
        };
        let mut attempts =
            RetryState::new(RetryPolicy::default().max_retries(9).max_delay(Duration::from_secs(1)));
        for max in [250, 500, 1000, 1000] {
            let delay = attempts.next_delay(&reason(None), None).unwrap().as_millis();
            assert!((max / 2..=max).contains(&delay), "{delay} of {max}");
        }
        assert_eq!(attempts.history.len(), 4);
        assert_eq!(attempts.next_delay(&reason(Some(1)), None), Some(Duration::from_secs(1)));
        // The delay exceeds the maximum delay, the remaining time of the call, and the maximum total delay.
        assert_eq!(attempts.next_delay(&reason(Some(2)), None), None);
        assert_eq!(attempts.next_delay(&reason(Some(1)), Some(Duration::from_secs(1))), None);
        assert_eq!(
            RetryState::new(RetryPolicy::default().max_total_delay(Duration::ZERO))
                .next_delay(&reason(None), None),
            None
        );
        assert_eq!(RetryState::new(RetryPolicy::NONE).next_delay(&reason(Some(0)), None), None);
    }

    #[test]
    fn idempotency_keys_are_random_uuids() {
        let (first, second) = (idempotency_key().unwrap(), idempotency_key().unwrap());
        assert_ne!(first, second);
        let lengths: Vec<usize> = first.split('-').map(str::len).collect();
        assert_eq!((lengths, &first[14..15]), (vec![8, 4, 4, 4, 12], "4"));
        assert!(matches!(&first[19..20], "8" | "9" | "a" | "b"), "{first}");
    }

    #[test]
    fn rate_limit_headers_of_known_services_are_parsed() {
        for (pairs, expected) in [
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
            let headers = pairs
                .iter()
                .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
            assert_eq!(Value::from(rate_limits(&headers.collect())), expected, "{pairs:?}");
        }
    }
}
