//! Tests of paginated lists: several pages in one call for a model, item by item for Rust.

use std::pin::Pin;
use std::sync::OnceLock;

use toolgen_runtime::engine::http::{CallError, HttpEngine, PageLimits};
use toolgen_runtime::spec::plan::ExecutionPlan;

use crate::prelude::*;
use crate::server::{ctx, engine, parameter, plan, secured, tool};

pub(crate) const JSON: &str = "Content-Type: application/json\r\n";

pub(crate) fn paged(url: &str, pages: &str) -> Tool {
    let query = |name: &str| parameter(name, Location::Query, Encoding::FORM);
    let parameters = ["page", "after", "skip", "limit"].map(query).to_vec().into();
    tool(RequestPlan { parameters, pagination: Some(pages.parse().unwrap()), ..plan("GET", url, "/pets") })
}

pub(crate) fn argument(target: &str, name: &str) -> Option<usize> {
    let pairs = target.split_once('?')?.1;
    let pair = pairs.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    pair?.parse().ok()
}

/// Seven pets, three per page, with every kind of pagination.
fn pets() -> Server {
    Server::start(|seen| {
        let target = seen.target();
        let at = argument(target, "page").map(|page| (page - 1) * 3);
        let at = at.or(argument(target, "after")).or(argument(target, "skip")).unwrap_or(0);
        let pets: Vec<Value> = (at..7).take(3).map(|id| json!({"id": id + 1})).collect();
        let more = at + 3 < 7;
        let next = more.then(|| format!("/pets?after={}", at + 3));
        let link = next.as_ref().map(|next| format!("Link: <{next}>; rel=\"next\"\r\n")).unwrap_or_default();
        let cursor = more.then_some(at + 3);
        let body = json!({"data": pets, "next": next, "cursor": cursor, "more": more});
        reply(200, &format!("{JSON}{link}"), body.to_string())
    })
}

pub(crate) fn engine_of(builder: HttpEngineBuilder) -> HttpEngine {
    builder.build().unwrap()
}

async fn ids(engine: &HttpEngine, tool: Tool) -> Vec<u64> {
    let mut items = engine.items(tool, json!({}));
    let mut ids = Vec::new();
    while let Some(item) = items.next().await {
        ids.push(item.unwrap()["id"].as_u64().unwrap());
    }
    assert!(items.next().await.is_none());
    ids
}

pub(crate) async fn called(engine: HttpEngineBuilder, tool: Tool, arguments: Value) -> ToolResult {
    let engine = engine_of(engine);
    Registry::new([engine.tool(tool)]).unwrap().call_without_layers("t", arguments, &ctx()).await.unwrap()
}

#[tokio::test]
async fn every_pagination_scheme_is_followed_to_the_end() {
    for (pages, requests) in [
        ("link items=/data", 3),
        ("next=/next items=/data", 3),
        ("cursor=after@/cursor items=/data", 3),
        ("last=after@/id items=/data more=/more", 3),
        ("page=page items=/data more=/more", 3),
        // A page without items is the end.
        ("offset=skip items=/data", 4),
    ] {
        let server = pets();
        assert_eq!(
            ids(&engine_of(engine()), paged(&server.url, pages)).await,
            [1, 2, 3, 4, 5, 6, 7],
            "{pages}"
        );
        assert_eq!(server.seen().len(), requests, "{pages}");
    }
}

