//! Calls that wait in a queue: what each state leads to, in every store, in one process and in many.

mod layers;
#[cfg(target_os = "linux")]
use toolgen_test_support::postgres;
mod processes;
use toolgen_test_support::redis;
mod rows;
mod seen;
mod states;
mod stores;

use std::fs;
use std::path::PathBuf;

use toolgen_runtime::{ProviderContext, Service};

use crate::prelude::*;

/// What ran, and whether anything may.
#[derive(Clone, Default)]
struct World {
    paid: Arc<Mutex<Vec<String>>>,
    closed: Arc<Mutex<bool>>,
}

/// Pays somebody.
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

/// Asks about payments, unless everything is closed; a second time about those to Zoe.
fn asks(world: &World) -> impl Fn(&ToolRequest<'_>) -> Decision + Send + Sync + 'static {
    let closed = Arc::clone(&world.closed);
    move |request| {
        if *closed.lock().unwrap() {
            return Decision::Deny("closed for today".to_owned());
        }
        match (request.spec.name.as_str(), request.arguments["to"].as_str()) {
            ("pay", Some("Zoe")) if request.approved() => Decision::NeedApproval("It is Zoe.".to_owned()),
            ("pay", _) => Decision::NeedApproval("It costs money.".to_owned()),
            _ => Decision::Allow,
        }
    }
}

fn builder(world: &World, approvals: &Approvals) -> ProviderBuilder {
    let context = ProviderContext::new().with_service(Arc::new(world.clone())).with_agent_id("clerk");
    Provider::builder(&Registry::new(toolset![pay, relay]).unwrap())
        .context(context)
        .middleware(asks(world))
        .approval_queue(approvals.clone())
}

/// A turn of a principal.
fn turn_of(principal: &str) -> ToolContext {
    ToolContext::new("turn", "")
        .with_principal(Principal::new(principal.to_owned()).with_scopes(["read", "write"]))
        .with_session(Session::new("monday"))
}

fn turn() -> ToolContext {
    turn_of("alice")
}

/// Makes a call that waits.
async fn ask(provider: &Provider, to: &str) -> ApprovalRequest {
    let call = ToolCall::new("call-1", "pay", json!({"to": to, "pin": "0815"}));
    match provider.call(call, &turn()).await.outcome {
        Err(ToolError::ApprovalRequired(request)) => *request,
        other => panic!("it does not wait: {other:?}"),
    }
}

async fn entry(approvals: &Approvals, id: &str) -> QueuedApproval {
    approvals.get(id).await.unwrap().unwrap()
}

/// A folder of its own below that of the tests' files, gone when the test is over. It was made here, and nothing above
/// it is ever removed.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("approvals-{}-{number}", std::process::id());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        // Fails if there is one already: what is removed later is this one.
        fs::create_dir(&folder).unwrap();
        Scratch(folder)
    }

    fn folder(&self) -> &Path {
        &self.0
    }

    fn database(&self) -> PathBuf {
        self.0.join("calls.db")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What a queue lives in: it is gone when the test is over.
#[allow(dead_code, reason = "it is there to be dropped")]
enum Home {
    Folder(Scratch),
    #[cfg(target_os = "linux")]
    Postgres(Arc<postgres::Server>),
    Redis(redis::Server),
}

/// A queue of each kind, with what it needs. Those of servers are left out, and that is said, where there is none.
async fn queues() -> Vec<(&'static str, Approvals, Home)> {
    let mut queues = vec![("memory", Approvals::new(MemoryApprovals::new()), Home::Folder(Scratch::new()))];
    {
        let scratch = Scratch::new();
        let store = SqliteApprovals::open(scratch.database()).unwrap();
        queues.push(("sqlite", Approvals::new(store), Home::Folder(scratch)));
    }
    #[cfg(target_os = "linux")]
    if let Some((store, server)) = stores::postgres().await {
        queues.push(("postgres", Approvals::new(store), Home::Postgres(server)));
    }
    if let Some(server) = redis::Server::start() {
        queues.push(("redis", Approvals::new(stores::redis(&server.url()).approvals()), Home::Redis(server)));
    }
    queues
}
