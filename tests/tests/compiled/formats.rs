//! The definition of a tool with nested arguments, in the format of every vendor.

#![allow(missing_docs, reason = "what a model reads stands on the tools")]

use serde_json::{Value, json};
use toolgen_runtime::schema::dialect::{self, Dialect};
use toolgen_runtime::wire::WireFormat;
use toolgen_runtime::{
    AgentTool, Registry, Schema, Text, ToolCall, ToolContext, ToolInput, ToolName, ToolSpec, ToolboxContext,
    Turn, tool, toolset,
};

#[derive(ToolInput)]
struct Requirement {
    /// What it is called.
    title: String,
    /// How one sees that it is done.
    #[arg(len = 1..=8)]
    acceptance_criteria: Vec<String>,
    /// What has to be done before.
    depends_on: Option<Vec<Need>>,
}

#[derive(ToolInput)]
struct Need {
    /// The other requirement.
    title: String,
    /// How much it matters.
    #[arg(one_of("must", "should"))]
    weight: String,
}

/// Hands in requirements as stories.
#[tool(complete)]
fn submit_stories(
    /// The requirements.
    #[arg(len = 1..)]
    requirements: Vec<Requirement>,
) -> usize {
    let needs = requirements.iter().flat_map(|it| it.depends_on.iter().flatten());
    let words = needs.map(|need| need.title.len() + need.weight.len()).sum::<usize>();
    requirements.iter().map(|it| it.title.len() + it.acceptance_criteria.len()).sum::<usize>() + words
}

/// A definition has three keys; unset keys are omitted, including `required`.
#[test]
fn definition_has_exactly_name_description_and_schema() {
    let definition = |name, input: &'static str| {
        let spec = ToolSpec {
            name: ToolName::new(name),
            description: Text::Static("Runs a command and gives its output"),
            input: Schema::text(input),
            ..ToolSpec::EMPTY
        };
        let registry = Registry::builder().add(Unused(spec)).seal().unwrap();
        registry.toolbox(ToolboxContext::new()).list()[0].to_json().to_string()
    };
    let properties = r#"{"cmd":{"type":"string","description":"The command"},"cwd":{"type":"string","description":"Where it runs"}}"#;
    for (required, written) in
        [("", ""), (r#","required":["cmd"]"#, r#","required":["cmd"]"#), (r#","required":[]"#, "")]
    {
        let read = format!(r#"{{"type":"object","properties":{properties}{required}}}"#);
        let expected = format!(
            r#"{{"name":"shell","description":"Runs a command and gives its output","input_schema":{{"type":"object","properties":{properties}{written}}}}}"#
        );
        assert_eq!(definition("shell", read.leak()), expected);
    }
}

/// Execute a shell command and return the output
#[tool(ignore_unknown)]
fn shell(
    /// The shell command to execute
    cmd: &str,
) -> &str {
    cmd
}

/// If a tool ignores unknown arguments, its schema does not forbid them.
#[tokio::test]
async fn tool_may_ignore_unknown_arguments() {
    let toolbox = Registry::new(toolset![shell]).unwrap().toolbox(ToolboxContext::new());
    assert_eq!(
        toolbox.list()[0].to_json().to_string(),
        r#"{"name":"shell","description":"Execute a shell command and return the output","input_schema":{"type":"object","properties":{"cmd":{"type":"string","description":"The shell command to execute"}},"required":["cmd"]}}"#
    );
    let call = ToolCall::new("1", "shell", json!({"cmd": "ls", "shell": "zsh"}));
    let response = toolbox.run(call, &Turn::new("turn")).await;
    assert_eq!(response.text(), "ls");
    // In dialects that require closed schemas, it is closed.
    let strict = WireFormat::OpenAiChat.tools_in(&dialect::OPENAI_STRICT, toolbox.specs()).unwrap();
    assert_eq!(strict[0]["function"]["parameters"]["additionalProperties"], false);
}

/// A tool that is never called.
struct Unused(ToolSpec);

impl AgentTool for Unused {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn execute<'a>(
        &'a self,
        _: Value,
        _: &'a ToolContext,
    ) -> toolgen_runtime::BoxFuture<'a, Result<toolgen_runtime::ToolResult, toolgen_runtime::ToolError>> {
        Box::pin(async { Ok(toolgen_runtime::ToolResult::empty()) })
    }
}

