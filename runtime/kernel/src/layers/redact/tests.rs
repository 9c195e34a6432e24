mod forms;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::schema::shape::{Shape, read};
use crate::spec::ToolName;
use crate::{Def, Schema};
use toolgen_test_support::cpu_time;

/// Nonexistent credentials, assembled at run time so that no scanner reports this file as a leak.
fn fake(prefix: &str) -> String {
    format!("{prefix}{}", "A1b2C3d4E5f6G7h8J9k0L1m2N3p4Q5r6S7t8")
}

fn shape(schema: &Value) -> Shape {
    read::read(schema, &mut Vec::new())
}

fn tool(input: &Value, defs: &Value) -> ToolSpec {
    let defs = defs.as_object().into_iter().flatten();
    let mut defs: Vec<Def> =
        defs.map(|(name, schema)| Def { name: name.clone().into(), schema: shape(schema).into() }).collect();
    defs.sort_by(|a, b| a.name.cmp(&b.name));
    ToolSpec {
        name: ToolName::new("t"),
        input: Schema::from(shape(input)),
        defs: defs.into(),
        ..ToolSpec::EMPTY
    }
}

fn redacted_arguments(input: &Value, defs: &Value, arguments: Value) -> Value {
    Redactor::new().for_tool(&tool(input, defs)).arguments(arguments).0
}

fn secret() -> Value {
    json!({"type": "string", "format": "password"})
}

#[expect(clippy::needless_pass_by_value, reason = "schemas nest without references")]
fn object(fields: Value) -> Value {
    json!({"type": "object", "properties": fields})
}

#[test]
fn declared_secrets_are_redacted_at_every_schema_location() {
    let text = json!({"type": "string"});
    let holder = object(json!({"pin": secret(), "name": text}));
    let plain = object(json!({"pin": text, "name": text}));
    let none = json!({});
    let r = "[REDACTED]";
    let cases = [
        // Directly, nested, in arrays, tuples and maps.
        (object(json!({"a": secret()})), json!({"a": "v"}), json!({"a": r})),
        (
            object(json!({"o": holder})),
            json!({"o": {"pin": 1, "name": "n"}}),
            json!({"o": {"pin": r, "name": "n"}}),
        ),
        (
            object(json!({"l": {"type": "array", "items": holder}})),
            json!({"l": [{"pin": "v"}, {"name": "n"}]}),
            json!({"l": [{"pin": r}, {"name": "n"}]}),
        ),
        (
            object(json!({"t": {"type": "array", "prefixItems": [text, secret()]}})),
            json!({"t": ["n", "v", "m"]}),
            json!({"t": ["n", r, "m"]}),
        ),
        (
            object(json!({"m": {"type": "object", "additionalProperties": secret()}})),
            json!({"m": {"x": "v", "y": ["v"]}}),
            json!({"m": {"x": r, "y": r}}),
        ),
        (
            json!({"type": "object", "patternProperties": {"^x": secret()}}),
            json!({"x1": "v"}),
            json!({"x1": r}),
        ),
        // Regardless of the branch.
        (
            object(json!({"u": {"oneOf": [plain, holder]}})),
            json!({"u": {"pin": "v", "name": "n"}}),
            json!({"u": {"pin": r, "name": "n"}}),
        ),
        (object(json!({"u": {"anyOf": [text, secret()]}})), json!({"u": "v"}), json!({"u": r})),
        (json!({"allOf": [plain, holder]}), json!({"pin": "v"}), json!({"pin": r})),
        (
            json!({"type": "object", "if": {"required": ["k"]}, "then": holder}),
            json!({"pin": "v", "k": 1}),
            json!({"pin": r, "k": 1}),
        ),
        // Write-only is secret, regardless of the type.
        (
            object(json!({"w": {"type": "object", "writeOnly": true}, "n": text})),
            json!({"w": {"deep": ["v"]}, "n": "n"}),
            json!({"w": r, "n": "n"}),
        ),
        // A value of another type than declared.
        (object(json!({"a": secret()})), json!({"a": {"is": "v"}}), json!({"a": r})),
        (object(json!({"l": {"type": "array", "items": secret()}})), json!({"l": "v"}), json!({"l": r})),
        (object(json!({"o": holder})), json!({"o": [{"pin": "v"}]}), json!({"o": [{"pin": r}]})),
        (
            object(json!({"o": holder})),
            json!({"o": "{\"pin\":\"v\"}"}),
            json!({"o": "{\"pin\":\"[REDACTED]\"}"}),
        ),
        (object(json!({"o": holder})), json!({"o": "{\"pin\":\"v"}), json!({"o": r})),
        // No value.
        (object(json!({"a": secret()})), json!({"a": null}), json!({"a": null})),
    ];
    for (schema, arguments, expected) in cases {
        assert_eq!(redacted_arguments(&schema, &none, arguments.clone()), expected, "{schema} {arguments}");
    }
}

