//! An `rmcp` server on the loopback interface.

use std::sync::atomic::{AtomicBool, AtomicUsize};

use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig, SubscriptionFilter,
    Tool,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, RoleServer, SubscriptionContext};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::sync::watch;
use toolgen_runtime::List;

use crate::prelude::*;

/// The tested protocol versions: one with and one without sessions.
pub(crate) const ERAS: [&str; 2] = ["2026-07-28", "2025-11-25"];

/// State of the server, and what it has seen.
pub(crate) struct World {
    pub(crate) url: String,
    pub(crate) sessions: Arc<LocalSessionManager>,
    pub(crate) connections: Arc<AtomicUsize>,
    seen: Arc<Seen>,
}

struct Seen {
    calls: AtomicUsize,
    cancelled: AtomicUsize,
    extra: AtomicBool,
    changes: watch::Sender<u64>,
    listening: AtomicUsize,
    peers: Mutex<Vec<Peer<RoleServer>>>,
}

struct Handler(Arc<Seen>);

impl World {
    pub(crate) async fn start(json_response: bool) -> World {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let seen = Arc::new(Seen {
            calls: AtomicUsize::new(0),
            cancelled: AtomicUsize::new(0),
            extra: AtomicBool::new(false),
            changes: watch::channel(0).0,
            listening: AtomicUsize::new(0),
            peers: Mutex::default(),
        });
        let (sessions, connections) = (Arc::<LocalSessionManager>::default(), Arc::<AtomicUsize>::default());
        let handled = Arc::clone(&seen);
        let factory = move || Ok(Handler(Arc::clone(&handled)));
        let config = StreamableHttpServerConfig::default().with_json_response(json_response);
        let config = config.with_sse_keep_alive(Some(Duration::from_millis(50)));
        let service = StreamableHttpService::new(factory, Arc::clone(&sessions), config);
        let counted = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::Relaxed);
                let service = TowerToHyperService::new(service.clone());
                let serving = hyper::server::conn::http1::Builder::new();
                let serving = serving.serve_connection(TokioIo::new(stream), service);
                tokio::spawn(async move { drop(serving.await) });
            }
        });
        World { url, sessions, connections, seen }
    }

    pub(crate) fn server(&self, revision: &'static str) -> McpServer {
        let transport =
            McpTransport::Http { url: self.url.clone().into(), headers: List::EMPTY, bearer: Text::EMPTY };
        McpServer { alias: "docs".into(), transport, revision: revision.into(), ..McpServer::EMPTY }
    }

    pub(crate) async fn client(&self, revision: &'static str) -> McpClient {
        McpClient::connect(self.server(revision), open()).await.unwrap()
    }

    pub(crate) fn calls(&self) -> usize {
        self.seen.calls.load(Ordering::Relaxed)
    }

    pub(crate) fn cancelled(&self) -> usize {
        self.seen.cancelled.load(Ordering::Relaxed)
    }

    /// Waits until a client has subscribed to changes, and adds a tool.
    pub(crate) async fn change(&self) {
        let seen = &self.seen;
        eventually("nobody listens", async || {
            seen.listening.load(Ordering::Relaxed) > 0 || !seen.peers.lock().unwrap().is_empty()
        })
        .await;
        seen.extra.store(true, Ordering::Relaxed);
        seen.changes.send_modify(|changes| *changes += 1);
        let peers = seen.peers.lock().unwrap().clone();
        for peer in peers {
            peer.notify_tool_list_changed().await.unwrap();
        }
    }
}

pub(crate) fn open() -> McpOptions {
    McpOptions::new().private_host("127.0.0.1")
}

pub(crate) async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), waiting).await.unwrap_or_else(|_| panic!("{what}"));
}

/// Calls a tool and returns its text.
pub(crate) async fn told(client: &McpClient, tool: &str, arguments: Value) -> String {
    let arguments: Map<String, Value> = serde_json::from_value(arguments).unwrap();
    let result = client.call(tool, arguments).await.unwrap();
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

fn tool(name: &'static str, properties: &Value) -> Tool {
    let schema = json!({"type": "object", "properties": properties});
    Tool::new(name, format!("The tool {name}."), Arc::new(serde_json::from_value(schema).unwrap()))
}

fn text(text: impl Into<String>) -> Result<CallToolResponse, ErrorData> {
    Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
}

/// Counts a call that ends without a response.
struct Unfinished<'s>(&'s Seen, bool);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if !self.1 {
            self.0.cancelled.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl rmcp::ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        (name == "deploy")
            .then(|| tool("deploy", &json!({"region": {"type": "string", "x-mcp-header": "Region"}})))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut tools = vec![
            tool("echo", &json!({"text": {"type": "string"}})),
            tool("work", &json!({"steps": {"type": "integer"}, "ms": {"type": "integer"}})),
            tool("fail", &json!({})),
            tool("roots", &json!({})),
            tool("badly-marked", &json!({"n": {"type": "number", "x-mcp-header": "N"}})),
        ];
        tools.extend(self.get_tool("deploy"));
        if self.0.extra.load(Ordering::Relaxed) {
            tools.push(tool("extra", &json!({})));
        }
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.0.calls.fetch_add(1, Ordering::Relaxed);
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let word = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
        match request.name.as_ref() {
            "echo" => text(word("text")),
            "deploy" => text(word("region")),
            "fail" => Ok(CallToolResult::error(vec![ContentBlock::text("it failed")]).into()),
            #[expect(deprecated, reason = "the simplest request that a server has")]
            "roots" => match context.peer.list_roots().await {
                Ok(roots) => text(roots.roots[0].uri.clone()),
                Err(cause) => text(format!("no roots: {cause}")),
            },
            "work" => {
                let mut whole = Unfinished(&self.0, false);
                let token = context.meta.get_progress_token();
                for step in 0..arguments["steps"].as_u64().unwrap_or_default() {
                    let pause = Duration::from_millis(arguments["ms"].as_u64().unwrap_or_default());
                    if context.ct.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
                        return text("cancelled");
                    }
                    if let Some(token) = &token {
                        let progress = ProgressNotificationParam::new(token.clone(), step as f64 + 1.0);
                        drop(context.peer.notify_progress(progress).await);
                    }
                }
                whole.1 = true;
                text("done")
            }
            other => Err(ErrorData::invalid_params(format!("there is no tool `{other}`"), None)),
        }
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.0.peers.lock().unwrap().push(context.peer);
    }

    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.0.changes.subscribe();
        self.0.listening.fetch_add(1, Ordering::Relaxed);
        let message = async {
            while changes.changed().await.is_ok()
                && subscription.sink().notify_tool_list_changed().await.is_ok()
            {}
        };
        tokio::select! {
            () = subscription.cancelled() => {}
            () = message => {}
        }
        self.0.listening.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }
}
