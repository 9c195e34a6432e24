//! Finds secrets that are recognizable by their form, in one pass over a string.
//!
//! Every scanner only moves forward, so the time is linear in the length of the string for any content.

mod assignment;

use super::REDACTED;
use crate::base::secret_names::Keys;
use crate::base::truncate::floor;
use assignment::assignment_at;

/// Tokens that start with a prefix of their issuer, followed by at least `min_chars` characters of a class.
#[derive(Clone, Debug)]
pub(super) struct Prefix {
    pub(super) text: String,
    pub(super) min_chars: usize,
    pub(super) class: Class,
}

/// A class of characters.
type Class = fn(u8) -> bool;

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

/// Returns whether RFC 6750 allows the character in a bearer token.
fn is_token68(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=')
}

/// The documented token formats of large issuers.
const PREFIXES: &[(&str, usize, Class)] = &[
    ("sk-", 16, is_word),
    ("sk_live_", 10, is_word),
    ("sk_test_", 10, is_word),
    ("rk_live_", 10, is_word),
    ("rk_test_", 10, is_word),
    ("whsec_", 16, is_word),
    ("ghp_", 16, is_word),
    ("gho_", 16, is_word),
    ("ghu_", 16, is_word),
    ("ghs_", 16, is_word),
    ("ghr_", 16, is_word),
    ("github_pat_", 16, is_word),
    ("glpat-", 16, is_word),
    ("npm_", 30, is_word),
    ("pypi-", 30, is_word),
    ("hf_", 30, is_word),
    ("xapp-", 10, is_word),
    ("xoxa-", 10, is_word),
    ("xoxb-", 10, is_word),
    ("xoxe-", 10, is_word),
    ("xoxo-", 10, is_word),
    ("xoxp-", 10, is_word),
    ("xoxr-", 10, is_word),
    ("xoxs-", 10, is_word),
    ("AKIA", 16, is_upper),
    ("ASIA", 16, is_upper),
    ("AIza", 35, is_word),
    ("ya29.", 16, is_word),
];

pub(super) fn default_prefixes() -> Vec<Prefix> {
    PREFIXES
        .iter()
        .map(|(text, min_chars, class)| Prefix {
            text: (*text).to_owned(),
            min_chars: *min_chars,
            class: *class,
        })
        .collect()
}

/// Replaces every token with [`REDACTED`]. Returns `None` if there is no token.
pub(super) fn redact_tokens(text: &str, prefixes: &[Prefix]) -> Option<String> {
    replace(text, |text, at| token_at(text, at, prefixes))
}

/// Replaces values that are assigned to a secret name with [`REDACTED`], as in `password=…`, `"api_key": "…"`,
/// `--token …` and `Cookie: …`. Returns `None` if there is no such value.
pub(super) fn redact_assignments(text: &str, keys: &Keys) -> Option<String> {
    replace(text, |text, at| assignment_at(text, at, keys))
}

/// Replaces every complete token of a known issuer with its [mask](mask_with_length). Returns `None` if there is no
/// such token. Nothing else is replaced, regardless of the surrounding text: a token has no blanks and no shell
/// metacharacters.
pub(super) fn mask_issued_tokens(text: &str, prefixes: &[Prefix]) -> Option<String> {
    replace_by(text, |text, at| issued_token_at(text, at, prefixes), mask_with_length)
}

/// Returns the mask of a string for people who must know how much is hidden.
pub(super) fn mask_with_length(text: &str) -> String {
    let (count, plural) = match text.chars().count() {
        1 => (1, ""),
        count => (count, "s"),
    };
    format!("{}, {count} character{plural}]", REDACTED.trim_end_matches(']'))
}

/// The finding of a scanner at a position.
enum ScanMatch {
    /// Nothing was found; resume at this position.
    Skip(usize),
    /// This part is secret.
    Hide(usize, usize),
}

fn replace(text: &str, find: impl Fn(&[u8], usize) -> ScanMatch) -> Option<String> {
    replace_by(text, find, |_| REDACTED.to_owned())
}

fn replace_by(
    text: &str,
    find: impl Fn(&[u8], usize) -> ScanMatch,
    mask: impl Fn(&str) -> String,
) -> Option<String> {
    let bytes = text.as_bytes();
    let (mut at, mut copied_to, mut out) = (0, 0, None);
    while at < bytes.len() {
        match find(bytes, at) {
            ScanMatch::Skip(next) => at = next.max(at + 1),
            ScanMatch::Hide(start, end) => {
                // All scanners stop at ASCII, so these are always character boundaries.
                let (start, end) = (floor(text, start), char_boundary_after(text, end));
                let out = out.get_or_insert_with(String::new);
                out.push_str(text.get(copied_to..start).unwrap_or_default());
                out.push_str(&mask(text.get(start..end).unwrap_or_default()));
                copied_to = end;
                at = end.max(at + 1);
            }
        }
    }
    let mut out: String = out?;
    out.push_str(text.get(copied_to..).unwrap_or_default());
    Some(out)
}

