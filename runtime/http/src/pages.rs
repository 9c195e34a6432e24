//! Reads paginated lists.

mod merged;
mod next;
mod total;

use std::collections::HashSet;
use std::sync::Arc;

pub(super) use merged::several;
use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode, Url};
use serde_json::Value;
use tokio::time::Instant;

use super::call_error::Answered;
use super::charset;
use super::inner::{Inner, plan};
use super::refusal::network;
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
    pub(super) until: Option<Instant>,
}

/// The position in a list.
pub(super) struct PageCursor {
    arguments: Value,
    next: Next,
    /// The requests that were sent, so that no page is requested twice.
    requested: HashSet<String>,
    /// The number of items before the next page, if known.
    before: Option<usize>,
    /// The total number of items, according to the last page.
    total: Option<usize>,
    /// The first URL. Credentials are sent to its origin.
    home: Option<Url>,
}

/// How the next page is requested.
enum Next {
    /// With arguments.
    Call,
    /// With a URL that the previous page linked to.
    Led(Box<HttpRequest>, Url),
    /// Not at all: there is a next page, but it must not be requested.
    Refused(ToolError),
    /// Not at all: the service reports more items than it returned. Contains the explanation.
    Short(String),
    Nothing,
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
    pub(super) refused: Option<&'static str>,
}

impl PageCursor {
    /// Starts at the beginning of a list.
    pub(super) fn new(arguments: Value) -> PageCursor {
        PageCursor {
            arguments,
            next: Next::Call,
            requested: HashSet::new(),
            before: None,
            total: None,
            home: None,
        }
    }

    /// Returns what is known about items that the service did not return, if the list ends here.
    fn short(&self) -> Option<&str> {
        match &self.next {
            Next::Short(text) => Some(text),
            _ => None,
        }
    }

    /// Whether all items that the service counts were read.
    fn is_complete(&self) -> bool {
        self.total.is_some() && self.before >= self.total
    }

    /// Whether all pages were read.
    pub(super) fn is_end(&self) -> bool {
        matches!(self.next, Next::Nothing)
    }
}

impl Page {
    /// Returns the call that the next response belongs to.
    pub(super) fn answered(&self, tool: &Tool) -> Answered {
        Answered::new(tool, &self.request, self.status, self.final_url.as_ref())
    }

    /// Returns the page as an ordinary response with this body.
    fn reply(self, body: Vec<u8>) -> (HttpRequest, Reply) {
        let mut response = http::Response::new(body);
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        let response = Response::from(response);
        (self.request, Reply { response, final_url: self.final_url, refused: self.refused })
    }
}

