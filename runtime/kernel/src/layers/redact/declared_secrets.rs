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
/// A schema often describes alternatives. A part is hidden if any branch declares it as secret: this code does not know
/// which branch applies, and a wrong guess would be a leak. A value is walked with the set of all nodes that may
/// describe it. This also limits the work to the number of nodes times the number of values.
#[derive(Clone, Debug)]
pub(super) struct DeclaredSecrets {
    nodes: Vec<Node>,
    /// Whether values that the schema does not describe are also hidden.
    is_strict: bool,
}

/// The contents of one schema, with references to other nodes by index. The first node is the root.
#[derive(Clone, Debug, Default)]
struct Node {
    is_secret: bool,
    /// Whether the schema allows no keys other than those it describes.
    is_closed: bool,
    /// Whether the value may be an object with keys that the schema does not name.
    is_open: bool,
    /// Whether one of the keys is the name of a secret.
    has_secret_key: bool,
    /// Nodes that describe the same value.
    same_value: Vec<usize>,
    /// Nodes that describe the values of these keys, as [`spelling`] returns them.
    fields: Vec<(String, usize)>,
    /// Nodes that describe the values of other keys.
    other_keys: Vec<usize>,
    /// Nodes that describe the value of any key.
    all_keys: Vec<usize>,
    /// Nodes that describe the first items of an array.
    first_items: Vec<usize>,
    /// Nodes that describe the other items of an array.
    other_items: Vec<usize>,
}

impl Node {
    fn children(&self) -> impl Iterator<Item = usize> {
        let by_name = self.fields.iter().map(|(_, node)| *node);
        let lists =
            [&self.same_value, &self.other_keys, &self.all_keys, &self.first_items, &self.other_items];
        lists.into_iter().flatten().copied().chain(by_name)
    }
}

/// Keywords whose schemas describe the same value.
const SAME_VALUE: &[&str] =
    &["allOf", "anyOf", "oneOf", "x-all", "x-anyOf", "x-oneOf", "if", "then", "else", "not"];

impl DeclaredSecrets {
    /// Returns the secret parts of a result, if any.
    pub(super) fn of_result(schema: &Schema, defs: &List<Def>) -> Option<DeclaredSecrets> {
        DeclaredSecrets::read(schema, defs, &Keys::default())
            .ok()
            .map(|nodes| DeclaredSecrets { nodes, is_strict: false })
    }

    /// Returns the secret parts of arguments, and whether valid arguments may hold secrets at all: declared ones, or
    /// those under secret keys. Arguments that a closed schema does not describe are secret, because a model may have
    /// misspelled the name of a secret.
    pub(super) fn of_arguments(
        schema: &Schema,
        defs: &List<Def>,
        keys: &Keys,
    ) -> (Option<DeclaredSecrets>, bool) {
        let nodes = match DeclaredSecrets::read(schema, defs, keys) {
            Ok(nodes) => return (Some(DeclaredSecrets { nodes, is_strict: true }), true),
            Err(nodes) => nodes,
        };
        let may_hold = nodes.iter().any(|node| node.is_open || node.has_secret_key);
        let root = nodes.into_iter().next().filter(|node| node.is_closed && node.same_value.is_empty());
        // Most tools have no secrets. For those, only the names of the arguments are needed.
        let declared = root.map(|root| {
            let fields = root.fields.into_iter().map(|(name, _)| (name, usize::MAX));
            let root = Node { is_closed: true, fields: fields.collect(), ..Node::default() };
            DeclaredSecrets { nodes: vec![root], is_strict: true }
        });
        (declared, may_hold)
    }

    /// Reads the nodes of a schema, and returns them as an error if none of them is secret.
    fn read(schema: &Schema, defs: &List<Def>, keys: &Keys) -> Result<Vec<Node>, Vec<Node>> {
        let mut reader =
            Reader { defs, keys, named_schemas: BTreeMap::new(), nodes: Vec::new(), pending: Vec::new() };
        reader.shape(schema.shape());
        while let Some((index, shape)) = reader.pending.pop() {
            let target = reader.shape(shape);
            reader.node_mut(index, |node| node.same_value.push(target));
        }
        let nodes = reader.nodes;
        let mut visited = vec![false; nodes.len()];
        let mut stack = vec![0];
        while let Some(index) = stack.pop() {
            let (Some(node), Some(is_visited)) = (nodes.get(index), visited.get_mut(index)) else { continue };
            if node.is_secret {
                return Ok(nodes);
            }
            if !std::mem::replace(is_visited, true) {
                stack.extend(node.children());
            }
        }
        Err(nodes)
    }

