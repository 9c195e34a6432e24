//! Renders the arguments as a whole, which are always an object.

use serde_json::Value;

use super::merge::Merger;
use super::node::{self, Node, type_schema};
use super::unions::overlaps;
use super::{Object, Renderer};
use crate::base::frozen::List;
use crate::schema::shape::codec::{ROOT_KEY, raw_note};
use crate::schema::shape::{
    Extra, Field, Kind, Literal, ObjectRules, Shape, UnionMode, UnionRules, find_def, prose,
};

/// Maximum depth to which references are followed: they may be cyclic.
const MAX_DEPTH: usize = 16;

impl Renderer<'_> {
    pub(super) fn render_root(&mut self, shape: &Shape) -> Value {
        let (resolved, description) = self.resolve_root(shape);
        if !self.dialect.open_objects && self.codec.is_single_argument(&resolved) {
            return self.render_single_argument(&resolved, &description);
        }
        let kind = match &resolved.kind {
            // Any object.
            Kind::Any | Kind::Raw(_) => {
                let object = Shape::of(Kind::Object(ObjectRules::ANY));
                self.render_composed_root(&resolved, Some(&object))
            }
            Kind::Object(rules) => {
                return self.render_object_root(rules, Vec::new(), &resolved, &description);
            }
            Kind::All(parts) => {
                let mut merger = Merger::new(self.defs, self.hidden);
                if let (Some(Shape { kind: Kind::Object(rules), .. }), true) =
                    (merger.merge_all(parts, 0), merger.raw.is_empty())
                {
                    return self.render_object_root(&rules, Vec::new(), &resolved, &description);
                }
                self.render_composed_root(&resolved, None)
            }
            Kind::Union(_) => self.render_composed_root(&resolved, None),
            _ => None,
        };
        match kind {
            Some(value) => value,
            None => {
                let mut notes = Vec::new();
                if let Some(rules) = self.superset(&resolved, &mut notes, 0) {
                    return self.render_object_root(&rules, notes, &resolved, &description);
                }
                self.add_refusal("the arguments of a tool are an object; wrap the value in one");
                type_schema("object")
            }
        }
    }

    fn resolve_root(&self, shape: &Shape) -> (Shape, String) {
        let mut description = shape.description.to_string();
        let mut resolved = shape.clone();
        for _ in 0..MAX_DEPTH {
            let Kind::Ref(name) = &resolved.kind else { break };
            let Some(target) = find_def(self.defs, name) else { break };
            resolved = target.clone();
            if description.is_empty() {
                description = resolved.description.to_string();
            }
        }
        (resolved, description)
    }

    /// Renders unnamed arguments, or a choice between several objects, as a single argument.
    fn render_single_argument(&mut self, shape: &Shape, description: &str) -> Value {
        let field = Field { name: ROOT_KEY.into(), shape: shape.clone(), ..Field::REQUIRED };
        let rules = ObjectRules { fields: vec![field].into(), extra: Extra::Closed, ..ObjectRules::ANY };
        let outer = Shape::of(Kind::Any);
        let description = if shape.description == *description { "" } else { description };
        self.render_object_root(&rules, Vec::new(), &outer, description)
    }

    fn render_object_root(
        &mut self,
        rules: &ObjectRules,
        notes: Vec<String>,
        shape: &Shape,
        description: &str,
    ) -> Value {
        let mut node = Node { notes, ..Node::default() };
        self.render_object(rules, &mut node, true);
        let outer = Shape { description: description.to_owned().into(), ..Shape::of(shape.kind.clone()) };
        self.finish_schema(node, &outer, false)
    }

    /// Renders `type: object` next to the other rules, if the dialect accepts them at the root.
    fn render_composed_root(&mut self, shape: &Shape, any_object: Option<&Shape>) -> Option<Value> {
        if let (Kind::Any, Some(object)) = (&shape.kind, any_object)
            && let Kind::Object(rules) = &object.kind
        {
            return Some(self.render_object_root(rules, Vec::new(), object, &shape.description));
        }
        if !self.dialect.root_composition {
            return None;
        }
        let not_null = Shape { nullable: false, ..shape.clone() };
        let Value::Object(schema) = self.render_node(&not_null, false) else { return None };
        let mut out: Object = [(String::from("type"), Value::from("object"))].into_iter().collect();
        out.extend(schema.into_iter().filter(|(keyword, _)| keyword != "type"));
        Some(Value::Object(out))
    }

    /// Returns one object that accepts everything that the shape accepts, and notes the losses.
    fn superset(&mut self, shape: &Shape, notes: &mut Vec<String>, depth: usize) -> Option<ObjectRules> {
        if depth > MAX_DEPTH {
            return None;
        }
        match &shape.kind {
            Kind::Object(rules) => Some(rules.clone()),
            Kind::Ref(name) => self.superset(find_def(self.defs, name)?, notes, depth + 1),
            Kind::Raw(text) => {
                self.record_loss("schema", true, node::NOT_EXPRESSIBLE);
                notes.push(raw_note(text));
                Some(ObjectRules::ANY)
            }
            Kind::All(parts) => {
                let mut merger = Merger::new(self.defs, self.hidden);
                let merged = merger.merge_all(parts, 0);
                for text in std::mem::take(&mut merger.raw) {
                    self.record_loss("schema", true, node::NOT_EXPRESSIBLE);
                    notes.push(raw_note(&text));
                }
                let merged = merged?;
                // A shape that is still a conjunction or a reference after merging has no single form.
                let has_single_form = matches!(merged.kind, Kind::Object(_) | Kind::Union(_) | Kind::Any);
                if matches!(merged.kind, Kind::Any) {
                    return Some(ObjectRules::ANY);
                }
                has_single_form.then(|| self.superset(&merged, notes, depth + 1))?
            }
            Kind::Union(rules) => self.unite_variants(rules, notes, depth),
            _ => None,
        }
    }

    fn unite_variants(
        &mut self,
        union: &UnionRules,
        notes: &mut Vec<String>,
        depth: usize,
    ) -> Option<ObjectRules> {
        let mut objects = Vec::new();
        for variant in &union.variants {
            objects.push(self.superset(variant, notes, depth + 1)?);
        }
        // If variants overlap, a value may match several, which `oneOf` would reject.
        let is_exclusive = union.mode == UnionMode::One && !overlaps(union, self.defs);
        let keyword = if is_exclusive { "oneOf" } else { "anyOf" };
        self.record_loss(keyword, true, "the dialect takes one plain object as arguments");
        let visible = |rules: &ObjectRules| -> Vec<Field> {
            rules.fields.iter().filter(|field| self.is_visible(field)).cloned().collect()
        };
        let variants: Vec<Vec<Field>> = objects.iter().map(visible).collect();
        let fields = unite(&variants);
        let sets: Vec<String> = variants.iter().map(|variant| required_set(variant, &fields)).collect();
        if sets.iter().any(|set| set != "nothing more") {
            let count = if is_exclusive { "exactly one" } else { "at least one" };
            notes.push(format!("give {count} of these sets of fields: {}", sets.join(", or ")));
        }
        let is_closed = objects.iter().all(|rules| rules.extra == Extra::Closed);
        Some(ObjectRules {
            fields: fields.into(),
            extra: if is_closed { Extra::Closed } else { Extra::Open },
            ..ObjectRules::ANY
        })
    }
}

