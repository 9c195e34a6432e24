//! Schemas in every dialect, byte for byte.

use std::path::Path;

use toolgen_runtime::schema::dialect::Dialect;
use toolgen_runtime::schema::shape::read::read_document;
use toolgen_runtime::schema::shape::render::{Refusal, Rendered, render_input};

use crate::prelude::*;
use crate::wire::golden::assert_golden;

/// Schemas as rendered by every dialect, with the losses (`keyword~pointer`: described in prose, `keyword!pointer`:
/// lost) or the rejections. A dialect that is not listed renders like one above it. If a rendering changes, review the
/// change of this file.
#[test]
fn dialects_snapshot() {
    let golden = include_str!("dialects.golden");
    let mut written = String::new();
    for line in golden.lines() {
        let Some(source) = line.strip_prefix("== ") else { continue };
        let schema: Value = serde_json::from_str(source).unwrap();
        let mut problems = Vec::new();
        let (shape, defs) = read_document(&schema, &mut problems);
        assert_eq!(problems, [], "{source}");
        written.push_str(&format!("\n{line}\n"));
        let mut before = Vec::new();
        for dialect in Dialect::ALL {
            let message = told(&render_input(&shape, &defs, dialect));
            if !before.contains(&message) {
                written.push_str(&format!("{:18} {message}\n", dialect.name));
                before.push(message);
            }
        }
    }
    // You can add sources without renderings by hand: the head of the file, and an empty line before each.
    let head = golden.find("\n== ").map_or(golden, |at| &golden[..at]);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel/wire/dialects.golden");
    assert_golden(&file, &format!("{head}{written}"));
}

#[test]
fn too_long_description_is_truncated_for_openai() {
    let description = "Says a little. ".repeat(80);
    let spec = ToolSpec { description: description.clone().into(), ..ToolSpec::EMPTY };
    let message = |format: WireFormat, pointer: &str| {
        let tools = format.tools([&spec]).unwrap();
        tools.pointer(pointer).and_then(Value::as_str).map(str::to_owned).unwrap()
    };
    for (format, pointer) in
        [(WireFormat::OpenAiChat, "/0/function/description"), (WireFormat::OpenAiResponses, "/0/description")]
    {
        let message = message(format, pointer);
        assert!(message.chars().count() <= 1_024 && message.ends_with("little. …"), "{message}");
    }
    assert_eq!(message(WireFormat::Anthropic, "/0/description"), description);
}

fn told(rendered: &Result<Rendered, Vec<Refusal>>) -> String {
    match rendered {
        Ok(rendered) => {
            let mut message = rendered.schema.to_string();
            for loss in &rendered.losses {
                message.push_str(&format!(
                    " {}{}{}",
                    loss.keyword,
                    if loss.in_prose { '~' } else { '!' },
                    loss.pointer
                ));
            }
            message
        }
        Err(refusals) => {
            let messages: Vec<String> = refusals
                .iter()
                .map(|refusal| format!("refused at {:?}: {}", refusal.pointer, refusal.reason))
                .collect();
            messages.join(" | ")
        }
    }
}
