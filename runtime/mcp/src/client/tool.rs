//! A tool of an MCP server.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};
use toolgen_kernel::base::frozen::Frozen;
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::base::sync::unpoisoned;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::control::{Control, InputRequest};
use toolgen_kernel::call::digest::fingerprint;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::result::ToolResult;
use toolgen_kernel::call::tool::AgentTool;
use toolgen_kernel::spec::plan::{ExecutionPlan, McpPlan, McpTransport, Tool};
use toolgen_kernel::spec::{ToolSpec, mcp};

use super::content;
use super::inbox::OnNotice;
use super::mcp_client::{CallPolicy, McpClient, PermitSlot};
use super::server_requests::Question;
use super::session::CallOptions;

/// Maximum number of calls of a tool that wait for input.
const MOST: usize = 64;

/// A tool of an MCP server.
pub(super) struct McpTool {
    spec: ToolSpec,
    plan: McpPlan,
    client: McpClient,
    /// The calls that wait for input.
    parked: Arc<Mutex<Parked>>,
}

/// A call in flight.
struct Running {
    answer: BoxFuture<'static, Result<Value, ToolError>>,
    questions: mpsc::Receiver<Question>,
    /// The last elicitation, if it is not answered yet.
    open: Option<oneshot::Sender<Value>>,
    /// Number of the caller's inputs that were used.
    used: usize,
    /// The context that receives progress: that of the last attempt of the call.
    ctx: Arc<Mutex<Option<ToolContext>>>,
    place: PermitSlot,
    until: Instant,
}

/// The calls of a tool that wait for input. They are cancelled when this is dropped.
#[derive(Default)]
struct Parked(BTreeMap<String, Running>);

impl Parked {
    /// Keeps a call. If there are too many, the call that expires first is cancelled.
    fn put(&mut self, key: String, running: Running) {
        self.sweep();
        if self.0.len() >= MOST {
            let first = self.0.iter().min_by_key(|(_, running)| running.until);
            if let Some(first) = first.map(|(key, _)| key.clone()) {
                self.0.remove(&first);
            }
        }
        self.0.insert(key, running);
    }

    /// Removes a call to resume it.
    fn take(&mut self, key: &str) -> Option<Running> {
        self.sweep();
        self.0.remove(key)
    }

    /// Cancels the calls that have expired.
    fn sweep(&mut self) {
        let now = Instant::now();
        self.0.retain(|_, running| running.until > now);
    }
}

/// The outcome of one step of a call.
enum Step {
    Answer(Result<Value, ToolError>),
    Question(InputRequest),
}

impl McpTool {
    /// Creates a tool; `None` if its plan is not an MCP call.
    pub(super) fn new(tool: &Frozen<Tool>, client: McpClient) -> Option<McpTool> {
        let ExecutionPlan::Mcp(plan) = &tool.call else { return None };
        Some(McpTool { spec: tool.spec.clone(), plan: plan.clone(), client, parked: Arc::default() })
    }

    async fn run(&self, params: Value, ctx: &ToolContext) -> Result<ToolResult, ToolError> {
        if let McpTransport::Http { url, .. } = &self.plan.server.transport {
            super::http::reaches(url, ctx.allowed_hosts())?;
        }
        let client = &self.client.0;
        ctx.hide(&client.credentials.now());
        let mut outcome = self.outcome(params, ctx).await;
        super::trace::describe(ctx, &self.plan.server, self.client.revision().as_deref());
        // The call may have fetched a token that was unknown before.
        let credentials = client.credentials.now();
        ctx.hide(&credentials);
        match &mut outcome {
            Ok(result) => credentials.hide_in(result),
            Err(error) => client.hide_in_error(error),
        }
        outcome
    }

    async fn outcome(&self, params: Value, ctx: &ToolContext) -> Result<ToolResult, ToolError> {
        let arguments = Arc::new(match params {
            Value::Object(arguments) => arguments,
            _ => Map::new(),
        });
        if let (Some(tape), Some(secrets)) = (&self.client.0.options.tape, ctx.secrets()) {
            tape.0.hide_all(&secrets);
        }
        let inputs = ctx.inputs();
        let parked = match inputs.is_empty() {
            true => None,
            false => unpoisoned(self.parked.lock()).take(&self.key(&arguments, ctx)),
        };
        let mut running = parked.unwrap_or_else(|| self.start(Arc::clone(&arguments)));
        *unpoisoned(running.ctx.lock()) = Some(ctx.clone());
        loop {
            if let (Some(open), Some(response)) = (running.open.take(), inputs.get(running.used)) {
                running.used += 1;
                // A server that no longer waits has already sent a response.
                drop(open.send(response.clone()));
            }
            match step(&mut running).await {
                Step::Answer(response) => return content::result(&self.spec, response?),
                Step::Question(_) if running.used < inputs.len() => {}
                Step::Question(request) => {
                    *unpoisoned(running.ctx.lock()) = None;
                    self.suspend(self.key(&arguments, ctx), running);
                    return Ok(ToolResult::empty().with_control(Control::NeedInput(request)));
                }
            }
        }
    }

