//! Streams the items of a paginated list, or of a sequence, to Rust code.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use reqwest::Response;
use serde_core::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::{Instant, timeout};
use toolgen_kernel::base::frozen::Frozen;
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::call::Turn;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::spec::plan::Tool;

use super::call_error::{CallError, ResponseContext, json_mismatch};
use super::failure::{explain, network_error};
use super::inner::{Inner, plan};
use super::pages::{Page, PageCursor, Reader, take_max_items};
use super::request::HttpRequest;
use super::sender::RequestSender;
use super::sequence::{EventData, Sequence, declared_events, may_be_sequence};
use super::transport::Reply;
use super::transport::header;
use super::{charset, response};

/// Limits of reading a list. A list with more than `items` items ends after that number. At any other limit, the last
/// item is an error, so that an incomplete list is not mistaken for a complete one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageLimits {
    /// Maximum number of items.
    pub items: usize,
    /// Maximum number of pages.
    pub pages: usize,
    /// Maximum size of all pages together, in bytes, before decoding.
    pub bytes: usize,
    /// Maximum total time of reading, without the time that the program spends between items. Each page also has the
    /// time limit of a call.
    pub time: Duration,
}

impl Default for PageLimits {
    /// Returns the default limits: any number of items, 10,000 pages, 1 GiB, one hour.
    fn default() -> PageLimits {
        PageLimits { items: usize::MAX, pages: 10_000, bytes: 1 << 30, time: Duration::from_secs(3600) }
    }
}

/// The items of a list, whose pages are read on demand. Implements [`Stream`], or use [`next`](Self::next).
///
/// ```no_run
/// # async fn read(engine: toolgen_runtime::engine::http::HttpEngine, tool: &'static toolgen_runtime::Tool)
/// # -> Result<(), toolgen_runtime::engine::http::CallError> {
/// let mut pets = engine.items(tool, serde_json::json!({"status": "sold"}));
/// while let Some(pet) = pets.next().await {
///     println!("{}", pet?["name"]);
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is read until an item is requested"]
pub struct PagedItems<T = Value> {
    state: State,
    ready: VecDeque<Value>,
    bounds: PageLimits,
    /// The number of items that were read.
    read: usize,
    /// The response that contained the ready items.
    response_context: ResponseContext,
    item_type: PhantomData<fn() -> T>,
}

enum State {
    /// The next page can be requested.
    Idle(Box<ListReader>),
    /// A page is being read.
    Busy(BoxFuture<'static, ReadOutcome>),
    Done,
}

/// The reader of the list, and the items that it has read.
type ReadOutcome = (Box<ListReader>, Result<Vec<Value>, CallError>);

/// The reader of the list.
struct ListReader {
    engine: Arc<Inner>,
    tool: Frozen<Tool>,
    ctx: ToolContext,
    source: Source,
    /// The response that contained the last items.
    response_context: ResponseContext,
    pages: usize,
    bytes: usize,
    time: Duration,
}

/// The source of the items.
enum Source {
    /// A paginated list.
    Pages(Box<PageCursor>),
    /// One response that is a sequence, not requested yet.
    Request(Value),
    /// One response that is a sequence, being read.
    Stream(Box<ItemStream>),
    /// No more items.
    End,
}

impl<T> fmt::Debug for PagedItems<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Items")
            .field("ready", &self.ready.len())
            .field("bounds", &self.bounds)
            .finish_non_exhaustive()
    }
}