/// Collects all objects of a JSON value.
fn objects<'v>(value: &'v Value, found: &mut Vec<&'v Value>) {
    match value {
        Value::Object(members) => {
            found.push(value);
            members.values().for_each(|member| objects(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| objects(item, found)),
        _ => {}
    }
}

fn is(schema: &Value, kind: &str) -> bool {
    let own = &schema["type"];
    own == kind || own.as_array().is_some_and(|kinds| kinds.iter().any(|own| own == kind))
}

/// Returns the schema of a property, at any depth.
fn property<'v>(tools: &'v Value, name: &str) -> &'v Value {
    let mut all = Vec::new();
    objects(tools, &mut all);
    let mut found = all.into_iter().filter_map(|object| object.get("properties")?.get(name));
    found.next_back().unwrap_or_else(|| panic!("no {name} in {tools}"))
}

fn judge(tools: &Value, format: &str) {
    let mut all = Vec::new();
    objects(tools, &mut all);
    for schema in all {
        // Vendors reject array schemas without `items`.
        assert!(
            !is(schema, "array")
                || schema["items"].get("type").is_some()
                || schema["items"].get("$ref").is_some(),
            "{format}: {schema}"
        );
        assert!(schema.get("required") != Some(&json!([])), "{format}: {schema}");
    }
    assert!(is(property(tools, "requirements"), "array"), "{format}");
    let criteria = property(tools, "acceptance_criteria");
    assert!(is(criteria, "array") && is(&criteria["items"], "string"), "{format}: {criteria}");
    let weight = property(tools, "weight");
    assert_eq!(weight["enum"], json!(["must", "should"]), "{format}");
    let text = tools.to_string();
    for message in
        ["Hands in requirements as stories.", "How one sees that it is done.", "How much it matters."]
    {
        assert!(text.contains(message), "{format} does not say: {message}");
    }
}

#[test]
fn nested_arrays_of_objects_reach_every_format() {
    let tool = submit_stories::tool();
    for format in WireFormat::ALL {
        judge(&format.tools(std::slice::from_ref(tool.spec())).unwrap(), &format.to_string());
    }
    for strict in [WireFormat::OpenAiChat, WireFormat::OpenAiResponses] {
        let tools = strict.tools_in(&dialect::OPENAI_STRICT, std::slice::from_ref(tool.spec())).unwrap();
        judge(&tools, &format!("{strict}, strict"));
    }
}

/// The rules of a schema are enforced in every dialect, down to the innermost value.
#[tokio::test]
async fn nested_values_are_validated_in_every_dialect() {
    let dialects: [&'static Dialect; 5] = [
        &dialect::JSON_SCHEMA,
        &dialect::OPENAI,
        &dialect::OPENAI_STRICT,
        &dialect::ANTHROPIC,
        &dialect::GEMINI,
    ];
    let registry = Registry::new(toolset![submit_stories]).unwrap();
    for dialect in dialects {
        let ctx = Turn::default().with_dialect(dialect).call_context("1", "submit_stories");
        let need = json!({"title": "b", "weight": "must"});
        let good = json!({"requirements": [
            {"title": "a", "acceptance_criteria": ["x"], "depends_on": [need]}]});
        let result = registry.call_without_layers("submit_stories", good, &ctx).await.unwrap();
        assert_eq!(result.to_text(), "7", "{}", dialect.name);
        let bad = json!({"requirements": [
            {"title": "a", "acceptance_criteria": [], "depends_on": [{"title": 1, "weight": "may"}]}]});
        let message =
            registry.call_without_layers("submit_stories", bad, &ctx).await.unwrap_err().to_string();
        let places = ["acceptance_criteria", "depends_on/0/title", "depends_on/0/weight"];
        for location in places {
            assert!(message.contains(&format!("/requirements/0/{location}")), "{}: {message}", dialect.name);
        }
    }
}
