//! Tests that traffic is recorded, and replayed without a socket.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use toolgen_runtime::engine::http::OAuth;
use toolgen_runtime::layers::redact::Redactor;
use toolgen_runtime::schema::shape::read::read_document;
use toolgen_runtime::testing::cassette::Cassette;
use toolgen_runtime::{Content, Frozen, Toolbox};

use crate::prelude::*;
use crate::server::{call, engine, parameter, plan, secured, tool};

const JSON: &str = "Content-Type: application/json\r\n";

fn in_query(url: &str) -> RequestPlan {
    let parameter = parameter(
        "name",
        Location::Query,
        Encoding::Style { style: Style::Form, explode: true, allow_reserved: false },
    );
    RequestPlan { parameters: vec![parameter].into(), ..plan("GET", url, "/pets") }
}

fn with_body(url: &str) -> RequestPlan {
    let source = BodySource::Argument("body".into());
    let body = Body { required: false, media_type: "application/json".into(), codec: Codec::Json, source };
    RequestPlan { body: Some(body), ..plan("POST", url, "/pets") }
}

/// A pet shop that counts requests.
fn shop() -> Server {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    Server::start(move |seen| {
        let number = asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        match seen.target().split('?').next().unwrap() {
            "/old" => reply(302, "Location: /pets?name=new\r\n", b""),
            "/picture" => reply(200, "Content-Type: image/png\r\n", [0x89, b'P', 0xff, 0]),
            "/gone" => reply(404, JSON, br#"{"error":"gone"}"#),
            _ => reply(200, JSON, json!({"asked": number, "n": 1.5}).to_string()),
        }
    })
}

/// Makes all kinds of requests, and returns their results.
async fn program(engine: impl Fn() -> HttpEngineBuilder, url: &str) -> Vec<ToolResult> {
    let mut results = Vec::new();
    for (plan, arguments) in [
        (in_query(url), json!({"name": "Bo"})),
        (in_query(url), json!({"name": "Bo"})),
        (with_body(url), json!({"body": {"name": "Ada", "tags": ["a"]}})),
        (plan("GET", url, "/old"), json!({})),
        (plan("GET", url, "/picture"), json!({})),
        (plan("GET", url, "/gone"), json!({})),
    ] {
        results.push(call(engine(), plan, arguments).await.unwrap());
    }
    results
}

#[tokio::test]
async fn cassette_plays_recorded_responses_without_a_socket() {
    let server = shop();
    let cassette = Cassette::record(&Redactor::new());
    let first = program(|| engine().cassette(&cassette), &server.url).await;
    let asked = server.seen().len();
    assert_eq!(asked, 7);
    assert!(matches!(
        first[4].content[..],
        [Content::Text(_), Content::Image { .. }] | [Content::Image { .. }, ..]
    ));

    let played = Cassette::parse(&cassette.to_text().unwrap()).unwrap();
    let again = program(|| engine().cassette(&played), &server.url).await;
    played.finish().unwrap();
    assert_eq!(again.len(), first.len());
    for (first, again) in first.iter().zip(&again) {
        assert_eq!(first.content, again.content);
        assert_eq!(first.is_error(), again.is_error());
        assert_eq!(first.details["final_url"], again.details["final_url"]);
    }
    // The same request got different responses.
    assert_ne!(again[0].to_text(), again[1].to_text());
    assert_eq!(server.seen().len(), asked);
}

#[tokio::test]
async fn cassette_file_snapshot() {
    let server = shop();
    let cassette = Cassette::record(&Redactor::new());
    call(
        engine().cassette(&cassette),
        with_body(&server.url),
        json!({"body": {"name": "Ada", "password": "x"}}),
    )
    .await
    .unwrap();
    let path = std::env::temp_dir().join(format!("toolgen-cassette-{}.json", std::process::id()));
    cassette.save(&path).unwrap();
    let saved: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    Cassette::open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(saved["toolgen_cassette"], 1);
    let entry = &saved["traffic"][0];
    assert_eq!(entry["http"]["method"], "POST");
    assert_eq!(entry["http"]["url"], format!("{}/pets", server.url));
    assert_eq!(entry["http"]["headers"]["content-type"], "application/json");
    assert_eq!(entry["http"]["body"], json!({"json": {"name": "Ada", "password": "[REDACTED]"}}));
    assert_eq!(entry["answer"]["status"], 200);
    assert_eq!(entry["answer"]["body"], json!({"json": {"asked": 0, "n": 1.5}}));
}

#[tokio::test]
async fn unrecorded_request_is_rejected_with_the_differences() {
    let server = shop();
    let cassette = Cassette::record(&Redactor::new());
    let ada = || json!({"body": {"name": "Ada", "tags": ["a"], "password": "hunter2"}});
    call(engine().cassette(&cassette), with_body(&server.url), ada()).await.unwrap();
    let text = cassette.to_text().unwrap();

    // A masked value matches any value.
    let played = Cassette::parse(&text).unwrap();
    let mut other = ada();
    other["body"]["password"] = "swordfish".into();
    call(engine().cassette(&played), with_body(&server.url), other.clone()).await.unwrap();
    played.finish().unwrap();

    let played = Cassette::parse(&text).unwrap();
    other["body"]["tags"] = json!(["b"]);
    let error = call(engine().cassette(&played), with_body(&server.url), other).await.unwrap_err();
    assert_eq!(error.code(), "CASSETTE_DIFFERENCE");
    let message = error.to_string();
    assert!(message.ends_with("\n  /body/json/tags/0: expected \"a\", found \"b\""), "{message}");
    assert!(
        message.contains("- expected 1: {\"method\":\"POST\"") && message.contains("+ found    {\"method\""),
        "{message}"
    );
    assert!(!message.contains("swordfish"), "{message}");
    assert_eq!(played.finish().unwrap_err().to_string(), message);
    assert_eq!(server.seen().len(), 1);

    // One request too many, and one too few.
    let played = Cassette::parse(&text).unwrap();
    call(engine().cassette(&played), with_body(&server.url), ada()).await.unwrap();
    let message =
        call(engine().cassette(&played), with_body(&server.url), ada()).await.unwrap_err().to_string();
    assert!(
        message.starts_with(
            "the traffic differs from the cassette: a request is not on it, or was already played"
        ),
        "{message}"
    );
    let reason = Cassette::parse(&text).unwrap().finish().unwrap_err().to_string();
    assert_eq!(
        reason,
        format!(
            "the traffic differs from the cassette: requests were not made\n  1: POST {}/pets",
            server.url
        )
    );
    for (text, wanted) in [
        ("{}", "`toolgen_cassette` is missing"),
        (r#"{"toolgen_cassette": 1, "traffic": [{}]}"#, "/traffic/0: `http` or `mcp` is missing"),
        (r#"{"toolgen_cassette": 1, "traffic": [{"mcp": {"server": "a"}}]}"#, "/traffic/0/mcp/connection"),
    ] {
        let reason = Cassette::parse(text).unwrap_err().to_string();
        assert!(reason.contains(wanted), "{reason}");
    }
}

/// Characters that each encoding writes differently.
const SECRETS: [&str; 6] = [
    "be\"ar/er+1\\8271",
    "he\"ad/er+2\\8272",
    "qu\"er/y+3\\8273 x",
    "us:pa\"ss/wo+rd4\\8274",
    "cl\"ie/nt+5\\8275",
    "pi\"n/co+de6\\8276",
];

fn percent(text: &str, all: bool) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        if all || !byte.is_ascii_alphanumeric() {
            let _ = write!(out, "%{byte:02X}");
        } else {
            out.push(char::from(byte));
        }
        out
    })
}

