//! Compiles strings and values with placeholders, and checks them against the schemas of the values that replace them.

mod placeholder_problems;

use std::collections::BTreeSet;

use serde_json::Value;
use toolgen_core::spec::template::{Condition, Reference, Root, Segment, Template};
use toolgen_core::{Frozen, Text, ToolSpec};

use self::placeholder_problems::AbsenceReason;
use super::codes;
use super::context::{Context, suggest_name};
use super::keys;
use super::node::Node;
use super::placeholder::{Placeholder, TemplateSegment, pieces, placeholder};
use super::typed_value::{Class, Lookup, TypedValue};
use crate::source::Pointer;

/// The values that placeholders can refer to.
#[derive(Debug)]
pub(super) struct Scope {
    /// The arguments of the tool.
    pub(super) arguments: TypedValue,
    /// The earlier steps of a composed tool, with the types of their results, if known. `None` for other tools.
    pub(super) steps: Option<Vec<(String, Option<TypedValue>)>>,
    /// The names of the current step and of later steps.
    pub(super) later: Vec<String>,
    /// The type of the item for which a step is repeated, if known. `None` outside of `for_each`.
    pub(super) item: Option<Option<TypedValue>>,
    /// The arguments that placeholders have used so far.
    pub(super) used: BTreeSet<String>,
}

/// The position that a value is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlaceholderTarget {
    /// A JSON value.
    Json,
    /// A value that is sent as a string, or as several strings if it is an array or an object.
    Texts,
    /// A string; an array or an object becomes its JSON.
    Text,
    /// The path of a directory.
    Directory,
    /// One argument of a program.
    Argument,
    /// A part of a URL.
    Url,
}

/// A reference, and the type of its value, if known.
type ResolvedReference = (Reference, Option<TypedValue>);

impl Scope {
    /// Returns the scope of a tool that is not composed.
    pub(super) fn of(spec: &ToolSpec) -> Scope {
        Scope {
            arguments: TypedValue::arguments(spec),
            steps: None,
            later: Vec::new(),
            item: None,
            used: BTreeSet::new(),
        }
    }

    /// Returns a root, the type of its value if known, and the length of its path; `None` if there is no such root.
    fn root(&self, path: &[String]) -> Option<(Root, Option<TypedValue>, usize)> {
        let name = path.first()?;
        if let (Some(steps), "steps") = (&self.steps, name.as_str()) {
            let (id, value_type) = steps.iter().find(|(id, _)| Some(id) == path.get(1))?;
            return Some((Root::Step(id.clone().into()), value_type.clone(), 2));
        }
        if let (Some(value_type), "item") = (&self.item, name.as_str()) {
            return Some((Root::Item, value_type.clone(), 1));
        }
        match self.arguments.member(name) {
            Lookup::Found(value_type) => Some((Root::Argument(name.clone().into()), Some(value_type), 1)),
            Lookup::Unknown => Some((Root::Argument(name.clone().into()), None, 1)),
            Lookup::Missing(_) => None,
        }
    }

    /// Returns the roots that a placeholder may start with.
    fn roots(&self) -> Vec<String> {
        let mut roots = match self.arguments.member("") {
            Lookup::Missing(names) => names,
            _ => Vec::new(),
        };
        roots.extend(self.steps.iter().flatten().map(|(id, _)| format!("steps.{id}")));
        roots.extend(self.item.iter().map(|_| "item".to_owned()));
        roots
    }
}

impl<'a> Context<'a> {
    /// Compiles a value with placeholders. Returns `None` after a problem.
    pub(super) fn template(
        &mut self,
        node: &Node<'a>,
        target: PlaceholderTarget,
        scope: &mut Scope,
    ) -> Option<Template> {
        let inner_target = if target == PlaceholderTarget::Texts { target } else { PlaceholderTarget::Json };
        match node.value {
            Value::String(text) => self.text_template(text, &node.pointer, target, scope),
            Value::Array(_) => {
                // All items are read, so that all problems are reported.
                let items: Vec<_> =
                    node.items().iter().map(|item| self.template(item, inner_target, scope)).collect();
                Some(array_template(items.into_iter().collect::<Option<_>>()?))
            }
            Value::Object(_) => {
                let compile_member = |(key, member): (&str, Node<'a>)| {
                    Some((Text::from(key.to_owned()), self.template(&member, inner_target, scope)?))
                };
                let members: Vec<Option<(Text, Template)>> =
                    node.entries().into_iter().map(compile_member).collect();
                Some(object_template(members.into_iter().collect::<Option<_>>()?))
            }
            scalar => {
                let text =
                    self.document.text_at(&node.pointer).filter(|_| target == PlaceholderTarget::Texts);
                Some(text.map_or_else(
                    || Template::Constant(scalar.to_string().into()),
                    |text| string_constant(&text),
                ))
            }
        }
    }

