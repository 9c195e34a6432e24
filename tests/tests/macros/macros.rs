//! Tests of `#[tool]` on functions: tool definitions, valid arguments, and results.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use toolgen_runtime::call::tool::{DEFAULT_TIMEOUT, call_without_layers as call};
use toolgen_runtime::schema::dialect::JSON_SCHEMA;
use toolgen_runtime::schema::shape::render::{render_input, render_output};
use toolgen_runtime::{
    AgentTool, CancellationToken, Progress, Service, ToolContext, ToolError, ToolResult, Turn, tool,
};

pub(crate) async fn run(tool: impl AgentTool, params: Value) -> Result<ToolResult, ToolError> {
    let ctx = Turn::default().call_context("1", tool.name());
    call(&tool, params, &ctx, DEFAULT_TIMEOUT).await
}

pub(crate) fn schema(tool: &impl AgentTool) -> Value {
    render_input(&tool.spec().input, &tool.spec().defs, &JSON_SCHEMA).unwrap().schema
}

/// Adds two numbers.
///
/// # Returns
///
/// The sum.
///
/// # Use for
///
/// Anything a head cannot do.
///
/// # Examples
///
/// - Small: `{"a": 1, "b": 2}`
#[tool(pure)]
fn add(
    /// The first.
    a: i64,
    /// The second.
    b: i64,
) -> i64 {
    a + b
}

