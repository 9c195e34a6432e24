//! Finds secrets that are recognizable by their form, in one pass over a string.
//!
//! Every scanner only moves forward, so the time is linear in the length of the string for any content.

mod assigned;

use super::REDACTED;
use crate::base::secret_names::Keys;
use crate::base::truncate::floor;
use assigned::assignment_at;

/// Tokens that start with a prefix of their issuer, followed by at least `least` characters of a class.
#[derive(Clone, Debug)]
pub(super) struct Prefix {
    pub(super) text: String,
    pub(super) least: usize,
    pub(super) of: Class,
}

/// A class of characters.
type Class = fn(u8) -> bool;

pub(super) fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

/// Returns whether RFC 6750 allows the character in a bearer token.
fn token68(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=')
}

/// The documented token formats of large issuers.
const PREFIXES: &[(&str, usize, Class)] = &[
    ("sk-", 16, word),
    ("sk_live_", 10, word),
    ("sk_test_", 10, word),
    ("rk_live_", 10, word),
    ("rk_test_", 10, word),
    ("whsec_", 16, word),
    ("ghp_", 16, word),
    ("gho_", 16, word),
    ("ghu_", 16, word),
    ("ghs_", 16, word),
    ("ghr_", 16, word),
    ("github_pat_", 16, word),
    ("glpat-", 16, word),
    ("npm_", 30, word),
    ("pypi-", 30, word),
    ("hf_", 30, word),
    ("xapp-", 10, word),
    ("xoxa-", 10, word),
    ("xoxb-", 10, word),
    ("xoxe-", 10, word),
    ("xoxo-", 10, word),
    ("xoxp-", 10, word),
    ("xoxr-", 10, word),
    ("xoxs-", 10, word),
    ("AKIA", 16, upper),
    ("ASIA", 16, upper),
    ("AIza", 35, word),
    ("ya29.", 16, word),
];

pub(super) fn default_prefixes() -> Vec<Prefix> {
    PREFIXES
        .iter()
        .map(|(text, least, of)| Prefix { text: (*text).to_owned(), least: *least, of: *of })
        .collect()
}

/// Replaces every token with [`REDACTED`]. `None` if there is none.
pub(super) fn tokens(text: &str, prefixes: &[Prefix]) -> Option<String> {
    replace(text, |text, at| token_at(text, at, prefixes))
}

/// Replaces values that are assigned to a secret name with [`REDACTED`], as in `password=…`, `"api_key": "…"`,
/// `--token …` and `Cookie: …`. `None` if there are none.
pub(super) fn assignments(text: &str, keys: &Keys) -> Option<String> {
    replace(text, |text, at| assignment_at(text, at, keys))
}

/// Replaces every whole token of a known issuer with its [`hidden`] form. `None` if there is none. Nothing else is
/// replaced, regardless of the surrounding text: a token has no blanks and no shell metacharacters.
pub(super) fn issued_tokens(text: &str, prefixes: &[Prefix]) -> Option<String> {
    replace_by(text, |text, at| issued_at(text, at, prefixes), hidden)
}

/// Returns the mask of a string for people who must know how much is hidden.
pub(super) fn hidden(text: &str) -> String {
    let (count, plural) = match text.chars().count() {
        1 => (1, ""),
        count => (count, "s"),
    };
    format!("{}, {count} character{plural}]", REDACTED.trim_end_matches(']'))
}

/// What a scanner finds at a position that starts a word.
enum ScanMatch {
    /// Nothing; resume at this position.
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
    with: impl Fn(&str) -> String,
) -> Option<String> {
    let bytes = text.as_bytes();
    let (mut at, mut kept, mut out) = (0, 0, None);
    while at < bytes.len() {
        match find(bytes, at) {
            ScanMatch::Skip(next) => at = next.max(at + 1),
            ScanMatch::Hide(start, end) => {
                // All scanners stop at ASCII, so these are always character boundaries.
                let (start, end) = (floor(text, start), ceil(text, end));
                let out = out.get_or_insert_with(String::new);
                out.push_str(text.get(kept..start).unwrap_or_default());
                out.push_str(&with(text.get(start..end).unwrap_or_default()));
                kept = end;
                at = end.max(at + 1);
            }
        }
    }
    let mut out: String = out?;
    out.push_str(text.get(kept..).unwrap_or_default());
    Some(out)
}

