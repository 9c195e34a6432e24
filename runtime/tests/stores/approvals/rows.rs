//! What stands in the database: rows that something else has changed, and those of earlier versions.

use toolgen_runtime::ProviderContext;
use toolgen_runtime::layers::approval::APPROVALS_KEPT;
use toolgen_runtime::layers::audit::rusqlite::params;

use super::{Scratch, World, ask, builder, entry, turn};
use crate::prelude::*;

const RIGHT: &str = "the right key, of thirty-two bytes";
const WRONG: &str = "a wrong key, of thirty-two bytes or more";

/// A call that was granted, and the database that it is in.
struct Granted {
    world: World,
    approvals: Approvals,
    provider: Provider,
    id: String,
    database: Connection,
}

impl Granted {
    async fn new(scratch: &Scratch) -> Granted {
        let store = SqliteApprovals::open(scratch.database()).unwrap();
        let (world, approvals) = (World::default(), Approvals::new(store));
        let provider = builder(&world, &approvals).build().unwrap();
        let id = ask(&provider, "Ada").await.queue_id().to_owned();
        approvals.grant(&id, "Eve", "").await.unwrap();
        let database = Connection::open(scratch.database()).unwrap();
        Granted { world, approvals, provider, id, database }
    }
}

#[tokio::test]
async fn a_call_that_was_changed_in_the_database_does_not_run() {
    for (key, value) in [
        ("arguments", json!({"to": "Mallory", "pin": "0815"})),
        ("shown", json!({"to": "Grace"})),
        ("name", json!("relay")),
        ("approved", json!(["It is Zoe."])),
        ("expires_at", json!(9_999_999_999_999_u64)),
        ("id", json!("call-2")),
    ] {
        let scratch = Scratch::new();
        let Granted { world, approvals, provider, id, database } = Granted::new(&scratch).await;
        let stored = "SELECT request FROM tool_approval_queue";
        let text: String = database.query_row(stored, [], |row| row.get(0)).unwrap();
        let mut request: Value = serde_json::from_str(&text).unwrap();
        request[key] = value;
        database.execute("UPDATE tool_approval_queue SET request = ?", [request.to_string()]).unwrap();
        // Who looks at it sees what would run.
        if key == "shown" {
            assert_eq!(entry(&approvals, &id).await.shown, json!({"to": "Grace"}));
        }
        let response = provider.resume_decided(&id, &turn()).await.unwrap().unwrap();
        assert_eq!(response.outcome.unwrap_err().code(), "APPROVAL_INVALID", "{key}");
        let left = entry(&approvals, &id).await;
        let refused = left.claim.unwrap().refused;
        assert_eq!(
            (left.state, refused.as_deref()),
            (ApprovalState::Granted, Some("APPROVAL_INVALID")),
            "{key}"
        );
        let response = provider.resume_decided(&id, &turn()).await.unwrap().unwrap();
        assert_eq!(response.outcome.unwrap_err().code(), "APPROVAL_INVALID", "{key}");
        assert!(world.paid.lock().unwrap().is_empty(), "{key}");
    }
}

/// Whoever can write the database can write what stood there before. A process believes itself more.
#[tokio::test]
async fn a_row_that_is_put_back_runs_no_second_time_in_the_process_that_knows_it() {
    for granted in [true, false] {
        let scratch = Scratch::new();
        let world = World::default();
        let approvals = Approvals::new(SqliteApprovals::open(scratch.database()).unwrap());
        let provider = builder(&world, &approvals).build().unwrap();
        let id = ask(&provider, "Ada").await.queue_id().to_owned();
        let database = Connection::open(scratch.database()).unwrap();
        database.execute_batch("CREATE TABLE kept AS SELECT * FROM tool_approval_queue").unwrap();
        if granted {
            approvals.grant(&id, "Eve", "").await.unwrap();
        } else {
            approvals.deny(&id, "Eve", "").await.unwrap();
        }
        let first = provider.resume_decided(&id, &turn()).await.unwrap().unwrap();
        assert_eq!(first.is_error(), !granted);
        let put_back = "DELETE FROM tool_approvals; DELETE FROM tool_approval_queue; \
             INSERT INTO tool_approval_queue SELECT * FROM kept";
        database.execute_batch(put_back).unwrap();
        approvals.grant(&id, "Mallory", "").await.unwrap();
        let second = provider.resume_decided(&id, &turn()).await.unwrap().unwrap();
        assert_eq!(second.outcome.unwrap_err().code(), "APPROVAL_USED");
        assert_eq!(world.paid.lock().unwrap().len(), usize::from(granted));
    }
}

