//! Whole requests: paths, servers, headers, cookies and bodies.

use serde_json::json;
use toolgen_kernel::base::frozen::{List, Text};
use toolgen_kernel::spec::plan::{
    Body as BodyPlan, BodyField, BodySource, Codec, Part, Server, ServerVariable, Style, Xml, XmlNode,
};

use super::*;
use crate::files::Files as _;

fn parameter(name: &'static str, location: Location, encoding: Encoding) -> Parameter {
    Parameter { argument: name.into(), name: name.into(), location, encoding }
}

fn plan(path: &'static str, parameters: Vec<Parameter>) -> RequestPlan {
    RequestPlan {
        path: path.into(),
        servers: vec![server("https://h.example/v1/")].into(),
        parameters: parameters.into(),
        ..RequestPlan::EMPTY
    }
}

fn server(url: &'static str) -> Server {
    Server { url: url.into(), variables: List::EMPTY }
}

fn made(plan: &RequestPlan, arguments: &Value) -> HttpRequest {
    build(plan, arguments, &BuildOptions::default()).unwrap()
}

fn kinds(plan: &RequestPlan, arguments: &Value) -> Vec<RequestProblemKind> {
    let problems = build(plan, arguments, &BuildOptions::default()).unwrap_err();
    problems.iter().map(|problem| problem.kind).collect()
}

fn path_plan(path: &'static str, names: &[&'static str]) -> RequestPlan {
    plan(path, names.iter().map(|name| parameter(name, Location::Path, Encoding::SIMPLE)).collect())
}

#[test]
fn placeholders_stand_anywhere_in_a_path() {
    let url = |path, names: &[&'static str], arguments| made(&path_plan(path, names), &arguments).url;
    assert_eq!(
        url("/files/{id}:verb", &["id"], json!({"id": "a b/é"})),
        "https://h.example/v1/files/a%20b%2F%C3%A9:verb"
    );
    assert_eq!(url("/{a}-{b}", &["a", "b"], json!({"a": 1, "b": true})), "https://h.example/v1/1-true");
    assert_eq!(url("/x.{format}", &["format"], json!({"format": "json"})), "https://h.example/v1/x.json");
    assert_eq!(url("/{list}", &["list"], json!({"list": ["a", "b,c"]})), "https://h.example/v1/a,b%2Cc");
    assert_eq!(url("no slash", &[], json!({})), "https://h.example/v1/no%20slash");
    assert_eq!(url("/a/", &[], json!({})), "https://h.example/v1/a/");
}

#[test]
fn a_path_value_cannot_change_the_path() {
    let plan = path_plan("/orgs/{id}/repos", &["id"]);
    for id in [
        "..",
        ".",
        "",
        "../admin",
        "a/../b",
        "a\\..\\b",
        "%2e%2e",
        "%2E%2e%2fb",
        "/..",
        "./a",
        "..;",
        "..;/admin",
        "..%3b",
    ] {
        assert_eq!(kinds(&plan, &json!({"id": id})), [RequestProblemKind::UnsafePath], "{id}");
    }
    assert_eq!(kinds(&plan, &json!({"id": ["a", ".."]})), [RequestProblemKind::UnsafePath]);
    for (id, sent) in
        [("a/b", "a%2Fb"), ("...", "..."), ("a..b", "a..b"), ("?x#y", "%3Fx%23y"), ("a\\b", "a%5Cb")]
    {
        assert_eq!(made(&plan, &json!({"id": id})).url, format!("https://h.example/v1/orgs/{sent}/repos"));
    }
    // Two values that are harmless apart make a dot segment together.
    let two = path_plan("/x/{a}{b}/y", &["a", "b"]);
    assert!(kinds(&two, &json!({"a": ".", "b": "."})).contains(&RequestProblemKind::UnsafePath));
    let fixed = path_plan("/x/.{a}/y", &["a"]);
    assert!(kinds(&fixed, &json!({"a": "."})).contains(&RequestProblemKind::UnsafePath));
    let label = Encoding::Style { style: Style::Label, explode: false, allow_reserved: false };
    let label = self::plan("/x/{a}", vec![parameter("a", Location::Path, label)]);
    assert_eq!(kinds(&label, &json!({"a": ""})), [RequestProblemKind::UnsafePath]);
}

#[test]
fn a_missing_path_value_has_the_known_text() {
    let plan = path_plan("/pets/{petId}", &["petId"]);
    for arguments in [json!({}), json!({"petId": null}), json!({"petId": []})] {
        let problems = build(&plan, &arguments, &BuildOptions::default()).unwrap_err();
        assert_eq!(problems[0].message, "Missing required path parameter 'petId' for /pets/{petId}");
        assert_eq!(problems[0].kind.code(), "MISSING_PARAMETER");
    }
    assert_eq!(
        kinds(&path_plan("/pets/{petId}", &[]), &json!({"petId": 1})),
        [RequestProblemKind::MissingPathParameter]
    );
    let problems = build(&plan, &json!("x"), &BuildOptions::default()).unwrap_err();
    assert_eq!(problems[0].message, "Expected object parameters, got string");
}

#[test]
fn servers_are_filled_resolved_and_replaced() {
    let mut plan = plan("/a", Vec::new());
    plan.query = vec![("beta".into(), "true".into())].into();
    let url = |plan: &RequestPlan, options: &BuildOptions<'_>| {
        build(plan, &json!({}), options).map(|request| request.url).map_err(|mut problems| {
            assert_eq!(problems.len(), 1);
            problems.remove(0).message
        })
    };
    let none = BuildOptions::default();
    let at = |base_url| BuildOptions { base_url: Some(base_url), ..BuildOptions::default() };
    let document =
        BuildOptions { document_url: Some("https://d.example/api/openapi.json"), ..BuildOptions::default() };
    assert_eq!(
        url(&plan, &at("http://localhost:8080/x?k=v")).unwrap(),
        "http://localhost:8080/x/a?k=v&beta=true"
    );
    assert_eq!(url(&plan, &document).unwrap(), "https://h.example/v1/a?beta=true");
    for (server, expected) in [
        ("v2", "https://d.example/api/v2/a?beta=true"),
        ("/v2", "https://d.example/v2/a?beta=true"),
        ("./", "https://d.example/api/a?beta=true"),
        ("//e.example", "https://e.example/a?beta=true"),
        ("e.example:81/v1", "https://e.example:81/v1/a?beta=true"),
    ] {
        plan.servers = vec![self::server(server)].into();
        assert_eq!(url(&plan, &document).unwrap(), expected);
    }
    plan.servers = vec![server("/v2")].into();
    assert_eq!(url(&plan, &none).unwrap_err(), "No base URL found in spec or config");
    plan.servers = List::EMPTY;
    assert_eq!(url(&plan, &none).unwrap_err(), "No base URL found in spec or config");
    assert_eq!(url(&plan, &document).unwrap(), "https://d.example/a?beta=true");
    assert!(url(&plan, &at("ftp://x")).unwrap_err().contains("must be an http or https URL"));
    assert!(url(&plan, &at("https://u:p@x")).unwrap_err().contains("configure a credential"));
}

