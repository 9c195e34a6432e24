//! Tests of rows in the database that were changed by other programs, or written by earlier versions.

use toolgen_runtime::ToolboxContext;

use super::{World, ask, builder, entry, turn};
use crate::prelude::*;
use crate::shared::Scratch;

const RIGHT: &str = "the right key, of thirty-two bytes";
const WRONG: &str = "a wrong key, of thirty-two bytes or more";

/// A granted call, and its database.
struct Granted {
    world: World,
    approvals: Approvals,
    toolbox: Toolbox,
    id: String,
    database: Connection,
}

impl Granted {
    async fn new(scratch: &Scratch) -> Granted {
        let store = SqliteStore::open(scratch.database()).unwrap();
        let (world, approvals) = (World::default(), Approvals::on(store));
        let toolbox = builder(&world, &approvals).build().unwrap();
        let id = ask(&toolbox, "Ada").await.queue_id().to_owned();
        approvals.grant(&id, "Eve", "").await.unwrap();
        let database = Connection::open(scratch.database()).unwrap();
        Granted { world, approvals, toolbox, id, database }
    }
}

#[tokio::test]
async fn call_modified_in_the_database_does_not_run() {
    for (key, value) in [
        ("arguments", json!({"to": "Mallory", "pin": "0815"})),
        ("shown", json!({"to": "Grace"})),
        ("name", json!("relay")),
        ("approved", json!(["It is Zoe."])),
        ("expires_at", json!(9_999_999_999_999_u64)),
        ("id", json!("call-2")),
    ] {
        let scratch = Scratch::new();
        let Granted { world, approvals, toolbox, id, database } = Granted::new(&scratch).await;
        let stored = "SELECT value FROM toolgen_rows WHERE kind = 'approval-requests'";
        let text: String = database.query_row(stored, [], |row| row.get(0)).unwrap();
        let mut request: Value = serde_json::from_str(&text).unwrap();
        request[key] = value;
        let changed = "UPDATE toolgen_rows SET value = ? WHERE kind = 'approval-requests'";
        database.execute(changed, [request.to_string()]).unwrap();
        // The displayed call is the one that would run.
        if key == "shown" {
            assert_eq!(entry(&approvals, &id).await.redacted_arguments, json!({"to": "Grace"}));
        }
        let response = toolbox.resume_decided(&id, &turn()).await.unwrap().unwrap();
        assert_eq!(response.outcome.unwrap_err().code(), "APPROVAL_INVALID", "{key}");
        let left = entry(&approvals, &id).await;
        let refused = left.claim.unwrap().refused;
        assert_eq!(
            (left.state, refused.as_deref()),
            (ApprovalState::Granted, Some("APPROVAL_INVALID")),
            "{key}"
        );
        let response = toolbox.resume_decided(&id, &turn()).await.unwrap().unwrap();
        assert_eq!(response.outcome.unwrap_err().code(), "APPROVAL_INVALID", "{key}");
        assert!(world.paid.lock().unwrap().is_empty(), "{key}");
    }
}

/// A program that can write the database can restore earlier rows. The process trusts its own memory more.
#[tokio::test]
async fn restored_row_does_not_run_again_in_the_same_process() {
    for granted in [true, false] {
        let scratch = Scratch::new();
        let world = World::default();
        let approvals = Approvals::on(SqliteStore::open(scratch.database()).unwrap());
        let toolbox = builder(&world, &approvals).build().unwrap();
        let id = ask(&toolbox, "Ada").await.queue_id().to_owned();
        let database = Connection::open(scratch.database()).unwrap();
        database.execute_batch("CREATE TABLE kept AS SELECT * FROM toolgen_rows").unwrap();
        if granted {
            approvals.grant(&id, "Eve", "").await.unwrap();
        } else {
            approvals.deny(&id, "Eve", "").await.unwrap();
        }
        let first = toolbox.resume_decided(&id, &turn()).await.unwrap().unwrap();
        assert_eq!(first.is_error(), !granted);
        let put_back = "DELETE FROM toolgen_rows; INSERT INTO toolgen_rows SELECT * FROM kept";
        database.execute_batch(put_back).unwrap();
        approvals.grant(&id, "Mallory", "").await.unwrap();
        let second = toolbox.resume_decided(&id, &turn()).await.unwrap().unwrap();
        assert_eq!(second.outcome.unwrap_err().code(), "APPROVAL_USED");
        assert_eq!(world.paid.lock().unwrap().len(), usize::from(granted));
    }
}

