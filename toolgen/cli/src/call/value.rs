//! Parses values from a shell by the schema of their argument.

use serde_json::Value;
use toolgen_runtime::List;
use toolgen_runtime::schema::shape::{Access, Def, Extra, Field, Kind, Literal, Shape, find_def};

/// Maximum depth of references and variants to follow; a schema may be recursive.
const MAX_DEPTH: usize = 16;

/// Maximum number of arguments in a usage line.
const MAX_USAGE_ARGUMENTS: usize = 12;

/// Maximum number of enumerated values in a usage line.
const MAX_USAGE_VALUES: usize = 4;

/// The JSON types that a shape accepts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AcceptedTypes<'a> {
    pub(super) text: bool,
    /// Whether the strings are Base64.
    pub(super) base64: bool,
    /// Whether the Base64 alphabet is the URL-safe one.
    pub(super) url_safe: bool,
    null: bool,
    boolean: bool,
    number: bool,
    object: bool,
    anything: bool,
    /// The shape of its items, if it accepts an array; the inner `None` accepts any item.
    list: Option<Option<&'a Shape>>,
}

impl<'a> AcceptedTypes<'a> {
    /// Returns the types that a shape accepts; all types if there is no shape.
    pub(super) fn of(shape: Option<&'a Shape>, defs: &'a List<Def>) -> AcceptedTypes<'a> {
        let mut accepted = AcceptedTypes::default();
        match shape {
            Some(shape) => accepted.add(shape, defs, 0),
            None => accepted.anything = true,
        }
        accepted
    }

    fn add(&mut self, shape: &'a Shape, defs: &'a List<Def>, depth: usize) {
        self.null |= shape.nullable;
        if depth > MAX_DEPTH {
            self.anything = true;
            return;
        }
        match &shape.kind {
            Kind::Any | Kind::Raw(_) => self.anything = true,
            Kind::Never => {}
            Kind::Null => self.null = true,
            Kind::Boolean => self.boolean = true,
            Kind::Integer(_) | Kind::Number(_) => self.number = true,
            Kind::String(rules) => {
                self.text = true;
                self.url_safe |= &*rules.content_encoding == "base64url";
                self.base64 |= self.url_safe || &*rules.content_encoding == "base64";
            }
            Kind::Enum(literals) => literals.iter().for_each(|literal| match literal {
                Literal::Null => self.null = true,
                Literal::Bool(_) => self.boolean = true,
                Literal::Number(_) => self.number = true,
                Literal::String(_) => self.text = true,
                Literal::Json(_) => self.anything = true,
            }),
            Kind::Array(rules) => self.list = Some(Some(&*rules.items)),
            Kind::Tuple(_) => self.list = Some(None),
            Kind::Object(_) => self.object = true,
            Kind::Union(rules) => {
                rules.variants.iter().for_each(|variant| self.add(variant, defs, depth + 1));
            }
            Kind::All(shapes) => shapes.iter().for_each(|shape| self.add(shape, defs, depth + 1)),
            Kind::Ref(name) => match find_def(defs, name) {
                Some(shape) => self.add(shape, defs, depth + 1),
                None => self.anything = true,
            },
        }
    }

    /// Whether it accepts arrays but not strings, so that commas separate items and a repeated name adds items.
    pub(super) fn is_list_only(&self) -> bool {
        self.list.is_some() && !self.text && !self.anything
    }

    /// Whether a JSON value has an accepted type.
    fn accepts(&self, value: &Value) -> bool {
        self.anything
            || match value {
                Value::Null => self.null,
                Value::Bool(_) => self.boolean,
                Value::Number(_) => self.number,
                Value::String(_) => false,
                Value::Array(_) => self.list.is_some(),
                Value::Object(_) => self.object,
            }
    }

    /// Returns a value as JSON text, with numbers verbatim.
    pub(super) fn json(&self, word: &str, defs: &'a List<Def>) -> String {
        let parsed = serde_json::from_str::<Value>(word);
        if parsed.as_ref().is_ok_and(|value| self.accepts(value)) {
            return word.trim().to_owned();
        }
        if self.is_list_only() {
            return format!("[{}]", self.items(word, defs).join(","));
        }
        match parsed {
            // Keep the type of an invalid value, so that its error message is correct.
            Ok(_) if !self.text => word.trim().to_owned(),
            _ => Value::String(word.to_owned()).to_string(),
        }
    }

    /// Returns the items of an array value, as JSON texts to join with commas: the items of a JSON array, or the parts
    /// between commas.
    pub(super) fn items(&self, word: &str, defs: &'a List<Def>) -> Vec<String> {
        if serde_json::from_str::<Vec<Value>>(word).is_ok() {
            let inner = word
                .trim()
                .strip_prefix('[')
                .and_then(|rest| rest.strip_suffix(']'))
                .unwrap_or_default()
                .trim();
            return if inner.is_empty() { Vec::new() } else { vec![inner.to_owned()] };
        }
        if word.is_empty() {
            return Vec::new();
        }
        let item = AcceptedTypes::of(self.list.flatten(), defs);
        // Objects contain commas themselves.
        if item.object && word.trim_start().starts_with('{') {
            return vec![item.json(word, defs)];
        }
        word.split(',').map(|part| item.json(part, defs)).collect()
    }
}

