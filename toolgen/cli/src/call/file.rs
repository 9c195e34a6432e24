//! Files to send, as given on the command line: `NAME=@FILE`.

use std::path::Path;

use base64::Engine as _;
use serde_json::Value;
use toolgen::Tool;
use toolgen_runtime::spec::plan::{BodySource, Codec, Part};

use super::given::{Member, Members, bytes};

/// Whether an argument of a tool is a file that is sent, or a list of them.
pub(super) fn is_one(tool: &Tool, path: &[&str]) -> bool {
    let Some(body) = tool.call.http().and_then(|plan| plan.body.as_ref()) else { return false };
    match (&body.codec, &body.source, path) {
        (Codec::Binary, BodySource::Argument(argument), [name]) => argument == *name,
        (Codec::Multipart(parts), source, path) => {
            let part = match (source, path) {
                (BodySource::Fields(fields), [name]) => {
                    // The document may call it otherwise.
                    let of_name = fields.iter().find(|field| field.argument == *name || field.name == *name);
                    of_name.map(|field| field.name.as_str())
                }
                (BodySource::Argument(argument), [first, part]) if argument == *first => Some(*part),
                _ => None,
            };
            part.and_then(|name| Part::of(parts, name)).is_some_and(|part| part.file)
        }
        _ => false,
    }
}

/// Returns the fields of a file that a word names, or `None` if the word is JSON, or a text that is also allowed there.
///
/// # Errors
///
/// What is wrong with the word or the file.
pub(super) fn given(name: &str, word: &str, is_text: bool, most: u64) -> Result<Option<Members>, String> {
    let Some(path) = word.strip_prefix('@').filter(|path| !path.starts_with('@')) else {
        let is_json =
            serde_json::from_str::<Value>(word).is_ok_and(|value| !value.is_string() && !value.is_number());
        return match is_json || is_text {
            true => Ok(None),
            false => Err(format!("`{name}` is a file, which is given by its path: {name}=@{word}")),
        };
    };
    let bytes = bytes(path, most).map_err(|why| format!("`{name}`: {why}"))?;
    let text = |text: String| Member::Value(Value::String(text).to_string());
    let content = base64::engine::general_purpose::STANDARD.encode(bytes);
    let mut fields = vec![("base64".to_owned(), text(content))];
    if let Some(own) = Path::new(path).file_name().filter(|_| path != "-") {
        fields.push(("filename".to_owned(), text(own.to_string_lossy().into_owned())));
    }
    Ok(Some(Members(fields)))
}