#[tokio::test]
async fn worker_with_another_key_runs_and_consumes_nothing() {
    let scratch = Scratch::new();
    let world = World::default();
    let approvals = Approvals::on(SqliteStore::open(scratch.database()).unwrap());
    let keyed = |key: &str| builder(&world, &approvals).approval_key(key).build().unwrap();
    let (right, wrong) = (keyed(RIGHT), keyed(WRONG));
    for (granted, message) in [(true, "paid Ada"), (false, "too much")] {
        let id = ask(&right, "Ada").await.queue_id().to_owned();
        let state = if granted {
            approvals.grant(&id, "Eve", "").await.unwrap().state
        } else {
            approvals.deny(&id, "Eve", "too much").await.unwrap().state
        };
        let response = wrong.resume_decided(&id, &turn()).await.unwrap().unwrap();
        assert_eq!(response.outcome.unwrap_err().code(), "APPROVAL_INVALID");
        assert_eq!(entry(&approvals, &id).await.state, state);
        // No process waits for the other's claim to expire.
        assert_eq!(approvals.decided().await.unwrap().len(), 1);
        let response = right.resume_decided(&id, &turn()).await.unwrap().unwrap();
        assert!(response.text().contains(message), "{}", response.text());
        let over = entry(&approvals, &id).await;
        assert_eq!((over.state, over.claim.unwrap().refused), (ApprovalState::Finished, None));
    }
}

/// Workers with the right key and workers with a wrong key compete: one of those with the right key gets the call.
#[tokio::test]
async fn workers_with_another_key_do_not_block_a_call() {
    let scratch = Scratch::new();
    let world = World::default();
    let approvals = Approvals::on(SqliteStore::open(scratch.database()).unwrap());
    let keyed = |key: &str| builder(&world, &approvals).approval_key(key).build().unwrap();
    let (right, wrong) = (keyed(RIGHT), keyed(WRONG));
    let id = ask(&right, "Ada").await.queue_id().to_owned();
    approvals.grant(&id, "Eve", "").await.unwrap();
    let mut workers = tokio::task::JoinSet::new();
    for number in 0..8 {
        let toolbox = if number % 2 == 0 { right.clone() } else { wrong.clone() };
        let (approvals, id) = (approvals.clone(), id.clone());
        workers.spawn(async move {
            let mut ran = 0;
            while entry(&approvals, &id).await.state != ApprovalState::Finished {
                let response = toolbox.resume_decided(&id, &turn()).await;
                ran += u32::from(matches!(response, Ok(Some(response)) if !response.is_error()));
            }
            ran
        });
    }
    assert_eq!(workers.join_all().await.into_iter().sum::<u32>(), 1);
    assert_eq!(*world.paid.lock().unwrap(), ["Ada"]);
}

