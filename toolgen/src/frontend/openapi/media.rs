//! Chooses among media types, and decides how a value is encoded.

use toolgen_core::spec::plan::is_binary_media_type;

use super::node::Node;

/// The encodings of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// `application/json`
    Json,
    /// `application/…+json`
    JsonLike,
    /// `application/x-www-form-urlencoded`
    Form,
    /// `multipart/form-data`
    FormData,
    /// `multipart/…`
    Multipart,
    /// `application/yaml` and its aliases; every JSON document is also YAML
    Yaml,
    /// JSON documents, one per line
    Lines,
    /// Server-sent events
    Events,
    /// XML
    Xml,
    /// `text/…`
    Text,
    /// Any other type: bytes
    Binary,
    /// `*/*`
    Any,
}

/// Returns the kind of a media type, ignoring parameters such as `; charset=utf-8`.
pub(super) fn kind(media_type: &str) -> Kind {
    let essence = essence(media_type);
    let (main, sub) = essence.split_once('/').unwrap_or((&essence, ""));
    match (main, sub) {
        ("application" | "text", "json") => Kind::Json,
        ("application", "x-www-form-urlencoded") => Kind::Form,
        ("multipart", "form-data") => Kind::FormData,
        ("multipart", _) => Kind::Multipart,
        ("application" | "text", "xml") => Kind::Xml,
        ("text", "event-stream") => Kind::Events,
        ("*", _) | ("application", "*") => Kind::Any,
        ("application" | "text", "yaml" | "x-yaml" | "vnd.yaml") => Kind::Yaml,
        ("application", "x-ndjson" | "ndjson" | "jsonl" | "x-jsonlines" | "jsonlines" | "json-seq") => {
            Kind::Lines
        }
        ("application", "graphql" | "javascript" | "sql" | "toml" | "x-sh" | "csv") => Kind::Text,
        (_, sub) if sub.ends_with("+json") || sub == "json5" || sub == "x-json" => Kind::JsonLike,
        (_, sub) if sub.ends_with("+json-seq") => Kind::Lines,
        (_, sub) if sub.ends_with("+yaml") => Kind::Yaml,
        (_, sub) if sub.ends_with("+xml") && main != "image" => Kind::Xml,
        ("text", _) => Kind::Text,
        // Published documents also use `json`.
        ("json", "") => Kind::Json,
        _ => Kind::Binary,
    }
}

/// Returns the media type without its parameters, in lower case. Published documents sometimes lack the `;` before
/// parameters.
pub(super) fn essence(media_type: &str) -> String {
    let before_parameters = media_type.split(';').next().unwrap_or_default().trim();
    let first_word = before_parameters.split_whitespace().next().unwrap_or_default();
    let has_subtype = first_word.split_once('/').is_some_and(|(_, sub)| !sub.is_empty());
    if has_subtype { first_word.to_ascii_lowercase() } else { before_parameters.to_ascii_lowercase() }
}

/// Returns the media type with the missing `;` before its parameters.
pub(super) fn with_semicolon(media_type: String) -> String {
    let before_parameters = media_type.split(';').next().unwrap_or_default().trim();
    match before_parameters.split_once(char::is_whitespace) {
        Some((name, rest)) if name.contains('/') && rest.contains('=') && !rest.contains([',', '/']) => {
            media_type.replacen(before_parameters, &format!("{name}; {}", rest.trim_start()), 1)
        }
        _ => media_type,
    }
}

/// Whether the media type declares the boundary of its parts.
pub(super) fn has_boundary(media_type: &str) -> bool {
    let has_name =
        |parameter: &str| parameter.get(..9).is_some_and(|start| start.eq_ignore_ascii_case("boundary="));
    media_type.split(';').skip(1).any(|parameter| has_name(parameter.trim_start()))
}

/// Splits keys that list several media types into one entry per media type.
pub(super) fn split_keys<'a>(content: Vec<(&'a str, Node<'a>)>) -> Vec<(&'a str, Node<'a>)> {
    let expand = |(key, node): (&'a str, Node<'a>)| {
        media_types_of_key(key).map(move |media_type| (media_type, node.clone()))
    };
    content.into_iter().flat_map(expand).collect()
}

fn media_types_of_key(key: &str) -> impl Iterator<Item = &str> {
    // A comma may also occur in a parameter.
    let is_list = key.split(',').all(|part| part.contains('/') && !part.contains('"'));
    let limit = if is_list { usize::MAX } else { 1 };
    key.splitn(limit, ',').map(str::trim)
}

/// Returns the first media type of a list that is not a range, or else [`BYTES`].
pub(super) fn first_definite(list: &str) -> &str {
    let mut media_types = list.split(',').map(str::trim);
    media_types.find(|name| !name.is_empty() && !name.contains('*')).unwrap_or(BYTES)
}

/// Whether each media type of a list may contain text. Any type may, such as `application/jwt`, unless it is known to
/// be binary.
pub(super) fn may_be_text(list: &str) -> bool {
    list.split(',').all(|name| !is_binary_media_type(&essence(name)))
}

/// The media type of arbitrary bytes.
pub(super) const BYTES: &str = "application/octet-stream";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds() {
        for (text, expected) in [
            ("application/json", Kind::Json),
            ("Application/JSON; charset=utf-8", Kind::Json),
            ("application/json charset=utf-8", Kind::Json),
            ("multipart/mixed;boundary=a", Kind::Multipart),
            ("application/merge-patch+json", Kind::JsonLike),
            ("application/vnd.api+json;v=1", Kind::JsonLike),
            ("application/x-www-form-urlencoded", Kind::Form),
            ("multipart/form-data", Kind::FormData),
            ("multipart/related", Kind::Multipart),
            ("text/plain", Kind::Text),
            ("text/*", Kind::Text),
            ("text/event-stream;charset=utf-8", Kind::Events),
            ("application/x-ndjson", Kind::Lines),
            ("application/geo+json-seq", Kind::Lines),
            ("application/yaml", Kind::Yaml),
            ("text/x-yaml", Kind::Yaml),
            ("application/vnd.oai.openapi+yaml;version=3.1", Kind::Yaml),
            ("application/octet-stream", Kind::Binary),
            ("image/svg+xml", Kind::Binary),
            ("image/*", Kind::Binary),
            ("application/soap+xml", Kind::Xml),
            ("*/*", Kind::Any),
            ("application/*", Kind::Any),
            ("", Kind::Binary),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    #[test]
    fn one_key_may_list_several_media_types() {
        let types_of = |key| media_types_of_key(key).collect::<Vec<_>>();
        assert_eq!(types_of("application/json, text/xml;q=1"), ["application/json", "text/xml;q=1"]);
        assert_eq!(
            types_of("multipart/related; start=\"a/b,c/d\""),
            ["multipart/related; start=\"a/b,c/d\""]
        );
        assert_eq!(types_of("text/plain; a=b,c"), ["text/plain; a=b,c"]);
        assert_eq!(with_semicolon("a/b charset=x; y=z".to_owned()), "a/b; charset=x; y=z");
        assert!(has_boundary("multipart/mixed; charset=x;Boundary=a") && !has_boundary("multipart/mixed"));
    }

    #[test]
    fn binary_media_type_is_not_a_string() {
        for bytes in
            ["image/png", "image/*", "application/pdf", "text/plain, audio/mpeg", "application/vnd.ms-excel"]
        {
            assert!(!may_be_text(bytes), "{bytes}");
        }
        for text in [
            "application/octet-stream",
            "application/sdp",
            "image/svg+xml",
            "application/jwt, application/jose",
        ] {
            assert!(may_be_text(text), "{text}");
        }
    }
}
