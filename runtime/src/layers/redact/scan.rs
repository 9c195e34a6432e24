//! Finds secrets that are recognisable by their form, in one pass over a text.
//!
//! Every scanner only moves forward, so the time is linear in the length of the text, whatever it contains.

use crate::base::truncate::floor;

use super::REDACTED;
use crate::base::secret_names::Keys;

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

/// The documented token forms of large issuers.
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

/// Replaces every token with [`REDACTED`]. `None`: there is none.
pub(super) fn tokens(text: &str, prefixes: &[Prefix]) -> Option<String> {
    replace(text, |text, at| token_at(text, at, prefixes))
}

/// Replaces values that are assigned to a secret name with [`REDACTED`], as in `password=…`, `"api_key": "…"`,
/// `--token …` and `Cookie: …`. `None`: there are none.
pub(super) fn assignments(text: &str, keys: &Keys) -> Option<String> {
    replace(text, |text, at| assignment_at(text, at, keys))
}

/// Replaces every whole token of a known issuer with its [`hidden`] form. `None`: there is none. Nothing else is replaced,
/// whatever a text says it is: a token has no blanks and no characters that mean something to a shell.
pub(super) fn issued_tokens(text: &str, prefixes: &[Prefix]) -> Option<String> {
    replace_by(text, |text, at| issued_at(text, at, prefixes), hidden)
}

/// What people see in place of a text who have to know how much is hidden.
pub(super) fn hidden(text: &str) -> String {
    let (count, plural) = match text.chars().count() {
        1 => (1, ""),
        count => (count, "s"),
    };
    format!("{}, {count} character{plural}]", REDACTED.trim_end_matches(']'))
}

/// What a scanner finds at a position that starts a word.
enum Found {
    /// Nothing; resume at this position.
    Skip(usize),
    /// This part is secret.
    Hide(usize, usize),
}

fn replace(text: &str, find: impl Fn(&[u8], usize) -> Found) -> Option<String> {
    replace_by(text, find, |_| REDACTED.to_owned())
}