#[tokio::test]
async fn a_worker_with_another_key_runs_nothing_and_uses_nothing_up() {
    let scratch = Scratch::new();
    let world = World::default();
    let approvals = Approvals::new(SqliteApprovals::open(scratch.database()).unwrap());
    let keyed = |key: &str| builder(&world, &approvals).approval_key(key).build().unwrap();
    let (right, wrong) = (keyed(RIGHT), keyed(WRONG));
    for (granted, told) in [(true, "paid Ada"), (false, "too much")] {
        let id = ask(&right, "Ada").await.queue_id().to_owned();
        let state = if granted {
            approvals.grant(&id, "Eve", "").await.unwrap().state
        } else {
            approvals.deny(&id, "Eve", "too much").await.unwrap().state
        };
        let response = wrong.resume_decided(&id, &turn()).await.unwrap().unwrap();
        assert_eq!(response.outcome.unwrap_err().code(), "APPROVAL_INVALID");
        assert_eq!(entry(&approvals, &id).await.state, state);
        // Nobody waits for the claim of the other to expire.
        assert_eq!(approvals.decided().await.unwrap().len(), 1);
        let response = right.resume_decided(&id, &turn()).await.unwrap().unwrap();
        assert!(response.text().contains(told), "{}", response.text());
        let over = entry(&approvals, &id).await;
        assert_eq!((over.state, over.claim.unwrap().refused), (ApprovalState::Finished, None));
    }
}

/// Workers with the right key and with another race: those with the right one get the call, one of them.
#[tokio::test]
async fn workers_with_another_key_keep_the_call_from_nobody_and_it_runs_once() {
    let scratch = Scratch::new();
    let world = World::default();
    let approvals = Approvals::new(SqliteApprovals::open(scratch.database()).unwrap());
    let keyed = |key: &str| builder(&world, &approvals).approval_key(key).build().unwrap();
    let (right, wrong) = (keyed(RIGHT), keyed(WRONG));
    let id = ask(&right, "Ada").await.queue_id().to_owned();
    approvals.grant(&id, "Eve", "").await.unwrap();
    let mut workers = tokio::task::JoinSet::new();
    for number in 0..8 {
        let provider = if number % 2 == 0 { right.clone() } else { wrong.clone() };
        let (approvals, id) = (approvals.clone(), id.clone());
        workers.spawn(async move {
            let mut ran = 0;
            while entry(&approvals, &id).await.state != ApprovalState::Finished {
                let response = provider.resume_decided(&id, &turn()).await;
                ran += u32::from(matches!(response, Ok(Some(response)) if !response.is_error()));
            }
            ran
        });
    }
    assert_eq!(workers.join_all().await.into_iter().sum::<u32>(), 1);
    assert_eq!(*world.paid.lock().unwrap(), ["Ada"]);
}

