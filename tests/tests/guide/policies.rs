//! Policies, approvals, records.

use serde_json::json;
use toolgen_runtime::{Provider, Registry, ToolCall, ToolContext, ToolError, toolset};

use crate::AnyResult;

use toolgen_runtime::tool;

/// Pays somebody.
#[tool(category = "money", scopes("pay"), network("bank.example"))]
fn pay(
    /// Who is paid.
    to: &str,
    /// How much, in cents.
    #[arg(range = 1..=100_000)]
    cents: u32,
) -> String {
    format!("paid {cents} to {to}")
}

/// Tells the balance.
#[tool(read_only, category = "money", scopes("look"), network("bank.example"))]
fn balance() -> u32 {
    7
}

fn looking() -> AnyResult<Provider> {
    let registry = Registry::new(toolset![pay, balance])?;
    use toolgen_runtime::{Limits, ProviderContext};

    let context = ProviderContext::new().with_limits(Limits { read_only: true, ..Limits::ANY });
    let provider = Provider::builder(&registry).context(context).build()?;
    Ok(provider)
}

#[tokio::test]
async fn a_limit_refuses() {
    let call = ToolCall::new("1", "pay", json!({"to": "Ada", "cents": 5}));
    let answer = looking().unwrap().call(call, &ToolContext::new("turn", "")).await;
    assert!(answer.is_error(), "{}", answer.text());
}

fn ruled() -> AnyResult<Provider> {
    let registry = Registry::new(toolset![pay, balance])?;
    use toolgen_runtime::layers::policy::Rules;

    let rules = Rules::builder().include(["category:money"]).exclude(["effect:destructive"]).build()?;
    let provider = Provider::builder(&registry).rules(rules).build()?; // a rule that matches no tool is an error

    Ok(provider)
}

#[test]
fn rules_choose() {
    let names: Vec<_> = ruled().unwrap().list().iter().map(|tool| tool.name.to_string()).collect();
    assert_eq!(names, ["balance"]);
}

async fn scoped() -> AnyResult<String> {
    let provider = Registry::new(toolset![pay, balance])?.provider(Default::default());
    use toolgen_runtime::Principal;

    let ada = Principal::new("key-7").with_scopes(["look"]);
    let turn = ToolContext::new("turn-1", "").with_principal(ada);

    let call = ToolCall::new("call-1", "pay", json!({"to": "Bob", "cents": 100}));
    let answer = provider.call(call, &turn).await; // an error: the scope `pay` is missing

    assert!(answer.is_error());
    Ok(answer.text().to_owned())
}

#[tokio::test]
async fn scopes_are_checked() {
    assert!(scoped().await.unwrap().contains("scope 'pay'"));
}

fn limited() -> AnyResult<Provider> {
    let registry = Registry::new(toolset![pay, balance])?;
    use std::time::Duration;

    use toolgen_runtime::layers::rate::WindowLimit;

    let limit =
        WindowLimit::new().with_window(Duration::from_secs(60)).with_per_tool(10).with_per_principal(30);
    let provider = Provider::builder(&registry).rate_limit(limit).build()?;
    Ok(provider)
}

#[tokio::test]
async fn rates_are_limited() {
    let provider = limited().unwrap();
    let turn = ToolContext::new("turn", "");
    for _ in 0..10 {
        assert!(!provider.call(ToolCall::new("1", "balance", json!({})), &turn).await.is_error());
    }
    assert!(provider.call(ToolCall::new("1", "balance", json!({})), &turn).await.is_error());
}

mod approvals {
    use super::*;

    use toolgen_runtime::BoxFuture;
    use toolgen_runtime::layers::middleware::{
        Approval, ApprovalRequest, Approver, Decision, Middleware, ToolRequest,
    };

    struct LargeSums;

