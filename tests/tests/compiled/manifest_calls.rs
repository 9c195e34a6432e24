//! Tests of manifest tools that are loaded and called: placeholders are replaced as documented.

use serde_json::{Value, json};
use toolgen::dynamic::Loader;
use toolgen_runtime::engine::Engines;
use toolgen_runtime::engine::http::{HttpEngine, Secret, StaticCredentials};
use toolgen_runtime::layers::control::EffectHandler;
use toolgen_runtime::{
    BoxFuture, Control, Effect, Registry, ToolCall, ToolContext, ToolError, ToolResponse, ToolResult,
    Toolbox, Turn,
};
use toolgen_test_support::http::{self, Server};

/// An effect handler that returns the payload of the effect.
struct Tell;

impl EffectHandler for Tell {
    fn handle<'a>(
        &'a self,
        effect: &'a Effect,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move { Ok(ToolResult::text(format!("{} {}", effect.name, effect.data))) })
    }
}

fn toolbox(manifest: &str, engines: &Engines) -> Toolbox {
    let loaded = Loader::from_str(manifest).unwrap().tools_with_engines(engines).unwrap();
    assert_eq!(loaded.problems.to_string(), "");
    let registry = Registry::new(loaded.tools).unwrap();
    Toolbox::builder(&registry).effect("ask", Tell).build().unwrap()
}

async fn call(toolbox: &Toolbox, name: &str, arguments: Value) -> ToolResponse {
    toolbox.run(ToolCall::new("1", name, arguments), &Turn::new("turn")).await
}

const COMMANDS: &str = r#"
toolgen: 1
defaults: {undocumented: true}
tools:
  show:
    description: Shows its arguments.
    parameters:
      word: string
      many: string[]?
      depth: integer = 3
      loud: boolean?
      who: {type: object, properties: {name: 'string?'}}
    command:
      argv:
        - printf
        - '[%s]'
        - --
        - '{word}'
        - 'd={depth}'
        - {if: '{loud}', args: [loud]}
        - [who, '{who.name?}']
        - '{{}}'
        - '{many?*}'
  count:
    description: Counts words.
    parameters: {text: string, unit: string?}
    output: {type: object, properties: {words: integer}}
    command:
      shell: true
      script: 'printf "{\"words\": %d}" "$(printf %s "$TEXT" | wc -w)"; exit "${1:-0}"'
      args: ['{unit?}']
      env: {TEXT: '{text}'}
      output: json
      exit_codes: {7: {success: true, message: Odd.}, 8: {message: Broken.}}
  echo:
    description: Shows what it reads.
    parameters: {a: any}
    command: {argv: [cat], stdin: arguments, output: json}
"#;

#[cfg(unix)]
#[tokio::test]
async fn placeholders_fill_commands() {
    let tools = toolbox(COMMANDS, &Engines::new());
    let full = json!({"word": "$(id); x", "many": ["-r", ""], "loud": true, "who": {"name": "Ada"}});
    assert_eq!(call(&tools, "show", full).await.text(), "[--][$(id); x][d=3][loud][who][Ada][{}][-r][]");
    let bare = json!({"word": "-w", "depth": 9, "who": {}});
    assert_eq!(call(&tools, "show", bare).await.text(), "[--][-w][d=9][{}]");
    let counted = call(&tools, "count", json!({"text": "one $(two) \"three\""})).await;
    assert_eq!(*counted.outcome.unwrap().structured().unwrap(), json!({"words": 3}));
    let odd = call(&tools, "count", json!({"text": "one", "unit": "7"})).await;
    assert!(odd.outcome.is_ok() && odd.text().contains("Odd."), "{}", odd.text());
    assert!(call(&tools, "count", json!({"text": "", "unit": "8"})).await.outcome.is_err());
    let echoed = call(&tools, "echo", json!({"a": [1, {"b": null}]})).await;
    assert_eq!(*echoed.outcome.unwrap().structured().unwrap(), json!({"a": [1, {"b": null}]}));
}

/// Starts a server that responds to every request with the request itself, as JSON.
fn mirror() -> Server {
    Server::start(|request| http::json(&json!({"head": request.head, "body": request.text()})))
}

