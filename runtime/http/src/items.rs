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

use super::call_error::{Answered, CallError, unlike_json};
use super::inner::{Inner, plan};
use super::pages::{Page, PageCursor, Reader, take_max_items};
use super::refusal::{network, refusal};
use super::request::HttpRequest;
use super::sender::RequestSender;
use super::sequence::{EventData, Sequence, declared_events, may_be_sequence};
use super::transport::Reply;
use super::transport::header;
use super::{charset, response};

/// Limits of reading a list. A list with more than `items` items ends there. At any other limit the last item is an
/// error, so that a part is not mistaken for the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageLimits {
    /// Maximum number of items.
    pub items: usize,
    /// Maximum number of pages.
    pub pages: usize,
    /// Maximum size of all pages together, in bytes, before decoding.
    pub bytes: usize,
    /// Maximum time from the first request on, without the time that the program spends between items. Each page also
    /// has the time limit of a call.
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
    answered: Answered,
    of: PhantomData<fn() -> T>,
}

enum State {
    /// The next page can be requested.
    Idle(Box<Reading>),
    /// A page is being read.
    Busy(BoxFuture<'static, PagedReader>),
    Over,
}

/// The reader of the list, and the items that it has read.
type PagedReader = (Box<Reading>, Result<Vec<Value>, CallError>);

/// The reader of the list.
struct Reading {
    engine: Arc<Inner>,
    tool: Frozen<Tool>,
    ctx: ToolContext,
    from: Source,
    /// The response that contained the last items.
    answered: Answered,
    pages: usize,
    bytes: usize,
    time: Duration,
}

/// The source of the items.
enum Source {
    /// A paginated list.
    Pages(Box<PageCursor>),
    /// One response that is a sequence, not requested yet.
    Answer(Value),
    /// One response that is a sequence, being read.
    Flow(Box<ItemStream>),
    Nothing,
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
        let in_pages = plan(&tool).is_ok_and(|plan| plan.pagination.is_some());
        let from = if !in_pages && may_be_sequence(&tool) {
            Source::Answer(arguments)
        } else {
            Source::Pages(Box::new(PageCursor::new(arguments)))
        };
        let answered = Answered::default();
        let reading = Reading { engine, tool, ctx, from, answered, pages: 0, bytes: 0, time: Duration::ZERO };
        let bounds = PageLimits { items: max, ..PageLimits::default() };
        PagedItems {
            state: State::Idle(Box::new(reading)),
            ready: VecDeque::new(),
            bounds,
            read: 0,
            answered: Answered::default(),
            of: PhantomData,
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
        if let State::Idle(reading) = &mut self.state {
            reading.ctx = turn.into().base().clone();
        }
        self
    }

    /// Parses the items as another type.
    pub fn of<U: DeserializeOwned>(self) -> PagedItems<U> {
        let PagedItems { state, ready, bounds, read, answered, .. } = self;
        PagedItems { state, ready, bounds, read, answered, of: PhantomData }
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

    fn item(&mut self, item: &Value) -> Result<T, CallError> {
        self.bounds.items -= 1;
        self.read += 1;
        let number = self.read;
        T::deserialize(item).map_err(|source| {
            let reason = format!("item {number} of the list is not of the expected type ({source})");
            self.answered.clone().unfit(&reason, &item.to_string())
        })
    }
}

impl<T: DeserializeOwned> Stream for PagedItems<T> {
    type Item = Result<T, CallError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if this.bounds.items == 0 {
                this.state = State::Over;
                return Poll::Ready(None);
            }
            if let Some(item) = this.ready.pop_front() {
                return Poll::Ready(Some(this.item(&item)));
            }
            match std::mem::replace(&mut this.state, State::Over) {
                State::Over => return Poll::Ready(None),
                State::Idle(reading) if reading.is_end() => return Poll::Ready(None),
                State::Idle(reading) => match reading.reached(&this.bounds) {
                    Some(error) => {
                        return Poll::Ready(Some(Err(CallError::without_answer(&reading.tool)(error))));
                    }
                    None => this.state = State::Busy(Box::pin(reading.more(this.bounds.time))),
                },
                State::Busy(mut more) => match more.as_mut().poll(cx) {
                    Poll::Pending => {
                        this.state = State::Busy(more);
                        return Poll::Pending;
                    }
                    Poll::Ready((reading, items)) => {
                        this.ready = match items {
                            Ok(items) => items.into(),
                            Err(error) => return Poll::Ready(Some(Err(error))),
                        };
                        this.answered = reading.answered.clone();
                        this.state = State::Idle(reading);
                    }
                },
            }
        }
    }
}

