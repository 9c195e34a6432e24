//! Tests of calls that do not wait in a queue, and of the effects of a failing queue.

use super::{World, ask, builder, entry, relay, turn};
use crate::prelude::*;

use toolgen_runtime::store::{Expected, Row, StoreError};

#[tokio::test]
async fn nested_and_immediately_decided_calls_are_not_queued() {
    let (world, approvals) = (World::default(), Approvals::on(MemoryStore::new()));
    let toolbox = builder(&world, &approvals).build().unwrap();
    let error = toolbox.run(ToolCall::new("c1", "relay", json!({})), &turn()).await.outcome.unwrap_err();
    assert_eq!(error.code(), "APPROVAL_REQUIRED");
    let at_once = builder(&world, &approvals)
        .approver(|request: &ApprovalRequest, _: &ToolContext| match request.arguments["to"].as_str() {
            Some("Ada") => Approval::ApprovedBy("Eve".into()),
            _ => Approval::Rejected("no".to_owned()),
        })
        .build()
        .unwrap();
    for (to, message) in [("Ada", "paid Ada"), ("Bob", "no")] {
        let call = ToolCall::new("c1", "pay", json!({"to": to, "pin": "0815"}));
        assert_eq!(at_once.run(call, &turn()).await.text(), message);
    }
    assert!(approvals.list(&ApprovalState::ALL).await.unwrap().is_empty());
}

#[tokio::test]
async fn resume_requires_a_queue() {
    let toolbox = Toolbox::builder(&Registry::new(toolset![relay]).unwrap()).build().unwrap();
    assert!(toolbox.approvals().is_none());
    let error = toolbox.resume_decided("x", &turn()).await.unwrap_err();
    assert!(error == ApprovalError::NoQueue && error.to_string().contains("approval_queue"), "{error}");
}

/// A store in memory that misbehaves for some requests: those that begin with a given text, such as `replace
/// approvals granted`.
#[derive(Debug)]
struct Odd {
    at: &'static str,
    how: How,
    inner: MemoryStore,
}

#[derive(Clone, Copy, Debug)]
enum How {
    Fails,
    Hangs,
    /// It stores a row later, even if the caller has stopped waiting.
    Late,
}

fn odd(at: &'static str, how: How) -> Approvals {
    Approvals::on(Odd { at, how, inner: MemoryStore::new() })
}

impl Odd {
    fn answer<'a, T: Send + 'a>(
        &self,
        request: &str,
        done: BoxFuture<'a, Result<T, StoreError>>,
    ) -> BoxFuture<'a, Result<T, StoreError>> {
        match self.how {
            _ if !request.starts_with(self.at) => done,
            How::Fails => Box::pin(std::future::ready(Err(StoreError::new("the disk is full")))),
            How::Hangs => Box::pin(std::future::pending()),
            How::Late => done,
        }
    }
}

impl Store for Odd {
    fn get<'a>(&'a self, table: &'a str, key: &'a str) -> BoxFuture<'a, Result<Option<Row>, StoreError>> {
        self.answer(&format!("get {table}"), self.inner.get(table, key))
    }

    fn scan<'a>(&'a self, table: &'a str, prefix: &'a str) -> BoxFuture<'a, Result<Vec<Row>, StoreError>> {
        self.answer(&format!("scan {table}"), self.inner.scan(table, prefix))
    }

    fn put<'a>(
        &'a self,
        table: &'a str,
        key: &'a str,
        value: &'a [u8],
        ttl: Duration,
        expected: Expected,
    ) -> BoxFuture<'a, Result<Option<u64>, StoreError>> {
        let what = if expected == Expected::Absent { "insert" } else { "replace" };
        let state = serde_json::from_slice(value).map_or(Value::Null, |row: Value| row["state"].clone());
        let request = format!("{what} {table} {}", state.as_str().unwrap_or_default());
        if matches!(self.how, How::Late) && request.starts_with(self.at) {
            let (inner, table) = (self.inner.clone(), table.to_owned());
            let (key, value) = (key.to_owned(), value.to_owned());
            let later = tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(150)).await;
                inner.put(&table, &key, &value, ttl, expected).await
            });
            return Box::pin(async move { later.await.unwrap() });
        }
        self.answer(&request, self.inner.put(table, key, value, ttl, expected))
    }

    fn delete<'a>(
        &'a self,
        table: &'a str,
        key: &'a str,
        expected: Expected,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.answer(&format!("delete {table}"), self.inner.delete(table, key, expected))
    }

    fn count<'a>(
        &'a self,
        table: &'a str,
        counters: &'a [(&'a str, u32)],
        window: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.answer(&format!("count {table}"), self.inner.count(table, counters, window))
    }
}

