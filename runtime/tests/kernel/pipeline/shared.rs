//! A registry that threads fill until the first toolbox is made of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;

use toolgen_runtime::RegistryProblem;
use toolgen_runtime::toolbox::ToolboxError;
use toolgen_runtime::toolbox::SharedRegistry;

use super::{add, fail};
use crate::prelude::*;

/// A tool that is never built.
fn named(name: &str) -> ToolFactory {
    let spec = ToolSpec { name: ToolName::parse(name.to_owned()).unwrap(), ..ToolSpec::EMPTY };
    ToolFactory::new(spec, |_| Ok(add::tool()))
}

fn panic_text(run: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
    payload.downcast_ref::<String>().unwrap().clone()
}

#[test]
fn the_first_provider_seals_and_late_tools_are_refused_with_the_exact_text() {
    let tools = SharedRegistry::new();
    tools.register(add::tool());
    assert!(!tools.is_sealed());
    let toolbox = tools.toolbox(ToolboxContext::new(), ["add"]).unwrap();
    assert!(tools.is_sealed());
    assert_eq!(panic_text(|| tools.register(fail::tool())), "tool registry sealed - cannot register");
    assert_eq!(tools.try_register(fail::tool()).unwrap_err().problems, [RegistryProblem::Sealed]);
    // A panic on the way leaves it as usable as before.
    assert_eq!(tools.toolbox(ToolboxContext::new(), ["add"]).unwrap().list(), toolbox.list());
}

#[test]
fn a_name_that_is_taken_stays_with_the_first_tool() {
    let tools = SharedRegistry::new();
    tools.register(add::tool());
    let first = line!() - 1;
    let told = panic_text(|| tools.register(named("add")));
    let (file, second) = (file!(), line!() - 1);
    let start = format!(
        "Tool [add] is already registered. One is added at {file}:{first}:11, the other at {file}:{second}:"
    );
    assert!(told.starts_with(&start) && told.contains("use `replace`"), "{told}");
    let registry = tools.seal().unwrap();
    assert_eq!(registry.get("add").unwrap().description(), "Adds two numbers.");
}

#[test]
fn unknown_names_are_told_all_at_once() {
    let tools = SharedRegistry::new();
    tools.register(add::tool());
    let Err(ToolboxError::UnknownTools(unknown)) = tools.toolbox(ToolboxContext::new(), ["b", "add", "a"])
    else {
        panic!("there are no such tools");
    };
    assert_eq!(unknown.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn a_registry_that_cannot_be_sealed_stays_open_for_what_is_missing() {
    use toolgen_runtime::spec::{Requirement, RequirementKind};
    let requirement = Requirement {
        kind: RequirementKind::Tool,
        name: "start".to_owned().into(),
        argument: String::new().into(),
        message: String::new().into(),
        optional: false,
    };
    let spec = ToolSpec { name: ToolName::new("go"), requires: vec![requirement].into(), ..ToolSpec::EMPTY };
    let tools = SharedRegistry::new();
    tools.register(ToolFactory::new(spec, |_| Ok(add::tool())));
    let refused = tools.toolbox(ToolboxContext::new(), ["go"]).unwrap_err();
    assert!(
        matches!(refused, ToolboxError::NotSealed(_)) && refused.to_string().contains("start"),
        "{refused}"
    );
    tools.register(named("start"));
    assert_eq!(tools.seal().unwrap().len(), 2);
}

/// Threads register while others ask for providers: each tool is in the sealed set, or its thread was told that it
/// came too late; all providers see the same set.
#[test]
fn threads_that_register_are_in_the_set_or_told_that_they_are_late() {
    for _ in 0..50 {
        let tools = SharedRegistry::new();
        tools.register(add::tool());
        let (accepted, start) = (AtomicUsize::new(1), Barrier::new(8));
        let sets: Vec<usize> = std::thread::scope(|scope| {
            let (tools, accepted, start) = (&tools, &accepted, &start);
            for thread in 0..6 {
                scope.spawn(move || {
                    start.wait();
                    for number in 0..20 {
                        match tools.try_register(named(&format!("t{thread}_{number}"))) {
                            Ok(()) => _ = accepted.fetch_add(1, Ordering::Relaxed),
                            Err(why) => assert_eq!(why.problems, [RegistryProblem::Sealed]),
                        }
                    }
                });
            }
            let askers = [(); 2].map(|()| {
                scope.spawn(move || {
                    start.wait();
                    std::thread::yield_now();
                    tools.toolbox(ToolboxContext::new(), ["add"]).unwrap();
                    tools.seal().unwrap().len()
                })
            });
            askers.map(|asker| asker.join().unwrap()).into()
        });
        assert_eq!(sets, [accepted.load(Ordering::Relaxed); 2]);
    }
}

#[test]
fn the_order_of_registration_is_not_seen() {
    let names = ["c", "a", "b"];
    let list = |order: [usize; 3]| {
        let tools = SharedRegistry::new();
        for index in order {
            tools.register(named(names[index]));
        }
        format!("{:?}", tools.toolbox(ToolboxContext::new(), names).unwrap().list())
    };
    assert_eq!(list([0, 1, 2]), list([2, 1, 0]));
    assert_eq!(list([0, 1, 2]), list([1, 0, 2]));
}

#[test]
fn a_process_shares_it_as_a_static() {
    static TOOLS: SharedRegistry = SharedRegistry::new();
    TOOLS.register(add::tool());
    let threads = [(); 4].map(|()| std::thread::spawn(|| TOOLS.seal().unwrap()));
    let sets = threads.map(|thread| thread.join().unwrap());
    assert!(sets.iter().all(|set| Arc::ptr_eq(set.get("add").unwrap(), sets[0].get("add").unwrap())));
}