    /// Compiles a string with placeholders.
    pub(super) fn text_template(
        &mut self,
        text: &str,
        pointer: &Pointer,
        target: PlaceholderTarget,
        scope: &mut Scope,
    ) -> Option<Template> {
        let pieces = self.pieces(text, pointer)?;
        if let [TemplateSegment::Placeholder(placeholder)] = pieces.as_slice() {
            let (reference, value_type) = self.single_reference(placeholder, pointer, scope)?;
            if !matches!(target, PlaceholderTarget::Json | PlaceholderTarget::Texts | PlaceholderTarget::Text)
            {
                self.check_inline(placeholder, value_type.as_ref(), pointer, target);
            }
            return Some(Template::Value(reference));
        }
        self.note_dollars(&pieces, pointer, scope);
        let mut segments = Vec::new();
        let mut is_valid = true;
        for piece in pieces {
            match piece {
                TemplateSegment::Literal(text) => segments.push(Segment::Literal(text.into())),
                TemplateSegment::Placeholder(placeholder) => {
                    match self.single_reference(&placeholder, pointer, scope) {
                        Some((reference, value_type)) => {
                            self.check_inline(&placeholder, value_type.as_ref(), pointer, target);
                            segments.push(Segment::Value(reference));
                        }
                        None => is_valid = false,
                    }
                }
            }
        }
        match segments.as_slice() {
            _ if !is_valid => None,
            [] => Some(string_constant("")),
            [Segment::Literal(text)] => Some(string_constant(text)),
            _ => Some(Template::Text(segments.into())),
        }
    }

    /// Reports `${name}`, a variable in shells and other formats, which is read as a literal `$` and the value.
    /// Before a number in a longer string, `$` is a currency.
    pub(super) fn note_dollars(&mut self, pieces: &[TemplateSegment], pointer: &Pointer, scope: &Scope) {
        for pair in pieces.windows(2) {
            let [TemplateSegment::Literal(before), TemplateSegment::Placeholder(placeholder)] = pair else {
                continue;
            };
            let Some((before, (_, value_type, _))) =
                before.strip_suffix('$').zip(scope.root(&placeholder.path))
            else {
                continue;
            };
            let class = value_type.map_or(Class::Mixed, |value_type| value_type.class());
            if class != Class::Number || !before.ends_with(char::is_whitespace) {
                let name = placeholder.path_text();
                let message = format!(
                    "`${{{name}}}` is a literal `$` and the value of `{name}`: a placeholder has no `$`"
                );
                let help = format!(
                    "did you mean `{{{name}}}`? If the `$` is intended, list `W0455` under `allow` of `lints`"
                );
                self.report(codes::DOLLAR, pointer, message, help);
            }
        }
    }

    /// Splits a string into its segments, and reports stray braces.
    pub(super) fn pieces(&mut self, text: &str, pointer: &Pointer) -> Option<Vec<TemplateSegment>> {
        match pieces(text) {
            Ok(pieces) => Some(pieces),
            Err((message, help)) => {
                self.report(codes::PLACEHOLDER, pointer, message, help);
                None
            }
        }
    }

    /// Compiles a string that must be one placeholder, such as `{steps.find.files}`.
    pub(super) fn reference(&mut self, node: &Node<'a>, scope: &mut Scope) -> Option<ResolvedReference> {
        let text = self.text_of(node)?;
        let pieces = self.pieces(text, &node.pointer)?;
        let [TemplateSegment::Placeholder(placeholder)] = pieces.as_slice() else {
            let message = format!("`{text}` must be one placeholder");
            self.report(codes::PLACEHOLDER, &node.pointer, message, "write `{name}` and nothing else");
            return None;
        };
        self.single_reference(placeholder, &node.pointer, scope)
    }

