//! Locks as files.

use super::*;

fn lock(transport: McpTransport) -> Lock {
    let server = McpServer {
        alias: "shop".into(),
        transport,
        revision: "2025-11-25".into(),
        capabilities: vec![Text::from("elicitation")].into(),
        ..McpServer::EMPTY
    };
    let tool =
        |name: &str| json!({"name": name, "inputSchema": {"type": "object"}, "annotations": {"z": 1.50}});
    Lock {
        server,
        package: None,
        info: json!({"name": "shop", "version": "1"}),
        auth: "none".to_owned(),
        tools: vec![tool("a.b"), tool("b")],
    }
}

fn program() -> McpTransport {
    let names = |names: &[&'static str]| names.iter().map(|name| Text::Static(name)).collect();
    McpTransport::Stdio {
        argv: names(&["npx", "shop@1.2.3"]),
        env: List::EMPTY,
        inherit: names(&["SHOP_DB"]),
        work_dir: "data".into(),
    }
}

fn read(text: &str) -> Result<Lock, Vec<LockProblem>> {
    Lock::read(&serde_json::from_str(text).unwrap())
}

#[test]
fn lock_round_trips() {
    let url = McpTransport::Http {
        url: "https://shop.example.com/mcp".into(),
        headers: vec![(Text::from("X-Key"), Text::from("SHOP_KEY"))].into(),
        bearer: "SHOP_TOKEN".into(),
    };
    let text = |text: &str| text.to_owned();
    let package = Package {
        registry: text("npm"),
        name: text("shop"),
        version: text("1.2.3"),
        integrity: text("sha512-AA=="),
    };
    for lock in [lock(program()), Lock { package: Some(package), ..lock(url) }] {
        assert_eq!(read(&lock.text()), Ok(lock));
    }
}

#[test]
fn lock_ignores_tool_order_and_variable_values() {
    let first = lock(program());
    let mut second = first.clone();
    second.tools.reverse();
    let McpTransport::Stdio { argv, work_dir, .. } = program() else { panic!() };
    let env = vec![(Text::from("SHOP_DB"), Text::from("postgres://secret"))].into();
    second.server.transport = McpTransport::Stdio { argv, env, inherit: List::EMPTY, work_dir };
    assert_eq!(first.text(), second.text());
    assert!(first.text().starts_with("{\n  \"toolgen_mcp_lock\": 1,\n  \"alias\": \"shop\",\n"));
}

#[test]
fn edited_lock_is_rejected() {
    let text = lock(program()).text();
    for (from, to, location) in [
        ("\"z\": 1.5", "\"z\": 2", "/tools/0/digest"),
        ("shop__a_b", "shop__delete", "/tools/0/name"),
        ("\"name\": \"b\"", "\"name\": \"c\"", "/tools/1/digest"),
        ("\"alias\": \"shop\"", "\"alias\": \"Shop\"", "/alias"),
        ("_lock\": 1", "_lock\": 2", "/toolgen_mcp_lock"),
        ("\"stdio\"", "\"pigeon\"", "/transport/pigeon"),
        ("\"auth\"", "\"author\"", "/author"),
        ("\"elicitation\"", "7", "/capabilities"),
        ("\"descriptor\": {", "\"descriptor\": [], \"x\": {", "/tools/0/x"),
    ] {
        assert!(text.contains(from), "{from}");
        let problems = read(&text.replacen(from, to, 1)).unwrap_err();
        assert!(problems.iter().any(|problem| problem.pointer == location), "{location}: {problems:?}");
    }
}
