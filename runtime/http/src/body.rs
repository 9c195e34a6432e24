//! Encodes the body of a request.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use serde_json::{Map, Value};
use toolgen_kernel::base::json::type_name;
use toolgen_kernel::base::media_type::{essence, is_json, of_content, of_extension};
use toolgen_kernel::spec::plan::{
    self, BodySource, Codec, Encoding, Location, Parameter, Part, Placement, RequestPlan, Style,
};

use super::delimiters::{WireForm, delimiter_problem};
use super::encode::{Escape, escape};
use super::files::Files;
use super::request::{Body, RequestProblem, RequestProblemKind, content};
use super::{charset, style, url, xml};

/// Builds the body and its `Content-Type`. Returns `None` if the request has no body, or if there are problems.
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
            let members = fields.iter().filter_map(|field| {
                let value = arguments.get(field.argument.as_str())?;
                Some((field.name.as_str().to_owned(), value.clone()))
            });
            let members: Map<String, Value> = members.collect();
            if members.is_empty() && !plan.required {
                return None;
            }
            ("", Value::Object(members))
        }
    };
    let encoded = encode(plan, argument, &value, files);
    encoded.map_err(|problem| problems.push(with_argument_name(problem, &plan.source))).ok()
}

/// Reports a problem of a body under the name of its argument: parts have the names of the wire format.
fn with_argument_name(problem: RequestProblem, source: &BodySource) -> RequestProblem {
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
            let media_type = concrete_or(&plan.media_type, "application/json").to_owned();
            let text = charset::json(value.to_string(), &media_type);
            let body = in_charset(argument, &media_type, text)?;
            Ok((media_type, body))
        }
        Codec::JsonLines => {
            let media_type = concrete_or(&plan.media_type, "application/x-ndjson");
            let text = charset::json(json_lines(value, media_type), media_type);
            Ok((media_type.to_owned(), in_charset(argument, media_type, text)?))
        }
        Codec::Form(parts) => {
            let media_type = concrete_or(&plan.media_type, "application/x-www-form-urlencoded");
            let fields = fields(argument, value, parts)?;
            let encoding = |name: &str| Part::of(parts, name)?.encoding.as_ref();
            let mut delimiter_problems = fields
                .iter()
                .filter_map(|(name, value)| delimiter_problem(name, value, encoding(name)?, WireForm::Pairs));
            if let Some(problem) = delimiter_problems.next() {
                return Err(problem);
            }
            if let Some(problem) = form_key_conflict(argument, &fields, parts, &plan.source) {
                return Err(problem);
            }
            let text = charset::form(form(&fields, parts), media_type);
            let text = text.map_err(|error| body_problem(argument, argument_message(argument, &error)))?;
            Ok((media_type.to_owned(), Body::Text(text)))
        }
        Codec::Multipart(parts) => {
            let encoded = encode_parts(&*fields(argument, value, parts)?, parts, files)?;
            let boundary = boundary(&encoded);
            let media_type = concrete_or(&plan.media_type, "multipart/form-data");
            let media_type = format!("{}; boundary={boundary}", without_boundary(media_type));
            Ok((media_type, Body::Bytes(multipart(&encoded, &boundary))))
        }
        Codec::Xml(hints) => {
            let text = xml::write(value, hints).map_err(|error| body_problem(argument, error))?;
            let media_type = with_charset(concrete_or(&plan.media_type, "application/xml"), &text);
            let body = in_charset(argument, &media_type, text)?;
            Ok((media_type, body))
        }
        Codec::Text => {
            let text = content(value, "text/plain");
            let media_type = with_charset(concrete_or(&plan.media_type, "text/plain"), &text);
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

/// Writes each item of an array, or the value itself, on a line. Items of a JSON text sequence (RFC 7464) begin with
/// a separator.
fn json_lines(value: &Value, media_type: &str) -> String {
    let start = if essence(media_type).ends_with("json-seq") { "\u{1e}" } else { "" };
    let items = value.as_array().map_or_else(|| std::slice::from_ref(value), Vec::as_slice);
    items.iter().map(|item| format!("{start}{item}\n")).collect()
}

/// Returns the media type, or `otherwise` if the media type is a range such as `*/*` or `image/*`.
fn concrete_or<'a>(media_type: &'a str, otherwise: &'a str) -> &'a str {
    let essence = media_type.split(';').next().unwrap_or_default();
    if essence.is_empty() || essence.contains('*') { otherwise } else { media_type }
}

/// Returns a media type without its `boundary`, which depends on the parts.
fn without_boundary(media_type: &str) -> String {
    let is_not_boundary =
        |parameter: &&str| !parameter.trim_start().to_ascii_lowercase().starts_with("boundary=");
    media_type.split(';').filter(is_not_boundary).collect::<Vec<_>>().join(";")
}

/// Adds a charset for text that is not ASCII. The media type is otherwise unchanged, because servers compare media
/// types.
fn with_charset(media_type: &str, text: &str) -> String {
    if text.is_ascii() || charset::has_charset(media_type) {
        media_type.to_owned()
    } else {
        format!("{media_type}; charset=utf-8")
    }
}

/// Encodes a string in the charset that its media type names.
fn in_charset(argument: &str, media_type: &str, text: String) -> Result<Body, RequestProblem> {
    let text = match charset::xml(&text, media_type) {
        Cow::Borrowed(_) => text,
        Cow::Owned(text) => text,
    };
    match charset::encode(&text, media_type) {
        None => Ok(Body::Text(text)),
        Some(Ok(bytes)) => Ok(Body::Bytes(bytes)),
        Some(Err(error)) => Err(body_problem(argument, argument_message(argument, &error))),
    }
}

/// Names the argument in a problem, if the body is an argument.
fn argument_message(argument: &str, reason: &str) -> String {
    if argument.is_empty() {
        format!("the request body: {reason}")
    } else {
        format!("`{argument}`: {reason}")
    }
}

/// Returns the fields of a form, with XML fields as strings.
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
    let fields =
        xml::replace_xml_values(fields, encodings, |name, reason| problem = Some(body_problem(name, reason)));
    problem.map_or(Ok(fields), Err)
}