impl PagedItems {
    /// Starts to read a list or a sequence. The arguments are those of the first page.
    pub(super) fn begin(engine: Arc<Inner>, tool: Frozen<Tool>, mut arguments: Value) -> PagedItems {
        // The argument for models is a limit here.
        let max = take_max_items(&tool, &mut arguments).ok().flatten().unwrap_or(usize::MAX);
        let ctx = Turn::default().call_context("", tool.spec.name.as_str());
        let is_paginated = plan(&tool).is_ok_and(|plan| plan.pagination.is_some());
        let source = if !is_paginated && may_be_sequence(&tool) {
            Source::Request(arguments)
        } else {
            Source::Pages(Box::new(PageCursor::new(arguments)))
        };
        let response_context = ResponseContext::default();
        let reader = ListReader {
            engine,
            tool,
            ctx,
            source,
            response_context,
            pages: 0,
            bytes: 0,
            time: Duration::ZERO,
        };
        let bounds = PageLimits { items: max, ..PageLimits::default() };
        PagedItems {
            state: State::Idle(Box::new(reader)),
            ready: VecDeque::new(),
            bounds,
            read: 0,
            response_context: ResponseContext::default(),
            item_type: PhantomData,
        }
    }
}

impl<T> PagedItems<T> {
    /// Sets the limits of reading the list. Default: [`PageLimits::default`].
    pub fn bounds(mut self, bounds: PageLimits) -> PagedItems<T> {
        self.bounds = bounds;
        self
    }

    /// Reads the list in a turn, or in that of a tool's context: its cancellation token stops reading; its time limit
    /// and allowed hosts apply to each page.
    pub fn in_turn(mut self, turn: impl Into<Turn>) -> PagedItems<T> {
        if let State::Idle(reader) = &mut self.state {
            reader.ctx = turn.into().base().clone();
        }
        self
    }

    /// Parses the items as another type.
    pub fn of<U: DeserializeOwned>(self) -> PagedItems<U> {
        let PagedItems { state, ready, bounds, read, response_context, .. } = self;
        PagedItems { state, ready, bounds, read, response_context, item_type: PhantomData }
    }
}

impl<T: DeserializeOwned> PagedItems<T> {
    /// Returns the next item, or `None` at the end.
    ///
    /// # Errors
    ///
    /// Returns an error if a page cannot be read, which ends the list, or if an item does not have its type, after
    /// which more items follow.
    pub async fn next(&mut self) -> Option<Result<T, CallError>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    fn parse_item(&mut self, item: &Value) -> Result<T, CallError> {
        self.bounds.items -= 1;
        self.read += 1;
        let number = self.read;
        T::deserialize(item).map_err(|source| {
            let reason = format!("item {number} of the list is not of the expected type ({source})");
            self.response_context.clone().decode_error(&reason, &item.to_string())
        })
    }
}

impl<T: DeserializeOwned> Stream for PagedItems<T> {
    type Item = Result<T, CallError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if this.bounds.items == 0 {
                this.state = State::Done;
                return Poll::Ready(None);
            }
            if let Some(item) = this.ready.pop_front() {
                return Poll::Ready(Some(this.parse_item(&item)));
            }
            match std::mem::replace(&mut this.state, State::Done) {
                State::Done => return Poll::Ready(None),
                State::Idle(reader) if reader.is_end() => return Poll::Ready(None),
                State::Idle(reader) => match reader.limit_error(&this.bounds) {
                    Some(error) => {
                        return Poll::Ready(Some(Err(CallError::transport_error(&reader.tool)(error))));
                    }
                    None => this.state = State::Busy(Box::pin(reader.next_batch(this.bounds.time))),
                },
                State::Busy(mut batch) => match batch.as_mut().poll(cx) {
                    Poll::Pending => {
                        this.state = State::Busy(batch);
                        return Poll::Pending;
                    }
                    Poll::Ready((reader, items)) => {
                        this.ready = match items {
                            Ok(items) => items.into(),
                            Err(error) => return Poll::Ready(Some(Err(error))),
                        };
                        this.response_context = reader.response_context.clone();
                        this.state = State::Idle(reader);
                    }
                },
            }
        }
    }
}

impl ListReader {
    /// Whether all items were read.
    fn is_end(&self) -> bool {
        match &self.source {
            Source::Pages(cursor) => cursor.is_end(),
            Source::End => true,
            Source::Request(_) | Source::Stream(_) => false,
        }
    }

