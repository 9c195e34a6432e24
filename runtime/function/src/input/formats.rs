//! String types with a format: addresses, dates and times, durations, UUIDs and URLs.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use serde_json::Value;

use super::{ArgumentProblem, ToolInput, problem, rules};
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::schema::shape::{Kind, Shape, StringRules};

const fn format_shape(format: &'static str) -> Shape {
    rules::with_kind(Kind::String(StringRules { format: Text::Static(format), ..StringRules::ANY }))
}

macro_rules! formats {
    ($($type:ty, $format:literal, $expected:literal;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl ToolInput for $type {
            const SHAPE: Shape = format_shape($format);

            fn decode(value: Value) -> Result<Self, ArgumentProblem> {
                let parsed = value.as_str().and_then(|text| text.parse().ok());
                parsed.ok_or_else(|| problem($expected, &value))
            }
        }
    )*};
}

formats! {
    // No format covers both versions.
    IpAddr, "", "an IP address such as 192.0.2.1 or 2001:db8::1";
    Ipv4Addr, "ipv4", "an IPv4 address such as 192.0.2.1";
    Ipv6Addr, "ipv6", "an IPv6 address such as 2001:db8::1";
}

#[cfg(feature = "chrono")]
formats! {
    chrono::DateTime<chrono::Utc>, "date-time", "a time such as 2026-01-31T12:00:00Z";
    chrono::DateTime<chrono::FixedOffset>, "date-time", "a time such as 2026-01-31T12:00:00+01:00";
    chrono::NaiveDate, "date", "a date such as 2026-01-31";
}

#[cfg(feature = "jiff")]
formats! {
    jiff::Timestamp, "date-time", "a time such as 2026-01-31T12:00:00Z";
    jiff::civil::Date, "date", "a date such as 2026-01-31";
}

#[cfg(feature = "url")]
formats! { url::Url, "uri", "a URL"; }

#[cfg(feature = "uuid")]
formats! { uuid::Uuid, "uuid", "a UUID"; }

/// In ISO 8601 notation, which states the units: `PT1M30S`. Years and months have no fixed length and are rejected.
#[diagnostic::do_not_recommend]
impl ToolInput for Duration {
    const SHAPE: Shape = format_shape("duration");
    // Serde writes seconds and nanoseconds.
    const SYMMETRIC: bool = false;

    fn decode(value: Value) -> Result<Self, ArgumentProblem> {
        let parsed = value.as_str().and_then(parse_duration);
        parsed.ok_or_else(|| {
            problem("a duration of weeks, days, hours, minutes and seconds such as PT1M30S", &value)
        })
    }
}

/// The units of a duration, largest first, with their length in seconds and whether they follow the `T`.
const UNITS: [(char, u64, bool); 5] =
    [('W', 604_800, false), ('D', 86_400, false), ('H', 3600, true), ('M', 60, true), ('S', 1, true)];

/// Parses a duration. A number may have a fraction.
fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.strip_prefix('P')?;
    let (days, times) = match text.split_once('T') {
        Some((_, "")) => return None,
        Some((days, times)) => (days, times),
        None => (text, ""),
    };
    let mut sum = Duration::ZERO;
    let mut units = UNITS.iter();
    let mut unit_count = 0;
    for (mut remaining, is_time) in [(days, false), (times, true)] {
        while !remaining.is_empty() {
            let end = remaining.find(|c: char| c.is_ascii_alphabetic())?;
            let (number, unit) = remaining.split_at(end);
            let (_, seconds, _) = units
                .find(|(letter, _, is_time_unit)| unit.starts_with(*letter) && *is_time_unit == is_time)?;
            sum = sum.checked_add(parse_amount(number, *seconds)?)?;
            remaining = unit.get(1..)?;
            unit_count += 1;
        }
    }
    (unit_count > 0).then_some(sum)
}

/// Returns a number of units as a duration.
fn parse_amount(number: &str, seconds: u64) -> Option<Duration> {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (integer, fraction) = number.split_once(['.', ',']).unwrap_or((number, "0"));
    if !is_digits(integer) || !is_digits(fraction) {
        return None;
    }
    let integer = Duration::from_secs(integer.parse::<u64>().ok()?.checked_mul(seconds)?);
    let nanos = format!("{:0<9}", fraction.get(..9).unwrap_or(fraction)).parse::<u64>().ok()?;
    integer.checked_add(Duration::from_nanos(nanos.checked_mul(seconds)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn durations_are_parsed() {
        for (text, millis) in [
            ("PT0S", Some(0)),
            ("PT1M30S", Some(90_000)),
            ("PT0.25S", Some(250)),
            ("P1DT1H", Some(90_000_000)),
            ("P2W", Some(1_209_600_000)),
            ("PT1,5M", Some(90_000)),
            ("P", None),
            ("PT", None),
            ("P1DT", None),
            ("PT1S1M", None),
            ("P1M", None),
            ("P1Y", None),
            ("-PT1S", None),
            ("PT1", None),
            ("90", None),
            ("P99999999999999999999D", None),
        ] {
            let parsed = Duration::decode(json!(text)).ok();
            assert_eq!(parsed, millis.map(Duration::from_millis), "{text}");
        }
    }

    #[test]
    fn formatted_strings_are_parsed_or_rejected_with_an_example() {
        assert_eq!(Ipv4Addr::decode(json!("127.0.0.1")), Ok(Ipv4Addr::LOCALHOST));
        assert_eq!(IpAddr::decode(json!("::1")), Ok(IpAddr::V6(Ipv6Addr::LOCALHOST)));
        let reason = Ipv4Addr::decode(json!("::1")).unwrap_err();
        assert!(reason.message.contains("an IPv4 address such as 192.0.2.1"), "{}", reason.message);
        assert!(Duration::decode(json!(5)).is_err());
    }

    #[cfg(all(feature = "chrono", feature = "uuid", feature = "url"))]
    #[test]
    fn third_party_types_are_parsed() {
        let utc = chrono::DateTime::<chrono::Utc>::decode(json!("2026-01-31T12:00:00+01:00")).unwrap();
        assert_eq!(utc.to_rfc3339(), "2026-01-31T11:00:00+00:00");
        assert_eq!(uuid::Uuid::decode(json!("00000000-0000-0000-0000-000000000000")), Ok(uuid::Uuid::nil()));
        assert_eq!(url::Url::decode(json!("https://a.example/x")).unwrap().path(), "/x");
    }
}
