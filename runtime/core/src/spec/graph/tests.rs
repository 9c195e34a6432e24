use super::*;
use crate::schema::shape::read::read_canonical;
use crate::spec::ToolName;
use serde_json::json;

fn tool(name: &str, requires: Vec<Requirement>) -> ToolSpec {
    ToolSpec { name: ToolName::parse(name.to_owned()).unwrap(), requires: requires.into(), ..ToolSpec::EMPTY }
}

/// Creates tools from lines such as `c: b a?`, where `?` makes a requirement optional.
fn tools(lines: &[&str]) -> Vec<ToolSpec> {
    let parse = |line: &&str| {
        let (name, required) = line.split_once(':').unwrap_or((line, ""));
        let required = required.split_whitespace().map(|name| match name.strip_suffix('?') {
            Some(name) => Requirement::tool(name.to_owned()).optional(),
            None => Requirement::tool(name.to_owned()),
        });
        tool(name, required.collect())
    };
    lines.iter().map(parse).collect()
}

fn texts(specs: &[ToolSpec]) -> Vec<String> {
    problems(specs).iter().map(ToString::to_string).collect()
}

#[test]
fn tools_follow_their_requirements() {
    let specs = tools(&["c: b", "d: c a", "b: a", "a"]);
    let graph = Graph::of(&specs);
    assert_eq!(graph.order(), ["a", "b", "c", "d"]);
    assert_eq!(graph.before("d"), ["a", "b", "c"]);
    assert_eq!(graph.before("a"), Vec::<&str>::new());
    assert_eq!(graph.before("unknown"), Vec::<&str>::new());
    assert_eq!(graph.dependents("a"), ["b", "d"]);
    assert!(texts(&specs).is_empty());
}

#[test]
fn every_cycle_is_named_once_and_deterministically() {
    let mut specs = tools(&["c: a", "b: c", "a: b", "self: self", "y: x", "x: y b", "fine: a"]);
    let expected = [
        "Circular dependency detected while validating [a]. The path is a -> b -> c -> a.",
        "Circular dependency detected while validating [self]. The path is self -> self.",
        "Circular dependency detected while validating [x]. The path is x -> y -> x.",
    ];
    for _ in 0..specs.len() {
        assert_eq!(texts(&specs), expected);
        specs.rotate_left(1);
    }
    specs.reverse();
    assert_eq!(texts(&specs), expected);
    assert_eq!(Graph::of(&specs).order().len(), 7, "a cycle does not prevent an order");
}

