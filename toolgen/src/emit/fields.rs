//! Helpers for the constant expressions of several kinds of values.

use std::time::Duration;

use toolgen_core::{List, Text};

use super::expr::Expr;

/// The fields of a struct literal that differ from its base.
#[derive(Default)]
pub(super) struct Fields {
    set: Vec<(&'static str, Expr)>,
    /// The number of fields that the base provides.
    omitted: usize,
}

impl Fields {
    /// Sets a field.
    pub(super) fn set(&mut self, name: &'static str, expr: Expr) {
        self.set.push((name, expr));
    }

    /// Sets a field if there is a value.
    pub(super) fn set_optional(&mut self, name: &'static str, expr: Option<Expr>) {
        match expr {
            Some(expr) => self.set(name, expr),
            None => self.omitted += 1,
        }
    }

    /// Sets a field, unless the base has the same value.
    pub(super) fn put<T: PartialEq>(
        &mut self,
        name: &'static str,
        value: &T,
        base: &T,
        expr: impl FnOnce(&T) -> Expr,
    ) {
        self.set_optional(name, (value != base).then(|| expr(value)));
    }

    /// Sets a `Text`, unless the base has the same value.
    pub(super) fn text(&mut self, name: &'static str, value: &Text, base: &Text) {
        self.put(name, value, base, |text| Expr::text(text));
    }

    /// Returns the literal. The base is named only if it provides some fields, and replaces the literal if it
    /// provides all.
    pub(super) fn literal(self, head: &'static str, base: &'static str) -> Expr {
        if self.set.is_empty() {
            return Expr::atom(base);
        }
        Expr::Struct { head, fields: self.set, base: (self.omitted > 0).then_some(base) }
    }
}

/// `Some(value)`
pub(super) fn some(value: Expr) -> Expr {
    Expr::Call("Some", vec![value])
}

/// Returns a list as an inline expression.
pub(super) fn list_of<T>(list: &List<T>, item: impl FnMut(&T) -> Expr) -> Expr {
    Expr::list(list.iter().map(item).collect())
}

/// Returns a list of `Text`s as an inline expression.
pub(super) fn texts(list: &List<Text>) -> Expr {
    list_of(list, |text| Expr::text(text))
}

/// `Duration::new(seconds, nanoseconds)`
pub(super) fn duration(duration: &Duration) -> Expr {
    let parts = [duration.as_secs().to_string(), duration.subsec_nanos().to_string()];
    Expr::Call("Duration::new", parts.into_iter().map(Expr::atom).collect())
}
