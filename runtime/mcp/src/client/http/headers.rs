//! Headers that let servers and proxies route a message without parsing it (protocol version 2026-07-28).
//!
//! A tool may annotate parameters of its input schema with `x-mcp-header`: their values are also sent as headers. A
//! tool with invalid annotations is not offered; other tools of its server are not affected.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};
use toolgen_core::internal::printable::is_token;

/// The annotation of a parameter.
const ANNOTATION: &str = "x-mcp-header";

/// Prefix and suffix of encoded values.
const ENCODING_AFFIXES: (&str, &str) = ("=?base64?", "?=");

/// A parameter whose value is sent as a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HeaderParameter {
    /// Path of property names to the parameter.
    path: Vec<String>,
    /// Name of the header.
    header: String,
}

/// Returns the annotated parameters of an input schema.
///
/// # Errors
///
/// Returns the first rule that an annotation violates.
pub(super) fn annotated_parameters(schema: &Value) -> Result<Vec<HeaderParameter>, String> {
    let mut parameters = Vec::new();
    collect(schema, &mut Vec::new(), &mut parameters)?;
    for (index, parameter) in parameters.iter().enumerate() {
        if parameters[..index].iter().any(|other| other.header.eq_ignore_ascii_case(&parameter.header)) {
            return Err(format!(
                "two parameters have the annotation `{}`",
                &parameter.header["Mcp-Param-".len()..]
            ));
        }
    }
    Ok(parameters)
}

