//! What a result says about an answer before its body: its headers, and why a redirect was not followed.

use reqwest::StatusCode;
use serde_json::{Map, Value};

use crate::base::frozen::Text;
use crate::spec::plan::is_secret_header;

/// The longest header that a model sees, in bytes; a longer one is left out, since a part of it is useless.
const MAX_HEADER: usize = 1024;

/// Adds to the first line of a result the headers that a model sees: those declared for answers; for a redirect that
/// was not followed, where it leads and why; and for another failure, when the service may be asked again.
pub(super) fn tell(
    head: &mut String,
    status: StatusCode,
    headers: &Map<String, Value>,
    declared: Option<&[Text]>,
    refused: Option<&str>,
) {
    match declared {
        Some(declared) => {
            let declared = declared.iter().map(Text::as_str);
            let others = declared.filter(|name| !name.eq_ignore_ascii_case("location"));
            add(headers, std::iter::once("Location").chain(others), head);
        }
        None if status.is_redirection() => {
            add(headers, ["Location"], head);
            head.extend(["\n", &not_followed(status, refused)]);
        }
        None => add(headers, ["Retry-After"], head),
    }
}

/// Says why a redirect is not the answer.
fn not_followed(status: StatusCode, refused: Option<&str>) -> String {
    match refused {
        Some(why) => format!("The redirect was not followed: {why}."),
        None if status == StatusCode::NOT_MODIFIED => {
            "The service says that nothing was modified, and sends nothing.".to_owned()
        }
        None => "The service does not say where to find the answer.".to_owned(),
    }
}

/// Adds the headers of these names that a model may see, one per line.
fn add<'n>(headers: &Map<String, Value>, names: impl IntoIterator<Item = &'n str>, out: &mut String) {
    for name in names.into_iter().filter(|name| !is_secret_header(name)) {
        let value = headers.get(&name.to_ascii_lowercase()).and_then(Value::as_str).unwrap_or_default();
        if !value.is_empty() && value.len() <= MAX_HEADER && !value.contains(char::is_control) {
            out.extend(["\n", name, ": ", value]);
        }
    }
}
