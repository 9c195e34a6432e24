//! Tests of the requests that arrive at the server.

use toolgen_runtime::spec::plan::BodyField;

use crate::prelude::*;
use crate::server::{call, engine, parameter, plan};

async fn arrived(make: impl FnOnce(&str) -> RequestPlan, arguments: Value) -> Request {
    let server = Server::ok();
    let plan = make(&server.url);
    call(engine(), plan, arguments).await.unwrap();
    server.only()
}

#[tokio::test]
async fn names_and_values_are_encoded_on_the_wire() {
    let seen = arrived(
        |url| {
            let reserved = Encoding::Style { style: Style::Form, explode: true, allow_reserved: true };
            let parameters = vec![
                parameter("filter[a b]", Location::Query, Encoding::FORM),
                parameter("raw", Location::Query, reserved),
                parameter("json", Location::Query, Encoding::Content("application/json".into())),
                parameter("X-Über".trim_end_matches("Über"), Location::Header, Encoding::SIMPLE),
            ];
            let query = vec![("beta".into(), "true".into())].into();
            RequestPlan {
                parameters: parameters.into(),
                query,
                ..plan("GET", &format!("{url}/base?k=v"), "/x")
            }
        },
        json!({"filter[a b]": "é&=", "raw": "/a?b#c&d", "json": {"a": ["b"]}}),
    )
    .await;
    assert_eq!(
        seen.line(),
        "GET /base/x?k=v&beta=true&filter%5Ba%20b%5D=%C3%A9%26%3D&raw=/a?b%23c%26d&json=%7B%22a%22%3A%5B%22b%22%5D%7D HTTP/1.1"
    );
    assert_eq!(seen.header("accept"), Some("*/*"));
    assert!(seen.header("user-agent").unwrap().starts_with("toolgen-runtime/"));
}

fn with_body(url: &str, media_type: &'static str, codec: Codec) -> RequestPlan {
    let source = BodySource::Argument("body".into());
    let body = Some(Body { required: false, media_type: media_type.into(), codec, source });
    RequestPlan { body, ..plan("POST", url, "/x") }
}

/// A form with an array of files, `files`.
pub(crate) fn with_files(url: &str) -> RequestPlan {
    let part = Part { name: "files".into(), file: true, content_type: "".into(), encoding: None };
    let field = BodyField { argument: "files".into(), name: "files".into() };
    let body = Some(Body {
        required: true,
        media_type: "multipart/form-data".into(),
        codec: Codec::Multipart(vec![part].into()),
        source: BodySource::Fields(vec![field].into()),
    });
    RequestPlan { body, ..plan("POST", url, "/x") }
}

#[tokio::test]
async fn every_kind_of_body_arrives() {
    let part =
        |name: &'static str, file| Part { name: name.into(), file, content_type: "".into(), encoding: None };
    let file = json!({"base64": "AP8=", "filename": "a.bin"});
    let multipart = Codec::Multipart(vec![part("f", true)].into());
    let cases: [(&str, Codec, Value, &[u8]); 6] = [
        ("application/vnd.x+json", Codec::Json, json!({"a": null}), b"{\"a\":null}"),
        ("application/x-ndjson", Codec::JsonLines, json!([{"a": 1}, 2]), b"{\"a\":1}\n2\n"),
        (
            "application/x-www-form-urlencoded",
            Codec::Form(List::EMPTY),
            json!({"a": "b c", "d": [1, 2]}),
            b"a=b+c&d=1&d=2",
        ),
        ("text/plain", Codec::Text, json!("hi"), b"hi"),
        ("application/octet-stream", Codec::Binary, file.clone(), b"\x00\xff"),
        (
            "multipart/form-data",
            multipart,
            json!({"a": 1, "f": file}),
            b"--B\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: text/plain\r\n\r\n1\r\n\
              --B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.bin\"\r\n\
              Content-Type: application/octet-stream\r\n\r\n\x00\xff\r\n--B--\r\n",
        ),
    ];
    for (media_type, codec, value, expected) in cases {
        let seen = arrived(|url| with_body(url, media_type, codec), json!({ "body": value })).await;
        let sent = seen.header("content-type").unwrap();
        let (essence, boundary) = sent.split_once("; boundary=").unwrap_or((sent, "B"));
        assert_eq!(essence, media_type);
        assert_eq!(seen.header("content-length").unwrap(), seen.body.len().to_string());
        // Each byte outside of ASCII becomes one character, so that the boundary can be replaced.
        let latin = |bytes: &[u8]| bytes.iter().map(|byte| char::from(*byte)).collect::<String>();
        assert_eq!(latin(&seen.body).replace(boundary, "B"), latin(expected));
    }
}

