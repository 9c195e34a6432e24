//! The parts of a value that its schema declares as secret.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use toolgen_core::internal::pointer::referenced;

use super::rules::hide_all;
use super::{REDACTED, Secrets, TOO_DEEP_MASK};
use crate::base::frozen::List;
use crate::base::secret_names::Keys;
use crate::schema::shape::render::canonical;
use crate::schema::shape::{Def, Schema, Shape, find_def};

/// The secret parts of a schema.
///
/// A schema often describes alternatives. A part is hidden if any branch declares it as secret: the branch that
/// applies is decided elsewhere, and a wrong guess would be a leak. So a value is walked with the set of all nodes
/// that may describe it, which also limits the work to the number of nodes times the number of values.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    nodes: Vec<Node>,
    /// Whether values that the schema does not describe are also hidden.
    strict: bool,
}

/// The contents of one schema, with other nodes by index. The root is the first.
#[derive(Clone, Debug, Default)]
struct Node {
    secret: bool,
    /// Whether the schema allows no keys other than those it describes.
    closed: bool,
    /// Whether the value may be an object with keys that the schema does not name.
    open: bool,
    /// Whether one of the keys is a secret key.
    telling: bool,
    /// Nodes that describe the same value.
    also: Vec<usize>,
    /// Nodes that describe the values of these keys, as [`spelling`] returns them.
    fields: Vec<(String, usize)>,
    /// Nodes that describe the values of other keys.
    rest: Vec<usize>,
    /// Nodes that describe the value of any key.
    any: Vec<usize>,
    /// Nodes that describe the first items of an array.
    first: Vec<usize>,
    /// Nodes that describe the other items of an array.
    items: Vec<usize>,
}

impl Node {
    fn leads_to(&self) -> impl Iterator<Item = usize> {
        let by_name = self.fields.iter().map(|(_, node)| *node);
        let lists = [&self.also, &self.rest, &self.any, &self.first, &self.items];
        lists.into_iter().flatten().copied().chain(by_name)
    }
}

/// Keywords whose schemas describe the same value.
const SAME_VALUE: &[&str] =
    &["allOf", "anyOf", "oneOf", "x-all", "x-anyOf", "x-oneOf", "if", "then", "else", "not"];

impl Declared {
    /// Returns the secret parts of a result, if any.
    pub(super) fn of_result(schema: &Schema, defs: &List<Def>) -> Option<Declared> {
        Declared::read(schema, defs, &Keys::default()).ok().map(|nodes| Declared { nodes, strict: false })
    }

    /// Returns the secret parts of arguments, and whether valid arguments may hold secrets at all: declared ones, or
    /// ones under secret keys. Arguments that a closed schema does not describe are secret, because a model may have
    /// misspelled the name of a secret.
    pub(super) fn of_arguments(schema: &Schema, defs: &List<Def>, keys: &Keys) -> (Option<Declared>, bool) {
        let nodes = match Declared::read(schema, defs, keys) {
            Ok(nodes) => return (Some(Declared { nodes, strict: true }), true),
            Err(nodes) => nodes,
        };
        let may_hold = nodes.iter().any(|node| node.open || node.telling);
        let root = nodes.into_iter().next().filter(|node| node.closed && node.also.is_empty());
        // Most tools have no secrets; for those only the names of their arguments are needed.
        let declared = root.map(|root| {
            let fields = root.fields.into_iter().map(|(name, _)| (name, usize::MAX));
            let root = Node { closed: true, fields: fields.collect(), ..Node::default() };
            Declared { nodes: vec![root], strict: true }
        });
        (declared, may_hold)
    }

    /// Reads the nodes of a schema, and returns them as an error if none of them is secret.
    fn read(schema: &Schema, defs: &List<Def>, keys: &Keys) -> Result<Vec<Node>, Vec<Node>> {
        let mut reader =
            Reader { defs, keys, named_schemas: BTreeMap::new(), nodes: Vec::new(), waiting: Vec::new() };
        reader.shape(schema.shape());
        while let Some((index, shape)) = reader.waiting.pop() {
            let body = reader.shape(shape);
            reader.node_mut(index, |node| node.also.push(body));
        }
        let nodes = reader.nodes;
        let mut reached = vec![false; nodes.len()];
        let mut next = vec![0];
        while let Some(index) = next.pop() {
            let (Some(node), Some(seen)) = (nodes.get(index), reached.get_mut(index)) else { continue };
            if node.secret {
                return Ok(nodes);
            }
            if !std::mem::replace(seen, true) {
                next.extend(node.leads_to());
            }
        }
        Err(nodes)
    }

    /// Hides the secret parts and collects them.
    pub(super) fn hide(&self, value: &mut Value, found: &mut Secrets, depth: usize) {
        self.walk(vec![0], value, found, depth);
    }