impl Reader<'_> {
    /// Reads the next page. The caller checks that the cursor is not at its [end](PageCursor::is_end).
    ///
    /// # Errors
    ///
    /// Returns an error if there is no response, or if the next page must not be requested. A response that is not a
    /// page is returned as a page without a list.
    pub(super) async fn page(&self, place: &mut PageCursor) -> Result<Page, ToolError> {
        let mut sending = RequestSender::new(self.engine, self.tool, self.ctx, self.until)?;
        let request = match std::mem::replace(&mut place.next, Next::Nothing) {
            Next::Led(request, from) => {
                // Another origin must not choose requests that are sent with the credentials of the first.
                let at_home = place.home.as_ref().is_some_and(|home| {
                    let is_home = |url: &Url| url.origin() == home.origin();
                    is_home(&from) && Url::parse(&request.url).is_ok_and(|url| is_home(&url))
                });
                sending.led_by = Some((from, at_home));
                if at_home { sending.authenticate(*request).await? } else { *request }
            }
            Next::Refused(reason) => return Err(reason),
            Next::Short(text) => return Err(total::ends_short(&text)),
            Next::Call | Next::Nothing => {
                let request = self.engine.prepare(self.tool, place.arguments.clone()).await?;
                sending.authenticate(request).await?
            }
        };
        if place.home.is_none() {
            place.home = Url::parse(&request.url).ok();
            place.requested.insert(place.arguments.to_string());
            place.requested.insert(request.url.clone());
        }
        let Reply { mut response, final_url, refused } = sending.send(&request).await?;
        let limit = self.engine.settings.max_typed_bytes;
        let read = response::read(&mut response, limit, None).await;
        let read = read.map_err(|error| network(&request, "READ_ERROR", error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let mut page = Page {
            request,
            status,
            headers,
            bytes: read.bytes,
            truncated: read.truncated,
            list: None,
            final_url,
            refused,
        };
        if status.is_success() && !page.truncated && page.refused.is_none() {
            page.list = self.list(&page.bytes, &header(&page.headers, "content-type"));
        }
        if let Some((body, items)) = &page.list {
            total::count(self.pages, place, body, items.len());
            place.next = self.next(place, &page, body, items).unwrap_or_else(Next::Refused);
            if place.is_end()
                && let Some(text) = total::short(self.pages, place, body)
            {
                place.next = Next::Short(text);
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
        place: &mut PageCursor,
        page: &Page,
        body: &Value,
        items: &[Value],
    ) -> Result<Next, ToolError> {
        if place.is_complete() && next::is_guessed(self.pages, body) {
            return Ok(Next::Nothing);
        }
        let after = next::after(self.pages, &place.arguments, &page.headers, body, items);
        let Some(after) = after else { return Ok(Next::Nothing) };
        let (next, asked) = match after {
            next::After::Argument(name, value) => {
                if let Value::Object(arguments) = &mut place.arguments {
                    arguments.insert(name.to_owned(), value);
                }
                (Next::Call, place.arguments.to_string())
            }
            next::After::Url(url) => {
                let (request, from) = led(page, &url)?;
                let asked = request.url.clone();
                (Next::Led(Box::new(request), from), asked)
            }
        };
        if place.requested.insert(asked) {
            return Ok(next);
        }
        // Some services return a cursor with the last page as well, to poll for new items later.
        if items.is_empty() {
            return Ok(Next::Nothing);
        }
        let text = "Error: the service returned the cursor of an earlier page. The list is incomplete. Do not retry.";
        Err(ToolError::failed_with("REPEATED_PAGE", text))
    }
}

/// Returns the request for a URL in a page, and the URL of that page. An origin other than that of the page gets only
/// what a redirect would send there.
fn led(page: &Page, url: &str) -> Result<(HttpRequest, Url), ToolError> {
    let refuse = |reason: &str| {
        ToolError::failed_with("UNUSABLE_NEXT_PAGE", format!("Error: the next page is not read: {reason}"))
    };
    let from = match &page.final_url {
        Some(url) => url.clone(),
        None => Url::parse(&page.request.url).map_err(|_| refuse("its URL is invalid"))?,
    };
    let mut next = from.join(url.trim()).map_err(|_| refuse("its URL is invalid"))?;
    if !matches!(next.scheme(), "http" | "https") || !next.has_host() {
        return Err(refuse("its URL is not an http or https URL"));
    }
    if from.scheme() == "https" && next.scheme() == "http" {
        return Err(refuse("it leads from https to http"));
    }
    next.set_fragment(None);
    if next.set_username("").is_err() || next.set_password(None).is_err() {
        return Err(refuse("its URL is not an http or https URL"));
    }
    let mut request = page.request.clone();
    // Redirects may have led to another origin. The headers are for the origin of the first request.
    let of_headers = Url::parse(&page.request.url).map(|url| url.origin());
    if next.origin() != from.origin() || of_headers.is_ok_and(|origin| origin != next.origin()) {
        request
            .headers
            .retain(|(name, _)| CROSS_ORIGIN_HEADERS.iter().any(|kept| name.eq_ignore_ascii_case(kept)));
    }
    request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
    "GET".clone_into(&mut request.method);
    request.url = next.into();
    request.body = Body::None;
    Ok((request, from))
}

/// Removes the maximum number of items from a model's arguments, and returns it if the model requests several pages.
pub(super) fn take_max_items(tool: &Tool, arguments: &mut Value) -> Result<Option<usize>, ToolError> {
    let Some(pages) = &plan(tool)?.pagination else { return Ok(None) };
    let given = arguments.as_object_mut().filter(|_| !pages.max_items_argument.is_empty());
    let given =
        given.and_then(|all| all.remove(pages.max_items_argument.as_str())).filter(|given| !given.is_null());
    let Some(given) = given else { return Ok(None) };
    match given.as_u64().and_then(|max| usize::try_from(max).ok()).filter(|max| *max > 0) {
        Some(max) => Ok(Some(max)),
        None => Err(ToolError::invalid_args(format!(
            "{}: expected a whole number of at least 1",
            pages.max_items_argument
        ))),
    }
}