/// Returns a string in all encodings in which it may occur.
fn encodings(secret: &str) -> Vec<String> {
    let escaped = json!(secret).to_string();
    let by_number = secret.chars().fold(String::new(), |mut out, letter| {
        let _ = write!(out, "\\u{:04x}", u32::from(letter));
        out
    });
    let mut all = vec![
        secret.to_owned(),
        escaped.trim_matches('"').to_owned(),
        by_number,
        percent(secret, false),
        percent(secret, true),
        percent(secret, false).to_lowercase(),
        percent(secret, false).replace("%20", "+"),
        secret.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;"),
        secret.chars().fold(String::new(), |out, c| format!("{out}&#{};", c as u32)),
        secret.chars().fold(String::new(), |out, c| format!("{out}&#x{:X};", c as u32)),
        secret.bytes().fold(String::new(), |out, byte| format!("{out}\\x{byte:02x}")),
        secret.bytes().fold(String::new(), |out, byte| format!("{out}{byte:02x}")),
        secret.bytes().fold(String::new(), |out, byte| format!("{out}{byte:02X}")),
        secret.chars().fold(String::new(), |out, c| format!("{out}{c}\0")).trim_end_matches('\0').to_owned(),
    ];
    for before in ["", "a", "ab"] {
        let text = format!("{before}{secret}");
        // Without the characters at the edges, which depend on the surrounding text.
        for encoded in [STANDARD.encode(&text), URL_SAFE_NO_PAD.encode(&text)] {
            let end = text.len() * 8 / 6;
            all.push(encoded[(before.len() * 8).div_ceil(6)..end].to_owned());
        }
    }
    all
}

