//! Tests of identical calls that fail in several processes.

use toolgen_runtime::layers::repeat::REPEATED_FAILURE;

use super::homes;
use crate::prelude::*;

/// Fails, or does not.
#[tool(undocumented)]
fn brittle(
    why: &str,
    #[inject] fails: toolgen_runtime::Service<Mutex<Option<String>>>,
) -> Result<String, ToolError> {
    let _ = why;
    fails
        .lock()
        .unwrap()
        .clone()
        .map_or_else(|| Ok("fine".to_owned()), |reason| Err(ToolError::failed(reason)))
}

/// Fails with a secret.
#[tool(undocumented)]
fn secret(#[arg(secret)] password: &str) -> Result<String, ToolError> {
    Err(ToolError::failed(format!("{password} is wrong")))
}

/// A process with a separate connection and memory, and a session with the same ID.
pub(crate) struct One {
    toolbox: Toolbox,
    session: Session,
    fails: Arc<Mutex<Option<String>>>,
}

impl One {
    pub(crate) fn on(store: Arc<dyn Store>) -> One {
        let fails = Arc::new(Mutex::new(Some("no makefile".to_owned())));
        let context = toolgen_runtime::ToolboxContext::new().with_service(Arc::clone(&fails));
        let registry = Registry::new(toolset![brittle, secret]).unwrap();
        let toolbox = Toolbox::builder(&registry).context(context).failure_store(store).build().unwrap();
        One { toolbox, session: Session::new("s-1"), fails }
    }

    async fn call_in(&self, session: &Session, tool: &str, arguments: Value) -> ToolResponse {
        let turn = Turn::new("turn")
            .with_principal(Principal::new("ada").with_scopes(["write"]))
            .with_session(session.clone());
        self.toolbox.run(ToolCall::new("c", tool, arguments), &turn).await
    }

    /// Makes a call, and returns its error code.
    pub(crate) async fn call(&self, reason: &str) -> String {
        code(&self.call_in(&self.session, "brittle", json!({"why": reason})).await)
    }
}

fn code(response: &ToolResponse) -> String {
    response.outcome.as_ref().err().map_or_else(String::new, |error| error.code().to_owned())
}

#[tokio::test]
async fn failures_count_across_processes_until_a_success() {
    for home in homes() {
        let name = home.name();
        let all = [(); 4].map(|()| One::on(home.open()));
        for one in &all[..3] {
            assert_ne!(one.call("a").await, REPEATED_FAILURE, "{name}");
        }
        let refused = all[3].call_in(&all[3].session, "brittle", json!({"why": "a"})).await;
        assert!(refused.text().contains("failed 3 consecutive times"), "{name}: {}", refused.text());
        assert!(refused.text().contains("no makefile"), "{name}: {}", refused.text());
        // Other arguments have not failed, and neither has another session.
        assert_ne!(all[3].call("b").await, REPEATED_FAILURE, "{name}");
        let elsewhere = all[3].call_in(&Session::new("s-2"), "brittle", json!({"why": "a"})).await;
        assert_ne!(code(&elsewhere), REPEATED_FAILURE, "{name}");

        // Another error starts another count, and a success in any process resets the count.
        for (one, error) in [(0, Some("e1")), (1, Some("e1")), (2, Some("e2")), (3, Some("e2"))] {
            *all[one].fails.lock().unwrap() = error.map(str::to_owned);
            assert_ne!(all[one].call("c").await, REPEATED_FAILURE, "{name}");
        }
        *all[0].fails.lock().unwrap() = None;
        assert_eq!(all[0].call("c").await, "", "{name}");
        for one in &all[1..] {
            *one.fails.lock().unwrap() = Some("e2".to_owned());
        }
        assert_ne!(all[1].call("c").await, REPEATED_FAILURE, "{name}");
        assert_ne!(all[2].call("c").await, REPEATED_FAILURE, "{name}");

        // A secret that could be guessed from its digest is counted by each process separately.
        let secret =
            async |one: &One| code(&one.call_in(&one.session, "secret", json!({"password": "0815"})).await);
        for _ in 0..3 {
            assert_ne!(secret(&all[0]).await, REPEATED_FAILURE, "{name}");
        }
        assert_eq!(secret(&all[0]).await, REPEATED_FAILURE, "{name}");
        assert_ne!(secret(&all[1]).await, REPEATED_FAILURE, "{name}");
    }
}
