//! Converts valid arguments to the form that the tool takes.

use serde_json::{Map, Value};

use super::check::{Checker, Form};
use super::literals::equals;
use super::{ArgumentProblem, fits};
use crate::base::frozen::List;
use crate::base::json::to_integer;
use crate::schema::dialect::{Dialect, JSON_SCHEMA};
use crate::schema::shape::codec::read;
use crate::schema::shape::{Access, Def, Extra, Field, Kind, Literal, Number, Shape, find_def};

/// Maximum depth to which references are followed: they may be cyclic.
const MAX_DEPTH: usize = 64;

/// Returns valid arguments in a form for people: with the names that the model sees, integers as integers, and the
/// schema's defaults for absent fields. They are valid in every dialect.
///
/// # Errors
///
/// Returns a problem if the conversion takes too many steps.
pub fn completed(
    arguments: &Value,
    shape: &Shape,
    defs: &List<Def>,
    dialect: &Dialect,
) -> Result<Value, Vec<ArgumentProblem>> {
    let decoded = read::read(arguments, shape, defs, dialect);
    let arguments = decoded.as_ref().map_or(arguments, |decoded| &decoded.value);
    let convert = |defaults| {
        let mut checker = Checker::new(defs, dialect);
        checker.form = Form::Named { defaults };
        checker.try_transform(arguments, shape)
    };
    let with_defaults = convert(true)?;
    // Several defaults together may violate a rule between fields.
    if Checker::new(defs, dialect).problems_of(&with_defaults, shape).is_empty() {
        Ok(with_defaults)
    } else {
        convert(false)
    }
}

/// Returns valid arguments under their wire names, without validating them again.
///
/// # Errors
///
/// Returns a problem if the conversion takes too many steps.
pub fn to_wire_names(
    arguments: &Value,
    shape: &Shape,
    defs: &List<Def>,
) -> Result<Value, Vec<ArgumentProblem>> {
    Checker::new(defs, &JSON_SCHEMA).try_transform(arguments, shape)
}

impl<'a> Checker<'a> {
    /// Returns a valid value in the form that the tool takes, or a problem if the conversion takes too many steps.
    pub(super) fn try_transform(
        &mut self,
        value: &Value,
        shape: &'a Shape,
    ) -> Result<Value, Vec<ArgumentProblem>> {
        self.steps = 0;
        let result = self.transform(value, &[shape]);
        if self.is_out_of_steps() {
            self.report_out_of_steps();
            return Err(std::mem::take(&mut self.problems));
        }
        Ok(result)
    }

