//! The client of the `rmcp` crate alone.

use std::time::Duration;

use rmcp::model::CallToolRequestParams;
use rmcp::service::{Peer as Calls, RoleClient, RunningService};
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};

use crate::{Peer, TEXT, tasks, timed};

pub(crate) struct Rmcp(RunningService<RoleClient, ()>);

impl Rmcp {
    pub(crate) async fn start(server: &[String]) -> Rmcp {
        let mut command = tokio::process::Command::new(&server[0]);
        command.args(&server[1..]);
        let (process, _) =
            TokioChildProcess::builder(command).stderr(std::process::Stdio::null()).spawn().unwrap();
        Rmcp(rmcp::serve_client((), process).await.unwrap())
    }
}

async fn call(peer: &Calls<RoleClient>) -> String {
    let Value::Object(arguments) = json!({ "message": TEXT }) else { unreachable!() };
    let params = CallToolRequestParams::new("echo").with_arguments(arguments);
    let result = peer.call_tool(params).await.unwrap();
    let text = &result.content[0].as_text().unwrap().text;
    text.strip_prefix("Echo: ").unwrap_or(text).to_owned()
}

impl Peer for Rmcp {
    async fn calls(&self, count: usize, each: usize) -> Vec<Duration> {
        tasks(count, || {
            let peer = self.0.peer().clone();
            async move {
                let mut times = Vec::with_capacity(each);
                for _ in 0..each {
                    times.push(timed(call(&peer)).await);
                }
                times
            }
        })
        .await
    }
}
