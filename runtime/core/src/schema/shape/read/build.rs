//! Builds the shape of a schema in normal form.
//!
//! Malformed parts were dropped and reported before; here they are skipped silently.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::normal::implied;
use super::{CHOICES, MAX_DEPTH, ReadProblem, ReadProblemKind, TITLE, within_depth};
use crate::base::frozen::{Frozen, List, Text};
use crate::schema::shape::listed::Values;
use crate::schema::shape::rules::{flag, text};
use crate::schema::shape::{
    Access, ArrayRules, Choice, Choices, Discriminator, Extra, Field, Kind, Literal, Number, NumberRules,
    ObjectRules, PatternField, Shape, StringRules, Title, TupleRules, UnionMode, UnionRules, pointer,
};

type Object = Map<String, Value>;

/// Builds the shape of a schema in normal form at this location.
pub(super) fn shape(schema: &Value, location: String, name: &str, problems: &mut Vec<ReadProblem>) -> Shape {
    Builder { problems, path: location, depth: 0, limit: MAX_DEPTH, literal: false }.shape(schema, name)
}

/// Builds the shape of canonical text. Its depth is not limited here: the JSON parser has already limited it.
pub(super) fn canonical(schema: &Value) -> Shape {
    unlimited(&mut Vec::new(), false).shape(schema, "")
}

/// Builds the shape of a schema that another rule refers to, literally.
pub(super) fn condition(schema: &Value) -> Shape {
    unlimited(&mut Vec::new(), true).shape(schema, "")
}

fn unlimited(problems: &mut Vec<ReadProblem>, literal: bool) -> Builder<'_> {
    Builder { problems, path: String::new(), depth: 0, limit: usize::MAX, literal }
}

struct Builder<'p> {
    problems: &'p mut Vec<ReadProblem>,
    path: String,
    depth: usize,
    limit: usize,
    /// Whether keywords do not imply a type: values of types that they do not apply to are allowed.
    literal: bool,
}

impl Builder<'_> {
    fn problem(&mut self, kind: ReadProblemKind, message: impl Into<String>) {
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
    fn shape(&mut self, schema: &Value, name: &str) -> Shape {
        match schema {
            Value::Bool(false) => Shape::of(Kind::Never),
            Value::Object(schema) if schema.is_empty() => Shape::ANY,
            Value::Object(_) if self.depth >= self.limit => {
                let message = format!("nested more than {MAX_DEPTH} schemas deep, so any value is allowed");
                self.problem(ReadProblemKind::Depth, message);
                Shape::ANY
            }
            Value::Object(schema) => {
                self.depth += 1;
                let shape = self.object_schema(schema, name);
                self.depth -= 1;
                shape
            }
            _ => Shape::ANY,
        }
    }

    fn object_schema(&mut self, schema: &Object, name: &str) -> Shape {
        let mut shape = annotations(schema, name);
        if let Some(kind) = self.extension(schema) {
            shape.kind = kind;
            return shape;
        }
        let mut parts: Vec<Shape> = schema.get("$ref").and_then(reference).into_iter().collect();
        parts.append(&mut self.schemas(schema, "allOf"));
        self.own_kind(schema, &mut parts);
        self.unions(schema, &mut parts);
        self.raw(schema, &mut parts);
        combine(shape, parts)
    }

    /// Reads an array of schemas.
    fn schemas(&mut self, schema: &Object, keyword: &str) -> Vec<Shape> {
        let Some(Value::Array(schemas)) = schema.get(keyword) else { return Vec::new() };
        self.at(keyword, |builder| {
            let shape = |(index, schema): (usize, &Value)| {
                builder.at(&index.to_string(), |builder| builder.shape(schema, ""))
            };
            schemas.iter().enumerate().map(shape).collect()
        })
    }
}