    /// Hides the secret parts and collects them.
    pub(super) fn hide(&self, value: &mut Value, secrets: &mut Secrets, depth: usize) {
        self.walk(vec![0], value, secrets, depth);
    }

    fn walk(&self, nodes: Vec<usize>, value: &mut Value, secrets: &mut Secrets, depth: usize) {
        let nodes = self.with_same_value(nodes);
        let described = || nodes.iter().filter_map(|index| self.nodes.get(*index));
        if nodes.is_empty() || value.is_null() {
            return;
        }
        // A decoder may accept a single value as an array with one item.
        let is_scalar = !value.is_object() && !value.is_array();
        let item_nodes = || described().flat_map(|node| node.first_items.iter().chain(&node.other_items));
        let item_alternatives = || self.with_same_value(item_nodes().copied().collect());
        let is_secret = |index: &usize| self.nodes.get(*index).is_some_and(|node| node.is_secret);
        if described().any(|node| node.is_secret) || (is_scalar && item_alternatives().iter().any(is_secret))
        {
            secrets.collect(value, depth);
            *value = Value::from(REDACTED);
            return;
        }
        if depth == 0 {
            if !is_scalar {
                *value = Value::from(TOO_DEEP_MASK);
            }
            return;
        }
        match value {
            Value::Object(fields) => {
                let is_closed = self.is_strict && described().any(|node| node.is_closed);
                for (key, value) in fields {
                    let key = spelling(key);
                    if is_closed && !described().any(|node| node.describes_key(&key)) {
                        secrets.collect(value, depth);
                        *value = Value::from(REDACTED);
                        continue;
                    }
                    let children = described().flat_map(|node| node.nodes_for_key(&key)).collect();
                    self.walk(children, value, secrets, depth - 1);
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter_mut().enumerate() {
                    let mut children: Vec<usize> = Vec::new();
                    for node in described() {
                        children.extend(node.first_items.get(index).into_iter().chain(&node.other_items));
                    }
                    // A decoder may accept an array with one item as the object in it.
                    if value.is_object() {
                        children.extend(&nodes);
                    }
                    self.walk(children, value, secrets, depth - 1);
                }
            }
            Value::String(text) => self.text(&nodes, text, secrets, depth),
            _ => {}
        }
    }

    /// Walks a string that contains the JSON of an array or an object: models send such strings, and a decoder accepts
    /// them.
    fn text(&self, nodes: &[usize], text: &mut String, secrets: &mut Secrets, depth: usize) {
        if !text.trim_start().starts_with(['{', '[']) {
            return;
        }
        match serde_json::from_str::<Value>(text) {
            Ok(parsed) => {
                let mut redacted = parsed.clone();
                self.walk(nodes.to_vec(), &mut redacted, secrets, depth - 1);
                if redacted != parsed {
                    *text = redacted.to_string();
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
        let nodes = self.with_same_value(nodes);
        let described = || nodes.iter().filter_map(|index| self.nodes.get(*index));
        let item_nodes = || {
            described().flat_map(|node| node.first_items.iter().chain(&node.other_items)).copied().collect()
        };
        let is_secret = |index: &usize| self.nodes.get(*index).is_some_and(|node| node.is_secret);
        let is_scalar = !value.is_object() && !value.is_array();
        if nodes.iter().any(is_secret)
            || (is_scalar && self.with_same_value(item_nodes()).iter().any(is_secret))
        {
            return hide_all(value);
        }
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    let key = spelling(key);
                    self.walk_leaves(described().flat_map(|node| node.nodes_for_key(&key)).collect(), value);
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter_mut().enumerate() {
                    let mut children: Vec<usize> = Vec::new();
                    for node in described() {
                        children.extend(node.first_items.get(index).into_iter().chain(&node.other_items));
                    }
                    // A decoder may accept an array with one item as the object in it.
                    if value.is_object() {
                        children.extend(&nodes);
                    }
                    self.walk_leaves(children, value);
                }
            }
            _ => {}
        }
    }

    /// Returns the nodes and all nodes that describe the same values, each once.
    fn with_same_value(&self, mut nodes: Vec<usize>) -> Vec<usize> {
        let mut index = 0;
        nodes.sort_unstable();
        nodes.dedup();
        while let Some(node) = nodes.get(index).and_then(|node_index| self.nodes.get(*node_index)) {
            for other in &node.same_value {
                if !nodes.contains(other) {
                    nodes.push(*other);
                }
            }
            index += 1;
        }
        nodes
    }
}

impl Node {
    fn describes_key(&self, key: &str) -> bool {
        self.fields.iter().any(|(name, _)| name == key)
            || !self.other_keys.is_empty()
            || !self.all_keys.is_empty()
    }

    fn nodes_for_key(&self, key: &str) -> impl Iterator<Item = usize> {
        let by_name = self.fields.iter().filter(move |(name, _)| name == key).map(|(_, node)| *node);
        let is_named = self.fields.iter().any(|(name, _)| name == key);
        let others = if is_named { &[][..] } else { &self.other_keys[..] };
        by_name.chain(others.iter().chain(&self.all_keys).copied())
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
            .any(|keyword| schema.contains_key(keyword)),
    }
}

struct Reader<'a> {
    defs: &'a List<Def>,
    keys: &'a Keys,
    named_schemas: BTreeMap<String, usize>,
    nodes: Vec<Node>,
    /// Named shapes that are referenced but not read yet.
    pending: Vec<(usize, &'a Shape)>,
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
                self.nodes.push(Node { is_secret: true, ..Node::default() });
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
                node.is_open = !node.is_closed && may_be_object(schema);
                self.node_mut(index, |target| *target = node);
            }
            Value::Bool(false) => {}
            _ => self.node_mut(index, |target| target.is_open = true),
        }
        index
    }

    fn keywords(&mut self, schema: &Map<String, Value>) -> Node {
        let mut node = Node::default();
        for (keyword, value) in schema {
            match (keyword.as_str(), value) {
                ("format", Value::String(format)) => {
                    node.is_secret |= format.eq_ignore_ascii_case("password");
                }
                ("writeOnly", value) => node.is_secret |= *value == Value::Bool(true),
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference)) => {
                    let target = self.reference(reference);
                    node.same_value.push(target);
                }
                ("x-raw", Value::String(text)) => {
                    let raw = self.text(text);
                    node.same_value.push(raw);
                }
                ("properties", Value::Object(fields)) => {
                    for (name, value) in fields {
                        self.field(name, value, &mut node);
                    }
                }
                ("patternProperties", Value::Object(fields)) => {
                    node.all_keys.extend(fields.values().map(|value| self.schema(value)));
                }
                ("additionalProperties" | "unevaluatedProperties", Value::Bool(false)) => {
                    node.is_closed = true;
                }
                ("additionalProperties" | "unevaluatedProperties", value) => {
                    node.other_keys.push(self.schema(value));
                }
                ("dependentSchemas" | "dependencies", Value::Object(fields)) => {
                    node.same_value.extend(fields.values().map(|value| self.schema(value)));
                }
                ("prefixItems" | "items", Value::Array(items)) => {
                    node.first_items.extend(items.iter().map(|value| self.schema(value)));
                }
                ("items" | "contains" | "unevaluatedItems" | "additionalItems", value) => {
                    node.other_items.push(self.schema(value));
                }
                (keyword, Value::Array(parts)) if SAME_VALUE.contains(&keyword) => {
                    node.same_value.extend(parts.iter().map(|value| self.schema(value)));
                }
                (keyword, value) if SAME_VALUE.contains(&keyword) => node.same_value.push(self.schema(value)),
                _ => {}
            }
        }
        node
    }

    fn field(&mut self, name: &str, schema: &Value, node: &mut Node) {
        let index = self.schema(schema);
        let aliases = schema.get("x-aliases").and_then(Value::as_array).into_iter().flatten();
        let other_names = aliases.chain(schema.get("x-wire")).filter_map(Value::as_str);
        for name in [name].into_iter().chain(other_names) {
            node.has_secret_key |= self.keys.holds(name);
            node.fields.push((spelling(name), index));
        }
    }

    /// Reads a reference. An unknown reference is treated as one to the root.
    fn reference(&mut self, reference: &str) -> usize {
        let Some(name) = referenced(reference) else { return 0 };
        if let Some(index) = self.named_schemas.get(&name) {
            return *index;
        }
        let Some(shape) = find_def(self.defs, &name) else { return 0 };
        let index = self.nodes.len();
        self.nodes.push(Node::default());
        self.named_schemas.insert(name, index);
        self.pending.push((index, shape));
        index
    }
}
