//! Tests of approvals in every store: what is kept, and for how long.

use toolgen_runtime::layers::approval::APPROVAL_RETENTION;
use toolgen_runtime::store::Expected;

use super::homes;
use crate::approvals::{World, ask, builder, entry, turn};
use crate::prelude::*;

const KEY: &[u8; 32] = b"a key of thirty-two random bytes";

/// Returns whether a store contains a sealed call, and how long it keeps the entry.
async fn kept(store: &Arc<dyn Store>, id: &str) -> (bool, Duration) {
    let row = store.get("approvals", id).await.unwrap().unwrap();
    (store.get("approval-requests", id).await.unwrap().is_some(), row.left)
}

#[tokio::test]
async fn secrets_are_stored_only_until_the_call_starts_or_expires() {
    for home in homes() {
        let (store, name) = (home.open(), home.name());
        let (world, approvals) = (World::default(), Approvals::on(home.open()));
        let toolbox = builder(&world, &approvals).build().unwrap();
        let day = Duration::from_secs(24 * 60 * 60);
        let (granted, denied) = (ask(&toolbox, "Ada").await, ask(&toolbox, "Bob").await);
        for request in [&granted, &denied] {
            let (sealed, remaining) = kept(&store, request.queue_id()).await;
            assert!(
                sealed && remaining > APPROVAL_RETENTION && remaining <= APPROVAL_RETENTION + day,
                "{name}: {remaining:?}"
            );
        }
        approvals.grant(granted.queue_id(), "Eve", "").await.unwrap();
        approvals.deny(denied.queue_id(), "Eve", "").await.unwrap();
        for request in [&granted, &denied] {
            assert!(kept(&store, request.queue_id()).await.0, "{name}: its caller has no result yet");
            toolbox.resume_decided(request.queue_id(), &turn()).await.unwrap().unwrap();
            assert!(!kept(&store, request.queue_id()).await.0, "{name}");
        }
        let soon = builder(&world, &approvals).approval_expiry(Duration::from_millis(200)).build().unwrap();
        let late = ask(&soon, "Ada").await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert!(!kept(&store, late.queue_id()).await.0, "{name}: it can no longer run");
        let left = entry(&approvals, late.queue_id()).await;
        assert_eq!((left.state, &left.damage), (ApprovalState::Expired, &None), "{name}");
        assert_eq!(world.paid.lock().unwrap().len(), 1, "{name}");
    }
}

#[tokio::test]
async fn externally_changed_rows_are_listed_without_hiding_others() {
    for home in homes() {
        let (store, name) = (home.open(), home.name());
        let (world, approvals) = (World::default(), Approvals::on(home.open()));
        let toolbox = builder(&world, &approvals).build().unwrap();
        let (id, other) = (ask(&toolbox, "Ada").await, ask(&toolbox, "Bob").await);
        let (id, other) = (id.queue_id(), other.queue_id());
        approvals.grant(id, "Eve", "").await.unwrap();
        let stored = async |table: &str, id: &str| store.get(table, id).await.unwrap().unwrap().value;
        let own = [stored("approvals", id).await, stored("approval-requests", id).await];
        let foreign = stored("approval-requests", other).await;
        for (table, value, reason) in [
            ("approval-requests", foreign.as_slice(), "another row"),
            ("approval-requests", b"{", "EOF"),
            ("approval-requests", b"{}", "missing"),
            ("approvals", b"[]", "not an object"),
            ("approvals", b"\xff", "expected value"),
            ("approvals", br#"{"state": "granted"}"#, "missing"),
        ] {
            let hour = Duration::from_secs(3600);
            store.put(table, id, value, hour, Expected::Any).await.unwrap();
            let damaged = entry(&approvals, id).await;
            assert!(damaged.damage.as_ref().is_some_and(|it| it.contains(reason)), "{name}: {damaged:?}");
            let open = [ApprovalState::Granted, ApprovalState::Waiting];
            let listed = approvals.list(&open).await.unwrap();
            assert_eq!(listed.iter().filter(|entry| entry.damage.is_none()).count(), 1, "{name}");
            assert_eq!(listed.len(), 2, "{name}");
            // A worker continues with the other calls.
            assert!(approvals.decided().await.unwrap().is_empty(), "{name}");
            for refused in [
                toolbox.resume_decided(id, &turn()).await.unwrap_err(),
                approvals.deny(id, "Eve", "").await.unwrap_err(),
            ] {
                assert!(matches!(refused, ApprovalError::Damaged(_)), "{name}: {refused}");
            }
            for (table, value) in ["approvals", "approval-requests"].iter().zip(&own) {
                store.put(table, id, value, hour, Expected::Any).await.unwrap();
            }
        }
        // If a sealed call is missing, its entry is damaged. No worker has claimed it for that.
        store.delete("approval-requests", id, Expected::Any).await.unwrap();
        let error = toolbox.resume_decided(id, &turn()).await.unwrap_err();
        assert!(matches!(error, ApprovalError::Damaged(_)), "{name}: {error}");
        let left = entry(&approvals, id).await;
        assert_eq!((left.state, left.tool.as_str()), (ApprovalState::Granted, "pay"), "{name}");
        assert!(world.paid.lock().unwrap().is_empty(), "{name}");
    }
}

#[tokio::test]
async fn request_is_used_once_in_all_processes() {
    for home in homes() {
        let (world, name) = (World::default(), home.name());
        let of = || {
            let toolbox = builder(&world, &Approvals::on(MemoryStore::new())).approval_key(KEY);
            toolbox.approval_store(Approvals::on(home.open())).build().unwrap()
        };
        let request = ask(&of(), "Ada").await;
        assert!(Approvals::on(home.open()).list(&ApprovalState::ALL).await.unwrap().is_empty(), "{name}");
        let mut resumed = tokio::task::JoinSet::new();
        for _ in 0..12 {
            let (toolbox, request) = (of(), request.clone());
            resumed.spawn(async move { toolbox.resume(request, &turn()).await.outcome });
        }
        let (done, refused): (Vec<_>, Vec<_>) = resumed.join_all().await.into_iter().partition(Result::is_ok);
        assert_eq!((done.len(), refused.len()), (1, 11), "{name}");
        for error in refused {
            assert_eq!(error.unwrap_err().code(), "APPROVAL_USED", "{name}");
        }
        // The name is kept for a day longer than the request, because clocks differ.
        let row = home.open().get("approvals-used", request.queue_id()).await.unwrap().unwrap();
        assert!(row.left > Duration::from_secs(47 * 60 * 60), "{name}: {row:?}");
        assert_eq!(*world.paid.lock().unwrap(), ["Ada"], "{name}");
    }
}
