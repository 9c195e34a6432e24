//! `enum` and `const`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::types::{Type, Types};
use super::{Object, Reader};
use crate::schema::shape::{Kind, Literal, Number, Shape, StringRules};

/// The values, none twice. Texts are what long lists consist of, so they are not compared with one another.
fn distinct(listed: Vec<Literal>) -> Vec<Literal> {
    let mut texts = BTreeSet::new();
    let mut others: Vec<Literal> = Vec::new();
    let mut is_new = |value: &Literal| match value {
        Literal::String(text) => texts.insert(text.clone()),
        value => {
            let new = !others.iter().any(|known| same(known, value));
            if new {
                others.push(value.clone());
            }
            new
        }
    };
    listed.into_iter().filter(|value| is_new(value)).collect()
}

impl Reader<'_> {
    /// The values a schema lists, narrowed to those its other rules allow. False if it lists none.
    pub(super) fn enumeration(
        &mut self,
        schema: &Object,
        types: Option<&Types>,
        parts: &mut Vec<Shape>,
    ) -> bool {
        let Some((keyword, listed)) = self.listed(schema) else { return false };
        let mut values = distinct(listed);
        if let Some(types) = types {
            values = self.of_types(keyword, values, types);
        }
        let nullable = values.contains(&Literal::Null);
        values.retain(|value| *value != Literal::Null);
        if values.is_empty() {
            parts.push(Shape::of(Kind::Null));
            return true;
        }
        self.beside(schema, types, &mut values, parts);
        parts.push(Shape { nullable, ..Shape::of(Kind::Enum(values.into())) });
        true
    }

    fn listed(&mut self, schema: &Object) -> Option<(&'static str, Vec<Literal>)> {
        if let Some(value) = schema.get("const") {
            return Some(("const", vec![self.at("const", |reader| reader.literal(value))?]));
        }
        let Value::Array(values) = schema.get("enum")? else {
            self.problem_at("enum", "not a list of values, so ignored");
            return None;
        };
        let literals: Vec<Literal> = self.at("enum", |reader| {
            let literal = |(index, value)| reader.at_index(index, |r| r.literal(value));
            values.iter().enumerate().filter_map(literal).collect()
        });
        if literals.is_empty() {
            self.problem_at("enum", "lists no values, so ignored");
            return None;
        }
        Some(("enum", literals))
    }

    /// Only the values of the types a schema names. If there are none, authors most likely wrote `1` for `"1"` or
    /// the other way round.
    fn of_types(&mut self, keyword: &str, values: Vec<Literal>, types: &Types) -> Vec<Literal> {
        let fitting: Vec<Literal> = values.iter().filter(|value| is_of(value, types)).cloned().collect();
        if fitting.len() == values.len() {
            return values;
        }
        let null_only = values.iter().all(|value| is_of(value, types) || *value == Literal::Null);
        let meant: Vec<Literal> = values.iter().filter_map(|value| as_type(value, types)).collect();
        if !null_only && meant.len() > fitting.len() {
            self.problem_at(keyword, "lists values of another type, read as the type that `type` names");
            return meant;
        }
        if fitting.is_empty() {
            self.problem_at(keyword, "lists no value of the type that `type` names, so `type` is ignored");
            return values;
        }
        if !null_only {
            self.problem_at(keyword, "lists values that `type` does not allow; they are left out");
        }
        fitting
    }

    /// Other rules beside listed values: they narrow simple values, and stay as they are for lists and objects.
    fn beside(
        &mut self,
        schema: &Object,
        types: Option<&Types>,
        values: &mut Vec<Literal>,
        parts: &mut Vec<Shape>,
    ) {
        if values.iter().any(|value| matches!(value, Literal::Json(_))) {
            let mut rest = schema.clone();
            rest.retain(|keyword, _| !matches!(keyword.as_str(), "enum" | "const"));
            let ruled = ["properties", "required", "additionalProperties", "items", "prefixItems"];
            if types.is_some() && ruled.iter().any(|keyword| rest.contains_key(*keyword)) {
                self.own_kind(&rest, parts);
            }
            return;
        }
        let strings = self.string_rules(schema);
        let numbers = self.number_rules(schema);
        let allowed = |value: &&Literal| match value {
            Literal::String(text) => crate::schema::shape::rules::text_fits(text, &strings),
            Literal::Number(number) => crate::schema::shape::rules::number_fits(*number, &numbers),
            _ => true,
        };
        let narrowed: Vec<Literal> = values.iter().filter(allowed).cloned().collect();
        if narrowed.is_empty() {
            self.problem("lists no value that its other rules allow, so those are ignored");
        } else if narrowed.len() < values.len() {
            self.problem("lists values that its other rules do not allow; they are left out");
            *values = narrowed;
        }
        // A pattern that could not be tried stays.
        let tried = |value: &Literal| match value {
            Literal::String(text) => crate::schema::shape::rules::is_tried(&strings.pattern, text),
            _ => true,
        };
        if !strings.pattern.is_empty() && !values.iter().all(tried) {
            let pattern = strings.pattern.clone();
            parts.push(Shape::of(Kind::String(StringRules { pattern, ..StringRules::ANY })));
        }
    }
}

fn is_of(value: &Literal, types: &Types) -> bool {
    let has = |wanted: Type| types.types.contains(&wanted);
    match value {
        Literal::Null => types.null,
        Literal::Bool(_) => has(Type::Boolean),
        Literal::Number(Number::Int(_)) => has(Type::Integer) || has(Type::Number),
        Literal::Number(Number::Float(float)) => {
            has(Type::Number) || has(Type::Integer) && float.fract() == 0.0
        }
        Literal::String(_) => has(Type::String),
        Literal::Json(text) if text.starts_with('[') => has(Type::Array),
        Literal::Json(_) => has(Type::Object),
    }
}

/// The value as one of the types, where exactly one reading is possible.
fn as_type(value: &Literal, types: &Types) -> Option<Literal> {
    if is_of(value, types) {
        return Some(value.clone());
    }
    let [only] = types.types.as_slice() else { return None };
    match (only, value) {
        (Type::String, Literal::Bool(flag)) => Some(Literal::String(flag.to_string().into())),
        (Type::String, Literal::Number(Number::Int(int))) => Some(Literal::String(int.to_string().into())),
        (Type::String, Literal::Number(Number::Float(float))) => {
            Some(Literal::String(Value::from(*float).to_string().into()))
        }
        (Type::Integer, Literal::String(text)) => {
            Some(Literal::Number(Number::Int(text.parse::<i64>().ok()?.into())))
        }
        (Type::Number, Literal::String(text)) => match serde_json::from_str::<Value>(text) {
            Ok(number @ Value::Number(_)) => Some(Literal::of(&number)),
            _ => None,
        },
        (Type::Boolean, Literal::String(text)) => Some(Literal::Bool(text.parse().ok()?)),
        _ => None,
    }
}

/// Equal as JSON Schema understands it: `1` and `1.0` are the same number.
fn same(a: &Literal, b: &Literal) -> bool {
    match (a, b) {
        (Literal::Number(a), Literal::Number(b)) => crate::schema::shape::rules::same_number(*a, *b),
        _ => a == b,
    }
}