/// Returns the fields of all variants. A field is required if every variant requires it.
pub(in crate::schema::shape) fn unite(variants: &[Vec<Field>]) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    for field in variants.iter().flatten() {
        if fields.iter().any(|existing| existing.name == field.name) {
            continue;
        }
        let same_named: Vec<&Field> = variants
            .iter()
            .filter_map(|variant| variant.iter().find(|other| other.name == field.name))
            .collect();
        let required = same_named.len() == variants.len() && same_named.iter().all(|other| other.required);
        let mut shapes: Vec<Shape> = Vec::new();
        for other in &same_named {
            if !shapes.contains(&other.shape) {
                shapes.push(other.shape.clone());
            }
        }
        fields.push(Field { required, shape: any_of_shapes(shapes), ..field.clone() });
    }
    fields
}

/// Returns a shape that accepts what any of the shapes accepts.
fn any_of_shapes(shapes: Vec<Shape>) -> Shape {
    let mut values: Vec<Literal> = Vec::new();
    for shape in &shapes {
        match &shape.kind {
            Kind::Enum(listed) => values
                .extend(listed.iter().filter(|value| !values.contains(value)).cloned().collect::<Vec<_>>()),
            _ => values.clear(),
        }
    }
    let nullable = shapes.iter().any(|shape| shape.nullable);
    let description = shapes
        .iter()
        .map(|shape| shape.description.clone())
        .find(|text| !text.is_empty())
        .unwrap_or_default();
    match (shapes.as_slice(), shapes.iter().all(|shape| matches!(shape.kind, Kind::Enum(_)))) {
        ([only], _) => only.clone(),
        (_, true) => Shape { nullable, description, ..Shape::of(Kind::Enum(values.into())) },
        _ => {
            let variants: List<Shape> = shapes.into();
            Shape::of(Kind::Union(UnionRules { mode: UnionMode::Any, variants, discriminator: None }))
        }
    }
}

/// Describes what distinguishes a variant: fields with distinct values, and fields that only it requires.
fn required_set(variant: &[Field], all: &[Field]) -> String {
    let mut names: Vec<String> = Vec::new();
    for field in variant.iter().filter(|field| field.required) {
        let shared = all.iter().find(|other| other.name == field.name);
        match (&field.shape.kind, shared) {
            (Kind::Enum(values), Some(shared)) if values.len() == 1 && shared.shape != field.shape => {
                names.extend(values.iter().map(|value| format!("`{}` {}", field.name, prose::value(value))));
            }
            (_, Some(shared)) if shared.required => {}
            _ => names.push(format!("`{}`", field.name)),
        }
    }
    if names.is_empty() { String::from("nothing more") } else { names.join(" with ") }
}
