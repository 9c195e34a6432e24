//! Tests where requests go, with the test's own resolver and connector. The connector records which addresses an
//! engine would dial, and dials a recorder on the loopback interface instead. Even a guard that allows everything
//! reaches no real host.

mod world;

use serde_json::json;
use toolgen_kernel::base::frozen::List;
use toolgen_kernel::call::ToolCall;
use toolgen_kernel::call::Turn;
use toolgen_kernel::call::limits::EffectLimits;
use toolgen_kernel::call::result::ToolResult;
use toolgen_kernel::registry::Registry;
use toolgen_kernel::schema::shape::{Kind, ObjectRules, Shape};
use toolgen_kernel::spec::plan::{ExecutionPlan, RequestPlan, Server, Tool};
use toolgen_kernel::spec::{Effects, ToolName, ToolSpec};
use toolgen_kernel::toolbox::{Toolbox, ToolboxContext};

use super::super::address::tests::RANGES;
use super::super::{Fetch, FetchErrorKind, HttpEngine};
use super::*;
pub(in super::super) use world::FakeNetwork;
use world::World;

/// A public address.
const PUBLIC: &str = "93.184.215.14";

fn tool(url: &str) -> Tool {
    let (server, path) = match url.split_once("/go") {
        Some((server, _)) => (server, "/go"),
        None => (url, "/x"),
    };
    let query =
        url.split_once("?to=").map(|(_, to)| (Text::from("to".to_owned()), Text::from(to.to_owned())));
    let plan = RequestPlan {
        method: "GET".into(),
        path: path.into(),
        query: query.into_iter().collect(),
        servers: vec![Server { url: server.to_owned().into(), variables: List::EMPTY }].into(),
        ..RequestPlan::EMPTY
    };
    let input = Shape::of(Kind::Object(ObjectRules::ANY)).into();
    let effects = Effects { network: Network::None, ..Effects::NONE };
    let spec = ToolSpec { name: ToolName::new("t"), input, effects, ..ToolSpec::EMPTY };
    Tool { spec, call: ExecutionPlan::Http(plan) }
}

async fn call(engine: &HttpEngine, url: &str) -> Result<ToolResult, ToolError> {
    engine.tool(tool(url)).execute(json!({}), &Turn::default().call_context("1", "t")).await
}

fn in_url(address: &str) -> String {
    if address.contains(':') { format!("[{address}]") } else { address.to_owned() }
}

fn redirect_to(url: &str) -> String {
    format!("http://start.example/go?to={url}")
}

/// Asserts that the call was denied because of the host.
#[track_caller]
fn assert_blocked(outcome: Result<ToolResult, ToolError>, what: &str) -> String {
    let error = outcome.expect_err(what);
    assert_eq!(error.code(), "PERMISSION_DENIED", "{what}: {error}");
    assert!(error.to_string().starts_with("The host `"), "{what}: {error}");
    error.to_string()
}

#[tokio::test]
async fn guard_blocks_non_public_addresses() {
    let world = World::new();
    let engine = world.engine();
    for (first, last, _) in RANGES {
        for address in [first, last] {
            world.names.set("named.example", &[&[address]]);
            let location = format!("http://{}", in_url(address));
            for url in [location.as_str(), "http://named.example", "http://named.example."] {
                assert_blocked(call(&engine, url).await, address);
                let error = engine.fetch(Fetch::new(url)).await.unwrap_err();
                assert!(matches!(error.kind, FetchErrorKind::Refused(_)), "{address}: {error}");
                assert_eq!(world.take_traffic(), (vec![], vec![]), "{address}");

                assert_blocked(call(&engine, &redirect_to(url)).await, address);
                let (requests, dialled) = world.take_traffic();
                assert_eq!((requests.len(), dialled), (1, vec![PUBLIC.to_owned()]), "{address} {requests:?}");
                let error = engine.fetch(Fetch::new(redirect_to(url))).await.unwrap_err();
                assert!(matches!(error.kind, FetchErrorKind::Refused(_)), "{address}: {error}");
                let (requests, dialled) = world.take_traffic();
                assert_eq!((requests.len(), dialled), (1, vec![PUBLIC.to_owned()]), "{address} {requests:?}");
            }
        }
    }
    // The same targets with a public address.
    world.names.set("named.example", &[&["8.8.8.8"]]);
    for url in ["http://8.8.8.8", "http://named.example", "http://[2606:4700::1111]"] {
        assert!(call(&engine, url).await.unwrap().to_text().ends_with("ok"), "{url}");
        assert!(call(&engine, &redirect_to(url)).await.unwrap().to_text().ends_with("ok"), "{url}");
        assert_eq!(engine.fetch(Fetch::new(redirect_to(url))).await.unwrap().bytes, b"ok", "{url}");
    }
}