#[test]
fn server_variables_are_replaced_and_checked() {
    let mut plan = plan("/a", Vec::new());
    let region = ServerVariable {
        name: "region".into(),
        default: "eu".into(),
        allowed: vec![Text::from("eu"), "us".into()].into(),
    };
    plan.servers =
        vec![Server { url: "https://{region}.h.example/{base}".into(), variables: vec![region].into() }]
            .into();
    let url = |values: &[(&str, &str)]| {
        let values: Vec<_> = values.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let options = BuildOptions { server_variables: &values, ..BuildOptions::default() };
        build(&plan, &json!({}), &options).map(|request| request.url).map_err(|p| p[0].message.clone())
    };
    assert_eq!(url(&[("base", "v1")]).unwrap(), "https://eu.h.example/v1/a");
    assert_eq!(url(&[("base", "v1"), ("region", "us")]).unwrap(), "https://us.h.example/v1/a");
    assert_eq!(url(&[("region", "x")]).unwrap_err(), "Server variable `region` must be one of: eu, us");
    assert!(url(&[]).unwrap_err().contains("`base`"));
}

#[test]
fn headers_and_cookies_are_written() {
    let content = Encoding::Content("application/json".into());
    let plan = plan(
        "/a",
        vec![
            parameter("X-List", Location::Header, Encoding::SIMPLE),
            parameter("X-Json", Location::Header, content.clone()),
            parameter("Authorization", Location::Header, Encoding::SIMPLE),
            parameter("filter", Location::Query, content),
            parameter("c", Location::Cookie, Encoding::FORM),
            parameter("d", Location::Cookie, Encoding::FORM),
        ],
    );
    let request = made(
        &plan,
        &json!({"X-List": ["a", "b c"], "X-Json": {"k": 1}, "Authorization": "x", "filter": {"a": [1]},
               "c": ["1", "2"], "d": "x;y"}),
    );
    assert_eq!(request.url, "https://h.example/v1/a?filter=%7B%22a%22%3A%5B1%5D%7D");
    let headers: Vec<(&str, &str)> = request.headers.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    assert_eq!(
        headers,
        [("Accept", "*/*"), ("X-List", "a,b c"), ("X-Json", "{\"k\":1}"), ("Cookie", "c=1; c=2; d=x%3By")]
    );
    assert_eq!(kinds(&plan, &json!({"X-List": "a\r\nX-Evil: 1"})), [RequestProblemKind::Header]);
}

