//! The page: one HTML file, with its style, its script and, if no server is behind it, its data.

use serde_json::{Map, Value};
use toolgen_runtime::InvisibleChar;

use super::data::Log;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
const SCRIPT: [&str; 4] = [
    include_str!("page/model.js"),
    include_str!("page/list.js"),
    include_str!("page/figures.js"),
    include_str!("page/main.js"),
];

/// The most bytes of an argument or a result in a page without a server.
const MAX_INLINE_BYTES: usize = 64 * 1024;

/// Returns the page that asks a server for its data.
pub(super) fn served(title: &str) -> String {
    page(title, "null")
}

/// Returns the page with its data in it.
pub(super) fn embedded(log: &mut Log, approvals: Value) -> Result<String, String> {
    let mut data = log.data(0)?;
    data["approvals"] = approvals;
    let mut whole = Map::new();
    log.each(&mut |id, call| drop(whole.insert(id.to_owned(), cut(call))))?;
    data["whole"] = Value::Object(whole);
    Ok(page(&log.title(), &data.to_string()))
}

/// Texts of the log come as JSON in an element that no browser runs, and the page shows them as text; `<` is escaped
/// there, so that none of them ends the element.
fn page(title: &str, data: &str) -> String {
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    // The data is last: nothing in it is replaced.
    let script = SCRIPT.concat().replace("{{hidden}}", &hidden());
    let page = PAGE.replace("{{title}}", &title).replace("{{style}}", STYLE).replace("{{script}}", &script);
    let (head, tail) = page.split_once("{{data}}").unwrap_or((&page, ""));
    format!("{head}{}{tail}", data.replace('<', "\\u003c"))
}

/// Returns the invisible characters, as ranges in brackets of a JavaScript regular expression. Line ends and tabs are
/// not among them: they shape what is shown.
fn hidden() -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for char in
        ('\0'..=char::MAX).filter(|char| InvisibleChar::is_invisible(*char) && !matches!(char, '\t' | '\n'))
    {
        let code = u32::from(char);
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == code => *last = code,
            _ => ranges.push((code, code)),
        }
    }
    ranges.iter().map(|(first, last)| format!("\\u{{{first:x}}}-\\u{{{last:x}}}")).collect()
}

/// Replaces what is too long with its start.
fn cut(mut call: Value) -> Value {
    for name in ["parameters", "result"] {
        let text = call[name].to_string();
        if text.len() > MAX_INLINE_BYTES {
            let end = (0..=MAX_INLINE_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            call[name] = format!("{} … ({} bytes in all)", &text[..end], text.len()).into();
        }
    }
    call
}