#[tokio::test]
async fn stream_fetches_pages_lazily() {
    use futures_core::Stream;
    use std::future::poll_fn;

    #[derive(serde::Deserialize, Debug, PartialEq)]
    struct Pet {
        id: u8,
    }
    let server = pets();
    let engine = engine_of(engine());
    let mut stream = engine.items(paged(&server.url, "link items=/data"), json!({})).of::<Pet>();
    assert_eq!(server.seen().len(), 0);
    for (id, requests) in [(1, 1), (2, 1), (3, 1), (4, 2)] {
        let next = poll_fn(|cx| Pin::new(&mut stream).poll_next(cx)).await;
        assert_eq!(next.unwrap().unwrap(), Pet { id });
        assert_eq!(server.seen().len(), requests);
    }
    // An invalid item is reported, and the following items are returned.
    let mut texts = engine.items(paged(&server.url, "link items=/data"), json!({})).of::<String>();
    for number in 1..=7 {
        let error = texts.next().await.unwrap().unwrap_err();
        assert!(matches!(error, CallError::Decode { .. }));
        let text = error.to_string();
        let message = format!(
            "t: GET {}/pets → 200: item {number} of the list is not of the expected type (",
            server.url
        );
        assert!(text.starts_with(&message) && text.ends_with(&format!("): {{\"id\":{number}}}")), "{text}");
        assert_eq!((error.status(), error.body()), (Some(200), Some(json!({"id": number}))));
    }
    assert!(texts.next().await.is_none());
}

#[tokio::test]
async fn page_errors_name_the_call_and_no_credential() {
    for (status, body, message) in [
        (
            200,
            r#"{"data": [{"sent": "s3cr3t-token"}]}"#,
            r#" → 200: item 1 of the list is not of the expected type (*): {"sent":"****"}"#,
        ),
        (200, "<p>s3cr3t-token", " → 200: the body is not JSON (*): <p>****"),
        (
            200,
            "[]",
            " → 200: the body is not of the expected type (there is no list at the declared location): []",
        ),
        (200, "", " → 200: the body is empty (there is no list at the declared location)"),
        (404, "s3cr3t-token", " → 404 (*): ****"),
        (302, "", " → 302 (The response is not a redirect that can be followed.)"),
    ] {
        let server = Server::start(move |_| reply(status, JSON, body));
        let mut tool = paged(&server.url, "link items=/data");
        let ExecutionPlan::Http(plan) = &mut tool.call else { panic!("a request") };
        *plan = secured(plan.clone(), Placement::Bearer);
        let credentials = StaticCredentials::new().with("s", Secret::new("s3cr3t-token"));
        let engine = engine_of(engine().credentials(credentials));
        let mut texts = engine.items(tool, json!({})).of::<String>();
        let error = texts.next().await.unwrap().unwrap_err();
        let (text, message) = (error.to_string(), format!("t: GET {}/pets{message}", server.url));
        let (before, after) =
            message.split_once('*').filter(|_| message.contains("(*)")).unwrap_or((&message, ""));
        assert!(text.starts_with(before) && text.ends_with(after), "{text}");
        assert_eq!(error.status(), Some(status));
        assert!(!error.body::<Value>().unwrap_or_default().to_string().contains("s3cr3t"));
    }
}