#[tokio::test]
async fn failing_queue_runs_nothing() {
    let world = World::default();
    let approvals = |at| odd(at, How::Fails);
    let call = ToolCall::new("c1", "pay", json!({"to": "Ada", "pin": "0815"}));
    let response = builder(&world, &approvals("insert approvals ")).build().unwrap().run(call, &turn()).await;
    let error = response.outcome.unwrap_err();
    assert_eq!(error.code(), "APPROVAL_NOT_QUEUED");
    assert!(
        !error.to_string().contains("disk") && error.operator_text().contains("the disk is full"),
        "{error}"
    );

    for at in ["get approvals", "replace approvals "] {
        let approvals = approvals(at);
        let toolbox = builder(&world, &approvals).build().unwrap();
        let request = ask(&toolbox, "Ada").await;
        let error = approvals.grant(request.queue_id(), "Eve", "").await.unwrap_err();
        assert!(matches!(error, ApprovalError::Queue(_)), "{at}: {error}");
        assert!(toolbox.resume_decided(request.queue_id(), &turn()).await.is_err(), "{at}");
        let error = toolbox.resume(request, &turn()).await.outcome.unwrap_err();
        assert_eq!(error.code(), "APPROVAL_UNKNOWN", "{at}");
    }
    assert!(approvals("scan approval").decided().await.is_err());
    // Whether the name was used is unknown, so the call does not run, and is not retried.
    for (at, state) in [
        ("insert approvals-used", ApprovalState::Finished),
        ("replace approvals started", ApprovalState::Granted),
    ] {
        let approvals = approvals(at);
        let toolbox = builder(&world, &approvals).build().unwrap();
        let request = ask(&toolbox, "Ada").await;
        approvals.grant(request.queue_id(), "Eve", "").await.unwrap();
        let response = toolbox.resume_decided(request.queue_id(), &turn()).await.unwrap().unwrap();
        assert_eq!(response.outcome.unwrap_err().code(), "APPROVAL_UNKNOWN", "{at}");
        assert_eq!(entry(&approvals, request.queue_id()).await.state, state, "{at}");
    }
    assert!(world.paid.lock().unwrap().is_empty());
}

#[tokio::test]
async fn result_is_returned_even_if_the_outcome_is_not_stored() {
    let world = World::default();
    let approvals = odd("replace approvals finished", How::Fails);
    let toolbox = builder(&world, &approvals).build().unwrap();
    let request = ask(&toolbox, "Ada").await;
    approvals.grant(request.queue_id(), "Eve", "").await.unwrap();
    let response = toolbox.resume_decided(request.queue_id(), &turn()).await.unwrap().unwrap();
    assert_eq!(response.text(), "paid Ada");
    assert_eq!(entry(&approvals, request.queue_id()).await.state, ApprovalState::Started);
}

#[tokio::test]
async fn hanging_queue_times_out() {
    let world = World::default();
    let approvals = odd("", How::Hangs);
    let toolbox = builder(&world, &approvals).callback_timeout(Duration::from_millis(10)).build().unwrap();
    let call = ToolCall::new("c1", "pay", json!({"to": "Ada", "pin": "0815"}));
    let error = toolbox.run(call, &turn()).await.outcome.unwrap_err();
    assert_eq!(error.code(), "APPROVAL_NOT_QUEUED");
}

#[tokio::test]
async fn call_queued_too_late_never_runs() {
    let world = World::default();
    let approvals = odd("insert approvals ", How::Late);
    let toolbox = builder(&world, &approvals).callback_timeout(Duration::from_millis(50)).build().unwrap();
    let call = ToolCall::new("c1", "pay", json!({"to": "Ada", "pin": "0815"}));
    let error = toolbox.run(call, &turn()).await.outcome.unwrap_err();
    assert_eq!(error.code(), "APPROVAL_NOT_QUEUED");
    // Even if it is granted quickly.
    let mut late = Vec::new();
    while late.is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
        late = approvals.list(&ApprovalState::ALL).await.unwrap();
    }
    let id = late[0].id.clone();
    if approvals.grant(&id, "Eve", "").await.is_ok() {
        let response = toolbox.resume_decided(&id, &turn()).await.unwrap();
        assert!(response.is_none_or(|response| response.outcome.is_err()));
    }
    tokio::time::sleep(Duration::from_millis(1000)).await;
    let left = entry(&approvals, &id).await;
    assert_eq!(left.state, ApprovalState::Finished, "{left:?}");
    assert!(approvals.grant(&id, "Eve", "").await.is_err());
    assert!(world.paid.lock().unwrap().is_empty());
}
