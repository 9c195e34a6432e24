//! Compares the total of a list with the number of returned items, so that a part is not mistaken for the whole.

use reqwest::Url;
use serde_json::Value;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::spec::plan::{NextPage, Pagination};

use super::{PageCursor, next};

/// Arguments that start a list at an offset, in lower case and without punctuation. If pages are linked by URLs, the
/// plan does not name these arguments.
const BEGINNINGS: [&str; 11] = [
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
pub(super) fn count(pages: &Pagination, place: &mut PageCursor, body: &Value, items: usize) {
    let before = place.before.or_else(|| begins(pages, place, items));
    place.before = before.and_then(|before| before.checked_add(items));
    if !pages.total.is_empty() {
        place.total = body.pointer(&pages.total).and_then(number).or(place.total);
    }
}

/// Returns what is known about items that the service did not return, if this is the last page.
pub(super) fn short(pages: &Pagination, place: &PageCursor, body: &Value) -> Option<String> {
    match (place.before, place.total) {
        (Some(read), Some(total)) if read < total => {
            Some(format!("the service counts {total} in total, but returned no next page"))
        }
        _ if next::more(pages, body) == Some(true) => {
            Some("the service reports more, but returned no next page".to_owned())
        }
        _ => None,
    }
}

/// Returns the error at the end of an incomplete list.
pub(super) fn ends_short(message: &str) -> ToolError {
    let text = format!(
        "Error: the list is incomplete: more items follow ({message}). If the service counts differently, or paginates \
         the list in another way, declare it with `Options::pagination` when you compile the tools"
    );
    ToolError::failed_with("INCOMPLETE_LIST", text)
}

/// Returns the number of items before the first requested page, or `None` if it is unknown.
fn begins(pages: &Pagination, place: &PageCursor, items: usize) -> Option<usize> {
    let given = |name: &str| place.arguments.get(name).filter(|given| !given.is_null());
    match &pages.next {
        NextPage::Offset(argument) => given(argument).map_or(Some(0), number),
        NextPage::Page { argument, first } => {
            let page = given(argument)
                .map_or(Some(0), |given| number(given)?.checked_sub(usize::try_from(*first).ok()?))?;
            let size = given(&pages.size).and_then(number).unwrap_or(items);
            page.checked_mul(size)
        }
        NextPage::Cursor { argument, .. } | NextPage::Last { argument, .. } => {
            given(argument).is_none().then_some(0)
        }
        NextPage::Link | NextPage::Url(_) => {
            let home = place.home.as_ref();
            let begins_later =
                |url: &Url| url.query_pairs().any(|(name, _)| BEGINNINGS.contains(&&*plain(&name)));
            (!home.is_some_and(begins_later)).then_some(0)
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
fn plain(name: &str) -> String {
    let last = name.trim_end_matches(']').rsplit(['.', '[']).next().unwrap_or(name);
    last.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}
