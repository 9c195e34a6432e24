//! `multipart/form-data` bodies (RFC 7578).

use serde_json::{Map, Value};

use super::body::{File, in_charset, with_charset};
use super::files::Files;
use super::request::{RequestProblem, RequestProblemKind, content};
use super::style;
use super::torn::{Written, torn};
use crate::spec::plan::{Encoding, Part};

/// One part, ready to be written.
pub(super) struct Piece {
    name: String,
    filename: Option<String>,
    content_type: String,
    content: Vec<u8>,
}

/// Returns the parts of an object: plain values as text, objects as JSON, and one part per member of a list (OpenAPI
/// 3.1, "Encoding `multipart` Media Types"), unless the field has a style, in which nothing is percent-encoded.
pub(super) fn parts(
    fields: &Map<String, Value>,
    plans: &[Part],
    files: &dyn Files,
) -> Result<Vec<Piece>, RequestProblem> {
    let mut pieces: Vec<Piece> = Vec::new();
    for (name, value) in fields {
        let plan = Part::of(plans, name);
        match (value, plan.and_then(|plan| plan.encoding.as_ref())) {
            (Value::Null, _) => {}
            (value, Some(encoding @ Encoding::Style { style, explode, .. })) => {
                if let Some(problem) = torn(name, value, encoding, Written::Parts) {
                    return Err(problem);
                }
                for (name, text) in style::as_parts(name, value, *style, *explode) {
                    pieces.push(piece(&name, &Value::String(text), None, files)?);
                }
            }
            (Value::Array(items), _) => {
                for item in items.iter().filter(|item| !item.is_null()) {
                    pieces.push(piece(name, item, plan, files)?);
                    small_enough(&pieces, files)?;
                }
            }
            (value, _) => pieces.push(piece(name, value, plan, files)?),
        }
        small_enough(&pieces, files)?;
    }
    Ok(pieces)
}

/// Refuses files that are too large together for the memory: each is read whole.
fn small_enough(pieces: &[Piece], files: &dyn Files) -> Result<(), RequestProblem> {
    let all = pieces.iter().filter(|piece| piece.filename.is_some());
    let size: u64 = all.map(|piece| piece.content.len() as u64).sum();
    let Some(last) = pieces.last().filter(|_| size > files.most()) else { return Ok(()) };
    let message = format!("the files of the request have more than {} bytes together", files.most());
    Err(RequestProblem::new(RequestProblemKind::File, last.name.as_str(), message))
}

fn piece(name: &str, value: &Value, plan: Option<&Part>, files: &dyn Files) -> Result<Piece, RequestProblem> {
    // Where a file is one of several forms, the others are no objects, and its media type is not theirs.
    let plan = plan.filter(|plan| !plan.file || value.is_object());
    let planned = plan.map_or("", |plan| plan.content_type.as_str());
    if planned.contains(char::is_control) {
        // It would end its header, and begin others.
        let message =
            format!("the media type of the part `{name}` holds a line break or another control character");
        return Err(RequestProblem::new(RequestProblemKind::Header, name, message));
    }
    if plan.is_some_and(|plan| plan.file) {
        let file = File::read(name, value, files)?;
        let content_type = file.media_type(name, planned)?;
        return Ok(Piece {
            name: name.to_owned(),
            // Without a file name servers treat the part as a plain field.
            filename: Some(file.filename.unwrap_or_else(|| name.to_owned())),
            content_type,
            content: file.content,
        });
    }
    let natural = if value.is_object() || value.is_array() { "application/json" } else { "text/plain" };
    let media_type = if planned.is_empty() { natural } else { planned };
    // XML is a text by now.
    let text = content(value, media_type);
    let content_type =
        if media_type.starts_with("text/") { with_charset(media_type, &text) } else { media_type.to_owned() };
    let content = in_charset(name, &content_type, text)?.as_bytes().to_vec();
    Ok(Piece { name: name.to_owned(), filename: None, content_type, content })
}

/// Returns a boundary that depends only on the content and does not occur in it.
pub(super) fn boundary(pieces: &[Piece]) -> String {
    // FNV-1a: it need not be secure, only stable and unlikely to meet itself.
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for piece in pieces {
        for byte in piece.name.bytes().chain(piece.content.iter().copied()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    loop {
        let boundary = format!("toolgen-{hash:016x}");
        let occurs = |piece: &Piece| piece.content.windows(boundary.len()).any(|w| w == boundary.as_bytes());
        if !pieces.iter().any(occurs) {
            return boundary;
        }
        hash = hash.wrapping_add(1);
    }
}

/// Writes the body as bytes.
pub(super) fn write(pieces: &[Piece], boundary: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for piece in pieces {
        let mut head =
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"", quoted(&piece.name));
        if let Some(filename) = &piece.filename {
            head.push_str(&format!("; filename=\"{}\"", quoted(filename)));
        }
        head.push_str(&format!("\r\nContent-Type: {}\r\n\r\n", piece.content_type));
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(&piece.content);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    out
}

/// Quotes a name as browsers do (HTML, "multipart/form-data encoding algorithm"). Readers of quoted texts (RFC 2045) take
/// what follows a `\\` for it, and end at a NUL or refuse the header.
fn quoted(name: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_name_ends_where_its_quotes_do() {
        assert_eq!(quoted("a\"b\\c\0d\r\ne\u{1b}f\tg é%22"), "a%22b%5Cc%00d%0D%0Ae%1Bf%09g é%22");
    }
}