fn with_body(media_type: &'static str, codec: Codec, source: BodySource, required: bool) -> RequestPlan {
    RequestPlan {
        method: "POST".into(),
        body: Some(BodyPlan { required, media_type: media_type.into(), codec, source }),
        ..plan("/a", Vec::new())
    }
}

fn fields(names: &[&'static str]) -> BodySource {
    BodySource::Fields(
        names.iter().map(|name| BodyField { argument: (*name).into(), name: (*name).into() }).collect(),
    )
}

fn sent(plan: &RequestPlan, arguments: &Value) -> (String, String) {
    let request = made(plan, arguments);
    let media_type = request.header("content-type").unwrap_or_default().to_owned();
    (media_type, String::from_utf8(request.body.as_bytes().to_vec()).unwrap())
}

#[test]
fn a_form_that_is_the_whole_query_has_the_pairs_of_a_body() {
    let form = Encoding::Content("application/x-www-form-urlencoded".into());
    let argument = Parameter { name: Text::EMPTY, ..parameter("q", Location::Query, form) };
    let request = made(
        &plan("/a", vec![argument]),
        &json!({"q": {"text": "a b&c", "tags": ["x", "y"], "near": {"x": 1}, "none": null}}),
    );
    assert!(request.url.ends_with("/a?text=a+b%26c&tags=x&tags=y&near=%7B%22x%22%3A1%7D"), "{}", request.url);
}

#[test]
fn json_bodies() {
    let whole = with_body("application/json", Codec::Json, BodySource::Argument("body".into()), false);
    let of = |text: &str| ("application/json".to_owned(), text.to_owned());
    assert_eq!(sent(&whole, &json!({"body": null})), of("null"));
    assert_eq!(sent(&whole, &json!({"body": [1.5, "é"]})), of("[1.5,\"é\"]"));
    assert_eq!(made(&whole, &json!({})).body, Body::None);
    let parts = with_body("application/json", Codec::Json, fields(&["a", "b"]), false);
    assert_eq!(sent(&parts, &json!({"b": null, "a": 1, "other": 2})), of("{\"a\":1,\"b\":null}"));
    assert_eq!(made(&parts, &json!({"other": 2})).body, Body::None);
    let required = with_body("application/json", Codec::Json, fields(&["a"]), true);
    assert_eq!(sent(&required, &json!({})), of("{}"));
    let required = with_body("application/json", Codec::Json, BodySource::Argument("body".into()), true);
    assert_eq!(kinds(&required, &json!({})), [RequestProblemKind::Body]);
    let any = with_body("*/*", Codec::Json, BodySource::Argument("body".into()), false);
    assert_eq!(sent(&any, &json!({"body": 1})), of("1"));
}

#[test]
fn form_bodies() {
    let part = |name: &'static str, content_type: &'static str, encoding| Part {
        name: name.into(),
        file: false,
        content_type: content_type.into(),
        encoding,
    };
    let style = |style, explode| Some(Encoding::Style { style, explode, allow_reserved: false });
    use Style::{DeepObject, Form};
    let parts = vec![
        part("deep", "", style(DeepObject, true)),
        part("flat", "", style(Form, false)),
        part("json", "application/json", None),
    ];
    let names = ["text", "list", "object", "deep", "flat", "json", "nothing"];
    let plan =
        with_body("application/x-www-form-urlencoded", Codec::Form(parts.into()), fields(&names), false);
    let (media_type, body) = sent(
        &plan,
        &json!({"text": "a b&ü~", "list": [1, 2], "object": {"k": true}, "deep": {"a": {"b": 1}},
               "flat": ["x", "y"], "json": ["z"], "nothing": null}),
    );
    assert_eq!(media_type, "application/x-www-form-urlencoded");
    assert_eq!(
        body,
        "text=a+b%26%C3%BC%7E&list=1&list=2&object=%7B%22k%22%3Atrue%7D&deep%5Ba%5D%5Bb%5D=1&flat=x,y\
         &json=%5B%22z%22%5D"
    );
}

#[test]
fn multipart_bodies() {
    let part = |name: &'static str, file, content_type: &'static str| Part {
        name: name.into(),
        file,
        content_type: content_type.into(),
        encoding: None,
    };
    let parts = vec![part("f", true, "image/png, image/jpeg"), part("note", false, "text/markdown")];
    let names = ["s", "n", "o", "l", "f", "note"];
    let plan = with_body("multipart/form-data", Codec::Multipart(parts.into()), fields(&names), false);
    let arguments = json!({"s": "é", "n": 1, "o": {"k": 1}, "l": ["a", "b"],
        "f": {"base64": "aGk=", "filename": "a\"b.png"}, "note": "#"});
    let (media_type, body) = sent(&plan, &arguments);
    let boundary = media_type.strip_prefix("multipart/form-data; boundary=").unwrap();
    let expected = [
        "Content-Disposition: form-data; name=\"s\"\r\nContent-Type: text/plain; charset=utf-8\r\n\r\né",
        "Content-Disposition: form-data; name=\"n\"\r\nContent-Type: text/plain\r\n\r\n1",
        "Content-Disposition: form-data; name=\"o\"\r\nContent-Type: application/json\r\n\r\n{\"k\":1}",
        "Content-Disposition: form-data; name=\"l\"\r\nContent-Type: text/plain\r\n\r\na",
        "Content-Disposition: form-data; name=\"l\"\r\nContent-Type: text/plain\r\n\r\nb",
        "Content-Disposition: form-data; name=\"f\"; filename=\"a%22b.png\"\r\nContent-Type: image/png\r\n\r\nhi",
        "Content-Disposition: form-data; name=\"note\"\r\nContent-Type: text/markdown\r\n\r\n#",
    ];
    let mut whole = String::new();
    for part in expected {
        whole.push_str(&format!("--{boundary}\r\n{part}\r\n"));
    }
    whole.push_str(&format!("--{boundary}--\r\n"));
    assert_eq!(body, whole);
    assert_eq!(sent(&plan, &arguments), (media_type, body), "the boundary depends on the content alone");
    assert_eq!(kinds(&plan, &json!({"f": {"url": "x"}})), [RequestProblemKind::File]);
}

#[test]
fn what_may_be_sent_in_place_of_a_file_is_a_plain_part() {
    let part = Part { name: "f".into(), file: true, content_type: "image/png".into(), encoding: None };
    let plan = with_body("multipart/form-data", Codec::Multipart(vec![part].into()), fields(&["f"]), false);
    let (_, body) = sent(&plan, &json!({"f": ["https://x.test/a.png", {"base64": "aGk="}]}));
    let parts = [
        "name=\"f\"\r\nContent-Type: text/plain\r\n\r\nhttps://x.test/a.png\r\n",
        "name=\"f\"; filename=\"f\"\r\nContent-Type: image/png\r\n\r\nhi\r\n",
    ];
    assert!(parts.iter().all(|part| body.contains(part)), "{body}");
}

#[test]
fn a_file_is_of_the_type_its_argument_or_its_name_says() {
    let sent_as = |allowed: &'static str, file: Value| {
        let part = Part { name: "f".into(), file: true, content_type: allowed.into(), encoding: None };
        let codec = Codec::Multipart(vec![part].into());
        let (_, body) =
            sent(&with_body("multipart/form-data", codec, fields(&["f"]), false), &json!({"f": file}));
        body.lines().find_map(|line| line.strip_prefix("Content-Type: ")).unwrap().to_owned()
    };
    let several = "image/*, image/png, image/jpeg";
    assert_eq!(sent_as(several, json!({"base64": "aGk="})), "image/png");
    assert_eq!(sent_as(several, json!({"base64": "aGk=", "filename": "a.JPG"})), "image/jpeg");
    assert_eq!(sent_as(several, json!({"base64": "aGk=", "content_type": "image/gif"})), "image/gif");
    assert_eq!(sent_as("image/*", json!({"base64": "aGk=", "filename": "a.jpg"})), "image/jpeg");
    assert_eq!(sent_as("image/*", json!({"base64": "R0lGODlh"})), "image/gif");
    assert_eq!(sent_as("image/jpeg, text/*", json!({"base64": "aGk=", "filename": "a.csv"})), "text/csv");
    // A text is one, unless something says otherwise.
    for (allowed, file, kind) in [
        ("", json!({"text": "hi"}), "text/plain"),
        ("*/*", json!({"text": "hí"}), "text/plain; charset=utf-8"),
        ("text/csv", json!({"text": "a,b"}), "text/csv"),
        ("application/octet-stream, text/plain", json!({"text": "hi"}), "text/plain"),
        ("application/octet-stream", json!({"text": "hi"}), "application/octet-stream"),
        ("", json!({"text": "{}", "filename": "a.json"}), "application/json"),
        ("text/*", json!({"text": "<a/>", "content_type": "text/xml"}), "text/xml"),
    ] {
        assert_eq!(sent_as(allowed, file), kind, "{allowed}");
    }
}