/// If anything fails between a claim and the run, the call is granted again, shows the reason, and runs in a worker
/// that can run it.
#[tokio::test]
async fn call_that_cannot_start_is_released_with_the_reason() {
    /// Pays a recipient in another way.
    #[tool(undocumented, name = "pay")]
    fn other(to: u32) -> String {
        format!("paid {to}")
    }
    let scratch = Scratch::new();
    let world = World::default();
    let approvals = Approvals::on(SqliteStore::open(scratch.database()).unwrap());
    let right = builder(&world, &approvals).approval_key(RIGHT).build().unwrap();
    let with = |registry: Registry| {
        let context = ToolboxContext::new().with_service(Arc::new(world.clone())).with_agent_id("clerk");
        Toolbox::builder(&registry).context(context).approval_key(RIGHT).approval_queue(approvals.clone())
    };
    let panics = |request: &ToolRequest<'_>| match request.approved() {
        true => panic!("a middleware fails"),
        false => MiddlewareDecision::Allow,
    };
    let all = || Registry::new(toolset![super::pay, super::relay]).unwrap();
    for (toolbox, code) in [
        (with(Registry::new(toolset![other]).unwrap()), "APPROVAL_INVALID"),
        (with(Registry::new(toolset![super::relay]).unwrap()), "TOOL_NOT_FOUND"),
        (with(all()).allow(["relay"]), "PERMISSION_DENIED"),
        (with(all()).middleware(panics), "PERMISSION_DENIED"),
    ] {
        let id = ask(&right, "Ada").await.queue_id().to_owned();
        approvals.grant(&id, "Eve", "").await.unwrap();
        let response = toolbox.build().unwrap().resume_decided(&id, &turn()).await.unwrap().unwrap();
        let message = response.outcome.unwrap_err();
        assert_eq!(message.code(), code, "{message}");
        let left = entry(&approvals, &id).await;
        assert_eq!(
            (left.state, left.claim.unwrap().refused.as_deref()),
            (ApprovalState::Granted, Some(code))
        );
        assert_eq!(right.resume_decided(&id, &turn()).await.unwrap().unwrap().text(), "paid Ada", "{code}");
    }
}

#[tokio::test]
async fn unreadable_column_hides_no_other_row() {
    for (column, value) in [
        ("value", "x'ff'"),
        ("value", "CAST(x'ff' AS TEXT)"),
        ("value", "12"),
        ("version", "'two'"),
        ("expires_at", "'yesterday'"),
        ("expires_at", "x'ff'"),
    ] {
        let scratch = Scratch::new();
        let Granted { world, approvals, toolbox, id, database } = Granted::new(&scratch).await;
        let other = ask(&toolbox, "Bob").await;
        approvals.grant(other.queue_id(), "Eve", "").await.unwrap();
        let change =
            format!("UPDATE toolgen_rows SET {column} = {value} WHERE kind = 'approvals' AND key = ?");
        database.execute(&change, [&id]).unwrap();
        let listed = approvals.list(&ApprovalState::ALL).await.unwrap();
        let damaged = listed.iter().find(|entry| entry.id.as_str() == id).unwrap();
        assert_eq!(damaged.damage.is_some(), column == "value", "{column} = {value}: {damaged:?}");
        assert_eq!(approvals.find(&id[..31]).await.unwrap().damage, damaged.damage);
        for entry in approvals.decided().await.unwrap() {
            if entry.id.as_str() != id {
                toolbox.resume_decided(&entry.id, &turn()).await.unwrap().unwrap();
            }
        }
        assert_eq!(*world.paid.lock().unwrap(), ["Bob"], "{column}");
    }
}

