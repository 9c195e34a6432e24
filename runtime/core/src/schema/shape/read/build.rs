//! Builds the shape of a schema in normal form.
//!
//! Malformed parts were dropped and reported before; here they are skipped silently.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::normal::implied;
use super::{CHOICES, MAX_DEPTH, ReadProblem, ReadProblemKind, TITLE, within_depth};
use crate::base::frozen::{Frozen, List, Text};
use crate::schema::shape::enum_values::Values;
use crate::schema::shape::rules::{flag, text};
use crate::schema::shape::{
    Access, ArrayRules, Choice, Choices, Discriminator, Extra, Field, Kind, Literal, Number, NumberRules,
    ObjectRules, PatternField, Shape, StringRules, Title, TupleRules, UnionMode, UnionRules, pointer,
};

type Object = Map<String, Value>;

/// Builds the shape of a schema in normal form at this location.
pub(super) fn shape(schema: &Value, location: String, name: &str, problems: &mut Vec<ReadProblem>) -> Shape {
    Builder { problems, path: location, depth: 0, limit: MAX_DEPTH, is_literal: false }
        .read_shape(schema, name)
}

/// Builds the shape of canonical text. Its depth is not limited here: the JSON parser has already limited it.
pub(super) fn canonical(schema: &Value) -> Shape {
    unlimited(&mut Vec::new(), false).read_shape(schema, "")
}

/// Builds the shape of a schema that another rule refers to, literally.
pub(super) fn condition(schema: &Value) -> Shape {
    unlimited(&mut Vec::new(), true).read_shape(schema, "")
}

fn unlimited(problems: &mut Vec<ReadProblem>, is_literal: bool) -> Builder<'_> {
    Builder { problems, path: String::new(), depth: 0, limit: usize::MAX, is_literal }
}

struct Builder<'p> {
    problems: &'p mut Vec<ReadProblem>,
    path: String,
    depth: usize,
    limit: usize,
    /// Whether keywords do not imply a type: values of types that they do not apply to are allowed.
    is_literal: bool,
}

impl Builder<'_> {
    fn report(&mut self, kind: ReadProblemKind, message: impl Into<String>) {
        self.problems.push(ReadProblem { pointer: self.path.clone(), kind, message: message.into() });
    }

    fn at<T>(&mut self, token: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        pointer::push(&mut self.path, token);
        let result = read(self);
        self.path.truncate(length);
        result
    }

    /// Builds the shape of any schema. `name` is the name of the field that it describes, or empty.
    fn read_shape(&mut self, schema: &Value, name: &str) -> Shape {
        match schema {
            Value::Bool(false) => Shape::of(Kind::Never),
            Value::Object(schema) if schema.is_empty() => Shape::ANY,
            Value::Object(_) if self.depth >= self.limit => {
                let message = format!("nested more than {MAX_DEPTH} schemas deep, so any value is allowed");
                self.report(ReadProblemKind::Depth, message);
                Shape::ANY
            }
            Value::Object(schema) => {
                self.depth += 1;
                let shape = self.read_object_schema(schema, name);
                self.depth -= 1;
                shape
            }
            _ => Shape::ANY,
        }
    }

    fn read_object_schema(&mut self, schema: &Object, name: &str) -> Shape {
        let mut shape = read_annotations(schema, name);
        if let Some(kind) = self.read_extension(schema) {
            shape.kind = kind;
            return shape;
        }
        let mut parts: Vec<Shape> = schema.get("$ref").and_then(read_reference).into_iter().collect();
        parts.append(&mut self.read_schemas(schema, "allOf"));
        self.add_declared_kind(schema, &mut parts);
        self.add_unions(schema, &mut parts);
        self.add_raw(schema, &mut parts);
        combine(shape, parts)
    }

    /// Reads an array of schemas.
    fn read_schemas(&mut self, schema: &Object, keyword: &str) -> Vec<Shape> {
        let Some(Value::Array(schemas)) = schema.get(keyword) else { return Vec::new() };
        self.at(keyword, |builder| {
            let shape = |(index, schema): (usize, &Value)| {
                builder.at(&index.to_string(), |builder| builder.read_shape(schema, ""))
            };
            schemas.iter().enumerate().map(shape).collect()
        })
    }
}

