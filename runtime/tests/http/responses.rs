//! Tests of the results that a model gets for each kind of response.

use std::io::Write as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use toolgen_runtime::schema::shape::{Kind, ObjectRules};
use toolgen_runtime::spec::plan::{ExecutionPlan, Xml, XmlContent, XmlField, XmlNode};
use toolgen_runtime::{Content, ResourceData, Shape};
use toolgen_test_support::script;

use crate::prelude::*;
use crate::server::{call, ctx, engine, plan, secured, tool};

async fn answered(steps: Vec<Step>) -> (ToolResult, Server) {
    let server = Server::start(move |_| steps.clone());
    let result = call(engine().max_bytes(100), plan("GET", &server.url, "/x"), json!({})).await.unwrap();
    (result, server)
}

/// Returns the text after the status line.
fn body(result: &ToolResult) -> String {
    result.to_text().split_once("\n\n").unwrap().1.to_owned()
}

#[tokio::test]
async fn response_of_any_status_is_a_result() {
    for (status, ok) in [(200, true), (201, true), (404, false), (500, false)] {
        let headers = "Content-Type: application/json\r\nX-Twice: a\r\nX-Twice: b\r\nSet-Cookie: sid=1\r\n";
        let (result, server) = answered(reply(status, headers, b"{\"a\":1}")).await;
        assert_eq!(result.to_text(), format!("GET {}/x → {status}\n\n{{\"a\":1}}", server.url));
        // A response that is not a success is a failure of the call, and keeps its text.
        assert_eq!(result.is_error(), !ok);
        let mut expected = json!({
            "status": status,
            "method": "GET",
            "url": format!("{}/x", server.url),
            "ok": ok,
            "headers": {
                "content-type": "application/json", "x-twice": "a, b", "set-cookie": "****",
                "content-length": "7", "connection": "close",
            },
            "truncated": false,
            "content_type": "application/json",
        });
        if !ok {
            expected["success"] = json!(false);
            expected["code"] = json!(if status == 404 { "NOT_FOUND" } else { "HTTP_STATUS" });
        }
        assert_eq!(result.details, expected);
    }
    let (result, server) = answered(vec![Step::Send(b"HTTP/1.1 204 No Content\r\n\r\n".to_vec())]).await;
    assert_eq!(result.to_text(), format!("GET {}/x → 204", server.url));
}

#[tokio::test]
async fn html_error_page_is_shown_as_text() {
    let page = b"<html>\r\n<head><title>502 Bad Gateway</title><style>p {}</style></head>\n<body><h1>502 Bad Gateway</h1>\
        <p>Key &#104;unter2&amp;hunter2 &lt;refused&gt;</body></html>";
    let displayed = "502 Bad Gateway\nKey **** <refused>";
    for (status, content_type, read) in [
        (502, "text/html; charset=utf-8", displayed),
        (404, "", displayed),
        (502, "application/json", displayed),
        (200, "text/html", "<html>\r\n<head>"),
    ] {
        let headers = match content_type {
            "" => String::new(),
            content_type => format!("Content-Type: {content_type}\r\n"),
        };
        let server = Server::start(move |_| reply(status, &headers, page));
        let credentials = StaticCredentials::new().with("s", Secret::new("hunter2&hunter2"));
        let plan = secured(plan("GET", &server.url, "/x"), Placement::Bearer);
        let result = call(engine().credentials(credentials), plan, json!({})).await.unwrap();
        let text = result.to_text();
        assert!(text.starts_with(&format!("GET {}/x → {status}\n\n{read}", server.url)), "{text}");
        assert_eq!((text.ends_with(read), result.is_error()), (status != 200, status != 200), "{text}");
    }
    // Truncated to 2000 characters, without cutting a credential in two.
    let long = format!("<html><p>{} hunter2&amp;hunter2 {}", "é".repeat(1990), "é".repeat(2000));
    let server = Server::start(move |_| reply(500, "Content-Type: text/html\r\n", &long));
    let credentials = StaticCredentials::new().with("s", Secret::new("hunter2&hunter2"));
    let plan = secured(plan("GET", &server.url, "/x"), Placement::Bearer);
    let result = call(engine().credentials(credentials), plan, json!({})).await.unwrap();
    assert!(body(&result).ends_with("é **** éééé…"), "{result:?}");
    let (result, _) = answered(reply(500, "Content-Type: text/html\r\n", b"<div id=\"app\"></div>")).await;
    assert_eq!(body(&result), "[an HTML page without text]");
    let (result, _) = answered(reply(500, "Content-Type: text/html\r\n", b"{ \"why\": \"a <b> c\" }")).await;
    assert_eq!(body(&result), "{ \"why\": \"a <b> c\" }");
}

