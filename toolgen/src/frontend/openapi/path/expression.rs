//! Parses placeholders in paths that are not only names: operators of RFC 6570 (`{+path}`, `{/x}`), wildcards and
//! constraints of routers (`{*path}`, `{id:int}`, `{name=shelves/*}`).

/// A part of a path.
pub(super) enum Piece<'p> {
    Fixed(&'p str),
    /// The content of braces.
    Placeholder(&'p str),
}

/// Splits a path into its pieces. Nested braces belong to a pattern: `{id:[0-9]{4}}`.
pub(super) fn pieces(path: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut remaining = path;
    while let Some(start) = remaining.find('{') {
        let mut depth = 0;
        let end = remaining[start..].char_indices().find(|(_, char)| {
            depth += i32::from(*char == '{') - i32::from(*char == '}');
            depth == 0
        });
        // A brace that is not closed at its own depth ends at the first closing brace.
        let end = end.map(|(end, _)| start + end).or_else(|| Some(start + remaining[start..].find('}')?));
        let Some(end) = end else { break };
        pieces.push(Piece::Fixed(&remaining[..start]));
        pieces.push(Piece::Placeholder(&remaining[start + 1..end]));
        remaining = &remaining[end + 1..];
    }
    pieces.push(Piece::Fixed(remaining));
    pieces
}

/// The meaning of a placeholder.
pub(super) struct Expression<'p> {
    /// The name of the parameter.
    pub(super) name: &'p str,
    /// Whether the parameter covers several segments.
    pub(super) is_wildcard: bool,
    operator: Option<char>,
}

impl<'p> Expression<'p> {
    /// Parses the content of the braces.
    pub(super) fn of(raw: &'p str) -> Expression<'p> {
        let trimmed = raw.trim();
        let operator = trimmed.chars().next().filter(|first| "+/.;*".contains(*first));
        let without_operator = trimmed.trim_start_matches(|char| Some(char) == operator);
        let (name, constraint) = match without_operator.find([':', '=']) {
            Some(index) => (without_operator[..index].trim(), without_operator[index..].trim()),
            None => (without_operator, ""),
        };
        let base = name.trim_end_matches(['*', '+', '?']);
        let is_wildcard = matches!(operator, Some('+' | '*'))
            || name[base.len()..].contains(['*', '+'])
            || allows_slashes(constraint);
        // With other characters, the complete content is the name.
        let is_legal = |char: char| char.is_alphanumeric() || "_-.$@".contains(char);
        if base.is_empty() || !base.chars().all(is_legal) {
            return Expression { name: raw, is_wildcard: false, operator: None };
        }
        Expression { name: base, is_wildcard, operator }
    }

    /// Returns the prefix of the value (RFC 6570, sections 3.2.5 to 3.2.7).
    pub(super) fn prefix(&self, name: &str) -> String {
        match self.operator {
            Some('/') => String::from("/"),
            Some('.') => String::from("."),
            Some(';') => format!(";{name}="),
            _ => String::new(),
        }
    }
}

/// Whether a constraint allows slashes: a pattern of any characters, `path` in Python routers, a gRPC path template.
fn allows_slashes(constraint: &str) -> bool {
    let Some(pattern) = constraint.strip_prefix(':') else {
        return constraint.contains('/') || constraint.contains("**");
    };
    let pattern = pattern.trim();
    let contains_unescaped =
        |wildcard: &str| pattern.match_indices(wildcard).any(|(index, _)| !pattern[..index].ends_with('\\'));
    pattern == "path" || contains_unescaped(".*") || contains_unescaped(".+")
}

/// Parses a segment that is a parameter in another notation: `:id`, `:id(\\d+)`, `:rest*`, `<id>`, `<int:id>`.
pub(super) fn parse_other_notation(segment: &str) -> Option<Expression<'_>> {
    if let Some(inner) = segment.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) {
        let (constraint, name) = inner.split_once(':').unwrap_or(("", inner));
        return Some(Expression { name: name.trim(), is_wildcard: constraint == "path", operator: None });
    }
    let rest = segment.strip_prefix(':')?;
    let end = rest.find(|char: char| !char.is_alphanumeric() && char != '_' && char != '-');
    let (name, constraint) = rest.split_at(end.unwrap_or(rest.len()));
    let is_constraint = constraint.is_empty()
        || matches!(constraint, "*" | "+" | "?")
        || (constraint.starts_with('(') && constraint.ends_with(')'));
    let is_wildcard = matches!(constraint, "*" | "+")
        || allows_slashes(&format!(":{}", constraint.trim_matches(['(', ')'])));
    is_constraint.then_some(Expression { name, is_wildcard, operator: None })
}
