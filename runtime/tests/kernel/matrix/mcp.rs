//! The target as a tool of an MCP server, which is a child process. The child is this test binary, which forwards
//! every line to the world of its cell.

use std::io::{Read, Write};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::tcp::OwnedWriteHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, oneshot};
use toolgen_runtime::Engines;
use toolgen_runtime::engine::mcp::{McpEngine, McpOptions};
use toolgen_runtime::spec::plan::{ExecutionPlan, McpPlan, McpServer, McpTransport, Tool};

use crate::matrix::evidence::{Ran, World, said, stem};
use crate::matrix::kinds::Tools;
use crate::prelude::*;

/// The variable with the address that the child forwards lines to.
const WORLD: &str = "MATRIX_WORLD";

/// A tool whose server records its requests.
pub(crate) async fn tools(world: Arc<World>) -> Tools {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(serve(socket, Arc::clone(&world)));
        }
    });
    let program = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    let server = McpServer {
        alias: "matrix".into(),
        transport: McpTransport::Stdio {
            argv: [program.as_str(), "--exact", "matrix::mcp::passes_lines_on", "--nocapture", "--quiet"]
                .map(|word| Text::from(word.to_owned()))
                .into_iter()
                .collect(),
            env: vec![(WORLD.into(), Text::from(address))].into(),
            inherit: vec![].into(),
            work_dir: Text::EMPTY,
        },
        revision: "2025-11-25".into(),
        capabilities: vec!["elicitation".into()].into(),
        ..McpServer::EMPTY
    };
    let plan = McpPlan { server: server.into(), tool: "target".into(), descriptor: Text::EMPTY };
    let engine = McpEngine::with_options(McpOptions::new().connect_timeout(Duration::from_secs(60)));
    // Started now, so that the start does not count towards the first call.
    engine.client(&plan.server).list_tools().await.unwrap();
    let tool = Tool { spec: crate::matrix::kinds::spec(), call: ExecutionPlan::Mcp(plan) };
    Engines::new().with(engine).tools_from([tool]).unwrap()
}

/// Acts as the server if started as one, and otherwise does nothing. Clients tolerate the output of the test harness.
#[test]
fn passes_lines_on() {
    let Ok(address) = std::env::var(WORLD) else { return };
    let mut there = std::net::TcpStream::connect(address).unwrap();
    let mut back = there.try_clone().unwrap();
    std::thread::spawn(move || {
        let mut out = std::io::stdout();
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = back.read(&mut bytes) {
            out.write_all(&bytes[..count]).unwrap();
            out.flush().unwrap();
        }
        std::process::exit(1);
    });
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = std::io::stdin().read(&mut bytes) {
        there.write_all(&bytes[..count]).unwrap();
    }
    std::process::exit(0);
}

type Out = Arc<Mutex<OwnedWriteHalf>>;

async fn say(out: &Out, message: Value) {
    // A client that is gone receives nothing.
    let _ = out.lock().await.write_all(format!("{message}\n").as_bytes()).await;
}

async fn serve(socket: TcpStream, world: Arc<World>) {
    let (input, output) = socket.into_split();
    let (mut lines, out) = (BufReader::new(input).lines(), Arc::new(Mutex::new(output)));
    let mut asked: Option<oneshot::Sender<Value>> = None;
    while let Ok(Some(line)) = lines.next_line().await {
        let mut message: Value = serde_json::from_str(&line).unwrap();
        let id = message["id"].take();
        let result = match message["method"].as_str() {
            None => {
                asked.take().map(|asked| asked.send(message["result"].take()));
                continue;
            }
            Some("initialize") => {
                json!({"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {}})
            }
            Some("tools/list") => json!({"tools": []}),
            Some("tools/call") => {
                let (tell, described) = oneshot::channel();
                let (world, out) = (Arc::clone(&world), Arc::clone(&out));
                if stem(message["params"]["arguments"]["path"].as_str().unwrap()) == "/ask" {
                    asked = Some(tell);
                }
                tokio::spawn(async move { target(&world, &out, &id, &message["params"], described).await });
                continue;
            }
            Some(_) => continue,
        };
        say(&out, json!({"jsonrpc": "2.0", "id": id, "result": result})).await;
    }
}

async fn target(world: &World, out: &Out, id: &Value, params: &Value, described: oneshot::Receiver<Value>) {
    let given = &params["arguments"];
    let text = |name: &str| given[name].as_str().unwrap_or_default();
    let (path, all) = (text("path"), format!("{}{}", text("note"), text("pin")));
    if stem(path) == "/slow" {
        return;
    }
    world.ran.lock().unwrap().push(Ran { path: path.to_owned(), note: text("note").to_owned() });
    let progress = json!({
        "progressToken": params["_meta"]["progressToken"], "progress": 1, "message": format!("working with {all}"),
    });
    say(out, json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress})).await;
    let mut is_error = false;
    let output = match stem(path) {
        // The server exits.
        "/panic" => return drop(out.lock().await.shutdown().await),
        // The service failed: a failure that the tool reports is a result.
        "/fail" => {
            let error = json!({"code": -32603, "message": format!("it broke at {all}")});
            return say(out, json!({"jsonrpc": "2.0", "id": id, "error": error})).await;
        }
        "/ask" => {
            let sure = json!({"type": "object", "properties": {"sure": {"type": "boolean"}}});
            let question = json!({"message": "Sure?", "requestedSchema": sure});
            let request =
                json!({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": question});
            say(out, request).await;
            let Ok(response) = described.await else { return };
            is_error = response["action"] != "accept";
            said(path, &all)
        }
        path => said(path, &all),
    };
    let result = json!({"content": [{"type": "text", "text": output}], "isError": is_error});
    say(out, json!({"jsonrpc": "2.0", "id": id, "result": result})).await;
}
