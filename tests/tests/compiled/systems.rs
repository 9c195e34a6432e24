//! Tests of the manifests of four systems: toolsets, contexts, commands, requests, signals and dependencies.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use toolgen::Program;
use toolgen::dynamic::Loader;
use toolgen_runtime::agent::sub_agent::{AgentEngine, AgentFailure, AgentMonitor, AgentRunner, AgentTask};
use toolgen_runtime::engine::executor::{ExecOutput, LocalExecutor, ScriptedExecutor};
use toolgen_runtime::engine::http::HttpEngine;
use toolgen_runtime::engine::{Engines, FunctionTable};
use toolgen_runtime::layers::control::{Answerer, Question};
use toolgen_runtime::layers::dependencies::Dependencies;
use toolgen_runtime::{
    BoxFuture, ContextValues, Control, ExecutionPlan, Registry, Session, ToolCall, ToolContext, ToolError,
    ToolResponse, Toolbox, ToolboxContext, Turn,
};
use toolgen_test_support::scratch::Folder;

/// An agent that answers every task with the names of its tools.
struct Names;

impl AgentRunner for Names {
    fn run<'a>(
        &'a self,
        task: AgentTask,
        _: &'a AgentMonitor,
    ) -> BoxFuture<'a, Result<String, AgentFailure>> {
        Box::pin(async move {
            let toolbox =
                task.toolbox_builder().build().map_err(|error| AgentFailure::Failed(error.to_string()))?;
            let names: Vec<String> = toolbox.specs().map(|spec| spec.name.to_string()).collect();
            Ok(format!("{}: {}", task.task, names.join(" ")))
        })
    }
}

fn program(name: &str) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/systems").join(name);
    Loader::from_file(path).unwrap().compile().unwrap().0
}

/// Returns the tools of a program; functions return their name and arguments.
fn registry(program: &Program) -> Registry {
    let mut functions = FunctionTable::new();
    for tool in program.all_tools().into_iter().filter(|tool| tool.call == ExecutionPlan::Function) {
        let name = tool.spec.name.to_string();
        functions = functions.with(name.clone(), move |arguments: Value, _: ToolContext| {
            let name = name.clone();
            async move { Ok(json!({ "name": name, "arguments": arguments })) }
        });
    }
    let http = HttpEngine::builder().build().unwrap();
    let engines = Engines::new().with(functions).with(http).with(AgentEngine::new(Names));
    Registry::new(engines.tools_from(program.clone().into_tools()).unwrap()).unwrap()
}

async fn call(toolbox: &Toolbox, name: &str, arguments: Value) -> ToolResponse {
    toolbox.run(ToolCall::new("1", name, arguments), &turn()).await
}

fn turn() -> Turn {
    Turn::new("turn-1")
}

fn toolbox(registry: &Registry, program: &Program, set: &str, context: ToolboxContext) -> Toolbox {
    let set = program.toolsets.iter().find(|one| one.name.as_str() == set).unwrap();
    Toolbox::builder(registry).context(context).toolset(set).build().unwrap()
}

/// Returns a context that runs no commands, and the executor that records them.
fn scripted(outcomes: Vec<ExecOutput>) -> (ToolboxContext, Arc<ScriptedExecutor>) {
    let executor = Arc::new(ScriptedExecutor::new(outcomes.into_iter().map(Ok)));
    (ToolboxContext::new().with_executor(executor.clone()), executor)
}

#[tokio::test]
async fn coding_team_has_the_toolsets_of_its_states() {
    let program = program("coding-team.yaml");
    let registry = registry(&program);
    let sizes: Vec<(&str, usize)> =
        program.toolsets.iter().map(|set| (set.name.as_str(), set.members.len())).collect();
    let expected = [
        ("app_coding", 11),
        ("app_planning", 6),
        ("architect_read", 5),
        ("devops_coding", 13),
        ("devops_planning", 8),
    ];
    assert_eq!(sizes, expected);

    // In the planning set, commands are read-only; tools of other sets do not exist.
    let (context, executor) = scripted(Vec::new());
    let planning = toolbox(&registry, &program, "devops_planning", context);
    let test = json!({"container_name": "app", "command": "true", "host_workspace_path": "/w"});
    let response = call(&planning, "container_test", test.clone()).await;
    assert!(!response.is_error(), "{}", response.text());
    assert!(call(&planning, "container_build", json!({"container_name": "app"})).await.is_error());
    let asked = executor.commands();
    assert_eq!(asked.len(), 1);
    assert!(
        asked[0].1.read_only && asked[0].1.network_disabled,
        "the executor holds the program to the context"
    );

    // In the coding set, the command runs as written, regardless of the values.
    let (context, executor) = scripted(Vec::new());
    let coding = toolbox(&registry, &program, "devops_coding", context);
    let response = call(&coding, "container_test", test).await;
    assert!(!response.is_error(), "{}", response.text());
    let (argv, options) = executor.commands().remove(0);
    assert_eq!(
        argv.join(" "),
        "docker run --rm -v /w:/workspace:ro -w /workspace --tmpfs /tmp:rw,noexec,nosuid,size=2g app sh -c true"
    );
    assert_eq!(options.work_dir.as_deref(), Some(Path::new("/workspace")));
}

