//! An `rmcp` client over a pipe or HTTP, in either protocol era.

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams,
    ElicitResult, ElicitationAction, ElicitationCapability, FormElicitationCapability, Implementation,
    ProgressNotificationParam, ProtocolVersion, Tool,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData};
use tokio::net::TcpListener;

use crate::prelude::*;
use crate::serve::tools::object;

/// A protocol era: with or without sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    Sessions,
    Alone,
}

/// The transport between client and server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Pipe,
    Http,
}

/// Every transport in every era.
pub(crate) const ALL: [(Era, Way); 4] = [
    (Era::Sessions, Way::Pipe),
    (Era::Alone, Way::Pipe),
    (Era::Sessions, Way::Http),
    (Era::Alone, Way::Http),
];

/// How a client responds to elicitations.
#[derive(Clone, Default)]
pub(crate) enum Person {
    /// Declares no support for elicitation.
    #[default]
    Absent,
    Declines,
    Says(Value),
}

#[derive(Clone, Default)]
pub(crate) struct Handler {
    person: Person,
    /// The elicitations of the client.
    pub(crate) asked: Arc<Mutex<Vec<String>>>,
    pub(crate) progress: Arc<Mutex<Vec<(f64, String)>>>,
    pub(crate) changes: Arc<Mutex<usize>>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if !matches!(self.person, Person::Absent) {
            let forms = ElicitationCapability::new().with_form(FormElicitationCapability::default());
            capabilities.elicitation = Some(forms);
        }
        ClientConfig::new(capabilities, Implementation::new("test", "1"))
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.lock().unwrap().push((params.progress, params.message.unwrap_or_default()));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        *self.changes.lock().unwrap() += 1;
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let asked = serde_json::to_value(request).unwrap();
        self.asked.lock().unwrap().push(asked["message"].as_str().unwrap().to_owned());
        Ok(match &self.person {
            Person::Says(response) => {
                ElicitResult::new(ElicitationAction::Accept).with_content(response.clone())
            }
            _ => ElicitResult::new(ElicitationAction::Decline),
        })
    }
}

/// A connected client.
pub(crate) struct Client {
    pub(crate) running: RunningService<RoleClient, Handler>,
    pub(crate) handler: Handler,
}

/// Serves over HTTP and returns the URL.
pub(crate) async fn serve(server: Server) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(server.listen(listener));
    format!("http://{address}/mcp")
}

impl Client {
    pub(crate) async fn connect(server: Server, era: Era, way: Way) -> Client {
        Client::of(Person::Absent, server, era, way).await
    }

    pub(crate) async fn of(person: Person, server: Server, era: Era, way: Way) -> Client {
        if way == Way::Http {
            return Client::at(&serve(server).await, person, era, "").await.unwrap();
        }
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        tokio::spawn(server.serve(input, output));
        let handler = Handler { person, ..Handler::default() };
        let running = handler.clone().serve_with_lifecycle(ours, lifecycle(era)).await.unwrap();
        Client { running, handler }
    }

    /// Connects over HTTP, with a bearer token if it is not empty.
    pub(crate) async fn at(url: &str, person: Person, era: Era, token: &str) -> Result<Client, String> {
        // The HTTP client of these tests requires a cryptography provider even without TLS.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut config = StreamableHttpClientTransportConfig::with_uri(url);
        if !token.is_empty() {
            config = config.auth_header(token);
        }
        let transport = StreamableHttpClientTransport::from_config(config);
        let handler = Handler { person, ..Handler::default() };
        match handler.clone().serve_with_lifecycle(transport, lifecycle(era)).await {
            Ok(running) => Ok(Client { running, handler }),
            Err(error) => Err(format!("{error:?}")),
        }
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<CallToolResult, ServiceError> {
        self.running.call_tool(params(tool, arguments)).await
    }

    /// Calls a tool and returns the result as JSON.
    pub(crate) async fn result(&self, tool: &str, arguments: Value) -> Value {
        let mut result = json!(self.call(tool, arguments).await.unwrap());
        // Only the newer era has this member.
        result.as_object_mut().unwrap().remove("resultType");
        result
    }

    /// Calls a tool and returns the text of its result, and whether it is an error.
    pub(crate) async fn text(&self, tool: &str, arguments: Value) -> (String, bool) {
        let result = self.result(tool, arguments).await;
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        (text, result["isError"] == true)
    }

    pub(crate) async fn names(&self) -> Vec<String> {
        let tools: Vec<Tool> = self.running.list_all_tools().await.unwrap();
        tools.into_iter().map(|tool| tool.name.into_owned()).collect()
    }
}

pub(crate) fn params(tool: &str, arguments: Value) -> CallToolRequestParams {
    CallToolRequestParams::new(tool.to_owned()).with_arguments(object(arguments))
}

fn lifecycle(era: Era) -> ClientLifecycleMode {
    match era {
        Era::Sessions => ClientLifecycleMode::Initialize,
        Era::Alone => {
            ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
        }
    }
}

/// Waits until a condition holds.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..1_500 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never: {what}");
}