/// Collects annotations that are reachable through `properties` alone, and rejects annotations elsewhere.
fn collect(
    schema: &Value,
    path: &mut Vec<String>,
    parameters: &mut Vec<HeaderParameter>,
) -> Result<(), String> {
    let Some(schema) = schema.as_object() else { return Ok(()) };
    if let Some(annotation) = schema.get(ANNOTATION) {
        parameters
            .push(HeaderParameter { path: path.clone(), header: header_name(annotation, schema, path)? });
    }
    for (key, value) in schema {
        match (key.as_str(), value) {
            (ANNOTATION, _) => {}
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties {
                    path.push(name.clone());
                    collect(property, path, parameters)?;
                    path.pop();
                }
            }
            (key, value) if contains_annotation(key, value) => {
                return Err(format!("`{ANNOTATION}` below `{key}`, where a value has no fixed path"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether a keyword of a schema contains an annotation.
fn contains_annotation(key: &str, value: &Value) -> bool {
    match (key, value) {
        // These keywords hold values, not schemas.
        ("const" | "default" | "enum" | "examples", _) => false,
        // The keys of these keywords are names.
        (
            "$defs" | "definitions" | "dependentSchemas" | "patternProperties" | "properties",
            Value::Object(map),
        ) => map.values().any(is_annotated),
        (_, Value::Array(items)) => items.iter().any(is_annotated),
        (_, value) => is_annotated(value),
    }
}

fn is_annotated(schema: &Value) -> bool {
    let Some(schema) = schema.as_object() else { return false };
    schema.contains_key(ANNOTATION) || schema.iter().any(|(key, value)| contains_annotation(key, value))
}

fn header_name(annotation: &Value, schema: &Map<String, Value>, path: &[String]) -> Result<String, String> {
    let location = path.join(".");
    let Some(name) = annotation.as_str().filter(|name| is_token(name)) else {
        return Err(format!(
            "`{location}`: `{ANNOTATION}` is {annotation}, which is not the name of a header"
        ));
    };
    let is_primitive = |kind: &Value| matches!(kind.as_str(), Some("string" | "integer" | "boolean"));
    let is_allowed = match schema.get("type") {
        // A null value is not sent.
        Some(Value::Array(kinds)) => {
            kinds.iter().any(is_primitive) && kinds.iter().all(|kind| is_primitive(kind) || kind == "null")
        }
        kind => kind.is_some_and(is_primitive),
    };
    if path.is_empty() || !is_allowed {
        return Err(format!("`{location}`: only a string, an integer or a boolean can be sent as a header"));
    }
    Ok(format!("Mcp-Param-{name}"))
}

/// Returns the standard headers of a request: its method and the tool name.
pub(super) fn standard(method: &str, name: Option<&str>) -> impl Iterator<Item = (String, String)> {
    let pair = |header: &str, value| (header.to_owned(), encode(value));
    [Some(pair("Mcp-Method", method)), name.map(|name| pair("Mcp-Name", name))].into_iter().flatten()
}

/// Returns the headers of the annotated parameters that have values.
pub(super) fn of_arguments(parameters: &[HeaderParameter], arguments: &Value) -> Vec<(String, String)> {
    let headers = parameters.iter().filter_map(|HeaderParameter { path, header }| {
        let value = path.iter().try_fold(arguments, |value, name| value.get(name))?;
        Some((header.clone(), encode(&value_text(value)?)))
    });
    headers.collect()
}

/// Returns a value as header text; `None` for a value that is not sent.
fn value_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(truth) => Some(truth.to_string()),
        // `42.0` is also an integer.
        Value::Number(number) => {
            let integer = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0);
            Some(integer.map_or_else(|| number.to_string(), |float| format!("{float:.0}")))
        }
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Encodes a string so that a header can carry it.
fn encode(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~')) && text.trim_matches(' ') == text;
    let looks_encoded = text.starts_with(ENCODING_AFFIXES.0) && text.ends_with(ENCODING_AFFIXES.1);
    if is_plain && !looks_encoded {
        return text.to_owned();
    }
    format!("{}{}{}", ENCODING_AFFIXES.0, BASE64_STANDARD.encode(text), ENCODING_AFFIXES.1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parameters_of(properties: &Value) -> Result<Vec<HeaderParameter>, String> {
        annotated_parameters(&json!({"type": "object", "properties": properties}))
    }

    fn headers_of(properties: &Value, arguments: &Value) -> Vec<(String, String)> {
        of_arguments(&parameters_of(properties).unwrap(), arguments)
    }

    #[test]
    fn header_parameters_are_found_through_properties() {
        let arguments =
            json!({"region": "us-west1", "n": -7, "f": 42.0, "on": false, "none": null, "o": {"in": "x"}});
        let properties = json!({
            "region": {"type": "string", "x-mcp-header": "Region"},
            "n": {"type": "integer", "x-mcp-header": "N"},
            "f": {"type": "integer", "x-mcp-header": "F"},
            "on": {"type": "boolean", "x-mcp-header": "On"},
            "none": {"type": ["string", "null"], "x-mcp-header": "None"},
            "absent": {"type": "string", "x-mcp-header": "Absent"},
            "o": {"type": "object", "properties": {"in": {"type": "string", "x-mcp-header": "In"}}},
            // A parameter of this name is not an annotation.
            "x-mcp-header": {"type": "string", "default": {"x-mcp-header": "not a schema"}},
        });
        let expected = [("Region", "us-west1"), ("N", "-7"), ("F", "42"), ("On", "false"), ("In", "x")];
        let expected = expected.map(|(name, value)| (format!("Mcp-Param-{name}"), value.to_owned()));
        assert_eq!(headers_of(&properties, &arguments), expected);
    }

    #[test]
    fn invalid_header_annotation_is_rejected() {
        let annotation = |annotation: Value| json!({"a": {"type": "string", "x-mcp-header": annotation}});
        let kind = |kind: Value| json!({"a": {"type": kind, "x-mcp-header": "A"}});
        let parameter = json!({"type": "string", "x-mcp-header": "A"});
        for properties in [
            annotation(json!("")),
            annotation(json!("a b")),
            annotation(json!("a:b")),
            annotation(json!("a\r\nb")),
            annotation(json!("ä")),
            annotation(json!(7)),
            kind(json!("number")),
            kind(json!("object")),
            kind(json!("array")),
            kind(json!("null")),
            kind(json!(["string", "number"])),
            json!({"a": {"x-mcp-header": "A"}}),
            json!({"a": parameter, "b": {"type": "string", "x-mcp-header": "a"}}),
            json!({"a": {"type": "array", "items": parameter}}),
            json!({"a": {"type": "array", "prefixItems": [parameter]}}),
            json!({"a": {"anyOf": [parameter]}}),
            json!({"a": {"type": "object", "additionalProperties": {"properties": {"b": parameter}}}}),
            json!({"a": {"if": {"properties": {"b": parameter}}}}),
        ] {
            assert!(parameters_of(&properties).is_err(), "{properties}");
        }
        for schema in [
            json!({"type": "string", "x-mcp-header": "Root"}),
            json!({"$defs": {"default": parameter}}),
            json!({"patternProperties": {".": parameter}}),
        ] {
            assert!(annotated_parameters(&schema).is_err(), "{schema}");
        }
    }

    #[test]
    fn value_unsafe_for_a_header_is_encoded() {
        for (value, header) in [
            ("us-west1", "us-west1"),
            ("a b", "a b"),
            ("", ""),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("a\tb", "=?base64?YQli?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ] {
            assert_eq!(encode(value), header, "{value:?}");
        }
    }

    #[test]
    fn request_headers_name_method_and_tool() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let headers: Vec<_> = standard("tools/call", Some("é")).collect();
        assert_eq!(headers, [pair("Mcp-Method", "tools/call"), pair("Mcp-Name", "=?base64?w6k=?=")]);
        assert_eq!(standard("tools/list", None).collect::<Vec<_>>(), [pair("Mcp-Method", "tools/list")]);
    }
}
