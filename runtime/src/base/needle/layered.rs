//! Base64 and hexadecimal that, once they are decoded, hold a needle in some other encoding: such as Base64 again.

use std::ops::Range;

use super::decoded::Decoded;
use super::pattern::{Pattern, Unit, scan};

/// The fewest digits that are decoded: what is shorter holds no needle in another encoding.
const FEWEST: usize = 16;
/// How many encodings within each other are decoded.
const DEEPEST: usize = 4;

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

/// Whether digits hold a needle once they are decoded, wherever what was encoded begins.
fn holds(digits: &[u8], patterns: &[&Pattern], depth: usize) -> bool {
    let base64 = (0..4).map(|skip| base64(&digits[skip..]));
    let hexadecimal = (0..2).filter_map(|skip| hexadecimal(&digits[skip..]));
    base64.chain(hexadecimal).any(|text| {
        let mut found = Vec::new();
        scan(Decoded::new(&text), patterns.to_vec(), &mut found);
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
        if !digit.is_ascii_alphanumeric() && !matches!(digit, b'+' | b'/') {
            end(&mut digits, &all);
            continue;
        }
        all = if digits.is_empty() { part } else { all.start..part.end };
        digits.push(digit);
    }
    end(&mut digits, &all);
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
