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
use super::inbox::OnProgress;
use super::mcp_client::{CallPolicy, McpClient, PermitSlot};
use super::server_requests::Question;
use super::session::CallOptions;

/// Maximum number of calls of a tool that wait for input.
const MAX_WAITING_CALLS: usize = 64;

/// A tool of an MCP server.
pub(super) struct McpTool {
    spec: ToolSpec,
    plan: McpPlan,
    client: McpClient,
    /// The calls that wait for input.
    waiting_calls: Arc<Mutex<WaitingCalls>>,
}

/// A call in flight.
struct RunningCall {
    response: BoxFuture<'static, Result<Value, ToolError>>,
    questions: mpsc::Receiver<Question>,
    /// The reply channel of the last elicitation, if it is not answered yet.
    reply_to: Option<oneshot::Sender<Value>>,
    /// Number of the caller's inputs that were used.
    used_inputs: usize,
    /// The context that receives progress: the context of the call's last attempt.
    ctx: Arc<Mutex<Option<ToolContext>>>,
    permit: PermitSlot,
    deadline: Instant,
}

/// The calls of a tool that wait for input. They are cancelled when this is dropped.
#[derive(Default)]
struct WaitingCalls(BTreeMap<String, RunningCall>);

impl WaitingCalls {
    /// Keeps a call. If there are too many, the call that expires first is cancelled.
    fn insert(&mut self, key: String, running: RunningCall) {
        self.remove_expired();
        if self.0.len() >= MAX_WAITING_CALLS {
            let first = self.0.iter().min_by_key(|(_, running)| running.deadline);
            if let Some(first) = first.map(|(key, _)| key.clone()) {
                self.0.remove(&first);
            }
        }
        self.0.insert(key, running);
    }

    /// Removes a call to resume it.
    fn take(&mut self, key: &str) -> Option<RunningCall> {
        self.remove_expired();
        self.0.remove(key)
    }

    /// Cancels the calls that have expired.
    fn remove_expired(&mut self) {
        let now = Instant::now();
        self.0.retain(|_, running| running.deadline > now);
    }
}

/// The outcome of one step of a call.
enum Step {
    Response(Result<Value, ToolError>),
    Question(InputRequest),
}

impl McpTool {
    /// Creates a tool; `None` if its plan is not an MCP call.
    pub(super) fn new(tool: &Frozen<Tool>, client: McpClient) -> Option<McpTool> {
        let ExecutionPlan::Mcp(plan) = &tool.call else { return None };
        Some(McpTool { spec: tool.spec.clone(), plan: plan.clone(), client, waiting_calls: Arc::default() })
    }

    async fn run(&self, params: Value, ctx: &ToolContext) -> Result<ToolResult, ToolError> {
        if let McpTransport::Http { url, .. } = &self.plan.server.transport {
            super::http::reaches(url, ctx.allowed_hosts())?;
        }
        let client = &self.client.0;
        ctx.hide(&client.credentials.current());
        let mut outcome = self.run_call(params, ctx).await;
        super::trace::add_span_attributes(ctx, &self.plan.server, self.client.protocol_version().as_deref());
        // The call may have fetched a new token.
        let credentials = client.credentials.current();
        ctx.hide(&credentials);
        match &mut outcome {
            Ok(result) => credentials.hide_in(result),
            Err(error) => client.redact_error(error),
        }
        outcome
    }

    async fn run_call(&self, params: Value, ctx: &ToolContext) -> Result<ToolResult, ToolError> {
        let arguments = Arc::new(match params {
            Value::Object(arguments) => arguments,
            _ => Map::new(),
        });
        if let (Some(interceptor), Some(secrets)) = (&self.client.0.options.interceptor, ctx.secrets()) {
            interceptor.0.hide_all(&secrets);
        }
        let inputs = ctx.inputs();
        let waiting_call = match inputs.is_empty() {
            true => None,
            false => unpoisoned(self.waiting_calls.lock()).take(&self.key(&arguments, ctx)),
        };
        let mut running = waiting_call.unwrap_or_else(|| self.start(Arc::clone(&arguments)));
        *unpoisoned(running.ctx.lock()) = Some(ctx.clone());
        loop {
            if let (Some(reply_to), Some(response)) =
                (running.reply_to.take(), inputs.get(running.used_inputs))
            {
                running.used_inputs += 1;
                // A server that no longer waits has already sent a response.
                drop(reply_to.send(response.clone()));
            }
            match step(&mut running).await {
                Step::Response(response) => return content::result(&self.spec, response?),
                Step::Question(_) if running.used_inputs < inputs.len() => {}
                Step::Question(request) => {
                    *unpoisoned(running.ctx.lock()) = None;
                    self.suspend(self.key(&arguments, ctx), running);
                    return Ok(ToolResult::empty().with_control(Control::NeedInput(request)));
                }
            }
        }
    }

