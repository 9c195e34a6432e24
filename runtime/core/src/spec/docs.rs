//! Documentation of tools for prompts, generated from their specifications.
//!
//! It depends only on the specification, so a prompt never contradicts the schema. The caller sets the order of the
//! tools, because vendors cache prompts by their bytes.

use crate::base::frozen::List;
use crate::base::truncate::sentence_separator;
use crate::schema::dialect::OPENAI;
use crate::schema::shape::prose;
use crate::schema::shape::render::render_input;
use crate::schema::shape::slim::outline_within;
use crate::schema::shape::{
    Access, Def, Extra, Field, Kind, ObjectRules, Shape, find_def, object_in, resolved,
};
use crate::spec::{Example, ToolSpec};

pub(crate) mod level;
mod template;
mod troubleshooting;
mod typescript;
mod unexpressed;

pub use level::{Group, Level, Style, by_category, by_toolset, docs_at, grouped, json};
pub use template::{TemplateError, TemplateProblem, fill};
pub use troubleshooting::troubleshooting;
pub use unexpressed::{UnexpressedRule, unexpressed_rules};

/// Returns the list of tools for a prompt: `No tools available`, or a header and one line per tool, `- **name** -
/// description`.
///
/// A one-line description is used unchanged. Of a longer description, only the first paragraph is used, with its lines
/// joined by spaces: a list has one line per tool, and the rest is in [`detail`].
#[must_use]
pub fn summary<'a>(specs: impl IntoIterator<Item = &'a ToolSpec>) -> String {
    let mut out = String::new();
    for spec in specs {
        if out.is_empty() {
            out.push_str("## Available Tools\n\n");
        }
        out.push_str(&format!("- **{}** - {}\n", spec.name, first_paragraph(&spec.description)));
    }
    if out.is_empty() { String::from("No tools available") } else { out }
}

/// Returns the full documentation of one tool for a prompt: the line of [`summary`] with the whole description, then
///
/// ```text
///   - Parameters: a (required), b (optional)
///     - a (integer, required): What it is. (at least 1)
///     - b (object, optional): Where to. ({street: string, city?: string})
///   - Returns: …
///   - Use for: …
///   - Requires: session state `session_id`, tool `session_start`
///   - Scopes: plans.write
///   - Troubleshooting:
///     - Active session required: The session of the call has no state …
///   - Example: {"a":1}
/// ```
///
/// Parts that would be empty are omitted. For a tool that has its own [`documentation`](ToolSpec::documentation), only
/// that is returned.
#[must_use]
pub fn detail(spec: &ToolSpec) -> String {
    if !spec.documentation.is_empty() {
        return format!("{}\n", spec.documentation.trim_end());
    }
    let mut out = format!("- **{}** - {}\n", spec.name, one_line(&spec.description));
    if let Some(replacement) = &spec.deprecated {
        write_line(
            &mut out,
            "Deprecated",
            if replacement.is_empty() { "do not use this tool" } else { replacement },
        );
    }
    match object_in(&spec.input, &spec.defs) {
        Some(rules) => write_parameters(&mut out, rules, &spec.defs),
        None => write_line(&mut out, "Parameters", &describe_shape(&spec.input, &spec.defs)),
    }
    write_line(&mut out, "Rules", &rules_for_all_arguments(spec));
    write_line(&mut out, "Returns", &one_line(&spec.returns));
    write_line(&mut out, "Use for", &one_line(&spec.use_for));
    troubleshooting::write_requirements(&mut out, spec);
    for Example { summary, arguments } in spec.fitting_examples() {
        let summary = one_line(summary);
        let example_line =
            if summary.is_empty() { arguments.to_string() } else { format!("{summary}: {arguments}") };
        write_line(&mut out, "Example", &example_line);
    }
    out
}

/// Estimates the number of tokens of a text: its bytes divided by four, rounded up.
#[must_use]
pub fn text_tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}

fn write_line(out: &mut String, title: &str, text: &str) {
    if !text.is_empty() {
        out.push_str(&format!("  - {title}: {text}\n"));
    }
}

fn first_paragraph(text: &str) -> String {
    let paragraph = text.trim().split("\n\n").next().unwrap_or_default();
    if text.contains(['\n', '\r']) { one_line(paragraph) } else { text.to_owned() }
}

fn one_line(text: &str) -> String {
    if !text.contains(['\n', '\r']) {
        return text.to_owned();
    }
    let mut line = String::new();
    for paragraph in text.replace("\r\n", "\n").split("\n\n") {
        for (index, word) in paragraph.split_whitespace().enumerate() {
            // A summary that precedes a description rarely ends with a period.
            let space = if line.is_empty() { "" } else { " " };
            line.push_str(if index == 0 { sentence_separator(&line) } else { space });
            line.push_str(word);
        }
    }
    line
}

