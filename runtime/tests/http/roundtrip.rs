//! Tests of round trips from arguments to a request and back: a parser that implements only OpenAPI's tables recovers
//! every value that is sent.
//!
//! The parser below shares no code with the serializer.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::Map;
use toolgen_runtime::engine::http::{Body, BuildOptions, HttpRequest, RequestProblemKind, build};
use toolgen_runtime::spec::plan;

use crate::prelude::*;
use crate::server::{parameter, plan};

// ---- the parser ----

fn percent_decode(text: &str, plus_is_space: bool) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        match bytes[at] {
            b'%' => {
                out.push(u8::from_str_radix(&text[at + 1..at + 3], 16).unwrap());
                at += 2;
            }
            b'+' if plus_is_space => out.push(b' '),
            byte => {
                assert!(byte.is_ascii_graphic(), "{byte} must be encoded in {text}");
                out.push(byte);
            }
        }
        at += 1;
    }
    String::from_utf8(out).unwrap()
}

/// The value that the parser expects, as in a schema.
#[derive(Clone, Copy)]
enum Type {
    Scalar,
    List,
    Object,
}

fn type_of(value: &Value) -> Type {
    match value {
        Value::Array(_) => Type::List,
        Value::Object(_) => Type::Object,
        _ => Type::Scalar,
    }
}

/// Parses items separated by a delimiter.
fn delimited(text: &str, delimiter: &str, kind: Type, explode: bool, plus: bool) -> Value {
    let text_of = |item: &str| Value::String(percent_decode(item, plus));
    match kind {
        Type::Scalar => text_of(text),
        Type::List => text.split(delimiter).map(text_of).collect(),
        Type::Object if explode => {
            fields(text.split(delimiter).map(|item| item.split_once('=').unwrap()), plus)
        }
        Type::Object => {
            let items: Vec<&str> = text.split(delimiter).collect();
            fields(items.chunks(2).map(|pair| (pair[0], pair[1])), plus)
        }
    }
}

fn fields<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>, plus: bool) -> Value {
    let fields = pairs.map(|(key, value)| (percent_decode(key, plus), percent_decode(value, plus).into()));
    Value::Object(fields.collect())
}

fn read_path(text: &str, name: &str, style: Style, explode: bool, kind: Type) -> Value {
    match style {
        Style::Simple => delimited(text, ",", kind, explode, false),
        Style::Label => {
            let text = text.strip_prefix('.').unwrap();
            delimited(text, if explode { "." } else { "," }, kind, explode, false)
        }
        _ => {
            let pairs = text.strip_prefix(';').unwrap().split(';');
            let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
            match kind {
                Type::Object if explode => fields(pairs, false),
                kind => read_pairs(pairs.collect(), name, Style::Form, explode, kind, false),
            }
        }
    }
}

/// Parses `name=value` pairs: of a query, of cookies, of a form.
fn read_pairs(
    pairs: Vec<(&str, &str)>,
    name: &str,
    style: Style,
    explode: bool,
    kind: Type,
    plus: bool,
) -> Value {
    if let (Type::Object, true) = (kind, explode) {
        return fields(pairs.into_iter(), plus);
    }
    let of_name = pairs.iter().filter(|(key, _)| percent_decode(key, plus) == name);
    let mut values = of_name.map(|(_, value)| *value);
    if let (Type::List, true) = (kind, explode) {
        return values.map(|value| Value::String(percent_decode(value, plus))).collect();
    }
    let delimiter = match style {
        Style::SpaceDelimited => "%20",
        Style::PipeDelimited => "%7C",
        _ => ",",
    };
    let value = values.next().unwrap();
    assert!(values.next().is_none());
    delimited(value, delimiter, kind, false, plus)
}

fn split_pairs<'a>(text: &'a str, separator: &str) -> Vec<(&'a str, &'a str)> {
    text.split(separator).map(|pair| pair.split_once('=').unwrap()).collect()
}

// ---- the values ----

/// Strings with all characters that are special in some format.
fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[ -~]{0,6}", "[a,;|=&%+.~/?#\\[\\]{} é😀]{0,6}", "\\PC{0,4}"]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        text().prop_map(Value::String),
        vec(text(), 1..4).prop_map(|items| json!(items)),
        btree_map(text(), text(), 1..4).prop_map(|fields| json!(fields)),
    ]
}

