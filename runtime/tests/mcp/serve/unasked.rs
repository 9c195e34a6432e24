//! Unsolicited, misdirected and repeated responses to elicitations.

use rmcp::model::CallToolResponse;
use toolgen_runtime::call::principal::Principal;

use crate::prelude::*;
use crate::serve::client::{ALL, Client, Era, Person, Way, params, serve};
use crate::serve::tools::{server, toolbox};

fn answer(action: &str, content: Value) -> Value {
    json!({"approve": {"action": action, "content": content}, "user_name": {"action": action, "content": content}})
}

fn yes() -> Value {
    answer("accept", json!({"approve": true, "name": "Ada"}))
}

/// Calls a tool with responses, and optionally a state; returns the result as JSON, or the message of the error.
async fn ask(client: &Client, tool: &str, state: Option<&str>, responses: Value) -> Value {
    let arguments = if tool == "pay" { json!({"amount": 5}) } else { json!({}) };
    let mut params = params(tool, arguments);
    params.request_state = state.map(str::to_owned);
    params.input_responses = Some(serde_json::from_value(responses).unwrap());
    match client.running.call_tool_once(params).await {
        Ok(CallToolResponse::Complete(result)) => json!(result),
        Ok(CallToolResponse::InputRequired(asked)) => json!(asked),
        Ok(other) => panic!("{other:?}"),
        Err(error) => json!(error.to_string()),
    }
}

/// Calls a tool that requests input, and returns the state of the waiting call.
async fn state(client: &Client, tool: &str) -> String {
    let asked = ask(client, tool, None, json!({})).await;
    asked["requestState"].as_str().unwrap_or_else(|| panic!("{asked}")).to_owned()
}

#[tokio::test]
async fn unrequested_approval_is_ignored() {
    for (era, way) in ALL {
        for person in [Person::Absent, Person::Declines] {
            let is_absent = matches!(person, Person::Absent);
            let client = Client::of(person, server().0.approve_by_elicitation(), era, way).await;
            let message = ask(&client, "pay", None, yes()).await.to_string();
            assert!(!message.contains("paid"), "{era:?} {way:?}: {message}");
            let expected = match (era, is_absent) {
                (Era::Alone, true) => "-32021",
                (Era::Alone, false) => "input_required",
                (Era::Sessions, true) => "cannot be asked",
                (Era::Sessions, false) => "did not approve",
            };
            assert!(message.contains(expected), "{era:?} {way:?}: {message}");
        }
    }
}

#[tokio::test]
async fn declined_question_cannot_be_answered_later() {
    for way in [Way::Pipe, Way::Http] {
        for tool in ["pay", "greet"] {
            for (action, content) in [
                ("decline", json!({})),
                ("cancel", json!({})),
                ("decline", json!({"approve": true, "name": "Ada"})),
            ] {
                let client =
                    Client::of(Person::Declines, server().0.approve_by_elicitation(), Era::Alone, way).await;
                let waits = state(&client, tool).await;
                let no = ask(&client, tool, Some(&waits), answer(action, content)).await;
                assert_eq!(no["isError"], true, "{no}");
                let later = ask(&client, tool, Some(&waits), yes()).await;
                let text = later["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{later}"));
                assert!(text.contains("its request was resumed before"), "{tool} {action}: {later}");
            }
        }
        let client = Client::of(Person::Declines, server().0.approve_by_elicitation(), Era::Alone, way).await;
        let waits = state(&client, "pay").await;
        let no = ask(&client, "pay", Some(&waits), answer("accept", json!({"approve": "yes"}))).await;
        assert_eq!(no["isError"], true, "{no}");
        let later = ask(&client, "pay", Some(&waits), yes()).await;
        assert!(!later.to_string().contains("paid"), "{later}");
    }
}

#[tokio::test]
async fn state_is_unusable_for_another_principal() {
    let server = server().0.approve_by_elicitation().principal(|parts| {
        let token = parts.headers.get("authorization")?.to_str().ok()?.strip_prefix("Bearer ")?;
        Some(Principal::new(token.to_owned()).with_scopes(["read", "write"]))
    });
    let url = serve(server).await;
    let alice = Client::at(&url, Person::Declines, Era::Alone, "alice").await.unwrap();
    let bob = Client::at(&url, Person::Declines, Era::Alone, "bob").await.unwrap();
    for (tool, done) in [("pay", "paid 5"), ("greet", "Hello, Ada!")] {
        let waits = state(&alice, tool).await;
        let no = answer("decline", json!({}));
        for (client, state, responses) in [
            (&bob, waits.clone(), yes()),
            (&bob, waits.clone(), no.clone()),
            (&alice, waits.replace("\"reasons\"", "\"reasons \"").replace("your name", "his name"), no),
        ] {
            let refused = ask(client, tool, Some(&state), responses).await.to_string();
            assert!(refused.contains("-32602"), "{tool}: {refused}");
        }
        let hers = ask(&alice, tool, Some(&waits), yes()).await;
        assert_eq!(hers["content"][0]["text"], done, "{hers}");
    }
}

#[tokio::test]
async fn state_is_bound_to_call_kind_and_expiry() {
    let toolbox = toolbox().approval_expiry(Duration::ZERO).build().unwrap();
    let client =
        Client::of(Person::Declines, Server::new(toolbox).approve_by_elicitation(), Era::Alone, Way::Pipe)
            .await;
    for tool in ["pay", "greet"] {
        let waits = state(&client, tool).await;
        let late = ask(&client, tool, Some(&waits), yes()).await.to_string();
        assert!(late.contains("it has waited too long"), "{tool}: {late}");
    }
    let client =
        Client::of(Person::Declines, server().0.approve_by_elicitation(), Era::Alone, Way::Pipe).await;
    let (pay, greet) = (state(&client, "pay").await, state(&client, "greet").await);
    for (tool, state) in [("pay", &greet), ("greet", &pay)] {
        let refused = ask(&client, tool, Some(state), yes()).await.to_string();
        assert!(refused.contains("-32602"), "{tool}: {refused}");
    }
    // A response to another elicitation leaves this one open.
    let asked = ask(
        &client,
        "pay",
        Some(&pay),
        json!({"user_name": {"action": "accept", "content": {"approve": true}}}),
    );
    assert_eq!(asked.await["resultType"], "input_required");
    assert_eq!(ask(&client, "pay", Some(&pay), yes()).await["content"][0]["text"], "paid 5");
}
