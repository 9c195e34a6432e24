//! Results that are too large, through a toolbox.

use toolgen_runtime::layers::pages::{Pages, ResultLimit};

use super::{Counted, call_in, names, said, spec, toolbox, tools};
use crate::prelude::*;

const WHOLE: &str = "erste Zeile\nzweite Zeile\nünd ein Ende ohne Umbruch";

fn big(name: &str, own_limit: Option<u64>) -> Counted {
    let spec = ToolSpec { result_limit: own_limit, ..spec(name) };
    Counted { spec, calls: Arc::default(), answer: WHOLE.to_owned() }
}

fn reading(limit: u64) -> Toolbox {
    let tools = [big("log", None), big("tail", Some(10))].map(|tool| Arc::new(tool) as _);
    let rules = PolicyRules::builder().include(["log", "tail"]).build().unwrap();
    let pages = Pages::new(ResultLimit::bytes(limit));
    toolbox(tools.into()).allow(["log", "tail"]).rules(rules).paging(pages).build().unwrap()
}

/// Returns the call that the end of a cut result names.
fn told(text: &str) -> Option<Value> {
    let (_, call) = text.rsplit_once("Call read_result with ")?;
    serde_json::from_str(call.strip_suffix(" to read on.]")?).ok()
}

#[tokio::test]
async fn model_can_read_a_large_result_to_its_end() {
    let (toolbox, turn) = (reading(20), Turn::new("turn").with_agent_id("coder"));
    // The tool that reads the rest is listed, regardless of the allowed tools.
    assert_eq!(names(&toolbox), ["log", "read_result", "tail"]);
    let added = super::toolbox(tools(&["log"])).layer(Pages::default()).build().unwrap();
    assert_eq!(names(&added), ["log", "read_result"], "as with the setter");
    for (name, max) in [("log", 20), ("tail", 10)] {
        let mut response = call_in(&toolbox, name, json!({}), &turn).await;
        let mut read = String::new();
        loop {
            let result = response.outcome.unwrap();
            let [page, _notice] = &result.content[..] else { panic!("{result:?}") };
            let Content::Text(page) = page else { panic!("{page:?}") };
            assert!(page.len() <= max, "{page}");
            read.push_str(page);
            let Some(arguments) = told(&result.to_text()) else { break };
            response = call_in(&toolbox, "read_result", arguments, &turn).await;
        }
        assert_eq!(read, WHOLE);
    }
}

#[tokio::test]
async fn only_permitted_callers_can_continue_reading() {
    let toolbox = reading(20);
    let owner = Principal::new("p").with_scopes(["read"]).with_tools(["log"]);
    let turn = Turn::new("turn").with_principal(owner);
    let arguments = told(&call_in(&toolbox, "log", json!({}), &turn).await.text()).unwrap();
    assert!(!call_in(&toolbox, "read_result", arguments.clone(), &turn).await.is_error());
    let other = Turn::new("turn").with_principal(Principal::new("q").with_scopes(["read"]));
    let refused = call_in(&toolbox, "read_result", arguments, &other).await;
    assert_eq!(refused.outcome.unwrap_err().code(), "RESULT_NOT_FOUND");
    let wrong = call_in(&toolbox, "read_result", json!({"offset": -1}), &turn).await;
    assert_eq!(wrong.outcome.unwrap_err().code(), "INVALID_PARAMS");
}

#[tokio::test]
async fn paging_can_be_disabled() {
    let toolbox = toolbox(vec![Arc::new(big("tail", Some(10)))]).without_paging().build().unwrap();
    assert_eq!(said(&toolbox, "tail").await, WHOLE);
    assert_eq!(said(&toolbox, "read_result").await, "Tool not found: read_result");
}

#[tokio::test]
async fn default_result_limit_applies_unless_disabled() {
    let large =
        |bytes: usize| Counted { spec: spec("log"), calls: Arc::default(), answer: "x".repeat(bytes) };
    let fits = toolbox(vec![Arc::new(large(50_000))]).build().unwrap();
    assert_eq!(said(&fits, "log").await.len(), 50_000);
    assert_eq!(names(&fits), ["log"]);
    // A list that is made only once has it from the start; without paging it is absent.
    let once = |toolbox: &Toolbox| -> Vec<String> {
        toolbox.specs_with_on_demand().map(|spec| spec.name.to_string()).collect()
    };
    assert_eq!(once(&fits), ["log", "read_result"]);
    assert_eq!(once(&toolbox(tools(&["log"])).without_paging().build().unwrap()), ["log"]);
    let rules = PolicyRules::builder().exclude(["log"]).build().unwrap();
    assert_eq!(
        once(&toolbox(tools(&["log", "tail"])).rules(rules).build().unwrap()),
        ["read_result", "tail"]
    );

    let toolbox = toolbox(vec![Arc::new(large(120_000))]).build().unwrap();
    let turn = Turn::new("turn");
    assert_eq!(names(&toolbox), ["log"]);
    let mut text = call_in(&toolbox, "log", json!({}), &turn).await.text();
    // There is now a rest to read.
    assert_eq!(names(&toolbox), ["log", "read_result"]);
    let mut whole = 0;
    loop {
        assert!(text.len() < 50_200, "{}", text.len());
        whole += text.lines().next().unwrap().len();
        let Some(arguments) = told(&text) else { break };
        text = call_in(&toolbox, "read_result", arguments, &turn).await.text();
    }
    assert_eq!(whole, 120_000);
}

#[tokio::test]
async fn default_paging_keeps_an_existing_read_result_tool() {
    let toolbox = toolbox(tools(&["read_result"])).build().unwrap();
    let nobody = Principal::new("p").with_tools([""; 0]);
    let turn = Turn::new("turn").with_principal(nobody);
    // It is an ordinary tool, and not the one that needs no permission.
    assert!(call_in(&toolbox, "read_result", json!({}), &turn).await.is_error());
}

#[test]
fn explicit_paging_conflicts_with_an_existing_tool() {
    let pages = Pages::new(ResultLimit::bytes(10));
    let refused = toolbox(tools(&["read_result"])).paging(pages).build().unwrap_err();
    let message = refused.to_string();
    assert!(message.starts_with("Tool [read_result] is already registered."), "{message}");
}
