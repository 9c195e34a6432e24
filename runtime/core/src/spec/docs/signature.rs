//! Signatures of tools: an interface in TypeScript.

use super::level::{Group, Style};
use super::typescript::{self, property};
use super::unsaid::in_one_line;
use super::{fields, first_paragraph};
use crate::base::hidden::Hidden;
use crate::schema::shape::{Extra, Kind, Shape, resolved};
use crate::spec::ToolSpec;

/// The types of one tool.
pub(super) struct Types {
    arguments: String,
    result: Option<String>,
}

/// The types of all tools, in the order of the groups, and the types they name.
pub(super) struct Signatures {
    of_tools: std::vec::IntoIter<Types>,
    pub(super) types: Vec<(String, String)>,
}

impl Signatures {
    /// Returns the types of the next tool; `None` at levels without them.
    pub(super) fn next(&mut self) -> Option<Types> {
        self.of_tools.next()
    }
}

/// Returns the types of all tools; none at levels other than that of signatures.
pub(super) fn all(groups: &[Group<'_>], style: &Style<'_>) -> Signatures {
    let is_wanted = style.level == super::Level::Signature;
    let specs = || groups.iter().flat_map(|group| group.specs.iter().copied()).filter(|_| is_wanted);
    let result = |spec| -> Option<&Shape> { result_of(spec, style) };
    let roots = specs().flat_map(|spec| {
        let input = resolved(&spec.input, &spec.defs).unwrap_or(spec.input.shape());
        let output = result(spec).map(|shape| (shape, &spec.defs, true));
        [Some((input, &spec.defs, false)), output].into_iter().flatten()
    });
    let mut types = typescript::Types::of(roots);
    let of_tools: Vec<Types> = specs()
        .map(|spec| {
            let input = resolved(&spec.input, &spec.defs).unwrap_or(spec.input.shape());
            let arguments = types.root(input, &spec.defs, false);
            Types { arguments, result: result(spec).map(|shape| types.root(shape, &spec.defs, true)) }
        })
        .collect();
    Signatures { of_tools: of_tools.into_iter(), types: types.declared() }
}

fn result_of<'a>(spec: &'a ToolSpec, style: &Style<'_>) -> Option<&'a Shape> {
    spec.output.as_ref().filter(|_| style.results).map(|schema| schema.shape())
}

/// Returns the signature of a tool, a member of an interface: `get_pet(args: { id: number })`.
pub(super) fn signature(spec: &ToolSpec, types: &Types) -> String {
    let is_closed = matches!(
        resolved(&spec.input, &spec.defs).map(|shape| &shape.kind),
        Some(Kind::Object(rules)) if rules.extra == Extra::Closed && rules.patterns.is_empty()
    );
    let none = fields(spec).next().is_none();
    let mark = if fields(spec).any(|field| field.required) { "" } else { "?" };
    let arguments = match types.arguments.as_str() {
        _ if none && is_closed => String::new(),
        told => format!("args{mark}: {told}"),
    };
    let result = types.result.as_ref().map(|told| format!(": {told}")).unwrap_or_default();
    format!("{}({arguments}){result}", property(spec.name.as_str()))
}

/// Returns the text of a module with the types and the interface of all tools.
pub(super) fn module(groups: &[Group<'_>], style: &Style<'_>) -> String {
    let mut signatures = all(groups, style);
    let mut out = String::new();
    for (name, text) in &signatures.types {
        out.push_str(&format!("type {name} = {text};\n"));
    }
    if !signatures.types.is_empty() {
        out.push('\n');
    }
    out.push_str("interface Tools {\n");
    let mut first = true;
    for group in groups {
        if !group.name.is_empty() {
            let parting = if first { "" } else { "\n" };
            let colon = if group.description.is_empty() { "" } else { ": " };
            let heading = format!("## {}{colon}{}", group.name, first_paragraph(group.description));
            out.push_str(&format!("{parting}{}", comment(&heading)));
        }
        first = false;
        for spec in &group.specs {
            let Some(types) = signatures.next() else { continue };
            out.push_str(&comment(&first_paragraph(&spec.description)));
            if let Some(instead) = &spec.deprecated {
                let instead = if instead.is_empty() { "do not use it any more" } else { instead };
                out.push_str(&comment(&format!("Deprecated: {instead}")));
            }
            let rules = style.unsaid(spec);
            if !rules.is_empty() {
                out.push_str(&comment(&in_one_line(&rules)));
            }
            out.push_str(&format!("  {};\n", signature(spec, &types)));
        }
    }
    out.push_str("}\n");
    out
}

/// Returns a text as a comment of one line; nothing if there is no text.
fn comment(text: &str) -> String {
    let seen = text.replace(Hidden::is_unseen, " ");
    let words: Vec<&str> = seen.split_whitespace().collect();
    if words.is_empty() { String::new() } else { format!("  // {}\n", words.join(" ")) }
}
