//! Tests of tools that are programs.

use toolgen_runtime::engine::command::CommandEngine;
use toolgen_runtime::spec::plan::CommandOutput;
use toolgen_runtime::spec::template::Condition;
use toolgen_runtime::spec::{Files, Timeout};

use crate::engines::{answer, command, one, reference, spec, text, toolbox_in};
use crate::prelude::*;

pub(crate) async fn run(arguments: &[&str], plan: CommandPlan, given: Value) -> ToolResponse {
    answer(spec("run", arguments), ExecutionPlan::Command(plan), given, ToolboxContext::new()).await
}

pub(crate) async fn refused(arguments: &[&str], plan: CommandPlan, given: Value) -> String {
    run(arguments, plan, given).await.outcome.unwrap_err().to_string()
}

/// Prints each argument in brackets.
fn show(rest: &[ArgvTemplate]) -> CommandPlan {
    let argv = [one("printf"), one("[%s]")].into_iter().chain(rest.iter().cloned());
    CommandPlan { argv: argv.collect(), ..CommandPlan::EMPTY }
}

fn list(argument: &str) -> ArgvTemplate {
    ArgvTemplate::Each { list: text(argument), allow_leading_dash: false }
}

fn group(condition: Option<Condition>, words: Vec<ArgvTemplate>) -> ArgvTemplate {
    ArgvTemplate::Group { condition, words: words.into() }
}

#[tokio::test]
async fn each_value_is_one_command_argument() {
    let words = [
        one("--"),
        one("{a}"),
        one("x={b.c}"),
        list("{many}"),
        group(None, vec![one("-o"), one("{out?}")]),
        group(Some(Condition::True(reference("deep?"))), vec![one("-R"), group(None, vec![list("{none?}")])]),
        one("{alone?}"),
    ];
    let arguments = ["a", "b", "many", "out?", "deep?", "none?", "alone?"];
    let given = json!({"a": "$(id) `id` \"'\n; x", "b": {"c": 5}, "many": ["", "-r", "*"]});
    let response = run(&arguments, show(&words), given).await;
    assert_eq!(response.text(), "[--][$(id) `id` \"'\n; x][x=5][][-r][*]");
    let given = json!({"a": 1, "b": {"c": {"d": [true]}}, "many": [], "out": "f", "deep": true, "none": [], "alone": ""});
    let response = run(&arguments, show(&words), given).await;
    assert_eq!(response.text(), "[--][1][x={\"d\":[true]}][-o][f][-R][]");
}

#[tokio::test]
async fn value_like_an_option_is_rejected_unless_allowed() {
    let text = "Invalid arguments: /x: must not begin with `-`, because `printf` would parse it as an option; a file of such \
                a name is `./-…`";
    for word in [one("{x}"), one("{x}.txt"), one("{y?}{x}"), list("{x}"), group(None, vec![one("{x}")])] {
        for value in [json!("-rf"), json!("--help"), json!("-")] {
            let given =
                if matches!(word, ArgvTemplate::Each { .. }) { json!(["a", value]) } else { value.clone() };
            assert_eq!(
                refused(&["x", "y?"], show(std::slice::from_ref(&word)), json!({"x": given, "y": ""})).await,
                text
            );
        }
    }
    // A number is not a file name.
    let number = text.split(';').next().unwrap();
    assert_eq!(refused(&["x"], show(&[one("{x}")]), json!({"x": -5})).await, number);
    // A value `--` does not end the options.
    assert_eq!(
        refused(&["y", "x"], show(&[one("{y}"), one("{x}")]), json!({"y": "a", "x": "--"})).await,
        text
    );
    let free = [
        ArgvTemplate::One { text: crate::engines::text("{x}"), allow_leading_dash: true },
        one("a{x}"),
        one("--"),
        one("{x}"),
        list("{l}"),
    ];
    let response = run(&["x", "l"], show(&free), json!({"x": "-5", "l": ["-6"]})).await;
    assert_eq!(response.text(), "[-5][a-5][--][-5][-6]");
}

