//! The syntax of placeholders in paths besides names: operators of RFC 6570 (`{+path}`, `{/x}`), wildcards and
//! constraints of routers (`{*path}`, `{id:int}`, `{name=shelves/*}`).

/// A part of a path.
pub(super) enum Piece<'p> {
    Fixed(&'p str),
    /// The content of braces.
    Placeholder(&'p str),
}

/// Splits a path into its pieces. Nested braces belong to a pattern: `{id:[0-9]{4}}`.
pub(super) fn pieces(path: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = path;
    while let Some(start) = rest.find('{') {
        let mut depth = 0;
        let end = rest[start..].char_indices().find(|(_, char)| {
            depth += i32::from(*char == '{') - i32::from(*char == '}');
            depth == 0
        });
        // A brace that is not closed at its own depth ends at the first closing brace.
        let end = end.map(|(end, _)| start + end).or_else(|| Some(start + rest[start..].find('}')?));
        let Some(end) = end else { break };
        found.push(Piece::Fixed(&rest[..start]));
        found.push(Piece::Placeholder(&rest[start + 1..end]));
        rest = &rest[end + 1..];
    }
    found.push(Piece::Fixed(rest));
    found
}

/// The meaning of a placeholder.
pub(super) struct Expression<'p> {
    /// The name of its parameter.
    pub(super) name: &'p str,
    /// Whether it covers several segments.
    pub(super) many: bool,
    operator: Option<char>,
}

impl<'p> Expression<'p> {
    /// Parses the content of the braces.
    pub(super) fn of(raw: &'p str) -> Expression<'p> {
        let whole = raw.trim();
        let operator = whole.chars().next().filter(|first| "+/.;*".contains(*first));
        let inner = whole.trim_start_matches(|char| Some(char) == operator);
        let (name, rule) = match inner.find([':', '=']) {
            Some(at) => (inner[..at].trim(), inner[at..].trim()),
            None => (inner, ""),
        };
        let base = name.trim_end_matches(['*', '+', '?']);
        let many =
            matches!(operator, Some('+' | '*')) || name[base.len()..].contains(['*', '+']) || spans(rule);
        // Names with other characters are also names.
        let legal = |char: char| char.is_alphanumeric() || "_-.$@".contains(char);
        if base.is_empty() || !base.chars().all(legal) {
            return Expression { name: raw, many: false, operator: None };
        }
        Expression { name: base, many, operator }
    }

    /// Returns the prefix of the value (RFC 6570, sections 3.2.5 to 3.2.7).
    pub(super) fn before(&self, name: &str) -> String {
        match self.operator {
            Some('/') => String::from("/"),
            Some('.') => String::from("."),
            Some(';') => format!(";{name}="),
            _ => String::new(),
        }
    }
}

/// Whether a constraint allows slashes: a pattern of any characters, `path` of Python's routers, a template of gRPC.
fn spans(rule: &str) -> bool {
    let Some(pattern) = rule.strip_prefix(':') else {
        return rule.contains('/') || rule.contains("**");
    };
    let pattern = pattern.trim();
    let any = |any: &str| pattern.match_indices(any).any(|(at, _)| !pattern[..at].ends_with('\\'));
    pattern == "path" || any(".*") || any(".+")
}

/// Parses a segment that is a parameter in another notation: `:id`, `:id(\\d+)`, `:rest*`, `<id>`, `<int:id>`.
pub(super) fn placed(segment: &str) -> Option<Expression<'_>> {
    if let Some(inner) = segment.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) {
        let (rule, name) = inner.split_once(':').unwrap_or(("", inner));
        return Some(Expression { name: name.trim(), many: rule == "path", operator: None });
    }
    let rest = segment.strip_prefix(':')?;
    let end = rest.find(|char: char| !char.is_alphanumeric() && char != '_' && char != '-');
    let (name, rule) = rest.split_at(end.unwrap_or(rest.len()));
    let is_rule =
        rule.is_empty() || matches!(rule, "*" | "+" | "?") || (rule.starts_with('(') && rule.ends_with(')'));
    let many = matches!(rule, "*" | "+") || spans(&format!(":{}", rule.trim_matches(['(', ')'])));
    is_rule.then_some(Expression { name, many, operator: None })
}