#[test]
fn undeclared_properties_are_redacted() {
    let text = json!({"type": "string"});
    let closed =
        |fields: Value| json!({"type": "object", "properties": fields, "additionalProperties": false});
    let r = "[REDACTED]";
    let cases = [
        (closed(json!({"a": text})), json!({"a": "x", "pinn": "v"}), json!({"a": "x", "pinn": r})),
        (object(json!({"a": text})), json!({"a": "x", "b": "y"}), json!({"a": "x", "b": "y"})),
        (
            closed(json!({"o": closed(json!({"pin": secret()}))})),
            json!({"o": {"pinn": "v"}, "x": {"y": 1}}),
            json!({"o": {"pinn": r}, "x": r}),
        ),
        (
            json!({"oneOf": [closed(json!({"a": text})), closed(json!({"b": secret()}))]}),
            json!({"a": "x", "b": "v", "c": "v"}),
            json!({"a": "x", "b": r, "c": r}),
        ),
    ];
    for (schema, arguments, expected) in cases {
        assert_eq!(
            redacted_arguments(&schema, &json!({}), arguments.clone()),
            expected,
            "{schema} {arguments}"
        );
    }
}

#[test]
fn declared_secrets_are_found_through_references() {
    let defs = json!({
        "Account": object(json!({"pin": secret(), "parent": {"$ref": "#/$defs/Account"}, "id": {"type": "string"}})),
        "Alias": {"$ref": "#/$defs/Account"},
        "Loop": {"$ref": "#/$defs/Loop"},
    });
    let schema = object(json!({
        "account": {"$ref": "#/$defs/Alias"},
        "accounts": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/Account"}, {"type": "string"}]}},
        "loop": {"$ref": "#/$defs/Loop"},
    }));
    let arguments = json!({
        "account": {"pin": "v", "id": "1", "parent": {"parent": {"pin": "v"}}},
        "accounts": [{"pin": "v"}, "name"],
        "loop": {"pin": "shown"},
    });
    let expected = json!({
        "account": {"pin": "[REDACTED]", "id": "1", "parent": {"parent": {"pin": "[REDACTED]"}}},
        "accounts": [{"pin": "[REDACTED]"}, "name"],
        "loop": {"pin": "shown"},
    });
    assert_eq!(redacted_arguments(&schema, &defs, arguments), expected);
}

#[test]
fn declared_secrets_are_found_under_all_names_of_a_field() {
    let field =
        json!({"type": "string", "format": "password", "x-wire": "filter[pin]", "x-aliases": ["code"]});
    let shape = read::read_canonical(&object(json!({"pin": field})));
    let spec = ToolSpec { input: shape.into(), ..ToolSpec::EMPTY };
    let arguments = json!({"pin": "v", "filter[pin]": "v", "code": "v", "Pin": "v", "id": "1"});
    let r = "[REDACTED]";
    let expected = json!({"pin": r, "filter[pin]": r, "code": r, "Pin": r, "id": "1"});
    assert_eq!(Redactor::new().for_tool(&spec).arguments(arguments).0, expected);
}

