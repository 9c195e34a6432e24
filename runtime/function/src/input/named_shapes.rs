//! The specification of a tool with its named shapes, under the names that a model sees.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use toolgen_core::internal::fits;

use super::Defs;
use super::defs::FieldDefault;
use super::rules::value_lines;
use toolgen_kernel::base::frozen::{List, Text};
use toolgen_kernel::schema::shape::{
    ArrayRules, Def, Discriminator, Extra, Field, Kind, Literal, ObjectRules, PatternField, Schema, Shape,
    TupleRules, UnionRules,
};
use toolgen_kernel::spec::ToolSpec;

impl Defs {
    /// Returns the types that have the fields of a type: the type itself, and the types that it is flattened into.
    fn owners(&self, name: &'static str) -> Vec<&'static str> {
        let mut owners = vec![name];
        let mut next = 0;
        while let Some(inner) = owners.get(next).copied() {
            let outer =
                self.flattened.iter().filter(|(_, inner_name)| *inner_name == inner).map(|(outer, _)| *outer);
            let new: Vec<_> = outer.filter(|outer| !owners.contains(outer)).collect();
            owners.extend(new);
            next += 1;
        }
        owners
    }

    /// Returns the name that a model sees for each type.
    fn short_names(&self) -> Names {
        let last_segment = |name: &Text| name.rsplit("::").next().unwrap_or(name).to_owned();
        let mut seen = BTreeSet::new();
        let ambiguous: BTreeSet<String> =
            self.shapes.keys().map(last_segment).filter(|name| !seen.insert(name.clone())).collect();
        let names = self.shapes.keys().map(|name| {
            let short_name = last_segment(name);
            let text = if ambiguous.contains(&short_name) { name.replace("::", "_") } else { short_name };
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
        let applies = is_shown
            && field.name == *name
            && field.shape.default.is_none()
            && fits(value, &field.shape, defs);
        let default = if applies { Some(Literal::of(value)) } else { field.shape.default.clone() };
        Field { shape: Shape { default, ..field.shape.clone() }, ..field.clone() }
    };
    rules.fields = rules.fields.iter().map(with_default).collect();
}

/// Returns the specification with its named shapes, and with the parts that cannot be constants.
pub(crate) fn with_named_shapes(spec: &ToolSpec, defs: &Defs) -> ToolSpec {
    let names = defs.short_names();
    let mut def_list: Vec<Def> = defs
        .shapes
        .iter()
        .map(|(name, shape)| Def {
            name: names[name].clone(),
            schema: Schema::from(rename_refs(shape, &names)),
        })
        .collect();
    def_list.sort_by(|a, b| a.name.cmp(&b.name));
    let defs_without_defaults: List<Def> = def_list.clone().into();
    let mut complete = spec.clone();
    let mut input = rename_refs(&spec.input, &names);
    for FieldDefault { owner, field, value } in &defs.defaults {
        if owner.is_empty() {
            set_default(&mut input, field, value, &defs_without_defaults);
        }
        for owner in defs.owners(owner) {
            let def = names
                .get(&Text::Static(owner))
                .and_then(|name| def_list.iter_mut().find(|def| def.name == *name));
            if let Some(Def { schema: Schema::Tree(shape), .. }) = def {
                let mut shape_with_defaults = Shape::clone(shape);
                set_default(&mut shape_with_defaults, field, value, &defs_without_defaults);
                *shape = shape_with_defaults.into();
            }
        }
    }
    complete.input = Schema::from(input);
    complete.output = spec.output.as_ref().map(|output| Schema::from(rename_refs(output, &names)));
    complete.defs = def_list.into();
    complete
}

type Names = BTreeMap<Text, Text>;

pub(super) fn rename_refs(shape: &Shape, names: &Names) -> Shape {
    if let Kind::All(parts) = &shape.kind
        && let [Shape { kind: kind @ Kind::Enum(_), description, .. }] = &**parts
    {
        let description = format!("{}\n{}", shape.description, value_lines(description));
        return Shape {
            kind: kind.clone(),
            description: description.trim().to_owned().into(),
            ..shape.clone()
        };
    }
    Shape { kind: rename_kind_refs(&shape.kind, names), ..shape.clone() }
}

fn rename_all(shapes: &List<Shape>, names: &Names) -> List<Shape> {
    shapes.iter().map(|shape| rename_refs(shape, names)).collect()
}

fn rename_extra(rule: &Extra, names: &Names) -> Extra {
    match rule {
        Extra::Of(shape) => Extra::Of(rename_refs(shape, names).into()),
        Extra::Open | Extra::Closed => rule.clone(),
    }
}

fn rename_kind_refs(kind: &Kind, names: &Names) -> Kind {
    match kind {
        Kind::Ref(name) => Kind::Ref(names.get(name).unwrap_or(name).clone()),
        Kind::Array(rules) => {
            Kind::Array(ArrayRules { items: rename_refs(&rules.items, names).into(), ..rules.clone() })
        }
        Kind::Tuple(rules) => Kind::Tuple(TupleRules {
            items: rename_all(&rules.items, names),
            rest: rename_extra(&rules.rest, names),
            ..rules.clone()
        }),
        Kind::Object(rules) => Kind::Object(ObjectRules {
            fields: rules
                .fields
                .iter()
                .map(|field| Field { shape: rename_refs(&field.shape, names), ..field.clone() })
                .collect(),
            patterns: rules
                .patterns
                .iter()
                .map(|field| PatternField { shape: rename_refs(&field.shape, names), ..field.clone() })
                .collect(),
            extra: rename_extra(&rules.extra, names),
            ..rules.clone()
        }),
        Kind::Union(rules) => Kind::Union(UnionRules {
            variants: rename_all(&rules.variants, names),
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
        Kind::All(shapes) => Kind::All(rename_all(shapes, names)),
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