fn write_parameters(out: &mut String, rules: &ObjectRules, defs: &List<Def>) {
    let fields: Vec<&Field> = visible_fields(rules).collect();
    let names: Vec<String> =
        fields.iter().map(|field| format!("{} ({})", field.name, requiredness(field))).collect();
    let any_allowed = if rules.extra != Extra::Closed && fields.is_empty() { "any" } else { "" };
    write_line(out, "Parameters", &if names.is_empty() { any_allowed.to_owned() } else { names.join(", ") });
    for field in fields {
        let description = describe_shape(&field.shape, defs);
        let kind = kind_name(&field.shape, defs);
        let colon = if description.is_empty() { "" } else { ": " };
        out.push_str(&format!(
            "    - {} ({kind}, {}){colon}{description}\n",
            field.name,
            requiredness(field)
        ));
    }
}

/// Returns the rules that apply to the arguments as a whole.
fn rules_for_all_arguments(spec: &ToolSpec) -> String {
    if !matches!(resolved(&spec.input, &spec.defs), Some(Shape { kind: Kind::All(_), .. })) {
        return String::new();
    }
    // A dialect that requires a plain object as arguments describes the other rules in prose.
    let undescribed = Shape { description: "".into(), ..spec.input.shape().clone() };
    let rendered = render_input(&undescribed, &spec.defs, &OPENAI).map(|rendered| rendered.schema);
    let rules = rendered.ok().and_then(|schema| Some(schema.get("description")?.as_str()?.to_owned()));
    let rules = rules.unwrap_or_default();
    rules.strip_prefix('(').and_then(|rules| rules.strip_suffix(')')).unwrap_or(&rules).to_owned()
}

/// Returns the arguments that a caller may pass.
fn fields(spec: &ToolSpec) -> impl Iterator<Item = &Field> {
    object_in(&spec.input, &spec.defs).into_iter().flat_map(visible_fields)
}

fn visible_fields(rules: &ObjectRules) -> impl Iterator<Item = &Field> {
    rules.fields.iter().filter(|field| field.access != Access::ReadOnly)
}

fn requiredness(field: &Field) -> String {
    match (&field.shape.default, field.required) {
        (_, true) => String::from("required"),
        (Some(default), false) => format!("optional, default {}", prose::value(default)),
        (None, false) => String::from("optional"),
    }
}

/// Returns the description of a shape and its rules, on one line.
fn describe_shape(shape: &Shape, defs: &List<Def>) -> String {
    let mut notes = prose::rules(shape);
    let mut description = one_line(&shape.description);
    if let Kind::Ref(name) = &shape.kind
        && let Some(target) = find_def(defs, name)
    {
        notes.extend(prose::rules(target));
        if description.is_empty() {
            description = one_line(&target.description);
        }
    }
    if let Some(Kind::Array(rules)) = resolved(shape, defs).map(|shape| &shape.kind)
        && let Some(item) = resolved(&rules.items, defs)
    {
        let rules = prose::rules(item);
        notes.extend((!rules.is_empty()).then(|| format!("each: {}", rules.join(", "))));
    }
    // The name of a type alone does not show how to write a value.
    notes.extend(outline_within(shape, defs));
    prose::describe(&description, &notes)
}

/// Returns the type name of a shape in a list of parameters.
fn kind_name(shape: &Shape, defs: &List<Def>) -> String {
    let name = match &shape.kind {
        Kind::Any | Kind::Raw(_) => "any value".into(),
        Kind::Never => "nothing".into(),
        Kind::Null => "null".into(),
        Kind::Boolean => "boolean".into(),
        Kind::Integer(_) => "integer".into(),
        Kind::Number(_) => "number".into(),
        Kind::String(_) => "string".into(),
        Kind::Enum(values) => join_distinct(values.iter().map(|value| value.type_name().to_owned())),
        Kind::Array(rules) => format!("list of {}", kind_name(&rules.items, defs)),
        Kind::Tuple(_) => "list".into(),
        Kind::Object(_) => "object".into(),
        Kind::Ref(name) => match find_def(defs, name).map(|shape| &shape.kind) {
            Some(Kind::Ref(_) | Kind::Object(_) | Kind::Union(_) | Kind::All(_)) | None => name.to_string(),
            Some(_) => find_def(defs, name).map_or_else(String::new, |shape| kind_name(shape, &List::EMPTY)),
        },
        Kind::Union(rules) => join_distinct(rules.variants.iter().map(|variant| kind_name(variant, defs))),
        Kind::All(parts) => parts.first().map_or_else(|| "any value".into(), |part| kind_name(part, defs)),
    };
    if shape.nullable { format!("{name} or null") } else { name }
}

