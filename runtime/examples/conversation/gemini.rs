//! Google Gemini: `https://generativelanguage.googleapis.com`. The model is part of the URL.

use std::error::Error;

use serde_json::Value;
use toolgen_runtime::Toolbox;
use toolgen_runtime::agent::agent_loop::{Agent, WireModel};
use toolgen_runtime::wire::WireFormat;

pub(crate) async fn ask(toolbox: &Toolbox, base: &str, key: &str) -> Result<String, Box<dyn Error>> {
    let client = reqwest::Client::new();
    let send = |request: Value| {
        let request = client
            .post(format!("{base}/v1beta/models/gemini-3-pro:generateContent"))
            .header("x-goog-api-key", key)
            .json(&request);
        async { request.send().await?.json().await }
    };
    let mut agent =
        Agent::new(WireModel::new(WireFormat::Gemini, send).with_system("Use the tools."), toolbox);
    Ok(agent.run("What is 17 + 25?").await.text()?)
}
