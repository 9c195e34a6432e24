//! Tools that need input, and calls that need an approval.

use rmcp::model::CallToolResponse;
use toolgen_runtime::layers::approval::{ApprovalState, Approvals};
use toolgen_runtime::store::MemoryStore;

use crate::prelude::*;
use crate::serve::client::{ALL, Client, Era, Person, Way, params};
use crate::serve::tools::{server, toolbox};

#[tokio::test]
async fn server_asks_a_person() {
    for (era, way) in ALL {
        let person = Person::Says(json!({"name": "Ada"}));
        let client = Client::of(person, server().0, era, way).await;
        assert_eq!(
            client.text("greet", json!({})).await,
            ("Hello, Ada!".to_owned(), false),
            "{era:?} {way:?}"
        );
        assert_eq!(*client.handler.asked.lock().unwrap(), ["What is your name?"]);
    }
}

#[tokio::test]
async fn person_may_decline_or_be_unavailable() {
    for (era, way) in ALL {
        let client = Client::of(Person::Declines, server().0, era, way).await;
        let (text, is_error) = client.text("greet", json!({})).await;
        assert!(is_error && text.contains("was not given: What is your name?"), "{text}");
        let client = Client::connect(server().0, era, way).await;
        if era == Era::Alone {
            let reason = client.call("greet", json!({})).await.unwrap_err().to_string();
            assert!(reason.contains("-32021"), "{reason}");
            continue;
        }
        let (text, is_error) = client.text("greet", json!({})).await;
        assert!(is_error && text.contains("The client cannot be asked"), "{text}");
    }
}

#[tokio::test]
async fn invalid_input_is_requested_again_a_limited_number_of_times() {
    for way in [Way::Pipe, Way::Http] {
        let person = Person::Says(json!({"name": 7}));
        let client = Client::of(person, server().0, Era::Sessions, way).await;
        let (text, is_error) = client.text("greet", json!({})).await;
        assert!(is_error && text.contains("it needs input"), "{text}");
        assert!((2..20).contains(&client.handler.asked.lock().unwrap().len()));
    }
}

#[tokio::test]
async fn approvals_are_refused_unless_the_client_may_approve() {
    for (era, way) in ALL {
        let yes = || Person::Says(json!({"approve": true}));
        let client = Client::of(yes(), server().0, era, way).await;
        let (text, is_error) = client.text("pay", json!({"amount": 5})).await;
        assert!(is_error && text.contains("needs an approval. It costs money."), "{text}");
        assert!(client.handler.asked.lock().unwrap().is_empty());

        let client = Client::of(yes(), server().0.approve_by_elicitation(), era, way).await;
        assert_eq!(
            client.text("pay", json!({"amount": 5})).await,
            ("paid 5".to_owned(), false),
            "{era:?} {way:?}"
        );
        let asked = client.handler.asked.lock().unwrap().clone();
        assert_eq!(asked, ["It costs money.\nMay 'pay' run with {\"amount\":5}?"]);

        let no = Person::Says(json!({"approve": false}));
        let client = Client::of(no, server().0.approve_by_elicitation(), era, way).await;
        let (text, is_error) = client.text("pay", json!({"amount": 5})).await;
        assert!(is_error && text.contains("did not approve"), "{text}");
    }
}

#[tokio::test]
async fn client_decisions_are_stored_in_the_queue() {
    for (approve, message, granted, code) in [
        (true, "paid 5", true, None),
        (false, "did not approve", false, Some("PERMISSION_DENIED".to_owned())),
    ] {
        let queue = Approvals::on(MemoryStore::new());
        let toolbox = toolbox().approval_queue(queue.clone()).build().unwrap();
        let person = Person::Says(json!({"approve": approve}));
        let server = Server::new(toolbox.clone()).approve_by_elicitation();
        let client = Client::of(person, server, Era::Sessions, Way::Pipe).await;
        let (text, _) = client.text("pay", json!({"amount": 5})).await;
        assert!(text.contains(message), "{text}");
        let all = queue.list(&ApprovalState::ALL).await.unwrap();
        let [entry] = &all[..] else { panic!("{all:?}") };
        let decision = entry.decision.as_ref().unwrap();
        assert_eq!((decision.granted, decision.by.as_str()), (granted, "the person at the client"));
        assert_eq!(entry.outcome.as_ref().unwrap().error_code, code);
        assert_eq!(entry.state, ApprovalState::Finished);
        // No other person can decide, and no worker has anything to run.
        assert!(queue.grant(&entry.id, "Eve", "").await.is_err());
        assert!(queue.decided().await.unwrap().is_empty());
    }
}

/// Calls `greet` and returns the state of the waiting call.
async fn state(client: &Client) -> String {
    let asked = client.running.call_tool_once(params("greet", json!({}))).await.unwrap();
    let CallToolResponse::InputRequired(asked) = asked else { panic!("{asked:?}") };
    assert_eq!(asked.input_requests.unwrap().keys().collect::<Vec<_>>(), ["user_name"]);
    asked.request_state.unwrap()
}

/// Calls again with a state and responses.
async fn back(client: &Client, tool: &str, state: Option<&str>, responses: Value) -> Result<Value, String> {
    let mut params = params(tool, json!({}));
    params.request_state = state.map(str::to_owned);
    params.input_responses = Some(serde_json::from_value(responses).unwrap());
    match client.running.call_tool_once(params).await {
        Ok(CallToolResponse::Complete(result)) => Ok(json!(result)),
        Ok(CallToolResponse::InputRequired(asked)) => Ok(json!(asked)),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.to_string()),
    }
}

#[tokio::test]
async fn state_is_valid_once_for_its_tool_only() {
    let ada = || json!({"user_name": {"action": "accept", "content": {"name": "Ada"}}});
    for way in [Way::Pipe, Way::Http] {
        let client = Client::of(Person::Declines, server().0, Era::Alone, way).await;
        let waits = state(&client).await;
        for wrong in [format!("{waits}x"), waits.replace("\"greet\"", "\"visits\""), "{}".to_owned()] {
            let reason = back(&client, "greet", Some(&wrong), ada()).await.unwrap_err();
            assert!(reason.contains("-32602"), "{reason}");
        }
        let changed = waits.replace("What is your name?", "Anything else?");
        let reason = back(&client, "greet", Some(&changed), ada()).await.unwrap_err();
        assert!(reason.contains("-32602"), "{reason}");
        let reason = back(&client, "add", Some(&waits), ada()).await.unwrap_err();
        assert!(reason.contains("requestState"), "{reason}");
        let no_answer = back(&client, "greet", Some(&waits), json!({"user_name": 12345})).await.unwrap_err();
        assert!(no_answer.contains("-32602"), "{no_answer}");

        // Without a response the input is requested again, and unsolicited responses are ignored.
        let again = back(&client, "greet", Some(&waits), json!({"other": 1})).await.unwrap();
        assert_eq!(
            (&again["resultType"], again["requestState"].as_str()),
            (&json!("input_required"), Some(&*waits))
        );
        let done = back(&client, "greet", Some(&waits), ada()).await.unwrap();
        assert_eq!(done["content"][0]["text"], "Hello, Ada!");
        let used = back(&client, "greet", Some(&waits), ada()).await.unwrap();
        assert_eq!(used["isError"], true, "{used}");

        // A client that knows the tool can send the input with the first call.
        let done = back(&client, "greet", None, ada()).await.unwrap();
        assert_eq!(done["content"][0]["text"], "Hello, Ada!");
    }
}
