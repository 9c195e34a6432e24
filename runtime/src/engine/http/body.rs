//! The body of a request.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use serde_json::{Map, Value};

use super::encode::{Escape, escape};
use super::files::Files;
use super::multipart;
use super::request::{Body, RequestProblem, RequestProblemKind, content, is_json};
use super::{charset, collide, style, torn, xml};
use crate::base::json::type_name;
use crate::base::media_type::essence;
use crate::spec::plan::{self, BodySource, Codec, Encoding, Part};

/// Builds the body and its `Content-Type`. Returns `None` if the request has no body or there are problems.
pub(super) fn build(
    plan: &plan::Body,
    arguments: &Map<String, Value>,
    files: &dyn Files,
    problems: &mut Vec<RequestProblem>,
) -> Option<(String, Body)> {
    let (argument, value) = match &plan.source {
        BodySource::Argument(argument) => match arguments.get(argument.as_str()) {
            Some(value) => (argument.as_str(), value.clone()),
            None if plan.required => {
                let message = format!("Missing required request body '{argument}'");
                problems.push(body_problem(argument, message));
                return None;
            }
            None => return None,
        },
        BodySource::Fields(fields) => {
            let given = fields.iter().filter_map(|field| {
                let value = arguments.get(field.argument.as_str())?;
                Some((field.name.as_str().to_owned(), value.clone()))
            });
            let given: Map<String, Value> = given.collect();
            if given.is_empty() && !plan.required {
                return None;
            }
            ("", Value::Object(given))
        }
    };
    let encoded = encode(plan, argument, &value, files);
    encoded.map_err(|problem| problems.push(placed(problem, &plan.source))).ok()
}

/// Returns a problem of a body at the argument that was given: parts are named as they are on the wire.
fn placed(problem: RequestProblem, source: &BodySource) -> RequestProblem {
    let argument = match source {
        BodySource::Argument(argument) => Some(argument),
        BodySource::Fields(fields) => {
            fields.iter().find(|field| field.name.as_str() == problem.argument).map(|field| &field.argument)
        }
    };
    match argument {
        Some(argument) => RequestProblem { argument: argument.to_string(), ..problem },
        None => problem,
    }
}

fn body_problem(argument: &str, message: impl Into<String>) -> RequestProblem {
    RequestProblem::new(RequestProblemKind::Body, argument, message)
}

fn encode(
    plan: &plan::Body,
    argument: &str,
    value: &Value,
    files: &dyn Files,
) -> Result<(String, Body), RequestProblem> {
    match &plan.codec {
        Codec::Json => {
            let media_type = concrete(&plan.media_type, "application/json").to_owned();
            let text = charset::json(value.to_string(), &media_type);
            let body = in_charset(argument, &media_type, text)?;
            Ok((media_type, body))
        }
        Codec::JsonLines => {
            let media_type = concrete(&plan.media_type, "application/x-ndjson");
            let text = charset::json(json_lines(value, media_type), media_type);
            Ok((media_type.to_owned(), in_charset(argument, media_type, text)?))
        }
        Codec::Form(parts) => {
            let media_type = concrete(&plan.media_type, "application/x-www-form-urlencoded");
            let fields = fields(argument, value, parts)?;
            let encoding = |name: &str| Part::of(parts, name)?.encoding.as_ref();
            let mut torn = fields
                .iter()
                .filter_map(|(name, value)| torn::torn(name, value, encoding(name)?, torn::Written::Pairs));
            if let Some(problem) = torn.next() {
                return Err(problem);
            }
            if let Some(problem) = collide::in_form(argument, &fields, parts, &plan.source) {
                return Err(problem);
            }
            let text = charset::form(form(&fields, parts), media_type);
            let text = text.map_err(|why| body_problem(argument, told(argument, &why)))?;
            Ok((media_type.to_owned(), Body::Text(text)))
        }
        Codec::Multipart(parts) => {
            let parts = multipart::parts(&*fields(argument, value, parts)?, parts, files)?;
            let boundary = multipart::boundary(&parts);
            let media_type = concrete(&plan.media_type, "multipart/form-data");
            let media_type = format!("{}; boundary={boundary}", without_boundary(media_type));
            Ok((media_type, Body::Bytes(multipart::write(&parts, &boundary))))
        }
        Codec::Xml(hints) => {
            let text = xml::write(value, hints).map_err(|why| body_problem(argument, why))?;
            let media_type = with_charset(concrete(&plan.media_type, "application/xml"), &text);
            let body = in_charset(argument, &media_type, text)?;
            Ok((media_type, body))
        }
        Codec::Text => {
            let text = content(value, "text/plain");
            let media_type = with_charset(concrete(&plan.media_type, "text/plain"), &text);
            let body = in_charset(argument, &media_type, text)?;
            Ok((media_type, body))
        }
        Codec::Binary => {
            let file = File::read(argument, value, files)?;
            let media_type = file.media_type(argument, &plan.media_type)?;
            Ok((media_type, Body::Bytes(file.content)))
        }
    }
}