#[tokio::test]
async fn base_url_allows_only_its_literal_address() {
    let world = World::new();
    for (first, _, access) in RANGES {
        world.names.set("named.example", &[&[first]]);
        let named_engine = world.builder().base_url("http://named.example").build().unwrap();
        assert_blocked(call(&named_engine, "http://elsewhere.example").await, first);
        assert_eq!(world.take_traffic(), (vec![], vec![]), "{first}");

        let literal_engine =
            world.builder().base_url(format!("http://{}:8080", in_url(first))).build().unwrap();
        let outcome = call(&literal_engine, "http://elsewhere.example").await;
        if *access == Access::Private {
            assert!(outcome.unwrap().to_text().ends_with("ok"), "{first}");
            assert_eq!(world.take_traffic().0.len(), 1, "{first}");
            let other_port = literal_engine.fetch(Fetch::new(format!("http://{}:9090", in_url(first)))).await;
            assert!(matches!(other_port.unwrap_err().kind, FetchErrorKind::Refused(_)), "{first}");
        } else {
            assert_blocked(outcome, first);
        }
        assert_eq!(world.take_traffic(), (vec![], vec![]), "{first}");
    }
}

#[tokio::test]
async fn allowed_private_host_is_reached_unless_always_blocked() {
    let world = World::new();
    let all_hosts = world.builder().private_host("*").build().unwrap();
    let single_host = world.builder().private_host("named.example").build().unwrap();
    for (first, last, access) in RANGES {
        for address in [first, last] {
            world.names.set("named.example", &[&[address]]);
            world.names.set("other.example", &[&[address]]);
            let location = format!("http://{}", in_url(address));
            for (engine, url) in [
                (&all_hosts, location.as_str()),
                (&all_hosts, "http://named.example"),
                (&all_hosts, &redirect_to(&location)),
                (&single_host, "http://named.example"),
            ] {
                let outcome = call(engine, url).await;
                if *access == Access::Private {
                    assert!(outcome.unwrap().to_text().ends_with("ok"), "{address}");
                } else {
                    assert_blocked(outcome, address);
                }
            }
            world.take_traffic();
            for url in [location.as_str(), "http://other.example"] {
                assert_blocked(call(&single_host, url).await, address);
            }
            assert_eq!(world.take_traffic(), (vec![], vec![]), "{address}");
            let message =
                assert_blocked(call(&single_host, &redirect_to("http://named.example/")).await, address);
            assert!(message.ends_with("a host that is not allowed redirected to it."), "{message}");
            assert_eq!(world.take_traffic().1, [PUBLIC], "{address}");
        }
    }
}