#[tokio::test]
async fn nul_characters_are_rejected() {
    let nul =
        "Invalid arguments: /x: must not contain the character U+0000, which cannot be passed to a program";
    let env = |value: &str| CommandPlan { env: vec![("X".into(), text(value))].into(), ..show(&[]) };
    for plan in [show(&[one("a{x}")]), show(&[list("{x}")]), env("{x}")] {
        let list = matches!(plan.argv.last(), Some(ArgvTemplate::Each { .. }));
        let given = if list { json!(["a", "b\0c"]) } else { json!("b\0c") };
        assert_eq!(refused(&["x"], plan, json!({ "x": given })).await, nul);
    }
    let plan = show(&[one("{x.y}")]);
    let error = run(&["x"], plan, json!({"x": {"z": 1}})).await.outcome.unwrap_err();
    assert_eq!(error.to_string(), "Invalid arguments: /x/y: there is no value, and the call needs one");
    assert_eq!(error.code(), "MISSING_PARAMETER");
}

#[tokio::test]
async fn script_gets_values_as_variables_and_positions_only() {
    let plan = CommandPlan {
        script: "printf '%s|%s|%s|%s' \"$0\" \"$1\" \"$X\" \"${Y-unset}\"; cat".into(),
        argv: vec![one("{a}")].into(),
        env: vec![("X".into(), text("<{a}>")), ("Y".into(), text("{y?}"))].into(),
        stdin: Stdin::Text(text("in {a}")),
        ..CommandPlan::EMPTY
    };
    let response = run(&["a", "y?"], plan, json!({"a": "$(id)\"; id"})).await;
    assert_eq!(response.text(), "sh|$(id)\"; id|<$(id)\"; id>|unsetin $(id)\"; id");
}

#[tokio::test]
async fn command_reads_arguments_with_defaults() {
    let mut spec = spec("run", &[]);
    let schema = json!({"type": "object", "properties": {
        "n": {"type": "integer", "default": 7}, "s": {"type": "string"}}});
    let read =
        toolgen_runtime::engine::dynamic::DynamicTool::builder("x", "x").schema(&schema).spec().unwrap();
    spec.input = read.input;
    let plan = CommandPlan { stdin: Stdin::Arguments, output: CommandOutput::Json, ..command(&["cat"]) };
    let response = answer(spec, ExecutionPlan::Command(plan), json!({"s": "x"}), ToolboxContext::new()).await;
    assert_eq!(response.outcome.unwrap().details, json!({"n": 7, "s": "x"}));
}

#[tokio::test]
async fn variables_are_inherited_by_name() {
    let script = CommandPlan { script: "printf %s \"${CARGO_PKG_NAME-none}\"".into(), ..CommandPlan::EMPTY };
    assert_eq!(run(&[], script.clone(), json!({})).await.text(), "none");
    let plan =
        CommandPlan { inherit: vec!["CARGO_PKG_NAME".into(), "NO_SUCH_VARIABLE".into()].into(), ..script };
    assert_eq!(run(&[], plan.clone(), json!({})).await.text(), "toolgen-runtime");
    let plan = CommandPlan { env: vec![("CARGO_PKG_NAME".into(), text("own"))].into(), ..plan };
    assert_eq!(run(&[], plan, json!({})).await.text(), "own");
}

#[tokio::test]
async fn inherited_credentials_are_never_shown() {
    const TOKEN: &str = "t0p-s3cr3t-t0ken";
    if std::env::var_os("TOOLGEN_TEST_TOKEN").is_none() {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "engines::command::inherited_credentials_are_never_shown"])
            .env("TOOLGEN_TEST_TOKEN", TOKEN)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    for (script, output, message) in [
        ("echo \"to $TOOLGEN_TEST_TOKEN\"", CommandOutput::Text, "to [REDACTED]\n"),
        ("echo \"[\\\"$TOOLGEN_TEST_TOKEN\\\"]\"", CommandOutput::Json, "[\"[REDACTED]\"]"),
        ("echo $TOOLGEN_TEST_TOKEN >&2; exit 3", CommandOutput::Text, "exit code 3\nstderr:\n[REDACTED]"),
        ("echo \"no: $TOOLGEN_TEST_TOKEN\"", CommandOutput::Json, ""),
        (
            "echo \"{\\\"error\\\": \\\"$TOOLGEN_TEST_TOKEN\\\", \\\"code\\\": \\\"$TOOLGEN_TEST_TOKEN\\\"}\"",
            CommandOutput::Envelope,
            "",
        ),
    ] {
        let updates = Arc::new(Mutex::new(String::new()));
        let received = Arc::clone(&updates);
        let turn = Turn::new("turn")
            .with_on_update(move |result| received.lock().unwrap().push_str(&result.to_text()));
        let inherit = vec!["TOOLGEN_TEST_TOKEN".into()].into();
        let plan = CommandPlan { script: script.into(), output, inherit, stream: true, ..CommandPlan::EMPTY };
        let tools = Engines::new()
            .tools_from([Tool { spec: spec("run", &[]), call: ExecutionPlan::Command(plan) }])
            .unwrap();
        let call = ToolCall::new("1", "run", json!({}));
        let response = toolbox_in(tools, ToolboxContext::new()).run(call, &turn).await;
        if !message.is_empty() {
            assert_eq!(response.text(), message);
        }
        let all = format!("{:?} {:?} {}", response.outcome, response.to_json(), updates.lock().unwrap());
        assert!(!all.contains(TOKEN), "{all}");
    }
}