#[test]
fn text_and_binary_bodies() {
    let text = with_body("text/plain", Codec::Text, BodySource::Argument("body".into()), false);
    assert_eq!(sent(&text, &json!({"body": "hi"})), ("text/plain".to_owned(), "hi".to_owned()));
    assert_eq!(sent(&text, &json!({"body": "hí"})).0, "text/plain; charset=utf-8");
    let lines = |media_type, body| {
        sent(
            &with_body(media_type, Codec::JsonLines, BodySource::Argument("body".into()), false),
            &json!({"body": body}),
        )
        .1
    };
    assert_eq!(lines("application/x-ndjson", json!([{"a": 1}, "\n"])), "{\"a\":1}\n\"\\n\"\n");
    assert_eq!(lines("application/json-seq", json!([1, 2])), "\u{1e}1\n\u{1e}2\n");
    let binary = with_body("image/*", Codec::Binary, BodySource::Argument("body".into()), false);
    let request = made(&binary, &json!({"body": {"base64": "_-8", "content_type": "image/gif"}}));
    assert_eq!(request.body, Body::Bytes(vec![0xff, 0xef]));
    assert_eq!(request.header("content-type"), Some("image/gif"));
    let request = made(&binary, &json!({"body": {"text": "é"}}));
    assert_eq!(request.body, Body::Bytes("é".as_bytes().to_vec()));
    for bad in [
        json!({}),
        json!({"base64": "a", "path": "b"}),
        json!({"base64": "aGk=", "text": "hi"}),
        json!({"base64": "%"}),
        json!({"path": "a"}),
    ] {
        assert_eq!(kinds(&binary, &json!({"body": bad})), [RequestProblemKind::File]);
    }
}