/// Returns a shape with all annotations, without its kind.
fn annotations(schema: &Object, name: &str) -> Shape {
    let mut description = text(schema, "description");
    let title = text(schema, "title");
    if description.trim().is_empty() && title_says_something(&title, name) {
        description = title.clone();
    }
    let choices = choices(schema);
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
fn choices(schema: &Object) -> Choices {
    let Some(Value::Object(entry)) = schema.get(CHOICES) else { return Choices::NONE };
    let values = entry.get("values").and_then(Value::as_array);
    let text = |of: &Value, key: &str| of.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
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

fn reference(reference: &Value) -> Option<Shape> {
    let text = reference.as_str()?;
    Some(Shape::of(match pointer::referenced(text) {
        Some(name) => Kind::Ref(name.into()),
        None => {
            let raw = Object::from_iter([("$ref".to_owned(), reference.clone())]);
            Kind::Raw(Value::Object(raw).to_string().into())
        }
    }))
}

/// Whether a title says more than the name that it belongs to.
pub(super) fn title_says_something(title: &str, name: &str) -> bool {
    let letters = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    title.trim().contains(char::is_whitespace) && letters(title) != letters(name)
}

impl Builder<'_> {
    fn object_rules(&mut self, schema: &Object) -> ObjectRules {
        let extra = self.extra(schema, "additionalProperties");
        ObjectRules::read(schema, self.fields(schema, &extra), self.patterns(schema), extra)
    }

    /// Reads the declared fields, then the fields that are only required.
    fn fields(&mut self, schema: &Object, extra: &Extra) -> List<Field> {
        let listed = schema.get("properties").and_then(Value::as_object);
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let required: Vec<&str> = required.filter_map(Value::as_str).collect();
        let demanded: HashSet<&str> = required.iter().copied().collect();
        let mut fields: Vec<Field> = self.at("properties", |builder| {
            let field = |(name, schema): (&String, _)| {
                builder.at(name, |builder| builder.field(name, schema, demanded.contains(name.as_str())))
            };
            listed.into_iter().flatten().map(field).collect()
        });
        for name in required {
            if listed.is_none_or(|listed| !listed.contains_key(name)) {
                let shape = if let Extra::Of(shape) = extra { (**shape).clone() } else { Shape::ANY };
                fields.push(Field { name: name.to_owned().into(), shape, ..Field::REQUIRED });
            }
        }
        fields.into()
    }

    fn field(&mut self, name: &str, schema: &Value, required: bool) -> Field {
        let shape = self.shape(schema, name);
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

    fn patterns(&mut self, schema: &Object) -> List<PatternField> {
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        self.at("patternProperties", |builder| {
            let field = |(pattern, schema): (&String, _)| PatternField {
                pattern: pattern.clone().into(),
                shape: builder.at(pattern, |builder| builder.shape(schema, "")),
            };
            patterns.into_iter().flatten().map(field).collect()
        })
    }
}

/// Returns the keyword of the schemas of the first items, and that of the other items: drafts before 2020-12 have an
/// array under `items`.
fn tuple(schema: &Object) -> Option<(&'static str, &'static str)> {
    [("prefixItems", "items"), ("items", "additionalItems")]
        .into_iter()
        .find(|(first, _)| matches!(schema.get(*first), Some(Value::Array(_))))
}

impl Builder<'_> {
    fn array(&mut self, schema: &Object) -> Kind {
        if let Some((first, rest)) = tuple(schema) {
            let items = self.schemas(schema, first).into();
            return Kind::Tuple(TupleRules::read(schema, items, self.extra(schema, rest)));
        }
        let items = match schema.get("items") {
            None => Frozen::Static(&Shape::ANY),
            Some(schema) => self.at("items", |builder| builder.shape(schema, "")).into(),
        };
        Kind::Array(ArrayRules::read(schema, items))
    }

    /// Returns what may follow the declared members.
    fn extra(&mut self, schema: &Object, keyword: &str) -> Extra {
        match schema.get(keyword) {
            Some(Value::Bool(false)) => Extra::Closed,
            Some(schema @ Value::Object(_)) => {
                Extra::Of(self.at(keyword, |builder| builder.shape(schema, "")).into())
            }
            _ => Extra::Open,
        }
    }
}

/// All JSON types.
const LEGAL: [&str; 6] = ["object", "array", "string", "number", "boolean", "null"];

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
    /// Returns the kind that the schema itself describes, apart from references, unions and similar keywords.
    fn own_kind(&mut self, schema: &Object, parts: &mut Vec<Shape>) {
        let types = type_keyword(schema);
        if self.enumeration(schema, types.as_deref(), parts) {
            return;
        }
        let mut types = types.unwrap_or_else(|| match implied(schema) {
            implied if self.literal && !implied.is_empty() => LEGAL.to_vec(),
            implied => implied,
        });
        // All types and no rules: some generators write this for “any value”.
        if types.len() >= 6 && implied(schema).is_empty() {
            return;
        }
        let all = types.len();
        types.retain(|name| *name != "null");
        let nullable = types.len() < all;
        let mut kinds: Vec<Kind> = types.iter().filter_map(|name| self.kind(name, schema)).collect();
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

    fn kind(&mut self, name: &str, schema: &Object) -> Option<Kind> {
        Some(match name {
            "boolean" => Kind::Boolean,
            "integer" => Kind::Integer(NumberRules::read(schema)),
            "number" => Kind::Number(NumberRules::read(schema)),
            "string" => Kind::String(StringRules::read(schema)),
            "array" => self.array(schema),
            "object" => Kind::Object(self.object_rules(schema)),
            _ => return None,
        })
    }
}

/// Whether a shape of this kind has no further rules.
fn is_bare(kind: &Kind) -> bool {
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
fn distinct(listed: &[Literal]) -> Vec<Literal> {
    let mut seen = Values::default();
    listed.iter().filter(|value| seen.insert(value)).cloned().collect()
}

impl Builder<'_> {
    /// Reads the enumerated values of a schema, restricted to those that its other rules allow. Returns false if
    /// there are none.
    fn enumeration(&mut self, schema: &Object, types: Option<&[&str]>, parts: &mut Vec<Shape>) -> bool {
        let (keyword, listed) = match (schema.get("const"), schema.get("enum")) {
            (Some(value), _) => ("const", std::slice::from_ref(value)),
            (None, Some(Value::Array(values))) if !values.is_empty() => ("enum", values.as_slice()),
            _ => return false,
        };
        let mut values = distinct(&listed.iter().map(Literal::of).collect::<Vec<_>>());
        if let Some(types) = types {
            values = self.of_types(keyword, values, types);
        }
        let nullable = values.contains(&Literal::Null);
        values.retain(|value| *value != Literal::Null);
        if values.is_empty() {
            parts.push(Shape::of(Kind::Null));
            return true;
        }
        self.beside(schema, types, &mut values, parts);
        parts.push(Shape { nullable, ..Shape::of(Kind::Enum(values.into())) });
        true
    }

    /// Keeps only the values of the types that a schema names.
    fn of_types(&mut self, keyword: &str, values: Vec<Literal>, types: &[&str]) -> Vec<Literal> {
        let fitting: Vec<Literal> = values.iter().filter(|value| is_of(value, types)).cloned().collect();
        let null_only = values.iter().all(|value| is_of(value, types) || *value == Literal::Null);
        let message = match fitting.len() {
            0 => "lists no value of the type that `type` names, so `type` is ignored",
            _ if null_only => return fitting,
            _ => "lists values that `type` does not allow; they are left out",
        };
        self.at(keyword, |builder| builder.problem(ReadProblemKind::Values, message));
        if fitting.is_empty() { values } else { fitting }
    }

    /// Applies other rules to enumerated values: they filter scalars, and stay in force for arrays and objects.
    fn beside(
        &mut self,
        schema: &Object,
        types: Option<&[&str]>,
        values: &mut Vec<Literal>,
        parts: &mut Vec<Shape>,
    ) {
        if values.iter().any(|value| matches!(value, Literal::Json(_))) {
            let mut rest = schema.clone();
            rest.retain(|keyword, _| !matches!(keyword.as_str(), "enum" | "const"));
            let ruled = ["properties", "required", "additionalProperties", "items", "prefixItems"];
            if types.is_some() && ruled.iter().any(|keyword| rest.contains_key(*keyword)) {
                self.own_kind(&rest, parts);
            }
            return;
        }
        let strings = StringRules::read(schema);
        let numbers = NumberRules::read(schema);
        let allowed = |value: &&Literal| match value {
            Literal::String(text) => strings.check(text).problems.is_empty(),
            Literal::Number(number) => numbers.problem(*number).is_none(),
            _ => true,
        };
        let narrowed: Vec<Literal> = values.iter().filter(allowed).cloned().collect();
        if narrowed.is_empty() {
            self.problem(
                ReadProblemKind::Values,
                "lists no value that its other rules allow, so those are ignored",
            );
        } else if narrowed.len() < values.len() {
            self.problem(
                ReadProblemKind::Values,
                "lists values that its other rules do not allow; they are left out",
            );
            *values = narrowed;
        }
        // A pattern that could not be matched is kept.
        let tried = |value: &Literal| match value {
            Literal::String(text) => strings.check(text).is_sure,
            _ => true,
        };
        if !strings.pattern.is_empty() && !values.iter().all(tried) {
            let pattern = strings.pattern.clone();
            parts.push(Shape::of(Kind::String(StringRules { pattern, ..StringRules::ANY })));
        }
    }
}

fn is_of(value: &Literal, types: &[&str]) -> bool {
    let name = value.type_name();
    match value {
        _ if types.contains(&name) => true,
        Literal::Number(Number::Int(_)) => types.contains(&"number"),
        Literal::Number(Number::Float(float)) => types.contains(&"integer") && float.fract() == 0.0,
        _ => false,
    }
}

impl Builder<'_> {
    fn extension(&mut self, schema: &Object) -> Option<Kind> {
        if let Some(Value::String(text)) = schema.get("x-raw") {
            return Some(Kind::Raw(text.clone().into()));
        }
        if schema.contains_key("x-all") {
            return Some(Kind::All(self.schemas(schema, "x-all").into()));
        }
        if let Some(Value::Array(values)) = schema.get("x-enum") {
            return Some(Kind::Enum(values.iter().map(Literal::of).collect()));
        }
        for (keyword, mode) in [("x-anyOf", UnionMode::Any), ("x-oneOf", UnionMode::One)] {
            if schema.contains_key(keyword) {
                let variants = self.schemas(schema, keyword).into();
                let discriminator = Self::discriminator(schema);
                return Some(Kind::Union(UnionRules { mode, variants, discriminator }));
            }
        }
        None
    }
}