/// Writes each item of a list, or the value itself, on a line. Texts of a sequence (RFC 7464) begin with a separator.
fn json_lines(value: &Value, media_type: &str) -> String {
    let start = if essence(media_type).ends_with("json-seq") { "\u{1e}" } else { "" };
    let items = value.as_array().map_or_else(|| std::slice::from_ref(value), Vec::as_slice);
    items.iter().map(|item| format!("{start}{item}\n")).collect()
}

/// Returns a media type that names one type, or `otherwise` in place of a range such as `*/*` or `image/*`.
fn concrete<'a>(media_type: &'a str, otherwise: &'a str) -> &'a str {
    let essence = media_type.split(';').next().unwrap_or_default();
    if essence.is_empty() || essence.contains('*') { otherwise } else { media_type }
}

/// Returns a media type without a boundary, which depends on the parts.
fn without_boundary(media_type: &str) -> String {
    let is_other = |one: &&str| !one.trim_start().to_ascii_lowercase().starts_with("boundary=");
    media_type.split(';').filter(is_other).collect::<Vec<_>>().join(";")
}

/// Adds a charset for text that is not ASCII. Nothing else is changed, since servers compare media types.
pub(super) fn with_charset(media_type: &str, text: &str) -> String {
    if text.is_ascii() || charset::is_named(media_type) {
        media_type.to_owned()
    } else {
        format!("{media_type}; charset=utf-8")
    }
}

/// Returns a text in the charset that its media type names.
pub(super) fn in_charset(argument: &str, media_type: &str, text: String) -> Result<Body, RequestProblem> {
    let text = match charset::xml(&text, media_type) {
        Cow::Borrowed(_) => text,
        Cow::Owned(text) => text,
    };
    match charset::encode(&text, media_type) {
        None => Ok(Body::Text(text)),
        Some(Ok(bytes)) => Ok(Body::Bytes(bytes)),
        Some(Err(why)) => Err(body_problem(argument, told(argument, &why))),
    }
}

/// Says what is wrong with an argument, if the body is one.
fn told(argument: &str, why: &str) -> String {
    if argument.is_empty() { format!("the request body: {why}") } else { format!("`{argument}`: {why}") }
}

/// Returns the fields of a form; those that are XML as texts.
fn fields<'a>(
    argument: &str,
    value: &'a Value,
    parts: &[Part],
) -> Result<Cow<'a, Map<String, Value>>, RequestProblem> {
    let fields = value.as_object().ok_or_else(|| {
        let message = format!("The request body '{argument}' must be an object, got {}", type_name(value));
        body_problem(argument, message)
    })?;
    let encodings = parts.iter().filter_map(|part| Some((part.name.as_str(), part.encoding.as_ref()?)));
    let mut problem = None;
    let fields = xml::texts(fields, encodings, |name, why| problem = Some(body_problem(name, why)));
    problem.map_or(Ok(fields), Err)
}