/// Returns a shape with all annotations, without its kind.
fn read_annotations(schema: &Object, name: &str) -> Shape {
    let mut description = text(schema, "description");
    let title = text(schema, "title");
    if description.trim().is_empty() && title_is_informative(&title, name) {
        description = title.clone();
    }
    let choices = read_choices(schema);
    let examples = schema.get("examples").and_then(Value::as_array);
    Shape {
        kind: Kind::Any,
        nullable: flag(schema, "nullable"),
        description: if choices.is_none() { description } else { choices.explain(&description).into() },
        default: schema.get("default").map(Literal::of),
        examples: examples.into_iter().flatten().map(Literal::of).collect(),
        deprecated: flag(schema, "deprecated"),
        title: Title::new(schema.get(TITLE).and_then(Value::as_str).unwrap_or(&title)),
        choices,
    }
}

/// Returns the names of enumerated values.
fn read_choices(schema: &Object) -> Choices {
    let Some(Value::Object(entry)) = schema.get(CHOICES) else { return Choices::NONE };
    let values = entry.get("values").and_then(Value::as_array);
    let text =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let choice = |raw: &Value| Choice {
        value: Literal::of(raw.get("value").unwrap_or_default()),
        name: text(raw, "name"),
        description: text(raw, "description"),
    };
    Choices::new(
        &text(&Value::Object(entry.clone()), "name"),
        values.into_iter().flatten().map(choice).collect(),
    )
}

fn read_reference(reference: &Value) -> Option<Shape> {
    let text = reference.as_str()?;
    Some(Shape::of(match pointer::referenced(text) {
        Some(name) => Kind::Ref(name.into()),
        None => {
            let raw = Object::from_iter([("$ref".to_owned(), reference.clone())]);
            Kind::Raw(Value::Object(raw).to_string().into())
        }
    }))
}

/// Whether a title adds information to the name that it belongs to.
pub(super) fn title_is_informative(title: &str, name: &str) -> bool {
    let letters = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    title.trim().contains(char::is_whitespace) && letters(title) != letters(name)
}

impl Builder<'_> {
    fn read_object_rules(&mut self, schema: &Object) -> ObjectRules {
        let extra = self.read_extra(schema, "additionalProperties");
        ObjectRules::read(schema, self.read_fields(schema, &extra), self.read_patterns(schema), extra)
    }

    /// Reads the declared fields, then the fields that are only required.
    fn read_fields(&mut self, schema: &Object, extra: &Extra) -> List<Field> {
        let properties = schema.get("properties").and_then(Value::as_object);
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let required: Vec<&str> = required.filter_map(Value::as_str).collect();
        let required_names: HashSet<&str> = required.iter().copied().collect();
        let mut fields: Vec<Field> = self.at("properties", |builder| {
            let field = |(name, schema): (&String, _)| {
                builder.at(name, |builder| {
                    builder.read_field(name, schema, required_names.contains(name.as_str()))
                })
            };
            properties.into_iter().flatten().map(field).collect()
        });
        for name in required {
            if properties.is_none_or(|properties| !properties.contains_key(name)) {
                let shape = if let Extra::Of(shape) = extra { (**shape).clone() } else { Shape::ANY };
                fields.push(Field { name: name.to_owned().into(), shape, ..Field::REQUIRED });
            }
        }
        fields.into()
    }

    fn read_field(&mut self, name: &str, schema: &Value, required: bool) -> Field {
        let shape = self.read_shape(schema, name);
        let mut field = Field { name: name.to_owned().into(), required, shape, ..Field::OPTIONAL };
        let Value::Object(schema) = schema else { return field };
        field.access = match (flag(schema, "readOnly"), flag(schema, "writeOnly")) {
            (true, false) => Access::ReadOnly,
            (false, true) => Access::WriteOnly,
            // Both together are contradictory, so neither applies.
            _ => Access::Both,
        };
        field.wire = text(schema, "x-wire");
        let aliases = schema.get("x-aliases").and_then(Value::as_array).into_iter().flatten();
        field.aliases = aliases.filter_map(Value::as_str).map(|name| name.to_owned().into()).collect();
        field
    }

    fn read_patterns(&mut self, schema: &Object) -> List<PatternField> {
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        self.at("patternProperties", |builder| {
            let field = |(pattern, schema): (&String, _)| PatternField {
                pattern: pattern.clone().into(),
                shape: builder.at(pattern, |builder| builder.read_shape(schema, "")),
            };
            patterns.into_iter().flatten().map(field).collect()
        })
    }
}

