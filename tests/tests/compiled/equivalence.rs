//! The oracle of the compiler: for every document, a tool compiled by rustc equals the value that it was emitted from.

use std::collections::BTreeSet;

use toolgen_runtime::{Tool, TypedTool};
use toolgen_tests::{compiled, pages::root};

/// As in the documentation.
pub mod bookshop {
    toolgen_runtime::include_tools!("bookshop");
}

macro_rules! compiled {
    ($($module:ident $name:literal,)*) => {
        $(#[doc = $name] pub mod $module { toolgen_runtime::include_tools!($name); })*
    };
}

compiled! {
    kitchen_sink "kitchen_sink", manifest_agents "manifest_agents", manifest_commands "manifest_commands",
    manifest_mcp "manifest_mcp", manifest_program "manifest_program", manifest_requests "manifest_requests",
    manifest_rules "manifest_rules", petstore "petstore", tasks "tasks",
}

/// Without types.
pub mod untyped {
    compiled! {
        bookshop "bookshop_untyped", kitchen_sink "kitchen_sink_untyped", manifest_agents "manifest_agents_untyped",
        manifest_commands "manifest_commands_untyped", manifest_mcp "manifest_mcp_untyped",
        manifest_program "manifest_program_untyped", manifest_requests "manifest_requests_untyped",
        manifest_rules "manifest_rules_untyped", petstore "petstore_untyped", tasks "tasks_untyped",
    }
}

/// A document, and its tools compiled with types and without.
type Case = (&'static str, &'static [&'static Tool], &'static [&'static Tool]);

const CASES: &[Case] = &[
    ("bookshop.yaml", bookshop::TOOLS, untyped::bookshop::TOOLS),
    ("kitchen-sink.json", kitchen_sink::TOOLS, untyped::kitchen_sink::TOOLS),
    ("manifest-agents.yaml", manifest_agents::TOOLS, untyped::manifest_agents::TOOLS),
    ("manifest-commands.yaml", manifest_commands::TOOLS, untyped::manifest_commands::TOOLS),
    ("manifest-mcp.yaml", manifest_mcp::TOOLS, untyped::manifest_mcp::TOOLS),
    ("manifest-program.yaml", manifest_program::TOOLS, untyped::manifest_program::TOOLS),
    ("manifest-requests.yaml", manifest_requests::TOOLS, untyped::manifest_requests::TOOLS),
    ("manifest-rules.yaml", manifest_rules::TOOLS, untyped::manifest_rules::TOOLS),
    ("petstore.yaml", petstore::TOOLS, untyped::petstore::TOOLS),
    ("tasks.yaml", tasks::TOOLS, untyped::tasks::TOOLS),
];

#[test]
fn compiled_tools_equal_lowered_ones() {
    for (name, typed, untyped) in CASES {
        let program = compiled(&format!("specs/{name}"));
        let tools = program.all_tools();
        assert_eq!(tools.len(), program.all_operations(), "{name}: every operation of an example is a tool");
        for compiled in [typed, untyped] {
            assert_eq!(compiled.len(), tools.len(), "{name}");
            for (compiled, lowered) in compiled.iter().zip(&tools) {
                assert_eq!((&compiled.spec, &compiled.call), (&lowered.spec, &lowered.call), "{name}");
            }
        }
    }
}

#[test]
fn compiled_rules_equal_lowered_ones() {
    let program = compiled("specs/manifest-rules.yaml");
    for layer in [manifest_rules::rules(), untyped::manifest_rules::rules()] {
        assert_eq!(layer.rules(), &program.all_rules());
        assert_eq!(layer.rules().as_slice().len(), 5);
        layer.rules().check(program.all_tools().into_iter().map(|tool| &tool.spec)).unwrap();
    }
}

#[test]
fn compiled_toolsets_and_contexts_equal_lowered_ones() {
    use manifest_program::{contexts, toolsets};

    let program = compiled("specs/manifest-program.yaml");
    assert_eq!(toolsets::TOOLSETS, program.toolsets.iter().collect::<Vec<_>>());
    assert_eq!([&contexts::OUTSIDE, &contexts::QUIET], [&program.contexts[0], &program.contexts[1]]);
    assert_eq!(program.contexts.len(), 2);
    let names: Vec<&str> = toolsets::LOOKING.members.iter().map(|name| name.as_str()).collect();
    let expected = ["keep_note", "read_notes", "store__getPet", "store__listPets", "shelter__plan_visits"];
    assert_eq!((manifest_program::TOOLSET_LOOKING, names.as_slice()), ("looking", expected.as_slice()));
}

/// The tools of a program are in the modules of its parts, in those of its categories, and in one list.
#[test]
fn emitted_tools_can_be_looked_up() {
    use manifest_program::{TOOL_SHELTER_ROUND, categories, notes, store};

    assert!(std::ptr::eq(&raw const categories::notes::KEEP_NOTE, &raw const notes::KEEP_NOTE));
    assert_eq!(categories::pets::TOOLS.len(), store::TOOLS.len());
    let names: Vec<&str> = categories::notes::TOOLS.iter().map(|tool| tool.spec.name.as_str()).collect();
    assert_eq!(names, ["keep_note", "read_notes", "shelter__keep_round"]);
    assert!(manifest_program::TOOLS.iter().any(|tool| tool.spec.name.as_str() == TOOL_SHELTER_ROUND));
}

#[test]
fn every_example_document_is_compared() {
    let found: BTreeSet<_> = std::fs::read_dir(root().join("specs"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".yaml") || name.ends_with(".json"))
        .filter(|name| !name.ends_with(".schema.json"))
        .collect();
    let compared: BTreeSet<_> = CASES.iter().map(|(name, ..)| (*name).to_owned()).collect();
    assert_eq!(found, compared, "compile the new one in build.rs and compare it above");
}

/// Rust names for the hardest names of a document. The test is that these lines compile.
#[test]
fn rust_names_are_stable() {
    let _: &Tool = &kitchen_sink::OPTION;
    assert_eq!(kitchen_sink::TOOL_OPTION, "Option");
    let keywords = kitchen_sink::Keywords { type_: Some("a".to_owned()), ..Default::default() };
    assert_eq!(serde_json::to_value(keywords).unwrap(), serde_json::json!({"type": "a"}));
}

#[test]
fn arguments_distinguish_null_from_absence() {
    let call = bookshop::ChangeBook { isbn: "1".to_owned(), subtitle: Some(None), price: None, type_: None };
    let arguments = call.into_arguments().unwrap();
    assert_eq!(arguments, serde_json::json!({"isbn": "1", "subtitle": null}));
}

#[test]
fn results_are_parsed_leniently() {
    let book = serde_json::json!({
        "isbn": "1", "title": "A", "unknown": 1, "state": "lost", "pages": "xii",
        "sequel": {"isbn": "2", "title": "B", "pages": 7},
    });
    let book: bookshop::Book = serde_json::from_value(book).unwrap();
    assert_eq!(book.state, Some(bookshop::State::Other("lost".to_owned())));
    assert_eq!(book.sequel.unwrap().title, "B");
    let missing = serde_json::from_value::<bookshop::Book>(serde_json::json!({"isbn": "1"})).unwrap_err();
    assert_eq!(missing.to_string(), "a required field is missing at /title");
}

/// The tools of MCP servers have types, like those of other documents.
#[test]
fn mcp_tools_are_typed() {
    use manifest_mcp::{library, shop};

    let state = Some(shop::ShopFindOrdersState::Paid);
    let call = shop::ShopFindOrders { customer: 7, state, since: None, limit: None };
    assert_eq!(call.into_arguments().unwrap(), serde_json::json!({"customer": 7, "state": "paid"}));
    assert_eq!(shop::TOOL_SHOP_ORDER, "shop__order");
    let tree = library::Root { title: "A".to_owned(), shelves: None };
    assert_eq!(tree.title, "A");
}
