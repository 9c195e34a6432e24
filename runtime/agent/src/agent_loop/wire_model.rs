//! Models that are called through a function that sends JSON.

use std::fmt;

use serde_json::Value;
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::call::Dialects;
use toolgen_kernel::schema::dialect::Dialect;
use toolgen_kernel::spec::ToolSpec;
use toolgen_kernel::toolbox::Toolbox;
use toolgen_wire::{
    ModelReply, PlanError, PlanOptions, Stream, StreamError, ToolChoice, WireError, WireFormat,
};

use super::template::RequestTemplate;
use super::{LanguageModel, ModelInfo, ModelTurn, Transcript};

/// Sends a request and parses the turn in the reply.
type Ask<'a, E> = Box<dyn FnMut(Value) -> BoxFuture<'a, Result<ModelReply, ModelError<E>>> + Send + 'a>;

/// A model that is called through a function that sends JSON.
///
/// It builds complete requests from a [`Transcript`] and parses the replies. An [`Agent`](super::Agent) or a sub-agent
/// offers it the tools of its toolbox, unless it has tools of its own.
pub struct WireModel<'a, E> {
    template: RequestTemplate,
    streamed: bool,
    ask: Ask<'a, E>,
}

/// Reason why a request to the model returned no turn.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelError<E> {
    /// The format cannot express model requests.
    Request(WireError),
    /// The function failed, with its error.
    Send(E),
    /// The reply is invalid, or is an error of the vendor.
    Reply(WireError),
    /// The streamed reply is invalid, or is an error of the vendor.
    Stream(StreamError),
    /// All calls of the turn are unanswerable.
    Unanswerable(Vec<WireError>),
}

impl<E> ModelError<E> {
    fn tell(
        &self,
        f: &mut fmt::Formatter<'_>,
        send: impl Fn(&E, &mut fmt::Formatter<'_>) -> fmt::Result,
    ) -> fmt::Result {
        match self {
            ModelError::Request(error) => write!(f, "{error}"),
            ModelError::Send(reason) => {
                f.write_str("the request to the model failed: ")?;
                send(reason, f)
            }
            ModelError::Reply(error) => write!(f, "the reply of the model: {error}"),
            ModelError::Stream(error) => write!(f, "the reply of the model: {error}"),
            ModelError::Unanswerable(problems) => {
                f.write_str("the model made only calls that cannot be answered")?;
                problems.iter().try_for_each(|problem| write!(f, "; {problem}"))
            }
        }
    }
}

impl<E: fmt::Display> fmt::Display for ModelError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tell(f, E::fmt)
    }
}

impl<E: fmt::Debug> fmt::Debug for ModelError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tell(f, E::fmt)
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for ModelError<E> {}

impl<E> fmt::Debug for WireModel<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WireModel")
            .field("format", &self.template.format)
            .field("model", &self.template.model)
            .finish_non_exhaustive()
    }
}

