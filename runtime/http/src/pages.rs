//! Reads paginated lists.

mod merged;
mod next;
mod total;

use std::collections::HashSet;
use std::sync::Arc;

pub(super) use merged::run_paginated;
use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode, Url};
use serde_json::Value;
use tokio::time::Instant;

use super::call_error::ResponseContext;
use super::charset;
use super::failure::network_error;
use super::inner::{Inner, plan};
use super::request::{Body, HttpRequest};
use super::response;
use super::sender::RequestSender;
use super::transport::{CROSS_ORIGIN_HEADERS, Reply, header};
use toolgen_kernel::base::frozen::Frozen;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::spec::plan::{Pagination, Tool};

/// Maximum number of pages that one call of a model reads.
const MAX_PAGES: usize = 100;

/// Reads the pages of a list.
pub(super) struct Reader<'a> {
    pub(super) engine: &'a Arc<Inner>,
    pub(super) tool: &'a Frozen<Tool>,
    pub(super) pages: &'a Pagination,
    pub(super) ctx: &'a ToolContext,
    /// The time when reading stops.
    pub(super) deadline: Option<Instant>,
}

/// The position in a list.
pub(super) struct PageCursor {
    arguments: Value,
    next: Next,
    /// The requests that were sent, so that no page is requested twice.
    requested: HashSet<String>,
    /// The number of items before the next page, if known.
    items_before: Option<usize>,
    /// The total number of items, according to the last page.
    total: Option<usize>,
    /// The first URL. Credentials are sent to its origin.
    first_url: Option<Url>,
}

/// How the next page is requested.
enum Next {
    /// With arguments.
    Arguments,
    /// With a URL that the previous page linked to, whose own URL is included.
    Link(Box<HttpRequest>, Url),
    /// Not at all: there is a next page, but it must not be requested.
    Error(ToolError),
    /// Not at all: the service reports more items than it returned. Contains the explanation.
    Incomplete(String),
    /// Not at all: the list has ended.
    End,
}

/// A page, not interpreted yet.
pub(super) struct Page {
    pub(super) request: HttpRequest,
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) bytes: Vec<u8>,
    pub(super) truncated: bool,
    /// The body and its items, if the response is a page.
    pub(super) list: Option<(Value, Vec<Value>)>,
    pub(super) final_url: Option<Url>,
    /// Why a redirect was not followed.
    pub(super) redirect_error: Option<&'static str>,
}

impl PageCursor {
    /// Starts at the beginning of a list.
    pub(super) fn new(arguments: Value) -> PageCursor {
        PageCursor {
            arguments,
            next: Next::Arguments,
            requested: HashSet::new(),
            items_before: None,
            total: None,
            first_url: None,
        }
    }

    /// Returns why the list is incomplete, if it ends here although the service reports more items.
    fn incomplete_reason(&self) -> Option<&str> {
        match &self.next {
            Next::Incomplete(text) => Some(text),
            _ => None,
        }
    }

    /// Whether all items that the service counts were read.
    fn is_complete(&self) -> bool {
        self.total.is_some() && self.items_before >= self.total
    }

    /// Whether all pages were read.
    pub(super) fn is_end(&self) -> bool {
        matches!(self.next, Next::End)
    }
}

impl Page {
    /// Returns the context of the response, for errors.
    pub(super) fn response_context(&self, tool: &Tool) -> ResponseContext {
        ResponseContext::new(tool, &self.request, self.status, self.final_url.as_ref())
    }

    /// Returns the page as an ordinary response with this body.
    fn reply(self, body: Vec<u8>) -> (HttpRequest, Reply) {
        let mut response = http::Response::new(body);
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        let response = Response::from(response);
        (self.request, Reply { response, final_url: self.final_url, redirect_error: self.redirect_error })
    }
}

