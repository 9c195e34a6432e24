//! Which tools exist, and when they are built.

use std::sync::Barrier;

use toolgen_runtime::toolbox::ToolboxError;

use super::{Count, Counted, factory, names, said, spec, tool, toolbox, tools};
use crate::prelude::*;

#[test]
fn allow_list_filters_and_sorts() {
    let all = || tools(&["shell", "build", "test", "lint"]);
    assert_eq!(names(&toolbox(all()).build().unwrap()), ["build", "lint", "shell", "test"]);
    let some = toolbox(all()).allow(["test"]).allow(["build", "test"]).build().unwrap();
    assert_eq!(names(&some), ["build", "test"]);
    assert_eq!(some.specs().map(|spec| spec.name.as_str()).collect::<Vec<_>>(), ["build", "test"]);
    let none = toolbox(all()).allow([""; 0]).build().unwrap();
    assert!(names(&none).is_empty());
    assert_eq!(some.list()[0].to_json()["description"], "Does build.");
}

#[test]
fn toolbox_error_messages_are_stable() {
    let broken = ToolFactory::new(spec("broken"), |_: &ToolboxContext| -> Result<Counted, FactoryError> {
        Err(FactoryError::requires("broken", "an executor"))
    });
    let mut all = tools(&["shell", "build"]);
    all.push(Arc::new(broken));
    let toolbox = toolbox(all).allow(["shell", "broken"]).build().unwrap();
    let text =
        |name: &str| toolbox.get(name).map(|tool| tool.name().to_owned()).map_err(|error| error.to_string());
    assert_eq!(text("shell").unwrap(), "shell");
    assert_eq!(text("build").unwrap_err(), "tool 'build' not allowed in this context");
    assert_eq!(text("deploy").unwrap_err(), "tool 'deploy' not registered");
    assert_eq!(
        text("broken").unwrap_err(),
        "failed to create tool 'broken': broken tool requires an executor"
    );
}

#[tokio::test]
async fn tool_is_built_once_on_first_use() {
    let (used, used_made) = factory(spec("used"));
    let (idle, idle_made) = factory(spec("idle"));
    let registry = Registry::new([Arc::new(used) as Arc<dyn AgentTool>, Arc::new(idle)]).unwrap();
    let toolbox = registry.toolbox(ToolboxContext::new());
    // Listing and describing tools does not build them.
    assert_eq!(toolbox.list().len(), 2);
    assert!(toolbox.generate_tool_documentation().contains("used"));
    assert!(toolbox.generate_detailed_documentation().contains("idle"));
    assert_eq!((used_made.get(), idle_made.get()), (0, 0));
    let first = toolbox.get("used").unwrap();
    assert!(Arc::ptr_eq(&first, &toolbox.clone().get("used").unwrap()));
    assert_eq!(said(&toolbox, "used").await, "built");
    assert_eq!((used_made.get(), idle_made.get()), (1, 0));
    // Another toolbox has separate instances.
    let other = registry.toolbox(ToolboxContext::new());
    assert!(!Arc::ptr_eq(&first, &other.get("used").unwrap()));
    assert_eq!(used_made.get(), 2);
}

#[test]
fn concurrent_first_uses_build_one_tool() {
    let (used, made) = factory(spec("used"));
    let toolbox = toolbox(vec![Arc::new(used)]).build().unwrap();
    let start = Arc::new(Barrier::new(16));
    let threads: Vec<_> = (0..16)
        .map(|_| {
            let (toolbox, start) = (toolbox.clone(), Arc::clone(&start));
            std::thread::spawn(move || {
                start.wait();
                toolbox.get("used").unwrap()
            })
        })
        .collect();
    let tools: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert!(tools.windows(2).all(|pair| Arc::ptr_eq(&pair[0], &pair[1])));
    assert_eq!(made.get(), 1);
}

#[tokio::test]
async fn failed_tool_construction_is_reported_and_retried() {
    let tries = Count::default();
    let count = tries.clone();
    let flaky = ToolFactory::new(spec("flaky"), move |_: &ToolboxContext| {
        count.up();
        match count.get() {
            1 => panic!("a factory may panic"),
            2 => Err(FactoryError::new("WorkDir is required for flaky tool")),
            _ => Ok(Counted { spec: spec("flaky"), calls: Arc::default(), answer: String::from("built") }),
        }
    });
    let toolbox = toolbox(vec![Arc::new(flaky)]).build().unwrap();
    assert_eq!(said(&toolbox, "flaky").await, "tool panicked");
    let reason = "failed to create tool 'flaky': WorkDir is required for flaky tool";
    assert_eq!(said(&toolbox, "flaky").await, reason);
    assert_eq!(said(&toolbox, "flaky").await, "built");
    assert_eq!((said(&toolbox, "flaky").await.as_str(), tries.get()), ("built", 3));
}

