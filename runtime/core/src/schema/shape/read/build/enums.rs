//! `enum` and `const`.

use serde_json::Value;

use super::{Builder, Object, ReadProblemKind};
use crate::schema::shape::listed::Values;
use crate::schema::shape::{Kind, Literal, Number, NumberRules, Shape, StringRules};

/// Returns the distinct values.
fn distinct(listed: &[Literal]) -> Vec<Literal> {
    let mut seen = Values::default();
    listed.iter().filter(|value| seen.insert(value)).cloned().collect()
}

impl Builder<'_> {
    /// Reads the values a schema lists, restricted to those its other rules allow. Returns false if it lists none.
    pub(super) fn enumeration(
        &mut self,
        schema: &Object,
        types: Option<&[&str]>,
        parts: &mut Vec<Shape>,
    ) -> bool {
        let (keyword, listed) = match (schema.get("const"), schema.get("enum")) {
            (Some(value), _) => ("const", std::slice::from_ref(value)),
            (None, Some(Value::Array(values))) if !values.is_empty() => ("enum", values.as_slice()),
            _ => return false,
        };
        let mut values = distinct(&listed.iter().map(Literal::of).collect::<Vec<_>>());
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

    /// Keeps only the values of the types a schema names.
    fn of_types(&mut self, keyword: &str, values: Vec<Literal>, types: &[&str]) -> Vec<Literal> {
        let fitting: Vec<Literal> = values.iter().filter(|value| is_of(value, types)).cloned().collect();
        let null_only = values.iter().all(|value| is_of(value, types) || *value == Literal::Null);
        let message = match fitting.len() {
            0 => "lists no value of the type that `type` names, so `type` is ignored",
            _ if null_only => return fitting,
            _ => "lists values that `type` does not allow; they are left out",
        };
        self.at(keyword, |builder| builder.problem(ReadProblemKind::Values, message));
        if fitting.is_empty() { values } else { fitting }
    }

    /// Applies other rules to listed values: they narrow simple values, and are kept for lists and objects.
    fn beside(
        &mut self,
        schema: &Object,
        types: Option<&[&str]>,
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
        let strings = StringRules::read(schema);
        let numbers = NumberRules::read(schema);
        let allowed = |value: &&Literal| match value {
            Literal::String(text) => strings.check(text).problems.is_empty(),
            Literal::Number(number) => numbers.problem(*number).is_none(),
            _ => true,
        };
        let narrowed: Vec<Literal> = values.iter().filter(allowed).cloned().collect();
        if narrowed.is_empty() {
            self.problem(
                ReadProblemKind::Values,
                "lists no value that its other rules allow, so those are ignored",
            );
        } else if narrowed.len() < values.len() {
            self.problem(
                ReadProblemKind::Values,
                "lists values that its other rules do not allow; they are left out",
            );
            *values = narrowed;
        }
        // A pattern that could not be applied is kept.
        let tried = |value: &Literal| match value {
            Literal::String(text) => strings.check(text).is_sure,
            _ => true,
        };
        if !strings.pattern.is_empty() && !values.iter().all(tried) {
            let pattern = strings.pattern.clone();
            parts.push(Shape::of(Kind::String(StringRules { pattern, ..StringRules::ANY })));
        }
    }
}

fn is_of(value: &Literal, types: &[&str]) -> bool {
    let name = value.type_name();
    match value {
        _ if types.contains(&name) => true,
        Literal::Number(Number::Int(_)) => types.contains(&"number"),
        Literal::Number(Number::Float(float)) => types.contains(&"integer") && float.fract() == 0.0,
        _ => false,
    }
}
