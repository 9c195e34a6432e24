//! Implements the `rmcp` server handler: one handler per connection or session.

use std::pin::pin;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use axum::http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorData, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use serde_json::Value;
use tokio_util::sync::{CancellationToken, DropGuard};
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::call::principal::Principal;
use toolgen_kernel::call::session::Session;
use toolgen_kernel::spec::ToolSpec;
use toolgen_wire::WireFormat;

use super::call::{self, Caller};
use super::client_values::ClientValues;
use super::slots::Slot;
use super::{SharedState, invalid_request};

/// The prefix of cursors, to detect other text.
const CURSOR_PREFIX: &str = "after ";

/// Serves one connection, one session, or one self-contained request.
pub(super) struct Handler {
    pub(super) state: SharedState,
    session: Session,
    /// The principal of the session: the principal of its first request.
    owner: OnceLock<Option<Text>>,
    is_watching: AtomicBool,
    /// Fires when the client's input has ended, or the connection is closed.
    closed: CancellationToken,
    _close_guard: DropGuard,
}

/// Extension of requests over HTTP: fires when the client ends the session.
#[derive(Clone)]
pub(super) struct SessionEnded(pub(super) CancellationToken);

impl Handler {
    pub(super) fn new(state: SharedState) -> Handler {
        /// The number of the next session, which distinguishes the sessions of a process in audit records.
        static SESSIONS: AtomicU64 = AtomicU64::new(1);
        let closed = CancellationToken::new();
        Handler {
            state,
            session: Session::new(format!("mcp-{}", SESSIONS.fetch_add(1, Ordering::Relaxed))),
            owner: OnceLock::new(),
            is_watching: AtomicBool::new(false),
            _close_guard: closed.clone().drop_guard(),
            closed,
        }
    }

    /// Returns the token that fires when the connection is closed, or the client's input has ended.
    pub(super) fn closed(&self) -> &CancellationToken {
        &self.closed
    }

    /// Returns the caller of a request.
    ///
    /// # Errors
    ///
    /// Returns an error if the session belongs to another principal.
    pub(super) fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        let parts = context.extensions.get::<Parts>();
        let principal = parts.and_then(|parts| parts.extensions.get::<Principal>()).cloned();
        let id = principal.as_ref().map(|principal| principal.id.clone());
        if *self.owner.get_or_init(|| id.clone()) != id {
            return Err(ErrorData::invalid_request("This session belongs to another caller.", None));
        }
        let version = context.protocol_version();
        let is_stateless = version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        // Over HTTP, each stateless request has its own handler, so a session could not be resumed.
        let session = (!is_stateless || parts.is_none()).then(|| self.session.clone());
        let session_ended = parts.and_then(|parts| parts.extensions.get::<SessionEnded>());
        let session_ended = session_ended.map(|SessionEnded(token)| token.clone()).unwrap_or_default();
        Ok(Caller { principal, session, is_stateless, input_ended: self.closed.clone(), session_ended })
    }

    /// Returns the page of tools after a cursor.
    fn list_page(&self, caller: &Caller, cursor: Option<&str>) -> Result<ListToolsResult, ErrorData> {
        let after = match cursor.map(|cursor| cursor.strip_prefix(CURSOR_PREFIX)) {
            None => "",
            Some(Some(name)) => name,
            Some(None) => {
                let text =
                    "Invalid cursor: pass `nextCursor` of the previous page, or no cursor for the first page";
                return Err(ErrorData::invalid_params(text, None));
            }
        };
        let toolbox = self.state.tools.toolbox();
        // Sorted by name, so that a list that changes between two pages lists no tool twice.
        let mut specs =
            toolbox.specs_for(caller.principal.as_ref()).filter(|spec| spec.name.as_str() > after);
        let page: Vec<&ToolSpec> = specs.by_ref().take(self.state.page_size).collect();
        let has_more = specs.next().is_some();
        let next_cursor =
            page.last().filter(|_| has_more).map(|last| format!("{CURSOR_PREFIX}{}", last.name.as_str()));
        let (cache, values) = (&self.state.tools.0.descriptors, &self.state.client_values);
        let page =
            page.into_iter().map(|spec| cache.get_or_render(spec, |spec| render_descriptor(spec, values)));
        let mut result = ListToolsResult::with_all_items(page.collect::<Result<_, _>>()?);
        result.next_cursor = next_cursor;
        Ok(result)
    }
}

/// Renders the descriptor of a tool.
fn render_descriptor(spec: &ToolSpec, values: &ClientValues) -> Result<Tool, ErrorData> {
    let to_error = |reason: &dyn std::fmt::Display| {
        ErrorData::internal_error(format!("The tools cannot be described: {reason}"), None)
    };
    let mut list = WireFormat::Mcp.tools([spec]).map_err(|error| to_error(&error))?;
    let mut tool = list.pointer_mut("/tools/0").map_or(Value::Null, Value::take);
    values.describe(spec, &mut tool);
    serde_json::from_value(tool).map_err(|error| to_error(&error))
}

impl rmcp::ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.state.info.clone()
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let caller = self.caller(&context)?;
        let cursor = request.and_then(|request| request.cursor);
        self.list_page(&caller, cursor.as_deref())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = self.caller(&context)?;
        let _permit = self.state.calls.acquire(caller.principal.as_ref().map(|principal| &principal.id))?;
        if let Some(slot) = context.extensions.get::<Slot>() {
            slot.release();
        }
        let response = {
            let mut response = pin!(call::handle_call(&self.state, &caller, request, &context));
            tokio::select! {
                biased;
                response = &mut response => response,
                () = caller.session_ended.cancelled() => {
                    context.ct.cancel();
                    response.await
                }
            }
        };
        self.state.tools.notify_if_changed();
        response
    }

    /// Answers requests that `rmcp` could not parse as requests of the protocol.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(invalid_request::invalid_params(&request.method, request.params.as_ref()))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if self.is_watching.swap(true, Ordering::Relaxed) {
            return;
        }
        let (mut changes, closed, peer) = (self.state.tools.changes(), self.closed.clone(), context.peer);
        tokio::spawn(closed.run_until_cancelled_owned(async move {
            while changes.changed().await.is_ok() && peer.notify_tool_list_changed().await.is_ok() {}
        }));
    }

    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.state.tools.changes();
        let notifications = async {
            // The filter may have removed the only supported notification.
            let is_requested = subscription.accepted().tools_list_changed == Some(true);
            while changes.changed().await.is_ok() {
                if is_requested && subscription.sink().notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        };
        tokio::select! {
            () = subscription.cancelled() => {}
            // The response tells the client that no more notifications follow.
            () = self.closed.cancelled() => {}
            () = notifications => {}
        }
        Ok(())
    }
}