/// `reply` returns a response with a status, a media type (`-` for none) and a body. It prints the text of the
/// result, its structured value, and the message for operators. The words before it apply to all replies of a case.
/// `declares`, `may_differ`, `accept` and `xml` belong to the tool. `latin1` (a character is a byte), `then` (text
/// after the body, and the number of repetitions) and `endless` (no length) belong to the response.
#[test]
fn responses_match_the_script() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let _guard = runtime.enter();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/http/scripts/responses.txt");
    script::replay(&file, || {
        let (runtime, mut words) = (&runtime, Vec::new());
        move |word, rest| {
            if word != "reply" {
                let known = ["declares", "may_differ", "accept", "xml", "latin1", "then", "endless"];
                assert!(known.contains(&word), "there is no word `{word}`");
                words.push((word.to_owned(), rest.to_owned()));
                return Vec::new();
            }
            let [status, content_type, body] = rest.splitn(3, ' ').collect::<Vec<_>>().try_into().unwrap();
            let body: String = serde_json::from_str(body).unwrap();
            runtime.block_on(replied(&words, status.parse().unwrap(), content_type, body))
        }
    });
}

/// The schema of an object with one number.
fn xml() -> Xml {
    let field = XmlNode { name: "N".into(), content: XmlContent::Number, ..XmlNode::EMPTY };
    let fields = vec![XmlField { key: "n".into(), node: field }];
    let root = XmlNode { content: XmlContent::Object(fields.into()), ..XmlNode::EMPTY };
    Xml { root, named: List::EMPTY }
}

async fn replied(words: &[(String, String)], status: u16, content_type: &str, body: String) -> Vec<String> {
    let message = |wanted: &str| words.iter().find(|(word, _)| word == wanted).map(|(_, rest)| rest.as_str());
    let mut body = match message("latin1") {
        Some(_) => body.chars().map(|c| u8::try_from(c).unwrap()).collect(),
        None => body.into_bytes(),
    };
    if let Some((times, more)) = message("then").and_then(|rest| rest.split_once(' ')) {
        body.extend(more.repeat(times.parse().unwrap()).as_bytes());
    }
    let headers = match content_type {
        "-" => String::new(),
        content_type => format!("Content-Type: {content_type}\r\n"),
    };
    // Without a length, the end of the connection ends the body.
    let steps = match message("endless") {
        Some(_) => {
            let head = format!("HTTP/1.1 {status} X\r\n{headers}Connection: close\r\n\r\n");
            vec![Step::Send([head.as_bytes(), &body].concat())]
        }
        None => reply(status, &headers, body),
    };
    let server = Server::start(move |_| steps.clone());
    let mut tool = tool(plan("GET", &server.url, "/x"));
    if let ExecutionPlan::Http(plan) = &mut tool.call {
        plan.xml_response = message("xml").map(|_| xml());
        plan.accept = message("accept").unwrap_or_default().to_owned().into();
    }
    let declared = message("declares");
    tool.spec.output = declared.map(|declared| match declared {
        "an object" => Shape::of(Kind::Object(ObjectRules::ANY)).into(),
        _ => Shape::of(Kind::Any).into(),
    });
    tool.spec.output_may_differ = message("may_differ").is_some();
    let registry = Registry::new([engine().max_bytes(100).build().unwrap().tool(tool)]).unwrap();
    let result = registry.call_without_layers("t", json!({}), &ctx()).await.unwrap();
    let mut out = vec![result.to_text().replace(&server.url, "URL")];
    out.extend(result.is_error().then(|| "-- an error".to_owned()));
    out.extend((result.details["truncated"] == true).then(|| "-- truncated".to_owned()));
    if declared.is_some() {
        out.push(match result.structured() {
            Ok(value) => format!("-- structured: {value}"),
            Err(reason) => format!("-- not structured: {reason}"),
        });
    }
    out.extend(result.details.get("deviates").map(|deviates| format!("-- deviates: {deviates}")));
    out.extend(result.operator_text().map(|text| format!("-- operator: {text}")));
    out
}

