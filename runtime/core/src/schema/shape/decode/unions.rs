//! Selects the variant of a union that a value belongs to, and reports its problems.

use serde_json::Value;

use super::ArgumentProblem;
use super::check::Checker;
use super::describe;
use crate::schema::shape::{
    Discriminator, Extra, Kind, Literal, Shape, UnionMode, UnionRules, enum_values, find_def,
};

/// Maximum depth to which references are followed: they may be cyclic.
const MAX_DEPTH: usize = 16;

/// Maximum number of shapes that a value is compared with per variant: nested unions multiply the work.
const MAX_COMPARISONS: usize = 5_000;

/// The decision of a discriminator.
enum Choice<'s> {
    /// The discriminator selects this variant.
    Variant(&'s Shape),
    /// The property is missing.
    Missing,
    /// The property has an unknown value.
    Unknown,
    /// The discriminator does not decide.
    Undecided,
}

impl Checker<'_> {
    pub(super) fn check_union(&mut self, value: &Value, union: &UnionRules, shape: &Shape) {
        let choice = union
            .discriminator
            .as_ref()
            .map(|discriminator| (self.resolve_discriminator(value, discriminator, union), discriminator));
        match choice {
            Some((Choice::Variant(variant), _)) => return self.check(value, variant),
            Some((Choice::Unknown, discriminator)) => {
                return self.report_wrong_choice(value, discriminator, union);
            }
            _ => {}
        }
        let problems: Vec<Vec<ArgumentProblem>> =
            union.variants.iter().map(|variant| self.problems_of(value, variant)).collect();
        let match_count = problems.iter().filter(|problems| problems.is_empty()).count();
        let is_ambiguous = match_count > 1 && union.mode == UnionMode::One && !self.lenient_one_of;
        if let Some((Choice::Missing, discriminator)) = choice
            && (match_count == 0 || is_ambiguous)
        {
            return self.report_wrong_choice(value, discriminator, union);
        }
        if match_count > 1 && union.mode == UnionMode::One && self.is_exact {
            return self.add_value_problem("matches more than one variant, but must match exactly one");
        }
        // A value that matches several variants is valid: in most documents with `oneOf` the variants overlap, and
        // services accept such values.
        if match_count > 0 {
            return;
        }
        self.report_closest_variant(value, problems, union, shape);
    }

    /// Returns the variant that a discriminator selects. Also used for valid values.
    pub(super) fn variant_by_tag<'s>(&self, value: &Value, union: &'s UnionRules) -> Option<&'s Shape> {
        match self.resolve_discriminator(value, union.discriminator.as_ref()?, union) {
            Choice::Variant(variant) => Some(variant),
            Choice::Missing | Choice::Unknown | Choice::Undecided => None,
        }
    }

    /// Returns the variant of a valid value: the one that the discriminator selects, or else the matching variant
    /// that has most of its keys, as in generated types. The first one wins.
    pub(super) fn intended_variant<'s>(&mut self, value: &Value, union: &'s UnionRules) -> Option<&'s Shape> {
        if let Some(named) = self.variant_by_tag(value, union) {
            return Some(named);
        }
        let matching = union.variants.iter().filter(|variant| self.problems_of(value, variant).is_empty());
        let matching: Vec<&Shape> = matching.collect();
        match matching.as_slice() {
            [] | [_] => matching.first().copied(),
            variants => variants.iter().copied().min_by_key(|variant| {
                let mut remaining = MAX_COMPARISONS;
                self.count_unknown_keys(value, variant, 0, &mut remaining)
            }),
        }
    }

    /// Counts the keys of a value for which a shape has no field, up to a depth and to the remaining number of
    /// comparisons.
    fn count_unknown_keys(&self, value: &Value, shape: &Shape, depth: usize, remaining: &mut usize) -> usize {
        let Some(budget) = remaining.checked_sub(1).filter(|_| depth <= MAX_DEPTH) else { return 0 };
        *remaining = budget;
        let mut recurse =
            |value: &Value, shape: &Shape| self.count_unknown_keys(value, shape, depth + 1, remaining);
        match (&shape.kind, value) {
            (Kind::Ref(name), _) => find_def(self.defs, name).map_or(0, |target| recurse(value, target)),
            (Kind::Union(rules), _) => {
                rules.variants.iter().map(|variant| recurse(value, variant)).min().unwrap_or(0)
            }
            // A key is known if one part has it.
            (Kind::All(parts), _) => parts.iter().map(|part| recurse(value, part)).min().unwrap_or(0),
            (Kind::Array(rules), Value::Array(items)) => {
                items.iter().map(|item| recurse(item, &rules.items)).sum()
            }
            (Kind::Object(rules), Value::Object(fields)) => {
                let count_key = |(key, value): (&String, &Value)| match rules.field(key, self.hidden) {
                    Some(field) => recurse(value, &field.shape),
                    None => usize::from(rules.patterns.is_empty() && !matches!(rules.extra, Extra::Of(_))),
                };
                fields.iter().map(count_key).sum()
            }
            _ => 0,
        }
    }

    fn resolve_discriminator<'s>(
        &self,
        value: &Value,
        discriminator: &Discriminator,
        union: &'s UnionRules,
    ) -> Choice<'s> {
        let Value::Object(object) = value else { return Choice::Undecided };
        let property = discriminator.property.as_str();
        let tags: Vec<Vec<String>> =
            union.variants.iter().map(|variant| self.tags(variant, discriminator)).collect();
        // A variant without known values of the property may always be selected.
        let all_have_tags = tags.iter().all(|tags| !tags.is_empty());
        let default_variant = discriminator.default_variant.as_ref().and_then(|name| {
            union.variants.iter().find(|variant| matches!(&variant.kind, Kind::Ref(target) if target == name))
        });
        let or_default = |choice| default_variant.map_or(choice, Choice::Variant);
        let Some(tag) = union.variants.iter().find_map(|variant| self.tag(object, variant, property, 0))
        else {
            // Without the property, variants that do not require it may match.
            return or_default(if all_have_tags { Choice::Missing } else { Choice::Undecided });
        };
        let Value::String(tag) = tag else {
            return or_default(if all_have_tags { Choice::Unknown } else { Choice::Undecided });
        };
        let mut matching = union.variants.iter().zip(&tags).filter(|(_, tags)| tags.contains(tag));
        match (matching.next(), matching.next()) {
            (Some((variant, _)), None) => Choice::Variant(variant),
            (None, _) if all_have_tags => or_default(Choice::Unknown),
            (None, _) => or_default(Choice::Undecided),
            _ => Choice::Undecided,
        }
    }

    /// Returns the value of the discriminating property, under any of its names in the variant.
    fn tag<'v>(
        &self,
        object: &'v serde_json::Map<String, Value>,
        variant: &Shape,
        property: &str,
        depth: usize,
    ) -> Option<&'v Value> {
        if let Some(value) = object.get(property) {
            return Some(value);
        }
        match &variant.kind {
            Kind::Object(rules) => {
                let field = rules.field(property, self.hidden)?;
                object
                    .iter()
                    .find(|(key, _)| {
                        rules.field(key, self.hidden).is_some_and(|other| other.name == field.name)
                    })
                    .map(|(_, value)| value)
            }
            Kind::Ref(name) if depth < MAX_DEPTH => {
                self.tag(object, find_def(self.defs, name)?, property, depth + 1)
            }
            Kind::All(parts) if depth < MAX_DEPTH => {
                parts.iter().find_map(|part| self.tag(object, part, property, depth + 1))
            }
            _ => None,
        }
    }

    /// Returns the property's values for this variant: from the mapping, from the variant's own enumeration, or its
    /// name.
    fn tags(&self, variant: &Shape, discriminator: &Discriminator) -> Vec<String> {
        let name = match &variant.kind {
            Kind::Ref(name) => Some(name),
            _ => None,
        };
        let mut tags: Vec<String> = discriminator
            .mapping
            .iter()
            .filter(|(_, target)| Some(target) == name)
            .map(|(value, _)| value.to_string())
            .collect();
        if tags.is_empty() {
            tags = self.enumerated_tags(variant, &discriminator.property, 0);
        }
        if tags.is_empty() {
            tags.extend(name.map(|name| name.to_string()));
        }
        tags
    }

    fn enumerated_tags(&self, variant: &Shape, property: &str, depth: usize) -> Vec<String> {
        match &variant.kind {
            Kind::Object(rules) => {
                let field = rules.field(property, self.hidden);
                match field.and_then(|field| enum_values::distinct_values(&field.shape, self.defs)) {
                    Some(values) => values
                        .iter()
                        .filter_map(|value| match value {
                            Literal::String(text) => Some(text.to_string()),
                            _ => None,
                        })
                        .collect(),
                    None => Vec::new(),
                }
            }
            Kind::Ref(name) if depth < MAX_DEPTH => find_def(self.defs, name)
                .map_or_else(Vec::new, |target| self.enumerated_tags(target, property, depth + 1)),
            Kind::All(parts) if depth < MAX_DEPTH => {
                parts.iter().flat_map(|part| self.enumerated_tags(part, property, depth + 1)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn report_wrong_choice(&mut self, value: &Value, discriminator: &Discriminator, union: &UnionRules) {
        if self.is_full() {
            return;
        }
        let mut tags: Vec<String> = Vec::new();
        for variant in &union.variants {
            tags.extend(self.tags(variant, discriminator));
        }
        let mut literals: Vec<Literal> = tags.into_iter().map(|tag| Literal::String(tag.into())).collect();
        describe::remove_duplicates(&mut literals);
        let property = discriminator.property.as_str();
        self.report_wrong_tag(property, value.get(property), &literals);
    }
}
