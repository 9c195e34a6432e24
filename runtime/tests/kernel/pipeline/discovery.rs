//! Calls through `call_tool` behave like calls of the tools by their names, for a model that searches for tools.

use toolgen_runtime::agent::dispatch::Strategy;
use toolgen_runtime::layers::events::EventKind;
use toolgen_runtime::schema::dialect::{Dialect, GEMINI};
use toolgen_runtime::schema::shape::encode;

use super::Journal;
use crate::prelude::*;

/// Pays somebody an amount of money.
#[tool(undocumented, category = "money", scopes("pay"))]
fn pay(
    to: String,
    #[arg(default = 100)] amount: i64,
    #[arg(secret, default = "")] pin: String,
    #[inject] ran: Service<Journal>,
) -> String {
    ran.note(format!("{amount} to {to}"));
    format!("paid {amount} to {to} with {pin}")
}

/// Deletes an account and everything in it.
#[tool(undocumented, destructive)]
fn remove_account(name: String) -> String {
    name
}

/// Returns the balance of an account.
#[tool(undocumented, read_only)]
fn get_balance(account: String) -> String {
    format!("{account}: 7")
}

fn asks(request: &ToolRequest<'_>) -> MiddlewareDecision {
    let pays = request.spec.name.as_str() == "pay";
    if pays { MiddlewareDecision::NeedApproval("money".to_owned()) } else { MiddlewareDecision::Allow }
}

fn builder(ran: &Journal) -> ToolboxBuilder {
    let registry = Registry::new(toolset![pay, remove_account, get_balance]).unwrap();
    let context = ToolboxContext::new().with_service(Arc::new(ran.clone()));
    Toolbox::builder(&registry).context(context).discovery(Discovery::new())
}

#[test]
fn excluding_a_built_in_tool_is_an_error() {
    for name in ["search_tools", "describe_tool", "call_tool", "read_result"] {
        let rules = || PolicyRules::builder().exclude([name]).build().unwrap();
        let error = builder(&Journal::default()).rules(rules()).build().unwrap_err();
        let message = error.to_string();
        let help = if name == "read_result" { "`without_paging`" } else { "without `discovery`" };
        assert!(message.contains(&format!("rule '{name}' excludes")) && message.contains(help), "{message}");
        if name == "read_result" {
            continue;
        }
        // Without a discovery the tool does not exist; with other names it has another name.
        let none = Toolbox::builder(&Registry::new(toolset![pay]).unwrap()).rules(rules()).build();
        assert!(none.unwrap_err().to_string().contains("matches no tool"));
    }
    let rules = PolicyRules::builder().exclude(["*_account"]).build().unwrap();
    let toolbox = builder(&Journal::default()).rules(rules).build().unwrap();
    assert_eq!(toolbox.specs().count(), 3);
}

/// The tool `read_result` is listed after a result was cut.
#[tokio::test]
async fn read_result_is_listed_only_when_a_result_is_stored() {
    let registry = Registry::new(toolset![pay, get_balance, tell]).unwrap();
    let toolbox = Toolbox::builder(&registry).allow(["tell"]).build().unwrap();
    let names = || toolbox.specs().map(|spec| spec.name.to_string()).collect::<Vec<_>>();
    assert_eq!(names(), ["tell"]);
    toolbox.run(ToolCall::new("c", "tell", json!({})), &turn()).await;
    assert_eq!(names(), ["read_result", "tell"]);
}

/// Tells a long story.
#[tool(read_only)]
fn tell() -> String {
    "once upon a time\n".repeat(10_000)
}

fn turn() -> Turn {
    Turn::new("turn")
}

fn through(name: &str, arguments: impl Into<Value>) -> ToolCall {
    ToolCall::new("c1", "call_tool", json!({"name": name, "arguments": arguments.into()}))
}

async fn search(toolbox: &Toolbox, arguments: Value) -> ToolResponse {
    toolbox.run(ToolCall::new("s", "search_tools", arguments), &turn()).await
}

async fn describe(toolbox: &Toolbox, names: Value) -> ToolResponse {
    toolbox.run(ToolCall::new("d", "describe_tool", json!({ "names": names })), &turn()).await
}

fn listed(toolbox: &Toolbox) -> Vec<&str> {
    toolbox.specs().map(|spec| spec.name.as_str()).collect()
}

