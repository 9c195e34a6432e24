//! Describes, in prose, the rules of a tool's schema that a vendor's dialect cannot express.
//!
//! The rules are still enforced when arguments are decoded, so the model has to read them in the documentation.

use crate::base::frozen::List;
use crate::schema::dialect::Dialect;
use crate::schema::shape::render::Loss;
use crate::schema::shape::{Extra, Kind, Shape, find_def, object_in, pointer, prose, resolved};
use crate::spec::ToolSpec;

/// A rule that the schema in a dialect cannot express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnexpressedRule {
    /// The value that the rule applies to, such as `filter.tags[]`. Empty for the arguments as a whole.
    pub place: String,
    /// The JSON Schema keyword.
    pub keyword: &'static str,
    /// The rule, as part of a sentence: `at most 3 items`.
    pub rule: String,
}

/// Returns the rules of a tool's arguments that a dialect cannot express, in the order of the schema, without
/// duplicates. If the dialect rejects the tool, there are none: it has no schema, and [`ToolSpec::schema`] returns the
/// reason.
#[must_use]
pub fn unexpressed_rules(spec: &ToolSpec, dialect: &Dialect) -> Vec<UnexpressedRule> {
    let mut rules = Vec::new();
    for loss in spec.schema(dialect).iter().flat_map(|rendered| &rendered.losses) {
        let rule = rule_of_loss(spec, loss);
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    rules
}

fn rule_of_loss(spec: &ToolSpec, loss: &Loss) -> UnexpressedRule {
    let (location, shape) = locate(spec, &loss.pointer);
    let is_tool_description = loss.keyword == "description" && loss.pointer.is_empty();
    let wording = shape.and_then(|shape| prose::rule(shape, loss.keyword));
    let text = match (wording, loss.keyword) {
        _ if is_tool_description => "the description of the tool is truncated".to_owned(),
        (Some(text), _) => text,
        // Reported only for variants that are disjoint, see `render`.
        (None, "oneOf") => "exactly one of the variants matches".to_owned(),
        (None, "anyOf") => "at least one of the variants matches".to_owned(),
        (None, "required" | "nullable") => "null is the same as omitting it".to_owned(),
        (None, "type") => "written as JSON text".to_owned(),
        (None, "$ref") => "the schema is not repeated".to_owned(),
        // For a map that is rendered as a list of keys and values.
        (None, "uniqueItems") => "each key occurs once".to_owned(),
        (None, "additionalProperties") => "other keys are checked".to_owned(),
        (None, "schema" | "not" | "if" | "allOf") => "more rules apply".to_owned(),
        (None, keyword) => format!("the rule `{keyword}` is checked"),
    };
    UnexpressedRule { place: location, keyword: loss.keyword, rule: text }
}

/// Converts a JSON pointer into a rendered schema to a readable path such as `filter.tags[]`, and returns the shape
/// there. Where the rendered schema and the shape diverge, this is the last location that they have in common.
fn locate<'a>(spec: &'a ToolSpec, path: &str) -> (String, Option<&'a Shape>) {
    let mut location = String::new();
    let mut shape = Some(spec.input.shape());
    let mut tokens = path.split('/').skip(1).map(pointer::token_of);
    while let Some(token) = tokens.next() {
        let current = shape.and_then(|shape| resolved(shape, &spec.defs));
        let next = match (token.as_str(), current.map(|shape| &shape.kind)) {
            ("$defs", _) => {
                let name = tokens.next().unwrap_or_default();
                location.clone_from(&name);
                find_def(&spec.defs, &name)
            }
            ("properties", Some(Kind::Object(rules))) => {
                let name = tokens.next().unwrap_or_default();
                let field = rules.fields.iter().find(|field| field.name == *name);
                if !location.is_empty() {
                    location.push('.');
                }
                location.push_str(&name);
                field.map(|field| &field.shape)
            }
            ("additionalProperties", Some(Kind::Object(rules))) => {
                location.push_str(if location.is_empty() { "*" } else { ".*" });
                extra_shape(&rules.extra)
            }
            ("items", Some(Kind::Array(rules))) => {
                location.push_str("[]");
                Some(&*rules.items)
            }
            ("items", Some(Kind::Tuple(rules))) => {
                location.push_str("[]");
                extra_shape(&rules.rest)
            }
            ("prefixItems", Some(Kind::Tuple(rules))) => {
                let index = tokens.next().unwrap_or_default();
                location.push_str(&format!("[{index}]"));
                index.parse().ok().and_then(|index: usize| rules.items.get(index))
            }
            ("anyOf" | "oneOf", Some(Kind::Union(rules))) => nth(&rules.variants, tokens.next()),
            ("allOf", Some(Kind::All(parts))) => nth(parts, tokens.next()),
            // A nullable shape is rendered as a variant next to `null`.
            ("anyOf", _) if tokens.next().as_deref() == Some("0") => current,
            _ => return (location, None),
        };
        shape = next;
    }
    (location, shape)
}

fn nth(shapes: &List<Shape>, index: Option<String>) -> Option<&Shape> {
    shapes.get(index?.parse::<usize>().ok()?)
}

fn extra_shape(extra: &Extra) -> Option<&Shape> {
    if let Extra::Of(shape) = extra { Some(shape) } else { None }
}

/// Returns the rules as one line: `tags: at most 3 items; name: at least 1 character`.
pub(super) fn join_rules(rules: &[UnexpressedRule]) -> String {
    let parts = rules.iter().map(|rule| match rule.place.as_str() {
        "" => rule.rule.clone(),
        location => format!("{location}: {}", rule.rule),
    });
    parts.collect::<Vec<_>>().join("; ")
}

/// Whether the full documentation of a tool contains a rule: it contains the rules of the arguments themselves.
pub(super) fn is_in_full_docs(rule: &UnexpressedRule, spec: &ToolSpec) -> bool {
    let Some(rules) = object_in(&spec.input, &spec.defs) else { return false };
    let is_stated = |shape: &Shape| {
        let target = resolved(shape, &spec.defs);
        [Some(shape), target].into_iter().flatten().any(|shape| prose::rules(shape).contains(&rule.rule))
    };
    let is_always_stated = matches!(rule.keyword, "default" | "enum" | "const" | "deprecated");
    rules
        .fields
        .iter()
        .any(|field| field.name == *rule.place && (is_always_stated || is_stated(&field.shape)))
}