/// Returns the keyword of the schemas of the first items, and that of the other items: drafts before 2020-12 have an
/// array under `items`.
fn tuple_keywords(schema: &Object) -> Option<(&'static str, &'static str)> {
    [("prefixItems", "items"), ("items", "additionalItems")]
        .into_iter()
        .find(|(first, _)| matches!(schema.get(*first), Some(Value::Array(_))))
}

impl Builder<'_> {
    fn read_array(&mut self, schema: &Object) -> Kind {
        if let Some((items_keyword, rest_keyword)) = tuple_keywords(schema) {
            let items = self.read_schemas(schema, items_keyword).into();
            return Kind::Tuple(TupleRules::read(schema, items, self.read_extra(schema, rest_keyword)));
        }
        let items = match schema.get("items") {
            None => Frozen::Static(&Shape::ANY),
            Some(schema) => self.at("items", |builder| builder.read_shape(schema, "")).into(),
        };
        Kind::Array(ArrayRules::read(schema, items))
    }

    /// Returns what may follow the declared members.
    fn read_extra(&mut self, schema: &Object, keyword: &str) -> Extra {
        match schema.get(keyword) {
            Some(Value::Bool(false)) => Extra::Closed,
            Some(schema @ Value::Object(_)) => {
                Extra::Of(self.at(keyword, |builder| builder.read_shape(schema, "")).into())
            }
            _ => Extra::Open,
        }
    }
}

/// All JSON types.
const TYPE_NAMES: [&str; 6] = ["object", "array", "string", "number", "boolean", "null"];

/// Returns the types that `type` names, if it is present.
fn type_keyword(schema: &Object) -> Option<Vec<&str>> {
    let mut types: Vec<&str> = match schema.get("type")? {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    // Every integer is a number.
    if types.contains(&"number") {
        types.retain(|name| *name != "integer");
    }
    Some(types)
}

impl Builder<'_> {
    /// Adds the kind that the schema itself describes, without references, unions and similar keywords.
    fn add_declared_kind(&mut self, schema: &Object, parts: &mut Vec<Shape>) {
        let types = type_keyword(schema);
        if self.add_enum(schema, types.as_deref(), parts) {
            return;
        }
        let mut types = types.unwrap_or_else(|| match implied(schema) {
            implied if self.is_literal && !implied.is_empty() => TYPE_NAMES.to_vec(),
            implied => implied,
        });
        // All types and no rules: some generators write this for “any value”.
        if types.len() >= 6 && implied(schema).is_empty() {
            return;
        }
        let count = types.len();
        types.retain(|name| *name != "null");
        let nullable = types.len() < count;
        let mut kinds: Vec<Kind> = types.iter().filter_map(|name| self.kind_of_type(name, schema)).collect();
        let kind = match kinds.len() {
            0 if nullable => return parts.push(Shape::of(Kind::Null)),
            0 => return,
            1 => kinds.swap_remove(0),
            _ => {
                let variants = kinds.into_iter().map(Shape::of).collect();
                Kind::Union(UnionRules { mode: UnionMode::Any, variants, discriminator: None })
            }
        };
        parts.push(Shape { nullable, ..Shape::of(kind) });
    }

    fn kind_of_type(&mut self, name: &str, schema: &Object) -> Option<Kind> {
        Some(match name {
            "boolean" => Kind::Boolean,
            "integer" => Kind::Integer(NumberRules::read(schema)),
            "number" => Kind::Number(NumberRules::read(schema)),
            "string" => Kind::String(StringRules::read(schema)),
            "array" => self.read_array(schema),
            "object" => Kind::Object(self.read_object_rules(schema)),
            _ => return None,
        })
    }
}