    fn walk(&self, nodes: Vec<usize>, value: &mut Value, found: &mut Secrets, depth: usize) {
        let nodes = self.with_others(nodes);
        let all = || nodes.iter().filter_map(|index| self.nodes.get(*index));
        if nodes.is_empty() || value.is_null() {
            return;
        }
        // A decoder may accept a single value as an array with one item.
        let scalar = !value.is_object() && !value.is_array();
        let wrapped = || all().flat_map(|node| node.first.iter().chain(&node.items));
        let listed = || self.with_others(wrapped().copied().collect());
        let is_secret = |index: &usize| self.nodes.get(*index).is_some_and(|node| node.secret);
        if all().any(|node| node.secret) || (scalar && listed().iter().any(is_secret)) {
            found.collect(value, depth);
            *value = Value::from(REDACTED);
            return;
        }
        if depth == 0 {
            if !scalar {
                *value = Value::from(TOO_DEEP_MASK);
            }
            return;
        }
        match value {
            Value::Object(fields) => {
                let closed = self.strict && all().any(|node| node.closed);
                for (key, value) in fields {
                    let key = spelling(key);
                    if closed && !all().any(|node| node.knows(&key)) {
                        found.collect(value, depth);
                        *value = Value::from(REDACTED);
                        continue;
                    }
                    let inner = all().flat_map(|node| node.of_key(&key)).collect();
                    self.walk(inner, value, found, depth - 1);
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter_mut().enumerate() {
                    let mut inner: Vec<usize> = Vec::new();
                    for node in all() {
                        inner.extend(node.first.get(index).into_iter().chain(&node.items));
                    }
                    // A decoder may accept an array with one item as the object in it.
                    if value.is_object() {
                        inner.extend(&nodes);
                    }
                    self.walk(inner, value, found, depth - 1);
                }
            }
            Value::String(text) => self.text(&nodes, text, found, depth),
            _ => {}
        }
    }

    /// Walks a string that contains an array or an object: models send those, and a decoder accepts them.
    fn text(&self, nodes: &[usize], text: &mut String, found: &mut Secrets, depth: usize) {
        if !text.trim_start().starts_with(['{', '[']) {
            return;
        }
        match serde_json::from_str::<Value>(text) {
            Ok(inner) => {
                let mut hidden = inner.clone();
                self.walk(nodes.to_vec(), &mut hidden, found, depth - 1);
                if hidden != inner {
                    *text = hidden.to_string();
                }
            }
            Err(_) => *text = REDACTED.to_owned(),
        }
    }

    /// Hides the strings and numbers in secret parts, and nothing else: the values around them stay visible.
    pub(super) fn hide_leaves(&self, value: &mut Value) {
        self.walk_leaves(vec![0], value);
    }

    fn walk_leaves(&self, nodes: Vec<usize>, value: &mut Value) {
        let nodes = self.with_others(nodes);
        let all = || nodes.iter().filter_map(|index| self.nodes.get(*index));
        let wrapped = || all().flat_map(|node| node.first.iter().chain(&node.items)).copied().collect();
        let is_secret = |index: &usize| self.nodes.get(*index).is_some_and(|node| node.secret);
        let scalar = !value.is_object() && !value.is_array();
        if nodes.iter().any(is_secret) || (scalar && self.with_others(wrapped()).iter().any(is_secret)) {
            return hide_all(value);
        }
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    let key = spelling(key);
                    self.walk_leaves(all().flat_map(|node| node.of_key(&key)).collect(), value);
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter_mut().enumerate() {
                    let mut inner: Vec<usize> = Vec::new();
                    for node in all() {
                        inner.extend(node.first.get(index).into_iter().chain(&node.items));
                    }
                    // A decoder may accept an array with one item as the object in it.
                    if value.is_object() {
                        inner.extend(&nodes);
                    }
                    self.walk_leaves(inner, value);
                }
            }
            _ => {}
        }
    }

    /// Returns the nodes and all nodes that describe the same values, each once.
    fn with_others(&self, mut nodes: Vec<usize>) -> Vec<usize> {
        let mut index = 0;
        nodes.sort_unstable();
        nodes.dedup();
        while let Some(node) = nodes.get(index).and_then(|at| self.nodes.get(*at)) {
            for also in &node.also {
                if !nodes.contains(also) {
                    nodes.push(*also);
                }
            }
            index += 1;
        }
        nodes
    }
}

impl Node {
    fn knows(&self, key: &str) -> bool {
        self.fields.iter().any(|(name, _)| name == key) || !self.rest.is_empty() || !self.any.is_empty()
    }

    fn of_key(&self, key: &str) -> impl Iterator<Item = usize> {
        let by_name = self.fields.iter().filter(move |(name, _)| name == key).map(|(_, node)| *node);
        let known = self.fields.iter().any(|(name, _)| name == key);
        let rest = if known { &[][..] } else { &self.rest[..] };
        by_name.chain(rest.iter().chain(&self.any).copied())
    }
}