/// Writes `application/x-www-form-urlencoded`. A field uses its style if the document declares one; otherwise an
/// array repeats its name, and an object is JSON (OpenAPI 3.1, "Encoding Object").
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
    /// Whether the argument contains the content as a string.
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
            // The document's schema declares a string here.
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
                let sources =
                    if files.can_read() { "`text`, `base64` and `path`" } else { "`text` and `base64`" };
                return Err(problem(format!("a file needs exactly one of {sources}")));
            }
        };
        let content_type = text("content_type").map(str::to_owned);
        if content_type.as_ref().is_some_and(|text| text.chars().any(char::is_control)) {
            return Err(problem("`content_type` must not contain control characters".to_owned()));
        }
        let from_path = || text("path").and_then(|path| path.rsplit(['/', '\\']).next());
        let filename = text("filename").or_else(from_path).map(str::to_owned);
        let is_text = inline("text").is_some();
        Ok(File { content, filename, content_type, is_text })
    }
}

impl File {
    /// Returns the media type of the file, which must match one of the allowed media types or ranges: the media type of
    /// the argument, of the file's name or of its first bytes, or else the first allowed type that is not a range.
    pub(super) fn media_type(&self, argument: &str, allowed: &str) -> Result<String, RequestProblem> {
        let allowed_types =
            || allowed.split(',').map(str::trim).filter(|allowed_type| !allowed_type.is_empty());
        if let Some(requested) = &self.content_type {
            let media_type = essence(requested);
            let is_allowed = allowed_types()
                .any(|allowed_type| allowed_type == "*/*" || matches_media_type(&media_type, allowed_type))
                || allowed.is_empty();
            // The document's media type may have parameters.
            let declared = allowed_types().find(|allowed_type| {
                *allowed_type != "*/*" && media_type == *requested && essence(allowed_type) == media_type
            });
            return match is_allowed {
                true => Ok(declared.unwrap_or(requested).to_owned()),
                false => {
                    let all_types = allowed_types().collect::<Vec<_>>().join(", ");
                    let message = format!("`{argument}`: `content_type` must be one of {all_types}");
                    Err(RequestProblem::new(RequestProblemKind::File, argument, message))
                }
            };
        }
        let name = self.filename.as_deref().unwrap_or_default();
        let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
        let by_name = extension.as_deref().and_then(|extension| {
            let is_named = |allowed_type: &str| {
                allowed_type.split_once('/').is_some_and(|(_, subtype)| subtype == extension)
            };
            of_extension(extension).or_else(|| allowed_types().find(|allowed_type| is_named(allowed_type)))
        });
        let by_content = of_content(&self.content);
        let is_allowed = |media_type: &&str| {
            allowed_types().any(|allowed_type| matches_media_type(media_type, allowed_type))
        };
        let chosen = by_name.filter(is_allowed).or_else(|| by_content.filter(is_allowed));
        let allows_any = || allowed_types().all(|allowed_type| allowed_type == "*/*");
        let as_text = self
            .is_text
            .then(|| by_name.unwrap_or("text/plain"))
            .filter(|media_type| allows_any() || is_allowed(media_type));
        let chosen =
            chosen.or(as_text).or_else(|| allowed_types().find(|allowed_type| !allowed_type.contains('*')));
        let chosen = chosen.unwrap_or("application/octet-stream");
        Ok(match (self.is_text, std::str::from_utf8(&self.content)) {
            (true, Ok(text)) if chosen.starts_with("text/") => with_charset(chosen, text),
            _ => chosen.to_owned(),
        })
    }
}

