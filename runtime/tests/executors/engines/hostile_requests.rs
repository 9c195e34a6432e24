//! Tests of hostile values in every part of an HTTP request: each value stays in its part, or is rejected.

use percent_encoding::percent_decode_str;
use reqwest::Url;
use toolgen_runtime::engine::http::{Body, BuildOptions, RequestProblem, build};
use toolgen_runtime::spec::plan::{
    self, BodyField, BodySource, Codec, Encoding, Location, Parameter, RequestPlan, Server,
};

use crate::engines::injection::{VALUES, values};
use crate::engines::template;
use crate::prelude::*;

fn parameter(argument: &'static str, name: &'static str, location: Location) -> Parameter {
    let encoding = if location == Location::Query { Encoding::FORM } else { Encoding::SIMPLE };
    Parameter { argument: argument.into(), name: name.into(), location, encoding }
}

fn field(argument: &'static str, name: &'static str) -> BodyField {
    BodyField { argument: argument.into(), name: name.into() }
}

fn request(parameters: Vec<Parameter>, codec: Codec, fields: Vec<BodyField>) -> RequestPlan {
    let made = |name: &'static str| (Text::Static(name), template(&json!("a-{v}-b")));
    let source = match codec {
        Codec::Text => BodySource::Argument("v".into()),
        _ => BodySource::Fields(fields.into()),
    };
    RequestPlan {
        method: "POST".into(),
        path: "/first/{w}/{=w}/last".into(),
        servers: vec![Server { url: "https://api.example.com".into(), variables: List::EMPTY }].into(),
        parameters: parameters.into(),
        body: Some(plan::Body { required: false, media_type: Text::EMPTY, codec, source }),
        derived: vec![made("=w"), made("=v")].into(),
        ..RequestPlan::EMPTY
    }
}

#[test]
fn hostile_value_stays_in_its_part_of_the_request() {
    let path = || {
        vec![
            parameter("w", "w", Location::Path),
            Parameter { name: "=w".into(), ..parameter("=w", "", Location::Path) },
        ]
    };
    let query = vec![parameter("v", "q", Location::Query), parameter("=v", "made", Location::Query)];
    let header = vec![parameter("v", "X-A", Location::Header), parameter("=v", "X-B", Location::Header)];
    let both = || vec![field("v", "v"), field("=v", "made")];
    let plan = |parameters: Vec<Parameter>, codec| {
        request(path().into_iter().chain(parameters).collect(), codec, both())
    };
    let (in_url, in_head) = (plan(query, Codec::Json), plan(header, Codec::Form(List::EMPTY)));
    let in_text =
        RequestPlan { path: "/".into(), derived: List::EMPTY, ..request(vec![], Codec::Text, vec![]) };
    let (mut urls, mut heads) = (0, 0);
    for value in values() {
        let made = format!("a-{value}-b");
        let built = |plan: &RequestPlan, path: &str| {
            let built = build(plan, &json!({"v": value, "w": path}), &BuildOptions::default());
            built.map_err(|problems: Vec<RequestProblem>| assert!(!problems.is_empty()))
        };
        let decoded = |text: &str| percent_decode_str(text).decode_utf8().unwrap().into_owned();
        if let Ok(request) = built(&in_url, &value) {
            urls += 1;
            let url = Url::parse(&request.url).unwrap();
            assert_eq!((url.host_str(), url.fragment(), url.username()), (Some("api.example.com"), None, ""));
            let segments: Vec<String> = url.path_segments().unwrap().map(decoded).collect();
            assert_eq!(segments, ["first", &value, &made, "last"], "{value:?}");
            let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
            assert_eq!(pairs, [("q".to_owned(), value.clone()), ("made".to_owned(), made.clone())]);
            let Body::Text(body) = &request.body else { panic!("{request:?}") };
            assert_eq!(
                serde_json::from_str::<Value>(body).unwrap(),
                json!({"v": value, "made": made}),
                "{value:?}"
            );
        }
        if let Ok(request) = built(&in_head, "p") {
            heads += 1;
            assert_eq!(
                (request.header("X-A"), request.header("X-B")),
                (Some(value.as_str()), Some(made.as_str()))
            );
            assert!(!value.contains(['\r', '\n', '\0']));
            let Body::Text(body) = &request.body else { panic!("{request:?}") };
            let form = Url::parse(&format!("http://h/?{body}")).unwrap();
            let pairs: Vec<(String, String)> = form.query_pairs().into_owned().collect();
            assert_eq!(pairs, [("v".to_owned(), value.clone()), ("made".to_owned(), made.clone())]);
        }
        let request = built(&in_text, "p").unwrap();
        assert_eq!(request.body.as_bytes(), value.as_bytes());
    }
    assert!(urls > VALUES / 2 && heads > VALUES / 4, "{urls} {heads}");
}