#[tokio::test]
async fn model_searches_describes_and_calls() {
    let toolbox = builder(&Journal::default()).build().unwrap();
    assert_eq!(listed(&toolbox), ["call_tool", "describe_tool", "search_tools"]);
    assert_eq!(toolbox.list().len(), 3);
    let found = search(&toolbox, json!({"query": "send money to a person", "limit": 1})).await;
    assert_eq!(
        found.text(),
        "pay(to: string, amount?: integer, pin?: string) - Pays somebody an amount of money.\n"
    );
    let message = describe(&toolbox, json!(["pay", "get_balnce"])).await.text();
    assert!(
        message.starts_with("## pay\nPays somebody an amount of money.\nArguments: {\"type\":\"object\""),
        "{message}"
    );
    assert!(message.ends_with("Tool 'get_balnce' not found; did you mean 'get_balance'?\n"), "{message}");
    let response = toolbox.run(through("get_balance", json!({"account": "a"})), &turn()).await;
    assert_eq!((&*response.id, &*response.name, response.text().as_str()), ("c1", "call_tool", "a: 7"));
    // By its own name, as a string, and through itself.
    let named = ToolCall::new("c1", "get_balance", json!({"account": "a"}));
    assert_eq!(toolbox.run(named, &turn()).await.name, *"get_balance");
    assert_eq!(toolbox.run(through("get_balance", r#"{"account":"b"}"#), &turn()).await.text(), "b: 7");
    let twice = json!({"name": "get_balance", "arguments": {"account": "c"}});
    assert_eq!(toolbox.run(through("call_tool", twice), &turn()).await.text(), "c: 7");
}

#[tokio::test]
async fn errors_equal_those_of_a_direct_call() {
    let toolbox = builder(&Journal::default()).build().unwrap();
    for (name, arguments) in
        [("get_balance", json!({"acount": "a"})), ("get_balnce", json!({})), ("get_balance", json!("{"))]
    {
        let direct = toolbox.run(ToolCall::new("c1", name, arguments.clone()), &turn()).await;
        let response = toolbox.run(through(name, arguments), &turn()).await;
        assert_eq!(response.outcome, direct.outcome);
        assert!(response.is_error());
    }
    let flat = ToolCall::new("c1", "call_tool", json!({"name": "get_balance", "account": "a"}));
    let told = toolbox.run(flat, &turn()).await;
    assert!(told.text().contains("account"), "{}", told.text());
    let nameless = toolbox.run(ToolCall::new("c1", "call_tool", json!({"arguments": {}})), &turn()).await;
    assert!(nameless.text().contains("name"), "{}", nameless.text());
    assert_eq!(nameless.name, *"call_tool");
    // A request of MCP that names an unknown tool in its arguments is a valid request.
    let unknown = toolbox.run(through("get_balnce", json!({})), &turn()).await;
    let reply = &WireFormat::Mcp.tool_results_with(&[unknown], &ToolResultOptions::default())[0];
    assert_eq!(reply["result"]["isError"], true, "{reply}");
}

/// Approves, and records the requests.
struct Approves(Arc<Mutex<Vec<(String, Value, Value)>>>);

impl Approver for Approves {
    fn approve<'a>(&'a self, request: &'a ApprovalRequest, _: &'a ToolContext) -> BoxFuture<'a, Approval> {
        let asked = (request.name.to_string(), request.arguments.clone(), request.redacted_arguments.clone());
        self.0.lock().unwrap().push(asked);
        Box::pin(ready(Approval::Approved))
    }
}

#[tokio::test]
async fn layers_see_the_called_tool() {
    let (ran, asked, sink) = (Journal::default(), Arc::default(), MemorySink::new());
    let auditor = Auditor::builder(sink.clone()).start().unwrap();
    let events = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&events);
    let toolbox = builder(&ran)
        .middleware(asks)
        .approver(Approves(Arc::clone(&asked)))
        .layer(auditor.clone())
        .on_event(move |event| seen.lock().unwrap().push(event))
        .build()
        .unwrap();
    let turn = turn().with_principal(Principal::new("ada").with_scopes(["pay"]));
    let response = toolbox.run(through("pay", json!({"to": "Bo", "pin": "s3cr3t-9"})), &turn).await;
    assert_eq!((&*response.name, response.text().as_str()), ("call_tool", "paid 100 to Bo with s3cr3t-9"));
    assert_eq!(ran.lines(), ["100 to Bo"]);
    let (name, arguments, visible) = asked.lock().unwrap()[0].clone();
    assert_eq!((name.as_str(), &arguments["amount"], &arguments["to"]), ("pay", &json!(100), &json!("Bo")));
    assert!(!visible.to_string().contains("s3cr3t"), "{visible}");
    auditor.flush().await.unwrap();
    let records = format!("{:?}", sink.rows());
    assert!(records.contains("\"pay\"") && !records.contains("call_tool"), "{records}");
    assert!(!records.contains("s3cr3t"), "{records}");
    let events = events.lock().unwrap();
    assert!(events.iter().all(|event| *event.name == *"pay"), "{events:?}");
    assert!(events.iter().any(|event| matches!(event.kind, EventKind::ToolCall { .. })));
}