    /// Resolves a placeholder for a single value. Returns `None` after a problem.
    fn single_reference(
        &mut self,
        placeholder: &Placeholder,
        pointer: &Pointer,
        scope: &mut Scope,
    ) -> Option<ResolvedReference> {
        if placeholder.each {
            let name = placeholder.path_text();
            let message =
                format!("`{{{name}*}}` is replaced by several values, but only one is allowed here");
            let help =
                format!("`*` is only allowed in `argv` and `args`, as a complete item: `\"{{{name}*}}\"`");
            self.report(codes::PLACEHOLDER_KIND, pointer, message, help);
            return None;
        }
        self.resolve_placeholder(placeholder, pointer, scope)
    }

    /// Compiles a condition.
    pub(super) fn condition(&mut self, node: &Node<'a>, scope: &mut Scope) -> Option<Condition> {
        const HELP: &str = "write `\"{flag}\"`, `{given: name}`, `{equal: [\"{name}\", value]}`, `{not: …}`, `{all: […]}` or `{any: […]}`";
        if let Value::String(text) = node.value {
            return self.flag_condition(text, node, scope);
        }
        if !node.value.is_object() {
            self.report_wrong_type(node, "a condition", HELP);
            return None;
        }
        self.object(node, &keys::CONDITION);
        let [(key, operand)] = <[_; 1]>::try_from(node.entries()).ok().or_else(|| {
            let message = "a condition has exactly one key";
            self.report(codes::WRONG_KIND, &node.pointer, message, HELP);
            None
        })?;
        match key {
            "given" => self.parse_condition(&operand, scope),
            "not" => Some(Condition::Not(Frozen::from(self.condition(&operand, scope)?))),
            "equal" => {
                let items = self.list(node, key)?;
                let [left, right] = items.as_slice() else {
                    let message = format!("`equal` compares two values, not {}", items.len());
                    let help = "write `equal: [\"{name}\", value]`";
                    self.report(codes::WRONG_KIND, &operand.pointer, message, help);
                    return None;
                };
                let left = self.template(left, PlaceholderTarget::Json, scope);
                let right = self.template(right, PlaceholderTarget::Json, scope);
                Some(Condition::Equal(left?, right?))
            }
            "all" | "any" => {
                let parts = self.list(node, key)?;
                let parts: Vec<_> = parts.iter().map(|part| self.condition(part, scope)).collect();
                let parts: Vec<Condition> = parts.into_iter().collect::<Option<_>>()?;
                Some(if key == "all" { Condition::All(parts.into()) } else { Condition::Any(parts.into()) })
            }
            // An unknown key, which has been reported.
            _ => None,
        }
    }

    /// Compiles the condition that an argument is `true`. A missing argument is not `true`.
    fn flag_condition(&mut self, text: &str, node: &Node<'a>, scope: &mut Scope) -> Option<Condition> {
        let pieces = self.pieces(text, &node.pointer)?;
        let [TemplateSegment::Placeholder(placeholder)] = pieces.as_slice() else {
            let message = format!("`{text}` is not a condition: it must be one placeholder");
            self.report(
                codes::PLACEHOLDER,
                &node.pointer,
                message,
                "write `\"{flag}\"`, or compare: `{equal: [\"{name}\", value]}`",
            );
            return None;
        };
        let (reference, value_type) =
            self.resolve_placeholder(&optional(placeholder), &node.pointer, scope)?;
        let class = value_type.map_or(Class::Mixed, |value_type| value_type.class());
        if !matches!(class, Class::Boolean | Class::Mixed) {
            let name = placeholder.path_text();
            let message = format!("`{name}` is {}, which is not a boolean", class.name());
            let help = format!("write `{{given: {name}}}`, or compare: `{{equal: [\"{{{name}}}\", value]}}`");
            self.report(codes::PLACEHOLDER_KIND, &node.pointer, message, help);
            return None;
        }
        Some(Condition::True(reference))
    }

    fn parse_condition(&mut self, node: &Node<'a>, scope: &mut Scope) -> Option<Condition> {
        let text = self.text_of(node)?;
        let content = text.trim();
        let content =
            content.strip_prefix('{').and_then(|content| content.strip_suffix('}')).unwrap_or(content);
        let Some(parsed) = placeholder(content) else {
            let message = format!("`{text}` names no value");
            self.report(
                codes::PLACEHOLDER,
                &node.pointer,
                message,
                "write the name of an argument: `{given: name}`",
            );
            return None;
        };
        let (reference, _) = self.resolve_placeholder(&optional(&parsed), &node.pointer, scope)?;
        Some(Condition::Given(reference))
    }

