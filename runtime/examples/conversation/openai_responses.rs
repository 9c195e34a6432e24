//! OpenAI Responses: `https://api.openai.com`.

use std::error::Error;

use serde_json::Value;
use toolgen_runtime::Toolbox;
use toolgen_runtime::agent::agent_loop::{Agent, WireModel};
use toolgen_runtime::wire::WireFormat;

pub(crate) async fn ask(toolbox: &Toolbox, base: &str, key: &str) -> Result<String, Box<dyn Error>> {
    let client = reqwest::Client::new();
    let send = |request: Value| {
        let request = client.post(format!("{base}/v1/responses")).bearer_auth(key).json(&request);
        async { request.send().await?.json().await }
    };
    let mut agent =
        Agent::new(WireModel::new(WireFormat::OpenAiResponses, send).with_model("gpt-5.1"), toolbox);
    Ok(agent.run("What is 17 + 25?").await.text()?)
}
