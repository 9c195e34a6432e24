//! The signature of a tool, in one line.

use toolgen_core::internal::object_in;

use crate::base::frozen::List;
use crate::schema::shape::{Access, Def, Field, Kind, Shape, find_def};
use crate::spec::ToolSpec;

/// The maximum number of optional arguments in a signature.
const MAX_OPTIONAL_SHOWN: usize = 8;

/// The maximum number of values of an argument in a signature.
const MAX_VALUES_SHOWN: usize = 6;

/// Returns the signature of a tool, in one line: `get_pet(id: integer, status?: "sold"|"open")`. Required arguments
/// come first; of the optional arguments, only the first eight are shown.
#[must_use]
pub fn signature(spec: &ToolSpec) -> String {
    let fields = object_in(&spec.input, &spec.defs).into_iter().flat_map(|rules| &rules.fields);
    let fields: Vec<&Field> = fields.filter(|field| field.access != Access::ReadOnly).collect();
    let (required, optional): (Vec<&Field>, Vec<&Field>) =
        fields.into_iter().partition(|field| field.required);
    let arguments = required.iter().chain(optional.iter().take(MAX_OPTIONAL_SHOWN)).map(|field| {
        let mark = if field.required { "" } else { "?" };
        format!("{}{mark}: {}", field.name, type_of(&field.shape, &spec.defs, 2))
    });
    let mut arguments: Vec<String> = arguments.collect();
    if optional.len() > MAX_OPTIONAL_SHOWN {
        arguments.push("…".to_owned());
    }
    format!("{}({})", spec.name, arguments.join(", "))
}

/// Returns the type of a value, expanding arrays and references up to this many levels.
fn type_of(shape: &Shape, defs: &List<Def>, levels: usize) -> String {
    let Some(levels) = levels.checked_sub(1) else { return "…".to_owned() };
    match &shape.kind {
        Kind::Any | Kind::Raw(_) | Kind::All(_) => "any".to_owned(),
        Kind::Never => "never".to_owned(),
        Kind::Null => "null".to_owned(),
        Kind::Boolean => "boolean".to_owned(),
        Kind::Integer(_) => "integer".to_owned(),
        Kind::Number(_) => "number".to_owned(),
        Kind::String(_) => "string".to_owned(),
        Kind::Object(_) => "object".to_owned(),
        Kind::Tuple(_) => "list".to_owned(),
        Kind::Array(rules) => format!("{}[]", type_of(&rules.items, defs, levels)),
        Kind::Enum(values) => {
            let more = (values.len() > MAX_VALUES_SHOWN).then(|| "…".to_owned());
            let shown = values.iter().take(MAX_VALUES_SHOWN).map(|value| value.to_json().to_string());
            shown.chain(more).collect::<Vec<_>>().join("|")
        }
        Kind::Union(rules) => {
            let mut types: Vec<String> = Vec::new();
            for variant in &rules.variants {
                let variant = type_of(variant, defs, levels);
                if !types.contains(&variant) {
                    types.push(variant);
                }
            }
            types.join("|")
        }
        Kind::Ref(name) => {
            find_def(defs, name).map_or_else(|| "any".to_owned(), |shape| type_of(shape, defs, levels))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::shape::read::read;
    use crate::spec::ToolName;
    use serde_json::json;

    #[test]
    fn signature_lists_required_arguments_first() {
        let mut properties = json!({
            "mode": {"enum": ["a", "b"]}, "ids": {"type": "array", "items": {"type": "integer"}},
            "body": {"type": "object"}, "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        });
        for number in 0..9 {
            properties[format!("more{number}")] = json!({"type": "boolean"});
        }
        let schema = json!({"type": "object", "properties": properties, "required": ["ids"]});
        let input = read(&schema, &mut Vec::new()).into();
        let spec = ToolSpec { name: ToolName::new("find"), input, ..ToolSpec::EMPTY };
        let message = signature(&spec);
        assert!(message.starts_with("find(ids: integer[], "), "{message}");
        assert!(
            message.contains(r#"mode?: "a"|"b""#)
                && message.contains("body?: object")
                && message.ends_with(", …)"),
            "{message}"
        );
        assert!(message.contains("either?: string|integer"), "{message}");
    }
}
