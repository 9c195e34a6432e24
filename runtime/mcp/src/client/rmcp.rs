//! For programs with an `rmcp` client: the tools of its server as tools of this crate.

mod progress;

use std::collections::BTreeSet;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use ::rmcp::ServiceError;
use ::rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ErrorCode, PaginatedRequestParams,
};
use ::rmcp::service::{Peer, PeerRequestOptions, RequestHandle, RoleClient};
use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::content;
use toolgen_kernel::base::frozen::Frozen;
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::result::ToolResult;
use toolgen_kernel::call::tool::AgentTool;
use toolgen_kernel::spec::ToolSpec;
use toolgen_kernel::spec::mcp;
use toolgen_kernel::spec::plan::{ExecutionPlan, McpServer};

pub use progress::Progress;

/// Maximum number of pages of a list.
const MAX_PAGES: usize = 100;

/// Timeout of listing tools.
const LIST_TIMEOUT: Duration = Duration::from_secs(60);

/// Lists the tools of a server and returns them as `alias__tool`, like [`McpClient::tools`](super::McpClient::tools):
/// without a lock, so each tool is assumed to be destructive, and without tools that cannot be offered to a model.
/// The client must stay connected while the tools are in use.
///
/// A cancelled call is cancelled at the server. Notifications of the server go to the client's handler, which
/// forwards progress to the calls if it has their [`Progress`]: see [`tools_with_progress`]. It must also respond to requests of
/// the server within a session. If the server responds to a call with an input request or a task, the call fails.
///
/// ```no_run
/// # async fn connect(transport: rmcp::transport::StdioReader, out: rmcp::transport::StdioWriter)
/// #     -> Result<(), Box<dyn std::error::Error>> {
/// use toolgen_runtime::Registry;
/// use toolgen_runtime::engine::mcp::rmcp::tools;
///
/// let client = rmcp::serve_client((), (transport, out)).await?;
/// let registry = Registry::new(tools("files", client.peer()).await?)?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns an error if the list does not arrive within a minute, or does not end.
pub async fn tools(alias: &str, peer: &Peer<RoleClient>) -> Result<Vec<Arc<dyn AgentTool>>, ToolError> {
    tools_with_progress(alias, peer, &Progress::new()).await
}

/// Like [`tools`], but the calls report the progress that the client's handler forwards to `progress`.
///
/// ```no_run
/// # async fn connect(transport: rmcp::transport::StdioReader, out: rmcp::transport::StdioWriter)
/// #     -> Result<(), Box<dyn std::error::Error>> {
/// use toolgen_runtime::engine::mcp::rmcp::{Progress, tools_with_progress};
///
/// let progress = Progress::new();
/// let client = rmcp::serve_client(progress.clone(), (transport, out)).await?;
/// let tools = tools_with_progress("files", client.peer(), &progress).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// As for [`tools`].
pub async fn tools_with_progress(
    alias: &str,
    peer: &Peer<RoleClient>,
    progress: &Progress,
) -> Result<Vec<Arc<dyn AgentTool>>, ToolError> {
    let descriptors = tokio::time::timeout(LIST_TIMEOUT, list(alias, peer)).await;
    let descriptors = descriptors.map_err(|_| ToolError::Timeout { duration: LIST_TIMEOUT })??;
    let descriptors: Vec<Value> =
        mcp::distinct(&descriptors).into_iter().map(|(_, descriptor)| descriptor).collect();
    let server = Frozen::from(McpServer { alias: alias.to_owned().into(), ..McpServer::EMPTY });
    let tools = mcp::tools(&server, &descriptors, false).into_iter().flatten().filter_map(|adapted| {
        let ExecutionPlan::Mcp(plan) = adapted.tool.call else { return None };
        let (alias, tool) = (alias.to_owned(), plan.tool.to_string());
        let (spec, peer, progress) = (adapted.tool.spec, peer.clone(), progress.clone());
        Some(Arc::new(RmcpTool { spec, alias, tool, peer, progress }) as Arc<dyn AgentTool>)
    });
    Ok(tools.collect())
}

/// Returns all pages of the list.
async fn list(alias: &str, peer: &Peer<RoleClient>) -> Result<Vec<Value>, ToolError> {
    let (mut descriptors, mut cursors, mut cursor) = (Vec::new(), BTreeSet::new(), None);
    for _ in 0..MAX_PAGES {
        let params = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        let page = peer.list_tools(params).await.map_err(|error| rejection(alias, &error))?;
        descriptors.extend(page.tools.iter().map(|tool| json!(tool)));
        let Some(next) = page.next_cursor else { return Ok(descriptors) };
        if !cursors.insert(next.clone()) {
            return Err(rejection(alias, &"its list of tools repeats itself"));
        }
        cursor = Some(next);
    }
    Err(rejection(alias, &format!("its list of tools has more than {MAX_PAGES} pages")))
}

fn rejection(alias: &str, reason: &dyn Display) -> ToolError {
    ToolError::failed_with("MCP_REFUSED", format!("the MCP server `{alias}`: {reason}"))
}

/// A tool of a server that is connected to an `rmcp` client.
struct RmcpTool {
    spec: ToolSpec,
    alias: String,
    /// The name of the tool at the server.
    tool: String,
    peer: Peer<RoleClient>,
    progress: Progress,
}

/// A pending request. Dropping it before the response cancels the request at the server.
struct PendingRequest(Option<RequestHandle<RoleClient>>);

impl Drop for PendingRequest {
    fn drop(&mut self) {
        if let (Some(request), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(request.cancel(Some("the request was cancelled".to_owned())));
        }
    }
}

impl RmcpTool {
    /// Sends a call and returns the response, of any kind.
    async fn call(&self, call: CallToolRequestParams, ctx: &ToolContext) -> Result<Value, ServiceError> {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(call));
        let request = self.peer.send_request_with_option(request, PeerRequestOptions::no_options()).await?;
        let _registration = self.progress.register(request.progress_token.clone(), ctx);
        let mut pending = PendingRequest(Some(request));
        let Some(request) = &mut pending.0 else { return Err(ServiceError::TransportClosed) };
        let response = (&mut request.rx).await;
        pending.0 = None;
        response.unwrap_or(Err(ServiceError::TransportClosed)).map(|response| json!(response))
    }
}

impl AgentTool for RmcpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute<'a>(
        &'a self,
        params: Value,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move {
            let mut call = CallToolRequestParams::new(self.tool.clone());
            if let Value::Object(arguments) = params {
                call = call.with_arguments(arguments);
            }
            match self.call(call, ctx).await {
                Ok(result) => match result["resultType"].as_str() {
                    None | Some("complete") => content::result(&self.spec, result),
                    Some(_) => Err(rejection(
                        &self.alias,
                        &"it responded with a type that this client does not support",
                    )),
                },
                Err(ServiceError::McpError(error)) if error.code == ErrorCode::INVALID_PARAMS => {
                    Err(ToolError::invalid_args(error.message))
                }
                Err(error) => Err(rejection(&self.alias, &error)),
            }
        })
    }
}
