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
use super::{Served, invalid_request};

/// The prefix of cursors, to detect other text.
const CURSOR: &str = "after ";

/// Serves one connection, one session, or one self-contained request.
pub(super) struct Handler {
    pub(super) served: Served,
    session: Session,
    /// The principal of the session: that of its first request.
    owner: OnceLock<Option<Text>>,
    watches: AtomicBool,
    /// Fires when the client's input has ended, or the connection is closed.
    over: CancellationToken,
    _ends: DropGuard,
}

/// Extension of requests over HTTP: fires when the client ends the session.
#[derive(Clone)]
pub(super) struct Ended(pub(super) CancellationToken);

impl Handler {
    pub(super) fn new(served: Served) -> Handler {
        /// The number of the next session, which distinguishes the sessions of a process in audit records.
        static SESSIONS: AtomicU64 = AtomicU64::new(1);
        let over = CancellationToken::new();
        Handler {
            served,
            session: Session::new(format!("mcp-{}", SESSIONS.fetch_add(1, Ordering::Relaxed))),
            owner: OnceLock::new(),
            watches: AtomicBool::new(false),
            _ends: over.clone().drop_guard(),
            over,
        }
    }

    /// Returns the token that fires when the connection is closed, or the client's input has ended.
    pub(super) fn over(&self) -> &CancellationToken {
        &self.over
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
        let stands_alone = version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        // Over HTTP, such a request has its own handler, so a session could not be resumed.
        let session = (!stands_alone || parts.is_none()).then(|| self.session.clone());
        let ended = parts.and_then(|parts| parts.extensions.get::<Ended>());
        let ended = ended.map(|Ended(token)| token.clone()).unwrap_or_default();
        Ok(Caller { principal, session, stands_alone, gone: self.over.clone(), ended })
    }

    /// Returns the page of tools after a cursor.
    fn page(&self, caller: &Caller, cursor: Option<&str>) -> Result<ListToolsResult, ErrorData> {
        let after = match cursor.map(|cursor| cursor.strip_prefix(CURSOR)) {
            None => "",
            Some(Some(name)) => name,
            Some(None) => {
                let text =
                    "Invalid cursor: pass `nextCursor` of the previous page, or no cursor for the first page";
                return Err(ErrorData::invalid_params(text, None));
            }
        };
        let toolbox = self.served.tools.toolbox();
        // Sorted by name, so that a list that changes between two pages lists no tool twice.
        let mut specs =
            toolbox.specs_for(caller.principal.as_ref()).filter(|spec| spec.name.as_str() > after);
        let page: Vec<&ToolSpec> = specs.by_ref().take(self.served.page).collect();
        let more = specs.next().is_some();
        let next_cursor = page.last().filter(|_| more).map(|last| format!("{CURSOR}{}", last.name.as_str()));
        let (known, values) = (&self.served.tools.0.described, &self.served.client_values);
        let page = page.into_iter().map(|spec| known.of(spec, |spec| described(spec, values)));
        let mut result = ListToolsResult::with_all_items(page.collect::<Result<_, _>>()?);
        result.next_cursor = next_cursor;
        Ok(result)
    }
}

/// Renders the descriptor of a tool.
fn described(spec: &ToolSpec, values: &ClientValues) -> Result<Tool, ErrorData> {
    let failed = |reason: &dyn std::fmt::Display| {
        ErrorData::internal_error(format!("The tools cannot be described: {reason}"), None)
    };
    let mut listed = WireFormat::Mcp.tools([spec]).map_err(|error| failed(&error))?;
    let mut tool = listed.pointer_mut("/tools/0").map_or(Value::Null, Value::take);
    values.describe(spec, &mut tool);
    serde_json::from_value(tool).map_err(|error| failed(&error))
}

impl rmcp::ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.served.info.clone()
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let caller = self.caller(&context)?;
        let cursor = request.and_then(|request| request.cursor);
        self.page(&caller, cursor.as_deref())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = self.caller(&context)?;
        let _running = self.served.calls.begin(caller.principal.as_ref().map(|principal| &principal.id))?;
        if let Some(slot) = context.extensions.get::<Slot>() {
            slot.give_back();
        }
        let response = {
            let mut response = pin!(call::answer(&self.served, &caller, request, &context));
            tokio::select! {
                biased;
                response = &mut response => response,
                () = caller.ended.cancelled() => {
                    context.ct.cancel();
                    response.await
                }
            }
        };
        self.served.tools.look_again();
        response
    }

    /// Answers requests that `rmcp` could not parse as requests of the protocol.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(invalid_request::error(&request.method, request.params.as_ref()))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if self.watches.swap(true, Ordering::Relaxed) {
            return;
        }
        let (mut changes, over, peer) = (self.served.tools.changes(), self.over.clone(), context.peer);
        tokio::spawn(over.run_until_cancelled_owned(async move {
            while changes.changed().await.is_ok() && peer.notify_tool_list_changed().await.is_ok() {}
        }));
    }

    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.served.tools.changes();
        let notifying = async {
            // The filter may have removed the only supported notification.
            let wanted = subscription.accepted().tools_list_changed == Some(true);
            while changes.changed().await.is_ok() {
                if wanted && subscription.sink().notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        };
        tokio::select! {
            () = subscription.cancelled() => {}
            // The response tells the client that no more notifications follow.
            () = self.over.cancelled() => {}
            () = notifying => {}
        }
        Ok(())
    }
}
