//! Tests that arguments sent as strings may have any type with the same text, and that every layer sees the sent
//! value.

use toolgen_runtime::layers::middleware::{
    Approval, ApprovalRequest, Approver, Middleware, MiddlewareDecision, ToolRequest,
};
use toolgen_runtime::schema::shape::read::read;
use toolgen_runtime::spec::plan::BodyField;
use toolgen_runtime::spec::template::{Reference, Root, Segment, Template};
use toolgen_runtime::{AgentTool, BoxFuture, ExecutionPlan, Schema, Text, ToolName, ToolSpec, Toolbox};

use crate::prelude::*;
use crate::server::{engine, parameter, plan, turn};

/// A request with a path, a query, a header and a JSON body.
fn request(url: &str) -> RequestPlan {
    let field = |name: &'static str| BodyField { argument: name.into(), name: name.into() };
    RequestPlan {
        parameters: vec![
            parameter("id", Location::Path, Encoding::SIMPLE),
            parameter("tag", Location::Query, Encoding::FORM),
            parameter("filter", Location::Query, Encoding::Content("application/json".into())),
            parameter("X-Trace", Location::Header, Encoding::SIMPLE),
        ]
        .into(),
        body: Some(Body {
            required: false,
            media_type: "application/json".into(),
            codec: Codec::Json,
            source: BodySource::Fields(vec![field("count")].into()),
        }),
        ..plan("POST", url, "/things/{id}")
    }
}

fn schema(schema: &Value) -> Schema {
    read(schema, &mut Vec::new()).into()
}

fn tool(plan: RequestPlan) -> Arc<dyn AgentTool> {
    let integer = json!({"type": "integer", "maximum": 99});
    let input = schema(&json!({
        "type": "object",
        "properties": {
            "id": integer, "tag": {"type": "array", "items": {"type": "string"}}, "filter": integer,
            "X-Trace": {"type": "string"}, "count": integer,
        },
        "required": ["id"],
        "additionalProperties": false,
    }));
    let spec =
        ToolSpec { name: ToolName::new("t"), input, string_arguments: plan.texts(), ..ToolSpec::EMPTY };
    engine().build().unwrap().tool(Tool { spec, call: ExecutionPlan::Http(plan) })
}

/// The arguments that the layers of a toolbox saw.
#[derive(Clone, Default)]
struct Shown(Arc<Mutex<Vec<Value>>>);

impl Middleware for Shown {
    fn before<'a>(&'a self, request: &'a ToolRequest<'a>) -> BoxFuture<'a, MiddlewareDecision> {
        self.0.lock().unwrap().push(request.arguments.clone());
        Box::pin(std::future::ready(MiddlewareDecision::NeedApproval("it is far away".to_owned())))
    }
}

impl Approver for Shown {
    fn approve<'a>(&'a self, request: &'a ApprovalRequest, _: &'a ToolContext) -> BoxFuture<'a, Approval> {
        self.0.lock().unwrap().push(request.redacted_arguments.clone());
        Box::pin(std::future::ready(Approval::Approved))
    }
}

fn written() -> Value {
    json!({"id": "7", "tag": 5, "X-Trace": null, "count": 3})
}

fn meant() -> Value {
    json!({"id": 7, "tag": ["5"], "count": 3})
}

