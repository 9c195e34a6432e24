//! Strings and values with placeholders, checked against the schemas of the values that replace them.

mod placeholder_problems;

use std::collections::BTreeSet;

use serde_json::Value;
use toolgen_core::spec::template::{Condition, Reference, Root, Segment, Template};
use toolgen_core::{Frozen, Text, ToolSpec};

use self::placeholder_problems::Missing;
use super::codes;
use super::context::{Context, nearest};
use super::keys;
use super::node::Node;
use super::placeholder::{Placeholder, TemplateSegment, pieces, placeholder};
use super::typed_value::{Class, Step, TypedValue};
use crate::source::Pointer;

/// The values that placeholders can refer to.
#[derive(Debug)]
pub(super) struct Scope {
    /// The arguments of the tool.
    pub(super) arguments: TypedValue,
    /// The earlier steps of a composed tool, with their results if these are known. `None` for other tools.
    pub(super) steps: Option<Vec<(String, Option<TypedValue>)>>,
    /// The names of the step itself and of those that run later.
    pub(super) later: Vec<String>,
    /// The item of the array for which a step is repeated, with what is known about it.
    pub(super) item: Option<Option<TypedValue>>,
    /// The arguments that placeholders have used so far.
    pub(super) used: BTreeSet<String>,
}

/// The target type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlaceholderTarget {
    /// It is JSON.
    Json,
    /// It is sent as a string, or as several if it is an array or an object.
    Texts,
    /// It is a string; an array or an object becomes its JSON.
    Text,
    /// It is the path of a directory.
    Folder,
    /// It is one argument of a program.
    Argument,
    /// It is a part of a URL.
    Url,
}

/// A reference, and what is known about its value.
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

    /// Returns what is known about a root; `None` if there is no such root.
    fn root(&self, path: &[String]) -> Option<(Root, Option<TypedValue>, usize)> {
        let name = path.first()?;
        if let (Some(steps), "steps") = (&self.steps, name.as_str()) {
            let (id, known) = steps.iter().find(|(id, _)| Some(id) == path.get(1))?;
            return Some((Root::Step(id.clone().into()), known.clone(), 2));
        }
        if let (Some(known), "item") = (&self.item, name.as_str()) {
            return Some((Root::Item, known.clone(), 1));
        }
        match self.arguments.step(name) {
            Step::To(known) => Some((Root::Argument(name.clone().into()), Some(known), 1)),
            Step::Unknown => Some((Root::Argument(name.clone().into()), None, 1)),
            Step::Nowhere(_) => None,
        }
    }

    /// Returns the roots that a placeholder may start with.
    fn roots(&self) -> Vec<String> {
        let mut roots = match self.arguments.step("") {
            Step::Nowhere(names) => names,
            _ => Vec::new(),
        };
        roots.extend(self.steps.iter().flatten().map(|(id, _)| format!("steps.{id}")));
        roots.extend(self.item.iter().map(|_| "item".to_owned()));
        roots
    }
}

impl<'a> Context<'a> {
    /// Compiles a value with placeholders. `None` after a problem.
    pub(super) fn template(
        &mut self,
        node: &Node<'a>,
        place: PlaceholderTarget,
        scope: &mut Scope,
    ) -> Option<Template> {
        let inner = if place == PlaceholderTarget::Texts { place } else { PlaceholderTarget::Json };
        match node.value {
            Value::String(text) => self.text_template(text, &node.pointer, place, scope),
            Value::Array(_) => {
                // All items are read, so that all problems are reported.
                let items: Vec<_> =
                    node.items().iter().map(|item| self.template(item, inner, scope)).collect();
                Some(list(items.into_iter().collect::<Option<_>>()?))
            }
            Value::Object(_) => {
                let read = |(key, member): (&str, Node<'a>)| {
                    Some((Text::from(key.to_owned()), self.template(&member, inner, scope)?))
                };
                let members: Vec<Option<(Text, Template)>> = node.entries().into_iter().map(read).collect();
                Some(object(members.into_iter().collect::<Option<_>>()?))
            }
            scalar => {
                let text = self.document.text_at(&node.pointer).filter(|_| place == PlaceholderTarget::Texts);
                Some(
                    text.map_or_else(
                        || Template::Constant(scalar.to_string().into()),
                        |text| constant(&text),
                    ),
                )
            }
        }
    }

    /// Compiles a string with placeholders.
    pub(super) fn text_template(
        &mut self,
        text: &str,
        at: &Pointer,
        place: PlaceholderTarget,
        scope: &mut Scope,
    ) -> Option<Template> {
        let pieces = self.pieces(text, at)?;
        if let [TemplateSegment::Place(one)] = pieces.as_slice() {
            let (reference, known) = self.single(one, at, scope)?;
            if !matches!(place, PlaceholderTarget::Json | PlaceholderTarget::Texts | PlaceholderTarget::Text)
            {
                self.check_inline(one, known.as_ref(), at, place);
            }
            return Some(Template::Value(reference));
        }
        self.note_dollars(&pieces, at, scope);
        let mut segments = Vec::new();
        let mut fine = true;
        for piece in pieces {
            match piece {
                TemplateSegment::Literal(text) => segments.push(Segment::Literal(text.into())),
                TemplateSegment::Place(one) => match self.single(&one, at, scope) {
                    Some((reference, known)) => {
                        self.check_inline(&one, known.as_ref(), at, place);
                        segments.push(Segment::Value(reference));
                    }
                    None => fine = false,
                },
            }
        }
        match segments.as_slice() {
            _ if !fine => None,
            [] => Some(constant("")),
            [Segment::Literal(text)] => Some(constant(text)),
            _ => Some(Template::Text(segments.into())),
        }
    }