#[test]
fn a_problem_of_a_part_is_told_of_the_argument_that_was_given() {
    let file = Part { name: "f".into(), file: true, content_type: Text::EMPTY, encoding: None };
    let field = BodyField { name: "f".into(), argument: "picture".into() };
    for (source, given, argument) in [
        (BodySource::Argument("body".into()), json!({"body": {"f": {}}}), "body"),
        (BodySource::Fields(vec![field].into()), json!({"picture": {}}), "picture"),
    ] {
        let plan =
            with_body("multipart/form-data", Codec::Multipart(vec![file.clone()].into()), source, true);
        let problems = build(&plan, &given, &BuildOptions::default()).unwrap_err();
        assert_eq!(problems[0].argument, argument, "{problems:?}");
        assert!(problems[0].message.starts_with("`f`: a file needs"), "{problems:?}");
    }
}

#[test]
fn files_are_read_from_their_directory_only() {
    let root = std::env::temp_dir().join(format!("toolgen-files-{}", std::process::id()));
    std::fs::create_dir_all(root.join("in/sub")).unwrap();
    std::fs::write(root.join("in/sub/a.txt"), "inside").unwrap();
    std::fs::write(root.join("secret"), "outside").unwrap();
    #[cfg(unix)]
    let _ = std::os::unix::fs::symlink(root.join("secret"), root.join("in/link"));
    let files = crate::FilesRoot::new(root.join("in")).max_bytes(6);
    assert_eq!(files.read("sub/a.txt").unwrap(), b"inside");
    let absolute = root.join("secret").display().to_string();
    for bad in ["../secret", "sub/../../secret", "link", "", "sub", "gone", &absolute] {
        assert!(files.read(bad).is_err(), "{bad}");
    }
    assert!(files.max_bytes(5).read("sub/a.txt").unwrap_err().contains("larger than 5 bytes"));
    std::fs::remove_dir_all(&root).unwrap();
}

