//! The attributes of a tool, under the same names as those of `#[tool(…)]`.

use serde_json::Value;
use toolgen_core::schema::shape::{Kind, Relation, RelationKind};
use toolgen_core::spec::{Projection, Timeout};
use toolgen_core::{List, Text, ToolSpec};

use super::codes;
use super::context::{Context, suggest_name};
use super::node::Node;
use super::tools::Draft;
use crate::problem::codes::SELECTOR;
use crate::size::unmatched_keeps;
use crate::source::Pointer;

/// The attributes of a tool, and the defaults of its file.
#[derive(Clone, Debug)]
pub(super) struct Attributes<'a> {
    /// The attributes of the tool.
    pub(super) own: Node<'a>,
    /// The defaults, which apply unless the tool sets the attributes itself.
    pub(super) shared: Option<Node<'a>>,
}

impl<'a> Attributes<'a> {
    /// Returns the object that sets an attribute, or the object of the tool if neither does.
    pub(super) fn object_with(&self, key: &str) -> &Node<'a> {
        match &self.shared {
            Some(shared) if self.own.get(key).is_none() && shared.get(key).is_some() => shared,
            _ => &self.own,
        }
    }
}

impl<'a> Context<'a> {
    /// Applies the attributes to a tool, except for its effects. Its arguments must be known.
    pub(super) fn attributes(&mut self, attributes: &Attributes<'a>, spec: &mut ToolSpec) {
        self.string_attributes(attributes, spec);
        if let Some(node) = attributes.object_with("timeout").get("timeout") {
            spec.timeout = self.timeout(&node).unwrap_or(spec.timeout);
        }
        if let Some(node) = attributes.object_with("result_limit").get("result_limit") {
            spec.result_limit = self.size(&node).or(spec.result_limit);
        }
        if let Some((levers, pointer)) = self.levers(attributes.object_with("slim")) {
            match levers.parse() {
                Ok(slim) => {
                    spec.slim = slim;
                    // The defaults may name an argument of another tool.
                    if attributes.own.get("slim").is_some() {
                        for (message, help) in unmatched_keeps(&spec.slim, &[&*spec]) {
                            self.report(SELECTOR, &pointer, message, help);
                        }
                    }
                }
                Err(error) => {
                    let message = format!("`slim: {levers}` is not a list of levers");
                    self.report(codes::CHOICE, &pointer, message, format!("{error}"));
                }
            }
        }
        if let Some(exact) = self.flag(attributes.object_with("exact"), "exact") {
            spec.exact = exact;
        }
        if let Some(exclusive) = self.flag(attributes.object_with("exclusive"), "exclusive") {
            spec.exclusive = exclusive;
        }
        if let Some(node) = attributes.object_with("deprecated").get("deprecated") {
            spec.deprecated = match node.value {
                Value::Bool(true) => Some(Text::EMPTY),
                Value::Bool(false) => None,
                Value::String(text) => Some(text.clone().into()),
                _ => {
                    self.report_wrong_type(&node, "`true`, or a string that names the replacement", "");
                    None
                }
            };
        }
        self.list_attributes(attributes, spec);
        let mut relations = self.requires(attributes, spec);
        for (key, kind) in
            [("exactly_one", RelationKind::ExactlyOne), ("at_most_one", RelationKind::AtMostOne)]
        {
            relations.extend(self.exclusive_groups(&attributes.own, key, kind, spec));
        }
        if !relations.is_empty() {
            add_relations(spec, relations);
        }
    }

    /// Adds the argument for the fields of the result to the tools that have it. Their plans do not use it.
    pub(super) fn project<'d>(&mut self, drafts: impl Iterator<Item = &'d mut Draft<'a>>)
    where
        'a: 'd,
    {
        for draft in drafts {
            let errors = self.errors;
            if let Some(projection) = self.projection(draft.attributes.object_with("projection")) {
                draft.spec = projection.apply(draft.spec.clone());
            }
            draft.broken |= self.errors > errors;
        }
    }

