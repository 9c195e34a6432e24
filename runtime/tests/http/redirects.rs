//! Tests of redirects: their targets, and what is sent there.

use toolgen_test_support::http::Reply;

use crate::prelude::*;
use crate::server::{call, engine, parameter, plan, secured};

const SECRET: &str = "s3cr3t-value";

fn redirect(status: u16, to: &str) -> Reply {
    reply(status, &format!("Location: {to}\r\n"), b"moved")
}

/// A server that redirects `/from` to `to` with the status, and returns success for everything else.
fn redirecting(status: u16, to: &'static str) -> Server {
    Server::start(move |seen| {
        if seen.target().starts_with("/from") { redirect(status, to) } else { reply(200, "", b"arrived") }
    })
}

/// Calls with a credential, a cookie and a header of the call.
async fn go(method: &'static str, url: &str, placement: Placement) -> Result<ToolResult, ToolError> {
    let parameters = vec![
        parameter("c", Location::Cookie, Encoding::FORM),
        parameter("X-Own", Location::Header, Encoding::SIMPLE),
    ];
    let source = BodySource::Argument("body".into());
    let body = Body { required: false, media_type: "application/json".into(), codec: Codec::Json, source };
    let plan = RequestPlan { parameters: parameters.into(), body: Some(body), ..plan(method, url, "/from") };
    let arguments = match method {
        "GET" | "DELETE" => json!({"c": "1", "X-Own": "2"}),
        _ => json!({"c": "1", "X-Own": "2", "body": {"a": 1}}),
    };
    let credentials = StaticCredentials::new().with("s", Secret::new(SECRET));
    let engine = engine().credentials(credentials).header("X-Operator", "3");
    call(engine, secured(plan, placement), arguments).await
}

fn carries_nothing(seen: &Request) {
    let displayed = format!("{seen:?}");
    assert!(!displayed.contains(SECRET), "{displayed}");
    for name in ["authorization", "cookie", "x-own", "x-operator", "x-key", "content-type"] {
        assert_eq!(seen.header(name), None);
    }
    assert!(seen.header("accept").is_some() && seen.body.is_empty());
}

#[tokio::test]
async fn same_origin_redirect_keeps_headers_and_body() {
    for status in [301, 302, 303, 307, 308] {
        let server = redirecting(status, "/to?x=1");
        let result = go("GET", &server.url, Placement::Bearer).await.unwrap();
        let (from, to) = (format!("{}/from", server.url), format!("{}/to?x=1", server.url));
        assert_eq!(result.to_text(), format!("GET {from} → {to} → 200\n\narrived"));
        assert_eq!(result.details["final_url"], format!("{}/to?x=1", server.url));
        let seen = server.seen();
        assert_eq!(seen[1].line(), "GET /to?x=1 HTTP/1.1");
        assert_eq!(seen[1].header("authorization"), Some("Bearer s3cr3t-value"));
        assert_eq!((seen[1].header("x-own"), seen[1].header("cookie")), (Some("2"), Some("c=1")));
    }
}

#[tokio::test]
async fn cross_origin_redirect_drops_credentials_and_call_data() {
    let other = Server::ok();
    let there = format!("{}/there", other.url);
    for placement in [
        Placement::Bearer,
        Placement::Basic,
        Placement::Header("X-Key".into()),
        Placement::Query("key".into()),
        Placement::Cookie("sid".into()),
    ] {
        let there = there.clone();
        let server = Server::start(move |_| redirect(302, &there));
        let result = go("GET", &server.url, placement.clone()).await.unwrap();
        assert!(result.to_text().ends_with("ok"));
        let first = server.only();
        let credential = if placement == Placement::Basic { "czNjcjN0LXZhbHVl" } else { SECRET };
        assert!(format!("{first:?}").contains(credential), "{placement:?} {first:?}");
        carries_nothing(other.seen().last().unwrap());
        assert!(!serde_json::to_string(&result).unwrap().contains(SECRET));
    }
}

#[tokio::test]
async fn dropped_credentials_are_not_restored() {
    let home = Arc::new(std::sync::OnceLock::<String>::new());
    let back = home.clone();
    let other = Server::start(move |_| redirect(302, &format!("{}/home", back.get().unwrap())));
    let away = format!("{}/away", other.url);
    let server =
        Server::start(
            move |seen| {
                if seen.target() == "/from" { redirect(302, &away) } else { reply(200, "", b"home") }
            },
        );
    home.set(server.url.clone()).unwrap();
    go("GET", &server.url, Placement::Bearer).await.unwrap();
    carries_nothing(&server.seen()[1]);
}