#[tokio::test]
async fn coding_team_completes_states_asks_and_composes() {
    struct Architect;
    impl Answerer for Architect {
        fn answer<'a>(
            &'a self,
            question: &'a Question,
            _: &'a ToolContext,
        ) -> BoxFuture<'a, Result<String, ToolError>> {
            Box::pin(async move { Ok(format!("no ({})", question.urgency)) })
        }
    }
    let program = program("coding-team.yaml");
    let registry = registry(&program);
    let (context, executor) = scripted(vec![
        ExecOutput::new(0, "built\n", ""),
        ExecOutput::new(0, "tested\n", ""),
        ExecOutput::new(2, "", "no rule"),
    ]);
    let toolbox = Toolbox::builder(&registry)
        .context(context.with_work_dir(std::env::temp_dir()))
        .answerer(Architect)
        .build()
        .unwrap();
    for (name, state) in
        [("submit_plan", "PLAN_REVIEW"), ("mark_story_complete", "DONE"), ("done", "PREPARE_MERGE")]
    {
        let arguments = match name {
            "submit_plan" => json!({"plan": "p"}),
            "done" => json!({}),
            _ => json!({"reason": "it is there"}),
        };
        let ended = call(&toolbox, name, arguments.clone()).await;
        assert_eq!(ended.control(), Control::complete(state, arguments), "{name}: {}", ended.text());
    }
    let response = call(&toolbox, "ask_question", json!({"question": "May I?"})).await;
    assert_eq!(response.text(), "Question: May I?\nAnswer: no (medium)");

    let both = call(&toolbox, "build_and_test", json!({})).await;
    assert_eq!(
        serde_json::from_str::<Value>(&both.text()).unwrap(),
        json!({"build": "built\n", "test": "tested\n"})
    );
    let failed = call(&toolbox, "build_and_test", json!({"cwd": "."})).await;
    assert!(
        failed.is_error() && failed.text().contains("build") && failed.text().contains("no rule"),
        "{}",
        failed.text()
    );
    assert_eq!(executor.commands().len(), 3, "a step after one that failed does not run");
}

#[tokio::test]
async fn planning_agents_enforce_declared_requirements() {
    let program = program("orchestration.yaml");
    let registry = registry(&program);
    let toolbox = Toolbox::builder(&registry)
        .dependencies(Dependencies::new().entity("plan", |id, _| {
            let found = id == "known";
            Box::pin(async move { Ok(found) })
        }))
        .build()
        .unwrap();

    let lacking = call(&toolbox, "plan_archive", json!({"plan_slug": "unknown"})).await;
    assert!(lacking.is_error());
    for message in ["Workspace context required", "Plan must exist"] {
        assert!(lacking.text().contains(message), "{}", lacking.text());
    }
    let lacking = call(&toolbox, "session_log", json!({"message": "m"})).await;
    assert!(
        lacking.text().contains("Active session required. Call session_start first."),
        "{}",
        lacking.text()
    );

    let session = Session::new("s");
    session.set("session_id", "s");
    let values = ContextValues::default().with_trusted("workspace_id", "w");
    let turn = turn().with_values(values).with_session(session);
    for tool in program.all_tools() {
        let name = tool.spec.name.as_str();
        let response = toolbox.run(ToolCall::new("1", name, least(name)), &turn).await;
        assert!(!response.is_error(), "{name}: {}", response.text());
    }
}

