//! Fixes or omits fields of a body that is one argument.

use serde_json::{Map, Value};
use toolgen_core::schema::shape::{Access, Extra, Field, Kind, ObjectRules, find_def};
use toolgen_core::spec::plan::{Body, BodySource, RequestPlan};
use toolgen_core::spec::template::{Reference, Root, Template};
use toolgen_core::{List, Shape, Text, ToolSpec};

use super::{ArgumentFixer, SortedFields, names};
use crate::selector::glob;

/// Maximum depth of references and unions that are followed to the fields of a body.
const MAX_DEPTH: usize = 6;

/// A change to a body: the fields that are fixed or omitted.
pub(super) struct BodyChange {
    /// The argument that is the body.
    pub(super) body: Text,
    /// The remaining shape of the argument; `None` if no field is left.
    shape: Option<Shape>,
    /// Whether the argument is now required regardless of the document: otherwise a request could lack the fixed
    /// values.
    required: bool,
    /// The fields, with their values as JSON if they are fixed.
    removed: Vec<(Field, Option<Text>)>,
    /// Whether a call may set keys that the object does not list.
    is_open: bool,
}

impl ArgumentFixer<'_> {
    /// Removes fields from a body that is one of the `kept` arguments. A rule matches them if it names a field by its
    /// path (`body.limit`), or by its name if none of `all` arguments has that name.
    pub(super) fn change_body(
        &mut self,
        plan: &RequestPlan,
        spec: &ToolSpec,
        all: &[Field],
        kept: &[Field],
    ) -> Option<BodyChange> {
        let Some(Body { source: BodySource::Argument(body), .. }) = &plan.body else { return None };
        let body_field = kept.iter().find(|field| field.name == *body)?;
        let is_for = |argument: &str, name: &str| {
            let is_argument = || all.iter().any(|field| names(field).any(|name| glob(argument, name)));
            glob(argument, &format!("{body}.{name}")) || (glob(argument, name) && !is_argument())
        };
        let Some((shape, rules)) = object_of(&body_field.shape, spec) else {
            let mut inner = Vec::new();
            fields_within(&body_field.shape, spec, MAX_DEPTH, &mut inner);
            for field in &inner {
                if let Some(rule) = self.matching_rule(field, is_for) {
                    self.reject(field, body, rule.value.is_some(), "which is not a plain object");
                }
            }
            return None;
        };
        let mut sorted = SortedFields::default();
        for field in &rules.fields {
            let rule = self.matching_rule(field, is_for);
            self.sort(field, rule, spec, &mut sorted);
        }
        let SortedFields { kept, removed } = sorted;
        let is_in_relation = |field: &&(Field, _)| {
            rules.relations.iter().any(|relation| relation.fields.contains(&field.0.name))
        };
        if let Some((field, json)) = removed.iter().find(is_in_relation) {
            self.reject(field, body, json.is_some(), "whose rules between fields name it");
        }
        let count = removed.iter().filter(|(_, json)| json.is_some()).count();
        let is_fixed = count > 0;
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        let is_open = rules.extra != Extra::Closed || !rules.patterns.is_empty();
        let required =
            is_fixed && kept.iter().any(|field| field.required && field.access != Access::ReadOnly);
        let has_fields = is_open || kept.iter().any(|field| field.access != Access::ReadOnly);
        let remaining = ObjectRules {
            fields: kept.into(),
            min_properties: rules.min_properties.map(|min| min.saturating_sub(count)),
            max_properties: rules.max_properties.map(|max| max.saturating_sub(count)),
            ..rules.clone()
        };
        let mut shape =
            Shape { kind: Kind::Object(remaining), nullable: shape.nullable && !is_fixed, ..shape };
        let contains_removed = |value: &Value| removed.iter().any(|(field, _)| contains(value, field));
        shape.default = shape.default.filter(|default| !contains_removed(&default.to_json()));
        shape.examples =
            shape.examples.iter().filter(|example| !contains_removed(&example.to_json())).cloned().collect();
        let shape = (has_fields || !is_fixed).then_some(shape);
        (!removed.is_empty()).then(|| BodyChange { body: body.clone(), shape, required, removed, is_open })
    }

    fn reject(&mut self, field: &Field, body: &str, is_fixed: bool, reason: &str) {
        let verb = if is_fixed { "fixed" } else { "omitted" };
        self.problems.push((
            format!("`{}` is a field of the body, `{body}`, {reason}, so it cannot be {verb}", field.name),
            "exclude the operation, or limit the rule: `--fix 'OPERATION NAME=VALUE'`",
        ));
    }
}

