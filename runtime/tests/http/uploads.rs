//! Tests of file arguments: how they are described to a model, and what is sent.

use toolgen_runtime::schema::shape::read::read;
use toolgen_runtime::spec::plan::{BodyField, FILE_FIELDS, file_argument_help};
use toolgen_runtime::{ExecutionPlan, Schema, ToolName, ToolSpec};

use crate::prelude::*;
use crate::server::{ctx, engine, plan};

fn file() -> Value {
    let fields = FILE_FIELDS.map(|name| (name.to_owned(), json!({"type": "string"})));
    let fields: Value = Value::Object(fields.into_iter().collect());
    json!({"type": "object", "description": format!("A file: {}.", file_argument_help(true, true)), "properties": fields, "additionalProperties": false})
}

fn upload(url: &str) -> Tool {
    let field = |name: &'static str| BodyField { argument: name.into(), name: name.into() };
    let part =
        |name: &'static str| Part { name: name.into(), file: true, content_type: "".into(), encoding: None };
    let plan = RequestPlan {
        body: Some(Body {
            required: true,
            media_type: "multipart/form-data".into(),
            codec: Codec::Multipart(vec![part("one"), part("many")].into()),
            source: BodySource::Fields(vec![field("one"), field("many"), field("path")].into()),
        }),
        ..plan("POST", url, "/upload")
    };
    let either = json!({"anyOf": [{"type": "string"}, file()]});
    let properties =
        json!({"one": file(), "many": {"type": "array", "items": either}, "path": {"type": "string"}});
    let schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    let input: Schema = read(&schema, &mut Vec::new()).into();
    Tool {
        spec: ToolSpec { name: ToolName::new("t"), input, ..ToolSpec::EMPTY },
        call: ExecutionPlan::Http(plan),
    }
}

fn published(engine: HttpEngineBuilder) -> Value {
    engine.build().unwrap().tool(upload("http://127.0.0.1:1")).parameters_schema()
}

#[test]
fn path_argument_is_offered_only_if_files_are_readable() {
    let with = published(engine().files_root(std::env::temp_dir()));
    assert_eq!(with["properties"]["one"], file());
    let without = published(engine());
    for location in ["/properties/one", "/properties/many/items/anyOf/1"] {
        let file = without.pointer(location).unwrap();
        let names: Vec<&String> = file["properties"].as_object().unwrap().keys().collect();
        assert_eq!(names, ["text", "base64", "filename", "content_type"]);
        assert_eq!(file["description"], "A file: give exactly one of `text` and `base64`.");
    }
    // An ordinary argument of the same name is kept.
    assert_eq!(without["properties"]["path"], json!({"type": "string"}));
}

#[tokio::test]
async fn file_can_be_passed_as_text() {
    let server = Server::ok();
    let registry = Registry::new([engine().build().unwrap().tool(upload(&server.url))]).unwrap();
    let ctx = ctx();
    let call = |arguments: Value| registry.call_without_layers("t", arguments, &ctx);
    let arguments = json!({"one": {"text": "a,b\né", "filename": "a.csv"}, "many": [{"text": "x"}]});
    call(arguments).await.unwrap();
    let body = String::from_utf8(server.only().body).unwrap();
    assert!(
        body.contains(
            "name=\"one\"; filename=\"a.csv\"\r\nContent-Type: text/csv; charset=utf-8\r\n\r\na,b\né\r\n"
        ),
        "{body}"
    );
    assert!(
        body.contains("name=\"many\"; filename=\"many\"\r\nContent-Type: text/plain\r\n\r\nx\r\n"),
        "{body}"
    );
    let reason = call(json!({"one": {"path": "/etc/passwd"}})).await.unwrap_err().to_string();
    assert!(reason.contains("unknown field `path`"), "{reason}");
    let reason = call(json!({"one": {"text": "a", "base64": "YQ=="}})).await.unwrap_err().to_string();
    assert!(reason.contains("exactly one of `text` and `base64`"), "{reason}");
}
