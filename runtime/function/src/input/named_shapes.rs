//! The specification of a tool with its named shapes, under the names that a model sees.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use toolgen_core::internal::fits;

use super::Defs;
use super::defs::FieldDefault;
use super::rules::listed_values;
use toolgen_kernel::base::frozen::{List, Text};
use toolgen_kernel::schema::shape::{
    ArrayRules, Def, Discriminator, Extra, Field, Kind, Literal, ObjectRules, PatternField, Schema, Shape,
    TupleRules, UnionRules,
};
use toolgen_kernel::spec::ToolSpec;

impl Defs {
    /// Returns the types that have the fields of a type: the type itself, and those that it is flattened into.
    fn holders(&self, name: &'static str) -> Vec<&'static str> {
        let mut holders = vec![name];
        let mut next = 0;
        while let Some(inner) = holders.get(next).copied() {
            let outer = self.flattened.iter().filter(|(_, known)| *known == inner).map(|(outer, _)| *outer);
            let new: Vec<_> = outer.filter(|outer| !holders.contains(outer)).collect();
            holders.extend(new);
            next += 1;
        }
        holders
    }

    /// Returns the name that a model sees for each type.
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

/// Maximum length of a default that is shown, in bytes of JSON. A longer default costs more than it helps.
const MAX_DEFAULT: usize = 256;

/// Sets the default of a field, unless the field has one or would reject it.
fn set_default(shape: &mut Shape, name: &str, value: &Value, defs: &List<Def>) {
    let Kind::Object(rules) = &mut shape.kind else { return };
    let is_shown = !value.is_null() && value.to_string().len() <= MAX_DEFAULT;
    let with_default = |field: &Field| {
        let wanted = is_shown
            && field.name == *name
            && field.shape.default.is_none()
            && fits(value, &field.shape, defs);
        let default = if wanted { Some(Literal::of(value)) } else { field.shape.default.clone() };
        Field { shape: Shape { default, ..field.shape.clone() }, ..field.clone() }
    };
    rules.fields = rules.fields.iter().map(with_default).collect();
}

/// Returns the specification with its named shapes, and with the parts that cannot be constants.
pub(crate) fn with_named_shapes(spec: &ToolSpec, defs: &Defs) -> ToolSpec {
    let names = defs.short_names();
    let mut list: Vec<Def> = defs
        .found
        .iter()
        .map(|(name, shape)| Def { name: names[name].clone(), schema: Schema::from(renamed(shape, &names)) })
        .collect();
    list.sort_by(|a, b| a.name.cmp(&b.name));
    let plain: List<Def> = list.clone().into();
    let mut linked = spec.clone();
    let mut input = renamed(&spec.input, &names);
    for FieldDefault { owner, field, value } in &defs.defaults {
        if owner.is_empty() {
            set_default(&mut input, field, value, &plain);
        }
        for owner in defs.holders(owner) {
            let def = names
                .get(&Text::Static(owner))
                .and_then(|name| list.iter_mut().find(|def| def.name == *name));
            if let Some(Def { schema: Schema::Tree(shape), .. }) = def {
                let mut shape_with_defaults = Shape::clone(shape);
                set_default(&mut shape_with_defaults, field, value, &plain);
                *shape = shape_with_defaults.into();
            }
        }
    }
    linked.input = Schema::from(input);
    linked.output = spec.output.as_ref().map(|output| Schema::from(renamed(output, &names)));
    linked.defs = list.into();
    linked
}

type Names = BTreeMap<Text, Text>;

pub(super) fn renamed(shape: &Shape, names: &Names) -> Shape {
    if let Kind::All(parts) = &shape.kind
        && let [Shape { kind: kind @ Kind::Enum(_), description, .. }] = &**parts
    {
        let description = format!("{}\n{}", shape.description, listed_values(description));
        return Shape {
            kind: kind.clone(),
            description: description.trim().to_owned().into(),
            ..shape.clone()
        };
    }
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
                default_variant: rule
                    .default_variant
                    .as_ref()
                    .map(|name| names.get(name).unwrap_or(name).clone()),
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
