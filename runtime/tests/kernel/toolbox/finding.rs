//! Tools with which a model finds tools.

use toolgen_runtime::registry::catalogue::{ListTools, SearchTools};

use super::{call_in, said, tool, toolbox, tools, with_effects};
use crate::prelude::*;

#[tokio::test]
async fn model_finds_only_tools_it_may_use() {
    let mut all = tools(&["build", "lint"]);
    all.push(tool(with_effects("build_and_publish", Effects::UNDECLARED)));
    all.extend([Arc::new(ListTools::new()) as _, Arc::new(SearchTools::new()) as _]);
    let allowed = ["build", "build_and_publish", "list_tools", "search_tools"];
    let planning = ToolboxContext::new().with_limits(EffectLimits::PLANNING);
    let limited = toolbox(all.clone()).allow(allowed).context(planning).build().unwrap();
    assert_eq!(said(&limited, "list_tools").await, "## Available Tools\n\n- **build** - Does build.\n");
    let turn = Turn::new("turn");
    let found = |query: &'static str| json!({"query": query});
    let text = call_in(&limited, "search_tools", found("publish"), &turn).await.text();
    assert_eq!(text, "No tool is about 'publish'.");
    let open = toolbox(all).build().unwrap();
    let text = call_in(&open, "search_tools", found("publish"), &turn).await.text();
    assert!(text.starts_with("- **build_and_publish** - "), "{text}");
    // A principal that may only read sees only reading tools.
    let reader = turn.with_principal(Principal::new("p").with_scopes(["read"]));
    let text = call_in(&open, "list_tools", json!({}), &reader).await.text();
    assert_eq!(text, "## Available Tools\n\n- **build** - Does build.\n- **lint** - Does lint.\n");
}
