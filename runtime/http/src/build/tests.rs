//! Tests of whole requests: paths, servers, headers, cookies and bodies.

use std::path::Path;

use serde_json::json;
use toolgen_kernel::base::frozen::{List, Text};
use toolgen_kernel::spec::plan::{
    Body as BodyPlan, BodyField, BodySource, Codec, Part, Server, ServerVariable, Style, Xml, XmlNode,
};

use toolgen_test_support::script;

use super::*;
use crate::files::Files as _;

fn parameter(name: &'static str, location: Location, encoding: Encoding) -> Parameter {
    Parameter { argument: name.into(), name: name.into(), location, encoding }
}

fn plan(path: &str, parameters: Vec<Parameter>) -> RequestPlan {
    let server = Server { url: "https://h.example/v1/".into(), variables: List::EMPTY };
    RequestPlan {
        path: path.to_owned().into(),
        servers: vec![server].into(),
        parameters: parameters.into(),
        ..RequestPlan::EMPTY
    }
}

/// A plan and the operator's options, parsed from a script.
struct Script {
    plan: RequestPlan,
    base: String,
    document: String,
    values: Vec<(String, String)>,
}

fn style(words: &[&str]) -> Option<Encoding> {
    let style = match *words.first()? {
        "Matrix" => Style::Matrix,
        "Label" => Style::Label,
        "Simple" => Style::Simple,
        "Form" => Style::Form,
        "SpaceDelimited" => Style::SpaceDelimited,
        "PipeDelimited" => Style::PipeDelimited,
        "DeepObject" => Style::DeepObject,
        other => panic!("unknown style {other}"),
    };
    let [explode, allow_reserved] = ["explode", "reserved"].map(|word| words.contains(&word));
    Some(Encoding::Style { style, explode, allow_reserved })
}

/// `NAME in LOCATION`, with `as STYLE [explode] [reserved]` or `content MEDIA_TYPE`.
fn parse_parameter(words: &[&str]) -> Parameter {
    let [name, "in", location_name, options @ ..] = words else { panic!("{words:?}") };
    let (location, default_encoding) = match *location_name {
        "path" => (Location::Path, Encoding::SIMPLE),
        "query" => (Location::Query, Encoding::FORM),
        "header" => (Location::Header, Encoding::SIMPLE),
        "cookie" => (Location::Cookie, Encoding::FORM),
        "whole-query" => (Location::Query, Encoding::Content("application/x-www-form-urlencoded".into())),
        other => panic!("unknown location {other}"),
    };
    let encoding = match options {
        ["as", style_words @ ..] => style(style_words).unwrap(),
        ["content", media_type] => Encoding::Content((*media_type).to_owned().into()),
        _ => default_encoding,
    };
    let wire_name = if *location_name == "whole-query" { "" } else { *name };
    Parameter { argument: (*name).to_owned().into(), name: wire_name.to_owned().into(), location, encoding }
}

/// `MEDIA_TYPE CODEC [required]`, and `argument NAME` or `fields NAME ARGUMENT=NAME`.
fn parse_body(words: &[&str]) -> BodyPlan {
    let [media_type, codec, more @ ..] = words else { panic!("{words:?}") };
    let (required, more) = match more {
        ["required", more @ ..] => (true, more),
        more => (false, more),
    };
    let field = |word: &&str| {
        let (argument, name) = word.split_once('=').unwrap_or((word, word));
        BodyField { argument: argument.to_owned().into(), name: name.to_owned().into() }
    };
    let codec = match *codec {
        "Json" => Codec::Json,
        "JsonLines" => Codec::JsonLines,
        "Text" => Codec::Text,
        "Binary" => Codec::Binary,
        "Form" => Codec::Form(List::EMPTY),
        "Multipart" => Codec::Multipart(List::EMPTY),
        other => panic!("unknown codec {other}"),
    };
    let source = match more {
        ["argument", name] => BodySource::Argument((*name).to_owned().into()),
        ["fields", names @ ..] => BodySource::Fields(names.iter().map(field).collect()),
        other => panic!("{other:?}"),
    };
    BodyPlan { required, media_type: (*media_type).to_owned().into(), codec, source }
}

