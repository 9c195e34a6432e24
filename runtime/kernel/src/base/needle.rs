//! Finds known strings in text, in any encoding: unencoded, percent-encoded as a whole or in part, form-encoded, with
//! backslash escapes or the entities of HTML and XML, in UTF-16, in Base64 or hexadecimal, or wrapped into lines.
//!
//! The needle and the text are decoded repeatedly, and compared as bytes (Knuth, Morris and Pratt). Base64 and
//! hexadecimal cannot be distinguished from other text, so the needle is also searched for in these encodings;
//! apparent Base64 and hexadecimal is also decoded and searched in the same way, up to a few layers. Invisible
//! characters are skipped. The time is linear in the text for each needle, regardless of their contents; where no
//! needle begins, the cost of a byte does not depend on the number of needles.

mod decoded;
mod encoded;
mod layered;
mod pattern;

use std::ops::Range;

use super::truncate::floor;
use decoded::Decoded;
use pattern::{Pattern, Remainder, Unit, scan};

/// The minimum length of a decoded needle, in bytes: shorter needles occur by chance.
const MIN_NEEDLE_BYTES: usize = 4;

/// A string to be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretPattern {
    text: String,
    /// Searches without decoding: the text before a needle may look like the start of an escape.
    plain: Pattern,
    /// The patterns for the decoded text.
    decoded: Vec<Pattern>,
}

impl SecretPattern {
    /// Creates a needle. Its first `min_chars` characters count as the whole needle.
    pub fn new(text: impl Into<String>, min_chars: usize) -> SecretPattern {
        let text = text.into();
        let plain = Pattern::new(text.bytes().collect(), min_chars);
        let unescaped: Vec<u8> = Decoded::new(text.as_bytes()).map(|unit| unit.byte).collect();
        // If each character is escaped, the unescaped text contains no further escapes.
        let literal: Vec<u8> = text.bytes().filter_map(decoded::folded).collect();
        let mut forms = vec![unescaped];
        if forms[0] != literal {
            forms.push(literal);
        }
        forms.retain(|bytes| bytes.len() >= MIN_NEEDLE_BYTES);
        let mut decoded: Vec<Pattern> =
            forms.into_iter().map(|bytes| Pattern::new(bytes, min_chars)).collect();
        decoded.extend(encoded::patterns(&text, min_chars));
        SecretPattern { text, plain, decoded }
    }

    /// Returns the string, verbatim.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Returns the text with each needle replaced, or `None` if it contains no needle.
pub fn replace<'n>(
    text: &str,
    needles: impl IntoIterator<Item = &'n SecretPattern>,
    with: &str,
) -> Option<String> {
    let ranges = find(text, needles);
    let last = ranges.last()?.end;
    let (mut out, mut copied) = (String::with_capacity(text.len()), 0);
    for range in ranges {
        out.push_str(&text[copied..range.start]);
        out.push_str(with);
        copied = range.end;
    }
    out.push_str(&text[last..]);
    Some(out)
}

/// Returns the ranges of the needles, in order and without overlaps.
pub fn find<'n>(text: &str, needles: impl IntoIterator<Item = &'n SecretPattern>) -> Vec<Range<usize>> {
    search(text, needles, Remainder::Lost).0
}

/// Returns the earliest possible start of a needle whose end has not arrived yet, or the length of the text. A caller
/// that holds back the text after this position until more text arrives finds the same needles as in the whole text,
/// except for needles in two or more encodings whose first digits end a line.
pub fn unfinished<'n>(text: &str, needles: impl IntoIterator<Item = &'n SecretPattern>) -> usize {
    cut_needle_start(text, needles, Remainder::Follows)
}

/// Returns the earliest possible start of a needle whose end was cut off, or the length of the text. Ignores a few
/// trailing digits, which reveal nothing.
pub fn cut_off<'n>(text: &str, needles: impl IntoIterator<Item = &'n SecretPattern>) -> usize {
    cut_needle_start(text, needles, Remainder::Lost)
}