/// Returns all secrets in all encodings, in each part of a response.
fn leak(seen: &Request) -> Vec<Step> {
    if seen.target() == "/token" {
        let body = json!({"access_token": "an-access-token", "token_type": "Bearer", "said": SECRETS[4]});
        return reply(200, JSON, body.to_string());
    }
    let messages: Vec<String> = SECRETS.iter().flat_map(|secret| encodings(secret)).collect();
    let as_keys: Vec<Value> = messages.iter().map(|message| json!({ message.clone(): "x" })).collect();
    // A header cannot contain NUL.
    let in_headers: Vec<&str> =
        messages.iter().map(String::as_str).filter(|message| !message.contains('\0')).collect();
    let headers =
        format!("X-Echo: {}\r\nSet-Cookie: session={}\r\n", in_headers.join(" "), "opaque-cookie-value");
    match seen.target().split('?').next().unwrap() {
        "/text" => reply(200, &format!("{headers}Content-Type: text/plain\r\n"), messages.join("\n")),
        "/bytes" => {
            let bytes = [&[0xff, 0xfe][..], messages.join("\n").as_bytes(), &[0xff]].concat();
            reply(200, &format!("{headers}Content-Type: application/octet-stream\r\n"), &bytes)
        }
        _ => {
            // Parsed and serialized again, so that escapes in the text do not hide secrets either.
            let body = json!({"said": messages, "keys": as_keys, "token": "an-access-token"});
            reply(200, &format!("{headers}{JSON}"), body.to_string())
        }
    }
}

#[tokio::test]
async fn no_credential_reaches_a_cassette_in_any_encoding() {
    let server = Server::start(leak);
    let cassette = Cassette::record(&Redactor::new());
    let placements = [
        (Placement::Bearer, SECRETS[0]),
        (Placement::Header("x-api-key".into()), SECRETS[1]),
        (Placement::Query("appid".into()), SECRETS[2]),
        (Placement::Basic, SECRETS[3]),
    ];
    for path in ["/json", "/text", "/bytes"] {
        for (placement, secret) in &placements {
            let credentials =
                StaticCredentials::new().with_origin("s", server.url.as_str(), Secret::new(*secret));
            let builder =
                engine().credentials(credentials).header("X-Auth-Extra", SECRETS[1]).cassette(&cassette);
            call(builder, secured(plan("GET", &server.url, path), placement.clone()), json!({}))
                .await
                .unwrap();
        }
        let oauth = OAuth::client_credentials(format!("{}/token", server.url), "id", Secret::new(SECRETS[4]));
        let builder = engine().oauth("s", oauth).cassette(&cassette);
        call(builder, secured(plan("GET", &server.url, path), Placement::Bearer), json!({})).await.unwrap();
    }
    // Secrets that the tool declares, in the URL and in a body.
    let mut declared = tool(in_query(&server.url));
    let schema = json!({"type": "object", "properties": {"name": {"type": "string", "format": "password"}}});
    let (shape, defs) = read_document(&schema, &mut Vec::new());
    (declared.spec.input, declared.spec.defs) = (shape.into(), defs);
    let tool = engine().cassette(&cassette).build().unwrap().tool(Frozen::from(declared));
    let toolbox = Toolbox::builder(&Registry::new([tool]).unwrap()).build().unwrap();
    let call = ToolCall::new("1", "t", json!({"name": SECRETS[5]}));
    let response = toolbox.run(call, &Turn::new("turn")).await;
    assert!(response.outcome.is_ok(), "{response:?}");

    let text = cassette.to_text().unwrap();
    let parsed: Value = serde_json::from_str(&text).unwrap();
    assert!(parsed["traffic"].as_array().unwrap().len() >= 17, "{text}");
    // In the file, and in its decoded content.
    let mut decoded = String::new();
    texts(&parsed, &mut decoded);
    for secret in SECRETS.into_iter().chain(["an-access-token", "opaque-cookie-value"]) {
        for encoded in encodings(secret) {
            // The six declared secrets are also searched for in Base64. A secret that a redactor detects by its key
            // is not.
            for (what, text) in [("the file", &text), ("its texts", &decoded)] {
                let at = text.find(&encoded);
                let around =
                    at.map(|at| text[at.saturating_sub(200)..].chars().take(500).collect::<String>());
                assert_eq!(around, None, "{encoded} of {secret} is in {what}");
            }
        }
    }
}

