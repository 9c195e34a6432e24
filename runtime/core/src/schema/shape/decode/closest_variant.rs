//! Describes the problems of a value that matches no variant of a union: those of the intended variant, or a list of
//! all variants if none is apparent.

use std::borrow::Cow;
use std::cmp::Reverse;

use serde_json::{Map, Value};

use super::check::Checker;
use super::literals::equals;
use super::object_variants::{Form, takes_type};
use super::{ArgumentProblem, ArgumentProblemKind, describe};
use crate::schema::shape::schema::target;
use crate::schema::shape::{Kind, Literal, Shape, UnionRules, listed, pointer};

/// The problems of the value with each variant.
type Tried = Vec<Vec<ArgumentProblem>>;

impl Checker<'_> {
    /// Reports the problems of the variant that was most likely intended, so that a model can correct them.
    pub(super) fn nearest(&mut self, value: &Value, tried: Tried, union: &UnionRules, shape: &Shape) {
        if self.is_full() {
            return;
        }
        let defs = self.defs;
        let all = union.variants.iter().enumerate();
        let open: Vec<usize> =
            all.filter(|(_, variant)| takes_type(value, variant, defs)).map(|(index, _)| index).collect();
        let is_listed = |index: &usize| listed::values(&union.variants[*index], defs).is_some();
        if open.iter().all(is_listed) {
            let kind = if open.is_empty() { ArgumentProblemKind::Type } else { ArgumentProblemKind::Value };
            return self.all_forms(kind, value, union, shape);
        }
        let best = match value {
            Value::Object(given) => {
                let forms = Form::of_objects(union, &open, defs, self.hidden);
                if self.by_tag(given, &forms, &tried) || self.by_key(value, given, &forms, union, shape) {
                    return;
                }
                let rank = |form: &&Form<'_>| {
                    let (right, wrong) = tags(form, given, &forms);
                    (wrong, Reverse(right), form.distance(given), tried[form.variant].len())
                };
                forms.iter().min_by_key(rank).map(|form| form.variant)
            }
            _ => None,
        };
        // A wrong constant indicates that another variant was intended.
        let constant = |index: &usize| (is_listed(index), tried[*index].len());
        let best = best.or_else(|| open.iter().copied().min_by_key(|index| constant(index)));
        if let Some(problems) = best.and_then(|best| tried.into_iter().nth(best)) {
            self.add_all(problems);
        }
    }

    /// Lists all variants of a union, for a value that resembles none of them.
    fn all_forms(&mut self, kind: ArgumentProblemKind, value: &Value, union: &UnionRules, shape: &Shape) {
        let expected = describe::expected(shape, self.defs);
        let mut message = format!("expected {expected}, got {}", describe::describe_value(value));
        message.push_str(&self.advice(|checker| checker.remedy(value, union, shape)));
        self.add(kind, message);
    }

    /// Returns what to send instead of a value that resembles no variant.
    fn remedy(&mut self, value: &Value, union: &UnionRules, shape: &Shape) -> String {
        let texts = self.texts(union);
        if let Value::Object(given) = value {
            let text = given.keys().find(|key| texts.contains(&key.as_str()));
            return text.map_or_else(String::new, |text| {
                format!("; send the string {}", Value::from(text.as_str()))
            });
        }
        let Value::String(given) = value else { return String::new() };
        let every: Vec<usize> = (0..union.variants.len()).collect();
        let forms = Form::of_objects(union, &every, self.defs, self.hidden);
        if forms.iter().any(|form| form.key() == Some(given.as_str())) {
            return format!("; send the object {{{}: …}}", Value::from(given.as_str()));
        }
        if self.is_quoted(given, shape) {
            return describe::QUOTED_JSON_HINT.to_owned();
        }
        match self.suggest(given, texts.iter().copied()) {
            Some(suggestion) => format!("; did you mean {}?", Value::from(suggestion)),
            None => String::new(),
        }
    }

    /// Returns the enumerated strings of all variants.
    fn texts<'s>(&self, union: &'s UnionRules) -> Vec<&'s str>
    where
        Self: 's,
    {
        let defs = self.defs;
        let mut texts = Vec::new();
        for variant in &union.variants {
            if let Kind::Enum(values) = &target(variant, defs).kind {
                texts.extend(values.iter().filter_map(|literal| match literal {
                    Literal::String(text) => Some(text.as_str()),
                    _ => None,
                }));
            }
        }
        texts
    }

    /// Whether a string contains the JSON of a value with the type of a shape.
    pub(super) fn is_quoted(&self, text: &str, shape: &Shape) -> bool {
        match serde_json::from_str::<Value>(text) {
            Ok(Value::Null | Value::String(_)) | Err(_) => false,
            Ok(inner) => takes_type(&inner, shape, self.defs),
        }
    }

    /// Reports that the discriminating property of all variants is missing or has an unknown value, if no other
    /// property distinguishes the variants.
    fn by_tag(&mut self, given: &Map<String, Value>, forms: &[Form<'_>], tried: &Tried) -> bool {
        let [first, others @ ..] = forms else { return false };
        let tells = |name: &&str| {
            let of_first = first.values(name);
            others.iter().all(|form| form.values(name).is_some())
                && others.iter().any(|form| form.values(name) != of_first)
        };
        let Some(name) = first.choices().find(tells) else { return false };
        let tag = forms.iter().find_map(|form| form.lookup(given, name));
        match tag {
            Some(tag) if forms.iter().any(|form| form.lists(name, tag)) => return false,
            Some(_) => {}
            None => {
                let mut location = self.path.clone();
                pointer::push_given(&mut location, name);
                let limit = forms.iter().map(|form| form.count_known_keys(given)).max();
                let nearest: Vec<&Form<'_>> =
                    forms.iter().filter(|form| Some(form.count_known_keys(given)) == limit).collect();
                let is_missing = |problem: &ArgumentProblem| {
                    problem.kind == ArgumentProblemKind::Missing && problem.pointer == location
                };
                if nearest.len() < 2 || !nearest.iter().all(|form| tried[form.variant].iter().any(is_missing))
                {
                    return false;
                }
            }
        }
        let mut values: Vec<Literal> =
            forms.iter().filter_map(|form| form.values(name)).flat_map(Cow::into_owned).collect();
        describe::unique(&mut values);
        self.wrong_tag(name, tag, &values);
        true
    }

    /// Reports that the discriminating property is missing or selects no variant.
    pub(super) fn wrong_tag(&mut self, name: &str, tag: Option<&Value>, values: &[Literal]) {
        self.at(name, |checker| match tag {
            Some(tag) => checker.listed(tag, values, false),
            None => {
                let message = format!("missing: expected {}", describe::listed(values));
                checker.add(ArgumentProblemKind::Missing, message);
            }
        });
    }

    /// Reports that an object has none or several of the keys that each select one variant.
    fn by_key(
        &mut self,
        value: &Value,
        given: &Map<String, Value>,
        forms: &[Form<'_>],
        union: &UnionRules,
        shape: &Shape,
    ) -> bool {
        let keys: Option<Vec<&str>> = forms.iter().map(Form::key).collect();
        let one_of_some =
            |keys: &Vec<&str>| keys.len() > 1 || !keys.is_empty() && !self.texts(union).is_empty();
        let Some(keys) = keys.filter(one_of_some) else { return false };
        let distinct = keys.iter().enumerate().all(|(index, key)| !keys[..index].contains(key));
        let known = |key: &String| forms.iter().any(|form| form.field(key).is_some());
        let named = forms.iter().zip(&keys).filter(|(form, key)| form.lookup(given, key).is_some()).count();
        let closed = forms.iter().all(Form::is_closed);
        match named {
            _ if !distinct => false,
            0 if given.keys().any(known) => false,
            0 if closed && keys.len() == union.variants.len() && !given.is_empty() => {
                given.keys().for_each(|key| self.unknown(key, &keys));
                true
            }
            0 => {
                self.all_forms(ArgumentProblemKind::Value, value, union, shape);
                true
            }
            1 => false,
            _ if closed => {
                let expected = describe::expected(shape, self.defs);
                self.value(format!("expected {expected}, got several of them"));
                true
            }
            _ => false,
        }
    }
}

/// Returns how many properties of an object select this variant, and how many select another.
fn tags(form: &Form<'_>, given: &Map<String, Value>, forms: &[Form<'_>]) -> (usize, usize) {
    let (mut right, mut wrong) = (0, 0);
    for name in form.choices() {
        let Some(tag) = form.lookup(given, name) else { continue };
        let listed = form.lists(name, tag);
        let only = form.values(name).is_some_and(|values| matches!(&*values, [only] if !equals(tag, only)));
        let mut others = forms.iter().filter(|other| other.values(name).is_some());
        if listed && others.any(|other| !other.lists(name, tag)) {
            right += 1;
        } else if !listed && (only || others.any(|other| other.lists(name, tag))) {
            wrong += 1;
        }
    }
    (right, wrong)
}