fn cut_needle_start<'n>(
    text: &str,
    needles: impl IntoIterator<Item = &'n SecretPattern>,
    remainder: Remainder,
) -> usize {
    let needles: Vec<&SecretPattern> = needles.into_iter().collect();
    if needles.is_empty() {
        return text.len();
    }
    let patterns: Vec<&Pattern> = needles.iter().flat_map(|needle| &needle.decoded).collect();
    let layered =
        |text: &str| layered::unfinished(text.as_bytes(), &patterns, remainder).map(|at| floor(text, at));
    let (ranges, begin) = search(text, needles.iter().copied(), remainder);
    let mut begin = layered(text).map_or(begin, |layered| begin.min(layered));
    if let Some(escape) = Decoded::cut_off(text.as_bytes()) {
        let decodable = &text[..floor(text, escape)];
        begin = begin.min(search(decodable, needles.iter().copied(), remainder).1).min(decodable.len());
        begin = layered(decodable).map_or(begin, |layered| begin.min(layered));
    }
    // Do not split a needle that was found.
    ranges.iter().find(|range| range.contains(&begin)).map_or(begin, |range| range.start)
}

/// Returns the ranges of the needles, and the position where a needle that is cut off by the end may begin.
fn search<'n>(
    text: &str,
    needles: impl IntoIterator<Item = &'n SecretPattern>,
    remainder: Remainder,
) -> (Vec<Range<usize>>, usize) {
    let (mut plain, mut decoded) = (Vec::new(), Vec::new());
    for needle in needles {
        plain.push(&needle.plain);
        decoded.extend(&needle.decoded);
    }
    let mut ranges = Vec::new();
    let raw = text.bytes().enumerate().map(|(at, byte)| Unit { byte, part: at..at + 1 });
    let begin = scan(raw, plain, &mut ranges, remainder);
    let begin = scan(Decoded::new(text.as_bytes()), decoded.clone(), &mut ranges, remainder)
        .into_iter()
        .chain(begin)
        .min();
    if !decoded.is_empty() {
        layered::find(text, &decoded, &mut ranges);
    }
    for range in &mut ranges {
        *range = floor(text, range.start)..floor(text, range.end);
    }
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|next, range| {
        let overlaps = next.start < range.end;
        if overlaps {
            range.end = range.end.max(next.end);
        }
        overlaps
    });
    (ranges, begin.map_or(text.len(), |begin| floor(text, begin)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgen_test_support::cpu_time;

    /// Pairs of a needle and a text with the needle.
    const ENCODED: &[(&str, &str)] = &[
        ("hunter2 x/y:z", "a hunter2 x/y:z b"),
        ("hunter2 x/y:z", "a hunter2%20x/y:z b"),
        ("hunter2 x/y:z", "a hunter2+x%2fy%3Az b"),
        ("hunter2 x/y:z", "a hunter2%2520x%252Fy:z b"),
        ("hunter2 x/y:z", r"a hunter2 x\/y:z b"),
        ("hunter2 x/y:z", "a hunter2\r\n x/y:z b"),
        ("caf\u{e9}-1", "a caf%c3%a9-1 b"),
        ("caf\u{e9}-1", r"a caf\u00e9-1 b"),
        ("key\u{1f600}s", r"a key\ud83d\uDE00s b"),
        ("a\"b\\c\n1", r#"a a\"b\\c\n1 b"#),
        ("a\"b\\c\n1", r#"a a\\\"b\\\\c\\n1 b"#),
        ("CORP\\nadmin", "a CORP%5Cnadmin b"),
        ("CORP\\nadmin", r"a CORP\\nadmin b"),
        ("abcdef", "a %abcdef b"),
        ("nabcdef", r"a \nabcdef b"),
        ("1%41+2", "a 1%2541%2B2 b"),
        ("ends\\", r#"a ends\\" b"#),
        ("us:p&ss<w0rd>\"'1", "a us:p&amp;ss&lt;w0rd&gt;&quot;&#39;1 b"),
        ("us:p&ss<w0rd>\"'1", "a us:p&amp;amp;ss&amp;lt;w0rd&#x3E;&QUOT;&apos;1 b"),
        ("us:p&ss", "a &#117;&#115;&#00058;&#112&#38;&#x73;&#x0073; b"),
        ("us:p&ss", "a us:p%26amp%3Bss b"),
        ("us:p&ss", r"a us\x3ap\x26ss b"),
        ("us:p&amp;ss", "a us:p&amp;amp;ss b"),
        ("us:p&ss", "a u\0s\0:\0p\0&\0s\0s\0 b"),
        ("us:p&ss", "a 75733a70267373 b"),
        ("us:p&ss:more", "a 75733A702673733A6D6F7265 b"),
        ("a\\nb%41c", r"a \u0061\u005c\u006e\u0062\u0025\u0034\u0031\u0063 b"),
        ("a\\nb%41c", "a &#97;&#92;&#110;&#98;&#37;&#52;&#49;&#99; b"),
        ("hunter2", "a hun\u{200b}ter\u{ad}2 b"),
        ("hunter2", "a h\u{feff}unte\u{2060}\u{200d}r2 b"),
        ("hunter2", "a hunt%E2%80%8Ber2 b"),
        ("hunter2", r"a hunt\u200ber2 b"),
        ("hunter2", r"a hunt&#8203;er&#xad;2 b"),
        ("hun\u{200b}ter2", "a hunter2 b"),
        ("caf\u{e9}-1", "a caf\u{200b}\u{e9}\u{e0041}-1 b"),
    ];

    #[test]
    fn needle_is_found_in_every_encoding() {
        for (needle, text) in ENCODED {
            let redacted = replace(text, [&SecretPattern::new(*needle, 16)], "#");
            let redacted = redacted.unwrap_or_else(|| panic!("{needle} in {text}"));
            assert!(
                redacted.starts_with("a ") && redacted.ends_with(" b") && redacted.contains('#'),
                "{text}: {redacted}"
            );
            assert!(redacted.len() <= 8, "{text}: {redacted}");
        }
        assert_eq!(replace("abc def", [&SecretPattern::new("abcdef", 16)], "#"), None);
    }

    /// `plain-s3cr3t?key>0123456789` after zero, one and two letters, in UTF-16, and its start.
    const BASE64: &[&str] = &[
        "cGxhaW4tczNjcjN0P2tleT4wMTIzNDU2Nzg5",
        "eHBsYWluLXMzY3IzdD9rZXk+MDEyMzQ1Njc4OQ==",
        "eHlwbGFpbi1zM2NyM3Q_a2V5PjAxMjM0NTY3ODk",
        "cABsAGEAaQBuAC0AcwAzAGMAcgAzAHQAPwBrAGUAeQA+ADAAMQAyADMANAA1ADYANwA4ADkA",
        "cGxhaW4tczNjcjN0P2tleT4w\r\nMTIzNDU2Nzg5",
        "cGxhaW4tczNjcjN0P2tleQ==",
    ];

    #[test]
    fn needle_is_found_at_any_base64_offset() {
        let needle = SecretPattern::new("plain-s3cr3t?key>0123456789", 16);
        for text in BASE64 {
            let displayed = replace(text, [&needle], "#").unwrap_or_else(|| panic!("{text}"));
            assert!(displayed.len() < 8, "{displayed}");
        }
        assert_eq!(replace("cGxhaW4gdGV4dCBpcyBub3QgYSBzZWNyZXQ", [&needle], "#"), None);
    }

    #[test]
    fn needle_is_found_in_nested_encodings() {
        let needle = SecretPattern::new("plain-s3cr3t?key>0123456789", 16);
        for (text, _) in NESTED {
            let displayed = replace(text, [&needle], "#").unwrap_or_else(|| panic!("{text}"));
            assert!(displayed.len() < 25 && displayed.contains('#'), "{text}: {displayed}");
        }
        assert_eq!(
            replace("WTBkNGFHRlhOSFJqZWs1cVkycE9NRkF5 abc", [&SecretPattern::new("other-s3cret", 16)], "#"),
            None
        );
    }

    #[test]
    fn long_needle_matches_by_its_start_and_overlaps_merge() {
        let needle = SecretPattern::new(format!("{}b", "a".repeat(25)), 16);
        assert_eq!(replace(&format!("x{}bx", "a".repeat(26)), [&needle], "#").unwrap(), "x#x");
        assert_eq!(replace(&format!("x{}x", "a".repeat(16)), [&needle], "#").unwrap(), "x#x");
        assert_eq!(replace(&format!("x{}x", "a".repeat(15)), [&needle], "#"), None);
        let needles = [SecretPattern::new("abcd", 16), SecretPattern::new("cdef", 16)];
        assert_eq!(replace("xabcdefx", &needles, "#").unwrap(), "x#x");
    }

    #[test]
    fn truncated_needle_is_recognized_by_its_start() {
        let needles = [SecretPattern::new("caf\u{e9} x", 16)];
        for (text, displayed) in [
            ("say c", "say "),
            ("say caf%c3", "say "),
            ("say caf%c", "say "),
            (r"say caf\u00", "say "),
            ("say caf\u{e9} x", "say "),
            ("say caf\u{e9} x.", "say caf\u{e9} x."),
            ("say caf\u{e9} x, c", "say caf\u{e9} x, "),
            ("say tea", "say "),
            ("say tea, a", "say tea, "),
            ("say tea.", "say tea."),
            ("say caf&#23", "say "),
            ("say a&b c", "say a&b "),
        ] {
            assert_eq!(&text[..unfinished(text, &needles)], displayed, "{text}");
        }
    }

    /// Texts with `plain-s3cr3t?key>0123456789` in several nested encodings, and the offset where the encoded needle
    /// begins.
    const NESTED: &[(&str, usize)] = &[
        // Its Base64, encoded in Base64 once and twice more.
        ("a Y0d4aGFXNHRjek5qY2pOMFAydGxlVDR3TVRJek5EVTJOemc1 b", 2),
        ("a WTBkNGFHRlhOSFJqZWs1cVkycE9NRkF5ZEd4bFZEUjNUVlJKZWs1RVZUSk9lbWMx b", 2),
        // With surrounding text, in lines, in hexadecimal, and percent-encoded or escaped inside.
        ("a eyJ0b2tlbiI6ImNHeGhhVzR0Y3pOamNqTjBQMnRsZVQ0d01USXpORFUyTnpnNSJ9 b", 16),
        ("a data:;base64,Y0d4aGFXNHRjek5qY2pOMFAydGxlVDR3TVRJ\r\nek5EVTJOemc1 b", 15),
        ("a 6347786861573474637a4e6a636a4e305032746c655434774d54497a4e4455324e7a6735 b", 2),
        ("a NzA2YzYxNjk2ZTJkNzMzMzYzNzIzMzc0M2Y2YjY1NzkzZTMwMzEzMjMzMzQzNTM2MzczODM5 b", 2),
        ("a cGxhaW4lMkRzM2NyM3QlM0ZrZXk+MDEyMw== b", 2),
        ("a cGxhaW5cdTAwMmRzM2NyM3RcdTAwM2ZrZXk+MDEyMw b", 2),
    ];

    /// Text in any number of parts, split anywhere, is redacted like the whole text.
    #[test]
    fn chunked_text_shows_no_more_than_the_whole() {
        let shown_in = |parts: &[&str], needles: &[SecretPattern]| {
            let (mut buffer, mut displayed) = (String::new(), String::new());
            for part in parts {
                buffer.push_str(part);
                let tail = buffer.split_off(unfinished(&buffer, needles));
                displayed.push_str(&replace(&buffer, needles, "#").unwrap_or(buffer));
                buffer = tail;
            }
            displayed + &replace(&buffer, needles, "#").unwrap_or(buffer)
        };
        let secret = "plain-s3cr3t?key>0123456789";
        let deep = [
            ("us:p&ss", "a us:p&amp;amp;amp;amp;amp;ss b"),
            ("us:p&ss", "a us:p%26amp%3Bamp%3Bamp%3Bss b"),
            ("us:p&ss", "a us:p%25252525252525252526ss b"),
            ("hunter2", r"a hun\\\\\\\\\\\\\\\\u0074er2 b"),
            ("hunter2", "a hun%E2%80%8B%E2%80%8Bter2 b"),
        ];
        let nested = |text: &str| Some(NESTED.iter().find(|(nested, _)| *nested == text)?.1);
        let encoded =
            BASE64.iter().copied().chain(NESTED.iter().map(|(text, _)| *text)).map(|text| (secret, text));
        for (needle, text) in ENCODED.iter().copied().chain(deep).chain(encoded) {
            let needles = [SecretPattern::new(needle, 16)];
            let expected = replace(text, &needles, "#").unwrap_or_else(|| panic!("{text}"));
            // Digits before those that contain a needle may be shown.
            let before = nested(text).and_then(|before| text.get(2..before)).unwrap_or_default();
            let without_prefix = |displayed: String| {
                let ends = (0..=before.len()).rev();
                let mut starts =
                    ends.filter_map(|end| displayed.strip_prefix(&format!("a {}", &before[..end])));
                starts.next().map_or(displayed.clone(), str::to_owned)
            };
            for (at, _) in text.char_indices() {
                let (first, second) = text.split_at(at);
                // With nested encodings, digits at the end of a line are not held back.
                if first.ends_with(['\n', '\r']) && nested(text).is_some() {
                    continue;
                }
                let displayed = shown_in(&[first, second], &needles);
                assert_eq!(
                    without_prefix(displayed),
                    without_prefix(expected.clone()),
                    "{text:?} cut at {at}"
                );
            }
            let chars: Vec<&str> = text.split_inclusive(|_| true).collect();
            let displayed = shown_in(&chars, &needles);
            assert!(nested(text).is_some() || displayed == expected, "{text:?} by character: {displayed}");
        }
        let needles = [SecretPattern::new(secret, 16)];
        // Lines of words are not held back.
        for text in
            ["the path src/base/needle\n", "build 0123456789abcdef0123456789abcde\n", "all 42 passed\n"]
        {
            assert_eq!(unfinished(text, &needles), text.len(), "{text}");
        }
        assert_eq!(unfinished("the path src/base/needle", &[]), 24);
    }

    /// A text that was cut shows at most a few digits of a secret.
    #[test]
    fn truncated_text_shows_at_most_a_few_digits() {
        let needles = [SecretPattern::new("plain-s3cr3t?key>0123456789", 16)];
        let base64 = BASE64.iter().map(|text| (*text, 0));
        for (text, begin) in base64.chain(NESTED.iter().copied()) {
            let secret = &text[begin..];
            for (at, _) in text.char_indices() {
                let first = &text[..at];
                let first = &first[..cut_off(first, &needles)];
                let displayed = replace(first, &needles, "#").unwrap_or_else(|| first.to_owned());
                let leak = (0..=secret.len() - 12).find(|at| displayed.contains(&secret[*at..at + 12]));
                assert!(leak.is_none(), "{text} cut at {at}: {displayed}");
            }
        }
        for text in ["the path src/base/needle", "build 0123456789abcdef0123456789abcde", "all 42 passed"] {
            assert_eq!(cut_off(text, &needles), text.len(), "{text}");
        }
    }

    #[test]
    fn searching_takes_linear_time() {
        let needles: Vec<SecretPattern> =
            (0..20).map(|n| SecretPattern::new(format!("{}b{n}", "a".repeat(40)), 16)).collect();
        for unit in [
            "a",
            "aaab",
            "%",
            "%25",
            "\\",
            "\\u",
            "\\ud83d",
            "\n",
            "%5c",
            "\\u%25",
            "&",
            "&amp;",
            "&#x",
            "&%25",
            "\\x",
            "\u{200b}",
            "\u{e9}",
            "QUFB",
            "+",
            "VmxkMGEwNUhSa2hWYTFKcFVUSTVjMWxXYUU5a1YxWjBZa",
            "41",
        ] {
            let text = unit.repeat(200_000 / unit.len());
            let (_, spent) = cpu_time(|| replace(&text, &needles, "#"));
            assert!(spent.as_secs() < 3, "{unit}: {spent:?}");
        }
        // A typical response: a megabyte, with as many secrets as one call can have.
        let needles: Vec<SecretPattern> =
            (0..64).map(|n| SecretPattern::new(format!("{n}s3cr3t-0123456789-abcdefgh-{n}"), 16)).collect();
        let text = r#"{"id": 4711, "name": "A dog & a cat", "url": "https://h/p?a=b%20c"},"#.repeat(15_000);
        let (_, spent) = cpu_time(|| replace(&text, &needles, "#"));
        assert!(spent.as_secs() < 3, "{spent:?}");
    }
}