#[tokio::test]
async fn resumed_call_keeps_the_name_of_its_original_call() {
    let ran = Journal::default();
    let toolbox = builder(&ran).middleware(asks).build().unwrap();
    let response = toolbox.run(through("pay", json!({"to": "Bo"})), &turn()).await;
    assert_eq!(response.name, *"call_tool");
    let Err(ToolError::ApprovalRequired(request)) = response.outcome else { panic!("{}", response.text()) };
    assert_eq!((&*request.name, request.via.as_deref()), ("pay", Some("call_tool")));
    let text = serde_json::to_string(&request).unwrap();
    let stored: ApprovalRequest = serde_json::from_str(&text).unwrap();
    let mut forged = stored.clone();
    forged.call.via = None;
    assert_eq!(toolbox.resume(forged, &turn()).await.outcome.unwrap_err().code(), "APPROVAL_INVALID");
    let response = toolbox.resume(stored, &turn()).await;
    assert_eq!((&*response.name, response.text().as_str()), ("call_tool", "paid 100 to Bo with "));
    assert_eq!(ran.lines(), ["100 to Bo"]);
}

#[tokio::test]
async fn forbidden_tool_is_neither_found_nor_described() {
    let read_only = EffectLimits { read_only: true, ..EffectLimits::ANY };
    let context = ToolboxContext::new().with_limits(read_only);
    let by_limits = builder(&Journal::default()).context(context).build().unwrap();
    let by_list = builder(&Journal::default()).allow(["get_balance"]).build().unwrap();
    for toolbox in [by_limits, by_list] {
        assert_eq!(listed(&toolbox).len(), 3);
        let found = search(&toolbox, json!({"query": "delete account, balance"})).await.text();
        assert!(found.contains("get_balance") && !found.contains("remove_account"), "{found}");
        let hidden = toolbox.run(through("remove_account", json!({"name": "a"})), &turn()).await;
        let unknown = toolbox.run(through("remove_accountt", json!({"name": "a"})), &turn()).await;
        assert_eq!(hidden.text(), "Tool not found: remove_account");
        assert_eq!(unknown.text(), "Tool not found: remove_accountt");
        let message = describe(&toolbox, json!(["remove_account"])).await.text();
        assert_eq!(message, "Tool 'remove_account' not found");
        let direct = ToolCall::new("c1", "remove_account", json!({"name": "a"}));
        assert_eq!(toolbox.run(direct, &turn()).await.text(), "Tool not found: remove_account");
    }
    // A principal without the scope does not find the tool, and reads the scope in the error if it calls it.
    let toolbox = builder(&Journal::default()).build().unwrap();
    let bo = turn().with_principal(Principal::new("bo").with_scopes(["read"]));
    let query = ToolCall::new("s", "search_tools", json!({"query": "pay", "limit": 9}));
    assert!(!toolbox.run(query, &bo).await.text().contains("pay("));
    let response = toolbox.run(through("pay", json!({"to": "Bo"})), &bo).await;
    let direct = toolbox.run(ToolCall::new("c1", "pay", json!({"to": "Bo"})), &bo).await;
    assert_eq!(response.outcome, direct.outcome);
    // All principals have the three tools; other tools that are not on the list of a principal are unknown to it.
    let cy = Principal::new("cy").with_scopes(["read"]).with_tools(["get_balance"]);
    let displayed: Vec<&str> = toolbox.specs_for(Some(&cy)).map(|spec| spec.name.as_str()).collect();
    assert_eq!(displayed, ["call_tool", "describe_tool", "search_tools"]);
    let cy = turn().with_principal(cy);
    assert_eq!(toolbox.run(through("get_balance", json!({"account": "a"})), &cy).await.text(), "a: 7");
    assert_eq!(toolbox.run(through("pay", json!({"to": "Bo"})), &cy).await.text(), "Tool not found: pay");
}

#[tokio::test]
async fn discovered_call_is_counted_once() {
    let counted: Arc<Mutex<Vec<String>>> = Arc::default();
    let counts = Arc::clone(&counted);
    let limit = move |_: &Principal, spec: &ToolSpec| {
        counts.lock().unwrap().push(spec.name.to_string());
        counts.lock().unwrap().len() < 2
    };
    let toolbox = builder(&Journal::default()).rate_limit(limit).build().unwrap();
    toolbox.run(through("get_balance", json!({"account": "a"})), &turn()).await;
    let refused = toolbox.run(through("get_balance", json!({"account": "a"})), &turn()).await;
    assert_eq!(refused.outcome.unwrap_err().code(), "RATE_LIMITED");
    assert_eq!(*counted.lock().unwrap(), ["get_balance", "get_balance"]);
}