    impl Middleware for LargeSums {
        fn before<'a>(&'a self, request: &'a ToolRequest<'a>) -> BoxFuture<'a, Decision> {
            Box::pin(async {
                match request.arguments["cents"].as_u64() {
                    Some(cents) if cents >= 5_000 => {
                        Decision::NeedApproval(format!("It costs {cents} cents."))
                    }
                    _ => Decision::Allow,
                }
            })
        }
    }

    struct Terminal;

    impl Approver for Terminal {
        fn approve<'a>(
            &'a self,
            request: &'a ApprovalRequest,
            _: &'a ToolContext,
        ) -> BoxFuture<'a, Approval> {
            Box::pin(async {
                println!("{} {}\n{}", request.name, request.shown, request.reasons.join("\n"));
                match read_line().await.as_str() {
                    "yes" => Approval::ApprovedBy("the person at the terminal".into()),
                    "later" => Approval::Later,
                    _ => Approval::Rejected("The person at the terminal said no.".to_owned()),
                }
            })
        }
    }

    fn provider(registry: &Registry) -> Result<Provider, Box<dyn std::error::Error>> {
        Ok(Provider::builder(registry).middleware(LargeSums).approver(Terminal).build()?)
    }

    fn closures(registry: &Registry) -> Result<Provider, Box<dyn std::error::Error>> {
        let provider = Provider::builder(registry)
            .middleware(|request: &ToolRequest<'_>| match request.arguments["cents"].as_u64() {
                Some(5_000..) => Decision::NeedApproval("It is much.".to_owned()),
                _ => Decision::Allow,
            })
            .approver(|request: &ApprovalRequest, _: &ToolContext| {
                Approval::Rejected(format!("No {} today.", request.name))
            })
            .build()?;
        Ok(provider)
    }

    async fn read_line() -> String {
        "later".to_owned()
    }

    async fn later() -> AnyResult<String> {
        let registry = Registry::new(toolset![pay, balance])?;
        let provider = Provider::builder(&registry).middleware(LargeSums).build()?;
        let turn = ToolContext::new("turn-1", "");
        let call = ToolCall::new("call-1", "pay", json!({"to": "Ada", "cents": 9_000}));
        let response = provider.call(call, &turn).await;
        let Err(ToolError::ApprovalRequired(request)) = response.outcome else {
            return Err("it did not wait".into());
        };
        let stored = serde_json::to_string(&request)?; // in a database, perhaps; shown to somebody

        let request: ApprovalRequest = serde_json::from_str(&stored)?;
        let response = provider.resume(request.approved_by("Grace"), &turn).await;
        Ok(response.text().to_owned())
    }

    fn scopes_of(_: &str) -> [&'static str; 1] {
        ["pay"]
    }

    async fn across_processes() -> AnyResult<String> {
        let registry = Registry::new(toolset![pay, balance])?;
        let file = std::env::temp_dir().join(format!("toolgen-guide-{}.db", std::process::id()));
        let _ = std::fs::remove_file(&file);
        let key_file = &file.with_extension("key");
        std::fs::write(key_file, [7; 32])?;
        use toolgen_runtime::layers::approval::{Approvals, SqliteApprovals}; // feature `sqlite`

        let key = std::fs::read(key_file)?; // 32 random bytes: see below
        let approvals = Approvals::new(SqliteApprovals::open(&file)?).with_worker("pay-1"); // who claims calls, in lists
        let provider = Provider::builder(&registry)
            .middleware(LargeSums)
            .approval_key(key) // the same wherever such calls are made or run
            .approval_queue(approvals.clone())
            .build()?;
        let call = ToolCall::new("call-1", "pay", json!({"to": "Ada", "cents": 9_000}));
        let ada = toolgen_runtime::Principal::new("key-7").with_scopes(["pay"]);
        let turn = ToolContext::new("turn-1", "")
            .with_principal(ada)
            .with_session(toolgen_runtime::Session::new("monday"));
        let response = provider.call(call, &turn).await;
        let Err(ToolError::ApprovalRequired(request)) = response.outcome else {
            return Err("it did not wait".into());
        };
        approvals.grant(request.queue_id(), "Grace", "").await?;
        use toolgen_runtime::layers::middleware::CalledBy;
        use toolgen_runtime::{Principal, Session};

        /// The turn of who made the call: it is resumed for the same principal and session, and for no other.
        fn turn_of(caller: &CalledBy) -> ToolContext {
            let mut turn = ToolContext::new("approved", "");
            if let Some(id) = &caller.principal {
                // Of the program: what this principal may do now.
                turn = turn.with_principal(Principal::new(id.clone()).with_scopes(scopes_of(id)));
            }
            if let Some(id) = &caller.session_id {
                turn = turn.with_session(Session::new(id.clone()));
            }
            turn
        }

        for entry in approvals.decided().await? {
            let turn = turn_of(&entry.called_by);
            match provider.resume_decided(&entry.id, &turn).await {
                Ok(Some(response)) => println!("{} {}: {}", entry.tool, entry.state, response.text()),
                // Another worker has it.
                Ok(None) => {}
                // The others go on.
                Err(why) => eprintln!("{} {}: {why}", entry.id, entry.tool),
            }
        }
        let ended = approvals.get(request.queue_id()).await?.ok_or("it is gone")?;
        let _ = (std::fs::remove_file(&file), std::fs::remove_file(key_file));
        Ok(format!("{}, {:?}", ended.state, ended.outcome.map(|outcome| outcome.error_code)))
    }

    #[tokio::test]
    async fn a_call_waits_in_a_queue() {
        assert_eq!(across_processes().await.unwrap(), "finished, Some(None)");
    }

    #[tokio::test]
    async fn closures_decide() {
        let registry = Registry::new(toolset![pay, balance]).unwrap();
        let call = ToolCall::new("call-1", "pay", json!({"to": "Ada", "cents": 9_000}));
        let response = closures(&registry).unwrap().call(call, &ToolContext::new("turn-1", "")).await;
        assert!(response.text().contains("No pay today."), "{}", response.text());
    }

    #[tokio::test]
    async fn a_call_waits_for_somebody() {
        assert_eq!(later().await.unwrap(), "paid 9000 to Ada");
        let registry = Registry::new(toolset![pay, balance]).unwrap();
        let call = ToolCall::new("1", "pay", json!({"to": "Ada", "cents": 9_000}));
        let answer = provider(&registry).unwrap().call(call, &ToolContext::new("turn", "")).await;
        assert!(matches!(answer.outcome, Err(ToolError::ApprovalRequired(_))));
    }
}

