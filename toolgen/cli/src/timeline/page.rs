//! The page: one HTML file with its style and script, and with its data if it is not served.

use serde_json::{Map, Value};
use toolgen_runtime::InvisibleChar;

use super::data::Log;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
const SCRIPT: [&str; 5] = [
    include_str!("page/model.js"),
    include_str!("page/tree.js"),
    include_str!("page/list.js"),
    include_str!("page/figures.js"),
    include_str!("page/main.js"),
];

/// Maximum size of an argument or a result in a page without a server, in bytes.
const MAX_INLINE_BYTES: usize = 64 * 1024;

/// Returns the page that requests its data from a server.
pub(super) fn served(title: &str) -> String {
    page(title, "null")
}

/// Returns the page with embedded data.
pub(super) fn embedded(log: &mut Log, approvals: Value) -> Result<String, String> {
    let mut data = log.data(0)?;
    data["approvals"] = approvals;
    let mut calls = Map::new();
    log.for_each_call(&mut |id, call| drop(calls.insert(id.to_owned(), truncated(call))))?;
    data["whole"] = Value::Object(calls);
    Ok(page(&log.title(), &data.to_string()))
}

/// Returns the page. The data is JSON in an element that browsers do not run, and is shown as text; `<` is escaped
/// there, so that no string ends the element.
fn page(title: &str, data: &str) -> String {
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    // The data is inserted last, so that nothing in it is replaced.
    let script = SCRIPT.concat().replace("{{hidden}}", &invisible_ranges());
    let page = PAGE.replace("{{title}}", &title).replace("{{style}}", STYLE).replace("{{script}}", &script);
    let (head, tail) = page.split_once("{{data}}").unwrap_or((&page, ""));
    format!("{head}{}{tail}", data.replace('<', "\\u003c"))
}

/// Returns the invisible characters, as ranges for a JavaScript character class. Line breaks and tabs are excluded,
/// because they format the text.
fn invisible_ranges() -> String {
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

/// Truncates long arguments and results.
fn truncated(mut call: Value) -> Value {
    for name in ["parameters", "result"] {
        let text = call[name].to_string();
        if text.len() > MAX_INLINE_BYTES {
            let end = (0..=MAX_INLINE_BYTES).rev().find(|index| text.is_char_boundary(*index)).unwrap_or(0);
            call[name] = format!("{} … ({} bytes in all)", &text[..end], text.len()).into();
        }
    }
    call
}