#[test]
fn all_problems_come_at_once() {
    let mut plan = path_plan("/{a}/{b}", &["a", "b"]);
    plan.servers = List::EMPTY;
    assert_eq!(
        kinds(&plan, &json!({"a": ".."})),
        [
            RequestProblemKind::UnsafePath,
            RequestProblemKind::MissingPathParameter,
            RequestProblemKind::BaseUrl
        ]
    );
}

#[test]
fn there_is_one_header_for_all_cookies() {
    let plan = plan(
        "/a",
        vec![
            parameter("Cookie", Location::Header, Encoding::SIMPLE),
            parameter("sid", Location::Cookie, Encoding::FORM),
        ],
    );
    let cookies = |arguments| {
        let headers = made(&plan, &arguments).headers;
        let cookies = headers.into_iter().filter(|(name, _)| name.eq_ignore_ascii_case("cookie"));
        cookies.map(|(_, value)| value).collect::<Vec<_>>()
    };
    assert_eq!(cookies(json!({"Cookie": "a=1; b=2", "sid": "x"})), ["a=1; b=2; sid=x"]);
    assert_eq!(cookies(json!({"Cookie": "a=1"})), ["a=1"]);
    assert_eq!(cookies(json!({"Cookie": "", "sid": "x"})), ["sid=x"]);
    assert!(cookies(json!({"Cookie": ""})).is_empty());
}

#[test]
fn a_url_that_nobody_takes_is_a_problem_of_its_longest_argument() {
    let names = ["q", "long"].map(|name| parameter(name, Location::Query, Encoding::FORM));
    let plan = plan("/a", names.into());
    let around = "https://h.example/v1/a?q=1&long=".len();
    let fits = json!({"q": 1, "long": "x".repeat(MAX_URL - around)});
    assert_eq!(made(&plan, &fits).url.len(), MAX_URL);
    let arguments = json!({"q": 1, "long": "x".repeat(MAX_URL - around + 1)});
    let problems = build(&plan, &arguments, &BuildOptions::default()).unwrap_err();
    assert_eq!(
        problems,
        [RequestProblem::new(
            RequestProblemKind::TooLong,
            "long",
            "The URL would have 65535 bytes, and at most 65534 can be sent; send less"
        )]
    );
    assert!(problems[0].kind.is_about_arguments());
}

