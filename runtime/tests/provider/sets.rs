//! Named sets of tools: the five of a system of agents that plan, code and review.

use std::sync::Arc;

use toolgen_runtime::policy::Limits;
use toolgen_runtime::provider::ToolFactory;
use toolgen_runtime::spec::{Files, Network};
use toolgen_runtime::toolsets::{Toolset, check_all};
use toolgen_runtime::{AgentTool, Effects, List, Provider, ProviderContext, Registry, Text};

use super::{Counted, names, said, tool, tools, with_effects};

macro_rules! set {
    ($name:literal, $overlay:expr, $($member:ident)*) => {
        Toolset {
            name: Text::Static($name),
            members: List::Static(&[$(Text::Static(stringify!($member))),*]),
            overlay: $overlay,
        }
    };
}

static SETS: [Toolset; 5] = [
    set!("app_planning", Limits::PLANNING, shell submit_plan ask_question mark_story_complete chat_post chat_read),
    set!("devops_planning", Limits::PLANNING, shell submit_plan ask_question mark_story_complete container_test
        container_list chat_post chat_read),
    set!("app_coding", Limits::ANY, shell build test lint ask_question done chat_post chat_read todos_add
        todo_complete todo_update),
    set!("devops_coding", Limits::ANY, shell ask_question done container_build container_update container_test
        container_list container_switch chat_post chat_read todos_add todo_complete todo_update),
    set!("architect_read", Limits::PLANNING, read_file list_files get_diff submit_reply submit_stories),
];

/// Tools that start programs leave everything else to the executor; reading tools read; the others only change what
/// the program itself keeps.
fn registry() -> Registry {
    let mut members: Vec<&Text> = SETS.iter().flat_map(|set| set.members.iter()).collect();
    members.sort();
    members.dedup();
    assert_eq!(members.len(), 23);
    let tools = members.into_iter().map(|name| -> Arc<dyn AgentTool> {
        match name.as_str() {
            name @ ("shell" | "build" | "test" | "lint" | "container_test" | "container_list"
            | "container_build" | "container_update" | "container_switch") => {
                let declared = with_effects(name, Effects::UNDECLARED);
                let built = declared.clone();
                Arc::new(
                    ToolFactory::new(declared, move |ctx: &ProviderContext| {
                        let Limits { network, files, .. } = &ctx.limits;
                        let answer = format!("network {network:?}, files {files:?}");
                        Ok(Counted { spec: built.clone(), calls: Arc::default(), answer })
                    })
                    .confined(),
                )
            }
            name @ ("read_file" | "list_files" | "get_diff") => {
                tool(with_effects(name, Effects { files: Files::Read, ..Effects::NONE }))
            }
            name => tool(with_effects(name, Effects { read_only: false, ..Effects::NONE })),
        }
    });
    let web = with_effects("web_fetch", Effects { network: Network::Any, ..Effects::NONE });
    Registry::new(tools.chain([tool(web)])).unwrap()
}

fn provider_of(set: &Toolset) -> Provider {
    let context = ProviderContext::new().with_work_dir("/workspace");
    Provider::builder(&registry()).context(context).toolset(set).build().unwrap()
}

#[test]
fn the_five_sets_offer_exactly_their_members() {
    assert_eq!(check_all(&SETS, &registry()), Ok(()));
    let counts: Vec<usize> = SETS.iter().map(|set| set.members.len()).collect();
    assert_eq!(counts, [6, 8, 11, 13, 5]);
    for set in &SETS {
        let mut expected: Vec<String> = set.members.iter().map(ToString::to_string).collect();
        expected.sort();
        assert_eq!(names(&provider_of(set)), expected, "{}", set.name);
    }
}

#[tokio::test]
async fn who_plans_only_reads_and_has_no_network_and_who_codes_has_both() {
    for set in &SETS[..4] {
        let planning = set.name.contains("planning");
        let provider = provider_of(set);
        let expected = if planning { "network None, files Read" } else { "network Any, files Write" };
        assert_eq!(said(&provider, "shell").await, expected, "{}", set.name);
        assert_eq!(said(&provider, "chat_post").await, "chat_post ran");
        assert_eq!(said(&provider, "web_fetch").await, "tool 'web_fetch' not allowed in this context");
        assert_eq!(provider.context().work_dir.as_deref(), Some(std::path::Path::new("/workspace")));
    }
    // A member that goes too far is refused all the same.
    let set = Toolset::new("reading", ["web_fetch"]).with_overlay(Limits::PLANNING);
    let text = said(&provider_of(&set), "web_fetch").await;
    assert!(text.starts_with("Permission denied: tool 'web_fetch' may do more"), "{text}");
}

#[tokio::test]
async fn a_set_narrows_its_context_and_never_widens_it() {
    let offline = ProviderContext::new().with_limits(Limits { network: Network::None, ..Limits::ANY });
    let coding = Provider::builder(&registry()).context(offline).toolset(&SETS[2]).build().unwrap();
    assert_eq!(said(&coding, "shell").await, "network None, files Write");
    let both = Provider::builder(&registry()).toolset(&SETS[2]).toolset(&SETS[4]).build().unwrap();
    assert_eq!(names(&both).len(), 16);
    assert_eq!(said(&both, "build").await, "network None, files Read");
}

#[test]
fn members_that_are_unknown_or_twice_there_are_told_together() {
    let small = Registry::new(tools(&["shell", "done"])).unwrap();
    let bad = Toolset::new("a", ["sehll", "done", "nothing", "done", "sehll", "done"]);
    let worse = Toolset::new("b", ["Done"]);
    let expected = "\
toolset 'a': tool 'sehll' not registered
toolset 'a': tool 'nothing' not registered
toolset 'a': tool 'done' is listed twice
toolset 'a': tool 'sehll' is listed twice
toolset 'b': tool 'Done' not registered";
    assert_eq!(check_all([&bad, &worse], &small).unwrap_err().to_string(), expected);
    let refused = Provider::builder(&small).toolset(&bad).toolset(&worse).build().unwrap_err();
    assert_eq!(refused.to_string(), expected);
}
