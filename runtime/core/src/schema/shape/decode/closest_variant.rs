//! Describes the problems of a value that matches no variant of a union: those of the intended variant, or a list of
//! all variants if none is apparent.

use std::borrow::Cow;
use std::cmp::Reverse;

use serde_json::{Map, Value};

use super::check::Checker;
use super::literals::equals;
use super::object_variants::{ObjectForm, allows_type};
use super::{ArgumentProblem, ArgumentProblemKind, describe};
use crate::schema::shape::schema::target;
use crate::schema::shape::{Kind, Literal, Shape, UnionRules, enum_values, pointer};

/// The problems of the value with each variant.
type VariantProblems = Vec<Vec<ArgumentProblem>>;

impl Checker<'_> {
    /// Reports the problems of the variant that was most likely intended, so that a model can correct them.
    pub(super) fn report_closest_variant(
        &mut self,
        value: &Value,
        problems: VariantProblems,
        union: &UnionRules,
        shape: &Shape,
    ) {
        if self.is_full() {
            return;
        }
        let defs = self.defs;
        let indexed = union.variants.iter().enumerate();
        let candidates: Vec<usize> = indexed
            .filter(|(_, variant)| allows_type(value, variant, defs))
            .map(|(index, _)| index)
            .collect();
        let is_listed = |index: &usize| enum_values::distinct_values(&union.variants[*index], defs).is_some();
        if candidates.iter().all(is_listed) {
            let kind =
                if candidates.is_empty() { ArgumentProblemKind::Type } else { ArgumentProblemKind::Value };
            return self.report_all_variants(kind, value, union, shape);
        }
        let best = match value {
            Value::Object(object) => {
                let forms = ObjectForm::of_objects(union, &candidates, defs, self.hidden);
                if self.report_by_tag(object, &forms, &problems)
                    || self.report_by_key(value, object, &forms, union, shape)
                {
                    return;
                }
                let rank = |form: &&ObjectForm<'_>| {
                    let (matching, mismatching) = count_tags(form, object, &forms);
                    (mismatching, Reverse(matching), form.distance(object), problems[form.variant].len())
                };
                forms.iter().min_by_key(rank).map(|form| form.variant)
            }
            _ => None,
        };
        // A wrong constant indicates that another variant was intended.
        let rank_by_constant = |index: &usize| (is_listed(index), problems[*index].len());
        let best = best.or_else(|| candidates.iter().copied().min_by_key(|index| rank_by_constant(index)));
        if let Some(problems) = best.and_then(|best| problems.into_iter().nth(best)) {
            self.add_all(problems);
        }
    }

    /// Lists all variants of a union, for a value that resembles none of them.
    fn report_all_variants(
        &mut self,
        kind: ArgumentProblemKind,
        value: &Value,
        union: &UnionRules,
        shape: &Shape,
    ) {
        let expected = describe::expected(shape, self.defs);
        let mut message = format!("expected {expected}, got {}", describe::describe_value(value));
        message.push_str(&self.advice(|checker| checker.replacement_help(value, union, shape)));
        self.add(kind, message);
    }

    /// Returns what to send instead of a value that resembles no variant.
    fn replacement_help(&mut self, value: &Value, union: &UnionRules, shape: &Shape) -> String {
        let strings = self.enumerated_strings(union);
        if let Value::Object(object) = value {
            let text = object.keys().find(|key| strings.contains(&key.as_str()));
            return text.map_or_else(String::new, |text| {
                format!("; send the string {}", Value::from(text.as_str()))
            });
        }
        let Value::String(text) = value else { return String::new() };
        let all_indices: Vec<usize> = (0..union.variants.len()).collect();
        let forms = ObjectForm::of_objects(union, &all_indices, self.defs, self.hidden);
        if forms.iter().any(|form| form.key() == Some(text.as_str())) {
            return format!("; send the object {{{}: …}}", Value::from(text.as_str()));
        }
        if self.is_quoted(text, shape) {
            return describe::QUOTED_JSON_HINT.to_owned();
        }
        match self.suggest(text, strings.iter().copied()) {
            Some(suggestion) => format!("; did you mean {}?", Value::from(suggestion)),
            None => String::new(),
        }
    }

    /// Returns the enumerated strings of all variants.
    fn enumerated_strings<'s>(&self, union: &'s UnionRules) -> Vec<&'s str>
    where
        Self: 's,
    {
        let defs = self.defs;
        let mut strings = Vec::new();
        for variant in &union.variants {
            if let Kind::Enum(values) = &target(variant, defs).kind {
                strings.extend(values.iter().filter_map(|literal| match literal {
                    Literal::String(text) => Some(text.as_str()),
                    _ => None,
                }));
            }
        }
        strings
    }

    /// Whether a string contains the JSON of a value with the type of a shape.
    pub(super) fn is_quoted(&self, text: &str, shape: &Shape) -> bool {
        match serde_json::from_str::<Value>(text) {
            Ok(Value::Null | Value::String(_)) | Err(_) => false,
            Ok(inner) => allows_type(&inner, shape, self.defs),
        }
    }

    /// Reports that the discriminating property of all variants is missing or has an unknown value, if no other
    /// property distinguishes the variants.
    fn report_by_tag(
        &mut self,
        object: &Map<String, Value>,
        forms: &[ObjectForm<'_>],
        problems: &VariantProblems,
    ) -> bool {
        let [first, others @ ..] = forms else { return false };
        let distinguishes = |name: &&str| {
            let first_values = first.values(name);
            others.iter().all(|form| form.values(name).is_some())
                && others.iter().any(|form| form.values(name) != first_values)
        };
        let Some(name) = first.choices().find(distinguishes) else { return false };
        let tag = forms.iter().find_map(|form| form.lookup(object, name));
        match tag {
            Some(tag) if forms.iter().any(|form| form.lists(name, tag)) => return false,
            Some(_) => {}
            None => {
                let mut location = self.path.clone();
                pointer::push_truncated(&mut location, name);
                let limit = forms.iter().map(|form| form.count_known_keys(object)).max();
                let closest: Vec<&ObjectForm<'_>> =
                    forms.iter().filter(|form| Some(form.count_known_keys(object)) == limit).collect();
                let is_missing = |problem: &ArgumentProblem| {
                    problem.kind == ArgumentProblemKind::Missing && problem.pointer == location
                };
                if closest.len() < 2
                    || !closest.iter().all(|form| problems[form.variant].iter().any(is_missing))
                {
                    return false;
                }
            }
        }
        let mut values: Vec<Literal> =
            forms.iter().filter_map(|form| form.values(name)).flat_map(Cow::into_owned).collect();
        describe::remove_duplicates(&mut values);
        self.report_wrong_tag(name, tag, &values);
        true
    }

    /// Reports that the discriminating property is missing or selects no variant.
    pub(super) fn report_wrong_tag(&mut self, name: &str, tag: Option<&Value>, values: &[Literal]) {
        self.at(name, |checker| match tag {
            Some(tag) => checker.check_enum(tag, values, false),
            None => {
                let message = format!("missing: expected {}", describe::list_values(values));
                checker.add(ArgumentProblemKind::Missing, message);
            }
        });
    }

    /// Reports that an object has none or several of the keys that each select one variant.
    fn report_by_key(
        &mut self,
        value: &Value,
        object: &Map<String, Value>,
        forms: &[ObjectForm<'_>],
        union: &UnionRules,
        shape: &Shape,
    ) -> bool {
        let keys: Option<Vec<&str>> = forms.iter().map(ObjectForm::key).collect();
        let has_alternatives = |keys: &Vec<&str>| {
            keys.len() > 1 || !keys.is_empty() && !self.enumerated_strings(union).is_empty()
        };
        let Some(keys) = keys.filter(has_alternatives) else { return false };
        let are_distinct = keys.iter().enumerate().all(|(index, key)| !keys[..index].contains(key));
        let is_known = |key: &String| forms.iter().any(|form| form.field(key).is_some());
        let present =
            forms.iter().zip(&keys).filter(|(form, key)| form.lookup(object, key).is_some()).count();
        let all_closed = forms.iter().all(ObjectForm::is_closed);
        match present {
            _ if !are_distinct => false,
            0 if object.keys().any(is_known) => false,
            0 if all_closed && keys.len() == union.variants.len() && !object.is_empty() => {
                object.keys().for_each(|key| self.add_unknown(key, &keys));
                true
            }
            0 => {
                self.report_all_variants(ArgumentProblemKind::Value, value, union, shape);
                true
            }
            1 => false,
            _ if all_closed => {
                let expected = describe::expected(shape, self.defs);
                self.add_value_problem(format!("expected {expected}, got several of them"));
                true
            }
            _ => false,
        }
    }
}

/// Returns how many properties of an object select this variant, and how many select another.
fn count_tags(
    form: &ObjectForm<'_>,
    object: &Map<String, Value>,
    forms: &[ObjectForm<'_>],
) -> (usize, usize) {
    let (mut matching, mut mismatching) = (0, 0);
    for name in form.choices() {
        let Some(tag) = form.lookup(object, name) else { continue };
        let is_allowed = form.lists(name, tag);
        let has_other_constant =
            form.values(name).is_some_and(|values| matches!(&*values, [only] if !equals(tag, only)));
        let mut others = forms.iter().filter(|other| other.values(name).is_some());
        if is_allowed && others.any(|other| !other.lists(name, tag)) {
            matching += 1;
        } else if !is_allowed && (has_other_constant || others.any(|other| other.lists(name, tag))) {
            mismatching += 1;
        }
    }
    (matching, mismatching)
}