fn replace_by(
    text: &str,
    find: impl Fn(&[u8], usize) -> Found,
    with: impl Fn(&str) -> String,
) -> Option<String> {
    let bytes = text.as_bytes();
    let (mut at, mut kept, mut out) = (0, 0, None);
    while at < bytes.len() {
        match find(bytes, at) {
            Found::Skip(next) => at = next.max(at + 1),
            Found::Hide(start, end) => {
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

fn token_at(text: &[u8], at: usize, prefixes: &[Prefix]) -> Found {
    if starts(text, at, "://") {
        return in_url(text, at);
    }
    if starts(text, at, "-----BEGIN ") {
        return private_key(text, at);
    }
    if in_word(text, at) {
        return Found::Skip(at + 1);
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
    Found::Skip(at + 1)
}

/// Whether a word goes on at a position.
fn in_word(text: &[u8], at: usize) -> bool {
    at.checked_sub(1).and_then(|before| text.get(before)).is_some_and(u8::is_ascii_alphanumeric)
}

/// Finds a token with the prefix of an issuer, or a JSON Web Token.
fn token_of_issuer(text: &[u8], at: usize, prefixes: &[Prefix]) -> Option<Found> {
    for Prefix { text: prefix, least, of } in prefixes {
        if starts(text, at, prefix) {
            let end = run(text, at + prefix.len(), of);
            if end - at - prefix.len() >= *least {
                return Some(Found::Hide(at, end));
            }
        }
    }
    starts(text, at, "eyJ").then(|| json_web_token(text, at))
}

/// Finds what is a token by itself, whatever stands around it.
fn issued_at(text: &[u8], at: usize, prefixes: &[Prefix]) -> Found {
    if starts(text, at, "-----BEGIN ") {
        return whole_private_key(text, at);
    }
    if in_word(text, at) {
        return Found::Skip(at + 1);
    }
    token_of_issuer(text, at, prefixes).unwrap_or(Found::Skip(at + 1))
}

/// Finds a PEM block of a private key that is whole, and holds a key and no command: lines of Base64, equally long but for
/// the last, which begin as keys do.
fn whole_private_key(text: &[u8], at: usize) -> Found {
    let Found::Hide(_, end) = private_key(text, at) else { return Found::Skip(at + 1) };
    let block = String::from_utf8_lossy(text.get(at..end).unwrap_or_default()).replace("\\n", "\n");
    let mut lines = block.lines();
    let (first, last) = (lines.next().unwrap_or_default(), lines.next_back().unwrap_or_default());
    let label = first.strip_prefix("-----BEGIN ").and_then(|rest| rest.strip_suffix("-----"));
    let is_closed = label.is_some_and(|label| last == format!("-----END {label}-----"));
    let body: Vec<&str> = lines.map(|line| line.trim_end_matches('\r')).collect();
    if is_closed && is_key(&body) { Found::Hide(at, end) } else { Found::Skip(at + 1) }
}

fn is_key(lines: &[&str]) -> bool {
    let (Some(first), [long @ .., last]) = (lines.first(), lines) else { return false };
    let base64 = |line: &&str| {
        let mut bytes = line.trim_end_matches('=').bytes();
        let is_whole = line.len().is_multiple_of(4) && line.len() <= first.len().min(76);
        is_whole && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
    };
    // The name of a program is of one kind of letters, as a rule, and no line of a key is.
    let holds = |line: &str, kind: fn(&u8) -> bool| line.as_bytes().iter().any(kind);
    let mixed = |line: &str| holds(line, u8::is_ascii_uppercase) && holds(line, u8::is_ascii_lowercase);
    (first.starts_with('M') || first.starts_with("b3BlbnNzaC1rZXkt"))
        && lines.iter().all(base64)
        && long.iter().all(|line| line.len() >= 64 && line.len() == first.len() && mixed(line))
        && (mixed(last) || last.ends_with('='))
}

/// Addresses whose path is a credential.
const WEBHOOKS: [&str; 4] =
    ["hooks.slack.com/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/", "api.telegram.org/bot"];
/// Schemes of databases and queues, in whose URLs passwords often stand as they are, with slashes.
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

/// Finds what is secret in a URL, whose `://` stands here.
fn in_url(text: &[u8], at: usize) -> Found {
    let from = at + 3;
    let ends = |byte: u8| {
        byte.is_ascii_whitespace() || matches!(byte, b'?' | b'#' | b'"' | b'\'' | b'<' | b'>' | b'\\')
    };
    if let Some(hook) = WEBHOOKS.iter().find(|hook| starts_any_case(text, from, hook)) {
        let path = from + hook.len();
        let end = run(text, path, |byte| !ends(byte) && !matches!(byte, b')' | b']' | b',' | b';'));
        return if end > path { Found::Hide(path, end) } else { Found::Skip(end) };
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
fn userinfo(text: &[u8], from: usize, stop: impl Fn(u8) -> bool) -> Found {
    let end = run(text, from, |byte| !stop(byte));
    let authority = text.get(from..end).unwrap_or_default();
    match authority.iter().rposition(|byte| *byte == b'@') {
        Some(at) if at > 0 => Found::Hide(from, from + at),
        _ => Found::Skip(end),
    }
}

/// Finds a PEM block whose label says that it is a private key, up to its end or the end of the text.
fn private_key(text: &[u8], at: usize) -> Found {
    const LONGEST_LABEL: usize = 64;
    let label = at + "-----BEGIN ".len();
    let end = run(text, label, |byte| byte != b'-' && byte != b'\n').min(label + LONGEST_LABEL);
    let name = text.get(label..end).unwrap_or_default();
    if !name.windows(11).any(|part| part == b"PRIVATE KEY") {
        return Found::Skip(end);
    }
    let rest = text.get(end..).unwrap_or_default();
    let Some(closing) = rest.windows(9).position(|part| part == b"-----END ") else {
        return Found::Hide(at, text.len());
    };
    let line = run(text, end + closing + 9, |byte| byte != b'-');
    Found::Hide(at, run(text, line, |byte| byte == b'-'))
}

/// Finds three parts of base64url separated by points; the last may be empty.
fn json_web_token(text: &[u8], at: usize) -> Found {
    let header = run(text, at, word);
    if text.get(header) != Some(&b'.') {
        return Found::Skip(header);
    }
    let claims = run(text, header + 1, word);
    if claims - header < 5 || text.get(claims) != Some(&b'.') {
        return Found::Skip(header);
    }
    Found::Hide(at, run(text, claims + 1, word))
}

/// Finds the credentials after the name of a scheme of the `Authorization` header.
fn scheme(text: &[u8], from: usize, is_token: impl Fn(&[u8]) -> bool) -> Found {
    let start = run(text, from, |byte| matches!(byte, b' ' | b'\t' | b':'));
    if start == from {
        return Found::Skip(start);
    }
    let end = run(text, start, token68);
    match text.get(start..end) {
        Some(token) if is_token(token) => Found::Hide(start, end),
        _ => Found::Skip(start),
    }
}

/// Returns whether a token is Base64 and not just a word of prose.
fn is_basic(token: &[u8]) -> bool {
    let prose = token.iter().skip(1).all(u8::is_ascii_lowercase);
    token.len() >= 8 && token.len().is_multiple_of(4) && !prose
}

fn in_name(byte: u8) -> bool {
    word(byte) || byte == b'.'
}

/// Finds the password of `curl -u user:password`.
fn of_curl(text: &[u8], name: &str, name_end: usize) -> Option<(usize, usize)> {
    // The most that is read before the name and behind it, which keeps the time linear.
    const NEAR: usize = 256;
    if !matches!(name, "-u" | "--user" | "-U" | "--proxy-user") {
        return None;
    }
    let line = text.get(name_end.saturating_sub(NEAR)..name_end)?.rsplit(|byte| *byte == b'\n').next()?;
    line.windows(5).find(|word| word.eq_ignore_ascii_case(b"curl "))?;
    let sign = name_end + usize::from(matches!(text.get(name_end), Some(b' ' | b'=')));
    let quote = text.get(sign).copied().filter(|byte| matches!(byte, b'"' | b'\''));
    let start = sign + usize::from(quote.is_some());
    let near = text.get(start..text.len().min(start + NEAR))?;
    let ends = |byte: &u8| *byte == b'\n' || quote.map_or(byte.is_ascii_whitespace(), |quote| *byte == quote);
    let end = start + near.iter().position(ends).unwrap_or(near.len());
    let colon = text.get(start..end)?.iter().position(|byte| *byte == b':')?;
    (sign > name_end && start + colon + 1 < end).then_some((start + colon + 1, end))
}

fn assignment_at(text: &[u8], at: usize, keys: &Keys) -> Found {
    // `%3Ftoken%3D`: the digits of an escape are no part of a name.
    if escape(text, at).is_some() {
        return Found::Skip(at + 3);
    }
    let name_end = run(text, at, in_name);
    let name = text.get(at..name_end).and_then(|name| std::str::from_utf8(name).ok()).unwrap_or_default();
    if name.is_empty() {
        return Found::Skip(at + 1);
    }
    if let Some((start, end)) = of_curl(text, name, name_end) {
        return Found::Hide(start, end);
    }
    let Some(start) = value_start(text, name, name_end) else { return Found::Skip(name_end) };
    if !keys.holds(name) {
        return Found::Skip(name_end);
    }
    let (start, end) = match escape(text, name_end) {
        Some(_) => (start, encoded_end(text, start)),
        None => value_bounds(text, start, name),
    };
    let bare = text.get(start..end).unwrap_or_default();
    if bare.is_empty() || matches!(bare, b"null" | b"true" | b"false") {
        return Found::Skip(end);
    }
    Found::Hide(start, end)
}

/// Returns the character that is percent-encoded at a position.
fn escape(text: &[u8], at: usize) -> Option<u8> {
    let digits = text.get(at..at + 3)?.strip_prefix(b"%")?;
    let digit = |index: usize| digits.get(index).and_then(|digit| char::from(*digit).to_digit(16));
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
}

/// Returns where a value ends that is percent-encoded, as what ends it is.
fn encoded_end(text: &[u8], start: usize) -> usize {
    let ends = |byte: u8| byte.is_ascii_whitespace() || b"&;,\"'<>)]}#".contains(&byte);
    let at =
        |at: &usize| text.get(*at).is_some_and(|byte| ends(*byte)) || escape(text, *at).is_some_and(ends);
    (start..text.len()).find(at).unwrap_or(text.len())
}

/// Returns where the value of a name starts, if it has one.
fn value_start(text: &[u8], name: &str, name_end: usize) -> Option<usize> {
    if matches!(escape(text, name_end), Some(b'=' | b':')) {
        return Some(name_end + 3);
    }
    let blank = |byte: u8| matches!(byte, b' ' | b'\t');
    // A closing quote, after a backslash if this is text within text.
    let quoted = run(text, name_end, |byte| matches!(byte, b'\\' | b'"' | b'\'')).min(name_end + 4);
    let sign = run(text, quoted, blank);
    match text.get(sign) {
        Some(b'=' | b':') => Some(run(text, sign + 1, |byte| blank(byte) || matches!(byte, b'=' | b'>'))),
        // `--token abc`
        Some(_) if sign > quoted && quoted == name_end && name.starts_with("--") => Some(sign),
        _ => None,
    }
}

/// Returns the bounds of the value: a quoted text, a list or an object, or up to the end of a bare value.
fn value_bounds(text: &[u8], start: usize, name: &str) -> (usize, usize) {
    let open = run(text, start, |byte| byte == b'\\').min(start + 3);
    match text.get(open) {
        Some(quote @ (b'"' | b'\'')) => (open + 1, closing_quote(text, open + 1, *quote, open > start)),
        Some(b'{' | b'[') => (open, closing_bracket(text, open)),
        _ => {
            // Headers whose values contain blanks.
            let lower = name.to_ascii_lowercase();
            let line = lower.ends_with("authorization") || lower.ends_with("cookie");
            let ends = |byte: u8| match byte {
                b'\n' | b'\r' | b'"' => true,
                b' ' | b'\t' | b',' | b';' | b'&' | b'\'' | b')' | b'}' | b']' | b'<' | b'>' => !line,
                _ => false,
            };
            (start, run(text, start, |byte| !ends(byte)))
        }
    }
}

/// Returns the position of the quote that ends a text, or the end. In text within text (`escaped`), the quote has a
/// backslash.
fn closing_quote(text: &[u8], from: usize, quote: u8, escaped: bool) -> usize {
    let mut at = from;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' if escaped && text.get(at + 1) == Some(&quote) => return at,
            // A backslash of the inner text, with the character it escapes.
            b'\\' if escaped && text.get(at + 1) == Some(&b'\\') => {
                at += if text.get(at + 2) == Some(&b'\\') { 4 } else { 3 };
            }
            b'\\' => at += 2,
            byte if *byte == quote => return at,
            _ => at += 1,
        }
    }
    text.len()
}

/// Returns the end of a list or an object, or of the text if it is cut off.
fn closing_bracket(text: &[u8], from: usize) -> usize {
    let (mut at, mut depth) = (from, 0_usize);
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b'"' => at = (closing_quote(text, at, b'"', false) + 1).min(text.len()),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    text.len()
}