#[tokio::test]
async fn tool_function_remains_callable() {
    assert_eq!(add(1, 2), 3);
    let tool = add::tool();
    assert_eq!(tool.name(), "add");
    assert_eq!(tool.label(), "Add");
    assert_eq!(tool.description(), "Adds two numbers.");
    let spec = tool.spec();
    assert_eq!((&*spec.returns, &*spec.use_for), ("The sum.", "Anything a head cannot do."));
    assert_eq!(&*spec.examples[0].arguments, r#"{"a": 1, "b": 2}"#);
    assert!(spec.effects.read_only && spec.effects.idempotent);
    let field = |description: &str| json!({"type": "integer", "description": description});
    assert_eq!(
        schema(&tool),
        json!({
            "type": "object",
            "properties": {"a": field("The first."), "b": field("The second.")},
            "required": ["a", "b"],
            "additionalProperties": false,
        })
    );
    let output = render_output(spec.output.as_ref().unwrap(), &spec.defs, &JSON_SCHEMA).unwrap();
    assert_eq!(output.schema["type"], "integer");
    let result = run(tool, json!({"a": 1, "b": 2})).await.unwrap();
    assert_eq!((result.to_text().as_str(), &result.details), ("3", &json!(3)));
}

#[tokio::test]
async fn macro_tool_reports_all_argument_errors_together() {
    let error = run(add::tool(), json!({"a": "x", "c": 1})).await.unwrap_err().to_string();
    for part in ["/a", "unknown argument `c`", "known: `a`, `b`", "/b: missing"] {
        assert!(error.contains(part), "{part} in {error}");
    }
}

/// Looks for text.
///
/// # Arguments
///
/// * `query` - What to look for.
/// * `paths` - Where.
/// * `within` - Below this directory.
/// - limit: No more than this.
#[tool(name = "search-files", read_only, timeout = "5s", category = "files", scopes("read", "files"))]
async fn search(
    query: &str,
    paths: &[String],
    within: Option<&Path>,
    #[arg(default = 10, range = 1..=50)] limit: u32,
) -> Vec<String>
where
{
    tokio::task::yield_now().await;
    let location = within.map_or(String::new(), |path| format!(" in {}", path.display()));
    paths.iter().take(limit as usize).map(|path| format!("{query}{location}: {path}")).collect()
}

#[tokio::test]
async fn arguments_may_be_borrowed_and_validated() {
    let tool = search::tool();
    assert_eq!(tool.name(), "search-files");
    let schema = schema(&tool);
    assert_eq!(
        schema["properties"]["limit"],
        json!({"type": "integer", "description": "No more than this.", "minimum": 1, "maximum": 50, "default": 10})
    );
    assert_eq!(
        schema["properties"]["within"],
        json!({"type": ["string", "null"], "description": "Below this directory."})
    );
    assert_eq!(schema["properties"]["query"]["description"], "What to look for.");
    assert_eq!(schema["required"], json!(["query", "paths"]));
    let result = run(tool.clone(), json!({"query": "q", "paths": ["a", "b"], "limit": 1})).await.unwrap();
    assert_eq!(result.details, json!(["q: a"]));
    let result = run(tool.clone(), json!({"query": "q", "paths": ["a"], "within": "x"})).await.unwrap();
    assert_eq!(result.details, json!(["q in x: a"]));
    assert!(run(tool, json!({"query": "q", "paths": [], "limit": 51})).await.is_err());
    assert_eq!(search("q", &["a".to_owned()], None, 1).await, ["q: a"]);
}

/// Shows a log.
#[tool(undocumented, result_limit = "64KiB")]
fn show_log(name: &str) -> String {
    name.to_owned()
}

#[test]
fn result_limit_is_given_in_bytes() {
    assert_eq!(show_log::tool().spec().result_limit, Some(65_536));
}

/// An issue.
#[derive(serde::Serialize, toolgen_runtime::ToolInput)]
struct Issue {
    /// The number.
    id: u32,
    /// The title.
    title: String,
}

/// Lists issues.
#[tool(undocumented, fields)]
fn list_issues() -> Vec<Issue> {
    (1..3).map(|id| Issue { id, title: "x".repeat(3) }).collect()
}

#[tokio::test]
async fn call_of_a_function_chooses_fields() {
    let spec = list_issues::tool().spec().clone();
    assert_eq!(spec.projection, "fields");
    assert!(
        spec.to_json()["input"]["properties"]["fields"]["description"]
            .as_str()
            .unwrap()
            .ends_with("id, title")
    );
    let chosen = run(list_issues::tool(), json!({"fields": ["title"]})).await.unwrap();
    assert_eq!(chosen.to_text(), r#"[{"title":"xxx"},{"title":"xxx"}]"#);
    let error = run(list_issues::tool(), json!({"fields": ["titel"]})).await.unwrap_err();
    assert!(error.to_string().contains("no field `titel` (did you mean `title`?)"), "{error}");
}

struct Database(&'static str);

/// Asks the database.
#[tool(undocumented)]
async fn ask(
    progress: Progress,
    question: String,
    ctx: &ToolContext,
    database: Service<Database>,
    cancel: CancellationToken,
    missing: Option<Service<String>>,
) -> Result<String, std::io::Error> {
    progress.report("asking");
    assert!(!cancel.is_cancelled() && missing.is_none());
    Ok(format!("{question} {} {}", database.0, ctx.tool_name))
}

#[tokio::test]
async fn program_injects_values_the_model_cannot_set() {
    let tool = ask::tool();
    assert_eq!(schema(&tool)["properties"].as_object().unwrap().len(), 1);
    let ctx = Turn::default().with_service(Arc::new(Database("db"))).call_context("1", "ask");
    let result = call(&tool, json!({"question": "q"}), &ctx, DEFAULT_TIMEOUT).await.unwrap();
    assert_eq!(result.to_text(), "q db ask");
    let error = run(tool, json!({"question": "q"})).await.unwrap_err();
    assert_eq!(error.code(), "SERVICE_UNAVAILABLE");
    assert!(error.operator_text().contains("Database"));
}

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Divides.
#[tool(undocumented)]
fn divide(a: f64, b: f64) -> Outcome<f64> {
    if b == 0.0 {
        return Err(std::io::Error::other("division by zero").into());
    }
    Ok(a / b)
}

#[derive(Debug)]
struct Secret;

/// Fails without words.
#[tool(undocumented)]
fn fail() -> Result<(), Secret> {
    Err(Secret)
}

/// Says nothing.
#[tool(undocumented, blocking)]
fn nothing() {}

#[tokio::test]
async fn return_types_convert_by_their_traits() {
    assert_eq!(run(divide::tool(), json!({"a": 1, "b": 2})).await.unwrap().details, json!(0.5));
    let error = run(divide::tool(), json!({"a": 1, "b": 0})).await.unwrap_err();
    assert_eq!(error.to_string(), "division by zero");
    assert!(divide::tool().spec().output.is_some());
    let error = run(fail::tool(), json!({})).await.unwrap_err();
    assert_eq!((error.to_string().as_str(), &*error.operator_text()), ("the tool failed", "Secret"));
    assert_eq!(run(nothing::tool(), json!(null)).await.unwrap(), ToolResult::empty());
}

/// Orders.
#[tool(undocumented, exactly_one(id, name), requires(until => since), at_most_one(since, name))]
fn order(id: Option<u32>, name: Option<String>, since: Option<u8>, until: Option<u8>) -> String {
    format!("{id:?} {name:?} {since:?} {until:?}")
}

#[tokio::test]
async fn relations_between_arguments_are_enforced() {
    let schema = schema(&order::tool());
    assert_eq!(
        schema["description"],
        "(give exactly one of `id`, `name`; `until` can only be given together with `since`; give at most one of `since`, `name`)"
    );
    // The keywords match what decoding enforces, for every combination of arguments.
    let [none, null] = [None, Some(json!(null))];
    for id in [none.clone(), null.clone(), Some(json!(1))] {
        for name in [none.clone(), null.clone(), Some(json!("x"))] {
            for since in [none.clone(), null.clone(), Some(json!(1))] {
                for until in [none.clone(), null.clone(), Some(json!(2))] {
                    let pairs = [("id", &id), ("name", &name), ("since", &since), ("until", &until)];
                    let given =
                        pairs.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value.clone()?)));
                    let given = Value::Object(given.collect());
                    let decoded = run(order::tool(), given.clone()).await.is_ok();
                    assert_eq!(jsonschema::is_valid(&schema, &given), decoded, "{given} {schema}");
                }
            }
        }
    }
    assert!(run(order::tool(), json!({"id": 1, "since": 1, "until": 2})).await.is_ok());
    assert!(run(order::tool(), json!({"id": 1, "name": null})).await.is_ok());
    let error = run(order::tool(), json!({"id": 1, "name": "x", "until": 1})).await.unwrap_err().to_string();
    assert!(error.contains("give exactly one of `id`, `name`, got `id`, `name`"), "{error}");
    assert!(error.contains("`until` can only be given together with `since`, got `until`"), "{error}");
}