/// Whether a shape of this kind has no further rules.
fn has_no_rules(kind: &Kind) -> bool {
    match kind {
        Kind::Boolean => true,
        Kind::Integer(rules) | Kind::Number(rules) => *rules == NumberRules::ANY,
        Kind::String(rules) => *rules == StringRules::ANY,
        Kind::Array(rules) => *rules == ArrayRules::ANY,
        Kind::Object(rules) => *rules == ObjectRules::ANY,
        _ => false,
    }
}

/// Returns the distinct values.
fn without_duplicates(values: &[Literal]) -> Vec<Literal> {
    let mut seen = Values::default();
    values.iter().filter(|value| seen.insert(value)).cloned().collect()
}

impl Builder<'_> {
    /// Reads the enumerated values of a schema, restricted to those that its other rules allow. Returns false if
    /// there are none.
    fn add_enum(&mut self, schema: &Object, types: Option<&[&str]>, parts: &mut Vec<Shape>) -> bool {
        let (keyword, json_values) = match (schema.get("const"), schema.get("enum")) {
            (Some(value), _) => ("const", std::slice::from_ref(value)),
            (None, Some(Value::Array(values))) if !values.is_empty() => ("enum", values.as_slice()),
            _ => return false,
        };
        let mut values = without_duplicates(&json_values.iter().map(Literal::of).collect::<Vec<_>>());
        if let Some(types) = types {
            values = self.retain_types(keyword, values, types);
        }
        let nullable = values.contains(&Literal::Null);
        values.retain(|value| *value != Literal::Null);
        if values.is_empty() {
            parts.push(Shape::of(Kind::Null));
            return true;
        }
        self.apply_value_rules(schema, types, &mut values, parts);
        parts.push(Shape { nullable, ..Shape::of(Kind::Enum(values.into())) });
        true
    }

    /// Keeps only the values of the types that a schema names.
    fn retain_types(&mut self, keyword: &str, values: Vec<Literal>, types: &[&str]) -> Vec<Literal> {
        let matching: Vec<Literal> = values.iter().filter(|value| has_type(value, types)).cloned().collect();
        let only_null_removed = values.iter().all(|value| has_type(value, types) || *value == Literal::Null);
        let message = match matching.len() {
            0 => "lists no value of the type that `type` names, so `type` is ignored",
            _ if only_null_removed => return matching,
            _ => "lists values that `type` does not allow; they are left out",
        };
        self.at(keyword, |builder| builder.report(ReadProblemKind::Values, message));
        if matching.is_empty() { values } else { matching }
    }

    /// Applies other rules to enumerated values: they filter scalars, and stay in force for arrays and objects.
    fn apply_value_rules(
        &mut self,
        schema: &Object,
        types: Option<&[&str]>,
        values: &mut Vec<Literal>,
        parts: &mut Vec<Shape>,
    ) {
        if values.iter().any(|value| matches!(value, Literal::Json(_))) {
            let mut other_keywords = schema.clone();
            other_keywords.retain(|keyword, _| !matches!(keyword.as_str(), "enum" | "const"));
            let composite_keywords =
                ["properties", "required", "additionalProperties", "items", "prefixItems"];
            if types.is_some()
                && composite_keywords.iter().any(|keyword| other_keywords.contains_key(*keyword))
            {
                self.add_declared_kind(&other_keywords, parts);
            }
            return;
        }
        let strings = StringRules::read(schema);
        let numbers = NumberRules::read(schema);
        let is_allowed = |value: &&Literal| match value {
            Literal::String(text) => strings.check(text).problems.is_empty(),
            Literal::Number(number) => numbers.problem(*number).is_none(),
            _ => true,
        };
        let allowed_values: Vec<Literal> = values.iter().filter(is_allowed).cloned().collect();
        if allowed_values.is_empty() {
            self.report(
                ReadProblemKind::Values,
                "lists no value that its other rules allow, so those are ignored",
            );
        } else if allowed_values.len() < values.len() {
            self.report(
                ReadProblemKind::Values,
                "lists values that its other rules do not allow; they are left out",
            );
            *values = allowed_values;
        }
        // A pattern that could not be matched is kept.
        let is_checked = |value: &Literal| match value {
            Literal::String(text) => strings.check(text).is_conclusive,
            _ => true,
        };
        if !strings.pattern.is_empty() && !values.iter().all(is_checked) {
            let pattern = strings.pattern.clone();
            parts.push(Shape::of(Kind::String(StringRules { pattern, ..StringRules::ANY })));
        }
    }
}