/// Writes `application/x-www-form-urlencoded`: a field uses its style if the document names one; otherwise a list
/// repeats its name and an object is JSON (OpenAPI 3.1, "Encoding Object").
pub(super) fn form(fields: &Map<String, Value>, parts: &[Part]) -> String {
    let mut pairs = Vec::new();
    for (name, value) in fields {
        let part = Part::of(parts, name);
        pairs.extend(form_field(name, value, part));
    }
    pairs.join("&")
}

pub(super) fn form_field(name: &str, value: &Value, part: Option<&Part>) -> Vec<String> {
    let pair = |text: &str| format!("{}={}", escape(name, Escape::Form), escape(text, Escape::Form));
    let media_type = part.map_or("", |part| part.content_type.as_str());
    match (part.and_then(|part| part.encoding.as_ref()), value) {
        (_, Value::Null) => Vec::new(),
        (Some(Encoding::Style { style, explode, allow_reserved }), value) => {
            let escaping = if *allow_reserved { Escape::Reserved } else { Escape::Form };
            style::as_pairs(name, value, *style, *explode, escaping)
        }
        (Some(Encoding::Content(media_type)), value) => vec![pair(&content(value, media_type))],
        (None, value) if is_json(media_type) => vec![pair(&value.to_string())],
        (None | Some(Encoding::Xml(_)), Value::Array(items)) => {
            items.iter().filter(|item| !item.is_null()).map(|item| pair(&style::text(item))).collect()
        }
        (None | Some(Encoding::Xml(_)), value) => vec![pair(&style::text(value))],
    }
}

/// The content of a file argument.
pub(super) struct File {
    pub(super) content: Vec<u8>,
    pub(super) filename: Option<String>,
    pub(super) content_type: Option<String>,
    /// Whether it was given as a text.
    is_text: bool,
}

impl File {
    /// Reads a file argument (see [`plan::FILE_FIELDS`]).
    pub(super) fn read(argument: &str, value: &Value, files: &dyn Files) -> Result<File, RequestProblem> {
        let problem = |message: String| {
            let message = if argument.is_empty() { message } else { format!("`{argument}`: {message}") };
            RequestProblem::new(RequestProblemKind::File, argument, message)
        };
        if let Some(text) = value.as_str() {
            // Where the schema of the document has a text.
            let content = text.as_bytes().to_vec();
            return Ok(File { content, filename: None, content_type: None, is_text: false });
        }
        let text = |key: &str| value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let inline = |key: &str| value.get(key).and_then(Value::as_str);
        let content = match (inline("text"), inline("base64"), text("path")) {
            (Some(text), None, None) => text.as_bytes().to_vec(),
            (None, Some(data), None) => {
                decode_base64(data).ok_or_else(|| problem("`base64` is not base64".to_owned()))?
            }
            (None, None, Some(path)) => files.read(path).map_err(problem)?,
            _ => {
                let all =
                    if files.can_read() { "`text`, `base64` and `path`" } else { "`text` and `base64`" };
                return Err(problem(format!("a file needs exactly one of {all}")));
            }
        };
        let content_type = text("content_type").map(str::to_owned);
        if content_type.as_ref().is_some_and(|text| text.chars().any(char::is_control)) {
            return Err(problem("`content_type` may not hold control characters".to_owned()));
        }
        let from_path = || text("path").and_then(|path| path.rsplit(['/', '\\']).next());
        let filename = text("filename").or_else(from_path).map(str::to_owned);
        let is_text = inline("text").is_some();
        Ok(File { content, filename, content_type, is_text })
    }
}

