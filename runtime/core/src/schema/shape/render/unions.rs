//! Renders unions.

use serde_json::{Value, json};

use super::Renderer;
use super::node::Node;
use crate::base::frozen::List;
use crate::schema::shape::codec::MemberKind;
use crate::schema::shape::{
    Def, Discriminator, Field, Kind, Literal, ObjectRules, Shape, UnionMode, UnionRules, disjoint, find_def,
    prose,
};

impl Renderer<'_> {
    pub(super) fn render_union(&mut self, rules: &UnionRules, node: &mut Node) {
        if rules.variants.is_empty() {
            return self.render_never(node);
        }
        if let Some((values, notes)) = self.fold_constants(&rules.variants) {
            let shape = Shape::of(Kind::Enum(values));
            if let Value::Object(map) = self.render_node(&shape, false) {
                node.map = map;
            }
            node.notes.extend(notes);
            return;
        }
        let keyword = match rules.mode {
            UnionMode::One if self.dialect.accepts("oneOf") && !overlaps(rules, self.defs) => "oneOf",
            // A value that matches two variants is accepted, which `oneOf` would forbid. If the variants are
            // disjoint, `anyOf` is equivalent.
            UnionMode::One | UnionMode::Any => "anyOf",
        };
        let is_impossible =
            |shape: &Shape| shape.kind == Kind::Never && !shape.nullable && !self.dialect.accepts("not");
        let possible: Vec<Shape> =
            rules.variants.iter().filter(|variant| !is_impossible(variant)).cloned().collect();
        if possible.is_empty() {
            return self.render_never(node);
        }
        let variants = self.render_list(keyword, &possible);
        // A nested union is flattened if the dialect has only `anyOf` and nothing is next to it.
        let mut flattened: Vec<Value> = Vec::new();
        for variant in variants {
            match variant {
                Value::Object(mut inner) if self.dialect.any_of_alone && inner.contains_key("anyOf") => {
                    if let Some(Value::Array(inner)) = inner.shift_remove("anyOf") {
                        flattened.extend(inner);
                    }
                }
                other => flattened.push(other),
            }
        }
        if let Some(discriminator) = &rules.discriminator {
            self.add_tags(discriminator, &rules.variants, &mut flattened);
            self.describe_discriminator(discriminator, &rules.variants, node);
        }
        node.map.insert(keyword.into(), flattened.into());
    }

    /// Adds to each reference the values of the property that select it, as decoding requires: otherwise the schema
    /// would allow more. Only if rules may be next to a reference.
    fn add_tags(&self, discriminator: &Discriminator, variants: &List<Shape>, rendered: &mut [Value]) {
        if self.dialect.ref_alone || !self.dialect.accepts("const") || rendered.len() != variants.len() {
            return;
        }
        let names = variants.iter().map(referenced_name);
        for (name, value) in names.zip(rendered).filter_map(|(name, value)| Some((name?, value))) {
            let Some(target) = find_def(self.defs, name) else { continue };
            let Some(map) = value.as_object_mut().filter(|map| map.contains_key("$ref")) else { continue };
            let is_default = discriminator.default_variant.as_ref().is_some_and(|default| default == name);
            if is_default || lists_tags(target, discriminator, Some(name)) {
                continue;
            }
            let Some(property) = self.visible_key(target, &discriminator.property) else { continue };
            let tags: Vec<&str> = mapped_tags(discriminator, name).collect();
            let allowed = match tags.as_slice() {
                [] => json!({ "const": name }),
                [tag] => json!({ "const": tag }),
                tags => json!({ "enum": tags }),
            };
            map.insert("properties".into(), json!({ property.as_str(): allowed }));
            map.insert("required".into(), json!([property]));
        }
    }

    /// Returns the key of a property as the model sees it; `None` if it is neither a field nor a valid key of the
    /// dialect.
    fn visible_key(&self, shape: &Shape, property: &str) -> Option<String> {
        if let Kind::Object(rules) = &shape.kind {
            let is_property = |kind: &MemberKind<'_>| matches!(kind, MemberKind::Field(field) if field.wire_name() == property);
            let members = self.codec.members(rules);
            if let Some(member) = members.into_iter().find(|member| is_property(&member.kind)) {
                return Some(member.key.into_owned());
            }
        }
        self.dialect.keys.accepts(property).then(|| property.to_owned())
    }

    /// Merges variants that are single values with descriptions (documented enumerations) into one list of values, if
    /// the dialect does not accept or enforce the long form.
    fn fold_constants(&mut self, variants: &List<Shape>) -> Option<(List<Literal>, Vec<String>)> {
        if self.dialect.accepts("oneOf") {
            return None;
        }
        let mut values = Vec::new();
        let mut notes = Vec::new();
        for variant in variants {
            let Kind::Enum(listed) = &variant.kind else { return None };
            if variant.nullable {
                return None;
            }
            values.extend(listed.iter().cloned());
            if !variant.description.is_empty() {
                let displayed: Vec<String> = listed.iter().map(prose::value).collect();
                notes.push(format!("{}: {}", displayed.join(" or "), variant.description));
            }
        }
        Some((values.into(), notes))
    }

    /// Describes the discriminator, a keyword of OpenAPI only, unless the variants already express it.
    fn describe_discriminator(
        &mut self,
        discriminator: &Discriminator,
        variants: &List<Shape>,
        node: &mut Node,
    ) {
        let property = discriminator.property.as_str();
        let names: Vec<(&str, &Shape)> = variants
            .iter()
            .filter_map(referenced_name)
            .filter_map(|name| Some((name, find_def(self.defs, name)?)))
            .collect();
        if names.len() == variants.len()
            && names.iter().all(|(name, shape)| lists_tags(shape, discriminator, Some(name)))
        {
            return;
        }
        let mut notes = Vec::new();
        for (name, _) in &names {
            let mut values = mapped_tags(discriminator, name);
            match (values.next(), &discriminator.default_variant) {
                (None, Some(default)) if default == *name => {}
                (value, _) => notes.push(format!("{:?} for {name}", value.unwrap_or(name))),
            }
        }
        if let Some(name) = &discriminator.default_variant {
            notes.push(format!("anything else for {name}"));
        }
        self.record_loss("discriminator", true, "the keyword is not part of JSON Schema");
        node.notes.push(match notes.as_slice() {
            [] => format!("`{property}` selects the variant"),
            _ => format!("`{property}` is {}", notes.join(", ")),
        });
    }
}