#[tokio::test]
async fn work_dir_stays_inside_the_one_of_the_context() {
    let root = std::env::temp_dir().join(format!("toolgen-engines-{}", std::process::id()));
    fs::create_dir_all(root.join("in")).unwrap();
    let root = root.canonicalize().unwrap();
    let link = root.join("out");
    if !link.exists() {
        std::os::unix::fs::symlink("/", &link).unwrap();
    }
    let plan = CommandPlan { work_dir: Some(text("{dir?}")), ..command(&["pwd"]) };
    let ask = async |given: Value, context: ToolboxContext| {
        answer(spec("run", &["dir?"]), ExecutionPlan::Command(plan.clone()), given, context).await
    };
    let context = || ToolboxContext::new().with_work_dir(&root);
    let displayed = |path: &Path| format!("{}\n", path.display());
    assert_eq!(ask(json!({}), context()).await.text(), displayed(&root));
    assert_eq!(ask(json!({"dir": "in"}), context()).await.text(), displayed(&root.join("in")));
    for outside in ["..", "/", "/etc", "out", "out/etc", "in/../..", "a\0b"] {
        let message = ask(json!({ "dir": outside }), context()).await.outcome.unwrap_err();
        assert!(message.to_string().starts_with("Invalid arguments: /dir: "), "{outside}: {message}");
    }
    let message = ask(json!({"dir": "none"}), context()).await.outcome.unwrap_err();
    assert!(message.to_string().starts_with("cannot start 'pwd'"), "{message}");
    let message = ask(json!({"dir": "in"}), ToolboxContext::new()).await.outcome.unwrap_err();
    assert_eq!(message.to_string(), "no workdir is set for this call");
    fs::remove_dir_all(&root).unwrap();
}

#[tokio::test]
async fn missing_program_error_includes_help() {
    let remedy = ". Do not retry: the program is not installed in the tool's environment";
    let error = run(&[], command(&["no-such-program"]), json!({})).await.outcome.unwrap_err();
    assert_eq!(error.to_string(), format!("missing required programs: no-such-program{remedy}"));
    assert_eq!(error.code(), "PROGRAM_MISSING");
    let plan = CommandPlan {
        programs: vec!["sh".into(), "no-such-either".into()].into(),
        ..command(&["echo", "x"])
    };
    assert_eq!(
        refused(&[], plan.clone(), json!({})).await,
        format!("missing required programs: no-such-either{remedy}")
    );
    // The program is searched for once.
    let executor = Arc::new(ScriptedExecutor::default());
    let engine = CommandEngine::new().executor(Arc::clone(&executor));
    let tools = Engines::new()
        .with(engine)
        .tools_from([Tool { spec: spec("run", &[]), call: ExecutionPlan::Command(plan) }]);
    let toolbox = toolbox_in(tools.unwrap(), ToolboxContext::new());
    for _ in 0..3 {
        assert!(!toolbox.run(ToolCall::new("1", "run", json!({})), &Turn::new("turn")).await.is_error());
    }
    let asked: Vec<usize> = executor.commands().iter().map(|(argv, _)| argv.len()).collect();
    assert_eq!(asked, [7, 2, 2, 2]);
}

#[tokio::test]
async fn too_long_arguments_are_not_reported_as_a_missing_program() {
    let message = refused(&["x"], show(&[one("{x}")]), json!({"x": "x".repeat(4 << 20)})).await;
    assert!(message.starts_with("cannot start 'printf'") && !message.contains("installed"), "{message}");
}

