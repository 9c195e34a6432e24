//! Times as text and numbers.

use std::time::Duration;
#[cfg(any(feature = "audit", feature = "builtin"))]
use std::time::{SystemTime, UNIX_EPOCH};

#[cfg(any(feature = "audit", feature = "builtin"))]
/// Formats a time as RFC 3339 in UTC with milliseconds: `2026-01-31T23:59:59.999Z`. Times before 1970 become its start.
pub(crate) fn rfc3339(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, seconds) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", since.subsec_millis())
}

/// Returns whole milliseconds, saturated at 64 bits: half a billion years.
pub(crate) fn whole_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(any(feature = "audit", feature = "builtin"))]
/// Returns the date this many days after 1970-01-01, in the Gregorian calendar.
///
/// Years are counted from March, so that a leap day is the last day of its year; they repeat every 400 years (an era),
/// which are 146,097 days.
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

#[cfg(all(test, any(feature = "audit", feature = "builtin")))]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_rfc_3339() {
        // By `date -u -d @SECONDS`.
        let cases = [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_001, "2000-03-01T00:00:00.001Z"),
            (1_709_164_800_000, "2024-02-29T00:00:00.000Z"),
            (1_767_225_599_500, "2025-12-31T23:59:59.500Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ];
        for (millis, wanted) in cases {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_millis(millis)), wanted);
        }
    }
}