fn char_boundary_after(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// Returns the end of the run of bytes of a class that starts at a position.
fn run_end(text: &[u8], start: usize, is_in_class: impl Fn(u8) -> bool) -> usize {
    let tail = text.get(start..).unwrap_or_default();
    start + tail.iter().position(|byte| !is_in_class(*byte)).unwrap_or(tail.len())
}

fn starts_at(text: &[u8], at: usize, prefix: &str) -> bool {
    text.get(at..).is_some_and(|tail| tail.starts_with(prefix.as_bytes()))
}

fn starts_at_ignore_case(text: &[u8], at: usize, prefix: &str) -> bool {
    text.get(at..at + prefix.len()).is_some_and(|part| part.eq_ignore_ascii_case(prefix.as_bytes()))
}

fn token_at(text: &[u8], at: usize, prefixes: &[Prefix]) -> ScanMatch {
    if starts_at(text, at, "://") {
        return url_secret_at(text, at);
    }
    if starts_at(text, at, "-----BEGIN ") {
        return private_key_at(text, at);
    }
    if is_in_word(text, at) {
        return ScanMatch::Skip(at + 1);
    }
    if let Some(token) = issuer_token_at(text, at, prefixes) {
        return token;
    }
    if starts_at_ignore_case(text, at, "bearer") {
        return credentials_after_scheme(text, at + 6, |token| token.len() >= 4);
    }
    if starts_at_ignore_case(text, at, "basic") {
        return credentials_after_scheme(text, at + 5, is_basic_credential);
    }
    ScanMatch::Skip(at + 1)
}

/// Whether a position is within a word.
fn is_in_word(text: &[u8], at: usize) -> bool {
    at.checked_sub(1).and_then(|before| text.get(before)).is_some_and(u8::is_ascii_alphanumeric)
}

/// Finds a token with the prefix of an issuer, or a JSON Web Token.
fn issuer_token_at(text: &[u8], at: usize, prefixes: &[Prefix]) -> Option<ScanMatch> {
    for Prefix { text: prefix, min_chars, class } in prefixes {
        if starts_at(text, at, prefix) {
            let end = run_end(text, at + prefix.len(), class);
            if end - at - prefix.len() >= *min_chars {
                return Some(ScanMatch::Hide(at, end));
            }
        }
    }
    starts_at(text, at, "eyJ").then(|| web_token_at(text, at))
}

/// Finds a token that is recognizable by itself, regardless of its surroundings.
fn issued_token_at(text: &[u8], at: usize, prefixes: &[Prefix]) -> ScanMatch {
    if starts_at(text, at, "-----BEGIN ") {
        return complete_key_at(text, at);
    }
    if is_in_word(text, at) {
        return ScanMatch::Skip(at + 1);
    }
    issuer_token_at(text, at, prefixes).unwrap_or(ScanMatch::Skip(at + 1))
}

/// Finds a complete PEM block of a private key that holds a key and not a command: lines of Base64, all of the same
/// length except for the last, whose first line begins as keys do.
fn complete_key_at(text: &[u8], at: usize) -> ScanMatch {
    let ScanMatch::Hide(_, end) = private_key_at(text, at) else { return ScanMatch::Skip(at + 1) };
    let block = String::from_utf8_lossy(text.get(at..end).unwrap_or_default()).replace("\\n", "\n");
    let mut lines = block.lines();
    let (first, last) = (lines.next().unwrap_or_default(), lines.next_back().unwrap_or_default());
    let label = first.strip_prefix("-----BEGIN ").and_then(|tail| tail.strip_suffix("-----"));
    let is_closed = label.is_some_and(|label| last == format!("-----END {label}-----"));
    let body: Vec<&str> = lines.map(|line| line.trim_end_matches('\r')).collect();
    if is_closed && is_key(&body) { ScanMatch::Hide(at, end) } else { ScanMatch::Skip(at + 1) }
}

fn is_key(lines: &[&str]) -> bool {
    let (Some(first), [full_lines @ .., last]) = (lines.first(), lines) else { return false };
    let is_base64 = |line: &&str| {
        let mut bytes = line.trim_end_matches('=').bytes();
        let has_line_length = line.len().is_multiple_of(4) && line.len() <= first.len().min(76);
        has_line_length && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
    };
    // Unlike a line of a key, the name of a program usually has letters of one case only.
    let contains = |line: &str, class: fn(&u8) -> bool| line.as_bytes().iter().any(class);
    let is_mixed_case =
        |line: &str| contains(line, u8::is_ascii_uppercase) && contains(line, u8::is_ascii_lowercase);
    (first.starts_with('M') || first.starts_with("b3BlbnNzaC1rZXkt"))
        && lines.iter().all(is_base64)
        && full_lines.iter().all(|line| line.len() >= 64 && line.len() == first.len() && is_mixed_case(line))
        && (is_mixed_case(last) || last.ends_with('='))
}

/// Webhook URLs whose path is a credential.
const WEBHOOKS: [&str; 4] =
    ["hooks.slack.com/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/", "api.telegram.org/bot"];
/// URL schemes of databases and queues. Passwords in such URLs are often not encoded, and may contain slashes.
const STORES: [&str; 12] = [
    "postgres",
    "postgresql",
    "mysql",
    "mariadb",
    "mongodb",
    "mongodb+srv",
    "redis",
    "rediss",
    "amqp",
    "amqps",
    "sqlserver",
    "clickhouse",
];

/// Finds the secret in a URL whose `://` is at a position.
fn url_secret_at(text: &[u8], at: usize) -> ScanMatch {
    let authority = at + 3;
    let is_end = |byte: u8| {
        byte.is_ascii_whitespace() || matches!(byte, b'?' | b'#' | b'"' | b'\'' | b'<' | b'>' | b'\\')
    };
    if let Some(webhook) = WEBHOOKS.iter().find(|webhook| starts_at_ignore_case(text, authority, webhook)) {
        let path = authority + webhook.len();
        let end = run_end(text, path, |byte| !is_end(byte) && !matches!(byte, b')' | b']' | b',' | b';'));
        return if end > path { ScanMatch::Hide(path, end) } else { ScanMatch::Skip(end) };
    }
    let is_store = STORES.iter().any(|scheme| {
        let start = at.checked_sub(scheme.len());
        let preceding =
            start.and_then(|start| start.checked_sub(1)).and_then(|preceding| text.get(preceding));
        start.is_some_and(|start| starts_at_ignore_case(text, start, scheme))
            && !preceding.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'+')
    });
    userinfo_at(text, authority, |byte| is_end(byte) || byte == b'/' && !is_store)
}