/// The rules of a redactor apply to bytes as well as to text.
#[tokio::test]
async fn bytes_matching_the_redactor_are_omitted() {
    let wide: Vec<u8> = "password=hunter2hunter2".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let bodies = [
        (b"\xff\xfepassword=hunter2hunter2 AKIAABCDEFGHIJKLMNOP".to_vec(), true),
        ([&[0xff, 0xfe][..], &wide].concat(), true),
        (b"\xff\xfea picture of a dog".to_vec(), false),
    ];
    for (body, is_left_out) in bodies {
        let sent = body.clone();
        let server = Server::start(move |_| reply(200, "Content-Type: application/octet-stream\r\n", &sent));
        let cassette = Cassette::record(&Redactor::new());
        call(engine().cassette(&cassette), plan("GET", &server.url, "/b"), json!({})).await.unwrap();
        let text = cassette.to_text().unwrap();
        let saved: Value = serde_json::from_str(&text).unwrap();
        let wanted = match is_left_out {
            true => json!({"text": "[REDACTED]"}),
            false => json!({"base64": STANDARD.encode(&body)}),
        };
        assert_eq!(saved["traffic"][0]["answer"]["body"], wanted);
        let played = Cassette::parse(&text).unwrap();
        call(engine().cassette(&played), plan("GET", &server.url, "/b"), json!({})).await.unwrap();
        played.finish().unwrap();
    }
}

/// A mask within a text matches one secret, but no text that is added after it.
#[tokio::test]
async fn masked_url_does_not_match_additional_parameters() {
    let server = shop();
    let form = || Encoding::Style { style: Style::Form, explode: true, allow_reserved: false };
    let asks = |names: &[&'static str]| {
        let parameters: Vec<_> = names.iter().map(|name| parameter(name, Location::Query, form())).collect();
        RequestPlan { parameters: parameters.into(), ..plan("GET", &server.url, "/pets") }
    };
    let cassette = Cassette::record(&Redactor::new());
    let arguments = json!({"limit": 1, "token": "abcdefgh"});
    call(engine().cassette(&cassette), asks(&["limit", "token"]), arguments).await.unwrap();
    let text = cassette.to_text().unwrap();
    assert!(text.contains("/pets?limit=1&token=[REDACTED]\""), "{text}");
    for (names, arguments, fits) in [
        (&["limit", "token"][..], json!({"limit": 1, "token": "another"}), true),
        (&["limit", "token"], json!({"limit": 2, "token": "another"}), false),
        (&["limit", "token"], json!({"limit": 1}), false),
        (&["limit", "token", "delete"], json!({"limit": 1, "token": "z", "delete": "all"}), false),
    ] {
        let played = Cassette::parse(&text).unwrap();
        let result = call(engine().cassette(&played), asks(names), arguments.clone()).await;
        assert_eq!((result.is_ok(), played.finish().is_ok()), (fits, fits), "{arguments}");
    }
}

/// Collects all strings of a value, with Base64 bytes decoded.
fn texts(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => {
            out.push_str(text);
            out.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| texts(item, out)),
        Value::Object(members) => {
            if let Some(bytes) = members.get("base64").and_then(Value::as_str) {
                out.push_str(&String::from_utf8_lossy(&STANDARD.decode(bytes).unwrap()));
            }
            for (key, value) in members {
                out.push_str(key);
                out.push('\n');
                texts(value, out);
            }
        }
        other => {
            let _ = writeln!(out, "{other}");
        }
    }
}