#[test]
fn another_context_builds_another_tool() {
    let places = ToolFactory::new(spec("place"), |ctx: &ToolboxContext| {
        let path =
            ctx.work_dir.clone().ok_or_else(|| FactoryError::new("WorkDir is required for place tool"))?;
        Ok(Counted { spec: spec("place"), calls: Arc::default(), answer: path.display().to_string() })
    });
    let registry = Registry::builder().add(places).seal().unwrap();
    for location in ["/workspace", "/mnt/coders/a"] {
        let toolbox = registry.toolbox(ToolboxContext::new().with_work_dir(location));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        assert_eq!(runtime.block_on(said(&toolbox, "place")), location);
    }
    let nowhere = registry.toolbox(ToolboxContext::new()).get("place").err().unwrap();
    assert_eq!(nowhere.to_string(), "failed to create tool 'place': WorkDir is required for place tool");
}

#[test]
fn unknown_names_in_an_allow_list_are_reported_together() {
    let refused = toolbox(tools(&["a", "b"])).allow(["z", "a", "y", "z"]).build().unwrap_err();
    assert_eq!(refused.to_string(), "tool 'y' not registered\ntool 'z' not registered");
    let pattern = toolbox(tools(&["a"])).allow(["list_*"]).build().unwrap_err();
    assert_eq!(
        pattern.to_string(),
        "tool 'list_*' not registered: a list of allowed tools takes exact names; for patterns, use rules \
         (`PolicyRules::builder().include([\"list_*\"])`)"
    );
    let ToolboxError::UnknownTools(unknown) = refused else { panic!("it is about names") };
    assert_eq!(unknown.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["y", "z"]);
    let misspelled = toolbox(tools(&["pay", "look"])).allow(["pya", "look"]).build().unwrap_err();
    assert_eq!(misspelled.to_string(), "tool 'pya' not registered; did you mean 'pay'?");
}

#[tokio::test]
async fn later_tools_appear_in_a_new_snapshot_only() {
    let registry = Registry::new(tools(&["a"])).unwrap();
    let before = registry.toolbox(ToolboxContext::new());
    let more = registry.extend([tool(spec("b"))]).unwrap();
    let after = more.toolbox(ToolboxContext::new());
    assert_eq!((names(&before), names(&after)), (vec!["a".to_owned()], vec!["a".into(), "b".into()]));
    assert_eq!(said(&before, "b").await, "Tool not found: b");
    assert_eq!(said(&after, "b").await, "b ran");
    let message = more.extend([tool(spec("a"))]).unwrap_err().to_string();
    assert!(message.starts_with("Tool [a] is already registered."), "{message}");
}

#[tokio::test]
async fn forbidden_tools_can_be_hidden() {
    let (hidden, open): (Toolbox, Toolbox) = {
        let builder = || toolbox(tools(&["deploy", "deploy_all", "shell"])).allow(["shell"]);
        (builder().hide_forbidden().build().unwrap(), builder().build().unwrap())
    };
    // Neither the message nor the code nor a suggestion distinguishes the two.
    for name in ["deploy", "deplo", "nothing"] {
        let text = format!("tool '{name}' not allowed in this context");
        assert_eq!(hidden.get(name).err().unwrap().to_string(), text);
        let call = ToolCall::new("c", name, serde_json::json!({}));
        let response = hidden.run(call, &Turn::new("t")).await;
        let expected = serde_json::json!({"error": text, "code": "PERMISSION_DENIED"});
        assert_eq!(response.outcome.unwrap_err().to_json(), expected);
    }
    assert_eq!(said(&open, "deploy").await, "tool 'deploy' not allowed in this context");
    assert_eq!(said(&open, "nothing").await, "Tool not found: nothing");
    // Even if nothing is hidden, no forbidden tool is suggested.
    let call = ToolCall::new("c", "deplo", serde_json::json!({}));
    let response = open.run(call, &Turn::new("t")).await;
    assert_eq!(response.outcome.unwrap_err().to_json().get("suggestion"), None);
}