    /// Returns the limit that is reached, as an error.
    fn limit_error(&self, bounds: &PageLimits) -> Option<ToolError> {
        let limit = if self.pages >= bounds.pages {
            format!("{} pages", bounds.pages)
        } else if self.bytes >= bounds.bytes {
            format!("{} bytes", bounds.bytes)
        } else if self.time >= bounds.time {
            format!("{:?}", bounds.time)
        } else {
            return None;
        };
        let text = format!("Error: the list continues after {limit}, the limit in `PageLimits`");
        Some(ToolError::failed_with("LIST_TOO_LONG", text))
    }

    async fn next_batch(
        mut self: Box<Self>,
        max: Duration,
    ) -> (Box<ListReader>, Result<Vec<Value>, CallError>) {
        let started = Instant::now();
        let limit = self.engine.time_limit(&self.tool.spec, self.ctx.timeout());
        let duration = limit.unwrap_or(max).min(max.saturating_sub(self.time));
        let ctx = self.ctx.clone();
        let read = ctx.cancel().run_until_cancelled(self.read(started + duration));
        let items = timeout(duration, read).await;
        let failed = CallError::transport_error(&self.tool);
        let items = match items {
            Ok(items) => items.unwrap_or_else(|| Err(failed(ToolError::Cancelled))),
            Err(_) => Err(failed(ToolError::Timeout { duration })),
        };
        self.time += started.elapsed();
        (self, items)
    }

    async fn read(&mut self, deadline: Instant) -> Result<Vec<Value>, CallError> {
        let ListReader { engine, tool, ctx, .. } = self;
        match std::mem::replace(&mut self.source, Source::End) {
            Source::End => Ok(Vec::new()),
            Source::Pages(mut cursor) => {
                let page = page(engine, tool, ctx, &mut cursor, deadline).await;
                self.source = Source::Pages(cursor);
                self.pages += 1;
                self.items(page)
            }
            Source::Request(arguments) => {
                let stream = ItemStream::begin(engine, tool, ctx, arguments, deadline).await?;
                self.read_stream(Box::new(stream)).await
            }
            Source::Stream(stream) => self.read_stream(stream).await,
        }
    }

    /// Waits for the next items of a response.
    async fn read_stream(&mut self, mut stream: Box<ItemStream>) -> Result<Vec<Value>, CallError> {
        let Batch { items, bytes, last } = stream.batch().await?;
        self.response_context = stream.response_context().clone();
        self.bytes += bytes;
        if !last {
            self.source = Source::Stream(stream);
        }
        Ok(items)
    }

    /// Returns the items of a page.
    fn items(&mut self, page: Result<Page, ToolError>) -> Result<Vec<Value>, CallError> {
        let page = page.map_err(CallError::transport_error(&self.tool))?;
        self.bytes += page.bytes.len();
        self.response_context = page.response_context(&self.tool);
        if let Some((_, items)) = page.list {
            return Ok(items);
        }
        let content_type = header(&page.headers, "content-type");
        let body = page.request.credentials.redact_body(&page.bytes, &content_type, page.truncated);
        let response_context = self.response_context.clone();
        Err(if !page.status.is_success() {
            let response = (page.status, &page.headers);
            let message =
                explain(&self.engine.settings, &self.tool, &page.request, response, page.final_url.as_ref())
                    .message;
            response_context.status_error(&page.request, &page.headers, (page.redirect_error, message), body)
        } else if page.truncated {
            response_context.too_large(self.engine.settings.max_typed_bytes)
        } else {
            response_context
                .decode_error(&json_mismatch(&body, "there is no list at the declared location"), &body)
        })
    }
}

async fn page(
    engine: &Arc<Inner>,
    tool: &Frozen<Tool>,
    ctx: &ToolContext,
    cursor: &mut PageCursor,
    deadline: Instant,
) -> Result<Page, ToolError> {
    let Some(pages) = &plan(tool)?.pagination else {
        let text = format!(
            "Error: the pagination of `{}` is unknown; declare it with `Options::pagination` when you compile the \
             tools",
            tool.spec.name
        );
        return Err(ToolError::failed_with("NO_PAGINATION", text));
    };
    Reader { engine, tool, pages, ctx, deadline: Some(deadline) }.page(cursor).await
}

