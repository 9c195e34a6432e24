//! Tests which alternative is chosen, where a credential is sent, and that it is never shown.

use serde_json::json;
use toolgen_kernel::base::frozen::Frozen;
use toolgen_kernel::spec::plan::Server;

use super::*;
use crate::{BuildOptions, EnvCredentials, build};

fn scheme(id: &'static str, placement: Placement) -> SecurityScheme {
    SecurityScheme { id: id.into(), placement, scopes: Vec::new().into(), env: format!("{id}_ENV").into() }
}

fn plan(alternatives: Vec<Vec<SecurityScheme>>) -> RequestPlan {
    RequestPlan {
        path: "/a".into(),
        query: vec![("q".into(), "1".into())].into(),
        servers: vec![Server { url: "https://h.example".into(), variables: Vec::new().into() }].into(),
        security: alternatives
            .into_iter()
            .map(|schemes| SecurityRequirement { schemes: schemes.into() })
            .collect(),
        ..RequestPlan::EMPTY
    }
}

fn authorized(plan: &RequestPlan, credentials: &dyn Credentials) -> HttpRequest {
    let mut request = build(plan, &json!({}), &BuildOptions::default()).unwrap();
    authorize(&mut request, plan, credentials).unwrap();
    request
}

#[test]
fn each_placement_is_filled() {
    let token = StaticCredentials::new().with("s", Secret::new("user:p ss"));
    let header = |placement| {
        let request = authorized(&plan(vec![vec![scheme("s", placement)]]), &token);
        request.headers.last().cloned().unwrap()
    };
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(header(Placement::Header("X-Key".into())), pair("X-Key", "user:p ss"));
    assert_eq!(header(Placement::Basic), pair("Authorization", "Basic dXNlcjpwIHNz"));
    assert_eq!(header(Placement::Bearer), pair("Authorization", "Bearer user:p ss"));
    assert_eq!(header(Placement::Other("Token".into())), pair("Authorization", "Token user:p ss"));
    assert_eq!(header(Placement::Cookie("sid".into())), pair("Cookie", "sid=user:p%20ss"));
    let request = authorized(&plan(vec![vec![scheme("s", Placement::Query("key".into()))]]), &token);
    assert_eq!(request.url, "https://h.example/a?q=1&key=user%3Ap%20ss");
    assert_eq!(request.redacted_url(), "https://h.example/a?q=1&key=****");
}

#[test]
fn cookie_credential_is_escaped() {
    let plan = plan(vec![vec![scheme("s", Placement::Cookie("sid".into()))]]);
    let cookie = |secret: &str| {
        let request = authorized(&plan, &StaticCredentials::new().with("s", Secret::new(secret)));
        request.header("Cookie").unwrap().to_owned()
    };
    assert_eq!(cookie("abc+/=="), "sid=abc+/==");
    assert_eq!(cookie("s%3Aq.x|y"), "sid=s%3Aq.x|y");
    assert_eq!(cookie("a; b=\"c\",\\é"), "sid=a%3B%20b=%22c%22%2C%5C%C3%A9");
}

#[test]
fn credential_is_never_shown() {
    let secret = Secret::new("hunter2hunter2");
    assert_eq!(format!("{secret} {secret:?}"), "**** ****");
    let credentials = StaticCredentials::new().with("s", secret);
    assert!(!format!("{credentials:?}").contains("hunter2"));
    for placement in [
        Placement::Header("X-Key".into()),
        Placement::Bearer,
        Placement::Basic,
        Placement::Query("key".into()),
        Placement::Cookie("c".into()),
    ] {
        let request = authorized(&plan(vec![vec![scheme("s", placement)]]), &credentials);
        let displayed = format!("{request:?}");
        assert!(displayed.contains("****"), "{displayed}");
        assert!(!displayed.contains("hunter2") && !displayed.contains("aHVudGVy"), "{displayed}");
    }
}