    /// Reads `projection: always`, `projection: off` or `projection: 4KiB`.
    pub(super) fn projection(&mut self, node: &Node<'a>) -> Option<Projection> {
        let text = self.text(node, "projection")?;
        match text.parse() {
            Ok(projection) => Some(projection),
            Err(error) => {
                let message = format!("`projection: {text}` is not a projection");
                self.report(codes::CHOICE, &node.pointer.child("projection"), message, format!("{error}"));
                None
            }
        }
    }

    /// Returns the size levers that an object sets, and their location.
    fn levers(&mut self, node: &Node<'a>) -> Option<(&'a str, Pointer)> {
        let levers = self.text(node, "slim")?;
        Some((levers, node.pointer.child("slim")))
    }

    fn string_attributes(&mut self, attributes: &Attributes<'a>, spec: &mut ToolSpec) {
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
            let holder = attributes.object_with(key);
            let Some(text) = self.text(holder, key) else { continue };
            if text.trim().is_empty() {
                let message = format!("`{key}` is empty");
                self.report(codes::MISSING, &holder.pointer.child(key), message, "fill it in, or remove it");
            }
            *field = text.trim().to_owned().into();
        }
    }

    fn list_attributes(&mut self, attributes: &Attributes<'a>, spec: &mut ToolSpec) {
        for key in ["scopes", "reads", "writes"] {
            let Some(texts) = self.texts(attributes.object_with(key), key) else { continue };
            // Resources in the defaults cannot refer to arguments, which differ between tools.
            for (text, pointer) in texts.iter().filter(|_| key != "scopes") {
                self.check_resource(text, pointer, spec);
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
    fn check_resource(&mut self, text: &str, pointer: &Pointer, spec: &ToolSpec) {
        for part in text.split('{').skip(1) {
            match part.split_once('}') {
                Some((name, _)) => drop(self.argument(name, pointer, spec)),
                None => {
                    let message = format!("a `{{` of `{text}` is not closed");
                    self.report(codes::PLACEHOLDER, pointer, message, "an argument is written `{name}`");
                }
            }
        }
    }

    /// Returns an argument of the tool, or reports that it has no argument of this name.
    pub(super) fn argument(&mut self, name: &str, pointer: &Pointer, spec: &ToolSpec) -> Option<Text> {
        let names = argument_names(spec);
        if let Some(name) = names.iter().find(|argument| argument.as_str() == name) {
            return Some(name.clone());
        }
        let names: Vec<&str> = names.iter().map(Text::as_str).collect();
        let message = format!("the tool has no argument `{name}`");
        self.report(codes::UNKNOWN_ARGUMENT, pointer, message, suggest_name(name, &names));
        None
    }

    /// Reads groups of arguments that exclude each other: one array of names, or several.
    fn exclusive_groups(
        &mut self,
        node: &Node<'a>,
        key: &str,
        kind: RelationKind,
        spec: &ToolSpec,
    ) -> Vec<Relation> {
        let Some(items) = self.list(node, key) else { return Vec::new() };
        let has_several = items.iter().any(|item| item.value.is_array());
        let groups = if has_several { items } else { node.get(key).into_iter().collect() };
        groups.iter().filter_map(|group| self.relation_of(group, key, kind, spec)).collect()
    }

    fn relation_of(
        &mut self,
        group: &Node<'a>,
        key: &str,
        kind: RelationKind,
        spec: &ToolSpec,
    ) -> Option<Relation> {
        if !group.value.is_array() {
            self.report_wrong_type(
                group,
                "an array of arguments",
                &format!("write `{key}: [a, b]`, or an array of such arrays"),
            );
            return None;
        }
        let mut fields: Vec<Text> = Vec::new();
        for item in group.items() {
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
        if group.items().len() < 2 {
            let message = format!("`{key}` needs at least two arguments to choose from");
            self.report(
                codes::RELATION,
                &group.pointer,
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
