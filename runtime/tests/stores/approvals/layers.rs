//! What does not wait in a queue, and what a queue that fails does to a call.

use super::{World, ask, builder, entry, relay, turn};
use crate::prelude::*;

#[tokio::test]
async fn calls_of_tools_and_calls_decided_at_once_do_not_wait() {
    let (world, approvals) = (World::default(), Approvals::new(MemoryApprovals::new()));
    let provider = builder(&world, &approvals).build().unwrap();
    let why = provider.call(ToolCall::new("c1", "relay", json!({})), &turn()).await.outcome.unwrap_err();
    assert_eq!(why.code(), "APPROVAL_REQUIRED");
    let at_once = builder(&world, &approvals)
        .approver(|request: &ApprovalRequest, _: &ToolContext| match request.arguments["to"].as_str() {
            Some("Ada") => Approval::ApprovedBy("Eve".into()),
            _ => Approval::Rejected("no".to_owned()),
        })
        .build()
        .unwrap();
    for (to, told) in [("Ada", "paid Ada"), ("Bob", "no")] {
        let call = ToolCall::new("c1", "pay", json!({"to": to, "pin": "0815"}));
        assert_eq!(at_once.call(call, &turn()).await.text(), told);
    }
    assert!(approvals.list(&ApprovalState::ALL).await.unwrap().is_empty());
}

#[tokio::test]
async fn without_a_queue_there_is_nothing_to_resume() {
    let provider = Provider::builder(&Registry::new(toolset![relay]).unwrap()).build().unwrap();
    assert!(provider.approvals().is_none());
    let why = provider.resume_decided("x", &turn()).await.unwrap_err();
    assert!(why == ApprovalError::NoQueue && why.to_string().contains("approval_queue"), "{why}");
}

/// A queue that fails at one of its functions.
struct Fails(&'static str, MemoryApprovals);

impl Fails {
    fn fails<T: Send + 'static>(&self, at: &str) -> Option<BoxFuture<'static, Result<T, ToolError>>> {
        let failed = || std::future::ready(Err(ToolError::failed("the disk is full")));
        (self.0 == at).then(|| Box::pin(failed()) as BoxFuture<'static, Result<T, ToolError>>)
    }
}

impl ApprovalStore for Fails {
    fn take<'a>(&'a self, name: &'a str, until: SystemTime) -> BoxFuture<'a, Result<bool, ToolError>> {
        self.fails("take").unwrap_or_else(|| self.1.take(name, until))
    }
}

impl ApprovalQueue for Fails {
    fn insert(&self, row: QueueRow) -> BoxFuture<'_, Result<(), ToolError>> {
        self.fails("insert").unwrap_or_else(|| self.1.insert(row))
    }

    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<QueueRow>, ToolError>> {
        self.fails("read").unwrap_or_else(|| self.1.read(id))
    }

    fn list<'a>(&'a self, states: &'a [ApprovalState]) -> BoxFuture<'a, Result<Vec<QueueRow>, ToolError>> {
        self.fails("list").unwrap_or_else(|| self.1.list(states))
    }

    fn replace(&self, row: QueueRow, version: u64) -> BoxFuture<'_, Result<bool, ToolError>> {
        let at = format!("replace {}", row.state);
        self.fails("replace").or_else(|| self.fails(&at)).unwrap_or_else(|| self.1.replace(row, version))
    }
}

#[tokio::test]
async fn a_queue_that_fails_runs_nothing() {
    let world = World::default();
    let approvals = |at| Approvals::new(Fails(at, MemoryApprovals::new()));
    let call = ToolCall::new("c1", "pay", json!({"to": "Ada", "pin": "0815"}));
    let response = builder(&world, &approvals("insert")).build().unwrap().call(call, &turn()).await;
    let why = response.outcome.unwrap_err();
    assert_eq!(why.code(), "APPROVAL_NOT_QUEUED");
    assert!(!why.to_string().contains("disk") && why.operator_text().contains("the disk is full"), "{why}");

    for at in ["read", "replace"] {
        let approvals = approvals(at);
        let provider = builder(&world, &approvals).build().unwrap();
        let request = ask(&provider, "Ada").await;
        let why = approvals.grant(request.queue_id(), "Eve", "").await.unwrap_err();
        assert!(matches!(why, ApprovalError::Queue(_)), "{at}: {why}");
        assert!(provider.resume_decided(request.queue_id(), &turn()).await.is_err(), "{at}");
        let why = provider.resume(request, &turn()).await.outcome.unwrap_err();
        assert_eq!(why.code(), "APPROVAL_UNKNOWN", "{at}");
    }
    assert!(approvals("list").decided().await.is_err());
    // Whether the name was taken is not known: the call does not run, and nobody tries again.
    for (at, state) in [("take", ApprovalState::Finished), ("replace started", ApprovalState::Granted)] {
        let approvals = approvals(at);
        let provider = builder(&world, &approvals).build().unwrap();
        let request = ask(&provider, "Ada").await;
        approvals.grant(request.queue_id(), "Eve", "").await.unwrap();
        let response = provider.resume_decided(request.queue_id(), &turn()).await.unwrap().unwrap();
        assert_eq!(response.outcome.unwrap_err().code(), "APPROVAL_UNKNOWN", "{at}");
        assert_eq!(entry(&approvals, request.queue_id()).await.state, state, "{at}");
    }
    assert!(world.paid.lock().unwrap().is_empty());
}

