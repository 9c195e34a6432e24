//! The attributes of a tool, under the same names as those of `#[tool(…)]`.

use serde_json::Value;
use toolgen_core::schema::shape::{Kind, Relation, RelationKind};
use toolgen_core::spec::Timeout;
use toolgen_core::{List, Text, ToolSpec};

use super::codes;
use super::context::{Context, nearest};
use super::node::Node;
use crate::problem::codes::SELECTOR;
use crate::size::kept_in_vain;
use crate::source::Pointer;

/// The attributes of a tool, and those that it shares with the other tools of its file.
#[derive(Clone, Debug)]
pub(super) struct Attributes<'a> {
    /// Those of the tool.
    pub(super) own: Node<'a>,
    /// The shared attributes, which apply unless the tool sets them itself.
    pub(super) shared: Option<Node<'a>>,
}

impl<'a> Attributes<'a> {
    /// Returns the object that sets an attribute, or that of the tool if none does.
    pub(super) fn of(&self, key: &str) -> &Node<'a> {
        match &self.shared {
            Some(shared) if self.own.get(key).is_none() && shared.get(key).is_some() => shared,
            _ => &self.own,
        }
    }
}

impl<'a> Context<'a> {
    /// Applies the attributes to a tool, except for its effects. Its arguments must be known.
    pub(super) fn attributes(&mut self, attributes: &Attributes<'a>, spec: &mut ToolSpec) {
        self.texts_of_tool(attributes, spec);
        if let Some(node) = attributes.of("timeout").get("timeout") {
            spec.timeout = self.timeout(&node).unwrap_or(spec.timeout);
        }
        if let Some(node) = attributes.of("result_limit").get("result_limit") {
            spec.result_limit = self.size(&node).or(spec.result_limit);
        }
        if let Some((levers, at)) = self.levers(attributes.of("slim")) {
            match levers.parse() {
                Ok(slim) => {
                    spec.slim = slim;
                    // Shared attributes may name an argument of another tool.
                    if attributes.own.get("slim").is_some() {
                        for (message, help) in kept_in_vain(&spec.slim, &[&*spec]) {
                            self.report(SELECTOR, &at, message, help);
                        }
                    }
                }
                Err(error) => {
                    let message = format!("`slim: {levers}` is not a list of levers");
                    self.report(codes::CHOICE, &at, message, format!("{error}"));
                }
            }
        }
        if let Some(exact) = self.flag(attributes.of("exact"), "exact") {
            spec.exact = exact;
        }
        if let Some(exclusive) = self.flag(attributes.of("exclusive"), "exclusive") {
            spec.exclusive = exclusive;
        }
        if let Some(node) = attributes.of("deprecated").get("deprecated") {
            spec.deprecated = match node.value {
                Value::Bool(true) => Some(Text::EMPTY),
                Value::Bool(false) => None,
                Value::String(text) => Some(text.clone().into()),
                _ => {
                    self.wrong_kind(&node, "`true`, or a string that names the replacement", "");
                    None
                }
            };
        }
        self.lists_of_tool(attributes, spec);
        let mut relations = self.requires(attributes, spec);
        for (key, kind) in
            [("exactly_one", RelationKind::ExactlyOne), ("at_most_one", RelationKind::AtMostOne)]
        {
            relations.extend(self.choices(&attributes.own, key, kind, spec));
        }
        if !relations.is_empty() {
            add_relations(spec, relations);
        }
    }

    /// Returns the size levers that an object sets, and their location.
    fn levers(&mut self, node: &Node<'a>) -> Option<(&'a str, Pointer)> {
        let levers = self.text(node, "slim")?;
        Some((levers, node.pointer.child("slim")))
    }

    fn texts_of_tool(&mut self, attributes: &Attributes<'a>, spec: &mut ToolSpec) {
        let fields: [(&str, &mut Text); 7] = [
            ("label", &mut spec.label),
            ("description", &mut spec.description),
            ("returns", &mut spec.returns),
            ("use_for", &mut spec.use_for),
            ("doc_override", &mut spec.documentation),
            ("category", &mut spec.category),
            ("service", &mut spec.service),
        ];
        for (key, field) in fields {
            let holder = attributes.of(key);
            let Some(text) = self.text(holder, key) else { continue };
            if text.trim().is_empty() {
                let message = format!("`{key}` is empty");
                self.report(codes::MISSING, &holder.pointer.child(key), message, "fill it in, or remove it");
            }
            *field = text.trim().to_owned().into();
        }
    }

