//! A needle in encodings that hide their contents: Base64 and hexadecimal.

use super::decoded::folded;
use super::pattern::Pattern;

/// The minimum length of a part in Base64 or hexadecimal, in bytes: shorter parts occur by chance.
const MIN_ENCODED_BYTES: usize = 8;
/// The minimum number of digits at the end of a text that count as the start of a needle, if the remaining text is
/// lost.
const MIN_CUT_DIGITS: usize = 4;
/// The maximum number of bytes of a needle that are searched for: longer strings are rarely repeated in an encoding.
const MAX_NEEDLE_BYTES: usize = 8 * 1024;

/// Returns the patterns of a string in Base64 and in hexadecimal. The encoding of its first `min_chars`
/// characters counts as a match.
pub(super) fn patterns(text: &str, min_chars: usize) -> Vec<Pattern> {
    let text = &text[..super::floor(text, MAX_NEEDLE_BYTES)];
    let start = text.char_indices().nth(min_chars).map_or(text.len(), |(at, _)| at);
    let mut encodings = Vec::new();
    add_base64(text.as_bytes(), start, &mut encodings);
    if text.is_ascii() && !text.is_empty() {
        // UTF-16, without the parts that depend on the byte order.
        let wide: Vec<u8> = text.bytes().flat_map(|byte| [byte, 0]).collect();
        add_base64(&wide[..wide.len() - 1], start * 2, &mut encodings);
    }
    let digits =
        |byte: u8| [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16).unwrap_or('0'));
    let lower: String = text.bytes().flat_map(digits).collect();
    encodings.push((lower.to_ascii_uppercase(), start * 2));
    encodings.push((lower, start * 2));
    encodings.retain(|(digits, _)| digits.len() >= MIN_ENCODED_BYTES);
    encodings.sort();
    encodings.dedup_by(|next, previous| next.0 == previous.0);
    let pattern = |(digits, min_digits): (String, usize)| {
        Pattern::new(digits.bytes().filter_map(folded).collect(), min_digits.max(MIN_ENCODED_BYTES))
            .with_min_cut(MIN_CUT_DIGITS)
    };
    encodings.into_iter().map(pattern).collect()
}

/// Adds the Base64 digits of bytes within other data: a pattern for each offset modulo three, without the digits that
/// depend on the other data, in both alphabets, each with the number of digits that count as a match.
fn add_base64(bytes: &[u8], start: usize, encodings: &mut Vec<(String, usize)>) {
    for before in 0..3 {
        let padded = [vec![0; before], bytes.to_vec()].concat();
        // A digit has six bits: select the digits that lie completely within the bytes.
        let (from, to) = ((before * 8).div_ceil(6), padded.len() * 8 / 6);
        let min_digits = ((before + start.min(bytes.len())) * 8 / 6).saturating_sub(from);
        let digits: String = base64(&padded).chars().take(to).skip(from).collect();
        encodings.push((digits.replace('+', "-").replace('/', "_"), min_digits));
        encodings.push((digits, min_digits));
    }
}

/// Encodes bytes in Base64 without padding. The `base64` crate is available only with the HTTP engine.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte))
            << (8 * (3 - group.len()));
        let digits = (0..=group.len()).map(|digit| bits >> (18 - 6 * digit) & 63);
        out.extend(digits.filter_map(|digit| DIGITS.get(digit)).map(|digit| char::from(*digit)));
    }
    out
}