fn ceil(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// Returns the end of the run of bytes of a class.
fn run(text: &[u8], from: usize, of: impl Fn(u8) -> bool) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    from + rest.iter().position(|byte| !of(*byte)).unwrap_or(rest.len())
}

fn starts(text: &[u8], at: usize, with: &str) -> bool {
    text.get(at..).is_some_and(|rest| rest.starts_with(with.as_bytes()))
}

fn starts_any_case(text: &[u8], at: usize, with: &str) -> bool {
    text.get(at..at + with.len()).is_some_and(|part| part.eq_ignore_ascii_case(with.as_bytes()))
}

fn token_at(text: &[u8], at: usize, prefixes: &[Prefix]) -> ScanMatch {
    if starts(text, at, "://") {
        return in_url(text, at);
    }
    if starts(text, at, "-----BEGIN ") {
        return private_key(text, at);
    }
    if in_word(text, at) {
        return ScanMatch::Skip(at + 1);
    }
    if let Some(found) = token_of_issuer(text, at, prefixes) {
        return found;
    }
    if starts_any_case(text, at, "bearer") {
        return scheme(text, at + 6, |token| token.len() >= 4);
    }
    if starts_any_case(text, at, "basic") {
        return scheme(text, at + 5, is_basic);
    }
    ScanMatch::Skip(at + 1)
}

/// Whether a word continues at a position.
fn in_word(text: &[u8], at: usize) -> bool {
    at.checked_sub(1).and_then(|before| text.get(before)).is_some_and(u8::is_ascii_alphanumeric)
}

/// Finds a token with the prefix of an issuer, or a JSON Web Token.
fn token_of_issuer(text: &[u8], at: usize, prefixes: &[Prefix]) -> Option<ScanMatch> {
    for Prefix { text: prefix, least, of } in prefixes {
        if starts(text, at, prefix) {
            let end = run(text, at + prefix.len(), of);
            if end - at - prefix.len() >= *least {
                return Some(ScanMatch::Hide(at, end));
            }
        }
    }
    starts(text, at, "eyJ").then(|| json_web_token(text, at))
}

/// Finds a token that is recognizable by itself, regardless of its surroundings.
fn issued_at(text: &[u8], at: usize, prefixes: &[Prefix]) -> ScanMatch {
    if starts(text, at, "-----BEGIN ") {
        return whole_private_key(text, at);
    }
    if in_word(text, at) {
        return ScanMatch::Skip(at + 1);
    }
    token_of_issuer(text, at, prefixes).unwrap_or(ScanMatch::Skip(at + 1))
}

/// Finds a complete PEM block of a private key that holds a key and not a command: lines of Base64, all of the same
/// length except for the last, which begin as keys do.
fn whole_private_key(text: &[u8], at: usize) -> ScanMatch {
    let ScanMatch::Hide(_, end) = private_key(text, at) else { return ScanMatch::Skip(at + 1) };
    let block = String::from_utf8_lossy(text.get(at..end).unwrap_or_default()).replace("\\n", "\n");
    let mut lines = block.lines();
    let (first, last) = (lines.next().unwrap_or_default(), lines.next_back().unwrap_or_default());
    let label = first.strip_prefix("-----BEGIN ").and_then(|rest| rest.strip_suffix("-----"));
    let is_closed = label.is_some_and(|label| last == format!("-----END {label}-----"));
    let body: Vec<&str> = lines.map(|line| line.trim_end_matches('\r')).collect();
    if is_closed && is_key(&body) { ScanMatch::Hide(at, end) } else { ScanMatch::Skip(at + 1) }
}

fn is_key(lines: &[&str]) -> bool {
    let (Some(first), [long @ .., last]) = (lines.first(), lines) else { return false };
    let base64 = |line: &&str| {
        let mut bytes = line.trim_end_matches('=').bytes();
        let is_whole = line.len().is_multiple_of(4) && line.len() <= first.len().min(76);
        is_whole && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
    };
    // The name of a program usually has letters of one case, unlike a line of a key.
    let holds = |line: &str, kind: fn(&u8) -> bool| line.as_bytes().iter().any(kind);
    let mixed = |line: &str| holds(line, u8::is_ascii_uppercase) && holds(line, u8::is_ascii_lowercase);
    (first.starts_with('M') || first.starts_with("b3BlbnNzaC1rZXkt"))
        && lines.iter().all(base64)
        && long.iter().all(|line| line.len() >= 64 && line.len() == first.len() && mixed(line))
        && (mixed(last) || last.ends_with('='))
}