/// Whatever happens between a claim and the run, the call is granted afterwards, says why, and runs for a worker that
/// can run it.
#[tokio::test]
async fn a_call_that_a_worker_cannot_start_is_given_back_with_the_reason() {
    /// Pays somebody in another way.
    #[tool(undocumented, name = "pay")]
    fn other(to: u32) -> String {
        format!("paid {to}")
    }
    let scratch = Scratch::new();
    let world = World::default();
    let approvals = Approvals::new(SqliteApprovals::open(scratch.database()).unwrap());
    let right = builder(&world, &approvals).approval_key(RIGHT).build().unwrap();
    let with = |registry: Registry| {
        let context = ProviderContext::new().with_service(Arc::new(world.clone())).with_agent_id("clerk");
        Provider::builder(&registry).context(context).approval_key(RIGHT).approval_queue(approvals.clone())
    };
    let panics = |request: &ToolRequest<'_>| match request.approved() {
        true => panic!("a middleware fails"),
        false => Decision::Allow,
    };
    let all = || Registry::new(toolset![super::pay, super::relay]).unwrap();
    for (provider, code) in [
        (with(Registry::new(toolset![other]).unwrap()), "APPROVAL_INVALID"),
        (with(Registry::new(toolset![super::relay]).unwrap()), "TOOL_NOT_FOUND"),
        (with(all()).allow(["relay"]), "PERMISSION_DENIED"),
        (with(all()).middleware(panics), "PERMISSION_DENIED"),
    ] {
        let id = ask(&right, "Ada").await.queue_id().to_owned();
        approvals.grant(&id, "Eve", "").await.unwrap();
        let response = provider.build().unwrap().resume_decided(&id, &turn()).await.unwrap().unwrap();
        let told = response.outcome.unwrap_err();
        assert_eq!(told.code(), code, "{told}");
        let left = entry(&approvals, &id).await;
        assert_eq!(
            (left.state, left.claim.unwrap().refused.as_deref()),
            (ApprovalState::Granted, Some(code))
        );
        assert_eq!(right.resume_decided(&id, &turn()).await.unwrap().unwrap().text(), "paid Ada", "{code}");
    }
}

