//! The client for the conformance suite of the Model Context Protocol: it lists the tools of a server and calls each
//! of them. The last argument is the URL of the server.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program for tests")]

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use toolgen_runtime::engine::http::Secret;
use toolgen_runtime::engine::mcp::{McpClient, McpOAuth, McpOptions};
use toolgen_runtime::spec::plan::{McpServer, McpTransport};
use toolgen_runtime::{List, Text, ToolError};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let url = std::env::args().next_back().unwrap();
    let read = |name: &str| std::env::var(name).unwrap_or_default();
    let context: Value = serde_json::from_str(&read("MCP_CONFORMANCE_CONTEXT")).unwrap_or_default();
    let transport = McpTransport::Http { url: url.into(), headers: List::EMPTY, bearer: Text::EMPTY };
    let server = McpServer {
        alias: "tested".into(),
        transport,
        revision: read("MCP_CONFORMANCE_PROTOCOL_VERSION").into(),
        capabilities: vec!["elicitation".into(), "sampling".into()].into(),
        ..McpServer::EMPTY
    };
    let accept = |params: &Value| json!({"action": "accept", "content": defaults(params)});
    let options = McpOptions::new()
        .private_host("localhost")
        .private_host("127.0.0.1")
        .connect_timeout(Duration::from_secs(20))
        .elicitation(move |asked| async move { Ok(accept(&asked.params)) })
        .tokens("tested", tokens(&context));
    if let Err(error) = talk(server, options, &context).await {
        println!("{error}");
        std::process::exit(1);
    }
}

async fn talk(server: McpServer, options: McpOptions, context: &Value) -> Result<(), ToolError> {
    let client = McpClient::connect(server, options).await?;
    let tools = client.list_tools().await?;
    let own = context["toolCalls"].as_array().cloned();
    let calls = own.unwrap_or_else(|| {
        let call = |tool: &Value| json!({"name": tool["name"], "arguments": arguments(&tool["inputSchema"])});
        tools.iter().map(call).collect()
    });
    for call in calls {
        let name = call["name"].as_str().unwrap_or_default();
        let arguments: Map<String, Value> = call["arguments"].as_object().cloned().unwrap_or_default();
        match client.call(name, arguments).await {
            Ok(result) => println!("{name}: {result}"),
            Err(error) => println!("{name}: {error}"),
        }
    }
    client.close().await;
    Ok(())
}

/// Returns the credentials of the program if the suite has no browser, or else the consent of a person who agrees.
fn tokens(context: &Value) -> McpOAuth {
    let word = |name: &str| context[name].as_str().map(str::to_owned);
    let secret = word("client_secret").map(Secret::new);
    match (context["name"].as_str(), word("client_id"), secret) {
        (Some("auth/client-credentials-basic"), Some(id), Some(secret)) => {
            McpOAuth::credentials(id, secret).any_token_url()
        }
        (_, id, secret) => {
            let tokens = McpOAuth::consent("http://localhost:3000/callback", agree);
            let tokens = tokens.client_document("https://conformance-test.local/client-metadata.json");
            match id {
                Some(id) => tokens.client(id, secret).any_token_url(),
                None => tokens,
            }
        }
    }
}

/// Follows the browser's first redirect.
async fn agree(url: String) -> Result<String, String> {
    let message = |error: std::io::Error| error.to_string();
    let parts = url.strip_prefix("http://").and_then(|rest| rest.split_once('/'));
    let (host, path) = parts.ok_or("no path in the URL")?;
    let mut stream = TcpStream::connect(host).await.map_err(message)?;
    let request = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.map_err(message)?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await.map_err(message)?;
    let mut headers = text.lines().filter_map(|line| line.split_once(": "));
    let location = headers.find(|(name, _)| name.eq_ignore_ascii_case("location"));
    location.map(|(_, url)| url.to_owned()).ok_or_else(|| text.clone())
}

/// Generates arguments of the types that a schema requires.
fn arguments(schema: &Value) -> Value {
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let value = |schema: &Value| match schema["type"].as_str() {
        Some("integer" | "number") => json!(3),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("text"),
    };
    properties.iter().map(|(name, schema)| (name.clone(), value(schema))).collect()
}

/// Returns the defaults of a form.
fn defaults(params: &Value) -> Value {
    let properties = params["requestedSchema"]["properties"].as_object().cloned().unwrap_or_default();
    let defaults = properties.into_iter().filter_map(|(name, mut schema)| match schema["default"].take() {
        Value::Null => None,
        default => Some((name, default)),
    });
    defaults.collect()
}