impl Reading {
    /// Whether all items were read.
    fn is_end(&self) -> bool {
        match &self.from {
            Source::Pages(place) => place.is_end(),
            Source::Nothing => true,
            Source::Answer(_) | Source::Flow(_) => false,
        }
    }

    /// Returns the limit that is reached, as an error.
    fn reached(&self, bounds: &PageLimits) -> Option<ToolError> {
        let what = if self.pages >= bounds.pages {
            format!("{} pages", bounds.pages)
        } else if self.bytes >= bounds.bytes {
            format!("{} bytes", bounds.bytes)
        } else if self.time >= bounds.time {
            format!("{:?}", bounds.time)
        } else {
            return None;
        };
        let text = format!("Error: the list continues after {what}, the limit in `PageLimits`");
        Some(ToolError::failed_with("LIST_TOO_LONG", text))
    }

    async fn more(mut self: Box<Self>, max: Duration) -> (Box<Reading>, Result<Vec<Value>, CallError>) {
        let began = Instant::now();
        let limit = self.engine.time_limit(&self.tool.spec, self.ctx.timeout());
        let duration = limit.unwrap_or(max).min(max.saturating_sub(self.time));
        let ctx = self.ctx.clone();
        let read = ctx.cancel().run_until_cancelled(self.read(began + duration));
        let items = timeout(duration, read).await;
        let failed = CallError::without_answer(&self.tool);
        let items = match items {
            Ok(items) => items.unwrap_or_else(|| Err(failed(ToolError::Cancelled))),
            Err(_) => Err(failed(ToolError::Timeout { duration })),
        };
        self.time += began.elapsed();
        (self, items)
    }

    async fn read(&mut self, until: Instant) -> Result<Vec<Value>, CallError> {
        let Reading { engine, tool, ctx, .. } = self;
        match std::mem::replace(&mut self.from, Source::Nothing) {
            Source::Nothing => Ok(Vec::new()),
            Source::Pages(mut place) => {
                let page = page(engine, tool, ctx, &mut place, until).await;
                self.from = Source::Pages(place);
                self.pages += 1;
                self.items(page)
            }
            Source::Answer(arguments) => {
                let flow = ItemStream::begin(engine, tool, ctx, arguments, until).await?;
                self.flow(Box::new(flow)).await
            }
            Source::Flow(flow) => self.flow(flow).await,
        }
    }

    /// Waits for the next items of a response.
    async fn flow(&mut self, mut flow: Box<ItemStream>) -> Result<Vec<Value>, CallError> {
        let Batch { items, bytes, last } = flow.batch().await?;
        self.answered = flow.answered().clone();
        self.bytes += bytes;
        if !last {
            self.from = Source::Flow(flow);
        }
        Ok(items)
    }

    /// Returns the items of a page.
    fn items(&mut self, page: Result<Page, ToolError>) -> Result<Vec<Value>, CallError> {
        let page = page.map_err(CallError::without_answer(&self.tool))?;
        self.bytes += page.bytes.len();
        self.answered = page.answered(&self.tool);
        if let Some((_, items)) = page.list {
            return Ok(items);
        }
        let content_type = header(&page.headers, "content-type");
        let body = page.request.credentials.redact_body(&page.bytes, &content_type, page.truncated);
        let answered = self.answered.clone();
        Err(if !page.status.is_success() {
            let response = (page.status, &page.headers);
            let message =
                refusal(&self.engine.settings, &self.tool, &page.request, response, page.final_url.as_ref())
                    .told;
            answered.refusing(&page.request, &page.headers, (page.refused, message), body)
        } else if page.truncated {
            answered.too_large(self.engine.settings.max_typed_bytes)
        } else {
            answered.unfit(&unlike_json(&body, "there is no list at the declared location"), &body)
        })
    }
}