#[tokio::test]
async fn success_shows_location_and_declared_headers() {
    let headers =
        "LOCATION: /pets/7\r\nX-Total-Count: 3\r\nX-Auth-Token: abc\r\nETag: \"v1\"\r\nSet-Cookie: a=b\r\n";
    for (status, message) in [(201, "\nLocation: /pets/7\nX-Total-Count: 3"), (404, "")] {
        let server = Server::start(move |_| reply(status, headers, b""));
        let declared = ["X-Total-Count", "location", "X-Auth-Token", "Set-Cookie", "X-Other"];
        let declared: List<_> = declared.map(toolgen_runtime::Text::from).into_iter().collect();
        let plan = RequestPlan { headers: declared, ..plan("POST", &server.url, "/pets") };
        let result = call(engine(), plan, json!({})).await.unwrap();
        assert_eq!(result.to_text(), format!("POST {}/pets → {status}{message}", server.url));
    }
}

#[tokio::test]
async fn declared_status_is_not_an_error() {
    for (tool, status, failed) in [("t", 404, false), ("t", 410, false), ("t", 500, true), ("u", 404, true)] {
        let server = Server::start(move |_| reply(status, "", b"gone"));
        let engine = engine().accept_status(tool, [404, 410]);
        let result = call(engine, plan("GET", &server.url, "/x"), json!({})).await.unwrap();
        assert_eq!((result.is_error(), body(&result)), (failed, "gone".to_owned()), "{tool} {status}");
        assert_eq!((&result.details["status"], &result.details["ok"]), (&json!(status), &json!(false)));
    }
}

#[tokio::test]
async fn endless_response_is_truncated() {
    let steps = vec![open("Content-Type: text/plain\r\n"), Step::Flood(vec![b'x'; 4096])];
    let (result, server) = answered(steps).await;
    assert_eq!(body(&result), format!("{}\n... [truncated]", "x".repeat(100)));
    tokio::time::sleep(Duration::from_millis(200)).await;
    let flooded = server.flooded();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(flooded, server.flooded(), "the reader is gone");
}

/// A gzip stream of stored blocks, which the decompressor must still stop at the limit.
fn gzip(content: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    for (index, block) in content.chunks(0xffff).enumerate() {
        let last = (index + 1) * 0xffff >= content.len();
        let length = u16::try_from(block.len()).unwrap();
        out.push(u8::from(last));
        out.write_all(&length.to_le_bytes()).unwrap();
        out.write_all(&(!length).to_le_bytes()).unwrap();
        out.write_all(block).unwrap();
    }
    out.extend([0; 8]);
    out
}

