//! Anthropic Messages: `https://api.anthropic.com`.

use std::error::Error;

use serde_json::Value;
use toolgen_runtime::Toolbox;
use toolgen_runtime::agent::agent_loop::{Agent, WireModel};
use toolgen_runtime::wire::WireFormat;

pub(crate) async fn ask(toolbox: &Toolbox, base: &str, key: &str) -> Result<String, Box<dyn Error>> {
    let client = reqwest::Client::new();
    let send = |request: Value| {
        let request = client
            .post(format!("{base}/v1/messages"))
            .header("x-api-key", key)
            .header("anthropic-version", "2023-06-01")
            .json(&request);
        async { request.send().await?.json().await }
    };
    let mut agent =
        Agent::new(WireModel::new(WireFormat::Anthropic, send).with_model("claude-sonnet-5-5"), toolbox);
    Ok(agent.run("What is 17 + 25?").await.text()?)
}