/// Normalizes the spelling of a key, which people and models vary.
fn spelling(key: &str) -> String {
    key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns whether the keywords of a schema itself allow objects.
fn may_be_object(schema: &Map<String, Value>) -> bool {
    match schema.get("type") {
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        // Other schemas that describe the same value are checked separately.
        _ => !["enum", "const", "$ref", "x-raw"]
            .into_iter()
            .chain(SAME_VALUE.iter().copied())
            .any(|it| schema.contains_key(it)),
    }
}

struct Reader<'a> {
    defs: &'a List<Def>,
    keys: &'a Keys,
    named_schemas: BTreeMap<String, usize>,
    nodes: Vec<Node>,
    /// Named shapes that are referenced but not read yet.
    waiting: Vec<(usize, &'a Shape)>,
}

impl Reader<'_> {
    fn node_mut(&mut self, index: usize, change: impl FnOnce(&mut Node)) {
        if let Some(node) = self.nodes.get_mut(index) {
            change(node);
        }
    }

    fn shape(&mut self, shape: &Shape) -> usize {
        self.text(&canonical(shape))
    }

    /// Reads a schema from its JSON. A schema that cannot be parsed may declare anything as secret.
    fn text(&mut self, text: &str) -> usize {
        match serde_json::from_str(text) {
            Ok(schema) => self.schema(&schema),
            Err(_) => {
                self.nodes.push(Node { secret: true, ..Node::default() });
                self.nodes.len() - 1
            }
        }
    }

    fn schema(&mut self, schema: &Value) -> usize {
        let index = self.nodes.len();
        self.nodes.push(Node::default());
        match schema {
            Value::Object(schema) => {
                let mut node = self.keywords(schema);
                node.open = !node.closed && may_be_object(schema);
                self.node_mut(index, |place| *place = node);
            }
            Value::Bool(false) => {}
            _ => self.node_mut(index, |place| place.open = true),
        }
        index
    }

    fn keywords(&mut self, schema: &Map<String, Value>) -> Node {
        let mut node = Node::default();
        for (keyword, value) in schema {
            match (keyword.as_str(), value) {
                ("format", Value::String(format)) => node.secret |= format.eq_ignore_ascii_case("password"),
                ("writeOnly", value) => node.secret |= *value == Value::Bool(true),
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference)) => {
                    let target = self.reference(reference);
                    node.also.push(target);
                }
                ("x-raw", Value::String(text)) => {
                    let raw = self.text(text);
                    node.also.push(raw);
                }
                ("properties", Value::Object(fields)) => {
                    for (name, value) in fields {
                        self.field(name, value, &mut node);
                    }
                }
                ("patternProperties", Value::Object(fields)) => {
                    node.any.extend(fields.values().map(|value| self.schema(value)));
                }
                ("additionalProperties" | "unevaluatedProperties", Value::Bool(false)) => node.closed = true,
                ("additionalProperties" | "unevaluatedProperties", value) => {
                    node.rest.push(self.schema(value));
                }
                ("dependentSchemas" | "dependencies", Value::Object(fields)) => {
                    node.also.extend(fields.values().map(|value| self.schema(value)));
                }
                ("prefixItems" | "items", Value::Array(items)) => {
                    node.first.extend(items.iter().map(|value| self.schema(value)));
                }
                ("items" | "contains" | "unevaluatedItems" | "additionalItems", value) => {
                    node.items.push(self.schema(value));
                }
                (keyword, Value::Array(parts)) if SAME_VALUE.contains(&keyword) => {
                    node.also.extend(parts.iter().map(|value| self.schema(value)));
                }
                (keyword, value) if SAME_VALUE.contains(&keyword) => node.also.push(self.schema(value)),
                _ => {}
            }
        }
        node
    }

    fn field(&mut self, name: &str, schema: &Value, node: &mut Node) {
        let index = self.schema(schema);
        let aliases = schema.get("x-aliases").and_then(Value::as_array).into_iter().flatten();
        let others = aliases.chain(schema.get("x-wire")).filter_map(Value::as_str);
        for name in [name].into_iter().chain(others) {
            node.telling |= self.keys.holds(name);
            node.fields.push((spelling(name), index));
        }
    }

    /// Reads a reference. An unknown one is treated as a reference to the root.
    fn reference(&mut self, reference: &str) -> usize {
        let Some(name) = referenced(reference) else { return 0 };
        if let Some(index) = self.named_schemas.get(&name) {
            return *index;
        }
        let Some(shape) = find_def(self.defs, &name) else { return 0 };
        let index = self.nodes.len();
        self.nodes.push(Node::default());
        self.named_schemas.insert(name, index);
        self.waiting.push((index, shape));
        index
    }
}