/// Whether the variants of a `oneOf` are not provably disjoint, and no property distinguishes them. A value that
/// matches several of them is accepted, so the union is rendered as `anyOf`.
#[must_use]
pub fn overlaps(rules: &UnionRules, defs: &List<Def>) -> bool {
    let has_tags = |discriminator: &Discriminator| {
        rules
            .variants
            .iter()
            .all(|variant| referenced_name(variant).is_some() || lists_tags(variant, discriminator, None))
    };
    let is_tagged = rules.discriminator.as_ref().is_some_and(has_tags);
    rules.mode == UnionMode::One && !is_tagged && !disjoint::pairwise_disjoint(&rules.variants, defs)
}

/// Returns the name of the shape that a variant references.
fn referenced_name(variant: &Shape) -> Option<&str> {
    match &variant.kind {
        Kind::Ref(name) => Some(name.as_str()),
        _ => None,
    }
}

/// Returns the values of a discriminator that select the shape with this name.
fn mapped_tags<'d>(discriminator: &'d Discriminator, name: &'d str) -> impl Iterator<Item = &'d str> {
    discriminator.mapping.iter().filter(move |(_, target)| target == name).map(|(tag, _)| tag.as_str())
}

/// Whether an object lists the values of the discriminating property that select it. An inherited list that contains
/// the values of all other variants does not count.
fn lists_tags(shape: &Shape, discriminator: &Discriminator, name: Option<&str>) -> bool {
    let tags: Vec<&str> = name.into_iter().flat_map(|name| mapped_tags(discriminator, name)).collect();
    let is_tag =
        |value: &Literal| matches!(value, Literal::String(text) if tags.iter().any(|tag| text == tag));
    let lists_only_tags = |field: &Field| match &field.shape.kind {
        Kind::Enum(values) => tags.is_empty() || values.iter().all(is_tag),
        _ => false,
    };
    let is_listed_in = |rules: &ObjectRules| {
        rules.fields.iter().any(|field| field.name == discriminator.property && lists_only_tags(field))
    };
    match &shape.kind {
        Kind::Object(rules) => is_listed_in(rules),
        Kind::All(parts) => {
            parts.iter().any(|part| matches!(&part.kind, Kind::Object(rules) if is_listed_in(rules)))
        }
        _ => false,
    }
}
