//! Finds the next page in a page.

use reqwest::header::{HeaderMap, LINK};
use serde_json::Value;
use toolgen_kernel::spec::plan::{NextPage, Pagination};

/// How the next page is requested.
#[derive(Debug, PartialEq)]
pub(super) enum NextRequest<'a> {
    /// With the same call and another value of this argument.
    Argument(&'a str, Value),
    /// With a URL, which may be relative.
    Url(String),
}

/// Returns how the next page is requested, or `None` after the last page.
///
/// Page numbers and offsets continue until a page without items, unless the service reports a total. The page size is
/// unknown, because services return fewer items than requested.
pub(super) fn next_page<'a>(
    pages: &'a Pagination,
    arguments: &Value,
    headers: &HeaderMap,
    body: &Value,
    items: &[Value],
) -> Option<NextRequest<'a>> {
    let has_more = has_more(pages, body);
    if has_more == Some(false) {
        return None;
    }
    let argument = |name: &'a str, value: Value| Some(NextRequest::Argument(name, value));
    match &pages.next {
        NextPage::Link => next_link(headers).map(NextRequest::Url),
        NextPage::Url(pointer) => {
            let url = body.pointer(pointer)?;
            // A link is a string, or an object that contains the string.
            let url = url.as_str().or_else(|| url.get("href")?.as_str())?;
            (!url.trim().is_empty()).then(|| NextRequest::Url(url.to_owned()))
        }
        NextPage::Cursor { argument: name, pointer } => argument(name, cursor(body.pointer(pointer)?)?),
        NextPage::Last { argument: name, pointer } => {
            argument(name, cursor(items.last()?.pointer(pointer)?)?)
        }
        NextPage::Page { .. } | NextPage::Offset(_) if items.is_empty() && has_more != Some(true) => None,
        NextPage::Page { .. } | NextPage::Offset(_)
            if headers.contains_key(LINK) && next_link(headers).is_none() =>
        {
            None
        }
        NextPage::Page { argument: name, first } => {
            argument(name, incremented(arguments.get(name.as_str()), *first, 1)?)
        }
        NextPage::Offset(name) => argument(name, incremented(arguments.get(name.as_str()), 0, items.len())?),
    }
}

/// Whether the next page is requested although the current page does not declare a next page.
pub(super) fn is_guessed(pages: &Pagination, body: &Value) -> bool {
    let has_counter =
        matches!(pages.next, NextPage::Page { .. } | NextPage::Offset(_) | NextPage::Last { .. });
    has_counter && has_more(pages, body) != Some(true)
}

/// Returns whether the page declares that more items follow.
pub(super) fn has_more(pages: &Pagination, body: &Value) -> Option<bool> {
    match pages.has_more.strip_prefix('!') {
        Some(last) => body.pointer(last).and_then(Value::as_bool).map(|last| !last),
        None if pages.has_more.is_empty() => None,
        None => body.pointer(&pages.has_more).and_then(Value::as_bool),
    }
}

/// Returns a cursor, if it is not empty.
fn cursor(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => (!text.is_empty()).then(|| value.clone()),
        Value::Number(_) => Some(value.clone()),
        _ => None,
    }
}

/// Returns a number increased by `by`, in the type of the original.
fn incremented(current: Option<&Value>, first: u32, by: usize) -> Option<Value> {
    let by = u64::try_from(by).ok()?;
    match current {
        None | Some(Value::Null) => Some(u64::from(first).checked_add(by)?.into()),
        Some(Value::String(text)) => {
            Some(text.trim().parse::<u64>().ok()?.checked_add(by)?.to_string().into())
        }
        Some(number) => Some(number.as_u64()?.checked_add(by)?.into()),
    }
}

/// Returns the next link of the headers (RFC 8288, section 3).
fn next_link(headers: &HeaderMap) -> Option<String> {
    let values = headers.get_all(LINK).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(links).find(|(_, is_next)| *is_next).map(|(url, _)| url.to_owned())
}