#[test]
fn recursive_union_is_walked_in_bounded_time() {
    let node = |name: &str| {
        object(json!({name: {"$ref": "#/$defs/N"}, "next": {"$ref": "#/$defs/N"}, "p": secret()}))
    };
    let variants: Vec<Value> = ["a", "b", "c", "d", "e", "f", "g", "h"].map(node).into();
    let defs = json!({"N": {"anyOf": variants}});
    let mut arguments = json!({"p": "v"});
    for _ in 0..28 {
        arguments = json!({"next": arguments});
    }
    let shape = object(json!({"n": {"$ref": "#/$defs/N"}}));
    let (visible, elapsed) = cpu_time(|| redacted_arguments(&shape, &defs, json!({"n": arguments})));
    assert!(elapsed.as_secs() < 2, "{elapsed:?}");
    assert!(!visible.to_string().contains("\"v\""), "{visible}");
}

#[test]
fn argument_secrets_are_redacted_in_all_messages_of_the_call() {
    let redactor = Redactor::new().for_tool(&tool(&object(json!({"pin": secret()})), &json!({})));
    let long = "correct horse battery staple and some more, so that a message cuts it off";
    let (_, secrets) =
        redactor.arguments(json!({"pin": ["hun\"ter/2", 123_456, "abc", long], "apiKey": "k-4711"}));
    let cases = [
        ("login as hun\"ter/2 failed", "login as [REDACTED] failed"),
        ("body {\\\"p\\\":\\\"hun\\\"ter/2\\\"}", "body {\\\"p\\\":\\\"[REDACTED]\\\"}"),
        ("GET /?p=hun%22ter%2F2&x=1", "GET /?p=[REDACTED]&x=1"),
        ("code 123456 and k-4711", "code [REDACTED] and [REDACTED]"),
        ("abc is too short to differ from a word", "abc is too short to differ from a word"),
        ("not \"correct horse battery sta…\"", "not \"[REDACTED]…\""),
    ];
    for (text, expected) in cases {
        assert_eq!(redactor.text(text, &secrets), expected);
    }
    let value = json!({"hun\"ter/2": 123_456, "id": 5});
    assert_eq!(redactor.redactor.value_with(value, &secrets), json!({"[REDACTED]": "[REDACTED]", "id": 5}));
    assert_eq!(format!("{secrets:?}"), "Secrets(****)");
}

#[test]
fn too_many_secrets_redact_the_whole_text() {
    let redactor = Redactor::new().for_unknown();
    let many: Vec<String> = (0..100).map(|n| format!("secret-{n:04}")).collect();
    let (_, secrets) = redactor.arguments(json!({"token": many}));
    assert_eq!(redactor.text("anything", &secrets), "[REDACTED]");
}

