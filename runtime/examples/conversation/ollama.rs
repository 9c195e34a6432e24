//! Ollama: `http://localhost:11434`, which needs no key and streams lines of JSON. Text is printed as it arrives.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;

use serde_json::Value;
use toolgen_runtime::Toolbox;
use toolgen_runtime::agent::agent_loop::{Agent, WireModel};
use toolgen_runtime::wire::{Stream, WireFormat};

pub(crate) async fn ask(toolbox: &Toolbox, base: &str, _: &str) -> Result<String, Box<dyn Error>> {
    let client = reqwest::Client::new();
    let send = async |request: Value, mut stream: Stream| {
        let mut reply = client.post(format!("{base}/api/chat")).json(&request).send().await?;
        while let Some(bytes) = reply.chunk().await? {
            stream.push_bytes(&bytes)?.iter().for_each(|piece| print!("{}", piece.text()));
        }
        Ok::<_, Box<dyn Error + Send + Sync>>(stream)
    };
    let mut agent =
        Agent::new(WireModel::streaming(WireFormat::OpenAiChat, send).with_model("qwen3"), toolbox);
    Ok(agent.run("What is 17 + 25?").await.text()?)
}