    /// Starts the call.
    fn start(&self, arguments: Arc<Map<String, Value>>) -> RunningCall {
        let client = Arc::clone(&self.client.0);
        let progress_ctx: Arc<Mutex<Option<ToolContext>>> = Arc::default();
        let shared_ctx = Arc::clone(&progress_ctx);
        let on_progress: OnProgress = Arc::new(move |notification| {
            let ctx = unpoisoned(shared_ctx.lock()).clone();
            if let Some(ctx) = ctx {
                let line = progress_line(notification);
                if !line.is_empty() {
                    ctx.progress(line);
                }
            }
        });
        let (question_tx, questions) = mpsc::channel(1);
        let options = CallOptions {
            timeouts: client.timeouts,
            on_progress: Some(on_progress),
            question_tx: Some(question_tx),
        };
        let effects = &self.spec.effects;
        let idempotent = effects.read_only || effects.idempotent;
        let permit = PermitSlot::default();
        let policy = CallPolicy { options, idempotent, permit: Arc::clone(&permit) };
        let deadline = Instant::now() + client.timeouts.total;
        let plan = self.plan.clone();
        let response = async move { client.call(&plan, &arguments, &policy).await };
        RunningCall {
            response: Box::pin(response),
            questions,
            reply_to: None,
            used_inputs: 0,
            ctx: progress_ctx,
            permit,
            deadline,
        }
    }

    /// Keeps a call until its elicitation is answered or it expires.
    fn suspend(&self, key: String, running: RunningCall) {
        let deadline = running.deadline;
        drop(unpoisoned(running.permit.lock()).take());
        unpoisoned(self.waiting_calls.lock()).insert(key, running);
        let waiting_calls = Arc::downgrade(&self.waiting_calls);
        tokio::spawn(async move {
            sleep_until(deadline).await;
            if let Some(waiting_calls) = waiting_calls.upgrade() {
                unpoisoned(waiting_calls.lock()).remove_expired();
            }
        });
    }

    /// Returns the key of a call. The key is the same if the call is repeated with input, and distinct for every
    /// other caller.
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
    /// are ignored. Tools that cannot be offered to a model are omitted; [`left_out`](McpClient::rejected_tools) lists
    /// them.
    ///
    /// # Errors
    ///
    /// Returns an error if the list cannot be fetched.
    pub async fn tools(&self) -> Result<Vec<Arc<dyn AgentTool>>, ToolError> {
        let tool_list = self.0.tool_list().await.map_err(|error| self.0.redacted(error))?;
        let adapted = mcp::tools(&self.0.server, &tool_list.tools, false).into_iter().flatten();
        let tools = adapted.filter_map(|adapted| McpTool::new(&adapted.tool.into(), self.clone()));
        Ok(tools.map(|tool| Arc::new(tool) as Arc<dyn AgentTool>).collect())
    }
}

/// Continues a call until it returns a result or an elicitation.
async fn step(running: &mut RunningCall) -> Step {
    poll_fn(|cx| {
        if let Poll::Ready(response) = running.response.as_mut().poll(cx) {
            return Poll::Ready(Step::Response(response));
        }
        match running.questions.poll_recv(cx) {
            Poll::Ready(Some(question)) => {
                running.reply_to = Some(question.reply_to);
                Poll::Ready(Step::Question(question.request))
            }
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    })
    .await
}

/// Renders a progress notification as a line: `3/10 copying`.
pub(super) fn progress_line(notification: &Value) -> String {
    let number = |name: &str| notification.get(name).filter(|value| value.is_number()).map(Value::to_string);
    let mut line = number("progress").unwrap_or_default();
    if let Some(total) = number("total") {
        line.push('/');
        line.push_str(&total);
    }
    if let Some(message) = notification.get("message").and_then(Value::as_str) {
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
