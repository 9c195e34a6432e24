//! Tests of the transitions between states, in every kind of queue.

use std::path::Path;

use tokio::task::JoinSet;
use toolgen_test_support::script;

use super::{World, ask, builder, entry, queues, turn, turn_of};
use crate::prelude::*;

/// A queue, a call in it, and the toolboxes that may run it.
struct Scene {
    world: World,
    approvals: Approvals,
    toolbox: Toolbox,
    /// A toolbox that ignores the claims of other workers.
    later: Toolbox,
    /// A toolbox that hangs before calls start.
    hanging: Toolbox,
    request: ApprovalRequest,
    /// The call of the current steps.
    id: String,
}

impl Scene {
    async fn new(approvals: &Approvals, to: &str) -> Scene {
        let world = World::default();
        let key = b"a key of thirty-two random bytes";
        let expiry = if to == "late" { Duration::ZERO } else { Duration::from_secs(60) };
        let toolbox = builder(&world, approvals).approval_key(key).approval_expiry(expiry).build().unwrap();
        let impatient = approvals.clone().with_claim_expiry(Duration::ZERO);
        let later = builder(&world, &impatient).approval_key(key).build().unwrap();
        let hanging = builder(&world, approvals).approval_key(key).middleware(Hangs).build().unwrap();
        let request = ask(&toolbox, to).await;
        let id = request.queue_id().to_owned();
        Scene { world, approvals: approvals.clone(), toolbox, later, hanging, request, id }
    }

    async fn step(&mut self, step: &str) -> String {
        let id = self.id.clone();
        let decided = |decided: Result<_, ApprovalError>| match decided {
            Ok(entry) => state(&entry),
            Err(reason) => format!("error: {reason}"),
        };
        match step.split_once(' ').unwrap_or((step, "")) {
            ("state", _) => state(&entry(&self.approvals, &id).await),
            ("grant", who) => decided(self.approvals.grant(&id, who.to_owned(), "").await),
            ("deny", who) => decided(self.approvals.deny(&id, who.to_owned(), "too much").await),
            ("close" | "open", _) => {
                *self.world.closed.lock().unwrap() = step == "close";
                String::new()
            }
            ("run", how) => {
                let toolbox = if how == "later" { &self.later } else { &self.toolbox };
                let turn = if how == "as bob" { turn_of("bob") } else { turn() };
                match toolbox.resume_decided(&id, &turn).await {
                    Ok(Some(response)) => told(&response),
                    Ok(None) => "none".to_owned(),
                    Err(reason) => format!("error: {reason}"),
                }
            }
            // The worker dies during the call.
            ("claim" | "start", _) => {
                let toolbox = if step == "claim" { &self.hanging } else { &self.toolbox };
                let turn = turn();
                let run = toolbox.resume_decided(&id, &turn);
                assert!(tokio::time::timeout(Duration::from_millis(300), run).await.is_err(), "it was over");
                state(&entry(&self.approvals, &id).await)
            }
            ("resume", _) => {
                let request = self.request.clone().approved_by("Ada");
                told(&self.toolbox.resume(request, &turn()).await)
            }
            // The rest of the case is about the call that waits now.
            ("next", _) => {
                let waiting = self.approvals.list(&[ApprovalState::Waiting]).await.unwrap();
                assert_eq!(waiting.len(), 1);
                assert_ne!(self.id, waiting[0].id.as_str());
                self.id = waiting[0].id.to_string();
                state(&waiting[0])
            }
            _ => panic!("no such step: {step}"),
        }
    }
}

fn state(entry: &QueuedApproval) -> String {
    let code = entry.outcome.as_ref().and_then(|outcome| outcome.error_code.clone());
    format!("{} {}", entry.state, code.unwrap_or_default()).trim_end().to_owned()
}

fn told(response: &ToolResponse) -> String {
    match &response.outcome {
        Ok(result) => result.to_text(),
        Err(error) => format!("{} {error}", error.code()),
    }
}

/// Does not return from an approved call.
struct Hangs;

impl Middleware for Hangs {
    fn before<'a>(&'a self, request: &'a ToolRequest<'a>) -> BoxFuture<'a, MiddlewareDecision> {
        Box::pin(async {
            if request.approved() {
                std::future::pending::<()>().await;
            }
            MiddlewareDecision::Allow
        })
    }
}

/// `pay` requests a call in every queue, and any other line runs a step on it in each queue.
#[test]
fn all_queues_follow_the_state_script() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let _guard = runtime.enter();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stores/approvals/scripts/states.txt");
    script::replay(&file, || {
        let (runtime, queues, mut scenes) = (&runtime, queues(), Vec::new());
        move |word, rest| {
            if word == "pay" {
                let started =
                    queues.iter().map(|(_, approvals, _)| runtime.block_on(Scene::new(approvals, rest)));
                scenes = started.collect();
                return Vec::new();
            }
            let step = format!("{word} {rest}");
            let mut came = Vec::new();
            for ((queue, ..), scene) in queues.iter().zip(&mut scenes) {
                came.push((queue, runtime.block_on(scene.step(step.trim_end()))));
                let paid = scene.world.paid.lock().unwrap().len();
                assert!(paid <= 1, "{queue}, {step}: {paid}");
            }
            let alike = came.iter().all(|(_, text)| *text == came[0].1);
            came.truncate(if alike { 1 } else { came.len() });
            came.iter()
                .map(|(queue, text)| if alike { text.clone() } else { format!("{queue}: {text}") })
                .collect()
        }
    });
}

