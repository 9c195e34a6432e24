//! Models that are called through a function that sends JSON, and loops that use them.

use std::fmt;

use serde_json::{Value, json};
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::call::Dialects;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::schema::dialect::Dialect;
use toolgen_kernel::spec::ToolSpec;
use toolgen_kernel::toolbox::Toolbox;
use toolgen_wire::{
    PlanError, RefusedTools, Request, Stream, StreamError, Turn, WireError, WireFormat, merge,
};

use super::{LoopOptions, LoopRun, Model, ModelInfo, ModelTurn, Transcript, run_loop};

/// Sends a request and parses the turn in the reply.
type Ask<'a, E> = Box<dyn FnMut(Value) -> BoxFuture<'a, Result<Turn, ModelError<E>>> + Send + 'a>;

/// A model that is called through a function that sends JSON.
///
/// It builds complete requests from a [`Transcript`] and parses the replies. Pass it to [`run_loop`](super::run_loop)
/// or to sub-agents, which offer it their tools unless it has its own. A [`AgentLoop`] combines a `WireModel` with a
/// toolbox.
pub struct WireModel<'a, E> {
    format: WireFormat,
    tools: Value,
    system: String,
    model: String,
    options: Value,
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
            .field("format", &self.format)
            .field("model", &self.model)
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
        ask: impl FnMut(Value) -> BoxFuture<'a, Result<Turn, ModelError<E>>> + Send + 'a,
    ) -> WireModel<'a, E> {
        let (tools, options) = (Value::Null, json!({}));
        let (system, model) = (String::new(), String::new());
        WireModel { format, tools, system, model, options, streamed, ask: Box::new(ask) }
    }

    /// Sets the name of the model. It is not part of the request if it is part of the URL, as for Gemini and Bedrock.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }

    /// Sets the system prompt of the model.
    #[must_use]
    pub fn with_system(mut self, system: impl Into<String>) -> Self {
        self.system = system.into();
        self
    }

    /// Sets additional members of each request, such as `{"max_tokens": 1000}`. Objects are merged; other values
    /// replace those of the request.
    #[must_use]
    pub fn with_options(mut self, options: Value) -> Self {
        self.options = options;
        self
    }

    /// Sets the tools, as returned by [`WireFormat::tools`].
    #[must_use]
    pub fn with_tools(mut self, tools: Value) -> Self {
        self.tools = tools;
        self
    }

    /// Offers the tools with these specifications.
    ///
    /// # Errors
    ///
    /// Returns all tools that the dialect of the format cannot express, with all reasons.
    pub fn offering<'s>(self, specs: impl IntoIterator<Item = &'s ToolSpec>) -> Result<Self, RefusedTools> {
        let tools = self.format.tools(specs)?;
        Ok(self.with_tools(tools))
    }

    /// Returns the request for the next turn of a transcript.
    ///
    /// # Errors
    ///
    /// Returns an error if the format cannot express model requests.
    pub fn request(&self, transcript: &Transcript) -> Result<Value, WireError> {
        let request = Request::new(transcript.messages(self.format).messages)
            .with_model(&self.model)
            .with_system(&self.system)
            .with_tools(self.tools.clone())
            .streamed(self.streamed);
        let mut request = self.format.request(request)?;
        merge(&mut request, &self.options);
        Ok(request)
    }

    async fn ask(&mut self, request: Result<Value, WireError>) -> Result<ModelTurn, ModelError<E>> {
        let turn = (self.ask)(request.map_err(ModelError::Request)?).await?;
        if turn.calls.is_empty() && !turn.calls.problems.is_empty() {
            return Err(ModelError::Unanswerable(turn.calls.problems));
        }
        Ok(turn.into())
    }
}

impl<'m, E: Send + 'm> Model for WireModel<'m, E> {
    type Error = ModelError<E>;

    fn next<'a>(&'a mut self, transcript: &'a Transcript) -> BoxFuture<'a, Result<ModelTurn, ModelError<E>>> {
        let request = self.request(transcript);
        Box::pin(self.ask(request))
    }

    fn about(&self) -> ModelInfo {
        let (provider, operation) = match self.format {
            WireFormat::OpenAiChat | WireFormat::OpenAiResponses => ("openai", "chat"),
            WireFormat::Anthropic => ("anthropic", "chat"),
            WireFormat::Gemini => ("gcp.gemini", "generate_content"),
            WireFormat::Bedrock => ("aws.bedrock", "chat"),
            _ => ("", ""),
        };
        ModelInfo { provider, operation, model: self.model.clone().into(), streamed: self.streamed }
    }

    fn offer(&mut self, toolbox: &Toolbox) -> Result<Option<&'static Dialect>, RefusedTools> {
        if self.tools.is_null() {
            self.tools = self.format.tools(toolbox.specs())?;
        }
        Ok(Some(self.format.dialect()))
    }
}