fn has_type(value: &Literal, types: &[&str]) -> bool {
    let name = value.type_name();
    match value {
        _ if types.contains(&name) => true,
        Literal::Number(Number::Int(_)) => types.contains(&"number"),
        Literal::Number(Number::Float(float)) => types.contains(&"integer") && float.fract() == 0.0,
        _ => false,
    }
}

impl Builder<'_> {
    fn read_extension(&mut self, schema: &Object) -> Option<Kind> {
        if let Some(Value::String(text)) = schema.get("x-raw") {
            return Some(Kind::Raw(text.clone().into()));
        }
        if schema.contains_key("x-all") {
            return Some(Kind::All(self.read_schemas(schema, "x-all").into()));
        }
        if let Some(Value::Array(values)) = schema.get("x-enum") {
            return Some(Kind::Enum(values.iter().map(Literal::of).collect()));
        }
        for (keyword, mode) in [("x-anyOf", UnionMode::Any), ("x-oneOf", UnionMode::One)] {
            if schema.contains_key(keyword) {
                let variants = self.read_schemas(schema, keyword).into();
                let discriminator = Self::read_discriminator(schema);
                return Some(Kind::Union(UnionRules { mode, variants, discriminator }));
            }
        }
        None
    }
}

impl Builder<'_> {
    fn add_unions(&mut self, schema: &Object, parts: &mut Vec<Shape>) {
        let count = ["anyOf", "oneOf"].iter().filter(|keyword| schema.contains_key(**keyword)).count();
        for (keyword, mode) in [("anyOf", UnionMode::Any), ("oneOf", UnionMode::One)] {
            if !schema.contains_key(keyword) {
                continue;
            }
            let variants = self.read_schemas(schema, keyword);
            // With two unions, it is unclear which one the discriminator belongs to.
            let discriminator = if count == 1 { Self::read_discriminator(schema) } else { None };
            parts.extend(union(mode, variants, discriminator));
        }
    }

    fn read_discriminator(schema: &Object) -> Option<Discriminator> {
        let value = schema.get("discriminator")?;
        let property = value.get("propertyName")?.as_str()?.to_owned().into();
        let mapping = value.get("mapping").and_then(Value::as_object).into_iter().flatten();
        let mapping: List<(Text, Text)> = mapping
            .filter_map(|(value, target)| {
                Some((value.clone().into(), pointer::referenced(target.as_str()?)?.into()))
            })
            .collect();
        let default_variant =
            value.get("defaultMapping").and_then(|target| pointer::referenced(target.as_str()?));
        Some(Discriminator { property, mapping, default_variant: default_variant.map(Into::into) })
    }
}

