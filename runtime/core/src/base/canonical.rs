//! Canonical JSON (RFC 8785) and its digest.

use std::fmt::Write as _;

use serde_json::{Number, Value};

use super::sha256::sha256;

/// Returns a value as canonical JSON (RFC 8785): no whitespace, keys ordered by UTF-16 code units, numbers formatted
/// as in ECMAScript, no unnecessary escapes.
///
/// The RFC does not cover integers that a float cannot represent. They keep all their digits, so that different
/// integers stay different.
#[must_use]
pub fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write_value(value, &mut out);
    out
}

/// Returns the SHA-256 of a value's canonical JSON, in hexadecimal.
#[must_use]
pub fn digest(value: &Value) -> String {
    sha256(canonical(value).as_bytes())
}

fn write_value(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_value(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_by(|(left, _), (right, _)| left.encode_utf16().cmp(right.encode_utf16()));
            out.push('{');
            for (index, (key, value)) in members.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                let _ = write!(out, "{}:", Value::from(key.as_str()));
                write_value(value, out);
            }
            out.push('}');
        }
        Value::Number(number) => write_number(number, out),
        // `serde_json` escapes strings as the RFC does.
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

/// Writes a number like `Number::toString` of ECMAScript.
fn write_number(number: &Number, out: &mut String) {
    let text = number.to_string();
    if !number.is_f64() {
        out.push_str(&text);
        return;
    }
    // `serde_json` writes the same digits as ECMAScript, the shortest that round-trip, but places the point
    // differently.
    let (sign, text) = text.strip_prefix('-').map_or(("", &*text), |unsigned| ("-", unsigned));
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = format!("{integer}{fraction}");
    let digits = all_digits.trim_start_matches('0');
    let leading_zeros = all_digits.len() - digits.len();
    let digits = digits.trim_end_matches('0');
    if digits.is_empty() {
        out.push('0');
        return;
    }
    out.push_str(sign);
    let to_i32 = |length: usize| i32::try_from(length).unwrap_or(i32::MAX);
    // The number is `0.digits` × 10^`point`.
    let point = to_i32(integer.len()) - to_i32(leading_zeros) + exponent.parse::<i32>().unwrap_or_default();
    place_point(digits, point, to_i32(digits.len()), out);
}

fn place_point(digits: &str, point: i32, length: i32, out: &mut String) {
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or_default());
    let (head, tail) = digits.split_at(usize::try_from(point.clamp(0, length)).unwrap_or_default());
    match point {
        22.. | ..=-6 => {
            let (first, rest) = digits.split_at(1);
            let dot = if rest.is_empty() { "" } else { "." };
            let _ = write!(out, "{first}{dot}{rest}e{:+}", point - 1);
        }
        1.. if tail.is_empty() => {
            let _ = write!(out, "{head}{}", zeros(point - length));
        }
        1.. => {
            let _ = write!(out, "{head}.{tail}");
        }
        _ => {
            let _ = write!(out, "0.{}{digits}", zeros(-point));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn float(bits: u64) -> String {
        canonical(&Value::from(f64::from_bits(bits)))
    }

    /// RFC 8785, appendix B.
    #[test]
    fn numbers_match_rfc_8785() {
        for (bits, text) in [
            (0x0000_0000_0000_0000, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0xc340_0000_0000_0000, "-9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0x41b3_de43_5555_5554, "333333333.33333325"),
            (0x41b3_de43_5555_5555, "333333333.3333333"),
            (0x41b3_de43_5555_5556, "333333333.3333334"),
            (0x41b3_de43_5555_5557, "333333333.33333343"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        ] {
            assert_eq!(float(bits), text);
        }
    }

    /// RFC 8785, section 3.2.2.
    #[test]
    fn strings_and_literals_match_rfc_8785() {
        let input = r#"{
            "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
            "literals": [null, true, false]
        }"#;
        let value: Value = serde_json::from_str(input).unwrap();
        assert_eq!(
            canonical(&value),
            "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\
             \"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}"
        );
    }

    /// RFC 8785, section 3.2.3: in UTF-16, an emoji sorts before a Hebrew presentation form.
    #[test]
    fn keys_are_sorted_as_in_rfc_8785() {
        let value = json!({
            "\u{20ac}": "Euro Sign", "\r": "Carriage Return", "\u{fb33}": "Hebrew Letter Dalet With Dagesh",
            "1": "One", "\u{1f600}": "Emoji: Grinning Face", "\u{80}": "Control", "\u{f6}": "Latin Small Letter O"
        });
        let text = canonical(&value);
        let at = |name: &str| text.find(name).unwrap();
        let order = ["Carriage", "One", "Control", "Latin", "Euro", "Emoji", "Hebrew"].map(at);
        assert!(order.is_sorted(), "{text}");
    }

    #[test]
    fn integers_beyond_f64_precision_stay_distinct() {
        assert_eq!(
            canonical(&json!([9_007_199_254_740_993_u64, 1.0, -1, 1e2])),
            "[9007199254740993,1,-1,100]"
        );
        assert_ne!(digest(&json!(u64::MAX)), digest(&json!(u64::MAX - 1)));
    }

    #[test]
    fn digest_is_sha_256() {
        let empty = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
        assert_eq!(digest(&json!({})), empty);
    }
}
