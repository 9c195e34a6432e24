//! A toolbox with tools that succeed, fail, are forbidden, return large results, or take long.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use toolgen_runtime::layers::policy::PolicyRules;
use toolgen_runtime::{
    Content, Principal, Registry, Service, ToolContext, ToolError, ToolResult, Toolbox, Turn,
};
use toolgen_runtime::{tool, toolset};

/// An image of one white dot, in Base64.
pub const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/// Number of running calls of `wait`.
#[derive(Debug, Default)]
pub struct Waiting(AtomicUsize);

impl Waiting {
    /// Returns when this number of calls is running; fails after ten seconds.
    pub async fn reaches(&self, number: usize) {
        let reached = async {
            while self.0.load(Ordering::SeqCst) != number {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), reached).await.expect("it takes too long");
    }
}

/// Adds two numbers.
#[tool(read_only)]
fn add(
    /// The first number.
    a: i64,
    /// The second number.
    #[arg(range = 0..=100)]
    b: i64,
) -> i64 {
    a + b
}

/// Takes a picture.
#[tool(read_only)]
fn picture() -> ToolResult {
    let image = Content::Image { data: PICTURE.to_owned(), mime_type: "image/png".to_owned() };
    let sound = Content::Audio { data: "AAAA".to_owned(), mime_type: "audio/wav".to_owned() };
    ToolResult::text("A dot.").with_content(image).with_content(sound)
}

/// Reads the log.
#[tool(read_only)]
fn log() -> String {
    "line\n".repeat(20_000)
}

/// Fails.
#[tool(read_only)]
fn fail() -> Result<String, ToolError> {
    Err(ToolError::failed_with("OUT_OF_PAPER", "There is no paper.").with_operator_detail("tray 2"))
}

/// Deletes everything.
#[tool]
fn delete_all() -> String {
    "gone".to_owned()
}

/// Returns the principal of its call.
#[tool(read_only)]
fn whoami(ctx: &ToolContext) -> String {
    ctx.principal().map_or("nobody", |principal| principal.id.as_str()).to_owned()
}

/// Waits forever.
#[tool(read_only)]
async fn wait(running: Service<Waiting>) -> String {
    struct Running(Arc<Waiting>);
    impl Drop for Running {
        fn drop(&mut self) {
            self.0.0.fetch_sub(1, Ordering::SeqCst);
        }
    }
    let running = Running(Service::into_inner(running));
    running.0.0.fetch_add(1, Ordering::SeqCst);
    std::future::pending::<()>().await;
    String::new()
}

/// Returns a toolbox with all these tools, whose rules forbid `delete_all`, and the number of waiting calls.
#[must_use]
pub fn toolbox() -> (Toolbox, Arc<Waiting>) {
    let registry = Registry::new(toolset![add, picture, log, fail, delete_all, whoami, wait]).unwrap();
    let waiting = Arc::new(Waiting::default());
    let context = toolgen_runtime::ToolboxContext::new().with_service(Arc::clone(&waiting));
    let rules = PolicyRules::builder().exclude(["effect:destructive"]).build().unwrap();
    (Toolbox::builder(&registry).context(context).rules(rules).build().unwrap(), waiting)
}

/// Returns a context of calls for a principal with this name.
#[must_use]
pub fn turn_of(name: &str) -> Turn {
    Turn::new("turn").with_principal(Principal::new(name.to_owned()).with_scopes(["read"]))
}