/// Whether a media type equals another one, or is in its range. A range of all types does not restrict a file.
fn matches_media_type(media_type: &str, allowed: &str) -> bool {
    let range = allowed.strip_suffix("/*").filter(|main| *main != "*");
    media_type == essence(allowed) || range.is_some_and(|main| media_type.split('/').next() == Some(main))
}

/// Decodes both Base64 alphabets, with or without padding, and ignores line breaks: models write all of these forms.
fn decode_base64(data: &str) -> Option<Vec<u8>> {
    let data: String = data.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD].iter().find_map(|engine| engine.decode(&data).ok())
}

/// One part, ready to be written.
pub(super) struct EncodedPart {
    name: String,
    filename: Option<String>,
    content_type: String,
    content: Vec<u8>,
}

/// Returns the parts of an object (OpenAPI 3.1, "Encoding `multipart` Media Types"): plain values as text, objects as
/// JSON, and one part per item of an array. If a field has a style, its values are not percent-encoded.
pub(super) fn encode_parts(
    fields: &Map<String, Value>,
    plans: &[Part],
    files: &dyn Files,
) -> Result<Vec<EncodedPart>, RequestProblem> {
    let mut parts: Vec<EncodedPart> = Vec::new();
    for (name, value) in fields {
        let plan = Part::of(plans, name);
        match (value, plan.and_then(|plan| plan.encoding.as_ref())) {
            (Value::Null, _) => {}
            (value, Some(encoding @ Encoding::Style { style, explode, .. })) => {
                if let Some(problem) = delimiter_problem(name, value, encoding, WireForm::Parts) {
                    return Err(problem);
                }
                for (name, text) in style::as_parts(name, value, *style, *explode) {
                    parts.push(encode_part(&name, &Value::String(text), None, files)?);
                }
            }
            (Value::Array(items), _) => {
                for item in items.iter().filter(|item| !item.is_null()) {
                    parts.push(encode_part(name, item, plan, files)?);
                    check_file_sizes(&parts, files)?;
                }
            }
            (value, _) => parts.push(encode_part(name, value, plan, files)?),
        }
        check_file_sizes(&parts, files)?;
    }
    Ok(parts)
}