#[tokio::test]
async fn address_spelling_does_not_bypass_the_guard() {
    let world = World::new();
    let engine = world.engine();
    world.names.set("localhost", &[&["127.0.0.1", "::1"]]);
    world.names.set("app.localhost", &[&["127.0.0.1"]]);
    world.names.set("metadata.google.internal", &[&["169.254.169.254"]]);
    world.names.set("10.0.0.1.nip.io", &[&["10.0.0.1"]]);
    world.names.set("printer.local", &[&["8.8.8.8"]]);
    for host in [
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "017700000001",
        "0177.0.0.1",
        "127.1",
        "127.0.0.1.",
        "127。0。0。1",
        "①②⑦.0.0.1",
        "%31%32%37.0.0.1",
        "0",
        "0.0.0.1",
        "2852039166",
        "0xa9fea9fe",
        "0251.0376.0251.0376",
        "169.254.43518",
        "[::127.0.0.1]",
        "[0:0:0:0:0:ffff:7f00:1]",
        "[::ffff:169.254.169.254]",
        "[64:ff9b::a9fe:a9fe]",
        "[2002:7f00:1::]",
        "[2001:0:7f00:1::]",
        "[64:ff9b:1::a9fe:a9fe]",
        "[2606:4700::5efe:7f00:1]",
        "[2606:4700::200:5efe:169.254.169.254]",
        "100.100.100.200",
        "192.0.0.192",
        "198.18.0.1",
        "localhost",
        "localhost.",
        "LOCALHOST",
        "app.localhost",
        "metadata.google.internal",
        "metadata.google.internal.",
        "10.0.0.1.nip.io",
        "printer.local",
        "printer.local.",
    ] {
        for url in [format!("http://{host}/x"), format!("https://{host}:8443/x")] {
            let error = engine.fetch(Fetch::new(url.clone())).await.unwrap_err();
            assert!(matches!(error.kind, FetchErrorKind::Refused(_)), "{url}: {error}");
            assert_eq!(world.take_traffic(), (vec![], vec![]), "{url}");
            assert_blocked(call(&engine, &redirect_to(&url)).await, &url);
            assert_eq!(world.take_traffic().1, [PUBLIC], "{url}");
        }
    }
}

#[tokio::test]
async fn connection_uses_the_checked_addresses() {
    let world = World::new();
    let engine = world.engine();
    // Of several addresses, only the allowed addresses are used.
    world.names.set("mixed.example", &[&["10.0.0.1", "8.8.8.8", "::1", "2606:4700::1111"]]);
    assert!(call(&engine, "http://mixed.example").await.is_ok());
    assert_eq!(world.take_traffic().1, ["8.8.8.8", "2606:4700::1111"]);
    // A name that resolves differently for the second request.
    world.names.set("rebind.example", &[&["8.8.8.8"], &["127.0.0.1"]]);
    assert!(call(&engine, "http://rebind.example").await.is_ok());
    assert_blocked(call(&engine, "http://rebind.example").await, "rebind");
    world.names.set("rebind.example", &[&["8.8.8.8"], &["127.0.0.1"]]);
    assert_blocked(call(&engine, "http://rebind.example/go?to=http://rebind.example/x").await, "rebind");
    assert_eq!(world.take_traffic().1, ["8.8.8.8", "8.8.8.8"]);
}

#[tokio::test]
async fn refusal_names_host_reason_and_setting() {
    let world = World::new();
    let engine = world.builder().private_host("opened.example:81").build().unwrap();
    world.names.set("inside.example", &[&["10.0.0.1"]]);
    world.names.set("metadata.google.internal", &[&["169.254.169.254"]]);
    for (url, text) in [
        (
            "http://inside.example",
            "The host `inside.example` is blocked: its address 10.0.0.1 is in the range Private-Use, which is \
             private. The program can allow it with `HttpEngineBuilder::private_host(\"inside.example\")`.",
        ),
        (
            "http://metadata.google.internal",
            "The host `metadata.google.internal` is blocked: its address 169.254.169.254 is in the range Link \
             Local, which is never allowed.",
        ),
        (
            "http://[2002:7f00:1::]",
            "The host `[2002:7f00:1::]` is blocked: its address 2002:7f00:1:: is in the range Loopback (6to4 \
             127.0.0.1), which is private. The program can allow it with \
             `HttpEngineBuilder::private_host(\"[2002:7f00:1::]\")`.",
        ),
        ("http://opened.example", "The host `opened.example` is blocked: port 80 is not allowed."),
        (
            "http://printer.local",
            "The host `printer.local` is blocked: it is a link-local name. The program can allow it with \
             `HttpEngineBuilder::private_host(\"printer.local\")`.",
        ),
    ] {
        let outcome = call(&engine, url).await;
        let operators = outcome.as_ref().map_err(|error| error.operator_text().into_owned());
        assert_eq!(operators.expect_err(url), text);
        // A model reads the reason, but not the help, which only an operator can apply.
        let (reason, _) = text.split_once(" The program can allow it").unwrap_or((text, ""));
        assert_eq!(assert_blocked(outcome, url), reason);
    }
}