/// A response that is read as a sequence.
pub(super) struct ItemStream {
    tool: Frozen<Tool>,
    request: HttpRequest,
    response_context: ResponseContext,
    response: Response,
    sequence: Sequence,
    text: charset::Reader,
    /// Maximum size of an item, in bytes.
    limit: usize,
}

/// Items of a sequence that arrived together.
pub(super) struct Batch {
    pub(super) items: Vec<Value>,
    pub(super) bytes: usize,
    /// Whether the sequence has ended.
    pub(super) last: bool,
}

impl ItemStream {
    /// Sends the request of a call, and returns its response, whose body is not read yet.
    pub(super) async fn begin(
        engine: &Arc<Inner>,
        tool: &Frozen<Tool>,
        ctx: &ToolContext,
        arguments: Value,
        deadline: Instant,
    ) -> Result<ItemStream, CallError> {
        let failed = CallError::transport_error(tool);
        let request = engine.prepare(tool, arguments).await.map_err(failed)?;
        let mut sender = RequestSender::new(engine, tool, ctx, Some(deadline)).map_err(failed)?;
        let request = sender.authenticate(request).await.map_err(failed)?;
        let Reply { mut response, final_url, redirect_error } =
            sender.send(&request).await.map_err(failed)?;
        let (status, limit) = (response.status(), engine.settings.max_typed_bytes);
        let response_context = ResponseContext::new(tool, &request, status, final_url.as_ref());
        let content_type = header(response.headers(), "content-type");
        let data = declared_events(tool).unwrap_or(EventData::Text);
        match Sequence::of(&content_type, data, limit).filter(|_| status.is_success()) {
            Some(sequence) => {
                let text = charset::Reader::of(&content_type);
                Ok(ItemStream {
                    tool: tool.clone(),
                    request,
                    response_context,
                    response,
                    sequence,
                    text,
                    limit,
                })
            }
            None => {
                let body = response::read(&mut response, limit, None).await;
                let prefix = body.map_err(|error| failed(network_error(&request, "READ_ERROR", error)))?;
                let body = request.credentials.redact_body(&prefix.bytes, &content_type, prefix.truncated);
                if !status.is_success() {
                    let reply = (status, response.headers());
                    let message =
                        explain(&engine.settings, tool, &request, reply, final_url.as_ref()).message;
                    return Err(response_context.status_error(
                        &request,
                        response.headers(),
                        (redirect_error, message),
                        body,
                    ));
                }
                let reason = format!("the response is not a sequence of items, but `{content_type}`");
                Err(response_context.decode_error(&reason, &body))
            }
        }
    }

    /// Returns the call that the response belongs to.
    pub(super) fn response_context(&self) -> &ResponseContext {
        &self.response_context
    }

    /// Waits for at least one item, or for the end.
    pub(super) async fn batch(&mut self) -> Result<Batch, CallError> {
        let mut batch = Batch { items: Vec::new(), bytes: 0, last: false };
        while batch.items.is_empty() && !batch.last {
            let chunk = self.response.chunk().await;
            let chunk = chunk.map_err(|error| {
                CallError::transport_error(&self.tool)(network_error(&self.request, "READ_ERROR", error))
            })?;
            let bytes = chunk.as_deref().unwrap_or_default();
            let read = self.text.push(bytes, chunk.is_none()).and_then(|text| {
                self.sequence.push(text.as_bytes(), &mut batch.items)?;
                if chunk.is_none() { self.sequence.end(&mut batch.items) } else { Ok(()) }
            });
            read.map_err(|error| self.response_context.clone().decode_error(&error, ""))?;
            if self.sequence.pending_bytes() > self.limit {
                return Err(self.response_context.clone().too_large(self.limit));
            }
            batch.bytes += bytes.len();
            batch.last = chunk.is_none();
        }
        Ok(batch)
    }
}