    fn lists_of_tool(&mut self, attributes: &Attributes<'a>, spec: &mut ToolSpec) {
        for key in ["scopes", "reads", "writes"] {
            let Some(texts) = self.texts(attributes.of(key), key) else { continue };
            // Shared resources can only be fixed ones, as each tool has its own arguments.
            for (text, at) in texts.iter().filter(|_| key != "scopes") {
                self.check_resource(text, at, spec);
            }
            let list: List<Text> = texts.iter().map(|(text, _)| Text::from((*text).to_owned())).collect();
            match key {
                "scopes" => spec.scopes = list,
                "reads" => spec.reads = list,
                _ => spec.writes = list,
            }
        }
    }

    /// Reads `timeout: 30s` or `timeout: none`.
    fn timeout(&mut self, node: &Node<'a>) -> Option<Timeout> {
        if node.value == "none" {
            return Some(Timeout::Never);
        }
        self.duration(node).map(Timeout::Millis)
    }

    /// Checks that every name in braces in a resource is an argument: `file:{path}`.
    fn check_resource(&mut self, text: &str, at: &Pointer, spec: &ToolSpec) {
        for part in text.split('{').skip(1) {
            match part.split_once('}') {
                Some((name, _)) => drop(self.argument(name, at, spec)),
                None => {
                    let message = format!("a `{{` of `{text}` is not closed");
                    self.report(codes::PLACEHOLDER, at, message, "an argument is written `{name}`");
                }
            }
        }
    }

    /// Returns an argument of the tool, or reports that it has no argument of this name.
    pub(super) fn argument(&mut self, name: &str, at: &Pointer, spec: &ToolSpec) -> Option<Text> {
        let names = argument_names(spec);
        if let Some(found) = names.iter().find(|known| known.as_str() == name) {
            return Some(found.clone());
        }
        let names: Vec<&str> = names.iter().map(Text::as_str).collect();
        let message = format!("the tool has no argument `{name}`");
        self.report(codes::UNKNOWN_ARGUMENT, at, message, nearest(name, &names));
        None
    }

    /// Reads groups of arguments that exclude each other: one array of names, or several.
    fn choices(&mut self, own: &Node<'a>, key: &str, kind: RelationKind, spec: &ToolSpec) -> Vec<Relation> {
        let Some(items) = self.list(own, key) else { return Vec::new() };
        let several = items.iter().any(|item| item.value.is_array());
        let lists = if several { items } else { own.get(key).into_iter().collect() };
        lists.iter().filter_map(|list| self.choice_of(list, key, kind, spec)).collect()
    }

    fn choice_of(
        &mut self,
        list: &Node<'a>,
        key: &str,
        kind: RelationKind,
        spec: &ToolSpec,
    ) -> Option<Relation> {
        if !list.value.is_array() {
            self.wrong_kind(
                list,
                "an array of arguments",
                &format!("write `{key}: [a, b]`, or an array of such arrays"),
            );
            return None;
        }
        let mut fields: Vec<Text> = Vec::new();
        for item in list.items() {
            let Some(name) = self.text_of(&item).and_then(|name| self.argument(name, &item.pointer, spec))
            else {
                continue;
            };
            if fields.contains(&name) {
                let message = format!("`{name}` is named twice");
                self.report(codes::RELATION, &item.pointer, message, "name each argument once");
            } else {
                fields.push(name);
            }
        }
        if list.items().len() < 2 {
            let message = format!("`{key}` needs at least two arguments to choose from");
            self.report(
                codes::RELATION,
                &list.pointer,
                message,
                "name the arguments that exclude each other",
            );
        }
        Some(Relation { kind, fields: fields.into() })
    }
}

/// Returns the names of the arguments of a tool.
pub(super) fn argument_names(spec: &ToolSpec) -> Vec<Text> {
    match &spec.input.shape().kind {
        Kind::Object(rules) => rules.fields.iter().map(|field| field.name.clone()).collect(),
        _ => Vec::new(),
    }
}

/// Adds rules between the arguments of a tool.
fn add_relations(spec: &mut ToolSpec, relations: Vec<Relation>) {
    let mut input = spec.input.shape().clone();
    if let Kind::Object(rules) = &mut input.kind {
        rules.relations = rules.relations.iter().cloned().chain(relations).collect();
        spec.input = input.into();
    }
}
