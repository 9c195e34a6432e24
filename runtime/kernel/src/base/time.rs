//! Conversion of times to and from text and numbers.

use std::time::Duration;
use std::time::{SystemTime, UNIX_EPOCH};

/// Formats a time as RFC 3339 in UTC with milliseconds: `2026-01-31T23:59:59.999Z`. Times before 1970 become 1970.
pub fn rfc3339(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, seconds) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", since.subsec_millis())
}

/// Returns the whole milliseconds of a duration, saturated at 64 bits.
pub fn whole_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the date this many days after 1970-01-01, in the Gregorian calendar.
///
/// Years start in March, so that a leap day is the last day of its year. They repeat every 400 years (an era), which
/// have 146,097 days.
fn date(days: u64) -> (u64, u64, u64) {
    // 719,468 days lie between 0000-03-01 and 1970-01-01.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // From March on, every five months have 153 days.
    let month = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + next_year, month, day_of_month)
}

/// Returns the number of days from 1970-01-01 to a date, in the Gregorian calendar, or `None` for earlier dates.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    // Like in `date`, years start in March, and 0000-03-01 is 719,468 days before 1970.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year.checked_sub(1)?, month + 9) };
    (year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day).checked_sub(719_469)
}

/// Parses the format of [`rfc3339`]. Returns milliseconds since 1970.
pub fn millis_of(text: &str) -> Option<u64> {
    let parts: Vec<u64> = text
        .strip_suffix('Z')?
        .split(['-', 'T', ':', '.'])
        .map(|part| part.parse().ok())
        .collect::<Option<_>>()?;
    let &[
        year,
        month @ 1..=12,
        day @ 1..=31,
        hour @ 0..=23,
        minute @ 0..=59,
        second @ 0..=60,
        millis @ 0..=999,
    ] = parts.as_slice()
    else {
        return None;
    };
    if year > 9999 {
        return None;
    }
    Some(((days(year, month, day)? * 24 + hour) * 60 + minute) * 60_000 + second * 1000 + millis)
}

/// Parses an HTTP date (RFC 9110, section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`. The obsolete formats are not
/// supported, nor are times before 1970.
pub fn http_date(text: &str) -> Option<SystemTime> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let words: Vec<&str> = text.split_once(", ")?.1.split([' ', ':']).collect();
    let &[day, month, year, hour, minute, second, "GMT"] = words.as_slice() else { return None };
    let number = |text: &str| text.parse::<u64>().ok();
    let month = MONTHS.find(month).filter(|at| at % 3 == 0 && month.len() == 3)? as u64 / 3 + 1;
    let (year, day) = (number(year).filter(|year| (1970..=9999).contains(year))?, number(day)?);
    let days = days(year, month, day)?;
    let seconds = number(hour)? * 3600 + number(minute)? * 60 + number(second)?;
    UNIX_EPOCH.checked_add(Duration::from_secs(days * 86_400 + seconds))
}

#[cfg(test)]
mod http_tests {
    use super::*;

    #[test]
    fn http_dates_are_parsed() {
        for (text, millis) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777_000),
            ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400_000),
            ("Thu, 31 Dec 2099 23:59:59 GMT", 4_102_444_799_000),
        ] {
            assert_eq!(http_date(text), Some(UNIX_EPOCH + Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "Sun, 06 Nov 1994", "Sun, 06 anF 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 CET"]
        {
            assert_eq!(http_date(text), None, "{text}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_written_as_rfc_3339() {
        // Computed with `date -u -d @SECONDS`.
        let cases = [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_001, "2000-03-01T00:00:00.001Z"),
            (1_709_164_800_000, "2024-02-29T00:00:00.000Z"),
            (1_767_225_599_500, "2025-12-31T23:59:59.500Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ];
        for (millis, expected) in cases {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_millis(millis)), expected);
            assert_eq!(millis_of(expected), Some(millis));
        }
    }
}