impl<'a, E: Send + 'a> WireModel<'a, E> {
    /// Creates a model from a function that sends a request and returns the reply. The function may also return other
    /// JSON, such as an error: it is reported with the vendor's message.
    pub fn new<F, Reply>(format: WireFormat, mut send: F) -> WireModel<'a, E>
    where
        F: FnMut(Value) -> Reply + Send + 'a,
        Reply: Future<Output = Result<Value, E>> + Send + 'a,
    {
        WireModel::asking(format, false, move |request| {
            let reply = send(request);
            Box::pin(async move {
                format.turn(&reply.await.map_err(ModelError::Send)?).map_err(ModelError::Reply)
            })
        })
    }

    /// Creates a model from a function that sends a request and adds the streamed data to a [`Stream`], which also
    /// returns the new parts of the reply.
    pub fn streaming<F, Reply>(format: WireFormat, mut send: F) -> WireModel<'a, E>
    where
        F: FnMut(Value, Stream) -> Reply + Send + 'a,
        Reply: Future<Output = Result<Stream, E>> + Send + 'a,
    {
        WireModel::asking(format, true, move |request| {
            let reply = send(request, format.stream());
            Box::pin(
                async move { reply.await.map_err(ModelError::Send)?.finish().map_err(ModelError::Stream) },
            )
        })
    }

    fn asking(
        format: WireFormat,
        streamed: bool,
        ask: impl FnMut(Value) -> BoxFuture<'a, Result<ModelReply, ModelError<E>>> + Send + 'a,
    ) -> WireModel<'a, E> {
        WireModel { template: RequestTemplate::new(format), streamed, ask: Box::new(ask) }
    }

    /// Sets the name of the model. It is not part of the request if it is part of the URL, as for Gemini and Bedrock.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.template.model = model.into();
        self
    }

    /// Sets the system prompt of the model. That of a [transcript](Transcript::system) takes precedence.
    #[must_use]
    pub fn with_system(mut self, system: impl Into<String>) -> Self {
        self.template.system = system.into();
        self
    }

    /// Sets additional members of each request, such as `{"max_tokens": 1000}`. Objects are merged; other values
    /// replace those of the request.
    #[must_use]
    pub fn with_options(mut self, options: Value) -> Self {
        self.template.options = options;
        self
    }

    /// Renders offered tools in a dialect such as [`OPENAI_STRICT`](toolgen_kernel::schema::dialect::OPENAI_STRICT), if
    /// the dialect and the limits of a request allow it, and the others in the vendor's lax dialect, see
    /// [`WireFormat::plan`]. Default: the dialect of the format.
    #[must_use]
    pub fn with_dialect(mut self, dialect: &'static Dialect) -> Self {
        self.template.dialect = Some(dialect);
        self
    }

    /// Sets how tools are offered: their examples, programs that the vendor runs, cache points, deferred tools, tools of
    /// the vendor. See [`PlanOptions`].
    #[must_use]
    pub fn with_tool_options(mut self, options: PlanOptions) -> Self {
        self.template.tool_options = options;
        self
    }

    /// Sets which tools the model must or may call. A choice that forces a call applies to the first turn after each message
    /// of the user; in later turns, the model decides.
    #[must_use]
    pub fn with_tool_choice(mut self, choice: ToolChoice) -> Self {
        self.template.tool_choice = Some(choice);
        self
    }

    /// Sets whether the model may make several calls in a turn. Default: the vendor's, mostly yes.
    #[must_use]
    pub fn with_parallel_calls(mut self, parallel: bool) -> Self {
        self.template.parallel_calls = Some(parallel);
        self
    }

    /// Sets the tools, as returned by [`WireFormat::tools_in`], and the dialects in which they are written. Tools of a
    /// toolbox are then not offered.
    #[must_use]
    pub fn with_tools(mut self, tools: Value, dialects: impl Into<Dialects>) -> Self {
        self.template.tools = Some((tools, dialects.into()));
        self
    }

    /// Offers the tools with these specifications.
    ///
    /// # Errors
    ///
    /// Returns all tools that the dialect cannot express, with all reasons, or an error if there are too many tools.
    pub fn offering<'s>(self, specs: impl IntoIterator<Item = &'s ToolSpec>) -> Result<Self, PlanError> {
        let (tools, dialects) = self.template.render(specs)?;
        Ok(self.with_tools(tools, dialects))
    }

    /// Returns the request for the next turn of a transcript.
    ///
    /// # Errors
    ///
    /// Returns an error if the format cannot express model requests.
    pub fn request(&self, transcript: &Transcript) -> Result<Value, WireError> {
        self.template.request(transcript, self.streamed)
    }

    async fn ask(&mut self, request: Result<Value, WireError>) -> Result<ModelTurn, ModelError<E>> {
        let turn = (self.ask)(request.map_err(ModelError::Request)?).await?;
        answerable(turn)
    }
}

/// Returns a turn for the loop, unless all its calls are unanswerable.
pub(crate) fn answerable<E>(turn: ModelReply) -> Result<ModelTurn, ModelError<E>> {
    if turn.calls.is_empty() && !turn.calls.problems.is_empty() {
        return Err(ModelError::Unanswerable(turn.calls.problems));
    }
    Ok(turn.into())
}

impl<'m, E: Send + 'm> LanguageModel for WireModel<'m, E> {
    type Error = ModelError<E>;

    fn next<'a>(&'a mut self, transcript: &'a Transcript) -> BoxFuture<'a, Result<ModelTurn, ModelError<E>>> {
        let request = self.request(transcript);
        Box::pin(self.ask(request))
    }

    fn about(&self) -> ModelInfo {
        self.template.info(self.streamed)
    }

    fn offer(&mut self, toolbox: &Toolbox) -> Result<Option<Dialects>, PlanError> {
        self.template.offer(toolbox).map(Some)
    }
}