/// A toolbox with one tool, whose context allows these hosts.
fn toolbox(engine: &HttpEngine, url: &str, allowed: &'static [&'static str]) -> Toolbox {
    let registry = Registry::new([engine.tool(tool(url))]).unwrap();
    let network = Network::Hosts(allowed.iter().copied().map(Text::Static).collect());
    registry.toolbox(ToolboxContext::new().with_limits(EffectLimits { network, ..EffectLimits::ANY }))
}

#[tokio::test]
async fn context_hosts_apply_to_base_urls_and_redirects() {
    let world = World::new();
    for name in ["api.example", "cdn.example", "evil.example"] {
        world.names.set(name, &[&["8.8.8.8"]]);
    }
    let allowed: &[&str] = &["api.example", "start.example:80", "*.cdn.example"];
    let engine = world.engine();
    let based = world.builder().base_url("http://evil.example").build().unwrap();
    for (engine, url, is_allowed) in [
        (&engine, "http://api.example", true),
        (&engine, "http://API.example.", true),
        (&engine, "http://evil.example", false),
        (&engine, "http://8.8.8.8", false),
        (&engine, "http://cdn.example", false),
        (&engine, &redirect_to("http://api.example/x"), true),
        (&engine, &redirect_to("http://evil.example/x"), false),
        (&engine, &redirect_to("https://start.example/x"), false),
        (&engine, &redirect_to("http://start.example:81/x"), false),
        (&engine, &redirect_to("http://api.example@evil.example/x"), false),
    ] {
        let response =
            toolbox(engine, url, allowed).run(ToolCall::new("1", "t", json!({})), &Turn::default()).await;
        let (requests, _) = world.take_traffic();
        assert_eq!(response.is_error(), !is_allowed, "{url}: {}", response.text());
        assert!(
            !requests.iter().any(|host| host.contains("evil.example")) || url.contains("?to="),
            "{requests:?}"
        );
        let hops = usize::from(url.contains("?to=")) + usize::from(is_allowed);
        assert_eq!(requests.len(), hops, "{url}: {requests:?}");
        if !is_allowed {
            assert_blocked(response.outcome, url);
        }
    }
    // A base URL overrides the declared server. It is checked before the call, and again when the request is sent.
    let denied = toolbox(&based, "http://api.example", allowed)
        .run(ToolCall::new("1", "t", json!({})), &Turn::default())
        .await;
    assert!(denied.text().contains("network: it may reach evil.example"), "{}", denied.text());
    let hosts = Network::Hosts(vec![Text::Static("api.example")].into());
    let ctx = Turn::default().call_context("1", "t").with_allowed_hosts(&hosts);
    assert_blocked(based.tool(tool("http://api.example")).execute(json!({}), &ctx).await, "base URL");
    assert_eq!(world.take_traffic(), (vec![], vec![]));

    let text = toolbox(&engine, "http://evil.example", allowed)
        .run(ToolCall::new("1", "t", json!({})), &Turn::default())
        .await
        .text();
    assert_eq!(
        text,
        "The host `evil.example` is blocked: this context allows api.example, start.example:80, *.cdn.example."
    );
}
