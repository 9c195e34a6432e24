//! The documentation of tools has the same bytes every time.

use toolgen_runtime::schema::shape::read::read;
use toolgen_runtime::spec::Example;

use super::{spec, tool, toolbox};
use crate::prelude::*;

fn specs() -> Vec<ToolSpec> {
    let input = json!({"type": "object", "properties": {
        "cmd": {"type": "string", "description": "Shell command to execute"},
        "cwd": {"type": "string", "description": "Optional working directory"},
    }, "required": ["cmd"]});
    let shell = ToolSpec {
        description: "Execute shell commands".into(),
        returns: "stdout, stderr and the exit code".into(),
        use_for: "running builds and looking around".into(),
        examples: vec![Example { summary: "List".into(), arguments: r#"{"cmd":"ls"}"#.into() }].into(),
        input: read(&input, &mut Vec::new()).into(),
        ..spec("shell")
    };
    let plan = ToolSpec {
        description: "Submits the plan.\n\nOnly once it is complete.".into(),
        deprecated: Some("use submit_plan_v2".into()),
        ..spec("submit_plan")
    };
    vec![shell, plan, spec("ask_question"), spec("done")]
}

fn built(specs: impl IntoIterator<Item = ToolSpec>) -> Toolbox {
    toolbox(specs.into_iter().map(tool).collect()).build().unwrap()
}

#[test]
fn empty_toolbox_documents_no_tools() {
    assert_eq!(built([]).generate_tool_documentation(), "No tools available");
    let none = toolbox(vec![tool(spec("a"))]).allow([""; 0]).build().unwrap();
    assert_eq!(none.generate_tool_documentation(), "No tools available");
}

#[test]
fn prompt_documentation_snapshot() {
    let expected = "## Available Tools\n\n\
                    - **ask_question** - Does ask_question.\n\
                    - **done** - Does done.\n\
                    - **shell** - Execute shell commands\n\
                    - **submit_plan** - Submits the plan.\n";
    assert_eq!(built(specs()).generate_tool_documentation(), expected);
}

#[test]
fn detailed_documentation_snapshot() {
    let expected = "\
- **ask_question** - Does ask_question.
  - Parameters: any
- **done** - Does done.
  - Parameters: any
- **shell** - Execute shell commands
  - Parameters: cmd (required), cwd (optional)
    - cmd (string, required): Shell command to execute
    - cwd (string, optional): Optional working directory
  - Returns: stdout, stderr and the exit code
  - Use for: running builds and looking around
  - Example: List: {\"cmd\":\"ls\"}
- **submit_plan** - Submits the plan. Only once it is complete.
  - Deprecated: use submit_plan_v2
  - Parameters: any
";
    assert_eq!(built(specs()).generate_detailed_documentation(), expected);
}

/// Everything about the tools that a prompt or a request may contain.
fn bytes(toolbox: &Toolbox) -> Vec<String> {
    let mut all = vec![toolbox.generate_tool_documentation(), toolbox.generate_detailed_documentation()];
    all.push(format!("{:?}", toolbox.list()));
    for format in WireFormat::ALL {
        // A format either accepts these tools or rejects them with the same message.
        all.push(match format.tools(toolbox.specs()) {
            Ok(tools) => tools.to_string(),
            Err(refused) => format!("{refused:?}"),
        });
    }
    all
}

#[test]
fn documentation_does_not_depend_on_registration_order() {
    let names = ["b", "a", "shell_2", "shell", "Z", "zz", "a_b", "a-b"];
    let in_order = |order: &[usize]| {
        let tools: Vec<Arc<dyn AgentTool>> = order.iter().map(|index| tool(spec(names[*index]))).collect();
        bytes(&toolbox(tools).build().unwrap())
    };
    let mut order: Vec<usize> = (0..names.len()).collect();
    let expected = in_order(&order);
    // All rotations, in both directions, and a few hundred shuffles.
    let mut state: usize = 7;
    for round in 0..300 {
        if round < names.len() {
            order.rotate_left(1);
        } else {
            for index in 1..order.len() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                order.swap(index, (state >> 33) % (index + 1));
            }
        }
        assert_eq!(in_order(&order), expected, "{order:?}");
        let backwards: Vec<usize> = order.iter().rev().copied().collect();
        assert_eq!(in_order(&backwards), expected, "{backwards:?}");
    }
}