    /// Reports `${name}`, which is a variable in shells and other formats, but here is a literal `$` and the value.
    /// Before an amount in a longer string, `$` is a currency.
    pub(super) fn note_dollars(&mut self, pieces: &[TemplateSegment], at: &Pointer, scope: &Scope) {
        for pair in pieces.windows(2) {
            let [TemplateSegment::Literal(before), TemplateSegment::Place(one)] = pair else { continue };
            let Some((before, (_, known, _))) = before.strip_suffix('$').zip(scope.root(&one.path)) else {
                continue;
            };
            let class = known.map_or(Class::Mixed, |known| known.class());
            if class != Class::Number || !before.ends_with(char::is_whitespace) {
                let written = one.written();
                let message = format!(
                    "`${{{written}}}` is a literal `$` and the value of `{written}`: a placeholder has no `$`"
                );
                let help = format!(
                    "did you mean `{{{written}}}`? If the `$` is intended, list `W0455` under `allow` of `lints`"
                );
                self.report(codes::DOLLAR, at, message, help);
            }
        }
    }

    /// Splits a string into its segments, and reports stray braces.
    pub(super) fn pieces(&mut self, text: &str, at: &Pointer) -> Option<Vec<TemplateSegment>> {
        match pieces(text) {
            Ok(pieces) => Some(pieces),
            Err((message, help)) => {
                self.report(codes::PLACEHOLDER, at, message, help);
                None
            }
        }
    }

    /// Compiles a string that must be one placeholder, such as `{steps.find.files}`.
    pub(super) fn reference(&mut self, node: &Node<'a>, scope: &mut Scope) -> Option<ResolvedReference> {
        let text = self.text_of(node)?;
        let pieces = self.pieces(text, &node.pointer)?;
        let [TemplateSegment::Place(one)] = pieces.as_slice() else {
            let message = format!("`{text}` must be one placeholder");
            self.report(codes::PLACEHOLDER, &node.pointer, message, "write `{name}` and nothing else");
            return None;
        };
        self.single(one, &node.pointer, scope)
    }

    /// Resolves a placeholder for a single value. `None` after a problem.
    fn single(&mut self, one: &Placeholder, at: &Pointer, scope: &mut Scope) -> Option<ResolvedReference> {
        if one.each {
            let written = one.written();
            let message =
                format!("`{{{written}*}}` is replaced by several values, but only one is allowed here");
            let help =
                format!("`*` is only allowed in `argv` and `args`, as a complete item: `\"{{{written}*}}\"`");
            self.report(codes::PLACEHOLDER_KIND, at, message, help);
            return None;
        }
        self.find(one, at, scope)
    }