impl Builder<'_> {
    fn unions(&mut self, schema: &Object, parts: &mut Vec<Shape>) {
        let count = ["anyOf", "oneOf"].iter().filter(|keyword| schema.contains_key(**keyword)).count();
        for (keyword, mode) in [("anyOf", UnionMode::Any), ("oneOf", UnionMode::One)] {
            if !schema.contains_key(keyword) {
                continue;
            }
            let variants = self.schemas(schema, keyword);
            // With two unions, it is unclear which one the discriminator belongs to.
            let discriminator = if count == 1 { Self::discriminator(schema) } else { None };
            parts.extend(union(mode, variants, discriminator));
        }
    }

    fn discriminator(schema: &Object) -> Option<Discriminator> {
        let value = schema.get("discriminator")?;
        let property = value.get("propertyName")?.as_str()?.to_owned().into();
        let mapping = value.get("mapping").and_then(Value::as_object).into_iter().flatten();
        let mapping: List<(Text, Text)> = mapping
            .filter_map(|(value, target)| {
                Some((value.clone().into(), pointer::referenced(target.as_str()?)?.into()))
            })
            .collect();
        let by_default = value.get("defaultMapping").and_then(|target| pointer::referenced(target.as_str()?));
        Some(Discriminator { property, mapping, default_variant: by_default.map(Into::into) })
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
    let all = variants.len();
    variants.retain(|variant| !matches!(variant.kind, Kind::Null));
    let nullable = variants.len() < all;
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
        let only_remarks = matches!(part.kind, Kind::Any);
        if only_remarks {
            shape.nullable |= part.nullable;
            shape.adopt(part);
        }
        !only_remarks
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
    let bare = parts.iter().position(|part| is_bare(&part.kind) && part.description.is_empty());
    let Some(index) = bare else { return };
    if parts.len() < 2 {
        return;
    }
    let kind = parts[index].kind.clone();
    let implied = parts.iter().enumerate().any(|(other, part)| other != index && implies(part, &kind));
    if implied {
        parts.remove(index);
    }
}