    /// Converts a value that matches all of the shapes: to wire names, and integers to integers.
    pub(super) fn transform(&mut self, value: &Value, shapes: &[&'a Shape]) -> Value {
        let mut parts = Vec::new();
        for shape in shapes {
            self.collect_parts(value, shape, 0, &mut parts);
        }
        match value {
            Value::Number(number) => match parts.iter().any(|part| is_integer_for(value, &part.kind)) {
                true => to_integer_value(number).unwrap_or_else(|| value.clone()),
                false => value.clone(),
            },
            Value::Array(items) => items
                .iter()
                .enumerate()
                .map(|(index, item)| self.transform_item(index, item, &parts))
                .collect(),
            Value::Object(fields) => self.transform_fields(fields, &parts),
            other => other.clone(),
        }
    }

    /// Collects the shapes that a value matches, with references and unions resolved.
    fn collect_parts(&mut self, value: &Value, shape: &'a Shape, depth: usize, parts: &mut Vec<&'a Shape>) {
        if depth > MAX_DEPTH {
            return;
        }
        match &shape.kind {
            Kind::Ref(name) => {
                if let Some(target) = find_def(self.defs, name) {
                    self.collect_parts(value, target, depth + 1, parts);
                }
            }
            Kind::All(all) => all.iter().for_each(|part| self.collect_parts(value, part, depth + 1, parts)),
            Kind::Union(union) => {
                if let Some(variant) = self.intended_variant(value, union) {
                    self.collect_parts(value, variant, depth + 1, parts);
                }
            }
            _ if parts.iter().any(|part| std::ptr::eq(*part, shape)) => {}
            _ => parts.push(shape),
        }
    }

    fn transform_item(&mut self, index: usize, item: &Value, parts: &[&'a Shape]) -> Value {
        let mut shapes: Vec<&'a Shape> = Vec::new();
        for part in parts {
            match &part.kind {
                Kind::Array(rules) => shapes.push(&rules.items),
                Kind::Tuple(rules) => match (rules.items.get(index), &rules.rest) {
                    (Some(shape), _) => shapes.push(shape),
                    (None, Extra::Of(shape)) => shapes.push(shape),
                    _ => {}
                },
                _ => {}
            }
        }
        self.transform(item, &shapes)
    }

    fn transform_fields(&mut self, fields: &Map<String, Value>, parts: &[&'a Shape]) -> Value {
        let mut out = Map::new();
        for (key, value) in fields {
            let mut shapes: Vec<&'a Shape> = Vec::new();
            let mut name: Option<&str> = None;
            let mut is_absent: Option<bool> = None;
            for part in parts {
                let Kind::Object(rules) = &part.kind else { continue };
                let field = rules.field(key, self.hidden);
                let is_dropped = self.is_absent(value, field, rules, key);
                is_absent = Some(is_dropped && is_absent.unwrap_or(true));
                if let Some(field) = field {
                    name = name.or(Some(self.name_of(field)));
                    shapes.push(&field.shape);
                }
                let before = shapes.len();
                let matching = rules
                    .patterns
                    .iter()
                    .filter(|pattern| self.key_matches(&pattern.pattern, key) == Some(true));
                shapes.extend(matching.map(|pattern| &pattern.shape));
                if let (Extra::Of(shape), None, true) = (&rules.extra, field, before == shapes.len()) {
                    shapes.push(shape);
                }
            }
            if is_absent != Some(true) {
                let value = self.transform(value, &shapes);
                out.insert(name.unwrap_or(key).to_owned(), value);
            }
        }
        if self.form == (Form::Named { defaults: true }) {
            parts.iter().for_each(|part| self.fill_defaults(&mut out, part));
        }
        Value::Object(out)
    }

    fn name_of<'s>(&self, field: &'s Field) -> &'s str {
        match self.form {
            Form::Wire => field.wire_name(),
            Form::Named { .. } => &field.name,
        }
    }

    /// Fills in absent fields that have a valid default. `null` counts as absent.
    fn fill_defaults(&self, out: &mut Map<String, Value>, shape: &Shape) {
        let Kind::Object(rules) = &shape.kind else { return };
        for field in &rules.fields {
            let Some(default) = &field.shape.default else { continue };
            let value = default.to_json();
            let is_settable = field.access != Access::ReadOnly && !out.contains_key(field.name.as_str());
            if is_settable && !value.is_null() && fits(&value, &field.shape, self.defs) {
                // A new checker, because checkers cache results by address, and this value is temporary.
                let mut checker = Checker::new(self.defs, &JSON_SCHEMA);
                checker.form = self.form;
                out.insert(field.name.as_str().to_owned(), checker.transform(&value, &[&field.shape]));
            }
        }
    }
}

fn is_integer_for(value: &Value, kind: &Kind) -> bool {
    match kind {
        Kind::Integer(_) => true,
        Kind::Enum(values) => values
            .iter()
            .any(|literal| matches!(literal, Literal::Number(Number::Int(_))) && equals(value, literal)),
        _ => false,
    }
}

/// Returns `5.0` as `5`; `None` if the number is already an integer, or too large to be exact.
fn to_integer_value(number: &serde_json::Number) -> Option<Value> {
    if !number.is_f64() {
        return None;
    }
    number.as_f64().and_then(to_integer).map(Value::from)
}
