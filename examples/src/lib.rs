//! Shared code of the examples: a model with recorded replies, and a printer of conversations.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::future::{Ready, ready};

use serde_json::Value;
use toolgen_runtime::agent::agent_loop::{Entry, Transcript};

/// Returns a function that simulates requests to a vendor: it returns the replies of a JSON array in order. In a real
/// program, it sends the request: see docs/conversation.md.
pub fn recorded(replies: &str) -> impl FnMut(Value) -> Ready<Result<Value, String>> + Send + use<> {
    let replies = serde_json::from_str::<Vec<Value>>(replies).map_err(|error| error.to_string());
    let mut replies = replies.map(Vec::into_iter);
    move |_| {
        ready(match &mut replies {
            Ok(replies) => replies.next().ok_or_else(|| "nothing more was recorded".to_owned()),
            Err(error) => Err(error.clone()),
        })
    }
}

/// Prints a conversation.
pub fn show(transcript: &Transcript) {
    for entry in transcript.iter() {
        match entry {
            Entry::User(text) => println!("user: {text}"),
            Entry::Model(turn) => {
                if !turn.text.is_empty() {
                    println!("model: {}", turn.text);
                }
                for call in &turn.calls {
                    // OpenAI's models write arguments as a JSON string.
                    let written = call.arguments.as_str().and_then(|text| text.parse().ok());
                    println!("model: {} {}", call.name, written.unwrap_or_else(|| call.arguments.clone()));
                }
            }
            Entry::Answer(response) => println!("  {}: {}", response.name, indented(&response.text())),
            _ => {}
        }
    }
}

/// Returns a text without blank lines, with all lines but the first indented.
#[must_use]
pub fn indented(text: &str) -> String {
    text.lines().filter(|line| !line.trim().is_empty()).collect::<Vec<_>>().join("\n    ")
}