/// Returns each link of a header, and whether it is the next link. A URL may contain commas and semicolons.
fn links(header: &str) -> Vec<(&str, bool)> {
    let mut links = Vec::new();
    let mut remaining = header;
    while let Some((url, after)) = remaining.split_once('<').and_then(|(_, link)| link.split_once('>')) {
        let end = after.find(",<").or_else(|| after.find(", <")).unwrap_or(after.len());
        let (parameters, next) = after.split_at(end);
        let is_next =
            parameters.split(';').filter_map(|parameter| parameter.split_once('=')).any(|(name, value)| {
                let mut kinds = value.trim().trim_matches('"').split_whitespace();
                name.trim().eq_ignore_ascii_case("rel") && kinds.any(|kind| kind.eq_ignore_ascii_case("next"))
            });
        links.push((url, is_next));
        remaining = next;
    }
    links
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;
    use serde_json::json;

    use super::*;

    fn next_request(pages: &str, arguments: &Value, link: &'static str, body: &Value) -> Value {
        let pages: Pagination = pages.parse().unwrap();
        let mut headers = HeaderMap::new();
        if !link.is_empty() {
            headers.insert(LINK, HeaderValue::from_static(link));
        }
        let items = body.pointer(&pages.items).and_then(Value::as_array).cloned().unwrap_or_default();
        match next_page(&pages, arguments, &headers, body, &items) {
            None => Value::Null,
            Some(NextRequest::Url(url)) => url.into(),
            Some(NextRequest::Argument(name, value)) => json!({ name: value }),
        }
    }

    #[test]
    fn next_page_is_found_in_each_form() {
        let no_arguments = json!({});
        for (pages, arguments, body, expected) in [
            ("next=/links/next", &no_arguments, json!({"links": {"next": "/x?page=2"}}), json!("/x?page=2")),
            (
                "next=/_links/next",
                &no_arguments,
                json!({"_links": {"next": {"href": "https://h/2"}}}),
                json!("https://h/2"),
            ),
            ("next=/next", &no_arguments, json!({"next": null}), json!(null)),
            ("next=/next", &no_arguments, json!({"next": " "}), json!(null)),
            (
                "cursor=after@/meta/after",
                &no_arguments,
                json!({"meta": {"after": "c2"}}),
                json!({"after": "c2"}),
            ),
            ("cursor=after@/after", &no_arguments, json!({"after": 7}), json!({"after": 7})),
            ("cursor=after@/after", &no_arguments, json!({"after": ""}), json!(null)),
            (
                "cursor=after@/after more=/more",
                &no_arguments,
                json!({"after": "c2", "more": false}),
                json!(null),
            ),
            (
                "last=from@/id items=/data",
                &no_arguments,
                json!({"data": [{"id": 1}, {"id": 2}]}),
                json!({"from": 2}),
            ),
            ("last=from@/id items=/data", &no_arguments, json!({"data": []}), json!(null)),
            ("page=p items=/data", &no_arguments, json!({"data": [1]}), json!({"p": 2})),
            ("page=p@0 items=/data", &no_arguments, json!({"data": [1]}), json!({"p": 1})),
            ("page=p items=/data", &json!({"p": 4}), json!({"data": [1]}), json!({"p": 5})),
            ("page=p items=/data", &json!({"p": "4"}), json!({"data": [1]}), json!({"p": "5"})),
            ("page=p items=/data", &no_arguments, json!({"data": []}), json!(null)),
            (
                "page=p items=/data more=/more",
                &no_arguments,
                json!({"data": [], "more": true}),
                json!({"p": 2}),
            ),
            (
                "cursor=after@/after more=!/done",
                &no_arguments,
                json!({"after": "c2", "done": true}),
                json!(null),
            ),
            (
                "cursor=after@/after more=!/done",
                &no_arguments,
                json!({"after": "c2", "done": false}),
                json!({"after": "c2"}),
            ),
            ("offset=skip", &no_arguments, json!([1, 2, 3]), json!({"skip": 3})),
            ("offset=skip", &json!({"skip": 3}), json!([1]), json!({"skip": 4})),
            ("offset=skip", &json!({"skip": 4}), json!([]), json!(null)),
        ] {
            assert_eq!(next_request(pages, arguments, "", &body), expected, "{pages} {body}");
        }
    }

    #[test]
    fn link_headers_of_known_services_are_parsed() {
        let two_links =
            r#"<https://h/x?a=1,2;b>; rel="prev", <https://h/x?page=3>; title="a;b"; rel="last next""#;
        for (link, expected) in [
            (two_links, json!("https://h/x?page=3")),
            ("</x?after=a>;rel=next,<y>; rel=last", json!("/x?after=a")),
            ("<https://h/1>; REL=\"NEXT\"", json!("https://h/1")),
            ("<https://h/1>; rel=\"previous\"", json!(null)),
            ("https://h/1; rel=next", json!(null)),
        ] {
            assert_eq!(next_request("link", &json!({}), link, &json!([])), expected, "{link}");
        }
        // Page numbers end when the links do.
        assert_eq!(next_request("page=p", &json!({}), "<https://h/1>; rel=first", &json!([1])), json!(null));
        assert_eq!(
            next_request("page=p", &json!({}), "<https://h/2>; rel=next", &json!([1])),
            json!({"p": 2})
        );
    }
}