    /// Starts the call.
    fn start(&self, arguments: Arc<Map<String, Value>>) -> Running {
        let client = Arc::clone(&self.client.0);
        let received: Arc<Mutex<Option<ToolContext>>> = Arc::default();
        let listener = Arc::clone(&received);
        let on_progress: OnNotice = Arc::new(move |notice| {
            let ctx = unpoisoned(listener.lock()).clone();
            if let Some(ctx) = ctx {
                let line = line(notice);
                if !line.is_empty() {
                    ctx.progress(line);
                }
            }
        });
        let (asker, questions) = mpsc::channel(1);
        let how =
            CallOptions { timeouts: client.timeouts, on_progress: Some(on_progress), asker: Some(asker) };
        let effects = &self.spec.effects;
        let idempotent = effects.read_only || effects.idempotent;
        let place = PermitSlot::default();
        let manner = CallPolicy { how, idempotent, place: Arc::clone(&place) };
        let until = Instant::now() + client.timeouts.total;
        let plan = self.plan.clone();
        let response = async move { client.call(&plan, &arguments, &manner).await };
        Running { answer: Box::pin(response), questions, open: None, used: 0, ctx: received, place, until }
    }

    /// Keeps a call until its elicitation is answered or it expires.
    fn suspend(&self, key: String, running: Running) {
        let until = running.until;
        drop(unpoisoned(running.place.lock()).take());
        unpoisoned(self.parked.lock()).put(key, running);
        let parked = Arc::downgrade(&self.parked);
        tokio::spawn(async move {
            sleep_until(until).await;
            if let Some(parked) = parked.upgrade() {
                unpoisoned(parked.lock()).sweep();
            }
        });
    }

    /// Returns the key of a call. It is the same if the call is repeated with input, and distinct for every other
    /// caller.
    fn key(&self, arguments: &Map<String, Value>, ctx: &ToolContext) -> String {
        let arguments = fingerprint(&Value::from(arguments.clone()).to_string());
        let (session, principal) = (ctx.session(), ctx.principal());
        let parts = [
            self.plan.tool.as_str(),
            &ctx.tool_call_id,
            session.map_or("", |session| session.id()),
            principal.map_or("", |principal| &principal.id),
            ctx.agent_id().unwrap_or_default(),
            &arguments,
        ];
        Value::from(parts.to_vec()).to_string()
    }
}

impl McpClient {
    /// Returns the current tools without a lock: later changes are not detected. The server's claims about effects
    /// are ignored. Tools that cannot be offered to a model are omitted; [`left_out`](McpClient::left_out) lists
    /// them.
    ///
    /// # Errors
    ///
    /// Returns an error if the list cannot be fetched.
    pub async fn tools(&self) -> Result<Vec<Arc<dyn AgentTool>>, ToolError> {
        let listed = self.0.listed().await.map_err(|error| self.0.redacted(error))?;
        let adapted = mcp::tools(&self.0.server, &listed.tools, false).into_iter().flatten();
        let made = adapted.filter_map(|adapted| McpTool::new(&adapted.tool.into(), self.clone()));
        Ok(made.map(|tool| Arc::new(tool) as Arc<dyn AgentTool>).collect())
    }
}

/// Continues a call until it returns a result or an elicitation.
async fn step(running: &mut Running) -> Step {
    poll_fn(|cx| {
        if let Poll::Ready(response) = running.answer.as_mut().poll(cx) {
            return Poll::Ready(Step::Answer(response));
        }
        match running.questions.poll_recv(cx) {
            Poll::Ready(Some(question)) => {
                running.open = Some(question.reply_to);
                Poll::Ready(Step::Question(question.request))
            }
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    })
    .await
}

/// Renders a progress notification as a line: `3/10 copying`.
pub(super) fn line(notice: &Value) -> String {
    let number = |name: &str| notice.get(name).filter(|value| value.is_number()).map(Value::to_string);
    let mut line = number("progress").unwrap_or_default();
    if let Some(total) = number("total") {
        line.push('/');
        line.push_str(&total);
    }
    if let Some(message) = notice.get("message").and_then(Value::as_str) {
        line.push_str(if line.is_empty() { "" } else { " " });
        line.push_str(message);
    }
    line
}

impl AgentTool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn action(&self) -> Option<String> {
        let McpPlan { server, tool, descriptor } = &self.plan;
        let target = match &server.transport {
            McpTransport::Stdio { argv, work_dir, .. } => format!("{argv:?} {work_dir:?}"),
            McpTransport::Http { url, .. } => url.to_string(),
        };
        Some(format!("{} {tool} {} {}", server.alias, fingerprint(&target), fingerprint(descriptor)))
    }

    fn execute<'a>(
        &'a self,
        params: Value,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(self.run(params, ctx))
    }
}