impl BodyChange {
    /// Changes the arguments, and what is derived from them, so that each body contains the fixed values.
    pub(super) fn apply(
        &self,
        kept: &mut Vec<Field>,
        removed: &mut Vec<(Field, Option<Text>)>,
        derived: &mut Vec<(Text, Template)>,
    ) {
        let mut members: Vec<(Text, Option<Text>)> = Vec::new();
        let is_old = |(name, template): &mut (Text, Template)| {
            *name == self.body && matches!(template, Template::With(..))
        };
        for (_, old) in derived.extract_if(.., is_old) {
            if let Template::With(_, old) = old {
                members.extend(old.iter().cloned());
            }
        }
        let added = self.removed.iter().filter(|(_, json)| self.is_open || json.is_some());
        members.extend(added.map(|(field, json)| (field.wire_name().to_owned().into(), json.clone())));
        let Some(shape) = &self.shape else {
            let constant = |(name, json): &(Text, Option<Text>)| {
                Some((name.to_string(), serde_json::from_str(json.as_ref()?).ok()?))
            };
            let constants: Map<String, Value> = members.iter().filter_map(constant).collect();
            let constants: Text = Value::Object(constants).to_string().into();
            let replaced: Vec<Field> = kept.extract_if(.., |field| field.name == self.body).collect();
            return removed.extend(replaced.into_iter().map(|field| (field, Some(constants.clone()))));
        };
        for field in kept.iter_mut().filter(|field| field.name == self.body) {
            field.shape = shape.clone();
            field.required |= self.required;
        }
        if !members.is_empty() {
            let reference =
                Reference { root: Root::Argument(self.body.clone()), path: List::EMPTY, optional: true };
            derived.push((self.body.clone(), Template::With(reference, members.into())));
        }
    }

    /// Removes the fields from an example of the body.
    pub(super) fn remove_from(&self, body: &mut Value) {
        let Value::Object(members) = body else { return };
        members.retain(|key, _| self.removed.iter().all(|(field, _)| names(field).all(|name| name != key)));
    }
}

fn contains(value: &Value, field: &Field) -> bool {
    names(field).any(|name| value.get(name).is_some())
}

/// Returns the object that a shape is or refers to, with its rules.
fn object_of<'s>(shape: &'s Shape, spec: &'s ToolSpec) -> Option<(Shape, &'s ObjectRules)> {
    let (mut target, mut nullable) = (shape, shape.nullable);
    for _ in 0..MAX_DEPTH {
        let Kind::Ref(name) = &target.kind else { break };
        target = find_def(&spec.defs, name)?;
        nullable |= target.nullable;
    }
    let Kind::Object(rules) = &target.kind else { return None };
    let mut object = Shape { nullable, ..target.clone() };
    if !shape.description.is_empty() {
        object.description = shape.description.clone();
    }
    Some((object, rules))
}

/// Collects the fields of a body that a call may set, in any of its variants.
fn fields_within(shape: &Shape, spec: &ToolSpec, depth: usize, fields: &mut Vec<Field>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match &shape.kind {
        Kind::Object(rules) => {
            let settable = rules.fields.iter().filter(|field| field.access != Access::ReadOnly);
            let is_new = |field: &&Field| fields.iter().all(|existing| existing.name != field.name);
            let new: Vec<Field> = settable.filter(is_new).cloned().collect();
            fields.extend(new);
        }
        Kind::Union(union) => {
            union.variants.iter().for_each(|variant| fields_within(variant, spec, depth, fields));
        }
        Kind::All(parts) => parts.iter().for_each(|part| fields_within(part, spec, depth, fields)),
        Kind::Ref(name) => {
            if let Some(shape) = find_def(&spec.defs, name) {
                fields_within(shape, spec, depth, fields);
            }
        }
        _ => {}
    }
}
