//! An agent: a model with a toolbox.

use toolgen_kernel::call::Turn;
use toolgen_kernel::toolbox::Toolbox;

use super::{
    AgentListener, AgentStream, LanguageModel, LoopError, LoopOptions, LoopRun, Transcript, run_loop,
};

/// An agent: a model, the tools that it may use, and the limits of its loop.
///
/// ```
/// # use serde_json::{Value, json};
/// use toolgen_runtime::agent::agent_loop::{Agent, WireModel};
/// use toolgen_runtime::wire::WireFormat;
/// use toolgen_runtime::{Toolbox, tool, toolset};
///
/// /// Adds two numbers.
/// #[tool(read_only, undocumented)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = Toolbox::new(toolset![add])?;
/// // Simulates an HTTP request to `/v1/messages`.
/// let send = |request: Value| async move {
///     let result = &request["messages"][2]["content"][0]["content"];
///     Ok::<_, String>(match result.as_str() {
///         None => json!({ "content": [{ "type": "tool_use", "id": "1", "name": "add", "input": { "a": 1, "b": 2 } }] }),
///         Some(sum) => json!({ "content": [{ "type": "text", "text": format!("It is {sum}.") }] }),
///     })
/// };
/// let model = WireModel::new(WireFormat::Anthropic, send).with_model("claude-sonnet-5-5");
/// assert_eq!(Agent::new(model, &tools).run("1 + 2?").await.text()?, "It is 3.");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Agent<'a, M> {
    model: M,
    toolbox: &'a Toolbox,
    system: Option<String>,
    turn: Turn,
    limits: LoopOptions,
}

impl<'a, M: LanguageModel> Agent<'a, M> {
    /// Creates an agent. The model is a client of a vendor (feature `model`), a [`WireModel`](super::WireModel), a
    /// function, or another [`LanguageModel`].
    pub fn new(model: M, toolbox: &'a Toolbox) -> Agent<'a, M> {
        Agent { model, toolbox, system: None, turn: Turn::new("agent"), limits: LoopOptions::new() }
    }

    /// Sets the instructions for the model, see [`Transcript::with_system`].
    #[must_use]
    pub fn with_system(mut self, text: impl Into<String>) -> Self {
        self.system = Some(text.into());
        self
    }

    /// Sets what the calls share: its token ends the loop, and its principal, services and session apply to the calls.
    #[must_use]
    pub fn with_turn(mut self, turn: Turn) -> Self {
        self.turn = turn;
        self
    }

    /// Sets the limits of the loop, and what ends it.
    #[must_use]
    pub fn with_limits(mut self, limits: LoopOptions) -> Self {
        self.limits = limits;
        self
    }

    /// Runs until the model is done, see [`run_loop`], starting from a user message or a transcript. The model is
    /// first offered the tools of the toolbox; if it refuses any, the outcome is [`LoopError::Tools`].
    pub async fn run(&mut self, transcript: impl Into<Transcript>) -> LoopRun<M::Error> {
        let limits = self.limits.clone();
        self.run_within(transcript.into(), &limits).await
    }

    async fn run_within(&mut self, mut transcript: Transcript, limits: &LoopOptions) -> LoopRun<M::Error> {
        if let Some(system) = &self.system {
            transcript = transcript.with_system(system.clone());
        }
        let turn = match self.model.offer(self.toolbox) {
            Ok(Some(dialects)) => self.turn.clone().with_dialect(dialects),
            Ok(None) => self.turn.clone(),
            Err(error) => {
                let outcome = Err(LoopError::Tools(error));
                return LoopRun { outcome, transcript, iterations: 0, cost: None };
            }
        };
        run_loop(self.toolbox, &mut self.model, &turn, transcript, limits).await
    }

    /// Runs like [`run`](Self::run), and returns the events of the run while it proceeds: text as it arrives, calls and
    /// results. The run proceeds only while the stream is read, and ends if it is dropped.
    ///
    /// ```
    /// # use toolgen_runtime::agent::agent_loop::{Agent, ModelTurn, Transcript};
    /// # use toolgen_runtime::{Toolbox, tool, toolset};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let tools = Toolbox::builder(&toolgen_runtime::Registry::builder().seal()?).build()?;
    /// # let model = |_: Transcript| async { Ok::<_, String>(ModelTurn::text("It is noon.")) };
    /// let mut agent = Agent::new(model, &tools);
    /// let mut events = agent.stream("What time is it?");
    /// while let Some(event) = events.next().await {
    ///     print!("{event}");
    /// }
    /// assert_eq!(events.finish().await.text()?, "It is noon.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn stream(&mut self, transcript: impl Into<Transcript>) -> AgentStream<'_, M::Error> {
        let (sender, events) = tokio::sync::mpsc::unbounded_channel();
        let other = self.limits.listener.clone();
        let listener = AgentListener::new(move |event| {
            if let Some(other) = &other {
                other.report(event.clone());
            }
            // No one receives the events of a stream that was dropped.
            drop(sender.send(event));
        });
        let (transcript, mut limits) = (transcript.into(), self.limits.clone());
        limits.listener = Some(listener);
        AgentStream::new(events, async move { self.run_within(transcript, &limits).await })
    }
}