/// Returns the minimal arguments of a tool.
fn least(tool: &str) -> Value {
    let slug = "known";
    match tool {
        "plan_create" => json!({"title": "t"}),
        "plan_list" | "template_list" | "content_status" | "content_brief_list" => json!({}),
        "plan_update_status" => json!({"plan_slug": slug, "status": "active"}),
        "phase_get" => json!({"plan_slug": slug, "phase": "1"}),
        "phase_update_status" => json!({"plan_slug": slug, "phase": "1", "status": "blocked"}),
        "phase_add_checkpoint" => json!({"plan_slug": slug, "phase": "1", "note": "n"}),
        "session_start" => json!({"agent_type": "a"}),
        "session_log" => json!({"message": "m"}),
        "session_artifact" => json!({"path": "p", "action": "created"}),
        "session_handoff" => json!({"summary": "s"}),
        "session_end" => json!({"status": "completed"}),
        "session_continue" => json!({"previous_session_id": "s", "agent_type": "a"}),
        "session_resume" | "session_replay" => json!({"session_id": "s"}),
        "state_get" => json!({"plan_slug": slug, "key": "k"}),
        "state_set" => json!({"plan_slug": slug, "key": "k", "value": null}),
        "task_update" => json!({"plan_slug": slug, "phase": "1", "task_index": 0, "status": "pending"}),
        "task_toggle" => json!({"plan_slug": slug, "phase": "1", "task_index": 0}),
        "template_preview" | "template_create_plan" => json!({"template": "t"}),
        "content_brief_create" => json!({"title": "t", "content_type": "blog_post"}),
        "content_brief_get" | "content_generate" => json!({"brief_id": 1}),
        _ => json!({"plan_slug": slug}),
    }
}

#[tokio::test]
async fn model_commands_run() {
    let dir = Folder::new(&[]);
    let program = program("programs.yaml");
    let registry = registry(&program);
    let context = ToolboxContext::new().with_executor(Arc::new(LocalExecutor::new())).with_work_dir(&*dir);
    let toolbox = registry.toolbox(context);
    let file = dir.join("a.txt").display().to_string();
    let location = dir.display().to_string();

    let written =
        call(&toolbox, "Replace", json!({"file_path": file, "content": "one\ntwo; $(id)\nthree\n"})).await;
    assert!(!written.is_error(), "{}", written.text());
    assert_eq!(fs::read_to_string(&file).unwrap(), "one\ntwo; $(id)\nthree\n");
    let viewed = call(&toolbox, "View", json!({"file_path": file, "offset": 2, "limit": 1})).await;
    assert_eq!(viewed.text().trim_end(), "two; $(id)");
    let found = call(&toolbox, "GrepTool", json!({"pattern": "-|; ", "path": location})).await;
    assert!(found.text().contains("a.txt:2:two"), "{}", found.text());
    let none = call(&toolbox, "GrepTool", json!({"pattern": "four", "path": location})).await;
    assert!(!none.is_error() && none.text().contains("No matches found."), "{}", none.text());
    let globbed = call(&toolbox, "GlobTool", json!({"pattern": "*.txt", "path": location})).await;
    assert!(globbed.text().contains("a.txt"), "{}", globbed.text());
    let listed = call(&toolbox, "LS", json!({"path": location})).await;
    assert!(listed.text().contains("a.txt"), "{}", listed.text());
    let ran = call(&toolbox, "Bash", json!({"command": "echo \"$((2 + 3))\""})).await;
    assert_eq!(ran.text().trim_end(), "5");
    let ended = call(&toolbox, "Bash", json!({"command": "echo out; exit 3"})).await;
    assert_eq!(ended.text(), "exit code 3\nstdout:\nout");
    assert!(!ended.is_error(), "a code is a result");
    let late = call(&toolbox, "Bash", json!({"command": "sleep 60", "timeout": 50})).await;
    assert_eq!(late.text(), "exit code 124");
    let longer = call(&toolbox, "Bash", json!({"command": "true", "timeout": 600_001})).await;
    assert!(longer.is_error(), "{}", longer.text());
    let agent = call(&toolbox, "dispatch_agent", json!({"task": "look"})).await;
    assert_eq!(agent.text(), "look: GlobTool GrepTool LS View");

    // The first command checks that the program exists.
    let (context, executor) = scripted(vec![ExecOutput::default(), ExecOutput::new(0, r#"[{"n":1}]"#, "")]);
    let response =
        call(&registry.toolbox(context), "duckdb", json!({"query": "-- all\nSELECT 1 AS n"})).await;
    assert_eq!(response.text(), "[{\"n\":1}]");
    assert_eq!(executor.commands()[1].0, ["duckdb", "-json", "-c", "-- all\nSELECT 1 AS n"]);
}

#[test]
fn image_generation_is_one_request() {
    let program = program("programs.yaml");
    let tools = program.all_tools();
    let imagen = tools.iter().find(|tool| tool.spec.name.as_str() == "imagen").unwrap();
    let plan = imagen.call.http().unwrap();
    let (request, missing) = HttpEngine::builder()
        .build()
        .unwrap()
        .request(plan, &json!({"prompt": "a cat", "count": 2}))
        .unwrap();
    assert_eq!(request.method, "POST");
    let body: Value = serde_json::from_slice(request.body.as_bytes()).unwrap();
    assert_eq!(body, json!({"instances": [{"prompt": "a cat"}], "parameters": {"sampleCount": 2}}));
    assert_eq!(missing.len(), 1, "the key is not an argument");
}