/// Whether all values of the shape have the type of the bare kind. A reference is assumed to.
fn implies(shape: &Shape, bare: &Kind) -> bool {
    match &shape.kind {
        Kind::Ref(_) => true,
        Kind::All(parts) => parts.iter().any(|part| implies(part, bare)),
        Kind::Union(rules) => rules.variants.iter().all(|variant| implies(variant, bare)),
        Kind::Enum(values) => match bare {
            Kind::String(_) => values.iter().all(|value| matches!(value, Literal::String(_))),
            Kind::Boolean => values.iter().all(|value| matches!(value, Literal::Bool(_))),
            Kind::Number(_) => values.iter().all(|value| matches!(value, Literal::Number(_))),
            _ => false,
        },
        Kind::Integer(_) => matches!(bare, Kind::Integer(_) | Kind::Number(_)),
        Kind::Tuple(_) => matches!(bare, Kind::Array(_)),
        kind => std::mem::discriminant(kind) == std::mem::discriminant(bare),
    }
}

/// Whether an array of shapes under `allOf`, `anyOf` or `oneOf` of canonical text is read back as the same array.
pub(in crate::schema::shape) fn is_natural_union(variants: &List<Shape>) -> bool {
    variants.len() > 1 && !variants.iter().any(|variant| matches!(variant.kind, Kind::Null))
}