#[tokio::test]
async fn abandoned_call_is_not_stored_later() {
    let scratch = Scratch::new();
    let world = World::default();
    let approvals = Approvals::on(SqliteStore::open(scratch.database()).unwrap());
    let toolbox = builder(&world, &approvals).callback_timeout(Duration::from_millis(100)).build().unwrap();
    let other = Connection::open(scratch.database()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let call = ToolCall::new("call-1", "pay", json!({"to": "Ada", "pin": "0815"}));
    let error = toolbox.run(call, &turn()).await.outcome.unwrap_err();
    assert_eq!(error.code(), "APPROVAL_NOT_QUEUED");
    other.execute_batch("COMMIT").unwrap();
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(approvals.list(&ApprovalState::ALL).await.unwrap().is_empty());
}

#[tokio::test]
async fn secrets_are_erased_when_the_call_ends() {
    let scratch = Scratch::new();
    let Granted { approvals, toolbox, id, database, .. } = Granted::new(&scratch).await;
    let holds = || {
        database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        String::from_utf8_lossy(&std::fs::read(scratch.database()).unwrap()).contains("0815")
    };
    assert!(holds(), "it has to run with them");
    toolbox.resume_decided(&id, &turn()).await.unwrap().unwrap();
    assert_eq!(entry(&approvals, &id).await.state, ApprovalState::Finished);
    let log = scratch.folder().join("calls.db-wal");
    assert!(!String::from_utf8_lossy(&std::fs::read(log).unwrap()).contains("0815"), "nor in its log");
    assert!(!holds());
}

#[tokio::test]
async fn secrets_are_erased_when_the_call_starts() {
    let scratch = Scratch::new();
    let approvals = Approvals::on(SqliteStore::open(scratch.database()).unwrap());
    let toolbox = builder(&World::default(), &approvals).build().unwrap();
    let id = ask(&toolbox, "slow").await.queue_id().to_owned();
    approvals.grant(&id, "Eve", "").await.unwrap();
    let turn = turn();
    let run = toolbox.resume_decided(&id, &turn);
    assert!(tokio::time::timeout(Duration::from_millis(500), run).await.is_err(), "it does not come back");
    assert_eq!(entry(&approvals, &id).await.state, ApprovalState::Started);
    for file in ["calls.db", "calls.db-wal"] {
        let bytes = std::fs::read(scratch.folder().join(file)).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("0815"), "{file}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn approval_database_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let scratch = Scratch::new();
    let _granted = Granted::new(&scratch).await;
    for file in ["calls.db", "calls.db-wal", "calls.db-shm"] {
        let mode = std::fs::metadata(scratch.folder().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

#[tokio::test]
async fn opening_an_existing_store_changes_nothing() {
    let scratch = Scratch::new();
    Connection::open(scratch.database()).unwrap().execute_batch("CREATE TABLE other (x)").unwrap();
    assert!(SqliteStore::open_existing(scratch.database()).unwrap().is_none(), "nothing waits in it");
    let Granted { toolbox, id, .. } = Granted::new(&scratch).await;
    let seen = Approvals::on(SqliteStore::open_existing(scratch.database()).unwrap().unwrap());
    assert_eq!(seen.list(&[ApprovalState::Granted]).await.unwrap().len(), 1);
    assert_eq!(toolbox.resume_decided(&id, &turn()).await.unwrap().unwrap().text(), "paid Ada");
    let only = Approvals::on(SqliteStore::open_read_only(scratch.database()).unwrap().unwrap());
    assert_eq!(only.list(&[ApprovalState::Finished]).await.unwrap().len(), 1);
    let waiting = ask(&toolbox, "Bob").await;
    assert!(matches!(only.grant(waiting.queue_id(), "Eve", "").await, Err(ApprovalError::Queue(_))));
    let missing = scratch.folder().join("missing.db");
    assert!(SqliteStore::open_existing(&missing).is_err() && !missing.exists());
}

#[tokio::test]
async fn expired_rows_are_erased_on_the_next_read() {
    let scratch = Scratch::new();
    let approvals = Approvals::on(SqliteStore::open(scratch.database()).unwrap());
    let soon = Duration::from_millis(200);
    let toolbox = builder(&World::default(), &approvals).approval_expiry(soon).build().unwrap();
    let id = ask(&toolbox, "Ada").await.queue_id().to_owned();
    tokio::time::sleep(soon * 2).await;
    assert_eq!(entry(&approvals, &id).await.state, ApprovalState::Expired);
    for file in ["calls.db", "calls.db-wal"] {
        let bytes = std::fs::read(scratch.folder().join(file)).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("0815"), "{file}");
    }
}

#[tokio::test]
async fn unwritable_store_is_reported() {
    let scratch = Scratch::new();
    let Granted { toolbox, id, database, .. } = Granted::new(&scratch).await;
    database.execute_batch("DROP TABLE toolgen_rows").unwrap();
    let error = toolbox.resume_decided(&id, &turn()).await.unwrap_err();
    assert!(error.to_string().contains("toolgen_rows") && error.to_string().contains("calls.db"), "{error}");
    assert!(SqliteStore::open(scratch.folder()).is_err());
}
