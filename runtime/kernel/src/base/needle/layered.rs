//! Base64 and hexadecimal that, once they are decoded, hold a needle in some other encoding: such as Base64 again.
//!
//! The runs of digits begin and end anywhere in what was encoded, so they are decoded from each of their first digits, to
//! the last whole byte. The crate `base64` refuses such runs, and programs without the HTTP engine do not have it.

use std::ops::Range;

use super::decoded::Decoded;
use super::pattern::{Pattern, Rest, Unit, scan};

/// The fewest digits that are decoded: what is shorter holds no needle in another encoding.
const FEWEST: usize = 16;
/// The fewest digits at the end of a text that may be the start of some, if the rest is lost.
const SHORTEST: usize = 4;
/// How many encodings within each other are decoded.
const DEEPEST: usize = 4;
/// So many digits, decoded so often, are a byte of a needle for certain: fewer say nothing about what they begin.
const TELLING: usize = 2 << DEEPEST;

/// Adds the runs of digits that hold a needle, unless it was found there before.
pub(super) fn find(text: &str, patterns: &[&Pattern], found: &mut Vec<Range<usize>>) {
    let before = found.len();
    for_each_run(text.as_bytes(), |digits, part| {
        let is_known = found[..before].iter().any(|known| known.start < part.end && part.start < known.end);
        if !is_known && holds(digits, patterns, DEEPEST) {
            found.push(part);
        }
    });
}

/// Returns where in a text a needle may begin that the end cuts off, if there it is in digits that go on.
pub(super) fn unfinished(text: &[u8], patterns: &[&Pattern], rest: Rest) -> Option<usize> {
    let begin = cut(text, patterns, DEEPEST, rest);
    // Digits before the end of a line are most often those of a word: it need not wait for the next line.
    let goes_on = rest == Rest::Follows && text.last().is_some_and(|last| !matches!(last, b'\n' | b'\r'));
    let digits = if goes_on { last_digits(text).1 } else { Vec::new() };
    begin.into_iter().chain(digits.get(digits.len().saturating_sub(TELLING)).copied()).min()
}

/// Returns the digits at the end of a text, and where each begins.
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

/// As [`unfinished`], for a text within so many encodings at most.
fn cut(text: &[u8], patterns: &[&Pattern], depth: usize, rest: Rest) -> Option<usize> {
    let (digits, starts) = last_digits(text);
    let begins = |text: &[u8]| scan(Decoded::new(text), patterns.to_vec(), &mut Vec::new(), rest);
    let of = |decoded: &Encoded| {
        let whole = begins(&decoded.text);
        // What begins an escape may be the next byte of the needle.
        let escape = Decoded::cut_off(&decoded.text);
        let before = escape.and_then(|at| begins(&decoded.text[..at]));
        let deeper = if depth > 1 { cut(&decoded.text, patterns, depth - 1, rest) } else { None };
        let at = whole.into_iter().chain(before).chain(deeper).min()?;
        starts.get(decoded.skip + at / decoded.bytes * decoded.digits).copied()
    };
    let fewest = if rest == Rest::Lost { SHORTEST } else { 1 };
    if digits.len() < fewest { None } else { decodings(&digits).filter_map(|decoded| of(&decoded)).min() }
}

/// Digits, decoded from the one after some.
struct Encoded {
    skip: usize,
    text: Vec<u8>,
    /// So many digits are so many bytes.
    digits: usize,
    bytes: usize,
}

/// Decodes digits in every way, wherever what was encoded begins.
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

/// Whether digits hold a needle once they are decoded.
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

/// Hands on each run of digits of Base64, which those of hexadecimal numbers are, too, and its part of the text.
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

/// Hands on each digit of Base64 and its part of the text, and `None` for what is none.
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
