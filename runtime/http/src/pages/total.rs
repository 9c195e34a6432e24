//! Compares the total of a list with the number of returned items, so that an incomplete list is not mistaken for a
//! complete one.

use reqwest::Url;
use serde_json::Value;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::spec::plan::{NextPage, Pagination};

use super::{PageCursor, next};

/// Arguments that start a list at an offset, in lower case and without punctuation. If pages are linked by URLs, the
/// plan does not name these arguments.
const START_ARGUMENTS: [&str; 11] = [
    "page",
    "pagenumber",
    "pageno",
    "offset",
    "skip",
    "start",
    "startat",
    "cursor",
    "after",
    "before",
    "marker",
];

/// Counts the items of a page, and reads the total.
pub(super) fn count(pages: &Pagination, cursor: &mut PageCursor, body: &Value, items: usize) {
    let before = cursor.items_before.or_else(|| items_before(pages, cursor, items));
    cursor.items_before = before.and_then(|before| before.checked_add(items));
    if !pages.total.is_empty() {
        cursor.total = body.pointer(&pages.total).and_then(number).or(cursor.total);
    }
}

/// Returns why the list is incomplete, if it ends with this page although the service reports more items.
pub(super) fn incomplete_reason(pages: &Pagination, cursor: &PageCursor, body: &Value) -> Option<String> {
    match (cursor.items_before, cursor.total) {
        (Some(read), Some(total)) if read < total => {
            Some(format!("the service counts {total} in total, but returned no next page"))
        }
        _ if next::has_more(pages, body) == Some(true) => {
            Some("the service reports more, but returned no next page".to_owned())
        }
        _ => None,
    }
}

/// Returns the error at the end of an incomplete list.
pub(super) fn incomplete_error(message: &str) -> ToolError {
    let text = format!(
        "Error: the list is incomplete: more items follow ({message}). If the service counts differently, or paginates \
         the list in another way, declare it with `Options::pagination` when you compile the tools"
    );
    ToolError::failed_with("INCOMPLETE_LIST", text)
}

/// Returns the number of items before the first requested page, or `None` if it is unknown.
fn items_before(pages: &Pagination, cursor: &PageCursor, items: usize) -> Option<usize> {
    let argument_value =
        |name: &str| cursor.arguments.get(name).filter(|argument_value| !argument_value.is_null());
    match &pages.next {
        NextPage::Offset(argument) => argument_value(argument).map_or(Some(0), number),
        NextPage::Page { argument, first } => {
            let page = argument_value(argument).map_or(Some(0), |argument_value| {
                number(argument_value)?.checked_sub(usize::try_from(*first).ok()?)
            })?;
            let size = argument_value(&pages.size).and_then(number).unwrap_or(items);
            page.checked_mul(size)
        }
        NextPage::Cursor { argument, .. } | NextPage::Last { argument, .. } => {
            argument_value(argument).is_none().then_some(0)
        }
        NextPage::Link | NextPage::Url(_) => {
            let first_url = cursor.first_url.as_ref();
            let starts_later =
                |url: &Url| url.query_pairs().any(|(name, _)| START_ARGUMENTS.contains(&&*plain_name(&name)));
            (!first_url.is_some_and(starts_later)).then_some(0)
        }
    }
}

fn number(value: &Value) -> Option<usize> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok(),
        value => value.as_u64(),
    };
    usize::try_from(number?).ok()
}

/// Returns the last part of a name in lower case and without punctuation: `page[after]` becomes `after`.
fn plain_name(name: &str) -> String {
    let last = name.trim_end_matches(']').rsplit(['.', '[']).next().unwrap_or(name);
    last.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}