#[tokio::test]
async fn model_gets_several_pages_as_one_result() {
    let pages = "cursor=after@/cursor items=/data more=/more offered=max_items";
    for (arguments, ids, cursor, requests, message) in [
        (json!({"max_items": 100}), 1..=7, json!(null), 3, "[7 items of 3 pages; these are all]"),
        // The second page is complete, so its cursor is correct.
        (
            json!({"max_items": 6}),
            1..=6,
            json!(6),
            2,
            "[6 items of 2 pages; more may follow (6 items were requested)]",
        ),
        // The second page is incomplete, so the cursor of the first page applies.
        (
            json!({"max_items": 5}),
            1..=5,
            json!(3),
            2,
            "[5 items of 2 pages; more may follow (5 items were requested)]",
        ),
        (json!({"max_items": 9, "after": 3}), 4..=7, json!(null), 2, "[4 items of 2 pages; these are all]"),
    ] {
        let server = pets();
        let result = called(engine(), paged(&server.url, pages), arguments.clone()).await;
        let text = result.to_text();
        let body = text.lines().find(|line| line.starts_with('{')).unwrap();
        let body: Value = serde_json::from_str(body).unwrap();
        let expected: Vec<Value> = ids.map(|id| json!({ "id": id })).collect();
        assert_eq!((&body["data"], &body["cursor"]), (&json!(expected), &cursor), "{arguments}");
        assert!(text.starts_with("GET ") && text.ends_with(message), "{text}");
        assert_eq!(server.seen().len(), requests);
        assert_eq!(result.details["pages"]["more"], message.contains("more may"), "{arguments}");
    }
    // Without the argument, the result is a single page as before.
    let server = pets();
    let result = called(engine(), paged(&server.url, pages), json!({})).await;
    assert!(result.to_text().ends_with("\"more\":true}"), "{}", result.to_text());
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn model_gets_whole_items_and_those_before_a_failure() {
    let pages = "cursor=after@/cursor items=/data offered=max_items";
    let server = pets();
    let result = called(engine().max_bytes(90), paged(&server.url, pages), json!({"max_items": 100})).await;
    let text = result.to_text();
    assert!(text.ends_with("more may follow (the size limit was reached)]"), "{text}");
    assert!(!text.contains("truncated"), "{text}");

    let server = Server::start(|seen| match argument(seen.target(), "after") {
        None => reply(200, JSON, br#"{"data": [1, 2], "cursor": 1}"#),
        Some(_) => reply(500, "", b"out of order"),
    });
    let result = called(engine(), paged(&server.url, pages), json!({"max_items": 100})).await;
    let text = result.to_text();
    assert!(text.contains("[1,2]"), "{text}");
    assert!(text.ends_with("[2 items of 1 page; more may follow (page 2 returned status 500)]"), "{text}");
    // The first page is returned as usual.
    let result = called(engine(), paged(&server.url, pages), json!({"max_items": 9, "after": 1})).await;
    assert!(result.is_error() && result.to_text().ends_with("→ 500\n\nout of order"), "{}", result.to_text());
}

#[tokio::test]
async fn list_ends_when_the_total_is_reached() {
    for (pages, page, requests) in [
        ("offset=skip items=/data total=/total", json!({"data": [1, 2, 3], "total": 3}), 1),
        ("page=page items=/data total=/total", json!({"data": [1, 2, 3], "total": "3"}), 1),
        ("last=after@/id items=/data total=/total", json!({"data": [{"id": 1}], "total": 1}), 1),
        // The service counts more items than it has, and returns the same items for every request.
        ("offset=skip items=/data total=/total", json!({"data": [1, 2], "total": 3}), 2),
        // The service's own statement about the next page takes precedence.
        (
            "page=page items=/data total=/total more=/more",
            json!({"data": [1, 2], "total": 2, "more": true}),
            3,
        ),
        ("link items=/data total=/total", json!({"data": [1, 2], "total": 2}), 2),
    ] {
        let server = Server::start(move |seen| {
            let at = seen.target().contains("last");
            let link = if at { "" } else { "Link: </pets?last>; rel=next\r\n" };
            reply(200, &format!("{JSON}{link}"), page.to_string())
        });
        let bounds = PageLimits { pages: 3, ..PageLimits::default() };
        let mut items = engine_of(engine()).items(paged(&server.url, pages), json!({})).bounds(bounds);
        while items.next().await.is_some_and(|item| item.is_ok()) {}
        assert_eq!(server.seen().len(), requests, "{pages}");
    }
}

#[tokio::test]
async fn endless_list_is_abandoned() {
    // The same cursor forever.
    let server = Server::start(|_| reply(200, JSON, br#"{"data": [1], "cursor": "c"}"#));
    let engine = engine_of(engine());
    let mut items = engine.items(paged(&server.url, "cursor=after@/cursor items=/data"), json!({}));
    assert_eq!(items.next().await.unwrap().unwrap(), 1);
    assert_eq!(items.next().await.unwrap().unwrap(), 1);
    let error = items.next().await.unwrap().unwrap_err();
    assert!(error.to_string().contains("the cursor of an earlier page"), "{error}");
    assert!(items.next().await.is_none());
    assert_eq!(server.seen().len(), 2);

    // A new cursor forever.
    let server = Server::start(|seen| {
        let at = argument(seen.target(), "after").unwrap_or(0) + 1;
        reply(200, JSON, json!({"data": [at], "cursor": at}).to_string())
    });
    let list = || engine.items(paged(&server.url, "cursor=after@/cursor items=/data"), json!({}));
    let usual = PageLimits::default();
    for (bounds, read, message) in [
        (PageLimits { pages: 3, ..usual }, 3, "after 3 pages"),
        (PageLimits { bytes: 30, ..usual }, 2, "after 30 bytes"),
        (PageLimits { time: Duration::ZERO, ..usual }, 0, "after 0ns"),
    ] {
        let mut items = list().bounds(bounds);
        for number in 1..=read {
            assert_eq!(items.next().await.unwrap().unwrap(), number);
        }
        let error = items.next().await.unwrap().unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
    let mut items = list().bounds(PageLimits { items: 2, ..usual });
    for number in 1..=2 {
        assert_eq!(items.next().await.unwrap().unwrap(), number);
    }
    assert!(items.next().await.is_none());
}

#[tokio::test]
async fn next_page_must_be_on_an_allowed_host() {
    let other = Server::start(|_| reply(200, JSON, br#"{"data": [2], "next": null}"#));
    let led_to = |to: String| async move {
        let body = json!({"data": [1], "next": to}).to_string();
        let server = Server::start(move |_| reply(200, JSON, &body));
        let mut tool = paged(&server.url, "next=/next items=/data");
        if let ExecutionPlan::Http(plan) = &mut tool.call {
            *plan = secured(plan.clone(), Placement::Bearer);
        }
        (server, tool)
    };
    let secret = StaticCredentials::new().with("s", Secret::new("the-secret"));
    let engine = engine_of(engine().credentials(secret).header("X-Own", "own"));
    // Another origin gets no credential.
    let (server, tool) = led_to(format!("{}/pets#x", other.url)).await;
    let mut items = engine.items(tool, json!({}));
    assert_eq!(items.next().await.unwrap().unwrap(), 1);
    assert_eq!(items.next().await.unwrap().unwrap(), 2);
    assert!(items.next().await.is_none());
    assert_eq!(server.only().header("authorization"), Some("Bearer the-secret"));
    let there = other.only();
    assert_eq!((there.target(), there.header("authorization"), there.header("x-own")), ("/pets", None, None));
    assert!(there.header("accept").is_some());
    // Hosts that are not allowed get no request.
    for (to, message) in [
        ("http://10.0.0.1/pets", "is blocked"),
        ("http://169.254.169.254/latest", "is blocked"),
        ("file:///etc/passwd", "not an http or https URL"),
        ("http://[", "its URL is invalid"),
    ] {
        let (_server, tool) = led_to(to.to_owned()).await;
        let mut items = engine.items(tool, json!({}));
        assert_eq!(items.next().await.unwrap().unwrap(), 1);
        let error = items.next().await.unwrap().unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
}

/// Its markup may hide a credential that its text shows.
#[tokio::test]
async fn error_page_shows_no_credential() {
    let page: &[u8] = b"<html><p>Not allowed: the&#45;<b>secret</b>.";
    let server = Server::start(move |_| reply(403, "Content-Type: text/html\r\n", page));
    let mut tool = paged(&server.url, "next=/next items=/data");
    if let ExecutionPlan::Http(plan) = &mut tool.call {
        *plan = secured(plan.clone(), Placement::Bearer);
    }
    let secret = StaticCredentials::new().with("s", Secret::new("the-secret"));
    let error =
        engine_of(engine().credentials(secret)).items(tool, json!({})).next().await.unwrap().unwrap_err();
    assert!(
        error.to_string().contains(" → 403 (the credential `s` (from `StaticCredentials`) was rejected: "),
        "{error}"
    );
    assert!(error.to_string().ends_with("): Not allowed: ****."), "{error}");
    assert!(matches!(error, CallError::Status { body, .. } if body == "Not allowed: ****."));
}

#[tokio::test]
async fn redirected_page_is_continued_without_credentials() {
    for relative in [true, false] {
        // The service redirects to another origin, whose page links to a page on that origin.
        let other = Server::start(move |seen| {
            let host = seen.header("host").unwrap().to_owned();
            let next =
                if relative { "/pets?after=1".to_owned() } else { format!("http://{host}/pets?after=1") };
            let next = (argument(seen.target(), "after") != Some(1)).then_some(next);
            reply(200, JSON, json!({"data": [{"id": 1}], "next": next}).to_string())
        });
        let to = format!("{}/pets", other.url);
        let home = Server::start(move |_| reply(302, &format!("Location: {to}\r\n"), b""));
        let mut tool = paged(&home.url, "next=/next items=/data");
        let ExecutionPlan::Http(plan) = &mut tool.call else { panic!("a request") };
        *plan = secured(plan.clone(), Placement::Bearer);
        let credentials = StaticCredentials::new().with("s", Secret::new("s3cr3t-token"));
        let engine = engine_of(engine().credentials(credentials).header("X-Own", "own-s3cr3t"));
        assert_eq!(ids(&engine, tool).await, [1, 1]);
        assert_eq!(home.only().header("authorization"), Some("Bearer s3cr3t-token"));
        for seen in other.seen() {
            assert_eq!((seen.header("authorization"), seen.header("x-own")), (None, None), "{seen:?}");
        }
        assert_eq!(other.seen().len(), 2);
    }
    // Another origin does not choose requests to the first origin with its credentials either.
    let home = Arc::new(OnceLock::new());
    let back = Arc::clone(&home);
    let other = Server::start(move |_| {
        let next = format!("{}/secrets", back.get().unwrap());
        reply(200, JSON, json!({"data": [{"id": 1}], "next": next}).to_string())
    });
    let to = format!("{}/pets", other.url);
    let server = Server::start(move |seen| match seen.target() {
        "/secrets" => reply(200, JSON, br#"{"data": [{"id": 2}], "next": null}"#),
        _ => reply(302, &format!("Location: {to}\r\n"), b""),
    });
    home.set(server.url.clone()).unwrap();
    let mut tool = paged(&server.url, "next=/next items=/data");
    if let ExecutionPlan::Http(plan) = &mut tool.call {
        *plan = secured(plan.clone(), Placement::Bearer);
    }
    let credentials = StaticCredentials::new().with("s", Secret::new("s3cr3t-token"));
    let engine = engine_of(engine().credentials(credentials).header("X-Own", "own-s3cr3t"));
    assert_eq!(ids(&engine, tool).await, [1, 2]);
    let seen = server.seen();
    assert_eq!(seen[0].header("authorization"), Some("Bearer s3cr3t-token"));
    assert_eq!((seen[1].header("authorization"), seen[1].header("x-own")), (None, None), "{:?}", seen[1]);
}

#[tokio::test]
async fn invalid_page_is_reported() {
    for (body, expected) in [
        (r#"{"data": {"id": 1}}"#, "there is no list at the declared location"),
        ("<html>", "there is no list at the declared location"),
    ] {
        let server = Server::start(move |_| reply(200, JSON, body));
        let mut items = engine_of(engine()).items(paged(&server.url, "link items=/data"), json!({}));
        let error = items.next().await.unwrap().unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    let server = Server::start(|_| vec![Step::Flood(vec![b' '; 1 << 16])]);
    let mut items = engine_of(engine()).items(tool(plan("GET", &server.url, "/")), json!({}));
    let error = items.next().await.unwrap().unwrap_err();
    assert!(error.to_string().contains("`Options::pagination`"), "{error}");
    assert_eq!(server.seen().len(), 0);
}