#[tokio::test]
async fn one_worker_claims_and_one_decision_counts() {
    for (queue, approvals, _folder) in queues() {
        let world = World::default();
        let toolbox = builder(&world, &approvals).build().unwrap();
        let id = ask(&toolbox, "Ada").await.queue_id().to_owned();
        let mut deciding = JoinSet::new();
        for number in 0..8 {
            let (approvals, id) = (approvals.clone(), id.clone());
            deciding.spawn(async move { approvals.grant(&id, format!("E{number}"), "").await.is_ok() });
        }
        assert_eq!(deciding.join_all().await.into_iter().filter(|it| *it).count(), 1, "{queue}");
        let mut running = JoinSet::new();
        for _ in 0..16 {
            let (toolbox, id) = (toolbox.clone(), id.clone());
            running.spawn(async move { toolbox.resume_decided(&id, &turn()).await.unwrap().is_some() });
        }
        assert_eq!(running.join_all().await.into_iter().filter(|it| *it).count(), 1, "{queue}");
        assert_eq!(*world.paid.lock().unwrap(), ["Ada"], "{queue}");
    }
}

#[tokio::test]
async fn queue_entry_has_no_secrets_and_names_the_actors() {
    for (queue, approvals, _folder) in queues() {
        let world = World::default();
        let named = approvals.clone().with_worker("worker-3");
        let toolbox = builder(&world, &named).build().unwrap();
        let request = ask(&toolbox, "Ada").await;
        let waiting = entry(&approvals, request.queue_id()).await;
        assert_eq!(waiting.redacted_arguments, json!({"to": "Ada", "pin": "[REDACTED]"}), "{queue}");
        assert_eq!((waiting.tool.as_str(), waiting.call_id.as_str()), ("pay", "call-1"));
        let caller = &waiting.caller;
        assert_eq!(
            [caller.principal.as_deref(), caller.session_id.as_deref(), caller.agent_id.as_deref()],
            [Some("alice"), Some("monday"), Some("clerk")]
        );
        assert_eq!(waiting.reasons, ["It costs money."]);
        assert_eq!(waiting.expires_at, request.expires_at);
        approvals.grant(&waiting.id, "Eve", "it is due").await.unwrap();
        assert_eq!(approvals.decided().await.unwrap().len(), 1);
        toolbox.resume_decided(&waiting.id, &turn()).await.unwrap().unwrap();
        assert!(approvals.decided().await.unwrap().is_empty());
        let over = entry(&approvals, &waiting.id).await;
        let (decision, claim) = (over.decision.clone().unwrap(), over.claim.clone().unwrap());
        assert_eq!(
            (decision.granted, decision.by.as_str(), decision.note.as_str()),
            (true, "Eve", "it is due")
        );
        assert_eq!(claim.worker.as_str(), "worker-3");
        let ended = over.outcome.clone().unwrap().at;
        assert!(waiting.requested_at <= decision.at && decision.at <= claim.at && claim.at <= ended);
        for entry in [waiting, over] {
            let text = format!("{}{entry:?}", serde_json::to_string(&entry).unwrap());
            assert!(!text.contains("0815"), "{text}");
        }
    }
}

#[tokio::test]
async fn calls_are_found_by_id_prefix() {
    for (queue, approvals, _folder) in queues() {
        let world = World::default();
        let toolbox = builder(&world, &approvals).build().unwrap();
        let mut ids = Vec::new();
        // Of 17 hexadecimal numbers, two begin with the same digit.
        for _ in 0..17 {
            ids.push(ask(&toolbox, "Ada").await.queue_id().to_owned());
        }
        let listed = approvals.list(&ApprovalState::ALL).await.unwrap();
        assert_eq!(listed.len(), 17, "{queue}");
        assert_eq!(approvals.find(&ids[0]).await.unwrap().id.as_str(), ids[0]);
        assert_eq!(approvals.find(&ids[1][..20]).await.unwrap().id.as_str(), ids[1]);
        let alike = |id: &&String| ids.iter().filter(|other| other[..1] == id[..1]).count() > 1;
        let several = ids.iter().find(alike).unwrap();
        let error = approvals.find(&several[..1]).await.unwrap_err();
        assert!(matches!(error, ApprovalError::Ambiguous { count: 2.., .. }), "{error}");
        for nothing in ["", "xyz"] {
            let error = approvals.find(nothing).await.unwrap_err();
            assert!(matches!(error, ApprovalError::NotFound { .. }), "{error}");
        }
        assert!(matches!(approvals.grant("xyz", "Eve", "").await, Err(ApprovalError::NotFound { .. })));
    }
}
