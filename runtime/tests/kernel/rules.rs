//! Rules on the calls of a toolbox.

use toolgen_runtime::layers::approval::Approvals;
use toolgen_runtime::rules::{Rules, RulesLayer};
use toolgen_runtime::store::MemoryStore;

use crate::prelude::*;

/// Pays a person.
#[tool(undocumented, category = "money")]
fn pay(to: String, #[arg(default = 100)] amount: u32, note: Option<String>) -> String {
    format!("paid {amount} to {to}{}", note.unwrap_or_default())
}

/// Tells the balance.
#[tool(undocumented, read_only)]
fn balance() -> u32 {
    7
}

fn registry() -> Registry {
    Registry::new(toolset![pay, balance]).unwrap()
}

fn layer(lines: &[&str]) -> RulesLayer {
    RulesLayer::new(Rules::parse(lines).unwrap())
}

fn toolbox(lines: &[&str]) -> Toolbox {
    Toolbox::builder(&registry()).layer(layer(lines)).build().unwrap()
}

async fn run(toolbox: &Toolbox, turn: &Turn, arguments: Value) -> Result<String, ToolError> {
    let response = toolbox.run(ToolCall::new("call-1", "pay", arguments), turn).await;
    response.outcome.map(|result| result.to_text())
}

#[tokio::test]
async fn denied_call_names_the_reason_for_the_model_and_the_rule_for_the_engineer() {
    let rule = toolgen_runtime::rules::Rule::parse(
        "deny pay when args.amount > 5000 && !principal.has('treasurer')",
    );
    let rule = rule.unwrap().with_reason("Payments above 5,000 need a treasurer.").with_place("tools.yaml:7");
    let rules: Rules = [rule].into_iter().collect();
    let toolbox = Toolbox::builder(&registry()).layer(RulesLayer::new(rules)).build().unwrap();
    let clerk = Turn::new("t").with_principal(Principal::new("ada").with_scopes(["write"]));
    let treasurer = Turn::new("t").with_principal(Principal::new("eve").with_scopes(["write", "treasurer"]));

    let error = run(&toolbox, &clerk, json!({"to": "Bob", "amount": 7000})).await.unwrap_err();
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        ("PERMISSION_DENIED", "Payments above 5,000 need a treasurer.")
    );
    assert_eq!(
        error.operator_text(),
        "rule 1 `deny pay when args.amount > 5000 && !principal.has('treasurer')` (tools.yaml:7) applied"
    );
    assert_eq!(
        run(&toolbox, &clerk, json!({"to": "Bob", "amount": 5000})).await.unwrap(),
        "paid 5000 to Bob"
    );
    assert_eq!(
        run(&toolbox, &treasurer, json!({"to": "Bob", "amount": 7000})).await.unwrap(),
        "paid 7000 to Bob"
    );
    // A call of the program has no scopes.
    assert!(run(&toolbox, &Turn::new("t"), json!({"to": "Bob", "amount": 7000})).await.is_err());
}

#[tokio::test]
async fn conditions_see_defaults_and_arguments_as_text() {
    let toolbox = toolbox(&["deny pay when args.amount == 100"]);
    let turn = Turn::new("t");
    for arguments in [json!({"to": "Bob"}), json!("{\"to\": \"Bob\", \"amount\": 100}")] {
        let text = run(&toolbox, &turn, arguments).await.unwrap_err().to_string();
        assert_eq!(text, "The rule `deny pay when args.amount == 100` applies.");
    }
    assert_eq!(run(&toolbox, &turn, json!({"to": "Bob", "amount": 99})).await.unwrap(), "paid 99 to Bob");
}

#[tokio::test]
async fn condition_that_fails_denies_and_says_so() {
    let toolbox = toolbox(&["deny pay when 10 / args.amount > 5"]);
    let error = run(&toolbox, &Turn::new("t"), json!({"to": "Bob", "amount": 0})).await.unwrap_err();
    let text = error.to_string();
    assert!(text.ends_with("Its condition could not be evaluated: a division by zero."), "{text}");
    let text = error.operator_text();
    assert!(
        text.ends_with("its condition has no value: a division by zero, so it counts as matched"),
        "{text}"
    );
}

