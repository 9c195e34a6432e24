//! Chooses among media types, and decides how a value is written.

use toolgen_core::spec::plan::is_surely_bytes;

/// The ways to write a body.
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
    /// `application/yaml` and its other names; every JSON text is YAML
    Yaml,
    /// JSON texts one after another
    Lines,
    /// Events of a stream
    Events,
    /// XML
    Xml,
    /// `text/…`
    Text,
    /// Bytes
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
        // Published documents have `json`, too.
        ("json", "") => Kind::Json,
        _ => Kind::Binary,
    }
}

/// Returns the media type without its parameters, in lower case.
pub(super) fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Returns the first type of a list that is not a range, or that of any bytes.
pub(super) fn first_definite(listed: &str) -> &str {
    let mut all = listed.split(',').map(str::trim);
    all.find(|one| !one.is_empty() && !one.contains('*')).unwrap_or(BYTES)
}

/// Whether each type of a list may hold a text: any type may that is not known to be bytes, such as `application/jwt`.
pub(super) fn may_be_texts(listed: &str) -> bool {
    listed.split(',').all(|one| !is_surely_bytes(&essence(one)))
}

/// The media type of any bytes.
pub(super) const BYTES: &str = "application/octet-stream";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds() {
        for (text, expected) in [
            ("application/json", Kind::Json),
            ("Application/JSON; charset=utf-8", Kind::Json),
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
    fn what_is_surely_bytes_is_no_text() {
        for bytes in
            ["image/png", "image/*", "application/pdf", "text/plain, audio/mpeg", "application/vnd.ms-excel"]
        {
            assert!(!may_be_texts(bytes), "{bytes}");
        }
        for text in [
            "application/octet-stream",
            "application/sdp",
            "image/svg+xml",
            "application/jwt, application/jose",
        ] {
            assert!(may_be_texts(text), "{text}");
        }
    }
}