#[tokio::test]
async fn a_row_that_cannot_be_read_is_shown_as_that_and_hides_no_other() {
    let scratch = Scratch::new();
    let Granted { world, approvals, provider, id, database } = Granted::new(&scratch).await;
    let other = ask(&provider, "Bob").await;
    let stored = "SELECT request FROM tool_approval_queue WHERE id = ?";
    let stored: String = database.query_row(stored, [other.queue_id()], |row| row.get(0)).unwrap();
    for (column, value, why) in [
        ("request", stored.as_str(), "another row"),
        ("request", "{", "EOF"),
        ("request", "{}", "missing"),
        ("entry", "[]", "not an object"),
    ] {
        let change = format!("UPDATE tool_approval_queue SET {column} = ?1 WHERE id = ?2");
        database.execute(&change, params![value, id]).unwrap();
        let damaged = entry(&approvals, &id).await;
        assert!(damaged.damage.as_ref().is_some_and(|damage| damage.contains(why)), "{damaged:?}");
        let listed = approvals.list(&[ApprovalState::Granted, ApprovalState::Waiting]).await.unwrap();
        assert_eq!(listed.iter().filter(|entry| entry.damage.is_none()).count(), 1);
        assert_eq!(listed.len(), 2);
        // A worker goes on with the others.
        assert!(approvals.decided().await.unwrap().is_empty());
        for refused in [
            provider.resume_decided(&id, &turn()).await.unwrap_err(),
            approvals.deny(&id, "Eve", "").await.unwrap_err(),
        ] {
            assert!(matches!(refused, ApprovalError::Damaged(_)), "{refused}");
        }
    }
    assert!(world.paid.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_column_that_cannot_be_read_is_the_damage_of_its_row() {
    for (column, value) in [
        ("entry", "x'ff'"),
        ("entry", "CAST(x'ff' AS TEXT)"),
        ("request", "x'ff'"),
        ("version", "'two'"),
        ("asked_at", "'yesterday'"),
        ("expires_at", "x'ff'"),
    ] {
        let scratch = Scratch::new();
        let Granted { world, approvals, provider, id, database } = Granted::new(&scratch).await;
        let other = ask(&provider, "Bob").await;
        approvals.grant(other.queue_id(), "Eve", "").await.unwrap();
        let change = format!("UPDATE tool_approval_queue SET {column} = {value} WHERE id = ?");
        database.execute(&change, [&id]).unwrap();
        let listed = approvals.list(&ApprovalState::ALL).await.unwrap();
        let damaged = listed.iter().find(|entry| entry.id.as_str() == id).unwrap();
        let damage = damaged.damage.as_deref().unwrap();
        assert!(damage.contains(&format!("the column `{column}`")), "{damage}");
        assert_eq!(approvals.find(&id[..31]).await.unwrap().damage.as_deref(), Some(damage));
        for entry in approvals.decided().await.unwrap() {
            provider.resume_decided(&entry.id, &turn()).await.unwrap().unwrap();
        }
        assert_eq!(*world.paid.lock().unwrap(), ["Bob"], "{column}");
    }
}

#[tokio::test]
async fn a_call_that_was_given_up_is_not_stored_later() {
    let scratch = Scratch::new();
    let world = World::default();
    let approvals = Approvals::new(SqliteApprovals::open(scratch.database()).unwrap());
    let provider = builder(&world, &approvals).callback_timeout(Duration::from_millis(100)).build().unwrap();
    let other = Connection::open(scratch.database()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let call = ToolCall::new("call-1", "pay", json!({"to": "Ada", "pin": "0815"}));
    let why = provider.call(call, &turn()).await.outcome.unwrap_err();
    assert_eq!(why.code(), "APPROVAL_NOT_QUEUED");
    other.execute_batch("COMMIT").unwrap();
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(approvals.list(&ApprovalState::ALL).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_call_whose_sealed_part_is_gone_is_shown_and_does_not_run() {
    let scratch = Scratch::new();
    let Granted { approvals, provider, id, database, .. } = Granted::new(&scratch).await;
    database.execute("UPDATE tool_approval_queue SET request = NULL", []).unwrap();
    assert_eq!(entry(&approvals, &id).await.tool.as_str(), "pay");
    let why = provider.resume_decided(&id, &turn()).await.unwrap_err();
    assert!(matches!(why, ApprovalError::Damaged(_)), "{why}");
    // No worker has claimed it for that.
    assert_eq!(entry(&approvals, &id).await.state, ApprovalState::Granted);
    assert!(approvals.decided().await.unwrap().is_empty());
}

#[tokio::test]
async fn secrets_are_gone_from_the_database_when_the_call_is_over() {
    let scratch = Scratch::new();
    let Granted { approvals, provider, id, database, .. } = Granted::new(&scratch).await;
    let holds = || {
        database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        String::from_utf8_lossy(&std::fs::read(scratch.database()).unwrap()).contains("0815")
    };
    assert!(holds(), "it has to run with them");
    provider.resume_decided(&id, &turn()).await.unwrap().unwrap();
    assert_eq!(entry(&approvals, &id).await.state, ApprovalState::Finished);
    let log = scratch.folder().join("calls.db-wal");
    assert!(!String::from_utf8_lossy(&std::fs::read(log).unwrap()).contains("0815"), "nor in its log");
    assert!(!holds());
}

#[tokio::test]
async fn secrets_are_gone_from_when_the_call_starts() {
    let scratch = Scratch::new();
    let approvals = Approvals::new(SqliteApprovals::open(scratch.database()).unwrap());
    let provider = builder(&World::default(), &approvals).build().unwrap();
    let id = ask(&provider, "slow").await.queue_id().to_owned();
    approvals.grant(&id, "Eve", "").await.unwrap();
    let turn = turn();
    let run = provider.resume_decided(&id, &turn);
    assert!(tokio::time::timeout(Duration::from_millis(500), run).await.is_err(), "it does not come back");
    assert_eq!(entry(&approvals, &id).await.state, ApprovalState::Started);
    for file in ["calls.db", "calls.db-wal"] {
        let bytes = std::fs::read(scratch.folder().join(file)).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("0815"), "{file}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn nobody_else_reads_the_database() {
    use std::os::unix::fs::PermissionsExt as _;
    let scratch = Scratch::new();
    let _granted = Granted::new(&scratch).await;
    for file in ["calls.db", "calls.db-wal", "calls.db-shm"] {
        let mode = std::fs::metadata(scratch.folder().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

#[tokio::test]
async fn a_database_of_an_earlier_version_gets_a_queue_and_keeps_its_names() {
    let scratch = Scratch::new();
    let old =
        "CREATE TABLE tool_approvals (name TEXT PRIMARY KEY, expires_at INTEGER NOT NULL) WITHOUT ROWID;
        INSERT INTO tool_approvals VALUES ('used', 9999999999999);";
    Connection::open(scratch.database()).unwrap().execute_batch(old).unwrap();
    assert!(SqliteApprovals::open_existing(scratch.database()).unwrap().is_none(), "nothing waits in it");
    let store = SqliteApprovals::open(scratch.database()).unwrap();
    let later = SystemTime::now() + Duration::from_secs(60);
    assert!(!store.take("used", later).await.unwrap());
    assert!(store.take("new", later).await.unwrap());
    let Granted { approvals, provider, id, .. } = Granted::new(&scratch).await;
    let seen = Approvals::new(SqliteApprovals::open_existing(scratch.database()).unwrap().unwrap());
    assert_eq!(seen.list(&[ApprovalState::Granted]).await.unwrap().len(), 1);
    assert_eq!(provider.resume_decided(&id, &turn()).await.unwrap().unwrap().text(), "paid Ada");
    assert!(approvals.decided().await.unwrap().is_empty());
    // Looking changes nothing.
    let only = Approvals::new(SqliteApprovals::open_read_only(scratch.database()).unwrap().unwrap());
    assert_eq!(only.list(&[ApprovalState::Finished]).await.unwrap().len(), 1);
    let waiting = ask(&provider, "Bob").await;
    assert!(matches!(only.grant(waiting.queue_id(), "Eve", "").await, Err(ApprovalError::Queue(_))));
    let missing = scratch.folder().join("missing.db");
    assert!(SqliteApprovals::open_existing(&missing).is_err() && !missing.exists());
}

#[tokio::test]
async fn rows_are_forgotten_long_after_they_expired_and_their_secrets_at_once() {
    let scratch = Scratch::new();
    let store = SqliteApprovals::open(scratch.database()).unwrap();
    let now = SystemTime::now();
    let row = |id: &'static str, expires_at| QueueRow {
        id: id.into(),
        version: 1,
        state: ApprovalState::Waiting,
        asked_at: now,
        expires_at,
        entry: "{}".to_owned(),
        request: Some("secret".to_owned()),
    };
    let second = Duration::from_secs(1);
    store.insert(row("old", now - APPROVALS_KEPT - second)).await.unwrap();
    store.insert(row("recent", now - second)).await.unwrap();
    store.insert(row("new", now + second * 60)).await.unwrap();
    assert!(store.insert(row("new", now)).await.is_err(), "an ID is one call's");
    assert!(store.read("old").await.unwrap().is_none());
    assert_eq!(store.read("recent").await.unwrap().unwrap().request, None);
    assert_eq!(store.read("new").await.unwrap().unwrap().request.as_deref(), Some("secret"));
    // Also of those that expire later: whoever looks clears them.
    let soon = now + Duration::from_millis(300);
    store.insert(row("listed", soon)).await.unwrap();
    store.insert(row("read", soon)).await.unwrap();
    tokio::time::sleep(Duration::from_millis(400)).await;
    let database = Connection::open(scratch.database()).unwrap();
    let sealed = || {
        let count = "SELECT COUNT(*) FROM tool_approval_queue WHERE request IS NOT NULL";
        database.query_row(count, [], |row| row.get::<_, u32>(0)).unwrap()
    };
    assert_eq!(sealed(), 3);
    assert_eq!(store.read("read").await.unwrap().unwrap().request, None);
    assert_eq!(store.list(&[ApprovalState::Waiting]).await.unwrap().len(), 4);
    assert_eq!(sealed(), 1);
}
