//! An agent for any vendor: the model makes an invalid call, reads the error, corrects the call, and answers.
//!
//! Vendors differ only in one word of the code. The replies are recorded, in the format of each vendor.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::env;
use std::error::Error;

use toolgen_examples::{recorded, show};
use toolgen_runtime::agent::agent_loop::{Agent, WireModel};
use toolgen_runtime::wire::WireFormat;
use toolgen_runtime::{Registry, ToolInput, ToolboxContext, tool, toolset};

/// A day that has a forecast.
#[derive(ToolInput)]
#[serde(rename_all = "lowercase")]
enum Day {
    Today,
    Tomorrow,
}

/// Tells the weather of a city.
#[tool(read_only)]
fn forecast(
    /// The city, by its English name.
    city: &str,
    /// The day.
    day: Day,
) -> String {
    match day {
        Day::Today => format!("{city}: 4 °C, snow"),
        Day::Tomorrow => format!("{city}: 6 °C, sun"),
    }
}

/// The vendors, and the recorded replies of their models.
const RECORDED: &[(WireFormat, &str)] = &[
    (WireFormat::OpenAiChat, include_str!("replies/openai-chat.json")),
    (WireFormat::OpenAiResponses, include_str!("replies/openai-responses.json")),
    (WireFormat::Anthropic, include_str!("replies/anthropic.json")),
    (WireFormat::Gemini, include_str!("replies/gemini.json")),
    (WireFormat::Bedrock, include_str!("replies/bedrock.json")),
];

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let wanted = env::args().nth(1);
    let toolbox = Registry::new(toolset![forecast])?.toolbox(ToolboxContext::new());
    for (format, replies) in RECORDED {
        if wanted.as_deref().is_some_and(|wanted| wanted != format.name()) {
            continue;
        }
        let send = recorded(replies);
        let mut agent =
            Agent::new(WireModel::new(*format, send).with_system("Answer in one sentence."), &toolbox);
        let run = agent.run("What will the weather in Oslo be like?").await;
        println!("# {format}, {} tokens", run.transcript.usage().total());
        show(&run.transcript);
        println!("The answer: {}\n", run.text()?);
    }
    Ok(())
}