#[tokio::test]
async fn stringified_arguments_send_the_same_request() {
    for arguments in [written(), meant(), Value::String(written().to_string())] {
        let server = Server::ok();
        let registry = Registry::new([tool(request(&server.url))]).unwrap();
        let toolbox = Toolbox::builder(&registry).build().unwrap();
        let response = toolbox.run(ToolCall::new("c1", "t", arguments), &turn()).await;
        assert!(!response.is_error(), "{response:?}");
        let seen = server.only();
        assert_eq!((seen.target(), seen.header("x-trace")), ("/things/7?tag=5", None));
        assert_eq!(seen.body, br#"{"count":3}"#);
    }
}

#[tokio::test]
async fn json_body_arguments_are_not_coerced() {
    let registry = Registry::new([tool(request("http://127.0.0.1:1"))]).unwrap();
    let toolbox = Toolbox::builder(&registry).build().unwrap();
    for (wrong, message) in [
        (json!({"id": 7, "count": "3"}), "/count: expected an integer"),
        (json!({"id": 7, "count": null}), "/count: expected an integer"),
        (json!({"id": 7, "filter": "3"}), "/filter: expected an integer"),
        (json!({"id": null}), "/id: expected an integer"),
        (json!({"id": "100"}), "/id: must be at most 99"),
    ] {
        let response = toolbox.run(ToolCall::new("c1", "t", wrong.clone()), &turn()).await;
        let reason = response.outcome.unwrap_err().to_string();
        assert!(reason.contains(message), "{wrong}: {reason}");
    }
}

#[tokio::test]
async fn layers_see_the_coerced_arguments() {
    let (server, visible) = (Server::ok(), Shown::default());
    let registry = Registry::new([tool(request(&server.url))]).unwrap();
    let toolbox =
        Toolbox::builder(&registry).middleware(visible.clone()).approver(visible.clone()).build().unwrap();
    let response = toolbox.run(ToolCall::new("c1", "t", written()), &turn()).await;
    assert!(!response.is_error(), "{response:?}");
    assert_eq!(*visible.0.lock().unwrap(), [meant(), meant()]);
    assert_eq!(server.only().target(), "/things/7?tag=5");
}

#[tokio::test]
async fn records_contain_the_coerced_arguments() {
    use toolgen_runtime::layers::audit::{Auditor, MemorySink};

    for (given, recorded) in [(written(), meant()), (json!({"id": "x"}), json!({"id": "x"}))] {
        let (server, sink) = (Server::ok(), MemorySink::new());
        let registry = Registry::new([tool(request(&server.url))]).unwrap();
        let auditor = Auditor::builder(sink.clone()).start().unwrap();
        let toolbox = Toolbox::builder(&registry).layer(auditor.clone()).build().unwrap();
        toolbox.run(ToolCall::new("c1", "t", given), &turn()).await;
        auditor.flush().await.unwrap();
        let parameters: Vec<Value> = sink.rows().iter().map(|row| row.intent.parameters.clone()).collect();
        assert_eq!(parameters, [recorded]);
    }
}

#[test]
fn location_of_an_argument_decides_coercion() {
    let texts = |plan: RequestPlan| plan.texts().iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(texts(request("")), ["X-Trace", "id", "tag"]);
    let fields = |codec: Codec| {
        let names = ["a", "b", "c", "d"];
        let field = |name: &'static str| BodyField { argument: name.into(), name: name.into() };
        let source = BodySource::Fields(names.into_iter().map(field).collect());
        RequestPlan {
            body: Some(Body { required: true, media_type: Text::EMPTY, codec, source }),
            ..RequestPlan::EMPTY
        }
    };
    let part = |name: &'static str, file, kind: &'static str| Part {
        name: name.into(),
        file,
        content_type: kind.into(),
        encoding: None,
    };
    let parts: List<Part> =
        vec![part("b", true, ""), part("c", false, "application/json"), part("d", false, "text/plain")]
            .into();
    assert_eq!(texts(fields(Codec::Form(List::EMPTY))), ["a", "b", "c", "d"]);
    assert_eq!(texts(fields(Codec::Form(parts.clone()))), ["a", "d"]);
    assert_eq!(texts(fields(Codec::Multipart(parts))), ["a", "d"]);
    assert!(texts(fields(Codec::Json)).is_empty());
    // The argument is used twice, and must be exact in one of the places.
    let twice = RequestPlan {
        parameters: vec![parameter("a", Location::Query, Encoding::FORM)].into(),
        ..fields(Codec::Json)
    };
    assert!(texts(twice).is_empty());
    let reference = |name: &'static str| Reference {
        root: Root::Argument(name.into()),
        path: List::EMPTY,
        optional: false,
    };
    let made = RequestPlan {
        parameters: vec![
            parameter("=1", Location::Query, Encoding::FORM),
            parameter("=2", Location::Query, Encoding::FORM),
        ]
        .into(),
        derived: vec![
            (
                Text::from("=1"),
                Template::Text(vec![Segment::Literal("no. ".into()), Segment::Value(reference("n"))].into()),
            ),
            (Text::from("=2"), Template::List(vec![Template::Value(reference("m"))].into())),
        ]
        .into(),
        ..RequestPlan::EMPTY
    };
    assert_eq!(texts(made), ["n"]);
}