#[tokio::test]
async fn empty_body_has_content_length_zero() {
    let seen = arrived(|url| with_body(url, "application/json", Codec::Json), json!({})).await;
    assert_eq!((seen.header("content-length"), seen.header("content-type")), (Some("0"), None));
    let seen = arrived(|url| plan("DELETE", url, "/x"), json!({})).await;
    assert_eq!((seen.line(), seen.body.len()), ("DELETE /x HTTP/1.1", 0));
}

#[tokio::test]
async fn files_are_sent_from_their_directory_only() {
    let root = std::env::temp_dir().join(format!("toolgen-http-files-{}", std::process::id()));
    std::fs::create_dir_all(root.join("in")).unwrap();
    std::fs::write(root.join("in/a.bin"), b"inside").unwrap();
    std::fs::write(root.join("b.bin"), b"outside").unwrap();
    let server = Server::ok();
    let send = |path: &'static str, engine| {
        let plan = with_body(&server.url, "application/octet-stream", Codec::Binary);
        call(engine, plan, json!({"body": {"path": path}}))
    };
    send("a.bin", engine().files_root(root.join("in"))).await.unwrap();
    assert_eq!(server.only().body, b"inside");
    let refused = send("../b.bin", engine().files_root(root.join("in"))).await.unwrap_err();
    assert!(refused.to_string().contains("path traversal not allowed"), "{refused}");
    let refused = send("a.bin", engine()).await.unwrap_err();
    assert!(refused.to_string().contains("no directory for them is configured"), "{refused}");
    assert_eq!((refused.code(), server.seen().len()), ("INVALID_PARAMS", 1));
    std::fs::remove_dir_all(&root).unwrap();
}

#[tokio::test]
async fn path_traversal_in_an_argument_is_rejected() {
    let server = Server::ok();
    for id in ["..", ".", "", "../admin", "a/../b", "%2e%2e", "..\\x", "%2E%2E%2Fx"] {
        let parameters = vec![parameter("id", Location::Path, Encoding::SIMPLE)].into();
        let plan = RequestPlan { parameters, ..plan("GET", &server.url, "/orgs/{id}/repos") };
        let error = call(engine(), plan, json!({ "id": id })).await.unwrap_err();
        assert!(error.to_string().starts_with("Invalid arguments: /id: Path parameter 'id'"), "{error}");
    }
    assert!(server.seen().is_empty());
    let parameters = vec![parameter("id", Location::Path, Encoding::SIMPLE)].into();
    let plan = RequestPlan { parameters, ..plan("GET", &server.url, "/orgs/{id}/repos") };
    call(engine(), plan, json!({ "id": "a/b?c#d" })).await.unwrap();
    assert_eq!(server.only().target(), "/orgs/a%2Fb%3Fc%23d/repos");
}

#[tokio::test]
async fn engine_header_can_serve_as_the_credential() {
    use crate::server::secured;
    use toolgen_runtime::spec::plan::Placement;

    for (placement, header, value, sent) in [
        (Placement::Header("X-Key".into()), "x-key", "hunter2hunter2", true),
        (Placement::Bearer, "Authorization", "Bearer hunter2hunter2", true),
        (Placement::Basic, "authorization", "Basic hunter2hunter2", true),
        (Placement::Header("X-Key".into()), "X-Other", "hunter2hunter2", false),
        (Placement::Query("key".into()), "key", "hunter2hunter2", false),
    ] {
        let server =
            Server::start(|_| reply(200, "Content-Type: text/plain\r\n", b"you sent hunter2hunter2"));
        let plan = secured(plan("GET", &server.url, "/x"), placement.clone());
        let outcome = call(engine().header(header, value), plan, json!({})).await;
        if !sent {
            assert_eq!(outcome.unwrap_err().code(), "MISSING_CREDENTIAL", "{placement:?}");
            continue;
        }
        assert!(outcome.unwrap().to_text().ends_with("you sent ****"), "{placement:?}");
        assert_eq!(server.only().header(header), Some(value));
    }
}
