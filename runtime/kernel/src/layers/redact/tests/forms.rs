//! Secrets that are recognizable by their form.

use serde_json::json;

use super::fake;
use crate::layers::redact::Redactor;
use toolgen_test_support::cpu_time;

#[test]
fn tokens_are_recognized_by_their_format() {
    let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----";
    let public = "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----";
    let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl";
    let r = "[REDACTED]";
    let cases = [
        (format!("use {} now", fake("sk-")), format!("use {r} now")),
        (fake("sk-ant-api03-"), r.to_owned()),
        (format!("({})", fake("ghp_")), format!("({r})")),
        (fake("github_pat_"), r.to_owned()),
        (format!("{},", fake("xoxb-")), format!("{r},")),
        (format!("id {}!", ["AK", "IA", "IOSFODNN7EXAMPLE"].concat()), format!("id {r}!")),
        (format!("jwt {jwt}."), format!("jwt {r}.")),
        (format!("a\n{key}\nb"), format!("a\n{r}\nb")),
        (format!("cut {}", &key[..40]), format!("cut {r}")),
        (public.to_owned(), public.to_owned()),
        ("curl -H 'X: bearer abcd.efgh=='".into(), format!("curl -H 'X: bearer {r}'")),
        ("Basic dXNlcjpwYXNz".into(), format!("Basic {r}")),
        ("basic movement".into(), "basic movement".into()),
        ("postgres://me:pw@db:5432/x?y=@".into(), format!("postgres://{r}@db:5432/x?y=@")),
        ("https://example.com/@user".into(), "https://example.com/@user".into()),
        ("postgres://u:p@ss/w0rd@host/db".into(), format!("postgres://{r}@host/db")),
        ("mongodb+srv://u:p/w@h/d?a=b@c".into(), format!("mongodb+srv://{r}@h/d?a=b@c")),
        ("redis://h:6379/0".into(), "redis://h:6379/0".into()),
        (
            "(https://hooks.slack.com/services/T000/B000/XXXXXXXX)".into(),
            format!("(https://hooks.slack.com/{r})"),
        ),
        (
            "a risk-assessment-of-everything and desk-lamps".into(),
            "a risk-assessment-of-everything and desk-lamps".into(),
        ),
        ("größe sk- ghp_ eyJ eyJ. Bearer".into(), "größe sk- ghp_ eyJ eyJ. Bearer".into()),
    ];
    for (text, expected) in cases {
        assert_eq!(Redactor::new().text(&text), expected);
    }
}

#[test]
fn values_assigned_to_secret_names_are_redacted() {
    let cases = [
        ("DB_PASSWORD=hunter2 DB=x", "DB_PASSWORD=[REDACTED] DB=x"),
        ("password: \"a b\", x: 1", "password: \"[REDACTED]\", x: 1"),
        ("{'api_key': 'k', 'id': 1", "{'api_key': '[REDACTED]', 'id': 1"),
        ("x?a=1&access_token=zz&b=2", "x?a=1&access_token=[REDACTED]&b=2"),
        ("login --token abc --user me", "login --token [REDACTED] --user me"),
        ("Authorization: Basic x y\nHost: h", "Authorization: [REDACTED]\nHost: h"),
        ("Set-Cookie: sid=1; Path=/\nA: b", "Set-Cookie: [REDACTED]\nA: b"),
        (
            "say \"{\\\"secret\\\": \\\"a\\\\\\\"b\\\", \\\"n\\\": 1}\"",
            "say \"{\\\"secret\\\": \\\"[REDACTED]\\\", \\\"n\\\": 1}\"",
        ),
        ("log {\"token\": {\"v\": [\"a}\"]}, \"n\": 1}", "log {\"token\": [REDACTED], \"n\": 1}"),
        ("cut {\"token\": {\"v\": \"a", "cut {\"token\": [REDACTED]"),
        ("max_tokens: 5, has_password: true", "max_tokens: 5, has_password: true"),
        ("the password is wrong", "the password is wrong"),
        ("https://h/c/f?sv=2022&sig=Zm9v%3D&se=1", "https://h/c/f?sv=2022&sig=[REDACTED]&se=1"),
        ("https://h/k?X-Amz-Signature=0123abcd", "https://h/k?X-Amz-Signature=[REDACTED]"),
        ("AccountName=x;AccountKey=Zm9vYmFy==;E=1", "AccountName=x;AccountKey=[REDACTED];E=1"),
        ("u=https%3A%2F%2Fx%2F%3Ftoken%3Dabc%26n%3D1", "u=https%3A%2F%2Fx%2F%3Ftoken%3D[REDACTED]%26n%3D1"),
        ("curl -s -u user:hunter2pw https://x", "curl -s -u user:[REDACTED] https://x"),
        ("curl --user 'me:a b' https://x", "curl --user 'me:[REDACTED]' https://x"),
        ("docker run -u 1000:1000 x", "docker run -u 1000:1000 x"),
        ("progressToken: 7, PGPASSWORD=x PWD=/srv", "progressToken: 7, PGPASSWORD=[REDACTED] PWD=/srv"),
    ];
    for (text, expected) in cases {
        assert_eq!(Redactor::new().text(text), expected);
    }
}

#[test]
fn scanning_takes_linear_time() {
    let redactor = Redactor::new();
    let (_, secrets) = redactor.for_unknown().arguments(json!({"token": "aaaaaaaaaaaaaaaaaaaaaaaaab"}));
    let units = [
        "eyJ",
        "eyJ.",
        "sk-",
        "://",
        "-----BEGIN ",
        "Bearer ",
        "password=",
        "password",
        "\"token\":\"",
        "{",
        "a",
        "\\\"",
        "token:{",
        "--token ",
        "basic-",
        "bearer-",
        "token%3D",
        "token%3D%",
        "token%3Da%26",
        "curl -u {",
        "curl -u 'a ",
        "curl -u a:",
        "-u ",
        "postgres://",
        "postgres://a/",
        "://hooks.slack.com/",
    ];
    for unit in units {
        let text = unit.repeat(400_000 / unit.len());
        let (_, elapsed) = cpu_time(|| redactor.text_with(&text, &secrets));
        assert!(elapsed.as_secs() < 3, "{unit}: {elapsed:?}");
    }
}
