//! Payments that a person approves at the terminal: `y`, `n` with a reason, or anything else to decide later.
//!
//! A waiting call is stored as JSON for as long as necessary, and runs when it is resumed with an approval. The model
//! is recorded.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::io::{self, Write};

use tokio::sync::Mutex;
use toolgen_examples::{recorded, show};
use toolgen_runtime::agent::agent_loop::{Agent, Entry, WireModel};
use toolgen_runtime::layers::middleware::{
    Approval, ApprovalRequest, MiddlewareDecision, ToolRequest, approver,
};
use toolgen_runtime::wire::WireFormat;
use toolgen_runtime::{Registry, Session, ToolError, Toolbox, Turn, tool, toolset};

/// Lists the invoices that are not paid.
#[tool(read_only)]
fn list_invoices() -> &'static str {
    "1: 40 € to the baker, 2: 900 € to the painter, 3: 75 € to the printer"
}

/// Pays an invoice.
#[tool]
fn pay_invoice(
    /// The number of the invoice.
    id: u32,
) -> String {
    format!("Invoice {id} is paid.")
}

/// Held by the call that asks: the calls of a turn run concurrently, but ask in their order.
static TERMINAL: Mutex<()> = Mutex::const_new(());

/// Asks the person at the terminal about a call, without a timeout.
async fn at_the_terminal(request: ApprovalRequest) -> Approval {
    let turn = TERMINAL.lock().await;
    let asked = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        print!("{} {}: {} [y/n] ", request.name, request.redacted_arguments, request.reasons.join(" "));
        io::stdout().flush()?;
        let mut text = String::new();
        io::stdin().read_line(&mut text)?;
        println!();
        Ok::<_, io::Error>(text)
    });
    let Ok(Ok(text)) = asked.await else { return Approval::Later };
    match text.trim().split_once(' ').unwrap_or((text.trim(), "")) {
        ("y", _) => Approval::ApprovedBy("the person at the terminal".into()),
        ("n", "") => Approval::Rejected("The person at the terminal does not want this.".to_owned()),
        ("n", reason) => {
            Approval::Rejected(format!("The person at the terminal does not want this: {reason}"))
        }
        _ => Approval::Later,
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let payments = |request: &ToolRequest<'_>| match request.spec.effects.read_only {
        true => MiddlewareDecision::Allow,
        false => MiddlewareDecision::NeedApproval("It cannot be taken back.".to_owned()),
    };
    let toolbox = Toolbox::builder(&Registry::new(toolset![list_invoices, pay_invoice])?)
        .middleware(payments)
        .approver(approver(|request, _| at_the_terminal(request)))
        .build()?;
    let context = Turn::new("office").with_session(Session::new("monday"));

    let send = recorded(include_str!("replies.json"));
    let mut agent =
        Agent::new(WireModel::new(WireFormat::Anthropic, send), &toolbox).with_turn(context.clone());
    let run = agent.run("Pay what we owe.").await;
    show(&run.transcript);

    // A waiting call is plain data, and sealed against changes.
    let waiting = run.transcript.iter().filter_map(|entry| match entry {
        Entry::Answer(response) => match &response.outcome {
            Err(ToolError::ApprovalRequired(request)) => Some(serde_json::to_string(request)),
            _ => None,
        },
        _ => None,
    });
    for stored in waiting.collect::<Result<Vec<String>, _>>()? {
        let request: ApprovalRequest = serde_json::from_str(&stored)?;
        println!("The next morning: {} {} is approved.", request.name, request.redacted_arguments);
        let response = toolbox.resume(request.clone().approved_by("the boss"), &context).await;
        println!("  {}", response.text());
        println!("  Once more: {}", toolbox.resume(request, &context).await.text());
    }
    Ok(())
}