#[test]
fn cycle_detection_agrees_with_a_naive_search() {
    // Checks every seventh graph of four tools: a cycle is reported if and only if some tool reaches itself.
    let names = ["a", "b", "c", "d"];
    for bits in 0_u32..1 << 16 {
        let edge = |from: usize, to: usize| (bits >> (from * 4 + to)) & 1 == 1;
        if bits % 7 != 0 {
            continue;
        }
        let lines: Vec<String> = (0..4)
            .map(|from| {
                let required: Vec<&str> = (0..4).filter(|to| edge(from, *to)).map(|to| names[to]).collect();
                format!("{}: {}", names[from], required.join(" "))
            })
            .collect();
        let specs = tools(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        let mut reach = [[false; 4]; 4];
        for (from, row) in reach.iter_mut().enumerate() {
            for (to, cell) in row.iter_mut().enumerate() {
                *cell = edge(from, to);
            }
        }
        for via in 0..4 {
            for from in 0..4 {
                for to in 0..4 {
                    reach[from][to] |= reach[from][via] && reach[via][to];
                }
            }
        }
        let cyclic = (0..4).any(|tool| reach[tool][tool]);
        let problems = problems(&specs);
        assert_eq!(!problems.is_empty(), cyclic, "{lines:?}");
        for problem in problems {
            let RequirementProblem::Cycle(path) = problem else { panic!("{problem}") };
            let index = |name: &String| names.iter().position(|other| other == name).unwrap();
            assert!(path.windows(2).all(|pair| edge(index(&pair[0]), index(&pair[1]))), "{path:?}");
        }
        if !cyclic {
            let order = Graph::of(&specs).order();
            let offset = |name: &str| order.iter().position(|other| *other == name).unwrap();
            for from in 0..4 {
                for to in (0..4).filter(|to| edge(from, *to)) {
                    assert!(offset(names[to]) < offset(names[from]), "{order:?} {lines:?}");
                }
            }
        }
    }
}

#[test]
fn long_chain_does_not_overflow_the_stack() {
    let lines: Vec<String> = (0..20_000).map(|index| format!("t{index}: t{}", index + 1)).collect();
    let mut specs = tools(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    specs.push(tool("t20000", vec![]));
    assert!(problems(&specs).is_empty());
    assert_eq!(Graph::of(&specs).before("t0").first(), Some(&"t20000"));
    specs.pop();
    specs.push(tool("t20000", vec![Requirement::tool("t0")]));
    let problems = problems(&specs);
    assert!(matches!(problems.as_slice(), [RequirementProblem::Cycle(path)] if path.len() == 20_002));
}

#[test]
fn missing_requirement_is_an_error_unless_optional() {
    let specs = tools(&["b: gone", "a: gone nowhere? b"]);
    let expected = [
        "Tool [a] requires tool [gone], which is not registered.",
        "Tool [b] requires tool [gone], which is not registered.",
    ];
    assert_eq!(texts(&specs), expected);
    let optional_cycle = tools(&["a: b", "b: a?"]);
    assert!(texts(&optional_cycle).is_empty(), "optional requirements form no cycle");
}

#[test]
fn entity_requirement_names_an_argument_of_its_tool() {
    let problems_with = |schema: serde_json::Value, argument: &str| {
        let spec = ToolSpec {
            input: read_canonical(&schema).into(),
            ..tool("t", vec![Requirement::entity("plan", argument.to_owned()).optional()])
        };
        texts(&[spec])
    };
    let fields = json!({
        "type": "object",
        "properties": { "plan_slug": { "type": "string" }, "id": { "type": "string", "readOnly": true } },
    });
    assert_eq!(problems_with(fields.clone(), "plan_slug"), Vec::<String>::new());
    let missing = "Tool [t] finds entity [plan] by argument [slug], which its input does not have.";
    assert_eq!(problems_with(fields.clone(), "slug"), [missing]);
    assert_eq!(problems_with(fields.clone(), "id").len(), 1, "a model cannot set a read-only field");
    assert_eq!(
        problems_with(fields, ""),
        ["Tool [t] requires entity [plan] and names no argument to find it by."]
    );
    assert!(problems_with(json!({ "type": "object" }), "slug").is_empty(), "a map may contain the argument");
    let union = json!({ "anyOf": [
        { "type": "object", "properties": { "a": { "type": "string" } }, "additionalProperties": false },
        { "type": "object", "properties": { "slug": { "type": "string" } }, "additionalProperties": false },
    ]});
    assert!(problems_with(union, "slug").is_empty());
}

#[test]
fn graph_rendering_snapshot() {
    let specs = [
        tool("start", vec![Requirement::context("workspace_id")]),
        tool(
            "log-it",
            vec![
                Requirement::tool("start"),
                Requirement::tool("start").message("twice"),
                Requirement::entity("plan \"a\"", "slug").optional(),
            ],
        ),
        tool("alone", vec![]),
    ];
    let graph = Graph::of(&specs);
    let mermaid = "\
flowchart LR
  tool_log_2d_it[\"log-it\"]
  tool_start[\"start\"]
  context_exists_workspace_5f_id([\"context workspace_id\"])
  entity_exists_plan_20__22_a_22_[(\"entity plan #quot;a#quot;\")]
  tool_start --> tool_log_2d_it
  entity_exists_plan_20__22_a_22_ -.-> tool_log_2d_it
  context_exists_workspace_5f_id --> tool_start
";
    assert_eq!(graph.mermaid(), mermaid);
    let dot = graph.dot();
    assert!(dot.starts_with("digraph tools {\n") && dot.ends_with("}\n"), "{dot}");
    assert!(dot.contains("label=\"entity plan \\\"a\\\"\", shape=cylinder"), "{dot}");
    assert!(dot.contains("-> \"tool_log_2d_it\" [style=dotted];"), "{dot}");
}

#[test]
fn graph_shows_nested_calls() {
    let specs = tools(&["whole", "part", "after: part?"]);
    let graph = Graph::of(&specs).with_calls("whole", ["part", "part"]);
    let mermaid = graph.mermaid();
    assert!(
        mermaid.ends_with("  tool_part -.-> tool_after\n  tool_whole ==>|calls| tool_part\n"),
        "{mermaid}"
    );
    let calls = "\"tool_whole\" -> \"tool_part\" [style=bold, label=\"calls\"];";
    assert_eq!(graph.dot().matches(calls).count(), 1);
    assert_eq!(graph.order(), ["after", "part", "whole"], "a call is not a requirement");
}
