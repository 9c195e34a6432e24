//! Wording of the messages about invalid arguments.

use toolgen_runtime::layers::voice::Voice;

use crate::prelude::*;

/// Runs a line.
#[expect(clippy::too_many_arguments, reason = "one for each rule")]
#[tool(undocumented)]
fn run(
    #[arg(non_empty, deny_pattern = "rm -rf /", deny_message = "dangerous command rejected")] cmd: String,
    name: String,
    #[arg(len = ..=5)] short: Option<String>,
    #[arg(range = 1..=10)] count: Option<u32>,
    #[arg(one_of("a", "b"))] kind: Option<String>,
    tags: Option<Vec<String>>,
    dry: Option<bool>,
    ratio: Option<f64>,
) -> String {
    format!("{cmd}{name}{short:?}{count:?}{kind:?}{tags:?}{dry:?}{ratio:?}")
}

async fn told(voice: Option<Voice>, arguments: Value) -> ToolError {
    let registry = Registry::new(toolset![run]).unwrap();
    let builder = Toolbox::builder(&registry);
    let builder = match voice {
        Some(voice) => builder.voice(voice),
        None => builder,
    };
    let toolbox = builder.build().unwrap();
    toolbox.run(ToolCall::new("1", "run", arguments), &Turn::new("turn")).await.outcome.unwrap_err()
}

#[tokio::test]
async fn voice_formats_each_problem() {
    let cases = [
        (json!({"cmd": "ls"}), "name is required", "name is required", "MISSING_PARAMETER"),
        (
            json!({"name": "n"}),
            "cmd is required",
            "cmd is required and must be a non-empty string",
            "MISSING_PARAMETER",
        ),
        (
            json!({"cmd": "", "name": "n"}),
            "cmd is required",
            "cmd must be a non-empty string",
            "INVALID_PARAMS",
        ),
        (
            json!({"cmd": [], "name": "n"}),
            "cmd must be a string",
            "cmd must be a non-empty string",
            "INVALID_PARAMS",
        ),
    ];
    for (arguments, helpers, filled, code) in cases {
        for (voice, expected) in [(Voice::HELPERS, helpers), (Voice::FILLED, filled)] {
            let error = told(Some(voice), arguments.clone()).await;
            assert_eq!((error.to_string().as_str(), error.code()), (expected, code), "{arguments}");
            assert!(error.operator_text().starts_with("Invalid arguments: "), "{}", error.operator_text());
        }
    }
    let same = [
        (json!({"name": []}), "name must be a string"),
        (json!({"cmd": "sudo rm -rf /"}), "dangerous command rejected"),
        (json!({"short": "123456"}), "short exceeds maximum length of 5 characters"),
        (json!({"count": 0}), "count must be at least 1"),
        (json!({"count": 11}), "count must be at most 10"),
        (json!({"count": "many"}), "count must be an integer"),
        (json!({"ratio": "much"}), "ratio must be a number"),
        (json!({"kind": "c"}), "kind must be one of: a, b"),
        (json!({"tags": 5}), "tags must be an array"),
        (json!({"dry": "perhaps"}), "dry must be a boolean"),
        (json!({"tags": [{}]}), "tags.0 must be a string"),
        (json!({"count": 0, "kind": "c"}), "count must be at least 1\nkind must be one of: a, b"),
    ];
    for (more, expected) in same {
        let mut arguments = json!({"cmd": "ls", "name": "n"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        for voice in [Voice::HELPERS, Voice::FILLED] {
            assert_eq!(told(Some(voice), arguments.clone()).await.to_string(), expected, "{arguments}");
        }
    }
}

#[tokio::test]
async fn problem_without_a_voice_format_uses_the_default() {
    let unknown = json!({"cmd": "ls", "name": "n", "nmae": 1});
    let by_default = told(None, unknown.clone()).await;
    assert_eq!(told(Some(Voice::HELPERS), unknown).await, by_default);
    assert!(by_default.to_string().starts_with("Invalid arguments: /nmae: "));
    let both = told(Some(Voice::HELPERS), json!({"cmd": "ls", "nmae": 1})).await.to_string();
    assert!(both.starts_with("/nmae: unknown argument") && both.ends_with("\nname is required"), "{both}");
    let own = Voice { missing: "Give me {label}!".into(), ..Voice::HELPERS };
    assert_eq!(told(Some(own), json!({"cmd": "ls"})).await.to_string(), "Give me name!");
    let silent = Voice { missing: Text::EMPTY, ..Voice::HELPERS };
    assert_eq!(told(Some(silent), json!({"cmd": "ls"})).await, told(None, json!({"cmd": "ls"})).await);
    // Arguments in a string are parsed.
    let text = told(Some(Voice::HELPERS), json!("{\"cmd\": \"\", \"name\": \"n\"}")).await;
    assert_eq!(text.to_string(), "cmd is required");
}
