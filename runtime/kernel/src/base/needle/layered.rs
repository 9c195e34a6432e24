//! Finds needles in Base64 and hexadecimal whose decoded contents are encoded again, for example in Base64.
//!
//! A run of digits may begin and end anywhere in the encoded data, so it is decoded from each of its first digits to
//! its last whole byte. The `base64` crate rejects such runs, and is not available without the HTTP engine.

use std::ops::Range;

use super::decoded::Decoded;
use super::pattern::{Pattern, Remainder, Unit, scan};

/// The minimum number of digits that are decoded: shorter runs contain no needle in another encoding.
const MIN_RUN_DIGITS: usize = 16;
/// The minimum number of digits at the end of a text that may be the start of a needle, if the remaining text is lost.
const MIN_CUT_DIGITS: usize = 4;
/// The maximum number of nested encodings that are decoded.
const MAX_DEPTH: usize = 4;
/// The number of digits that encode at least one byte of a needle, at the maximum depth. Fewer digits reveal nothing.
const MIN_REVEALING_DIGITS: usize = 2 << MAX_DEPTH;

/// Adds the runs of digits that contain a needle and do not overlap a known range.
pub(super) fn find(text: &str, patterns: &[&Pattern], ranges: &mut Vec<Range<usize>>) {
    let before = ranges.len();
    for_each_run(text.as_bytes(), |digits, part| {
        let is_known = ranges[..before].iter().any(|range| range.start < part.end && part.start < range.end);
        if !is_known && contains_needle(digits, patterns, MAX_DEPTH) {
            ranges.push(part);
        }
    });
}

/// Returns the position where an encoded needle that the end of a text cuts off may begin.
pub(super) fn unfinished(text: &[u8], patterns: &[&Pattern], remainder: Remainder) -> Option<usize> {
    let begin = cut_start(text, patterns, MAX_DEPTH, remainder);
    // Digits at the end of a line are usually part of a word, which the next line does not continue.
    let may_continue =
        remainder == Remainder::Follows && text.last().is_some_and(|last| !matches!(last, b'\n' | b'\r'));
    let digits = if may_continue { last_digits(text).1 } else { Vec::new() };
    begin.into_iter().chain(digits.get(digits.len().saturating_sub(MIN_REVEALING_DIGITS)).copied()).min()
}

/// Returns the digits at the end of a text, and the offset of each.
fn last_digits(text: &[u8]) -> (Vec<u8>, Vec<usize>) {
    let (mut digits, mut starts) = (Vec::new(), Vec::new());
    for_each_digit(text, |digit| match digit {
        Some((digit, part)) => {
            digits.push(digit);
            starts.push(part.start);
        }
        None => {
            digits.clear();
            starts.clear();
        }
    });
    (digits, starts)
}

/// Like [`unfinished`], for at most `depth` nested encodings.
fn cut_start(text: &[u8], patterns: &[&Pattern], depth: usize, remainder: Remainder) -> Option<usize> {
    let (digits, starts) = last_digits(text);
    let needle_start = |text: &[u8]| scan(Decoded::new(text), patterns.to_vec(), &mut Vec::new(), remainder);
    let start_in = |decoded: &DecodedRun| {
        let start = needle_start(&decoded.text);
        // The next byte of the needle may begin an escape.
        let escape = Decoded::cut_off(&decoded.text);
        let before_escape = escape.and_then(|at| needle_start(&decoded.text[..at]));
        let deeper = if depth > 1 { cut_start(&decoded.text, patterns, depth - 1, remainder) } else { None };
        let at = start.into_iter().chain(before_escape).chain(deeper).min()?;
        starts.get(decoded.skip + at / decoded.bytes * decoded.digits).copied()
    };
    let min_digits = if remainder == Remainder::Lost { MIN_CUT_DIGITS } else { 1 };
    if digits.len() < min_digits {
        None
    } else {
        decodings(&digits).filter_map(|decoded| start_in(&decoded)).min()
    }
}

/// The decoded bytes of a run of digits.
struct DecodedRun {
    /// The number of digits that were skipped.
    skip: usize,
    text: Vec<u8>,
    /// The number of digits in a group.
    digits: usize,
    /// The number of bytes that a group encodes.
    bytes: usize,
}

/// Decodes digits from each offset at which the encoded data may begin.
fn decodings(digits: &[u8]) -> impl Iterator<Item = DecodedRun> {
    let base64 = (0..digits.len().min(4)).map(|skip| {
        let text = base64(&digits[skip..]);
        DecodedRun { skip, text, digits: 4, bytes: 3 }
    });
    let hexadecimal = (0..digits.len().min(2)).filter_map(|skip| {
        let text = hexadecimal(&digits[skip..])?;
        Some(DecodedRun { skip, text, digits: 2, bytes: 1 })
    });
    base64.chain(hexadecimal)
}

/// Whether digits contain a needle after decoding.
fn contains_needle(digits: &[u8], patterns: &[&Pattern], depth: usize) -> bool {
    decodings(digits).any(|DecodedRun { text, .. }| {
        let mut matches = Vec::new();
        scan(Decoded::new(&text), patterns.to_vec(), &mut matches, Remainder::Lost);
        if matches.is_empty() && depth > 1 {
            let mut contains_deeper = false;
            for_each_run(&text, |digits, _| {
                contains_deeper = contains_deeper || contains_needle(digits, patterns, depth - 1);
            });
            return contains_deeper;
        }
        !matches.is_empty()
    })
}

/// Calls a function for each run of Base64 digits, including hexadecimal digits, with its range in the text.
fn for_each_run(text: &[u8], mut on_run: impl FnMut(&[u8], Range<usize>)) {
    let (mut digits, mut range) = (Vec::new(), 0..0);
    let mut end_run = |digits: &mut Vec<u8>, range: &Range<usize>| {
        if digits.len() >= MIN_RUN_DIGITS {
            on_run(digits, range.clone());
        }
        digits.clear();
    };
    for_each_digit(text, |digit| match digit {
        Some((digit, part)) => {
            range = if digits.is_empty() { part } else { range.start..part.end };
            digits.push(digit);
        }
        None => end_run(&mut digits, &range),
    });
    end_run(&mut digits, &range);
}

/// Calls a function for each Base64 digit with its range in the text, and with `None` for any other character.
fn for_each_digit(text: &[u8], mut on_digit: impl FnMut(Option<(u8, Range<usize>)>)) {
    for Unit { byte, part } in Decoded::new(text) {
        let is_plus = || {
            let source = &text[part.clone()];
            source == b"+" || source.len() >= 2 && source[source.len() - 2..].eq_ignore_ascii_case(b"2b")
        };
        let digit = match byte {
            b' ' if is_plus() => b'+',
            b'-' => b'+',
            b'_' => b'/',
            byte => byte,
        };
        let is_digit = digit.is_ascii_alphanumeric() || matches!(digit, b'+' | b'/');
        on_digit(is_digit.then_some((digit, part)));
    }
}

fn base64(digits: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(digits.len() * 3 / 4);
    for group in digits.chunks(4) {
        let bits = group.iter().fold(0_u32, |bits, digit| bits << 6 | u32::from(value(*digit)));
        let bits = bits << (6 * (4 - group.len()));
        out.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    out
}

fn value(digit: u8) -> u8 {
    match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        _ => 63,
    }
}

fn hexadecimal(digits: &[u8]) -> Option<Vec<u8>> {
    let pairs = digits.chunks_exact(2);
    pairs
        .map(|pair| {
            let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            Some(digit(pair[0])? << 4 | digit(pair[1])?)
        })
        .collect()
}
