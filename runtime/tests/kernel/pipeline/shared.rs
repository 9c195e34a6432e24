//! A registry that threads fill until the first toolbox is made from it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;

use toolgen_runtime::RegistryProblem;
use toolgen_runtime::toolbox::SharedRegistry;
use toolgen_runtime::toolbox::ToolboxError;

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
fn first_toolbox_seals_the_registry() {
    let tools = SharedRegistry::new();
    tools.register(add::tool());
    assert!(!tools.is_sealed());
    let toolbox = tools.toolbox(ToolboxContext::new(), ["add"]).unwrap();
    assert!(tools.is_sealed());
    assert_eq!(panic_text(|| tools.register(fail::tool())), "tool registry sealed - cannot register");
    assert_eq!(tools.try_register(fail::tool()).unwrap_err().problems, [RegistryProblem::Sealed]);
    // A panic during registration leaves it usable.
    assert_eq!(tools.toolbox(ToolboxContext::new(), ["add"]).unwrap().list(), toolbox.list());
}

#[test]
fn duplicate_registration_panics_and_keeps_the_first_tool() {
    let tools = SharedRegistry::new();
    tools.register(add::tool());
    let first = line!() - 1;
    let message = panic_text(|| tools.register(named("add")));
    let (file, second) = (file!(), line!() - 1);
    let start = format!(
        "Tool [add] is already registered. One is added at {file}:{first}:11, the other at {file}:{second}:"
    );
    assert!(message.starts_with(&start) && message.contains("use `replace`"), "{message}");
    let registry = tools.seal().unwrap();
    assert_eq!(registry.get("add").unwrap().description(), "Adds two numbers.");
}

#[test]
fn unknown_names_are_reported_together() {
    let tools = SharedRegistry::new();
    tools.register(add::tool());
    let Err(ToolboxError::UnknownTools(unknown)) = tools.toolbox(ToolboxContext::new(), ["b", "add", "a"])
    else {
        panic!("there are no such tools");
    };
    assert_eq!(unknown.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn failed_seal_keeps_the_registry_open() {
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

/// Threads register tools while others request toolboxes: each tool is in the sealed set, or its thread got the error
/// that it was too late; all toolboxes see the same set.
#[test]
fn concurrent_registrations_are_included_or_rejected() {
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
                            Err(error) => assert_eq!(error.problems, [RegistryProblem::Sealed]),
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
fn toolbox_does_not_depend_on_registration_order() {
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
fn shared_registry_works_as_a_static() {
    static TOOLS: SharedRegistry = SharedRegistry::new();
    TOOLS.register(add::tool());
    let threads = [(); 4].map(|()| std::thread::spawn(|| TOOLS.seal().unwrap()));
    let sets = threads.map(|thread| thread.join().unwrap());
    assert!(sets.iter().all(|set| Arc::ptr_eq(set.get("add").unwrap(), sets[0].get("add").unwrap())));
}