    /// Compiles a condition.
    pub(super) fn condition(&mut self, node: &Node<'a>, scope: &mut Scope) -> Option<Condition> {
        const HELP: &str = "write `\"{flag}\"`, `{given: name}`, `{equal: [\"{name}\", value]}`, `{not: …}`, `{all: […]}` or `{any: […]}`";
        if let Value::String(text) = node.value {
            return self.flag_condition(text, node, scope);
        }
        if !node.value.is_object() {
            self.wrong_kind(node, "a condition", HELP);
            return None;
        }
        self.object(node, &keys::CONDITION);
        let [(key, inner)] = <[_; 1]>::try_from(node.entries()).ok().or_else(|| {
            let message = "a condition has exactly one key";
            self.report(codes::WRONG_KIND, &node.pointer, message, HELP);
            None
        })?;
        match key {
            "given" => self.parse_condition(&inner, scope),
            "not" => Some(Condition::Not(Frozen::from(self.condition(&inner, scope)?))),
            "equal" => {
                let items = self.list(node, key)?;
                let [left, right] = items.as_slice() else {
                    let message = format!("`equal` compares two values, not {}", items.len());
                    let help = "write `equal: [\"{name}\", value]`";
                    self.report(codes::WRONG_KIND, &inner.pointer, message, help);
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
        let [TemplateSegment::Place(one)] = pieces.as_slice() else {
            let message = format!("`{text}` is not a condition: it must be one placeholder");
            self.report(
                codes::PLACEHOLDER,
                &node.pointer,
                message,
                "write `\"{flag}\"`, or compare: `{equal: [\"{name}\", value]}`",
            );
            return None;
        };
        let (reference, known) = self.find(&optional(one), &node.pointer, scope)?;
        let class = known.map_or(Class::Mixed, |known| known.class());
        if !matches!(class, Class::Boolean | Class::Mixed) {
            let name = one.written();
            let message = format!("`{name}` is {}, which is not a boolean", class.name());
            let help = format!("write `{{given: {name}}}`, or compare: `{{equal: [\"{{{name}}}\", value]}}`");
            self.report(codes::PLACEHOLDER_KIND, &node.pointer, message, help);
            return None;
        }
        Some(Condition::True(reference))
    }

    fn parse_condition(&mut self, node: &Node<'a>, scope: &mut Scope) -> Option<Condition> {
        let text = self.text_of(node)?;
        let inside = text.trim();
        let inside = inside.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(inside);
        let Some(one) = placeholder(inside) else {
            let message = format!("`{text}` names no value");
            self.report(
                codes::PLACEHOLDER,
                &node.pointer,
                message,
                "write the name of an argument: `{given: name}`",
            );
            return None;
        };
        let (reference, _) = self.find(&optional(&one), &node.pointer, scope)?;
        Some(Condition::Given(reference))
    }

    /// Resolves a placeholder. `None` after a problem.
    pub(super) fn find(
        &mut self,
        one: &Placeholder,
        at: &Pointer,
        scope: &mut Scope,
    ) -> Option<ResolvedReference> {
        let written = one.written();
        let Some((root, mut known, skip)) = scope.root(&one.path) else {
            let roots = scope.roots();
            let roots: Vec<&str> = roots.iter().map(String::as_str).collect();
            let (message, help) = scope.misplaced(&one.path).unwrap_or_else(|| {
                let help = match (roots.is_empty(), nearest(&written, &roots)) {
                    _ if is_variable(&written) => {
                        "environment variables are not read in strings: `auth` names the variable of a credential; \
                         write other constant values literally"
                            .to_owned()
                    }
                    (true, _) => "the tool takes no arguments; declare it under `parameters`".to_owned(),
                    (false, help) => help,
                };
                (format!("`{{{written}}}` names no argument"), help)
            });
            self.report(codes::UNKNOWN_PLACEHOLDER, at, message, help);
            return None;
        };
        if let Root::Argument(name) = &root {
            scope.used.insert(name.to_string());
        }
        let mut may_miss = known.as_ref().is_some_and(|known| known.may_miss);
        let mut missing = match root {
            Root::Step(_) if may_miss => Missing::Step,
            Root::Step(_) => Missing::Member,
            _ => Missing::Argument,
        };
        let rest = one.path.get(skip..).unwrap_or_default();
        for (index, key) in rest.iter().enumerate() {
            known = match known.as_ref().map(|known| (known.step(key), known.class())) {
                None | Some((Step::Unknown, _)) => None,
                Some((Step::To(next), class)) => {
                    if class == Class::List && next.may_miss {
                        missing = Missing::Item;
                    }
                    Some(next)
                }
                Some((Step::Nowhere(names), class)) => {
                    let before = one.path.get(..skip + index).unwrap_or_default().join(".");
                    self.no_member(&before, key, &names, class, at);
                    return None;
                }
            };
            may_miss |= known.as_ref().is_some_and(|known| known.may_miss);
        }
        if may_miss && !one.optional {
            self.may_miss(one, missing, at);
            return None;
        }
        let path = rest.iter().map(|key| Text::from(key.clone())).collect();
        Some((Reference { root, path, optional: one.optional }, known))
    }
}

/// Returns the same placeholder for a value that may be missing.
pub(super) fn optional(one: &Placeholder) -> Placeholder {
    Placeholder { optional: true, ..one.clone() }
}

/// Returns a constant string.
fn constant(text: &str) -> Template {
    Template::Constant(Value::from(text).to_string().into())
}

/// Returns the strings of constants; `None` if one of the templates is not constant.
fn constants<'t>(parts: impl Iterator<Item = &'t Template>) -> Option<Vec<&'t str>> {
    let text = |part: &'t Template| match part {
        Template::Constant(json) => Some(json.as_str()),
        _ => None,
    };
    parts.map(text).collect()
}

/// Returns an array, which is one constant if all its items are.
fn list(items: Vec<Template>) -> Template {
    match constants(items.iter()) {
        Some(texts) => Template::Constant(format!("[{}]", texts.join(",")).into()),
        None => Template::List(items.into()),
    }
}

/// Returns an object, which is one constant if all its members are.
fn object(members: Vec<(Text, Template)>) -> Template {
    let Some(texts) = constants(members.iter().map(|(_, value)| value)) else {
        return Template::Object(members.into());
    };
    let written = members.iter().zip(texts);
    let written = written.map(|((name, _), value)| format!("{}:{value}", Value::from(name.as_str())));
    Template::Constant(format!("{{{}}}", written.collect::<Vec<_>>().join(",")).into())
}

/// Whether a name is written like an environment variable.
fn is_variable(name: &str) -> bool {
    name.contains(|char: char| char.is_ascii_uppercase())
        && name.chars().all(|char| char.is_ascii_uppercase() || char.is_ascii_digit() || char == '_')
}