impl File {
    /// Returns the media type to send the file as, of those in the list of allowed ones, which may be ranges: that of
    /// the argument, or of the name or the first bytes of the file, or the first that is not a range.
    pub(super) fn media_type(&self, argument: &str, allowed: &str) -> Result<String, RequestProblem> {
        let listed = || allowed.split(',').map(str::trim).filter(|one| !one.is_empty());
        if let Some(asked) = &self.content_type {
            let kind = essence(asked);
            let taken = listed().any(|one| one == "*/*" || is_of(&kind, one)) || allowed.is_empty();
            // The document's own words may have parameters.
            let declared = listed().find(|one| *one != "*/*" && kind == *asked && essence(one) == kind);
            return match taken {
                true => Ok(declared.unwrap_or(asked).to_owned()),
                false => {
                    let all = listed().collect::<Vec<_>>().join(", ");
                    let message = format!("`{argument}`: `content_type` must be one of {all}");
                    Err(RequestProblem::new(RequestProblemKind::File, argument, message))
                }
            };
        }
        let name = self.filename.as_deref().unwrap_or_default();
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        let of_name = ending.as_deref().and_then(|ending| {
            let known = KINDS.iter().find(|(endings, ..)| endings.split(' ').any(|one| one == ending));
            let named = |one: &str| one.split_once('/').is_some_and(|(_, subtype)| subtype == ending);
            known.map(|(_, kind, _)| *kind).or_else(|| listed().find(|one| named(one)))
        });
        let starts = |start: &[u8]| !start.is_empty() && self.content.starts_with(start);
        let of_content = KINDS.iter().find(|(.., start)| starts(start)).map(|(_, kind, _)| *kind);
        let fits = |kind: &&str| listed().any(|one| is_of(kind, one));
        let found = of_name.filter(fits).or_else(|| of_content.filter(fits));
        let any = || listed().all(|one| one == "*/*");
        let as_text =
            self.is_text.then(|| of_name.unwrap_or("text/plain")).filter(|kind| any() || fits(kind));
        let found = found.or(as_text).or_else(|| listed().find(|one| !one.contains('*')));
        let found = found.unwrap_or("application/octet-stream");
        Ok(match (self.is_text, std::str::from_utf8(&self.content)) {
            (true, Ok(text)) if found.starts_with("text/") => with_charset(found, text),
            _ => found.to_owned(),
        })
    }
}

/// The endings of file names, the media type of such files, and the bytes that they start with, if those identify them.
const KINDS: [(&str, &str, &[u8]); 21] = [
    ("png", "image/png", b"\x89PNG\r\n\x1a\n"),
    ("jpg jpeg", "image/jpeg", b"\xff\xd8\xff"),
    ("gif", "image/gif", b"GIF8"),
    ("svg", "image/svg+xml", b""),
    ("webp", "image/webp", b""),
    ("tif tiff", "image/tiff", b""),
    ("mp3", "audio/mpeg", b"ID3"),
    ("wav", "audio/wav", b""),
    ("ogg", "audio/ogg", b"OggS"),
    ("mp4", "video/mp4", b""),
    ("mov", "video/quicktime", b""),
    ("pdf", "application/pdf", b"%PDF-"),
    ("zip", "application/zip", b"PK\x03\x04"),
    ("txt", "text/plain", b""),
    ("csv", "text/csv", b""),
    ("html htm", "text/html", b""),
    ("md", "text/markdown", b""),
    ("json", "application/json", b""),
    ("xml", "application/xml", b""),
    ("yaml yml", "application/yaml", b""),
    ("gz", "application/gzip", b"\x1f\x8b"),
];

/// Returns the ending of the names of files of a media type.
pub(super) fn ending_of(essence: &str) -> Option<&'static str> {
    let kind = |known: &str| known == essence || (known == "application/json" && is_json(essence));
    let (endings, ..) = KINDS.iter().find(|(_, known, _)| kind(known))?;
    endings.split(' ').next()
}

/// Whether a media type is another one, or in its range. A range of all types says nothing about a file.
fn is_of(kind: &str, allowed: &str) -> bool {
    let range = allowed.strip_suffix("/*").filter(|main| *main != "*");
    kind == essence(allowed) || range.is_some_and(|main| kind.split('/').next() == Some(main))
}

/// Decodes both alphabets, with or without padding, and ignores line breaks: models write all of them.
fn decode_base64(data: &str) -> Option<Vec<u8>> {
    let data: String = data.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD].iter().find_map(|engine| engine.decode(&data).ok())
}
