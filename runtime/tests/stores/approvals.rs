//! Tests of queued calls: their states, in every store, in one process and in several.

mod layers;
mod processes;
mod rows;
mod seen;
mod states;

use toolgen_runtime::{Service, ToolboxContext};

use crate::prelude::*;
use crate::shared::{Home, homes};

/// The calls that ran, and whether calls are allowed.
#[derive(Clone, Default)]
pub(crate) struct World {
    pub(crate) paid: Arc<Mutex<Vec<String>>>,
    closed: Arc<Mutex<bool>>,
}

/// Pays a recipient.
#[tool(undocumented)]
async fn pay(
    to: String,
    #[arg(secret)] pin: String,
    #[inject] world: Service<World>,
) -> Result<String, ToolError> {
    world.paid.lock().unwrap().push(to.clone());
    match to.as_str() {
        "nobody" => Err(ToolError::failed_with("NO_SUCH_PAYEE", "who is that?")),
        "pin" => Err(ToolError::failed_with(pin, "a code of the tool's own making")),
        "slow" => std::future::pending().await,
        _ => Ok(format!("paid {to}")),
    }
}

/// Has another tool pay.
#[tool(undocumented)]
async fn relay(ctx: &ToolContext) -> Result<String, ToolError> {
    ctx.call("pay", json!({"to": "Ada", "pin": "0815"})).await.map(|result| result.to_text())
}

/// Requires approval for payments, unless the tool is closed; for payments to Zoe twice.
fn asks(world: &World) -> impl Fn(&ToolRequest<'_>) -> MiddlewareDecision + Send + Sync + 'static {
    let closed = Arc::clone(&world.closed);
    move |request| {
        if *closed.lock().unwrap() {
            return MiddlewareDecision::Deny("closed for today".to_owned());
        }
        match (request.spec.name.as_str(), request.arguments["to"].as_str()) {
            ("pay", Some("Zoe")) if request.approved() => {
                MiddlewareDecision::NeedApproval("It is Zoe.".to_owned())
            }
            ("pay", _) => MiddlewareDecision::NeedApproval("It costs money.".to_owned()),
            _ => MiddlewareDecision::Allow,
        }
    }
}

pub(crate) fn builder(world: &World, approvals: &Approvals) -> ToolboxBuilder {
    let context = ToolboxContext::new().with_service(Arc::new(world.clone())).with_agent_id("clerk");
    Toolbox::builder(&Registry::new(toolset![pay, relay]).unwrap())
        .context(context)
        .middleware(asks(world))
        .approval_queue(approvals.clone())
}

/// A turn with a principal.
pub(crate) fn turn_of(principal: &str) -> Turn {
    Turn::new("turn")
        .with_principal(Principal::new(principal.to_owned()).with_scopes(["read", "write"]))
        .with_session(Session::new("monday"))
}

pub(crate) fn turn() -> Turn {
    turn_of("alice")
}

/// Makes a call that waits for approval.
pub(crate) async fn ask(toolbox: &Toolbox, to: &str) -> ApprovalRequest {
    let call = ToolCall::new("call-1", "pay", json!({"to": to, "pin": "0815"}));
    match toolbox.run(call, &turn()).await.outcome {
        Err(ToolError::ApprovalRequired(request)) => *request,
        other => panic!("it does not wait: {other:?}"),
    }
}

pub(crate) async fn entry(approvals: &Approvals, id: &str) -> QueuedApproval {
    approvals.get(id).await.unwrap().unwrap()
}

/// Returns a queue of each kind, with the resources it needs.
fn queues() -> Vec<(&'static str, Approvals, Home)> {
    homes().into_iter().map(|home| (home.name(), Approvals::on(home.open()), home)).collect()
}