async fn page(
    engine: &Arc<Inner>,
    tool: &Frozen<Tool>,
    ctx: &ToolContext,
    place: &mut PageCursor,
    until: Instant,
) -> Result<Page, ToolError> {
    let Some(pages) = &plan(tool)?.pagination else {
        let text = format!(
            "Error: the pagination of `{}` is unknown; declare it with `Options::pagination` when you compile the \
             tools",
            tool.spec.name
        );
        return Err(ToolError::failed_with("NO_PAGINATION", text));
    };
    Reader { engine, tool, pages, ctx, until: Some(until) }.page(place).await
}

/// A response that is read as a sequence.
pub(super) struct ItemStream {
    tool: Frozen<Tool>,
    request: HttpRequest,
    answered: Answered,
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
        until: Instant,
    ) -> Result<ItemStream, CallError> {
        let failed = CallError::without_answer(tool);
        let request = engine.prepare(tool, arguments).await.map_err(failed)?;
        let mut sending = RequestSender::new(engine, tool, ctx, Some(until)).map_err(failed)?;
        let request = sending.authenticate(request).await.map_err(failed)?;
        let Reply { mut response, final_url, refused } = sending.send(&request).await.map_err(failed)?;
        let (status, limit) = (response.status(), engine.settings.max_typed_bytes);
        let answered = Answered::new(tool, &request, status, final_url.as_ref());
        let content_type = header(response.headers(), "content-type");
        let data = declared_events(tool).unwrap_or(EventData::Text);
        match Sequence::of(&content_type, data, limit).filter(|_| status.is_success()) {
            Some(sequence) => {
                let text = charset::Reader::of(&content_type);
                Ok(ItemStream { tool: tool.clone(), request, answered, response, sequence, text, limit })
            }
            None => {
                let read = response::read(&mut response, limit, None).await;
                let read = read.map_err(|error| failed(network(&request, "READ_ERROR", error)))?;
                let body = request.credentials.redact_body(&read.bytes, &content_type, read.truncated);
                if !status.is_success() {
                    let reply = (status, response.headers());
                    let message = refusal(&engine.settings, tool, &request, reply, final_url.as_ref()).told;
                    return Err(answered.refusing(&request, response.headers(), (refused, message), body));
                }
                let reason = format!("the response is not a sequence of items, but `{content_type}`");
                Err(answered.unfit(&reason, &body))
            }
        }
    }

    /// Returns the call that the response belongs to.
    pub(super) fn answered(&self) -> &Answered {
        &self.answered
    }

    /// Waits for at least one item, or for the end.
    pub(super) async fn batch(&mut self) -> Result<Batch, CallError> {
        let mut batch = Batch { items: Vec::new(), bytes: 0, last: false };
        while batch.items.is_empty() && !batch.last {
            let chunk = self.response.chunk().await;
            let chunk = chunk.map_err(|error| {
                CallError::without_answer(&self.tool)(network(&self.request, "READ_ERROR", error))
            })?;
            let bytes = chunk.as_deref().unwrap_or_default();
            let read = self.text.push(bytes, chunk.is_none()).and_then(|text| {
                self.sequence.push(text.as_bytes(), &mut batch.items)?;
                if chunk.is_none() { self.sequence.end(&mut batch.items) } else { Ok(()) }
            });
            read.map_err(|error| self.answered.clone().unfit(&error, ""))?;
            if self.sequence.waiting() > self.limit {
                return Err(self.answered.clone().too_large(self.limit));
            }
            batch.bytes += bytes.len();
            batch.last = chunk.is_none();
        }
        Ok(batch)
    }
}