#[tokio::test]
async fn method_and_body_follow_the_status() {
    // (status, method, same origin) -> the second request, or none.
    let cases = [
        (303, "POST", true, Some("GET /to HTTP/1.1")),
        (303, "POST", false, Some("GET /to HTTP/1.1")),
        (307, "POST", true, Some("POST /to HTTP/1.1")),
        (308, "DELETE", true, Some("DELETE /to HTTP/1.1")),
        (307, "POST", false, None),
        (308, "DELETE", false, None),
        (301, "POST", true, None),
        (302, "POST", true, None),
    ];
    for (status, method, same_origin, expected) in cases {
        let other = Server::ok();
        let to = if same_origin { "/to".to_owned() } else { format!("{}/to", other.url) };
        let server = Server::start(move |seen| {
            if seen.target() == "/from" { redirect(status, &to) } else { reply(200, "", b"ok") }
        });
        let result = go(method, &server.url, Placement::Bearer).await.unwrap();
        let second = if same_origin { server.seen().get(1).cloned() } else { other.seen().pop() };
        assert_eq!(second.as_ref().map(|seen| seen.line()), expected, "{status} {method} {same_origin}");
        match second {
            Some(second) if second.line().starts_with("POST") => assert_eq!(second.body, b"{\"a\":1}"),
            Some(second) => assert!(second.body.is_empty() && second.header("content-type").is_none()),
            None => {
                assert_eq!(result.details["status"], status);
                assert_eq!(result.details["ok"], false);
                assert!(result.details["redirect_refused"].is_string() && result.is_error());
            }
        }
    }
}

#[tokio::test]
async fn redirect_loops_and_other_schemes_are_rejected() {
    let server = Server::start(|_| redirect(302, "/from"));
    let result = go("GET", &server.url, Placement::Bearer).await.unwrap();
    assert_eq!(server.seen().len(), 11);
    assert_eq!(result.details["redirect_refused"], "too many redirects");
    for to in ["file:///etc/passwd", "ftp://h/x", "data:text/plain,x"] {
        let server = redirecting(302, to);
        let result = go("GET", &server.url, Placement::Bearer).await.unwrap();
        assert_eq!(result.details["status"], 302);
        assert_eq!(server.seen().len(), 1);
    }
}

#[tokio::test]
async fn unfollowed_redirect_is_a_failure_with_its_location() {
    for (status, headers, message) in [
        (304, "", "The service reports that nothing was modified, and sends no body."),
        (302, "", "The response is not a redirect that can be followed."),
        (300, "Location: /a\r\n", "Location: /a\nThe response is not a redirect that can be followed."),
        (
            302,
            "Location: ftp://h/x\r\n",
            "Location: ftp://h/x\nThe redirect was not followed: the location is not an http or https URL.",
        ),
    ] {
        let server = Server::start(move |_| reply(status, headers, b""));
        let result = go("GET", &server.url, Placement::Bearer).await.unwrap();
        assert!(result.is_error(), "{status}");
        assert_eq!(result.details["ok"], false);
        let text = result.to_text();
        assert!(text.starts_with(&format!("GET {}/from → {status}\n{message}", server.url)), "{text}");
    }
}

#[tokio::test]
async fn declared_redirect_response_is_not_followed() {
    for status in [302, 304] {
        let server = redirecting(status, "/to");
        let plan = RequestPlan { redirects: vec![status].into(), ..plan("GET", &server.url, "/from") };
        let result = call(engine(), plan, json!({})).await.unwrap();
        assert!(!result.is_error() && result.details["ok"] == true, "{result:?}");
        // A 304 has no body.
        let body = if status == 302 { "\n\nmoved" } else { "" };
        let message = format!("GET {}/from → {status}\nLocation: /to{body}", server.url);
        assert_eq!(result.to_text(), message);
        assert_eq!(server.seen().len(), 1);
    }
    // Other redirects are followed.
    let server = redirecting(307, "/to");
    let plan = RequestPlan { redirects: vec![302].into(), ..plan("GET", &server.url, "/from") };
    assert!(call(engine(), plan, json!({})).await.unwrap().to_text().ends_with("arrived"));
}

#[tokio::test]
async fn user_info_in_a_location_is_not_sent() {
    let other = Server::ok();
    let there = other.url.replace("http://", "http://user:pass@");
    let server = Server::start(move |_| redirect(302, &there));
    go("GET", &server.url, Placement::Bearer).await.unwrap();
    assert_eq!(other.only().header("authorization"), None);
}