impl Reader<'_> {
    /// Reads the next page. The caller checks that the cursor is not at its [end](PageCursor::is_end).
    ///
    /// # Errors
    ///
    /// Returns an error if there is no response, or if the next page must not be requested. A response that is not a
    /// page is returned as a page without a list.
    pub(super) async fn page(&self, cursor: &mut PageCursor) -> Result<Page, ToolError> {
        let mut sender = RequestSender::new(self.engine, self.tool, self.ctx, self.deadline)?;
        let request = match std::mem::replace(&mut cursor.next, Next::End) {
            Next::Link(request, page_url) => {
                // Another origin must not choose requests that are sent with the credentials of the first.
                let is_trusted = cursor.first_url.as_ref().is_some_and(|first| {
                    let is_same_origin = |url: &Url| url.origin() == first.origin();
                    is_same_origin(&page_url)
                        && Url::parse(&request.url).is_ok_and(|url| is_same_origin(&url))
                });
                sender.linked_from = Some((page_url, is_trusted));
                if is_trusted { sender.authenticate(*request).await? } else { *request }
            }
            Next::Error(reason) => return Err(reason),
            Next::Incomplete(text) => return Err(total::incomplete_error(&text)),
            Next::Arguments | Next::End => {
                let request = self.engine.prepare(self.tool, cursor.arguments.clone()).await?;
                sender.authenticate(request).await?
            }
        };
        if cursor.first_url.is_none() {
            cursor.first_url = Url::parse(&request.url).ok();
            cursor.requested.insert(cursor.arguments.to_string());
            cursor.requested.insert(request.url.clone());
        }
        let Reply { mut response, final_url, redirect_error } = sender.send(&request).await?;
        let limit = self.engine.settings.max_typed_bytes;
        let body = response::read(&mut response, limit, None).await;
        let prefix = body.map_err(|error| network_error(&request, "READ_ERROR", error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let mut page = Page {
            request,
            status,
            headers,
            bytes: prefix.bytes,
            truncated: prefix.truncated,
            list: None,
            final_url,
            redirect_error,
        };
        if status.is_success() && !page.truncated && page.redirect_error.is_none() {
            page.list = self.list(&page.bytes, &header(&page.headers, "content-type"));
        }
        if let Some((body, items)) = &page.list {
            total::count(self.pages, cursor, body, items.len());
            cursor.next = self.next(cursor, &page, body, items).unwrap_or_else(Next::Error);
            if cursor.is_end()
                && let Some(text) = total::incomplete_reason(self.pages, cursor, body)
            {
                cursor.next = Next::Incomplete(text);
            }
        }
        Ok(page)
    }

    fn list(&self, bytes: &[u8], content_type: &str) -> Option<(Value, Vec<Value>)> {
        let mut body: Value = serde_json::from_str(&charset::decode(bytes, content_type, false)).ok()?;
        match body.pointer_mut(&self.pages.items)?.take() {
            Value::Array(items) => Some((body, items)),
            // Some services write `null` for an empty list.
            Value::Null => Some((body, Vec::new())),
            _ => None,
        }
    }

    /// Returns how the page after this page is requested.
    fn next(
        &self,
        cursor: &mut PageCursor,
        page: &Page,
        body: &Value,
        items: &[Value],
    ) -> Result<Next, ToolError> {
        if cursor.is_complete() && next::is_guessed(self.pages, body) {
            return Ok(Next::End);
        }
        let next_page = next::next_page(self.pages, &cursor.arguments, &page.headers, body, items);
        let Some(next_page) = next_page else { return Ok(Next::End) };
        let (next, key) = match next_page {
            next::NextRequest::Argument(name, value) => {
                if let Value::Object(arguments) = &mut cursor.arguments {
                    arguments.insert(name.to_owned(), value);
                }
                (Next::Arguments, cursor.arguments.to_string())
            }
            next::NextRequest::Url(url) => {
                let (request, page_url) = follow_link(page, &url)?;
                let key = request.url.clone();
                (Next::Link(Box::new(request), page_url), key)
            }
        };
        if cursor.requested.insert(key) {
            return Ok(next);
        }
        // Some services return a cursor with the last page as well, to poll for new items later.
        if items.is_empty() {
            return Ok(Next::End);
        }
        let text = "Error: the service returned the cursor of an earlier page. The list is incomplete. Do not retry.";
        Err(ToolError::failed_with("REPEATED_PAGE", text))
    }
}

/// Returns the request for a URL in a page, and the URL of that page. An origin other than that of the page gets only
/// the headers that a redirect would send there.
fn follow_link(page: &Page, url: &str) -> Result<(HttpRequest, Url), ToolError> {
    let error = |reason: &str| {
        ToolError::failed_with("UNUSABLE_NEXT_PAGE", format!("Error: the next page is not read: {reason}"))
    };
    let page_url = match &page.final_url {
        Some(url) => url.clone(),
        None => Url::parse(&page.request.url).map_err(|_| error("its URL is invalid"))?,
    };
    let mut next = page_url.join(url.trim()).map_err(|_| error("its URL is invalid"))?;
    if !matches!(next.scheme(), "http" | "https") || !next.has_host() {
        return Err(error("its URL is not an http or https URL"));
    }
    if page_url.scheme() == "https" && next.scheme() == "http" {
        return Err(error("it leads from https to http"));
    }
    next.set_fragment(None);
    if next.set_username("").is_err() || next.set_password(None).is_err() {
        return Err(error("its URL is not an http or https URL"));
    }
    let mut request = page.request.clone();
    // Redirects may have led to another origin. The headers are for the origin of the first request.
    let header_origin = Url::parse(&page.request.url).map(|url| url.origin());
    if next.origin() != page_url.origin() || header_origin.is_ok_and(|origin| origin != next.origin()) {
        request.headers.retain(|(name, _)| {
            CROSS_ORIGIN_HEADERS.iter().any(|allowed| name.eq_ignore_ascii_case(allowed))
        });
    }
    request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
    "GET".clone_into(&mut request.method);
    request.url = next.into();
    request.body = Body::None;
    Ok((request, page_url))
}

/// Removes the maximum number of items from a model's arguments, and returns it if the model requests several pages.
pub(super) fn take_max_items(tool: &Tool, arguments: &mut Value) -> Result<Option<usize>, ToolError> {
    let Some(pages) = &plan(tool)?.pagination else { return Ok(None) };
    let max_items = arguments.as_object_mut().filter(|_| !pages.max_items_argument.is_empty());
    let max_items = max_items
        .and_then(|members| members.remove(pages.max_items_argument.as_str()))
        .filter(|max_items| !max_items.is_null());
    let Some(max_items) = max_items else { return Ok(None) };
    match max_items.as_u64().and_then(|max| usize::try_from(max).ok()).filter(|max| *max > 0) {
        Some(max) => Ok(Some(max)),
        None => Err(ToolError::invalid_args(format!(
            "{}: expected a whole number of at least 1",
            pages.max_items_argument
        ))),
    }
}
