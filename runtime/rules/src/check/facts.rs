//! What a condition guarantees about the values that it is about.

use crate::syntax::{Expr, Kind, Op};

/// A guarantee about the value at a path.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fact {
    /// It is there.
    Present(String),
    /// It is not `null`.
    NotNull(String),
}

impl Fact {
    pub(super) fn is_present(&self, wanted: &str) -> bool {
        matches!(self, Fact::Present(path) if path == wanted)
    }

    pub(super) fn is_not_null(&self, wanted: &str) -> bool {
        matches!(self, Fact::NotNull(path) if path == wanted)
    }
}

/// Returns the path of a value: `args.filter.name`. `None` for other expressions.
pub(super) fn path(expr: &Expr) -> Option<String> {
    match &expr.kind {
        Kind::Name(name) => Some(name.clone()),
        Kind::Member(inner, name) => Some(joined(&path(inner)?, name)),
        Kind::Index(inner, index) => match &index.kind {
            Kind::Text(name) => Some(joined(&path(inner)?, name)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the path of a member.
pub(super) fn joined(path: &str, name: &str) -> String {
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_name(name) { format!("{path}.{name}") } else { format!("{path}[{}]", crate::syntax::quote(name)) }
}

/// Returns what holds if a condition has this value.
pub(super) fn facts(expr: &Expr, value: bool) -> Vec<Fact> {
    match &expr.kind {
        Kind::Not(inner) => facts(inner, !value),
        Kind::Binary(Op::And, left, right) if value => [facts(left, true), facts(right, true)].concat(),
        Kind::Binary(Op::Or, left, right) if !value => [facts(left, false), facts(right, false)].concat(),
        Kind::Binary(op @ (Op::Equal | Op::NotEqual), left, right) if (*op == Op::NotEqual) == value => {
            let other = match (&left.kind, &right.kind) {
                (Kind::Null, _) => right,
                (_, Kind::Null) => left,
                _ => return Vec::new(),
            };
            path(other).map(Fact::NotNull).into_iter().collect()
        }
        Kind::Binary(Op::In, left, right) if value => match &left.kind {
            Kind::Text(name) => {
                path(right).map(|path| Fact::Present(joined(&path, name))).into_iter().collect()
            }
            _ => Vec::new(),
        },
        Kind::Call(None, name, arguments) if value && name == "has" => {
            arguments.first().and_then(path).map(Fact::Present).into_iter().collect()
        }
        _ => Vec::new(),
    }
}
