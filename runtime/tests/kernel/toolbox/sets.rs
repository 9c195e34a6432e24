//! Named sets of tools: the five sets of a system of agents that plan, code and review.

use std::path::PathBuf;

use toolgen_runtime::Frozen;
use toolgen_runtime::engine::dynamic::DynamicTool;
use toolgen_runtime::engine::executor::{ExecOptions, Executor, GuardedExecutor, ScriptedExecutor};
use toolgen_runtime::registry::toolsets::{ContextSpec, check_all};
use toolgen_runtime::spec::Files;

use super::{names, said, tool, tools, with_effects};
use crate::prelude::*;

macro_rules! set {
    ($name:literal, $overlay:expr, $($member:ident)*) => {
        Toolset {
            name: Text::Static($name),
            members: List::Static(&[$(Text::Static(stringify!($member))),*]),
            overlay: $overlay,
            ..Toolset::EMPTY
        }
    };
}

static SETS: [Toolset; 5] = [
    set!("app_planning", EffectLimits::PLANNING, shell submit_plan ask_question mark_story_complete chat_post chat_read),
    set!("devops_planning", EffectLimits::PLANNING, shell submit_plan ask_question mark_story_complete container_test
        container_list chat_post chat_read),
    set!("app_coding", EffectLimits::ANY, shell build test lint ask_question done chat_post chat_read todos_add
        todo_complete todo_update),
    set!("devops_coding", EffectLimits::ANY, shell ask_question done container_build container_update container_test
        container_list container_switch chat_post chat_read todos_add todo_complete todo_update),
    set!("architect_read", EffectLimits::PLANNING, read_file list_files get_diff submit_reply submit_stories),
];

/// A tool that runs a program in the executor of its context.
struct Program {
    spec: ToolSpec,
    executor: GuardedExecutor,
    work_dir: PathBuf,
}

impl AgentTool for Program {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute<'a>(
        &'a self,
        _params: Value,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async {
            let options = ExecOptions::default().work_dir(self.work_dir.clone());
            let output = self.executor.run(&[self.name().to_owned()], &options, ctx.cancel()).await;
            output
                .map(|output| ToolResult::text(output.stdout))
                .map_err(|error| ToolError::failed(error.to_string()))
        })
    }
}

fn program(name: &str) -> ToolFactory {
    let spec = with_effects(name, Effects::UNDECLARED);
    let built = spec.clone();
    let factory = ToolFactory::new(spec, move |ctx: &ToolboxContext| {
        let name = built.name.as_str();
        let executor =
            ctx.service::<dyn Executor>().ok_or_else(|| FactoryError::requires(name, "an executor"))?;
        let executor = GuardedExecutor::new(executor).restricted_to(&ctx.limits);
        let work_dir = ctx.work_dir.clone();
        let work_dir =
            work_dir.ok_or_else(|| FactoryError::new(format!("WorkDir is required for {name} tool")))?;
        Ok(Program { spec: built.clone(), executor, work_dir })
    });
    factory.confined()
}

/// Tools that start programs leave everything else to the executor; reading tools only read; the others change only
/// the program's own data.
fn registry() -> Registry {
    let mut members: Vec<&Text> = SETS.iter().flat_map(|set| set.members.iter()).collect();
    members.sort();
    members.dedup();
    assert_eq!(members.len(), 23);
    let tools = members.into_iter().map(|name| -> Arc<dyn AgentTool> {
        match name.as_str() {
            "shell" | "build" | "test" | "lint" => Arc::new(program(name)),
            name if name.starts_with("container_") => Arc::new(program(name)),
            "read_file" | "list_files" | "get_diff" => {
                tool(with_effects(name, Effects { files: Files::Read, ..Effects::NONE }))
            }
            name => tool(with_effects(name, Effects { read_only: false, ..Effects::NONE })),
        }
    });
    let web = with_effects("web_fetch", Effects { network: Network::Any, ..Effects::NONE });
    Registry::new(tools.chain([tool(web)])).unwrap()
}

/// An executor that records its commands, and a context that provides it.
fn context() -> (Arc<ScriptedExecutor>, ToolboxContext) {
    let executor = Arc::new(ScriptedExecutor::default());
    let lent: Arc<dyn Executor> = executor.clone();
    (executor, ToolboxContext::new().with_work_dir("/workspace").with_service(lent))
}

/// How the last command was run: read-only, without a network, and in which directory.
fn asked(executor: &ScriptedExecutor) -> (bool, bool, Option<PathBuf>) {
    let (_, options) = executor.commands().pop().unwrap();
    (options.read_only, options.network_disabled, options.work_dir)
}

fn toolbox_of(set: &Toolset) -> Toolbox {
    Toolbox::builder(&registry()).context(context().1).toolset(set).build().unwrap()
}

#[test]
fn five_toolsets_contain_exactly_their_members() {
    assert_eq!(check_all(&SETS, &registry()), Ok(()));
    let counts: Vec<usize> = SETS.iter().map(|set| set.members.len()).collect();
    assert_eq!(counts, [6, 8, 11, 13, 5]);
    for set in &SETS {
        let mut expected: Vec<String> = set.members.iter().map(ToString::to_string).collect();
        expected.sort();
        assert_eq!(names(&toolbox_of(set)), expected, "{}", set.name);
    }
}