    /// Resolves a placeholder. Returns `None` after a problem.
    pub(super) fn resolve_placeholder(
        &mut self,
        placeholder: &Placeholder,
        pointer: &Pointer,
        scope: &mut Scope,
    ) -> Option<ResolvedReference> {
        let name = placeholder.path_text();
        let Some((root, mut value_type, root_len)) = scope.root(&placeholder.path) else {
            let roots = scope.roots();
            let roots: Vec<&str> = roots.iter().map(String::as_str).collect();
            let (message, help) = scope.missing_root(&placeholder.path).unwrap_or_else(|| {
                let help = match (roots.is_empty(), suggest_name(&name, &roots)) {
                    _ if is_variable(&name) => {
                        "environment variables are not read in strings: `auth` names the variable of a credential; \
                         write other constant values literally"
                            .to_owned()
                    }
                    (true, _) => "the tool takes no arguments; declare it under `parameters`".to_owned(),
                    (false, help) => help,
                };
                (format!("`{{{name}}}` names no argument"), help)
            });
            self.report(codes::UNKNOWN_PLACEHOLDER, pointer, message, help);
            return None;
        };
        if let Root::Argument(name) = &root {
            scope.used.insert(name.to_string());
        }
        let mut may_be_absent = value_type.as_ref().is_some_and(|value_type| value_type.may_be_absent);
        let mut reason = match root {
            Root::Step(_) if may_be_absent => AbsenceReason::Step,
            Root::Step(_) => AbsenceReason::Member,
            _ => AbsenceReason::Argument,
        };
        let keys = placeholder.path.get(root_len..).unwrap_or_default();
        for (index, key) in keys.iter().enumerate() {
            value_type =
                match value_type.as_ref().map(|value_type| (value_type.member(key), value_type.class())) {
                    None | Some((Lookup::Unknown, _)) => None,
                    Some((Lookup::Found(next), class)) => {
                        if class == Class::List && next.may_be_absent {
                            reason = AbsenceReason::Item;
                        }
                        Some(next)
                    }
                    Some((Lookup::Missing(names), class)) => {
                        let prefix = placeholder.path.get(..root_len + index).unwrap_or_default().join(".");
                        self.report_unknown_member(&prefix, key, &names, class, pointer);
                        return None;
                    }
                };
            may_be_absent |= value_type.as_ref().is_some_and(|value_type| value_type.may_be_absent);
        }
        if may_be_absent && !placeholder.optional {
            self.report_optional_value(placeholder, reason, pointer);
            return None;
        }
        let path = keys.iter().map(|key| Text::from(key.clone())).collect();
        Some((Reference { root, path, optional: placeholder.optional }, value_type))
    }
}

/// Returns a copy of a placeholder that is optional.
pub(super) fn optional(placeholder: &Placeholder) -> Placeholder {
    Placeholder { optional: true, ..placeholder.clone() }
}

/// Returns a constant string.
fn string_constant(text: &str) -> Template {
    Template::Constant(Value::from(text).to_string().into())
}

/// Returns the JSON of constants; `None` if any template is not constant.
fn constants<'t>(templates: impl Iterator<Item = &'t Template>) -> Option<Vec<&'t str>> {
    let json_of = |template: &'t Template| match template {
        Template::Constant(json) => Some(json.as_str()),
        _ => None,
    };
    templates.map(json_of).collect()
}

/// Returns an array, which is a constant if all its items are constants.
fn array_template(items: Vec<Template>) -> Template {
    match constants(items.iter()) {
        Some(constants) => Template::Constant(format!("[{}]", constants.join(",")).into()),
        None => Template::List(items.into()),
    }
}

/// Returns an object, which is a constant if all its members are constants.
fn object_template(members: Vec<(Text, Template)>) -> Template {
    let Some(constants) = constants(members.iter().map(|(_, value)| value)) else {
        return Template::Object(members.into());
    };
    let members_json = members.iter().zip(constants);
    let members_json =
        members_json.map(|((name, _), value)| format!("{}:{value}", Value::from(name.as_str())));
    Template::Constant(format!("{{{}}}", members_json.collect::<Vec<_>>().join(",")).into())
}

/// Whether a name is written like an environment variable.
fn is_variable(name: &str) -> bool {
    name.contains(|char: char| char.is_ascii_uppercase())
        && name.chars().all(|char| char.is_ascii_uppercase() || char.is_ascii_digit() || char == '_')
}