/// An agent: tools, a model behind a function that sends JSON, and the limits of the loop.
///
/// ```
/// # use serde_json::{Value, json};
/// use toolgen_runtime::agent::agent_loop::AgentLoop;
/// use toolgen_runtime::wire::WireFormat;
/// use toolgen_runtime::{Registry, tool, toolset};
///
/// /// Adds two numbers.
/// #[tool(read_only, undocumented)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let toolbox = Registry::new(toolset![add])?.toolbox(Default::default());
/// // Simulates an HTTP request to `/v1/messages`.
/// let send = |request: Value| async move {
///     let answer = &request["messages"][2]["content"][0]["content"];
///     Ok::<_, String>(match answer.as_str() {
///         None => json!({ "content": [{ "type": "tool_use", "id": "1", "name": "add", "input": { "a": 1, "b": 2 } }] }),
///         Some(sum) => json!({ "content": [{ "type": "text", "text": format!("It is {sum}.") }] }),
///     })
/// };
/// let mut agent = AgentLoop::new(&toolbox, WireFormat::Anthropic, send)?.with_model("claude-sonnet-5-5");
/// assert_eq!(agent.run("1 + 2?").await.text()?, "It is 3.");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct AgentLoop<'a, E> {
    toolbox: &'a Toolbox,
    model: WireModel<'a, E>,
    context: ToolContext,
    /// The dialects of the tools, if the tools were planned.
    planned: Option<Dialects>,
    limits: LoopOptions,
}

impl<'a, E: Send + 'a> AgentLoop<'a, E> {
    /// Creates an agent with the tools of a toolbox and a function that sends a request and returns the reply, see
    /// [`WireModel::new`].
    ///
    /// # Errors
    ///
    /// Returns all tools that the dialect of the format cannot express, with all reasons.
    pub fn new<F, Reply>(
        toolbox: &'a Toolbox,
        format: WireFormat,
        send: F,
    ) -> Result<AgentLoop<'a, E>, RefusedTools>
    where
        F: FnMut(Value) -> Reply + Send + 'a,
        Reply: Future<Output = Result<Value, E>> + Send + 'a,
    {
        AgentLoop::of(toolbox, WireModel::new(format, send))
    }

    /// Creates an agent whose model streams its replies, see [`WireModel::streaming`].
    ///
    /// # Errors
    ///
    /// Returns all tools that the dialect of the format cannot express, with all reasons.
    pub fn streaming<F, Reply>(
        toolbox: &'a Toolbox,
        format: WireFormat,
        send: F,
    ) -> Result<AgentLoop<'a, E>, RefusedTools>
    where
        F: FnMut(Value, Stream) -> Reply + Send + 'a,
        Reply: Future<Output = Result<Stream, E>> + Send + 'a,
    {
        AgentLoop::of(toolbox, WireModel::streaming(format, send))
    }

    fn of(toolbox: &'a Toolbox, model: WireModel<'a, E>) -> Result<AgentLoop<'a, E>, RefusedTools> {
        let context = ToolContext::new("loop", "").with_dialect(model.format.dialect());
        let model = model.offering(toolbox.specs())?;
        Ok(AgentLoop { toolbox, model, context, planned: None, limits: LoopOptions::new() })
    }

    /// Sets the name of the model, see [`WireModel::with_model`].
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = self.model.with_model(model);
        self
    }

    /// Sets the system prompt of the model.
    #[must_use]
    pub fn with_system(mut self, system: impl Into<String>) -> Self {
        self.model = self.model.with_system(system);
        self
    }

    /// Sets additional members of each request, see [`WireModel::with_options`].
    #[must_use]
    pub fn with_options(mut self, options: Value) -> Self {
        self.model = self.model.with_options(options);
        self
    }

    /// Sets the tools of each request, as returned by [`WireFormat::tools_in`]. Default: those of the toolbox in the
    /// dialect of the format. The context must have the same dialect.
    #[must_use]
    pub fn with_tools(mut self, tools: Value) -> Self {
        self.model = self.model.with_tools(tools);
        self
    }

    /// Renders the tools in a dialect such as [`OPENAI_STRICT`](toolgen_kernel::schema::dialect::OPENAI_STRICT), if
    /// the dialect and the limits of a request allow it, and the others in the vendor's lax dialect, see
    /// [`WireFormat::plan`]. Calls are decoded in the dialect of their tool, regardless of the context's dialect.
    ///
    /// # Errors
    ///
    /// Returns all tools that neither dialect can express, or an error if there are too many tools.
    pub fn with_plan(mut self, dialect: &'static Dialect) -> Result<Self, PlanError> {
        let plan = self.model.format.plan(dialect, self.toolbox.specs())?;
        self.planned = Some(plan.dialects());
        Ok(self.with_tools(plan.into_tools()))
    }

    /// Sets the context of the calls: its token ends the loop, and its principal, services and session apply to the
    /// calls. A dialect of the context, see [`ToolContext::with_dialect`], must be the one of the tools; it is
    /// optional.
    #[must_use]
    pub fn with_context(mut self, context: ToolContext) -> Self {
        self.context = match context.turn().dialects {
            Some(_) => context,
            None => context.with_dialect(self.model.format.dialect()),
        };
        self
    }

    /// Sets the limits of the loop, and what ends it.
    #[must_use]
    pub fn with_limits(mut self, limits: LoopOptions) -> Self {
        self.limits = limits;
        self
    }

    /// Runs until the model is done, see [`run_loop`](super::run_loop), starting from a user message or a transcript.
    pub async fn run(&mut self, transcript: impl Into<Transcript>) -> LoopRun<ModelError<E>> {
        let context = self.context.clone();
        let context = match &self.planned {
            Some(dialects) => context.with_dialect(dialects.clone()),
            None => context,
        };
        run_loop(self.toolbox, &mut self.model, &context, transcript.into(), &self.limits).await
    }
}