/// Rejects files that are too large together: each file is read into memory as a whole.
fn check_file_sizes(parts: &[EncodedPart], files: &dyn Files) -> Result<(), RequestProblem> {
    let files_only = parts.iter().filter(|part| part.filename.is_some());
    let size: u64 = files_only.map(|part| part.content.len() as u64).sum();
    let Some(last) = parts.last().filter(|_| size > files.max_request_bytes()) else { return Ok(()) };
    let message =
        format!("the files of the request have more than {} bytes together", files.max_request_bytes());
    Err(RequestProblem::new(RequestProblemKind::File, last.name.as_str(), message))
}

fn encode_part(
    name: &str,
    value: &Value,
    plan: Option<&Part>,
    files: &dyn Files,
) -> Result<EncodedPart, RequestProblem> {
    // If a file is one of several variants, the other variants are not objects, and the file's media type does not
    // apply to them.
    let plan = plan.filter(|plan| !plan.file || value.is_object());
    let declared_type = plan.map_or("", |plan| plan.content_type.as_str());
    if declared_type.contains(char::is_control) {
        // A line break would end the header of the part, and begin others.
        let message =
            format!("the media type of the part `{name}` contains a line break or another control character");
        return Err(RequestProblem::new(RequestProblemKind::Header, name, message));
    }
    if plan.is_some_and(|plan| plan.file) {
        let file = File::read(name, value, files)?;
        let content_type = file.media_type(name, declared_type)?;
        return Ok(EncodedPart {
            name: name.to_owned(),
            // Without a file name, servers treat the part as a plain field.
            filename: Some(file.filename.unwrap_or_else(|| name.to_owned())),
            content_type,
            content: file.content,
        });
    }
    let default_type = if value.is_object() || value.is_array() { "application/json" } else { "text/plain" };
    let media_type = if declared_type.is_empty() { default_type } else { declared_type };
    // XML is a string at this point.
    let text = content(value, media_type);
    let content_type =
        if media_type.starts_with("text/") { with_charset(media_type, &text) } else { media_type.to_owned() };
    let content = in_charset(name, &content_type, text)?.as_bytes().to_vec();
    Ok(EncodedPart { name: name.to_owned(), filename: None, content_type, content })
}