/// Returns the options with which a tool of this specification runs.
async fn options(spec: ToolSpec, plan: CommandPlan, context: ToolboxContext, own: bool) -> ExecOptions {
    let executor = Arc::new(ScriptedExecutor::default());
    let (engine, context) = if own {
        (CommandEngine::new().executor(Arc::clone(&executor)), context)
    } else {
        let lent: Arc<dyn Executor> = Arc::clone(&executor) as _;
        (CommandEngine::new(), context.with_executor(lent))
    };
    let tools =
        Engines::new().with(engine).tools_from([Tool { spec, call: ExecutionPlan::Command(plan) }]).unwrap();
    let response =
        toolbox_in(tools, context).run(ToolCall::new("1", "run", json!({})), &Turn::new("turn")).await;
    assert!(!response.is_error(), "{}", response.text());
    executor.commands().remove(0).1
}

#[tokio::test]
async fn command_gets_the_limits_of_its_tool_and_context() {
    for own in [true, false] {
        let plan = || CommandPlan {
            cpus: Some(0.5),
            memory: Some(1 << 20),
            pids: Some(3),
            max_output: 9,
            ..command(&["true"])
        };
        let free = options(spec("run", &[]), plan(), ToolboxContext::new(), own).await;
        assert!(!free.read_only && !free.network_disabled && free.timeout.is_none());
        assert_eq!(
            (free.limits.cpus, free.limits.memory, free.limits.pids, free.max_output),
            (Some(0.5), Some(1 << 20), Some(3), 9)
        );
        let mut careful = spec("run", &[]);
        careful.effects.read_only = true;
        careful.effects.files = Files::Read;
        careful.effects.network = Network::None;
        careful.timeout = Timeout::Millis(700);
        let held = options(careful, plan(), ToolboxContext::new(), own).await;
        assert!(held.read_only && held.network_disabled && held.timeout == Some(Duration::from_millis(700)));
        let planning = ToolboxContext::new().with_limits(EffectLimits::PLANNING).with_work_dir("/srv");
        let held = options(spec("run", &[]), plan(), planning, own).await;
        assert!(held.read_only && held.network_disabled && held.work_dir == Some("/srv".into()));
        let hosts =
            EffectLimits { network: Network::Hosts(vec!["example.com".into()].into()), ..EffectLimits::ANY };
        assert!(
            options(spec("run", &[]), plan(), ToolboxContext::new().with_limits(hosts), own)
                .await
                .network_disabled
        );
    }
}

#[tokio::test]
async fn context_without_processes_refuses_the_tool() {
    let limits = EffectLimits { spawns: false, ..EffectLimits::ANY };
    let context = ToolboxContext::new().with_limits(limits);
    let response =
        answer(spec("run", &[]), ExecutionPlan::Command(command(&["true"])), json!({}), context).await;
    assert_eq!(response.outcome.unwrap_err().code(), "PERMISSION_DENIED");
}

#[tokio::test]
async fn command_ends_with_its_call() {
    let mut spec = spec("run", &[]);
    spec.timeout = Timeout::Millis(100);
    let sleep = ExecutionPlan::Command(command(&["sleep", "60"]));
    let answered = answer(spec.clone(), sleep.clone(), json!({}), ToolboxContext::new()).await;
    assert_eq!(answered.outcome.unwrap_err(), ToolError::Timeout { duration: Duration::from_millis(100) });
    spec.timeout = Timeout::Never;
    let tools = Engines::new().tools_from([Tool { spec, call: sleep }]).unwrap();
    let token = CancellationToken::new();
    let turn = Turn::new("turn").with_cancel(token.clone());
    let toolbox = toolbox_in(tools, ToolboxContext::new());
    let (answered, ()) = tokio::join!(toolbox.run(ToolCall::new("1", "run", json!({})), &turn), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        token.cancel();
    });
    assert_eq!(answered.outcome.unwrap_err(), ToolError::Cancelled);
}

#[tokio::test]
async fn executor_refusal_is_reported() {
    let banned =
        ScriptedExecutor::new([Err(ExecError::Banned { program: "curl".into() }), Ok(ExecOutput::default())]);
    let engine = CommandEngine::new().executor(banned);
    let tools = Engines::new()
        .with(engine)
        .tools_from([Tool { spec: spec("run", &[]), call: ExecutionPlan::Command(command(&["curl"])) }]);
    let toolbox = toolbox_in(tools.unwrap(), ToolboxContext::new());
    let response = toolbox.run(ToolCall::new("1", "run", json!({})), &Turn::new("turn")).await;
    assert_eq!(response.outcome.unwrap_err().code(), "PERMISSION_DENIED");
}