/// `NAME [file] MEDIA_TYPE`, where `-` is no media type, or `NAME - as STYLE [explode]`.
fn parse_part(words: &[&str]) -> Part {
    let (name, rest) = words.split_first().unwrap();
    let (file, rest) = match rest {
        ["file", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let (content_type, encoding) = match rest {
        ["-", "as", style_words @ ..] => (String::new(), style(style_words)),
        ["-"] => (String::new(), None),
        media_types => (media_types.join(" "), None),
    };
    Part { name: (*name).to_owned().into(), file, content_type: content_type.into(), encoding }
}

impl Script {
    fn of(plan: RequestPlan) -> Script {
        Script { plan, base: String::new(), document: String::new(), values: Vec::new() }
    }

    /// Parses a line of the script that describes the plan or the operator's options.
    fn parse_line(&mut self, word: &str, rest: &str) {
        let words: Vec<&str> = rest.split_whitespace().collect();
        match word {
            "path" => *self = Script::of(plan(rest, Vec::new())),
            "servers" => {
                let server = |url: &&str| Server { url: (*url).to_owned().into(), variables: List::EMPTY };
                self.plan.servers = words.iter().map(server).collect();
            }
            "variable" => {
                let text = |word: &&str| Text::from((*word).to_owned());
                let allowed = words[2..].iter().map(text).collect();
                let variable = ServerVariable { name: text(&words[0]), default: text(&words[1]), allowed };
                let url = self.plan.servers[0].url.clone();
                self.plan.servers = vec![Server { url, variables: vec![variable].into() }].into();
            }
            "value" => {
                // A JSON string, with `\u0020` for a space, or a bare word.
                let value = |word: &str| serde_json::from_str(word).unwrap_or_else(|_| word.to_owned());
                let pairs = words.chunks(2).map(|pair| (pair[0].to_owned(), value(pair[1])));
                self.values = pairs.collect();
            }
            "fixed" => {
                let (key, value) = rest.split_once('=').unwrap();
                self.plan.query = vec![(key.to_owned().into(), value.to_owned().into())].into();
            }
            "base" => rest.clone_into(&mut self.base),
            "document" => rest.clone_into(&mut self.document),
            "parameter" => {
                let before = self.plan.parameters.iter().cloned();
                self.plan.parameters = before.chain([parse_parameter(&words)]).collect();
            }
            "body" => {
                self.plan.method = "POST".into();
                self.plan.body = Some(parse_body(&words));
            }
            "part" => {
                let codec = &mut self.plan.body.as_mut().unwrap().codec;
                let (Codec::Form(parts) | Codec::Multipart(parts)) = codec else { panic!("no parts") };
                *parts = parts.iter().cloned().chain([parse_part(&words)]).collect();
            }
            other => panic!("unknown word `{other}`"),
        }
    }

    fn build(&self, arguments: &Value) -> Result<HttpRequest, Vec<RequestProblem>> {
        fn non_empty(text: &str) -> Option<&str> {
            Some(text).filter(|text| !text.is_empty())
        }
        let options = BuildOptions {
            base_url: non_empty(&self.base),
            document_url: non_empty(&self.document),
            server_variables: &self.values,
            ..BuildOptions::default()
        };
        build(&self.plan, arguments, &options)
    }
}

/// Prints a request, or its problems.
fn print(request: Result<HttpRequest, Vec<RequestProblem>>) -> Vec<String> {
    let problem =
        |problem: &RequestProblem| format!("{:?} `{}`: {}", problem.kind, problem.argument, problem.message);
    match request {
        Ok(request) => {
            let body = match &request.body {
                Body::None => None,
                body => Some(match std::str::from_utf8(body.as_bytes()) {
                    Ok(text) => format!("\n{}", text.replace('\r', "\\r").replace('\u{1e}', "\\u{1e}")),
                    Err(_) => format!("\n{:02x?}", body.as_bytes()),
                }),
            };
            let headers = request.headers.iter().map(|(name, value)| format!("{name}: {value}"));
            std::iter::once(request.url.clone()).chain(headers).chain(body).collect()
        }
        Err(problems) => problems.iter().map(problem).collect(),
    }
}

/// `path` begins a plan, the words after it describe the plan, and `build` builds a request from arguments. `type`
/// prints the media type of the only part of the body.
#[test]
fn requests_match_the_script() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/build/tests/requests.txt");
    script::replay(&file, || {
        let mut current = Script::of(RequestPlan::EMPTY);
        move |word, rest| {
            let build_request = |current: &Script| current.build(&serde_json::from_str(rest).unwrap());
            match word {
                "build" => print(build_request(&current)),
                "type" => {
                    let request = build_request(&current).unwrap();
                    let body = String::from_utf8(request.body.as_bytes().to_vec()).unwrap();
                    let media_type = body.lines().find_map(|line| line.strip_prefix("Content-Type: "));
                    vec![media_type.unwrap().to_owned()]
                }
                word => {
                    current.parse_line(word, rest);
                    Vec::new()
                }
            }
        }
    });
}

fn with_body(media_type: &'static str, codec: Codec, source: BodySource, required: bool) -> RequestPlan {
    RequestPlan {
        method: "POST".into(),
        body: Some(BodyPlan { required, media_type: media_type.into(), codec, source }),
        ..plan("/a", Vec::new())
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
    let files = crate::FilesRoot::new(root.join("in")).max_file_bytes(6);
    assert_eq!(files.read("sub/a.txt").unwrap(), b"inside");
    let absolute = root.join("secret").display().to_string();
    for path in ["../secret", "sub/../../secret", "link", "", "sub", "gone", &absolute] {
        assert!(files.read(path).is_err(), "{path}");
    }
    assert!(files.max_file_bytes(5).read("sub/a.txt").unwrap_err().contains("larger than 5 bytes"));
    std::fs::remove_dir_all(&root).unwrap();
}

#[test]
fn too_long_url_is_an_error_of_its_longest_argument() {
    let names = ["q", "long"].map(|name| parameter(name, Location::Query, Encoding::FORM));
    let plan = plan("/a", names.into());
    let fixed_len = "https://h.example/v1/a?q=1&long=".len();
    let longest = json!({"q": 1, "long": "x".repeat(MAX_URL - fixed_len)});
    assert_eq!(build(&plan, &longest, &BuildOptions::default()).unwrap().url.len(), MAX_URL);
    let arguments = json!({"q": 1, "long": "x".repeat(MAX_URL - fixed_len + 1)});
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
fn body_is_encoded_in_the_charset_of_its_media_type() {
    let encode_body = |media_type: &'static str, codec: Codec, value: Value| {
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
        assert_eq!(encode_body(media_type, codec, value), Ok(bytes), "{media_type}");
    }
    for (media_type, codec, value, reason) in [
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
        let problems = encode_body(media_type, codec, value).unwrap_err();
        assert!(problems[0].message.contains(reason), "{media_type}: {problems:?}");
    }
}