#[tokio::test]
async fn planning_sets_are_read_only_and_the_coding_set_is_not() {
    for set in &SETS[..4] {
        let (executor, context) = context();
        let toolbox = Toolbox::builder(&registry()).context(context).toolset(set).build().unwrap();
        let planning = set.name.contains("planning");
        assert_eq!(said(&toolbox, "shell").await, "", "{}", set.name);
        assert_eq!(asked(&executor), (planning, planning, Some("/workspace".into())), "{}", set.name);
        assert_eq!(said(&toolbox, "chat_post").await, "chat_post ran");
        assert_eq!(said(&toolbox, "web_fetch").await, "tool 'web_fetch' not allowed in this context");
    }
    // A member with excessive effects is still refused.
    let set = Toolset::new("reading", ["web_fetch"]).with_overlay(EffectLimits::PLANNING);
    let text = said(&toolbox_of(&set), "web_fetch").await;
    assert!(text.starts_with("Permission denied: tool 'web_fetch' may do more"), "{text}");
}

#[tokio::test]
async fn toolset_restricts_its_context_and_never_widens_it() {
    let (executor, context) = context();
    let offline = context.clone().with_limits(EffectLimits { network: Network::None, ..EffectLimits::ANY });
    let coding = Toolbox::builder(&registry()).context(offline).toolset(&SETS[2]).build().unwrap();
    assert_eq!(said(&coding, "shell").await, "");
    assert_eq!(asked(&executor), (false, true, Some("/workspace".into())));
    let both = Toolbox::builder(&registry()).context(context).toolset(&SETS[2]).toolset(&SETS[4]);
    let both = both.build().unwrap();
    assert_eq!(names(&both).len(), 16);
    assert_eq!(said(&both, "build").await, "");
    assert_eq!(asked(&executor), (true, true, Some("/workspace".into())));
}

#[tokio::test]
async fn missing_executor_or_directory_is_reported() {
    let bare = Toolbox::builder(&registry()).toolset(&SETS[2]).build().unwrap();
    let text = "failed to create tool 'shell': shell tool requires an executor";
    assert_eq!(said(&bare, "shell").await, text);
    let lent: Arc<dyn Executor> = Arc::new(ScriptedExecutor::default());
    let nowhere = ToolboxContext::new().with_service(lent);
    let nowhere = Toolbox::builder(&registry()).context(nowhere).toolset(&SETS[2]).build().unwrap();
    assert_eq!(
        said(&nowhere, "lint").await,
        "failed to create tool 'lint': WorkDir is required for lint tool"
    );
}

#[test]
fn unknown_and_duplicate_members_are_reported_together() {
    let small = Registry::new(tools(&["shell", "done"])).unwrap();
    let bad = Toolset::new("a", ["sehll", "done", "nothing", "done", "sehll", "done"]);
    let worse = Toolset::new("b", ["Done"]);
    let expected = "\
toolset 'a': tool 'sehll' not registered; did you mean 'shell'?
toolset 'a': tool 'nothing' not registered
toolset 'a': tool 'done' is listed twice
toolset 'a': tool 'sehll' is listed twice
toolset 'b': tool 'Done' not registered; did you mean 'done'?";
    assert_eq!(check_all([&bad, &worse], &small).unwrap_err().to_string(), expected);
    let refused = Toolbox::builder(&small).toolset(&bad).toolset(&worse).build().unwrap_err();
    assert_eq!(refused.to_string(), expected);
}

#[tokio::test]
async fn context_spec_sets_work_dir_and_required_scopes() {
    static PLANNING: ContextSpec = ContextSpec {
        name: Text::Static("planning"),
        limits: EffectLimits::PLANNING,
        work_dir: Text::Static("plans"),
        scopes: Some(List::Static(&[Text::Static("read")])),
        timeout: Some(Duration::from_millis(20)),
    };
    static SET: Toolset = Toolset {
        name: Text::Static("planning"),
        members: List::Static(&[Text::Static("shell"), Text::Static("look"), Text::Static("slow")]),
        context: Some(Frozen::Static(&PLANNING)),
        ..Toolset::EMPTY
    };
    let look = ToolSpec { scopes: vec!["read".into()].into(), ..with_effects("look", Effects::NONE) };
    let slow = ToolSpec { scopes: vec!["read".into()].into(), ..with_effects("slow", Effects::NONE) };
    // It takes longer than any caller waits.
    let slow = DynamicTool::new(slow, |_, _| std::future::pending::<Result<ToolResult, ToolError>>());
    let tools = registry().extend([tool(look), Arc::new(slow) as Arc<dyn AgentTool>]).unwrap();
    let (executor, context) = context();
    let toolbox = Toolbox::builder(&tools).context(context.clone()).toolset(&SET).build().unwrap();
    // A tool that starts programs needs more than `read`.
    assert_eq!(names(&toolbox), ["look", "slow"]);
    assert_eq!(said(&toolbox, "shell").await, "tool 'shell' not allowed in this context");
    assert_eq!(said(&toolbox, "look").await, "look ran");
    assert_eq!(said(&toolbox, "slow").await, "Tool exceeded timeout of 20ms");

    let any_scope = ContextSpec { scopes: None, ..PLANNING.clone() };
    let toolbox = Toolbox::builder(&tools).context(context).context_spec(&any_scope).build().unwrap();
    assert_eq!(said(&toolbox, "shell").await, "");
    assert_eq!(asked(&executor), (true, true, Some("/workspace/plans".into())));
    let wrong = Toolbox::builder(&tools).allow(["lok"]).context_spec(&PLANNING).build().unwrap_err();
    assert_eq!(wrong.to_string(), "tool 'lok' not registered; did you mean 'look'?");
}