#[tokio::test]
async fn an_outcome_that_cannot_be_noted_is_told_all_the_same() {
    let world = World::default();
    let approvals = Approvals::new(Fails("replace finished", MemoryApprovals::new()));
    let provider = builder(&world, &approvals).build().unwrap();
    let request = ask(&provider, "Ada").await;
    approvals.grant(request.queue_id(), "Eve", "").await.unwrap();
    let response = provider.resume_decided(request.queue_id(), &turn()).await.unwrap().unwrap();
    assert_eq!(response.text(), "paid Ada");
    assert_eq!(entry(&approvals, request.queue_id()).await.state, ApprovalState::Started);
}

/// A queue that does not answer.
struct Hangs;

impl ApprovalStore for Hangs {
    fn take<'a>(&'a self, _: &'a str, _: SystemTime) -> BoxFuture<'a, Result<bool, ToolError>> {
        Box::pin(std::future::pending())
    }
}

impl ApprovalQueue for Hangs {
    fn insert(&self, _: QueueRow) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(std::future::pending())
    }

    fn read<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Option<QueueRow>, ToolError>> {
        Box::pin(std::future::pending())
    }

    fn list<'a>(&'a self, _: &'a [ApprovalState]) -> BoxFuture<'a, Result<Vec<QueueRow>, ToolError>> {
        Box::pin(std::future::pending())
    }

    fn replace(&self, _: QueueRow, _: u64) -> BoxFuture<'_, Result<bool, ToolError>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn a_queue_that_hangs_is_not_waited_for() {
    let world = World::default();
    let approvals = Approvals::new(Arc::new(Hangs));
    let provider = builder(&world, &approvals).callback_timeout(Duration::from_millis(10)).build().unwrap();
    let call = ToolCall::new("c1", "pay", json!({"to": "Ada", "pin": "0815"}));
    let why = provider.call(call, &turn()).await.outcome.unwrap_err();
    assert_eq!(why.code(), "APPROVAL_NOT_QUEUED");
}

/// A queue that adds a row later, whether somebody waits for it or not.
struct Late(Arc<MemoryApprovals>);

impl ApprovalStore for Late {
    fn take<'a>(&'a self, name: &'a str, until: SystemTime) -> BoxFuture<'a, Result<bool, ToolError>> {
        self.0.take(name, until)
    }
}

impl ApprovalQueue for Late {
    fn insert(&self, row: QueueRow) -> BoxFuture<'_, Result<(), ToolError>> {
        let queue = Arc::clone(&self.0);
        let added = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(150)).await;
            queue.insert(row).await
        });
        Box::pin(async move { added.await.unwrap() })
    }

    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<QueueRow>, ToolError>> {
        self.0.read(id)
    }

    fn list<'a>(&'a self, states: &'a [ApprovalState]) -> BoxFuture<'a, Result<Vec<QueueRow>, ToolError>> {
        self.0.list(states)
    }

    fn replace(&self, row: QueueRow, version: u64) -> BoxFuture<'_, Result<bool, ToolError>> {
        self.0.replace(row, version)
    }
}

#[tokio::test]
async fn a_call_that_comes_into_the_queue_too_late_never_runs() {
    let world = World::default();
    let approvals = Approvals::new(Late(Arc::default()));
    let provider = builder(&world, &approvals).callback_timeout(Duration::from_millis(50)).build().unwrap();
    let call = ToolCall::new("c1", "pay", json!({"to": "Ada", "pin": "0815"}));
    let why = provider.call(call, &turn()).await.outcome.unwrap_err();
    assert_eq!(why.code(), "APPROVAL_NOT_QUEUED");
    // Even if somebody is quick to grant it.
    let mut late = Vec::new();
    while late.is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
        late = approvals.list(&ApprovalState::ALL).await.unwrap();
    }
    let id = late[0].id.clone();
    if approvals.grant(&id, "Eve", "").await.is_ok() {
        let response = provider.resume_decided(&id, &turn()).await.unwrap();
        assert!(response.is_none_or(|response| response.outcome.is_err()));
    }
    tokio::time::sleep(Duration::from_millis(1000)).await;
    let left = entry(&approvals, &id).await;
    assert_eq!(left.state, ApprovalState::Finished, "{left:?}");
    assert!(approvals.grant(&id, "Eve", "").await.is_err());
    assert!(world.paid.lock().unwrap().is_empty());
}