#[test]
fn a_body_is_what_the_charset_of_its_media_type_says() {
    let sent = |media_type: &'static str, codec: Codec, value: Value| {
        let plan = with_body(media_type, codec, BodySource::Argument("b".into()), true);
        let request = build(&plan, &json!({ "b": value }), &BuildOptions::default());
        request.map(|request| request.body.as_bytes().to_vec())
    };
    let utf_16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let xml = || Codec::Xml(Xml { root: XmlNode { name: "a".into(), ..XmlNode::EMPTY }, named: List::EMPTY });
    for (media_type, codec, value, bytes) in [
        (
            "application/json; charset=utf-16",
            Codec::Json,
            json!({"a": "é"}),
            [b"\xff\xfe".to_vec(), utf_16(r#"{"a":"\u00e9"}"#)].concat(),
        ),
        ("application/json; charset=latin1", Codec::Json, json!("é"), br#""\u00e9""#.to_vec()),
        (
            "application/x-ndjson; charset=utf-16le",
            Codec::JsonLines,
            json!(["é", 1]),
            utf_16("\"\\u00e9\"\n1\n"),
        ),
        ("application/jsonl; charset=ascii", Codec::JsonLines, json!(["é"]), b"\"\\u00e9\"\n".to_vec()),
        (
            "application/xml; charset=iso-8859-1",
            xml(),
            json!("é"),
            b"<?xml version=\"1.0\" encoding=\"iso-8859-1\"?><a>\xe9</a>".to_vec(),
        ),
        (
            "text/xml; charset=UTF-16BE",
            xml(),
            json!("x"),
            "<?xml version=\"1.0\" encoding=\"UTF-16BE\"?><a>x</a>"
                .encode_utf16()
                .flat_map(u16::to_be_bytes)
                .collect(),
        ),
        (
            "application/x-www-form-urlencoded; Charset=\"windows-1252\"",
            Codec::Form(List::EMPTY),
            json!({"é": "€ ä"}),
            b"%E9=%80+%E4".to_vec(),
        ),
    ] {
        assert_eq!(sent(media_type, codec, value), Ok(bytes), "{media_type}");
    }
    for (media_type, codec, value, why) in [
        ("application/json; charset=utf-32", Codec::Json, json!("a"), "the charset utf-32"),
        ("application/x-ndjson; charset=utf-7", Codec::JsonLines, json!(["a"]), "the charset utf-7"),
        ("application/xml; charset=latin1", xml(), json!("日"), "lacks some of the characters"),
        (
            "application/x-www-form-urlencoded; charset=utf-16",
            Codec::Form(List::EMPTY),
            json!({"a": "b"}),
            "a form cannot have the charset utf-16",
        ),
        (
            "application/x-www-form-urlencoded; charset=latin1",
            Codec::Form(List::EMPTY),
            json!({"a": "日"}),
            "lacks some of the characters",
        ),
    ] {
        let problems = sent(media_type, codec, value).unwrap_err();
        assert!(problems[0].message.contains(why), "{media_type}: {problems:?}");
    }
}

#[test]
fn a_name_stands_in_the_query_once() {
    let mut plan = plan("/x", vec![parameter("a", Location::Query, Encoding::FORM)]);
    plan.servers = vec![server("https://h.example/v1?a=1&b=2")].into();
    let url = |plan: &RequestPlan, arguments, base_url| {
        let options = BuildOptions { base_url, ..BuildOptions::default() };
        build(plan, &arguments, &options).map(|request| request.url).map_err(|problems| problems[0].clone())
    };
    assert_eq!(url(&plan, json!({}), None).unwrap(), "https://h.example/v1/x?a=1&b=2");
    assert_eq!(url(&plan, json!({"a": "5"}), None).unwrap(), "https://h.example/v1/x?b=2&a=5");
    // What the operator sets is not up to a model.
    let own = Some("https://own.example/?%61=1");
    assert_eq!(
        url(&plan, json!({"a": "1"}), Some("https://own.example/?a=1")).unwrap(),
        "https://own.example/x?a=1"
    );
    let problem = url(&plan, json!({"a": "5"}), own).unwrap_err();
    assert_eq!((problem.kind, problem.argument.as_str()), (RequestProblemKind::Arguments, "a"));
}

#[test]
fn a_server_variable_stays_in_its_place() {
    let variable =
        |name: &'static str| ServerVariable { name: name.into(), default: "d".into(), allowed: List::EMPTY };
    let mut plan = plan("/x", vec![]);
    let with = |plan: &mut RequestPlan, url: &'static str, value: &str| {
        plan.servers = vec![Server { url: url.into(), variables: vec![variable("v")].into() }].into();
        let values = [("v".to_owned(), value.to_owned())];
        let options = BuildOptions { server_variables: &values, ..BuildOptions::default() };
        build(plan, &json!({}), &options).map(|request| request.url).map_err(|problems| problems[0].kind)
    };
    for bad in ["a@b", "evil.example/", "a\\b", "a?b", "a#b", "a b", "a\n"] {
        let refused = Err(RequestProblemKind::ServerVariable);
        assert_eq!(with(&mut plan, "https://{v}.example/1", bad), refused, "{bad}");
    }
    for bad in ["a?b", "a#b", "a\\b"] {
        assert_eq!(
            with(&mut plan, "https://h.example/{v}", bad),
            Err(RequestProblemKind::ServerVariable),
            "{bad}"
        );
    }
    assert_eq!(with(&mut plan, "https://{v}/1", "h.example:8080").unwrap(), "https://h.example:8080/1/x");
    assert_eq!(with(&mut plan, "https://h.example/{v}", "a/b@c").unwrap(), "https://h.example/a/b@c/x");
    assert_eq!(with(&mut plan, "{v}/1", "https://h.example").unwrap(), "https://h.example/1/x");
    plan.servers = vec![server("wss://h.example")].into();
    assert_eq!(kinds(&plan, &json!({})), [RequestProblemKind::Server]);
}