#[tokio::test]
async fn compressed_responses_are_unpacked_up_to_the_limit() {
    let packed = gzip(&vec![b'y'; 1 << 20]);
    let headers = "Content-Type: text/plain\r\nContent-Encoding: gzip\r\n";
    let (result, _) = answered(reply(200, headers, &packed)).await;
    assert_eq!(body(&result), format!("{}\n... [truncated]", "y".repeat(100)));
    // The output of Python's `zlib.compress(b"y" * 60)`.
    let packed = b"x\x9c\xab\xac$\x1f\x00\x00a_\x1c]";
    let headers = "Content-Type: text/plain\r\nContent-Encoding: deflate\r\n";
    let (result, _) = answered(reply(200, headers, packed)).await;
    assert_eq!(body(&result), "y".repeat(60));
    // An encoding that was not offered is not treated as text.
    let headers = "Content-Type: text/plain\r\nContent-Encoding: compress\r\n";
    let (result, _) = answered(reply(200, headers, b"abc")).await;
    assert!(matches!(result.content[1], Content::Resource { .. }));
}

/// The outputs of Node's `zlib.brotliCompressSync` and of the program `zstd` for sixty `y`.
#[tokio::test]
async fn brotli_and_zstandard_are_unpacked() {
    for (encoding, packed) in [
        ("br", &b"\x1b\x3b\x00\xf8\x25\xf2\xe2\x8c\x00\x40\x00"[..]),
        ("zstd", b"(\xb5/\xfd\x04XE\x00\x00\x10yy\x01\x00?\x01\x16\xa6\xe3\x05\xf0"),
    ] {
        let headers = format!("Content-Type: text/plain\r\nContent-Encoding: {encoding}\r\n");
        let (result, server) = answered(reply(200, &headers, packed)).await;
        assert_eq!(body(&result), "y".repeat(60));
        let seen = server.only();
        assert!(seen.header("accept-encoding").is_some_and(|accepted| accepted.contains(encoding)));
    }
}

#[tokio::test]
async fn images_audio_and_files_are_separate_content() {
    let (result, server) = answered(reply(200, "Content-Type: image/png\r\n", b"\x89PNG")).await;
    assert_eq!(result.to_text(), format!("GET {}/x → 200\n\n[image/png, 4 bytes]", server.url));
    assert_eq!(
        result.content[1],
        Content::Image { data: "iVBORw==".to_owned(), mime_type: "image/png".to_owned() }
    );
    // An image is passed on completely although it exceeds the limit of text.
    let (result, _) = answered(reply(200, "Content-Type: image/png\r\n", [0; 1000])).await;
    assert_eq!(result.details["truncated"], false);
    let (result, _) = answered(reply(200, "Content-Type: audio/wav\r\n", b"RIFF")).await;
    assert!(matches!(&result.content[1], Content::Audio { data, .. } if data == "UklGRg=="));
    let (result, server) = answered(reply(200, "Content-Type: application/zip\r\n", [7; 200])).await;
    assert_eq!(body(&result), "[application/zip, the first 100 bytes]");
    let Content::Resource { uri, mime_type, data: ResourceData::Base64(data) } = &result.content[1] else {
        panic!("{result:?}")
    };
    assert_eq!((uri.as_str(), mime_type.as_str()), (format!("{}/x", server.url).as_str(), "application/zip"));
    assert_eq!(data.len(), 136);
}

#[tokio::test]
async fn oversized_image_is_omitted() {
    let server = Server::start(|_| reply(200, "Content-Type: image/png\r\n", [0; 1000]));
    let engine = engine().max_media_bytes(999);
    let result = call(engine, plan("GET", &server.url, "/x"), json!({})).await.unwrap();
    assert_eq!(body(&result), "[image/png, more than 999 bytes: omitted]");
    assert_eq!(result.content.len(), 1);
}

#[tokio::test]
async fn event_stream_is_read_to_its_end() {
    let events = Step::Send(b"data: a\n\n: ping\n\ndata: b\ndata: c\n\n".to_vec());
    let (result, _) = answered(vec![open("Content-Type: text/event-stream\r\n"), events]).await;
    assert_eq!(body(&result), "a\nb\nc");
}

