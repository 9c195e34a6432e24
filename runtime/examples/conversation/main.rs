//! A model and a tool, for each vendor: `cargo run --example conversation --features agent -- anthropic
//! https://api.anthropic.com`. The key is in `API_KEY`.
#![allow(clippy::print_stdout, reason = "an example prints")]

mod anthropic;
mod bedrock;
mod gemini;
mod ollama;
mod openai_chat;
mod openai_responses;

use std::env;
use std::error::Error;
use tokio_rustls::rustls::crypto::ring;

use toolgen_runtime::{Registry, tool, toolset};

/// Adds two integers.
#[tool(read_only)]
fn add(
    /// The first number.
    a: i64,
    /// The second number.
    b: i64,
) -> i64 {
    a + b
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // The `reqwest` of this repository lets the program choose the cryptography provider.
    let _ = ring::default_provider().install_default(); // of `rustls::crypto`; fails only if one is installed already
    let mut arguments = env::args().skip(1);
    let (name, base) = (arguments.next().unwrap_or_default(), arguments.next().unwrap_or_default());
    let key = env::var("API_KEY").unwrap_or_default();
    let toolbox = Registry::new(toolset![add])?.toolbox(Default::default());
    let text = match name.as_str() {
        "openai-chat" => openai_chat::ask(&toolbox, &base, &key).await?,
        "openai-responses" => openai_responses::ask(&toolbox, &base, &key).await?,
        "anthropic" => anthropic::ask(&toolbox, &base, &key).await?,
        "gemini" => gemini::ask(&toolbox, &base, &key).await?,
        "bedrock" => bedrock::ask(&toolbox, &base, &key).await?,
        "ollama" => ollama::ask(&toolbox, &base, &key).await?,
        _ => {
            return Err(
                "usage: conversation VENDOR BASE_URL; the vendors are the modules of this example".into()
            );
        }
    };
    println!("{text}");
    Ok(())
}