/// Signs in.
#[tool(
    undocumented,
    destructive = false,
    requires(session("cart", message = "no cart"), tool("login", optional)),
    complete(next_state = "DONE"),
    exclusive,
    deprecated = "use x"
)]
fn sign_in(
    #[arg(rename = "user.name", alias("user", "login"), non_empty, len = ..=20)] user: String,
    #[arg(secret, pattern = "^[a-z]+$", example = "abc")] password: String,
    #[arg(one_of = ["en", "de"], default = "en")] language: String,
    #[arg(items(len = 2, one_of("ab", "cd")), len = 1..3)] codes: Vec<String>,
    #[arg(default = Vec::from([1_u8]))] levels: Vec<u8>,
    #[arg(default)] loud: bool,
) -> String {
    format!("{user} {password} {language} {codes:?} {levels:?} {loud}")
}

#[tokio::test]
async fn declaration_is_both_advertised_and_enforced() {
    let tool = sign_in::tool();
    let schema = schema(&tool);
    assert_eq!(
        schema["properties"],
        json!({
            "user.name": {"type": "string", "minLength": 1, "maxLength": 20},
            "password": {"type": "string", "format": "password", "pattern": "^[a-z]+$", "examples": ["abc"]},
            "language": {"enum": ["en", "de"], "type": "string", "default": "en"},
            "codes": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string", "enum": ["ab", "cd"]}},
            "levels": {"type": "array", "default": [1], "items": {"type": "integer", "minimum": 0, "maximum": 255}},
            "loud": {"type": "boolean", "default": false},
        })
    );
    let spec = tool.spec();
    assert!(spec.exclusive && spec.completion.as_ref().unwrap().next_state == "DONE");
    assert_eq!(spec.requires.len(), 2);
    assert_eq!(spec.deprecated.as_deref(), Some("use x"));
    let given = json!({"user": "u", "password": "p", "codes": ["ab"]});
    assert_eq!(run(tool.clone(), given).await.unwrap().to_text(), r#"u p en ["ab"] [1] false"#);
    let wrong = json!({"login": "", "password": "P", "codes": ["xx", "ab", "cd"], "language": "fr"});
    let error = run(tool, wrong).await.unwrap_err().to_string();
    for part in ["/login", "/password", "/codes", "/language"] {
        assert!(error.contains(part), "{part} in {error}");
    }
}

/// Reads a file.
#[tool(undocumented)]
fn read(#[arg(path(within = "workdir"))] path: &Path, #[arg(path)] other: Option<PathBuf>) -> String {
    format!("{} {other:?}", path.display())
}

#[tokio::test]
async fn path_arguments_stay_in_their_directory() {
    let tool = read::tool();
    assert_eq!(schema(&tool)["properties"]["path"]["description"], "A path inside the workdir.");
    let ctx = Turn::default().with_root("workdir", "/no/such").call_context("1", "read");
    let result = call(&tool, json!({"path": "a/b"}), &ctx, DEFAULT_TIMEOUT).await.unwrap();
    assert_eq!(result.to_text(), "/no/such/a/b None");
    for params in [json!({"path": "../a"}), json!({"path": "a", "other": "/b"})] {
        let error = call(&tool, params, &ctx, DEFAULT_TIMEOUT).await.unwrap_err();
        assert!(error.to_string().contains("path traversal not allowed"), "{error}");
    }
    assert_eq!(run(tool, json!({"path": "a"})).await.unwrap_err().code(), "SERVICE_UNAVAILABLE");
}

/// Copies.
#[tool(
    undocumented,
    reads("file:{from}", "clock"),
    writes("file:{to.path}"),
    service = "disk",
    result_limit = "64KiB"
)]
fn copy(from: String, #[arg(rename = "to.path")] to: String) -> String {
    from + &to
}

#[test]
fn footprint_and_limits_are_in_the_specification() {
    let tool = copy::tool();
    let spec = tool.spec();
    assert_eq!(spec.reads[..], ["file:{from}", "clock"]);
    assert_eq!(spec.writes[..], ["file:{to.path}"]);
    assert_eq!((spec.service.as_str(), spec.result_limit), ("disk", Some(65_536)));
}
