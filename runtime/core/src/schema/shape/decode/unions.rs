//! Selects the variant of a union that a value belongs to, and reports its problems.

use serde_json::Value;

use super::ArgumentProblem;
use super::check::Checker;
use super::describe;
use crate::schema::shape::{
    Discriminator, Extra, Kind, Literal, Shape, UnionMode, UnionRules, find_def, listed,
};

/// Maximum depth to which references are followed: they may be cyclic.
const MAX_DEPTH: usize = 16;

/// Maximum number of shapes that a value is compared with per variant: nested unions multiply the work.
const MAX_COMPARED: usize = 5_000;

/// The decision of a discriminator.
enum Choice<'s> {
    /// It selects this variant.
    Variant(&'s Shape),
    /// The property is missing.
    Missing,
    /// The property has an unknown value.
    Wrong,
    /// It does not decide.
    Open,
}

impl Checker<'_> {
    pub(super) fn union(&mut self, value: &Value, union: &UnionRules, shape: &Shape) {
        let choice = union.discriminator.as_ref().map(|by| (self.choose(value, by, union), by));
        match choice {
            Some((Choice::Variant(variant), _)) => return self.check(value, variant),
            Some((Choice::Wrong, by)) => return self.wrong_choice(value, by, union),
            _ => {}
        }
        let tried: Vec<Vec<ArgumentProblem>> =
            union.variants.iter().map(|variant| self.problems_of(value, variant)).collect();
        let fitting = tried.iter().filter(|problems| problems.is_empty()).count();
        let ambiguous = fitting > 1 && union.mode == UnionMode::One && !self.loose_one_of;
        if let Some((Choice::Missing, by)) = choice
            && (fitting == 0 || ambiguous)
        {
            return self.wrong_choice(value, by, union);
        }
        if fitting > 1 && union.mode == UnionMode::One && self.exact {
            return self.value("matches more than one variant, but must match exactly one");
        }
        // A value that matches several variants is valid: in most documents with `oneOf` the variants overlap, and
        // services accept such values.
        if fitting > 0 {
            return;
        }
        self.nearest(value, tried, union, shape);
    }

    /// Returns the variant that a discriminator selects. Also used for valid values.
    pub(super) fn chosen<'s>(&self, value: &Value, union: &'s UnionRules) -> Option<&'s Shape> {
        match self.choose(value, union.discriminator.as_ref()?, union) {
            Choice::Variant(variant) => Some(variant),
            Choice::Missing | Choice::Wrong | Choice::Open => None,
        }
    }

    /// Returns the variant of a valid value: the one that the discriminator selects, or else the matching variant
    /// that has most of its keys, as in generated types. The first one wins.
    pub(super) fn meant_variant<'s>(&mut self, value: &Value, union: &'s UnionRules) -> Option<&'s Shape> {
        if let Some(named) = self.chosen(value, union) {
            return Some(named);
        }
        let fitting = union.variants.iter().filter(|variant| self.problems_of(value, variant).is_empty());
        let fitting: Vec<&Shape> = fitting.collect();
        match fitting.as_slice() {
            [] | [_] => fitting.first().copied(),
            several => several.iter().copied().min_by_key(|variant| {
                let mut remaining = MAX_COMPARED;
                self.strange(value, variant, 0, &mut remaining)
            }),
        }
    }

    /// Counts the keys of a value for which a shape has no field, up to a depth and to the remaining number of
    /// comparisons.
    fn strange(&self, value: &Value, shape: &Shape, depth: usize, remaining: &mut usize) -> usize {
        let Some(less) = remaining.checked_sub(1).filter(|_| depth <= MAX_DEPTH) else { return 0 };
        *remaining = less;
        let mut below = |value: &Value, shape: &Shape| self.strange(value, shape, depth + 1, remaining);
        match (&shape.kind, value) {
            (Kind::Ref(name), _) => find_def(self.defs, name).map_or(0, |target| below(value, target)),
            (Kind::Union(rules), _) => {
                rules.variants.iter().map(|variant| below(value, variant)).min().unwrap_or(0)
            }
            // A key is known if one part has it.
            (Kind::All(parts), _) => parts.iter().map(|part| below(value, part)).min().unwrap_or(0),
            (Kind::Array(rules), Value::Array(items)) => {
                items.iter().map(|item| below(item, &rules.items)).sum()
            }
            (Kind::Object(rules), Value::Object(fields)) => {
                let of = |(key, value): (&String, &Value)| match rules.field(key, self.hidden) {
                    Some(field) => below(value, &field.shape),
                    None => usize::from(rules.patterns.is_empty() && !matches!(rules.extra, Extra::Of(_))),
                };
                fields.iter().map(of).sum()
            }
            _ => 0,
        }
    }

    fn choose<'s>(&self, value: &Value, discriminator: &Discriminator, union: &'s UnionRules) -> Choice<'s> {
        let Value::Object(given) = value else { return Choice::Open };
        let property = discriminator.property.as_str();
        let tags: Vec<Vec<String>> =
            union.variants.iter().map(|variant| self.tags(variant, discriminator)).collect();
        // A variant without known values of the property may always be selected.
        let complete = tags.iter().all(|tags| !tags.is_empty());
        let by_default = discriminator.default_variant.as_ref().and_then(|name| {
            union.variants.iter().find(|variant| matches!(&variant.kind, Kind::Ref(of) if of == name))
        });
        let otherwise = |choice| by_default.map_or(choice, Choice::Variant);
        let Some(tag) = union.variants.iter().find_map(|variant| self.tag(given, variant, property, 0))
        else {
            // Without the property, variants that do not require it may match.
            return otherwise(if complete { Choice::Missing } else { Choice::Open });
        };
        let Value::String(tag) = tag else {
            return otherwise(if complete { Choice::Wrong } else { Choice::Open });
        };
        let mut fitting = union.variants.iter().zip(&tags).filter(|(_, tags)| tags.contains(tag));
        match (fitting.next(), fitting.next()) {
            (Some((variant, _)), None) => Choice::Variant(variant),
            (None, _) if complete => otherwise(Choice::Wrong),
            (None, _) => otherwise(Choice::Open),
            _ => Choice::Open,
        }
    }

    /// Returns the value of the discriminating property, under any of its names in the variant.
    fn tag<'v>(
        &self,
        given: &'v serde_json::Map<String, Value>,
        variant: &Shape,
        property: &str,
        depth: usize,
    ) -> Option<&'v Value> {
        if let Some(value) = given.get(property) {
            return Some(value);
        }
        match &variant.kind {
            Kind::Object(rules) => {
                let field = rules.field(property, self.hidden)?;
                given
                    .iter()
                    .find(|(key, _)| {
                        rules.field(key, self.hidden).is_some_and(|known| known.name == field.name)
                    })
                    .map(|(_, value)| value)
            }
            Kind::Ref(name) if depth < MAX_DEPTH => {
                self.tag(given, find_def(self.defs, name)?, property, depth + 1)
            }
            Kind::All(parts) if depth < MAX_DEPTH => {
                parts.iter().find_map(|part| self.tag(given, part, property, depth + 1))
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
            tags = self.listed_tags(variant, &discriminator.property, 0);
        }
        if tags.is_empty() {
            tags.extend(name.map(|name| name.to_string()));
        }
        tags
    }

    fn listed_tags(&self, variant: &Shape, property: &str, depth: usize) -> Vec<String> {
        match &variant.kind {
            Kind::Object(rules) => {
                let field = rules.field(property, self.hidden);
                match field.and_then(|field| listed::values(&field.shape, self.defs)) {
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
                .map_or_else(Vec::new, |target| self.listed_tags(target, property, depth + 1)),
            Kind::All(parts) if depth < MAX_DEPTH => {
                parts.iter().flat_map(|part| self.listed_tags(part, property, depth + 1)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn wrong_choice(&mut self, value: &Value, discriminator: &Discriminator, union: &UnionRules) {
        if self.is_full() {
            return;
        }
        let mut tags: Vec<String> = Vec::new();
        for variant in &union.variants {
            tags.extend(self.tags(variant, discriminator));
        }
        let mut literals: Vec<Literal> = tags.into_iter().map(|tag| Literal::String(tag.into())).collect();
        describe::unique(&mut literals);
        let property = discriminator.property.as_str();
        self.wrong_tag(property, value.get(property), &literals);
    }
}
