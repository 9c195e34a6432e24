//! Finds needles in Base64 and hexadecimal whose decoded contents are encoded again, for example in Base64.
//!
//! The runs of digits begin and end anywhere in the encoded data, so they are decoded from each of their first
//! digits, to the last whole byte. The crate `base64` rejects such runs, and programs without the HTTP engine do not
//! have it.

use std::ops::Range;

use super::decoded::Decoded;
use super::pattern::{Pattern, Rest, Unit, scan};

/// The minimum number of digits that are decoded: shorter runs contain no needle in another encoding.
const FEWEST: usize = 16;
/// The minimum number of digits at the end of a text that may be the start of a needle, if the rest is lost.
const SHORTEST: usize = 4;
/// The maximum number of nested encodings that are decoded.
const DEEPEST: usize = 4;
/// The number of digits that encode at least one byte of a needle, at the maximum depth. Fewer digits reveal nothing.
const TELLING: usize = 2 << DEEPEST;

/// Adds the runs of digits that contain a needle, unless it was found there before.
pub(super) fn find(text: &str, patterns: &[&Pattern], found: &mut Vec<Range<usize>>) {
    let before = found.len();
    for_each_run(text.as_bytes(), |digits, part| {
        let is_known = found[..before].iter().any(|known| known.start < part.end && part.start < known.end);
        if !is_known && holds(digits, patterns, DEEPEST) {
            found.push(part);
        }
    });
}

/// Returns where a needle may begin that is cut off by the end of a text, if it is within digits that continue there.
pub(super) fn unfinished(text: &[u8], patterns: &[&Pattern], rest: Rest) -> Option<usize> {
    let begin = cut(text, patterns, DEEPEST, rest);
    // Digits at the end of a line are most often part of a word, which need not wait for the next line.
    let goes_on = rest == Rest::Follows && text.last().is_some_and(|last| !matches!(last, b'\n' | b'\r'));
    let digits = if goes_on { last_digits(text).1 } else { Vec::new() };
    begin.into_iter().chain(digits.get(digits.len().saturating_sub(TELLING)).copied()).min()
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

/// Like [`unfinished`], for a text within at most this many encodings.
fn cut(text: &[u8], patterns: &[&Pattern], depth: usize, rest: Rest) -> Option<usize> {
    let (digits, starts) = last_digits(text);
    let begins = |text: &[u8]| scan(Decoded::new(text), patterns.to_vec(), &mut Vec::new(), rest);
    let of = |decoded: &Encoded| {
        let whole = begins(&decoded.text);
        // The next byte of the needle may begin an escape.
        let escape = Decoded::cut_off(&decoded.text);
        let before = escape.and_then(|at| begins(&decoded.text[..at]));
        let deeper = if depth > 1 { cut(&decoded.text, patterns, depth - 1, rest) } else { None };
        let at = whole.into_iter().chain(before).chain(deeper).min()?;
        starts.get(decoded.skip + at / decoded.bytes * decoded.digits).copied()
    };
    let fewest = if rest == Rest::Lost { SHORTEST } else { 1 };
    if digits.len() < fewest { None } else { decodings(&digits).filter_map(|decoded| of(&decoded)).min() }
}

/// Decoded digits, starting after some of them.
struct Encoded {
    skip: usize,
    text: Vec<u8>,
    /// The number of digits of a whole number of bytes.
    digits: usize,
    bytes: usize,
}

/// Decodes digits from every offset at which the encoded data may begin.
fn decodings(digits: &[u8]) -> impl Iterator<Item = Encoded> {
    let base64 = (0..digits.len().min(4)).map(|skip| {
        let text = base64(&digits[skip..]);
        Encoded { skip, text, digits: 4, bytes: 3 }
    });
    let hexadecimal = (0..digits.len().min(2)).filter_map(|skip| {
        let text = hexadecimal(&digits[skip..])?;
        Some(Encoded { skip, text, digits: 2, bytes: 1 })
    });
    base64.chain(hexadecimal)
}

/// Whether digits contain a needle after decoding.
fn holds(digits: &[u8], patterns: &[&Pattern], depth: usize) -> bool {
    decodings(digits).any(|Encoded { text, .. }| {
        let mut found = Vec::new();
        scan(Decoded::new(&text), patterns.to_vec(), &mut found, Rest::Lost);
        if found.is_empty() && depth > 1 {
            let mut deeper = false;
            for_each_run(&text, |digits, _| deeper = deeper || holds(digits, patterns, depth - 1));
            return deeper;
        }
        !found.is_empty()
    })
}

/// Calls a function for each run of Base64 digits, which includes hexadecimal ones, with its range in the text.
fn for_each_run(text: &[u8], mut hand_on: impl FnMut(&[u8], Range<usize>)) {
    let (mut digits, mut all) = (Vec::new(), 0..0);
    let mut end = |digits: &mut Vec<u8>, all: &Range<usize>| {
        if digits.len() >= FEWEST {
            hand_on(digits, all.clone());
        }
        digits.clear();
    };
    for_each_digit(text, |digit| match digit {
        Some((digit, part)) => {
            all = if digits.is_empty() { part } else { all.start..part.end };
            digits.push(digit);
        }
        None => end(&mut digits, &all),
    });
    end(&mut digits, &all);
}

/// Calls a function for each Base64 digit with its range in the text, and with `None` for any other character.
fn for_each_digit(text: &[u8], mut hand_on: impl FnMut(Option<(u8, Range<usize>)>)) {
    for Unit { byte, part } in Decoded::new(text) {
        let is_plus = || {
            let of = &text[part.clone()];
            of == b"+" || of.len() >= 2 && of[of.len() - 2..].eq_ignore_ascii_case(b"2b")
        };
        let digit = match byte {
            b' ' if is_plus() => b'+',
            b'-' => b'+',
            b'_' => b'/',
            byte => byte,
        };
        let is_digit = digit.is_ascii_alphanumeric() || matches!(digit, b'+' | b'/');
        hand_on(is_digit.then_some((digit, part)));
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