/// Returns the simplest form of a union: without `null`, and a single variant instead of a union.
pub(super) fn union(
    mode: UnionMode,
    mut variants: Vec<Shape>,
    discriminator: Option<Discriminator>,
) -> Option<Shape> {
    if variants.is_empty() {
        return None;
    }
    let count = variants.len();
    variants.retain(|variant| !matches!(variant.kind, Kind::Null));
    let nullable = variants.len() < count;
    match variants.pop() {
        None => Some(Shape::of(Kind::Null)),
        Some(only) if variants.is_empty() => Some(Shape { nullable: nullable || only.nullable, ..only }),
        Some(last) => {
            variants.push(last);
            let rules = UnionRules { mode, variants: variants.into(), discriminator };
            Some(Shape { nullable, ..Shape::of(Kind::Union(rules)) })
        }
    }
}

/// Combines the annotations of a schema with its parts, all of which apply, into one shape.
fn combine(mut shape: Shape, mut parts: Vec<Shape>) -> Shape {
    // A part that allows any value only adds annotations: `allOf: [{$ref}, {description}]`.
    parts.retain(|part| {
        let is_annotation_only = matches!(part.kind, Kind::Any);
        if is_annotation_only {
            shape.nullable |= part.nullable;
            shape.adopt(part);
        }
        !is_annotation_only
    });
    drop_implied(&mut parts);
    match parts.len() {
        0 => {}
        1 => {
            for part in parts {
                shape.nullable |= part.nullable;
                shape.adopt(&part);
                shape.kind = part.kind;
            }
        }
        _ => shape.kind = Kind::All(parts.into()),
    }
    shape
}

/// Removes a `type: object` that only repeats `allOf` or `oneOf`.
fn drop_implied(parts: &mut Vec<Shape>) {
    let unruled = parts.iter().position(|part| has_no_rules(&part.kind) && part.description.is_empty());
    let Some(index) = unruled else { return };
    if parts.len() < 2 {
        return;
    }
    let kind = parts[index].kind.clone();
    let is_implied = parts.iter().enumerate().any(|(other, part)| other != index && implies(part, &kind));
    if is_implied {
        parts.remove(index);
    }
}

/// Whether all values of the shape have the type of another kind. A reference is assumed to have it.
fn implies(shape: &Shape, other: &Kind) -> bool {
    match &shape.kind {
        Kind::Ref(_) => true,
        Kind::All(parts) => parts.iter().any(|part| implies(part, other)),
        Kind::Union(rules) => rules.variants.iter().all(|variant| implies(variant, other)),
        Kind::Enum(values) => match other {
            Kind::String(_) => values.iter().all(|value| matches!(value, Literal::String(_))),
            Kind::Boolean => values.iter().all(|value| matches!(value, Literal::Bool(_))),
            Kind::Number(_) => values.iter().all(|value| matches!(value, Literal::Number(_))),
            _ => false,
        },
        Kind::Integer(_) => matches!(other, Kind::Integer(_) | Kind::Number(_)),
        Kind::Tuple(_) => matches!(other, Kind::Array(_)),
        kind => std::mem::discriminant(kind) == std::mem::discriminant(other),
    }
}

/// Whether an array of shapes under `allOf`, `anyOf` or `oneOf` of canonical text is read back as the same array.
pub(in crate::schema::shape) fn is_natural_union(variants: &List<Shape>) -> bool {
    variants.len() > 1 && !variants.iter().any(|variant| matches!(variant.kind, Kind::Null))
}

/// Like [`is_natural_union`], for `allOf`.
pub(in crate::schema::shape) fn is_natural_all(parts: &List<Shape>) -> bool {
    let is_kept = |part: &Shape| !matches!(part.kind, Kind::Any) && !has_no_rules(&part.kind);
    parts.len() > 1 && parts.iter().all(is_kept)
}

