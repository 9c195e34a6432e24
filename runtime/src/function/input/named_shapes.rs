//! The specification of a tool with its named shapes, under the names a model sees.

use std::collections::{BTreeMap, BTreeSet};

use super::Defs;
use crate::base::frozen::{List, Text};
use crate::schema::shape::{
    ArrayRules, Def, Discriminator, Extra, Field, Kind, Literal, ObjectRules, PatternField, Schema, Shape,
    TupleRules, UnionRules,
};
use crate::spec::ToolSpec;

impl Defs {
    /// Returns the name a model sees for each type.
    fn short_names(&self) -> Names {
        let last = |name: &Text| name.rsplit("::").next().unwrap_or(name).to_owned();
        let mut seen = BTreeSet::new();
        let shared: BTreeSet<String> =
            self.found.keys().map(last).filter(|name| !seen.insert(name.clone())).collect();
        let names = self.found.keys().map(|name| {
            let short = last(name);
            let text = if shared.contains(&short) { name.replace("::", "_") } else { short };
            (name.clone(), Text::from(text))
        });
        names.collect()
    }
}

/// Returns the specification with its named shapes.
pub(crate) fn with_named_shapes(spec: &ToolSpec, defs: &Defs) -> ToolSpec {
    let names = defs.short_names();
    let mut list: Vec<Def> = defs
        .found
        .iter()
        .map(|(name, shape)| Def { name: names[name].clone(), schema: Schema::from(renamed(shape, &names)) })
        .collect();
    list.sort_by(|a, b| a.name.cmp(&b.name));
    let mut linked = spec.clone();
    let mut input = renamed(&spec.input, &names);
    if let Kind::Object(rules) = &mut input.kind {
        let with_default = |field: &Field| match defs.defaults.iter().find(|(name, _)| field.name == *name) {
            Some((_, value)) => {
                let shape = Shape { default: Some(Literal::of(value)), ..field.shape.clone() };
                Field { shape, ..field.clone() }
            }
            None => field.clone(),
        };
        rules.fields = rules.fields.iter().map(with_default).collect();
    }
    linked.input = Schema::from(input);
    linked.output = spec.output.as_ref().map(|output| Schema::from(renamed(output, &names)));
    linked.defs = list.into();
    linked
}

type Names = BTreeMap<Text, Text>;

pub(super) fn renamed(shape: &Shape, names: &Names) -> Shape {
    Shape { kind: renamed_kind(&shape.kind, names), ..shape.clone() }
}

fn all(shapes: &List<Shape>, names: &Names) -> List<Shape> {
    shapes.iter().map(|shape| renamed(shape, names)).collect()
}

fn extra(rule: &Extra, names: &Names) -> Extra {
    match rule {
        Extra::Of(shape) => Extra::Of(renamed(shape, names).into()),
        Extra::Open | Extra::Closed => rule.clone(),
    }
}

fn renamed_kind(kind: &Kind, names: &Names) -> Kind {
    match kind {
        Kind::Ref(name) => Kind::Ref(names.get(name).unwrap_or(name).clone()),
        Kind::Array(rules) => {
            Kind::Array(ArrayRules { items: renamed(&rules.items, names).into(), ..rules.clone() })
        }
        Kind::Tuple(rules) => Kind::Tuple(TupleRules {
            items: all(&rules.items, names),
            rest: extra(&rules.rest, names),
            ..rules.clone()
        }),
        Kind::Object(rules) => Kind::Object(ObjectRules {
            fields: rules
                .fields
                .iter()
                .map(|field| Field { shape: renamed(&field.shape, names), ..field.clone() })
                .collect(),
            patterns: rules
                .patterns
                .iter()
                .map(|field| PatternField { shape: renamed(&field.shape, names), ..field.clone() })
                .collect(),
            extra: extra(&rules.extra, names),
            ..rules.clone()
        }),
        Kind::Union(rules) => Kind::Union(UnionRules {
            variants: all(&rules.variants, names),
            discriminator: rules.discriminator.as_ref().map(|rule| Discriminator {
                property: rule.property.clone(),
                mapping: rule
                    .mapping
                    .iter()
                    .map(|(value, name)| (value.clone(), names.get(name).unwrap_or(name).clone()))
                    .collect(),
            }),
            ..rules.clone()
        }),
        Kind::All(shapes) => Kind::All(all(shapes, names)),
        Kind::Any
        | Kind::Never
        | Kind::Null
        | Kind::Boolean
        | Kind::Integer(_)
        | Kind::Number(_)
        | Kind::String(_)
        | Kind::Enum(_)
        | Kind::Raw(_) => kind.clone(),
    }
}