/// Returns the shape of a field, also in variants and maps; `None` if the field does not exist.
pub(super) fn field<'a>(shape: &'a Shape, name: &str, defs: &'a List<Def>) -> Option<Option<&'a Shape>> {
    find(shape, name, defs, 0)
}

fn find<'a>(shape: &'a Shape, name: &str, defs: &'a List<Def>, depth: usize) -> Option<Option<&'a Shape>> {
    if depth > MAX_DEPTH {
        return None;
    }
    match &shape.kind {
        Kind::Object(rules) => {
            let field = rules.fields.iter().find(|field| *field.name == *name);
            let field = field.or_else(|| {
                rules.fields.iter().find(|field| field.aliases.iter().any(|alias| **alias == *name))
            });
            match (&rules.extra, field) {
                (_, Some(field)) => Some(Some(&field.shape)),
                (Extra::Of(shape), None) => Some(Some(&**shape)),
                _ => None,
            }
        }
        Kind::Union(rules) => rules.variants.iter().find_map(|variant| find(variant, name, defs, depth + 1)),
        Kind::All(shapes) => shapes.iter().find_map(|shape| find(shape, name, defs, depth + 1)),
        Kind::Ref(reference) => find(find_def(defs, reference)?, name, defs, depth + 1),
        _ => None,
    }
}

/// Returns the first field of an object, for the usage `object.field=…`.
fn first_field<'a>(shape: &'a Shape, defs: &'a List<Def>, depth: usize) -> Option<&'a str> {
    match &shape.kind {
        Kind::Object(rules) => {
            let is_settable = |field: &&Field| field.access != Access::ReadOnly;
            let mut fields = rules.fields.iter().filter(is_settable);
            let required = rules.fields.iter().filter(is_settable).find(|field| field.required);
            required.or_else(|| fields.next()).map(|field| field.name.as_str())
        }
        Kind::Ref(name) if depth < MAX_DEPTH => first_field(find_def(defs, name)?, defs, depth + 1),
        _ => None,
    }
}

/// Returns the placeholder for a value of a shape: `TEXT`, `NUMBER`, `true|false`, …
pub(super) fn placeholder(shape: &Shape, defs: &List<Def>) -> String {
    if let Kind::Enum(literals) = &shape.kind
        && literals.len() <= MAX_USAGE_VALUES
    {
        let texts = literals.iter().map(|literal| match literal {
            Literal::String(text) => text.to_string(),
            other => other.to_json().to_string(),
        });
        return texts.collect::<Vec<_>>().join("|");
    }
    let accepted = AcceptedTypes::of(Some(shape), defs);
    match accepted {
        AcceptedTypes { anything: true, .. } => "JSON".to_owned(),
        AcceptedTypes { text: true, number: true, .. } => "NUMBER|TEXT".to_owned(),
        AcceptedTypes { text: true, .. } => "TEXT".to_owned(),
        AcceptedTypes { number: true, .. } => "NUMBER".to_owned(),
        AcceptedTypes { boolean: true, .. } => "true|false".to_owned(),
        AcceptedTypes { list: Some(Some(item)), .. } if is_short(&AcceptedTypes::of(Some(item), defs)) => {
            format!("{},…", placeholder(item, defs))
        }
        _ => "JSON".to_owned(),
    }
}

/// Whether items are written between commas, rather than as JSON.
fn is_short(item: &AcceptedTypes<'_>) -> bool {
    item.text || !(item.object || item.list.is_some())
}

/// Returns the usage of the arguments of a tool: `id=NUMBER [limit=NUMBER]`.
pub(super) fn usage(shape: &Shape, defs: &List<Def>, is_file: &dyn Fn(&str) -> bool) -> String {
    let Kind::Object(rules) = &shape.kind else { return "one JSON object".to_owned() };
    let (required, optional): (Vec<_>, Vec<_>) = rules.fields.iter().partition(|field| field.required);
    let with_placeholder = |name: &str, shape: &Shape| match first_field(shape, defs, 0) {
        _ if is_file(name) => format!("{name}=@FILE"),
        Some(part) => format!("{name}.{part}=…"),
        None => format!("{name}={}", placeholder(shape, defs)),
    };
    let required = required.into_iter().map(|field| with_placeholder(&field.name, &field.shape));
    let optional =
        optional.into_iter().map(|field| format!("[{}]", with_placeholder(&field.name, &field.shape)));
    let mut all: Vec<String> = required.chain(optional).collect();
    let more = all.len().saturating_sub(MAX_USAGE_ARGUMENTS);
    if more > 0 {
        all.truncate(MAX_USAGE_ARGUMENTS);
        all.push(format!("and {more} more"));
    }
    if all.is_empty() { "no arguments".to_owned() } else { all.join(" ") }
}