#[tokio::test]
async fn most_restrictive_rule_decides() {
    let lines = ["rate pay 5 per 1h", "ask pay when args.amount > 10", "deny pay when args.amount > 100"];
    let asked = Arc::new(Mutex::new(Vec::new()));
    let reasons = Arc::clone(&asked);
    let toolbox = Toolbox::builder(&registry())
        .layer(layer(&lines))
        .approver(move |request: &ApprovalRequest, _: &ToolContext| {
            reasons.lock().unwrap().extend(request.reasons.clone());
            Approval::Approved
        })
        .build()
        .unwrap();
    let turn = Turn::new("t");
    assert_eq!(run(&toolbox, &turn, json!({"to": "Bob", "amount": 5})).await.unwrap(), "paid 5 to Bob");
    assert!(asked.lock().unwrap().is_empty());
    assert_eq!(run(&toolbox, &turn, json!({"to": "Bob", "amount": 50})).await.unwrap(), "paid 50 to Bob");
    assert_eq!(*asked.lock().unwrap(), ["The rule `ask pay when args.amount > 10` applies."]);
    assert_eq!(
        run(&toolbox, &turn, json!({"to": "Bob", "amount": 500})).await.unwrap_err().code(),
        "PERMISSION_DENIED"
    );
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn rates_count_matching_calls_per_principal() {
    let toolbox = toolbox(&["rate pay 2 per 1h when args.amount > 10", "rate * 3 per 1h"]);
    let ada = Turn::new("t").with_principal(Principal::new("ada").with_scopes(["write"]).with_quota(1));
    let bob = Turn::new("t").with_principal(Principal::new("bob").with_scopes(["write"]));
    let (large, small) = (json!({"to": "Bob", "amount": 50}), json!({"to": "Bob", "amount": 5}));
    assert!(run(&toolbox, &ada, large.clone()).await.is_ok());
    assert!(run(&toolbox, &ada, large.clone()).await.is_ok());
    let error = run(&toolbox, &ada, large.clone()).await.unwrap_err();
    assert_eq!(error.code(), "RATE_LIMITED");
    assert_eq!(error.to_string(), "Rate limit exceeded: 'pay' was called too often. Try again later.");
    assert_eq!(error.operator_text(), "rule 1 `rate pay 2 per 1h when args.amount > 10` applied");
    // The other rule has counted two of them.
    assert!(run(&toolbox, &ada, small.clone()).await.is_ok());
    assert!(run(&toolbox, &ada, small.clone()).await.unwrap_err().operator_text().starts_with("rule 2 "));
    assert!(run(&toolbox, &bob, large).await.is_ok());
}

#[tokio::test]
async fn processes_share_counts_and_other_limits_have_their_own() {
    let store = MemoryStore::new();
    let toolbox = || {
        let limit = toolgen_runtime::layers::rate::WindowLimit::new().with_window(Duration::from_secs(3600));
        Toolbox::builder(&registry())
            .layer(layer(&["rate pay 2 per 1h"]).shared(store.clone()))
            .rate_limit(limit.with_per_tool(3).shared(store.clone()))
            .build()
            .unwrap()
    };
    let (first, second, turn) = (toolbox(), toolbox(), Turn::new("t"));
    let arguments = json!({"to": "Bob"});
    assert!(run(&first, &turn, arguments.clone()).await.is_ok());
    assert!(run(&second, &turn, arguments.clone()).await.is_ok());
    for toolbox in [&first, &second] {
        assert_eq!(run(toolbox, &turn, arguments.clone()).await.unwrap_err().code(), "RATE_LIMITED");
    }
}

#[tokio::test]
async fn waiting_call_is_counted_once_and_checked_again() {
    let toolbox = Toolbox::builder(&registry())
        .layer(layer(&["ask pay when args.amount > 10", "rate pay 1 per 1h"]))
        .approval_key([7; 32])
        .approval_store(Approvals::on(MemoryStore::new()))
        .build()
        .unwrap();
    let turn = Turn::new("t");
    let Err(ToolError::ApprovalRequired(request)) =
        run(&toolbox, &turn, json!({"to": "Bob", "amount": 50})).await
    else {
        panic!("it waits");
    };
    assert_eq!(request.reasons, ["The rule `ask pay when args.amount > 10` applies."]);
    let response = toolbox.resume(request.approved_by("eve"), &turn).await;
    assert_eq!(response.text(), "paid 50 to Bob");
    assert_eq!(
        run(&toolbox, &turn, json!({"to": "Bob", "amount": 5})).await.unwrap_err().code(),
        "RATE_LIMITED"
    );
}

#[test]
fn toolbox_with_rules_that_do_not_fit_is_not_built() {
    let build =
        |lines: &[&str]| Toolbox::builder(&registry()).layer(layer(lines)).build().unwrap_err().to_string();
    assert_eq!(
        build(&["deny pay when args.amuont > 5", "ask pays"]),
        "rule 1 `deny pay when args.amuont > 5`: at column 1: the tool `pay` has no argument `amuont`; did you mean \
         `args.amount`?\nrule 2 `ask pays`: `pays` selects no tool; did you mean `pay`?"
    );
    // `balance` has no amount, so a pattern is not about it.
    assert!(Toolbox::builder(&registry()).layer(layer(&["deny * when args.amount > 5"])).build().is_ok());
}