#[tokio::test]
async fn endless_event_stream_returns_events_before_the_timeout() {
    let server = Server::start(|_| {
        vec![
            open("Content-Type: text/event-stream\r\n"),
            Step::Send(b"data: a\n\ndata: half".to_vec()),
            Step::Wait(Duration::from_secs(60)),
        ]
    });
    let engine = engine().timeout(Duration::from_millis(400));
    let result = call(engine, plan("GET", &server.url, "/x"), json!({})).await.unwrap();
    assert_eq!(body(&result), "a\n... [truncated]");
    assert_eq!(result.details["truncated"], true);
}

/// Services echo requests in their pages and logs.
#[tokio::test]
async fn credential_is_redacted_in_every_encoding() {
    const SECRET: &str = "us:p&ss<w0rd>\"'s3cr3t";
    let entities = "us:p&amp;ss&lt;w0rd&gt;&quot;&#39;s3cr3t";
    let numbered = SECRET.chars().fold(String::new(), |out, c| format!("{out}&#{};", c as u32));
    let escaped = SECRET.chars().fold(String::new(), |out, c| format!("{out}\\x{:02x}", c as u32));
    let hex = SECRET.bytes().fold(String::new(), |out, byte| format!("{out}{byte:02x}"));
    let wide: Vec<u8> = SECRET.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let base64 = STANDARD.encode(format!("key={SECRET}"));
    let bodies: [(&str, &[u8]); 8] = [
        ("text/html", entities.as_bytes()),
        ("text/html", numbered.as_bytes()),
        ("text/plain", escaped.as_bytes()),
        ("text/plain", hex.as_bytes()),
        ("text/plain", base64.as_bytes()),
        ("application/xml", entities.as_bytes()),
        ("application/octet-stream", &wide),
        ("application/octet-stream", SECRET.as_bytes()),
    ];
    for (content_type, body) in bodies {
        let (headers, sent) = (format!("Content-Type: {content_type}\r\n"), body.to_vec());
        let server = Server::start(move |_| reply(401, &headers, &sent));
        let credentials = StaticCredentials::new().with_origin("s", server.url.as_str(), Secret::new(SECRET));
        let plan = secured(plan("GET", &server.url, "/"), Placement::Header("x-api-key".into()));
        let result = call(engine().credentials(credentials), plan, json!({})).await.unwrap();
        let displayed = serde_json::to_string(&result).unwrap();
        assert!(displayed.contains("****") || displayed.contains("omitted"), "{displayed}");
        for part in ["s3cr3t", &numbered[..20], &escaped[4..20], &hex[..16], &base64[8..20], "cwAzAGMAcg"] {
            assert!(!displayed.contains(part), "{part} in {displayed}");
        }
    }
}

/// The service does not get the argument, and the status line stays.
#[tokio::test]
async fn call_selects_fields_of_a_response() {
    let body = r#"[{"id":1,"owner":{"login":"ada","id":9}},{"id":2,"owner":null}]"#;
    let server = Server::start(move |_| reply(200, "Content-Type: application/json\r\n", body.as_bytes()));
    let mut tool = tool(plan("GET", &server.url, "/x"));
    tool.spec.output = Some(Shape::of(Kind::Any).into());
    tool.spec.output_may_differ = true;
    tool.spec = tool.spec.with_projection();
    let registry = Registry::new([engine().build().unwrap().tool(tool)]).unwrap();
    let arguments = json!({"fields": ["owner.login", "nope"]});
    let result = registry.call_without_layers("t", arguments, &ctx()).await.unwrap();
    let selected = r#"[{"owner":{"login":"ada"}},{"owner":null}]"#;
    let text = format!("GET {}/x → 200\n\n{selected}\n[Not in the result: `nope`.]", server.url);
    assert_eq!(result.to_text(), text);
    assert_eq!(result.structured().unwrap().to_string(), selected);
}