/// Webhook URLs whose path is a credential.
const WEBHOOKS: [&str; 4] =
    ["hooks.slack.com/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/", "api.telegram.org/bot"];
/// Schemes of databases and queues. Passwords in their URLs are often not encoded, and may contain slashes.
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
fn in_url(text: &[u8], at: usize) -> ScanMatch {
    let from = at + 3;
    let ends = |byte: u8| {
        byte.is_ascii_whitespace() || matches!(byte, b'?' | b'#' | b'"' | b'\'' | b'<' | b'>' | b'\\')
    };
    if let Some(hook) = WEBHOOKS.iter().find(|hook| starts_any_case(text, from, hook)) {
        let path = from + hook.len();
        let end = run(text, path, |byte| !ends(byte) && !matches!(byte, b')' | b']' | b',' | b';'));
        return if end > path { ScanMatch::Hide(path, end) } else { ScanMatch::Skip(end) };
    }
    let is_store = STORES.iter().any(|scheme| {
        let start = at.checked_sub(scheme.len());
        let before = start.and_then(|start| start.checked_sub(1)).and_then(|before| text.get(before));
        start.is_some_and(|start| starts_any_case(text, start, scheme))
            && !before.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'+')
    });
    userinfo(text, from, |byte| ends(byte) || byte == b'/' && !is_store)
}

/// Finds `user:password@` between `://` and the end of the authority.
fn userinfo(text: &[u8], from: usize, stop: impl Fn(u8) -> bool) -> ScanMatch {
    let end = run(text, from, |byte| !stop(byte));
    let authority = text.get(from..end).unwrap_or_default();
    match authority.iter().rposition(|byte| *byte == b'@') {
        Some(at) if at > 0 => ScanMatch::Hide(from, from + at),
        _ => ScanMatch::Skip(end),
    }
}

/// Finds a PEM block whose label marks it as a private key, up to its end or the end of the string.
fn private_key(text: &[u8], at: usize) -> ScanMatch {
    const MAX_LABEL_BYTES: usize = 64;
    let label = at + "-----BEGIN ".len();
    let end = run(text, label, |byte| byte != b'-' && byte != b'\n').min(label + MAX_LABEL_BYTES);
    let name = text.get(label..end).unwrap_or_default();
    if !name.windows(11).any(|part| part == b"PRIVATE KEY") {
        return ScanMatch::Skip(end);
    }
    let rest = text.get(end..).unwrap_or_default();
    let Some(closing) = rest.windows(9).position(|part| part == b"-----END ") else {
        return ScanMatch::Hide(at, text.len());
    };
    let line = run(text, end + closing + 9, |byte| byte != b'-');
    ScanMatch::Hide(at, run(text, line, |byte| byte == b'-'))
}

/// Finds three parts of base64url separated by dots; the last may be empty.
fn json_web_token(text: &[u8], at: usize) -> ScanMatch {
    let header = run(text, at, word);
    if text.get(header) != Some(&b'.') {
        return ScanMatch::Skip(header);
    }
    let claims = run(text, header + 1, word);
    if claims - header < 5 || text.get(claims) != Some(&b'.') {
        return ScanMatch::Skip(header);
    }
    ScanMatch::Hide(at, run(text, claims + 1, word))
}

/// Finds the credentials after the name of a scheme of the `Authorization` header.
fn scheme(text: &[u8], from: usize, is_token: impl Fn(&[u8]) -> bool) -> ScanMatch {
    let start = run(text, from, |byte| matches!(byte, b' ' | b'\t' | b':'));
    if start == from {
        return ScanMatch::Skip(start);
    }
    let end = run(text, start, token68);
    match text.get(start..end) {
        Some(token) if is_token(token) => ScanMatch::Hide(start, end),
        _ => ScanMatch::Skip(start),
    }
}

/// Returns whether a token is Base64 and not an ordinary word.
fn is_basic(token: &[u8]) -> bool {
    let prose = token.iter().skip(1).all(u8::is_ascii_lowercase);
    token.len() >= 8 && token.len().is_multiple_of(4) && !prose
}