/// Like [`is_natural_union`], for `allOf`.
pub(in crate::schema::shape) fn is_natural_all(parts: &List<Shape>) -> bool {
    let fixed = |part: &Shape| !matches!(part.kind, Kind::Any) && !is_bare(&part.kind);
    parts.len() > 1 && parts.iter().all(fixed)
}

/// Returns the keywords of a raw schema, if they can be written unchanged and are read back as the same text.
pub(in crate::schema::shape) fn is_natural_raw(text: &str) -> Option<Object> {
    let Ok(Value::Object(schema)) = serde_json::from_str(text) else { return None };
    let mut parts = Vec::new();
    unlimited(&mut Vec::new(), false).raw(&schema, &mut parts);
    let all_known = schema.iter().all(|(keyword, value)| raw_keyword_is_well_formed(keyword, value));
    // These two are also rules of arrays and objects.
    let alone = !schema.contains_key("uniqueItems") && !schema.contains_key("unevaluatedProperties");
    let same = matches!(parts.as_slice(), [Shape { kind: Kind::Raw(read), .. }] if read == text);
    (all_known && alone && same).then_some(schema)
}

/// Whether a keyword restricts values, cannot be represented in the tree, and has a valid value.
pub(in crate::schema::shape) fn raw_keyword_is_well_formed(keyword: &str, value: &Value) -> bool {
    let schema = |value: &Value| value.is_object() || value.is_boolean();
    match keyword {
        "not"
        | "if"
        | "then"
        | "else"
        | "contains"
        | "propertyNames"
        | "contentSchema"
        | "unevaluatedItems"
        | "unevaluatedProperties" => schema(value),
        "dependentSchemas" => value.as_object().is_some_and(|schemas| schemas.values().all(schema)),
        "dependentRequired" | "dependencies" => value.is_object(),
        "minContains" | "maxContains" => value.is_u64(),
        "uniqueItems" => value.is_boolean(),
        "$dynamicRef" | "$recursiveRef" => value.is_string(),
        _ => false,
    }
}

impl Builder<'_> {
    fn raw(&mut self, schema: &Object, parts: &mut Vec<Shape>) {
        let mut raw = Object::new();
        for (keyword, value) in schema {
            if !raw_keyword_is_well_formed(keyword, value) || has_no_effect(keyword, schema) {
                continue;
            }
            if self.limit != usize::MAX && !within_depth(value, MAX_DEPTH) {
                let message = format!("nested more than {MAX_DEPTH} levels deep, so ignored");
                self.at(keyword, |builder| builder.problem(ReadProblemKind::Depth, message));
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
            let is_ours = |key: &str, value: &Value| {
                key == TITLE && value.is_string()
                    || key == CHOICES && value.get("values").is_some_and(Value::is_array)
            };
            let kept = object.iter().filter(|(key, value)| !is_ours(key, value));
            kept.map(|(key, value)| (key.clone(), without_titles(value))).collect()
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
        "uniqueItems" => tuple(schema).is_none(),
        "unevaluatedProperties" => schema.get(keyword) == Some(&json!(true)),
        _ => false,
    }
}