/// Returns the keywords of a raw schema, if they can be written unchanged and are read back as the same text.
pub(in crate::schema::shape) fn is_natural_raw(text: &str) -> Option<Object> {
    let Ok(Value::Object(schema)) = serde_json::from_str(text) else { return None };
    let mut parts = Vec::new();
    unlimited(&mut Vec::new(), false).add_raw(&schema, &mut parts);
    let all_well_formed = schema.iter().all(|(keyword, value)| raw_keyword_is_well_formed(keyword, value));
    // These two are also rules of arrays and objects.
    let is_only_raw = !schema.contains_key("uniqueItems") && !schema.contains_key("unevaluatedProperties");
    let round_trips =
        matches!(parts.as_slice(), [Shape { kind: Kind::Raw(raw_text), .. }] if raw_text == text);
    (all_well_formed && is_only_raw && round_trips).then_some(schema)
}

/// Whether a keyword restricts values, cannot be represented in the tree, and has a valid value.
pub(in crate::schema::shape) fn raw_keyword_is_well_formed(keyword: &str, value: &Value) -> bool {
    let is_schema = |value: &Value| value.is_object() || value.is_boolean();
    match keyword {
        "not"
        | "if"
        | "then"
        | "else"
        | "contains"
        | "propertyNames"
        | "contentSchema"
        | "unevaluatedItems"
        | "unevaluatedProperties" => is_schema(value),
        "dependentSchemas" => value.as_object().is_some_and(|schemas| schemas.values().all(is_schema)),
        "dependentRequired" | "dependencies" => value.is_object(),
        "minContains" | "maxContains" => value.is_u64(),
        "uniqueItems" => value.is_boolean(),
        "$dynamicRef" | "$recursiveRef" => value.is_string(),
        _ => false,
    }
}

impl Builder<'_> {
    fn add_raw(&mut self, schema: &Object, parts: &mut Vec<Shape>) {
        let mut raw = Object::new();
        for (keyword, value) in schema {
            if !raw_keyword_is_well_formed(keyword, value) || has_no_effect(keyword, schema) {
                continue;
            }
            if self.limit != usize::MAX && !within_depth(value, MAX_DEPTH) {
                let message = format!("nested more than {MAX_DEPTH} levels deep, so ignored");
                self.at(keyword, |builder| builder.report(ReadProblemKind::Depth, message));
            } else if keyword == "not" && (*value == json!(true) || *value == json!({})) {
                parts.push(Shape::of(Kind::Never));
            } else {
                raw.insert(keyword.clone(), without_titles(value));
            }
        }
        if !raw.is_empty() {
            parts.push(Shape::of(Kind::Raw(Value::Object(raw).to_string().into())));
        }
    }
}

/// Returns a schema as its author wrote it: titles and names of values in the normal form are only for types.
fn without_titles(schema: &Value) -> Value {
    match schema {
        Value::Object(object) => {
            let is_internal = |key: &str, value: &Value| {
                key == TITLE && value.is_string()
                    || key == CHOICES && value.get("values").is_some_and(Value::is_array)
            };
            let members = object.iter().filter(|(key, value)| !is_internal(key, value));
            members.map(|(key, value)| (key.clone(), without_titles(value))).collect()
        }
        Value::Array(items) => items.iter().map(without_titles).collect(),
        other => other.clone(),
    }
}

/// Whether a keyword has no effect next to the rest of the schema, or was already read.
fn has_no_effect(keyword: &str, schema: &Object) -> bool {
    match keyword {
        "then" | "else" => !schema.contains_key("if"),
        "minContains" | "maxContains" => !schema.contains_key("contains"),
        "uniqueItems" => tuple_keywords(schema).is_none(),
        "unevaluatedProperties" => schema.get(keyword) == Some(&json!(true)),
        _ => false,
    }
}