#[test]
fn json_in_a_string_is_redacted_as_json() {
    let redactor = Redactor::new();
    assert_eq!(
        redactor.text(r#" {"n": 1.50, "auth": {"user": "me"}, "inner": "{\"token\":\"x\"}"}"#),
        r#"{"n":1.5,"auth":"[REDACTED]","inner":"{\"token\":\"[REDACTED]\"}"}"#
    );
    // A string without secrets is unchanged.
    assert!(matches!(redactor.text("[1,  2]"), Cow::Borrowed("[1,  2]")));
}

#[test]
fn unparsed_arguments_are_not_shown() {
    let redactor = Redactor::new().for_unknown();
    assert_eq!(redactor.arguments(json!("{\"x\": \"secre")).0, json!("[UNPARSED: 12 bytes]"));
    assert_eq!(redactor.arguments(json!("{\"token\": \"s\"}")).0, json!({"token": "[REDACTED]"}));
    assert_eq!(redactor.arguments(json!("")).0, json!(null));
}

#[test]
fn deep_values_are_truncated() {
    let mut value = json!("x");
    for _ in 0..40 {
        value = json!([value]);
    }
    let redacted = Redactor::new().value(value.clone()).to_string();
    assert!(redacted.starts_with("[[[") && redacted.contains("\"[MAX_DEPTH_EXCEEDED]\""), "{redacted}");
    let redacted = Redactor::builder().max_depth(2).build().value(value).to_string();
    assert_eq!(redacted, "[[\"[MAX_DEPTH_EXCEEDED]\"]]");
}

#[test]
fn panicking_rule_drops_the_text() {
    let redactor = Redactor::builder()
        .rule(|key, text| {
            assert!(key != "bad", "cannot check this");
            text.contains("Mr. X").then(|| text.replace("Mr. X", "somebody"))
        })
        .build();
    assert_eq!(
        redactor.value(json!({"bad": "raw", "good": "Mr. X met sk-", "n": 1})),
        json!({"bad": "[REDACTION_FAILED]", "good": "somebody met sk-", "n": 1})
    );
}

#[test]
fn program_can_set_redaction_rules() {
    let redactor =
        Redactor::builder().key("iban").without_key("cookie").token_prefix("acme_", 3).max_depth(9).build();
    assert_eq!(
        redactor.value(json!({"userIBAN": "DE1", "cookie": "oat", "note": "acme_123 acme_1"})),
        json!({"userIBAN": "[REDACTED]", "cookie": "oat", "note": "[REDACTED] acme_1"})
    );
    let only = Redactor::builder().only_keys(["pin"]).build();
    assert_eq!(only.value(json!({"pin": 1, "token": "x"})), json!({"pin": "[REDACTED]", "token": "x"}));
    let raw = json!({"password": "shown", "t": fake("sk-")});
    assert_eq!(Redactor::none().value(raw.clone()), raw);
    assert_eq!(format!("{:?}", Redactor::none()), "Redactor::none()");
}

#[test]
fn results_are_redacted_in_content_and_details() {
    let output = object(json!({"otp": secret()}));
    let spec = ToolSpec {
        output: Some(shape(&output).into()),
        ..tool(&object(json!({"pin": secret()})), &json!({}))
    };
    let redactor = Redactor::new().for_tool(&spec);
    let (_, secrets) = redactor.arguments(json!({"pin": "hunter2"}));
    let image = Content::Image { data: "AAAA".into(), mime_type: "image/png".into() };
    let result = ToolResult::json(json!({"otp": "998877", "echo": "hunter2", "n": 1})).with_content(image);
    assert_eq!(
        redactor.result(&result, &secrets),
        json!({
            "content": [
                {"type": "text", "text": "{\"otp\":\"[REDACTED]\",\"echo\":\"[REDACTED]\",\"n\":1}"},
                {"type": "image", "data": "[BASE64: 4 characters]", "mimeType": "image/png"},
            ],
            "details": {"otp": "[REDACTED]", "echo": "[REDACTED]", "n": 1},
        })
    );
    let reason = ToolError::failed("login failed").with_operator_detail("sent hunter2");
    assert_eq!(redactor.error(&reason, &secrets), "sent [REDACTED]");
}

proptest! {
    #[test]
    fn declared_secret_is_never_shown(secret_text in "[ -~äß€]{4,40}", around in ".{0,20}") {
        prop_assume!(secret_text.trim().chars().count() >= 4);
        prop_assume!(!"[REDACTED]".contains(secret_text.trim()) && !around.contains(secret_text.trim()));
        let redactor = Redactor::new().for_tool(&tool(&object(json!({"pin": secret()})), &json!({})));
        let (visible, secrets) = redactor.arguments(json!({"pin": secret_text, "x": format!("{around}{secret_text}")}));
        let trimmed = secret_text.trim();
        prop_assert!(!visible["x"].as_str().unwrap().contains(trimmed), "{}", visible);
        let text = json!({"echo": secret_text, "around": around}).to_string();
        let redacted = redactor.text(&text, &secrets);
        prop_assert!(!redacted.contains(trimmed), "{}", redacted);
    }

    #[test]
    fn redactor_accepts_any_text(text in ".*", more in "[-:/@=\"'{}\\[\\]\\\\ .a-zA-Z0-9é]{0,200}") {
        let redactor = Redactor::new();
        for text in [text, more] {
            let once = redactor.text(&text).into_owned();
            prop_assert!(once == text || once.contains("[REDACTED]"));
        }
    }
}

#[test]
fn only_arguments_with_possible_secrets_are_scanned() {
    let closed = |fields: Value| json!({"type": "object", "properties": fields, "required": [], "additionalProperties": false});
    let text = json!({"type": "string"});
    let open = json!({"type": "object", "additionalProperties": {"type": "string"}});
    for (input, expected) in [
        (closed(json!({"a": {"type": "integer"}, "b": {"type": "array", "items": text}})), false),
        (closed(json!({"a": closed(json!({"b": {"enum": ["x", "y"]}}))})), false),
        (closed(json!({"a": {"anyOf": [text, {"type": "null"}]}})), false),
        (closed(json!({"a": text, "pin": secret()})), true),
        (closed(json!({"a": text, "api_key": text})), true),
        (closed(json!({"a": closed(json!({"userPassword": text}))})), true),
        (closed(json!({"headers": open})), true),
        (closed(json!({"anything": {}})), true),
        (json!({"type": "object", "properties": {"a": text}}), true),
    ] {
        let redactor = Redactor::new().for_tool(&tool(&input, &json!({})));
        assert_eq!(redactor.may_hold_secrets, expected, "{input}");
    }
    let redactor = Redactor::new().for_tool(&tool(&closed(json!({"headers": open})), &json!({})));
    assert!(redactor.secrets_in(&json!({"headers": {"accept": "text/plain"}})).is_none());
    assert!(redactor.secrets_in(&json!("{\"headers\": {\"x-api-key\": \"abcdef\"}}")).is_some());
}

#[test]
fn most_functions_need_no_scan() {
    let plain = json!({"type": "object", "additionalProperties": false, "properties": {
        "text": {"type": "string"},
        "number": {"type": ["integer", "null"]},
        "list": {"type": "array", "items": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 255}}},
        "one": {"type": "array", "prefixItems": [{"type": "boolean"}, {"type": "number"}], "items": false, "minItems": 2},
    }});
    assert!(!Redactor::new().for_tool(&tool(&plain, &json!({}))).may_hold_secrets, "{plain}");
}

#[test]
fn messages_about_a_secret_argument_lose_only_values() {
    let problem = |pointer: &str, message: &str| ArgumentProblem {
        pointer: pointer.to_owned(),
        kind: crate::schema::shape::decode::ArgumentProblemKind::Missing,
        message: message.to_owned(),
    };
    let reason = ToolError::from_problems(vec![
        problem("/password", "missing: expected a string"),
        problem("/url", "expected a number, got the string \"https://x/?token=abcdef\""),
    ]);
    let redactor = Redactor::new().for_unknown();
    let expected = "Invalid arguments: /password: missing: expected a string\n\
                /url: expected a number, got the string \"https://x/?token=[REDACTED]\"";
    assert_eq!(redactor.error(&reason, &Secrets::default()), expected);
    assert_eq!(redactor.message(&reason, &Secrets::default()), expected);
    // The tool's own message may contain a value.
    let tool_error = ToolError::invalid_args("password: hunter22 is too short");
    assert_eq!(
        redactor.error(&tool_error, &Secrets::default()),
        "Invalid arguments: password: [REDACTED] is too short"
    );
}