mod records {
    use super::*;

    async fn kept() -> AnyResult {
        let registry = Registry::new(toolset![pay, balance])?;
        let file = std::env::temp_dir().join(format!("toolgen-audit-{}.db", std::process::id()));
        let _ = std::fs::remove_file(&file);
        use toolgen_runtime::layers::audit::{Auditor, SqliteSink}; // features `audit` and `sqlite`

        let auditor = Auditor::builder(SqliteSink::open(&file)?).durable(true).start()?;
        let provider = Provider::builder(&registry).auditor(auditor.clone()).build()?;
        let call = ToolCall::new("1", "balance", json!({}));
        assert_eq!(provider.call(call, &ToolContext::new("turn", "")).await.text(), "7");
        auditor.flush().await?; // before the program ends

        let _ = std::fs::remove_file(&file);
        Ok(())
    }

    #[tokio::test]
    async fn calls_are_recorded() {
        kept().await.unwrap();
    }

    fn lines(file: &std::path::Path) -> AnyResult {
        use toolgen_runtime::layers::audit::{Auditor, JsonLinesSink};

        let auditor = Auditor::builder(JsonLinesSink::open(file)?).start()?;
        assert!(auditor.is_on());
        Ok(())
    }

    #[allow(dead_code, reason = "compiled only: it needs a database")]
    fn database() -> AnyResult {
        use std::time::Duration;
        use toolgen_runtime::layers::audit::{Auditor, PostgresSink}; // features `audit` and `postgres`

        let url = "postgres://agent:secret@db.example/audit?sslrootcert=%2Fetc%2Fdb-ca.pem";
        let month = Duration::from_secs(30 * 24 * 60 * 60);
        let mut sink = PostgresSink::builder(url).name("worker-1").retention(month).open()?;
        let lost = sink.recover()?; // calls that were running when the last `worker-1` ended
        let auditor = Auditor::builder(sink).durable(true).start()?;

        assert!(auditor.is_on() && lost == 0);
        Ok(())
    }

    async fn watched() -> AnyResult<usize> {
        let registry = Registry::new(toolset![pay, balance])?;
        use std::sync::mpsc::channel;

        let (events, seen) = channel();
        let provider = Provider::builder(&registry)
            .on_event(move |event| drop(events.send(event))) // quick: the call waits for it
            .build()?;
        provider.call(ToolCall::new("1", "balance", json!({})), &ToolContext::new("turn", "")).await;
        Ok(seen.try_iter().count())
    }

    #[tokio::test]
    async fn a_call_and_its_answer_are_events() {
        assert_eq!(watched().await.unwrap(), 2);
    }

    #[tokio::test]
    async fn secrets_are_not_recorded() {
        use toolgen_runtime::layers::audit::{Auditor, MemorySink};

        /// Opens the door.
        #[tool(destructive = false)]
        fn open_door(
            /// The number that opens it.
            #[arg(secret)]
            pin: &str,
        ) -> bool {
            pin == "0815"
        }
        let sink = MemorySink::new();
        let auditor = Auditor::builder(sink.clone()).start().unwrap();
        let registry = Registry::new(toolset![open_door]).unwrap();
        let provider = Provider::builder(&registry).auditor(auditor.clone()).build().unwrap();
        let call = ToolCall::new("1", "open_door", json!({"pin": "0815"}));
        assert_eq!(provider.call(call, &ToolContext::new("turn", "")).await.text(), "true");
        auditor.flush().await.unwrap();
        assert_eq!(sink.rows()[0].intent.parameters, json!({"pin": "[REDACTED]"}));
    }
}