fn requests(port: u16) -> String {
    format!(
        r#"
toolgen: 1
defaults: {{undocumented: true}}
tools:
  find:
    description: Finds.
    parameters:
      id: string
      page: integer?
      tags: string[]?
      who: {{type: object, properties: {{mail: string}}}}
    http:
      url: http://127.0.0.1:{port}/v1/{{id}}/by-{{who.mail}}?fixed=a%20b+c&page={{page?}}
      query: {{tags: '{{tags?}}', q: 'id {{id}}', none: 'p {{page?}}'}}
      headers: {{X-Id: 'no {{id}}', X-Client: toolgen}}
      auth: {{bearer: FIND_TOKEN}}
  make:
    description: Makes.
    parameters: {{id: integer, name: string?, extra: object?}}
    http:
      method: PUT
      url: http://127.0.0.1:{port}/{{id}}
      body: {{name: '{{name?}}', label: 'No. {{id}}', extra: {{of: '{{extra?}}'}}, version: 2}}
endpoints:
  - name: rest
    description: Sends the rest.
    method: POST
    url: http://127.0.0.1:{port}/{{id}}
    parameters: {{id: integer, a: string, b: boolean?}}
  - name: text
    description: Sends a text.
    url: http://127.0.0.1:{port}/
    parameters: {{a: string}}
    text: 'a={{a}}'
"#
    )
}

#[tokio::test]
async fn placeholders_fill_requests() {
    let port = mirror().port();
    let credentials = StaticCredentials::new().with("FIND_TOKEN", Secret::new("s3cret-t0ken"));
    let engine = HttpEngine::builder().private_host("127.0.0.1").credentials(credentials).build().unwrap();
    let tools = toolbox(&requests(port), &Engines::new().with(engine));
    let seen = async |name: &str, arguments: Value| -> (String, String) {
        let response = call(&tools, name, arguments).await;
        let displayed = response.text();
        let value: Value = serde_json::from_str(displayed.split_once("\n\n").unwrap().1).unwrap();
        let text = |key: &str| value[key].as_str().unwrap().to_owned();
        (text("head"), text("body"))
    };
    let full = json!({"id": "a/b", "page": 2, "tags": ["x", "y"], "who": {"mail": "a@b?c"}});
    let (head, _) = seen("find", full).await;
    let target = head.split(' ').nth(1).unwrap();
    assert_eq!(target, "/v1/a%2Fb/by-a%40b%3Fc?fixed=a%20b%20c&page=2&tags=x&tags=y&q=id%20a%2Fb&none=p%202");
    let head = head.to_lowercase();
    assert!(head.contains("x-id: no a/b\r\n") && head.contains("x-client: toolgen\r\n"), "{head}");
    assert!(head.contains("\r\nauthorization: bearer "), "{head}");
    let (head, _) = seen("find", json!({"id": "1", "who": {"mail": "m"}})).await;
    assert_eq!(head.split(' ').nth(1).unwrap(), "/v1/1/by-m?fixed=a%20b%20c&q=id%201");
    let (head, body) = seen("make", json!({"id": 5, "extra": {"x": [1]}})).await;
    assert!(head.starts_with("PUT /5 "));
    let made: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(made, json!({"label": "No. 5", "extra": {"of": {"x": [1]}}, "version": 2}));
    let (_, body) = seen("call_rest", json!({"id": 5, "a": "x"})).await;
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), json!({"a": "x"}));
    let (head, body) = seen("call_text", json!({"a": "\"1\""})).await;
    assert!(
        head.starts_with("POST / ") && head.to_lowercase().contains("content-type: text/plain"),
        "{head}"
    );
    assert_eq!(body, "a=\"1\"");
}

#[tokio::test]
async fn placeholders_fill_signals() {
    let tools = toolbox(
        "toolgen: 1
defaults: {undocumented: true}
tools:
  submit:
    description: Submits.
    parameters: {title: string, note: string?}
    complete: {next_state: REVIEW, message: 'Did {title}.', data: {t: '{title}', n: '{note?}'}}
  ask:
    description: Asks.
    parameters: {question: string}
    effect: {name: ask, data: {q: '{question}', n: 1}}",
        &Engines::new(),
    );
    let done = call(&tools, "submit", json!({"title": "A"})).await;
    assert_eq!(done.text(), "Did A.");
    let result = done.outcome.unwrap();
    assert_eq!(result.control, Control::complete("REVIEW", json!({"t": "A"})));
    let asked = call(&tools, "ask", json!({"question": "Why?"})).await;
    assert_eq!(asked.text(), r#"ask {"q":"Why?","n":1}"#);
}