/// Nested objects, with strings and arrays of strings as leaves. Brackets in a key would be ambiguous with those of
/// the style, and an empty collection cannot be represented.
fn deep() -> impl Strategy<Value = Value> {
    let key = || "[a-z $.é]{1,3}";
    let leaf = prop_oneof![text().prop_map(Value::String), vec(text(), 2..4).prop_map(|items| json!(items))];
    let inner = leaf.prop_recursive(3, 12, 3, move |inner| {
        btree_map(key(), inner, 1..4).prop_map(|fields| Value::Object(fields.into_iter().collect()))
    });
    btree_map(key(), inner, 1..4).prop_map(|fields| Value::Object(fields.into_iter().collect()))
}

const NAME: &str = "p[ä] x";

fn send(
    location: Location,
    style: Style,
    explode: bool,
    value: &Value,
) -> Result<HttpRequest, RequestProblemKind> {
    let encoding = Encoding::Style { style, explode, allow_reserved: false };
    let path = if location == Location::Path { "/x/{p[ä] x}/y" } else { "/x" };
    let parameters = vec![parameter(NAME, location, encoding)].into();
    let plan = RequestPlan { parameters, ..plan("GET", "http://h", path) };
    build(&plan, &json!({ NAME: value }), &BuildOptions::default()).map_err(|problems| problems[0].kind)
}