#[tokio::test]
async fn exclusive_calls_of_a_turn_keep_their_order() {
    let toolbox = builder(&Journal::default()).build().unwrap();
    let calls = vec![
        through("get_balance", json!({"account": "a"})),
        ToolCall::new(
            "c2",
            "call_tool",
            json!("{\"name\":\"get_balance\",\"arguments\":{\"account\":\"b\"}}"),
        ),
    ];
    let options = DispatchOptions::new().with_strategy(Strategy::Parallel);
    let done = toolbox.dispatch(calls, &turn(), &options).await;
    let messages: Vec<(String, String)> =
        done.responses.iter().map(|response| (response.name.to_string(), response.text())).collect();
    let of = |text: &str| ("call_tool".to_owned(), text.to_owned());
    assert_eq!(messages, [of("a: 7"), of("b: 7")]);
}

#[tokio::test]
async fn discovery_supports_groups_pins_and_names() {
    let registry = Registry::new(toolset![pay, remove_account, get_balance]).unwrap();
    let with = |discovery| Toolbox::builder(&registry).discovery(discovery).build();
    let set = Toolset::new("accounts", ["remove_account", "get_balance"]);
    let discovery =
        Discovery::new().names("find", "explain", "run").pin(["get_balance"]).group(set).topic("a bank");
    let toolbox = with(discovery).unwrap();
    assert_eq!(listed(&toolbox), ["explain", "find", "get_balance", "run"]);
    let query = |group: &str| ToolCall::new("s", "find", json!({"query": "account money", "group": group}));
    assert!(toolbox.run(query("money"), &turn()).await.text().starts_with("pay("));
    assert!(!toolbox.run(query("accounts"), &turn()).await.text().contains("pay("));
    let none = toolbox.run(query("x"), &turn()).await.text();
    assert!(none.contains("The groups are: accounts, money."), "{none}");
    let message = |discovery| with(discovery).unwrap_err().to_string();
    assert_eq!(
        message(Discovery::new().names("pay", "explain", "run")),
        "discovery: there is another tool 'pay'; choose other names with `Discovery::names`"
    );
    assert_eq!(
        message(Discovery::new().names("a b", "explain", "run")),
        "discovery: 'a b' is not a valid tool name: a tool name may contain only ASCII letters, digits, `_` and `-`; choose \
         other names with `Discovery::names`"
    );
    assert!(message(Discovery::new().names("a", "a", "b")).contains("Tool [a] is already registered."));
    assert_eq!(message(Discovery::new().pin(["pya"])), "tool 'pya' not registered; did you mean 'pay'?");
}

#[tokio::test]
async fn calls_are_decoded_in_the_dialect_of_the_three_tools() {
    let toolbox = builder(&Journal::default()).build().unwrap();
    let call_tool = toolbox.specs().find(|spec| spec.name.as_str() == "call_tool").unwrap();
    let pay = toolset![pay];
    for dialect in Dialect::ALL {
        // The arguments of the tool as `describe_tool` shows them, within those of `call_tool`.
        let inner = pay[0].spec();
        let arguments = encode(&json!({"to": "Ann", "amount": 5}), &inner.input, &inner.defs, dialect);
        let given = json!({"name": "pay", "arguments": arguments});
        let given = encode(&given, &call_tool.input, &call_tool.defs, dialect);
        let call = ToolCall::new("c", "call_tool", given.clone());
        let message = toolbox.run(call, &turn().with_dialect(dialect)).await.text();
        assert_eq!(message, "paid 5 to Ann with ", "{}: {given}", dialect.name);
    }
}

#[tokio::test]
async fn descriptions_use_the_dialect_of_the_call() {
    let toolbox = builder(&Journal::default()).build().unwrap();
    let call = ToolCall::new("d", "describe_tool", json!({"names": ["pay"]}));
    let plain = toolbox.run(call.clone(), &turn()).await.text();
    let gemini = toolbox.run(call, &turn().with_dialect(&GEMINI)).await.text();
    assert!(plain.contains("additionalProperties") && !gemini.contains("additionalProperties"), "{gemini}");
}

#[tokio::test]
async fn hostile_queries_are_answered_quickly() {
    let toolbox = builder(&Journal::default()).build().unwrap();
    let long = "account ".repeat(1 << 17);
    for query in
        [long.as_str(), ".*(a+)+$[", "удалить аккаунт", "删除账户", "\u{0}\u{202e}", "  ", "'; DROP TABLE"]
    {
        let start = std::time::Instant::now();
        let response = search(&toolbox, json!({"query": query})).await;
        assert!(!response.is_error(), "{}", response.text());
        assert!(response.text().len() < 1000, "{}", response.text());
        assert!(start.elapsed().as_secs() < 2, "{:?}", start.elapsed());
    }
    assert!(search(&toolbox, json!({"query": ""})).await.is_error());
}
