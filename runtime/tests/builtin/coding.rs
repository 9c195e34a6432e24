//! The tools of coding agents under names that many models know.

use toolgen_runtime::Content;
use toolgen_runtime::agent::agent_loop::{Entry, ModelTurn, Transcript};
use toolgen_runtime::agent::sub_agent::{AgentMonitor, AgentTask, LoopRunner};

use crate::Bench;
use crate::prelude::*;

fn bench() -> Bench {
    Bench::new(builtin::coding())
}

#[tokio::test]
async fn large_directory_listing_is_truncated() {
    let mut bench = bench();
    for number in 0..1_010 {
        bench = bench.file(&format!("{number:04}"), "");
    }
    let listed = bench.text_here("LS", r#"{"path": "/here"}"#).await;
    assert!(listed.ends_with("\n... (showing the first 1000 names)\n") && listed.lines().count() == 1_004);
}

#[tokio::test]
async fn long_large_and_image_files_are_reported() {
    let long = format!("{}\nend\n", "€".repeat(1_000));
    let bench =
        bench().file("a.txt", "one\ntwo\nthree\n").file("long", long).file("x.txt", b"\xff\xd8\xff\xe0");
    let cut = format!("File: /here/long\n\n{}... [line truncated]\nend", "€".repeat(666));
    assert_eq!(bench.text_here("View", r#"{"file_path": "/here/long"}"#).await, cut);
    let about = r#"{"file_path": "/here/a.txt", "include_metadata": true}"#;
    let about = bench.text_here("View", about).await;
    assert!(about.contains("a.txt\nSize: 14 B\nPermissions: "), "{about}");
    let path = bench.path("x.txt").to_str().unwrap().to_owned();
    let image = bench.result("View", json!({ "file_path": path })).await;
    assert!(matches!(&image.content[1], Content::Image { mime_type, .. } if mime_type == "image/jpeg"));
    let big = fs::File::create(bench.path("big")).unwrap();
    big.set_len((10 << 20) + 1).unwrap();
    let edit = r#"{"file_path": "/here/big", "old_string": "a", "new_string": "b"}"#;
    let message = bench.text_here("Edit", edit).await;
    assert_eq!(message, "Error reading file: the file is too large (10485761 bytes, max 10485760)");
}

#[tokio::test]
async fn read_only_context_allows_reading_only() {
    let bench = bench().file("a", "text").limits(EffectLimits { read_only: true, ..EffectLimits::PLANNING });
    for (name, arguments) in [
        ("LS", r#"{"path": "/here"}"#),
        ("GlobTool", r#"{"pattern": "*"}"#),
        ("GrepTool", r#"{"pattern": "text"}"#),
        ("View", r#"{"file_path": "/here/a"}"#),
    ] {
        let message = bench.text_here(name, arguments).await;
        assert!(message.contains("/here") || message.contains("a"), "{name}: {message}");
        assert!(!message.contains("allowed"), "{name}: {message}");
    }
    for name in ["Edit", "Replace"] {
        let arguments = json!({"file_path": "/a", "old_string": "", "new_string": "", "content": ""});
        let denied = bench.call(name, arguments).await.outcome;
        assert!(
            matches!(denied, Err(ToolError::Denied { .. } | ToolError::InvalidArgs { .. })),
            "{denied:?}"
        );
    }
    assert_eq!(bench.read("a"), "text");
}

#[tokio::test]
async fn sub_agent_searches_with_the_reading_tools() {
    let runner = LoopRunner::new(|task: &AgentTask, _: &AgentMonitor| {
        let task = task.task.clone();
        move |transcript: Transcript| {
            let task = task.clone();
            async move {
                Ok::<_, String>(match transcript.last() {
                    Some(Entry::Answer(found)) => ModelTurn::text(format!("{task}: {}", found.text())),
                    _ => ModelTurn::calls([ToolCall::new("1", "GrepTool", json!({"pattern": "needle"}))]),
                })
            }
        }
    });
    let agent = builtin::dispatch_agent(runner).build().unwrap();
    let mut bench =
        bench().file("hay", "a needle\n").limits(EffectLimits { read_only: true, ..EffectLimits::PLANNING });
    bench.tools = toolset![(agent)];
    let own: Vec<String> = bench.tools[0].own_tools().iter().map(|spec| spec.name.to_string()).collect();
    assert_eq!(own, ["GlobTool", "GrepTool", "LS", "View"]);
    let message = bench.text("dispatch_agent", json!({"task": "find it"})).await;
    assert_eq!(message, "find it: Found matches in 1 files for pattern: needle\n\n📄 hay\n▶ 1: a needle\n\n");
}