/// Finds `user:password@` between `://` and the end of the authority.
fn userinfo_at(text: &[u8], start: usize, is_end: impl Fn(u8) -> bool) -> ScanMatch {
    let end = run_end(text, start, |byte| !is_end(byte));
    let authority = text.get(start..end).unwrap_or_default();
    match authority.iter().rposition(|byte| *byte == b'@') {
        Some(at) if at > 0 => ScanMatch::Hide(start, start + at),
        _ => ScanMatch::Skip(end),
    }
}

/// Finds a PEM block whose label marks it as a private key, up to its end or the end of the string.
fn private_key_at(text: &[u8], at: usize) -> ScanMatch {
    const MAX_LABEL_BYTES: usize = 64;
    let label_start = at + "-----BEGIN ".len();
    let end =
        run_end(text, label_start, |byte| byte != b'-' && byte != b'\n').min(label_start + MAX_LABEL_BYTES);
    let label = text.get(label_start..end).unwrap_or_default();
    if !label.windows(11).any(|part| part == b"PRIVATE KEY") {
        return ScanMatch::Skip(end);
    }
    let tail = text.get(end..).unwrap_or_default();
    let Some(end_marker) = tail.windows(9).position(|part| part == b"-----END ") else {
        return ScanMatch::Hide(at, text.len());
    };
    let end_label = run_end(text, end + end_marker + 9, |byte| byte != b'-');
    ScanMatch::Hide(at, run_end(text, end_label, |byte| byte == b'-'))
}

/// Finds three parts of base64url separated by dots; the last may be empty.
fn web_token_at(text: &[u8], at: usize) -> ScanMatch {
    let header = run_end(text, at, is_word);
    if text.get(header) != Some(&b'.') {
        return ScanMatch::Skip(header);
    }
    let claims = run_end(text, header + 1, is_word);
    if claims - header < 5 || text.get(claims) != Some(&b'.') {
        return ScanMatch::Skip(header);
    }
    ScanMatch::Hide(at, run_end(text, claims + 1, is_word))
}

/// Finds the credentials after the name of a scheme of the `Authorization` header.
fn credentials_after_scheme(text: &[u8], name_end: usize, is_token: impl Fn(&[u8]) -> bool) -> ScanMatch {
    let start = run_end(text, name_end, |byte| matches!(byte, b' ' | b'\t' | b':'));
    if start == name_end {
        return ScanMatch::Skip(start);
    }
    let end = run_end(text, start, is_token68);
    match text.get(start..end) {
        Some(token) if is_token(token) => ScanMatch::Hide(start, end),
        _ => ScanMatch::Skip(start),
    }
}

/// Returns whether a token is Base64 and not an ordinary word.
fn is_basic_credential(token: &[u8]) -> bool {
    let is_word = token.iter().skip(1).all(u8::is_ascii_lowercase);
    token.len() >= 8 && token.len().is_multiple_of(4) && !is_word
}