/// Whether a value contains a dot segment or is empty, and must not be in a path.
fn may_be_refused(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            let text = text.to_lowercase().replace("%2e", ".").replace("%2f", "/").replace("%5c", "/");
            let text = text.replace("%3b", ";");
            let dots = |part: &str| matches!(part.split(';').next(), Some("." | ".."));
            text.is_empty() || text.split(['/', '\\']).any(dots)
        }
        Value::Array(items) => items.iter().any(may_be_refused),
        Value::Object(fields) => fields.values().any(may_be_refused),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn paths(value in value(), explode: bool, style in prop_oneof![Just(Style::Simple), Just(Style::Label), Just(Style::Matrix)]) {
        // RFC 6570 does not encode the dot, which is the delimiter here, so values must not contain a dot.
        prop_assume!(!(style == Style::Label && explode && value.to_string().contains('.')));
        match send(Location::Path, style, explode, &value) {
            Ok(request) => {
                let path = request.url.strip_prefix("http://h/x/").unwrap().strip_suffix("/y").unwrap();
                prop_assert!(!path.contains('/') && !matches!(path, "" | "." | ".."), "{}", path);
                let read = read_path(path, NAME, style, explode, type_of(&value));
                prop_assert_eq!(read, value, "{}", request.url);
            }
            Err(kind) => {
                prop_assert_eq!(kind, RequestProblemKind::UnsafePath);
                let keys = value.as_object().is_some_and(|fields| fields.keys().any(String::is_empty));
                prop_assert!(may_be_refused(&value) || keys, "{}", value);
            }
        }
    }

    #[test]
    fn queries(value in value(), explode: bool, style in prop_oneof![
        Just(Style::Form), Just(Style::SpaceDelimited), Just(Style::PipeDelimited)
    ]) {
        // The tables have no exploded form of these two styles. Values must not contain their delimiter: once
        // encoded, it is ambiguous.
        let (delimiter, explode) = match style {
            Style::SpaceDelimited => (" ", false),
            Style::PipeDelimited => ("|", false),
            _ => ("\0", explode),
        };
        prop_assume!(!value.to_string().contains(delimiter));
        let request = send(Location::Query, style, explode, &value).unwrap();
        let pairs = split_pairs(request.url.strip_prefix("http://h/x?").unwrap(), "&");
        prop_assert_eq!(read_pairs(pairs, NAME, style, explode, type_of(&value), false), value, "{}", request.url);
    }

    #[test]
    fn cookies(value in value(), explode: bool) {
        let request = send(Location::Cookie, Style::Form, explode, &value).unwrap();
        let pairs = split_pairs(request.header("Cookie").unwrap(), "; ");
        prop_assert_eq!(read_pairs(pairs, NAME, Style::Form, explode, type_of(&value), false), value);
    }

    #[test]
    fn deep_objects(value in deep()) {
        let request = send(Location::Query, Style::DeepObject, true, &value).unwrap();
        let mut read = Map::new();
        for (key, value) in split_pairs(request.url.strip_prefix("http://h/x?").unwrap(), "&") {
            let key = percent_decode(key, false);
            let steps = key.strip_prefix(NAME).unwrap().strip_prefix('[').unwrap().strip_suffix(']').unwrap();
            let steps: Vec<&str> = steps.split("][").collect();
            let (last, before) = steps.split_last().unwrap();
            let mut location = &mut read;
            for step in before {
                location = location.entry(*step).or_insert_with(|| json!({})).as_object_mut().unwrap();
            }
            let value = Value::String(percent_decode(value, false));
            match location.get_mut(*last) {
                None => {
                    location.insert((*last).to_owned(), value);
                }
                Some(Value::Array(items)) => items.push(value),
                Some(first) => *first = json!([first, value]),
            }
        }
        prop_assert_eq!(Value::Object(read), value, "{}", request.url);
    }

    #[test]
    fn forms(fields in btree_map(text(), prop_oneof![
        text().prop_map(Value::String), vec(text(), 2..4).prop_map(|items| json!(items))
    ], 1..4)) {
        let value = Value::Object(fields.into_iter().collect());
        let (_, body) = body(Codec::Form(List::EMPTY), &value);
        let body = String::from_utf8(body).unwrap();
        let mut read = Map::new();
        for (key, item) in split_pairs(&body, "&") {
            let item = Value::String(percent_decode(item, true));
            match read.get_mut(&percent_decode(key, true)) {
                None => {
                    read.insert(percent_decode(key, true), item);
                }
                Some(Value::Array(items)) => items.push(item),
                Some(first) => *first = json!([first, item]),
            }
        }
        prop_assert_eq!(Value::Object(read), value, "{}", body);
    }

    #[test]
    fn multiparts(texts in btree_map("[a-z\"é]{1,4}", text(), 1..4), file in vec(any::<u8>(), 0..64)) {
        let part = Part { name: "FILE".into(), file: true, content_type: "".into(), encoding: None };
        let mut value: Map<String, Value> = texts.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
        value.insert("FILE".to_owned(), json!({ "base64": base64(&file) }));
        let (media_type, body) = body(Codec::Multipart(vec![part].into()), &Value::Object(value));
        let boundary = media_type.strip_prefix("multipart/form-data; boundary=").unwrap();
        let mut rest = body.as_slice();
        let mut read = Vec::new();
        loop {
            rest = rest.strip_prefix(format!("--{boundary}").as_bytes()).unwrap();
            if rest == b"--\r\n" {
                break;
            }
            rest = rest.strip_prefix(b"\r\n").unwrap();
            let head = find(rest, b"\r\n\r\n");
            let name = std::str::from_utf8(&rest[..head]).unwrap();
            let name = name.split("name=\"").nth(1).unwrap().split('"').next().unwrap().replace("%22", "\"");
            rest = &rest[head + 4..];
            let end = find(rest, format!("\r\n--{boundary}").as_bytes());
            read.push((name, rest[..end].to_vec()));
            rest = &rest[end + 2..];
        }
        let mut expected: Vec<(String, Vec<u8>)> =
            texts.into_iter().map(|(name, text)| (name, text.into_bytes())).collect();
        expected.push(("FILE".to_owned(), file));
        prop_assert_eq!(read, expected);
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> usize {
    haystack.windows(needle.len()).position(|window| window == needle).unwrap()
}

fn body(codec: Codec, value: &Value) -> (String, Vec<u8>) {
    let media_type = if matches!(codec, Codec::Form(_)) {
        "application/x-www-form-urlencoded"
    } else {
        "multipart/form-data"
    };
    let source = BodySource::Argument("body".into());
    let body = Some(plan::Body { required: true, media_type: media_type.into(), codec, source });
    let plan = RequestPlan { body, ..plan("POST", "http://h", "/x") };
    let request = build(&plan, &json!({ "body": value }), &BuildOptions::default()).unwrap();
    let media_type = request.header("Content-Type").unwrap().to_owned();
    match request.body {
        Body::None => (media_type, Vec::new()),
        Body::Text(text) => (media_type, text.into_bytes()),
        Body::Bytes(bytes) => (media_type, bytes),
    }
}

/// RFC 4648, bit by bit.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let bits =
            (0..3).fold(0usize, |bits, at| bits << 8 | usize::from(chunk.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            out.push(if at <= chunk.len() { char::from(ALPHABET[bits >> (18 - 6 * at) & 63]) } else { '=' });
        }
    }
    out
}
