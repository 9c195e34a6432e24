//! The tokens of conditions.

use crate::problem::{Problem, Span};

/// A token with its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TokenKind {
    Int(u64),
    Double(f64),
    Text(String),
    Name(String),
    /// An operator or a bracket.
    Sign(&'static str),
    End,
}

/// The operators and brackets, longer ones first.
const SIGNS: [&str; 24] = [
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "+", "-", "*", "/", "%", "?", ":", ".", ",", "(", ")",
    "[", "]", "{", "}",
];

/// Splits a condition into tokens. The last one is [`TokenKind::End`].
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, Problem> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(char) = text[at..].chars().next() {
        if char.is_whitespace() {
            at += char.len_utf8();
            continue;
        }
        let (kind, length) = token(text, at, char)?;
        tokens.push(Token { kind, span: Span { start: at, end: at + length } });
        at += length;
    }
    tokens.push(Token { kind: TokenKind::End, span: Span { start: text.len(), end: text.len() } });
    Ok(tokens)
}

fn token(text: &str, at: usize, first: char) -> Result<(TokenKind, usize), Problem> {
    let rest = &text[at..];
    if first.is_ascii_alphabetic() || first == '_' {
        let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let is_prefix = length <= 2 && rest[length..].starts_with(['"', '\'']);
        if is_prefix && rest[..length].chars().all(|c| matches!(c, 'r' | 'R' | 'b' | 'B')) {
            let span = Span { start: at, end: at + length };
            return Err(Problem::syntax(
                span,
                "raw strings and bytes are not supported",
                "write a string in quotes, with `\\\\` for a backslash",
            ));
        }
        return Ok((TokenKind::Name(rest[..length].to_owned()), length));
    }
    if first.is_ascii_digit() {
        return number(rest, at);
    }
    if first == '"' || first == '\'' {
        return quoted(rest, at, first);
    }
    match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        Some(sign) => Ok((TokenKind::Sign(sign), sign.len())),
        None => {
            let span = Span { start: at, end: at + first.len_utf8() };
            let help = match first {
                '&' => "write `&&`",
                '|' => "write `||`",
                '=' => "write `==`",
                _ => "remove it, or put it in a string",
            };
            Err(Problem::syntax(span, format!("unexpected character {first:?}"), help))
        }
    }
}

fn number(rest: &str, at: usize) -> Result<(TokenKind, usize), Problem> {
    let digits = |from: usize| {
        rest[from..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |length| from + length)
    };
    let is_digit = |at: usize| rest.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let mut end = digits(0);
    let mut is_double = false;
    if rest[end..].starts_with('.') && is_digit(end + 1) {
        (end, is_double) = (digits(end + 1), true);
    }
    if rest[end..].starts_with(['e', 'E']) {
        let sign = usize::from(rest[end + 1..].starts_with(['+', '-']));
        if is_digit(end + 1 + sign) {
            (end, is_double) = (digits(end + 1 + sign), true);
        }
    }
    let span = Span { start: at, end: at + end };
    let help = "integers have at most 64 bits, and are written in decimal, without `_` or a suffix";
    if rest[end..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
        return Err(Problem::syntax(span, format!("`{}` is not a number", &rest[..=end]), help));
    }
    let text = &rest[..end];
    let kind = if is_double {
        text.parse().ok().filter(|number: &f64| number.is_finite()).map(TokenKind::Double)
    } else {
        text.parse().ok().map(TokenKind::Int)
    };
    kind.map(|kind| (kind, end))
        .ok_or_else(|| Problem::syntax(span, format!("the number `{text}` is too large"), help))
}

fn quoted(rest: &str, at: usize, quote: char) -> Result<(TokenKind, usize), Problem> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((index, char)) = chars.next() {
        if char == quote {
            return Ok((TokenKind::Text(text), index + 1));
        }
        if char != '\\' {
            text.push(char);
            continue;
        }
        let escape = chars.next();
        let unescaped = match escape.map(|(_, char)| char) {
            Some('n') => Some('\n'),
            Some('r') => Some('\r'),
            Some('t') => Some('\t'),
            Some(char @ ('\\' | '"' | '\'')) => Some(char),
            Some('u') => {
                let digits: String = chars.by_ref().take(4).map(|(_, char)| char).collect();
                let is_hex = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                u32::from_str_radix(&digits, 16).ok().filter(|_| is_hex).and_then(char::from_u32)
            }
            _ => None,
        };
        let Some(unescaped) = unescaped else {
            let end = escape.map_or(rest.len(), |(index, char)| index + char.len_utf8());
            let span = Span { start: at + index, end: at + end };
            let help = r#"write one of \n \r \t \\ \" \' \uXXXX"#;
            return Err(Problem::syntax(span, "unknown escape in a string", help));
        };
        text.push(unescaped);
    }
    let span = Span { start: at, end: at + rest.len() };
    Err(Problem::syntax(span, "the string does not end", format!("close it with {quote}")))
}