#[test]
fn first_satisfied_alternative_is_used() {
    let two_schemes =
        vec![scheme("a", Placement::Header("A".into())), scheme("b", Placement::Header("B".into()))];
    let single = vec![scheme("c", Placement::Header("C".into()))];
    let plan = plan(vec![Vec::new(), two_schemes, single]);
    let names = |credentials: StaticCredentials| {
        let request = authorized(&plan, &credentials);
        request.headers.iter().skip(1).map(|(name, _)| name.clone()).collect::<Vec<_>>().join(",")
    };
    let with_ids =
        |ids: &[&str]| ids.iter().fold(StaticCredentials::new(), |c, id| c.with(*id, Secret::new("x")));
    assert_eq!(names(with_ids(&["a", "b", "c"])), "A,B");
    assert_eq!(names(with_ids(&["a", "c"])), "C");
    assert_eq!(names(with_ids(&["a"])), "");
}

#[test]
fn missing_credential_is_named_and_the_request_unchanged() {
    let two_schemes = vec![scheme("a", Placement::Bearer), scheme("b", Placement::Bearer)];
    let plan = plan(vec![two_schemes]);
    let mut request = build(&plan, &json!({}), &BuildOptions::default()).unwrap();
    let before = request.clone();
    let missing =
        authorize(&mut request, &plan, &StaticCredentials::new().with("a", Secret::new("x"))).unwrap_err();
    let help = "add it for https://h.example: `StaticCredentials::with(\"b\", …)`".into();
    assert_eq!(missing, [[MissingCredential { scheme: "b".into(), env: "b_ENV".into(), remedy: help }]]);
    assert_eq!(request, before);
}

#[test]
fn credential_of_one_origin_is_not_sent_to_another() {
    let for_origin = |origin: &str| StaticCredentials::new().with_origin("s", origin, Secret::new("x"));
    let plan = plan(vec![vec![scheme("s", Placement::Bearer)], Vec::new()]);
    assert!(authorized(&plan, &for_origin("https://h.example:443/v1")).header("authorization").is_some());
    assert!(authorized(&plan, &for_origin("https://other.example")).header("authorization").is_none());
}

#[test]
fn credential_replaces_an_argument_of_the_same_name() {
    let mut plan = plan(vec![vec![scheme("s", Placement::Query("q".into()))]]);
    plan.servers = Frozen::from(vec![Server { url: "https://h".into(), variables: Vec::new().into() }]);
    let request = authorized(&plan, &StaticCredentials::new().with("s", Secret::new("k")));
    assert_eq!(request.url, "https://h/a?q=k");
}

#[test]
fn credential_with_a_line_break_is_not_sent() {
    let plan = plan(vec![vec![scheme("s", Placement::Bearer)]]);
    let mut request = build(&plan, &json!({}), &BuildOptions::default()).unwrap();
    let broken = StaticCredentials::new().with("s", Secret::new("a\r\nX: y"));
    assert!(authorize(&mut request, &plan, &broken).is_err());
}

#[test]
fn unset_variable_gives_no_credential() {
    let request = CredentialRequest {
        scheme: "s",
        placement: &Placement::Bearer,
        scopes: &[],
        env: "TOOLGEN_TEST_A_VARIABLE_NOBODY_SETS",
        origin: "https://h",
    };
    assert_eq!(EnvCredentials::new().credential(&request), None);
    assert_eq!(EnvCredentials::new().variable("s", "A=B").credential(&request), None);
    // Cargo sets this variable for every test.
    let set = EnvCredentials::new().variable("s", "CARGO_MANIFEST_DIR");
    assert!(set.credential(&request).is_some());
}

#[test]
fn unsupported_scheme_or_header_gets_no_credential() {
    let token = StaticCredentials::new().with("s", Secret::new("sk_live_1"));
    for (placement, reason) in [
        (Placement::Other("digest".into()), "the scheme `digest` of HTTP is not supported"),
        (Placement::Other("Foo Bar".into()), "`HttpEngineBuilder::header`"),
        (Placement::Other("SCRAM-SHA-256".into()), "not supported"),
        (Placement::Header("Host".into()), "`Host` is a header that the HTTP client sets"),
        (
            Placement::Header("content-length".into()),
            "`content-length` is a header that the HTTP client sets",
        ),
        (Placement::Header("Accept".into()), "`Accept` is a header that the HTTP client sets"),
    ] {
        let plan = plan(vec![vec![scheme("s", placement)]]);
        let missing = choose_alternative(&plan, "https://h.example", &token).unwrap_err();
        assert!(missing[0][0].remedy.contains(reason), "{missing:?}");
    }
}