/// Returns a boundary that depends only on the content and does not occur in it.
pub(super) fn boundary(parts: &[EncodedPart]) -> String {
    // FNV-1a: the hash does not have to be secure, only stable and unlikely to collide with the content.
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for part in parts {
        for byte in part.name.bytes().chain(part.content.iter().copied()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    loop {
        let boundary = format!("toolgen-{hash:016x}");
        let occurs =
            |part: &EncodedPart| part.content.windows(boundary.len()).any(|w| w == boundary.as_bytes());
        if !parts.iter().any(occurs) {
            return boundary;
        }
        hash = hash.wrapping_add(1);
    }
}

/// Writes the body as bytes.
pub(super) fn multipart(parts: &[EncodedPart], boundary: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for part in parts {
        let mut head =
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"", quote_name(&part.name));
        if let Some(filename) = &part.filename {
            head.push_str(&format!("; filename=\"{}\"", quote_name(filename)));
        }
        head.push_str(&format!("\r\nContent-Type: {}\r\n\r\n", part.content_type));
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(&part.content);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    out
}

/// Quotes a name as browsers do (HTML, "multipart/form-data encoding algorithm"). Parsers of quoted strings (RFC
/// 2045) treat a `\\` as an escape, and stop at a NUL or reject the header.
fn quote_name(name: &str) -> String {
    let mut quoted = String::with_capacity(name.len());
    for char in name.chars() {
        match char {
            '"' | '\\' => quoted.push_str(&format!("%{:02X}", u32::from(char))),
            char if char.is_ascii_control() => quoted.push_str(&format!("%{:02X}", u32::from(char))),
            char => quoted.push(char),
        }
    }
    quoted
}

/// Returns the problem of a parameter if one of its pairs has a name that is already in use: by another parameter,
/// set or not, by a credential, or by the query in the path of the document. Two objects may share a key if the
/// document declares it in both.
pub(super) fn name_conflict(
    plan: &RequestPlan,
    parameter: &Parameter,
    pairs: &[String],
) -> Option<RequestProblem> {
    let is_own_name = |name: &String| parameter.name == **name;
    let names = pairs
        .iter()
        .flat_map(|pair| pair.split('&'))
        .map(url::decoded_name)
        .filter(|name| !is_own_name(name));
    let is_fixed = |name: &str| {
        parameter.location == Location::Query && plan.query.iter().any(|(fixed, _)| fixed.as_str() == name)
    };
    let mut conflicts = names.filter(|name| is_reserved(plan, parameter, name) || is_fixed(name));
    conflicts.next().map(|name| key_in_use(&parameter.argument, &name))
}

/// Returns the problem of a form field if one of its keys is the name of another field, set or not.
fn form_key_conflict(
    argument: &str,
    fields: &Map<String, Value>,
    parts: &[Part],
    source: &BodySource,
) -> Option<RequestProblem> {
    let is_declared = |name: &str| match source {
        BodySource::Fields(fields) => fields.iter().any(|field| field.name.as_str() == name),
        BodySource::Argument(_) => false,
    };
    fields.iter().filter(|(_, value)| value.is_object()).find_map(|(field, value)| {
        let pairs = form_field(field, value, Part::of(parts, field));
        let is_other = |name: &String| {
            let is_known = fields.contains_key(name) || is_declared(name) || Part::of(parts, name).is_some();
            name != field && is_known
        };
        let name = pairs.iter().map(|pair| url::decoded_name(pair)).find(is_other)?;
        Some(key_in_use(if argument.is_empty() { field } else { argument }, &name))
    })
}

/// Returns the problem of an argument that must not have a key of this name.
pub(super) fn key_in_use(argument: &str, name: &str) -> RequestProblem {
    let message =
        format!("`{argument}` must not have the key `{name}`: the request already uses that name; omit it");
    RequestProblem::new(RequestProblemKind::Arguments, argument, message)
}

/// Whether a name belongs to another parameter of the same location, or to a credential.
fn is_reserved(plan: &RequestPlan, parameter: &Parameter, name: &str) -> bool {
    let belongs_to = |other: &Parameter| {
        let is_deep = matches!(&other.encoding, Encoding::Style { style: Style::DeepObject, .. });
        let suffix = name.strip_prefix(other.name.as_str());
        suffix.is_some_and(|suffix| suffix.is_empty() || (is_deep && suffix.starts_with('[')))
    };
    let mut others = plan.parameters.iter().filter(|other| {
        other.location == parameter.location && other.name != parameter.name && !other.name.is_empty()
    });
    let mut schemes = plan.security.iter().flat_map(|alternative| &alternative.schemes);
    others.any(belongs_to)
        || schemes.any(|scheme| match &scheme.placement {
            Placement::Query(key) => parameter.location == Location::Query && *key == *name,
            Placement::Cookie(key) => parameter.location == Location::Cookie && *key == *name,
            _ => false,
        })
}

#[cfg(test)]
mod tests {
    use super::quote_name;

    #[test]
    fn quoted_name_ends_at_its_closing_quote() {
        assert_eq!(quote_name("a\"b\\c\0d\r\ne\u{1b}f\tg é%22"), "a%22b%5Cc%00d%0D%0Ae%1Bf%09g é%22");
    }
}