/// Joins names without duplicates: `string or integer`.
fn join_distinct(names: impl Iterator<Item = String>) -> String {
    let mut parts: Vec<String> = Vec::new();
    for name in names {
        if !parts.contains(&name) {
            parts.push(name);
        }
    }
    parts.join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::shape::read::read;
    use crate::spec::{Effects, ToolName};
    use serde_json::json;

    #[test]
    fn documentation_describes_objects_and_unions() {
        let schema = json!({"type": "object", "properties": {
            "to": {"type": "object", "description": "Where to.", "properties": {
                "street": {"type": "string"}, "floor": {"type": "integer"},
            }, "required": ["street"], "additionalProperties": false},
            "disk": {"$ref": "#/$defs/Disk"},
            "parts": {"type": "array", "items": {"$ref": "#/$defs/Disk"}},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "free": {"type": "object"},
        }, "required": ["disk"], "additionalProperties": false, "$defs": {"Disk": {"oneOf": [
            {"type": "object", "properties": {"kind": {"const": "blank"}, "size": {"type": "integer"}}, "required": ["kind", "size"]},
            {"type": "object", "properties": {"kind": {"const": "copy"}, "of": {"type": "string"}}, "required": ["kind"]},
        ]}}});
        let (input, defs) = crate::schema::shape::read::read_document(&schema, &mut Vec::new());
        let spec = ToolSpec { input: input.into(), defs, ..spec() };
        let message = detail(&spec);
        for line in [
            "    - to (object, optional): Where to. ({street: string, floor?: integer})\n",
            "    - disk (Disk, required): ({kind: \"blank\", size: integer} | {kind: \"copy\", of?: string})\n",
            "    - labels (object, optional): ({[key]: string})\n",
            "    - free (object, optional)\n",
        ] {
            assert!(message.contains(line), "{line} is not in\n{message}");
        }
    }

    fn spec() -> ToolSpec {
        let schema = json!({"type": "object", "properties": {
            "cmd": {"type": "string", "description": "Shell command to execute", "minLength": 1},
            "cwd": {"type": ["string", "null"], "description": "Optional working\ndirectory"},
            "mode": {"enum": ["a", "b"], "default": "a"},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
            "id": {"type": "string", "readOnly": true},
        }, "required": ["cmd"], "additionalProperties": false});
        ToolSpec {
            name: ToolName::new("shell"),
            description: "Executes shell commands".into(),
            returns: "What the command printed.".into(),
            use_for: "looking around".into(),
            examples: vec![Example { summary: "List files".into(), arguments: r#"{"cmd":"ls"}"#.into() }]
                .into(),
            input: read(&schema, &mut Vec::new()).into(),
            effects: Effects::NONE,
            ..ToolSpec::EMPTY
        }
    }

    #[test]
    fn empty_summary_reports_no_tools() {
        assert_eq!(summary([]), "No tools available");
    }

    #[test]
    fn paragraphs_are_joined_as_sentences() {
        assert_eq!(one_line("List pets\n\nAll of\nthem."), "List pets. All of them.");
        assert_eq!(one_line("Lists:\r\n\r\n- pets!\n\n"), "Lists: - pets!");
    }

    #[test]
    fn summary_has_one_line_per_tool() {
        let long = ToolSpec {
            name: ToolName::new("long"),
            description: "First line\nand second.\n\nMore.".into(),
            ..ToolSpec::EMPTY
        };
        let expected = "## Available Tools\n\n- **shell** - Executes shell commands\n- **long** - First line and second.\n";
        assert_eq!(summary([&spec(), &long]), expected);
    }

    #[test]
    fn detailed_documentation_snapshot() {
        let expected = "\
- **shell** - Executes shell commands
  - Parameters: cmd (required), cwd (optional), mode (optional, default \"a\"), tags (optional)
    - cmd (string, required): Shell command to execute (at least 1 character)
    - cwd (string or null, optional): Optional working directory
    - mode (string, optional, default \"a\"): (one of \"a\", \"b\")
    - tags (list of string, optional): (at most 3 items)
  - Returns: What the command printed.
  - Use for: looking around
  - Example: List files: {\"cmd\":\"ls\"}
";
        assert_eq!(detail(&spec()), expected);
    }

    #[test]
    fn custom_documentation_replaces_generated_text() {
        let custom = ToolSpec { documentation: "- **shell** - Ask first.\n\n".into(), ..spec() };
        assert_eq!(detail(&custom), "- **shell** - Ask first.\n");
        assert_eq!(summary([&custom]), summary([&spec()]));
    }

    #[test]
    fn tool_without_arguments_has_no_parameters_line() {
        let spec = ToolSpec { description: "Does it.".into(), ..ToolSpec::EMPTY };
        assert_eq!(detail(&spec), "- **unnamed** - Does it.\n");
    }

    #[test]
    fn token_estimate_is_a_quarter_of_the_bytes() {
        assert_eq!((text_tokens(""), text_tokens("abcd"), text_tokens("abcde")), (0, 1, 2));
    }
}
