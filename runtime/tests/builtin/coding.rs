//! The tools of coding agents under the names that many models know.

use std::time::SystemTime;

use toolgen_runtime::Content;
use toolgen_runtime::agent::agent_loop::{Entry, ModelTurn, Transcript};
use toolgen_runtime::agent::sub_agent::{AgentMonitor, AgentTask, LoopRunner};

use crate::Bench;
use crate::prelude::*;

fn bench() -> Bench {
    Bench::new(builtin::coding())
}

/// Calls with paths where `/here` stands for the working directory, and puts it into the answers.
async fn text(bench: &Bench, name: &str, arguments: &Value) -> String {
    let root = bench.base.join("work").to_str().unwrap().to_owned();
    let arguments = serde_json::from_str(&arguments.to_string().replace("/here", &root)).unwrap();
    bench.text(name, arguments).await.replace(&root, "/here")
}

async fn table(bench: &Bench, name: &str, cases: &[(Value, &str)]) {
    for (arguments, expected) in cases {
        assert_eq!(text(bench, name, arguments).await, *expected, "{name} {arguments}");
    }
}

#[tokio::test]
async fn a_large_directory_is_listed_in_part() {
    let mut bench = bench();
    for number in 0..1_010 {
        bench = bench.file(&format!("{number:04}"), "");
    }
    let listed = text(&bench, "LS", &json!({"path": "/here"})).await;
    assert!(listed.ends_with("\n... (showing 1000 names of more)\n") && listed.lines().count() == 1_004);
}

#[tokio::test]
async fn ls_lists_directories_and_files() {
    let bench =
        bench().file("b.rs", "").file("a/x", "").file("a.log", "").file(".hidden", "").file("empty/.x", "");
    let all = "Contents of /here:\n\nDirectories:\n  📁 a\n  📁 empty\n\nFiles:\n  📄 a.log\n  📄 b.rs\n";
    let cases = [
        (json!({"path": "/here"}), all),
        (json!({"path": "/here/a", "ignore_pattern": "*.log"}), "Contents of /here/a:\n\nFiles:\n  📄 x\n"),
        (
            json!({"path": "/here", "ignore_pattern": "{a,*.log,empty}"}),
            "Contents of /here:\n\nFiles:\n  📄 b.rs\n",
        ),
        (json!({"path": "/here/empty"}), "Contents of /here/empty:\n\nDirectory is empty."),
        (json!({"path": "/here/none"}), "Path does not exist: /here/none"),
        (
            json!({"path": "a"}),
            "Invalid arguments: /path: path must be an absolute path, not a relative path",
        ),
        (json!({"path": "/"}), led_out!("path", absolute)),
        (json!({"path": "/here/.."}), led_out!("path", up)),
    ];
    table(&bench, "LS", &cases).await;
}

/// Makes a file older.
fn age(bench: &Bench, path: &str, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_225_599 - seconds);
    fs::File::options().write(true).open(bench.path(path)).unwrap().set_modified(time).unwrap();
}

#[tokio::test]
async fn globs_find_the_newest_files_first() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench =
        bench().file("a.rs", "").file("src/b.rs", "x".repeat(1536)).file("src/c.ts", "").file(".d.rs", "");
    for (path, seconds) in [("a.rs", 9), ("src/b.rs", 0), ("src/c.ts", 5)] {
        age(&bench, path, seconds);
        fs::set_permissions(bench.path(path), fs::Permissions::from_mode(0o640)).unwrap();
    }
    let b = "src/b.rs (1.5 KB, modified 2025-12-31 23:59:59, -rw-r-----)\n";
    let a = "a.rs (0 B, modified 2025-12-31 23:59:50, -rw-r-----)\n";
    let c = "src/c.ts (0 B, modified 2025-12-31 23:59:54, -rw-r-----)\n";
    let found = |count, pattern: &str, lines: &[&str]| {
        format!("Found {count} files matching pattern: {pattern}\n\n{}", lines.concat())
    };
    let cases = [
        (json!({"pattern": "**/*.rs"}), found(2, "**/*.rs", &[b, a])),
        (json!({"pattern": "*.rs"}), found(1, "*.rs", &[a])),
        (json!({"pattern": "**", "limit": 1}), found(1, "**", &[b])),
        (json!({"pattern": "**", "exclude": "**/*.rs"}), found(1, "**", &[c])),
        (json!({"pattern": "*.ts", "path": "src"}), found(1, "*.ts", &[c])),
        (json!({"pattern": "*.ts", "path": "/here/src"}), found(1, "*.ts", &[&format!("/here/{c}")])),
        (json!({"pattern": "src/c.ts", "absolute": true}), found(1, "src/c.ts", &[&format!("/here/{c}")])),
        (json!({"pattern": "*.py"}), "No files matched pattern: *.py".to_owned()),
        (json!({"pattern": "*", "path": "none"}), "Path does not exist: none".to_owned()),
        (json!({"pattern": "../*"}), "No files matched pattern: ../*".to_owned()),
    ];
    for (arguments, expected) in cases {
        assert_eq!(text(&bench, "GlobTool", &arguments).await, expected, "{arguments}");
    }
    assert!(
        text(&bench, "GlobTool", &json!({"pattern": "{a"})).await.contains("/pattern: this is not a glob")
    );
}

#[tokio::test]
async fn grep_shows_lines_around_matches_of_the_newest_files_first() {
    let lines: String = (1..=9).map(|line| format!("line {line}\n")).collect();
    let bench = bench()
        .file("a.js", lines)
        .file("b/c.ts", "Line 4\n")
        .file(".git/x", "line 4")
        .file("bin", "line 4\0");
    age(&bench, "a.js", 9);
    age(&bench, "b/c.ts", 0);
    let a = "Found matches in 1 files for pattern: line [47]\n\n📄 a.js\n";
    let cases = [
        (json!({"pattern": "line [47]"}), format!("{a}▶ 4: line 4\n    --\n▶ 7: line 7\n\n")),
        (
            json!({"pattern": "line [47]", "context": 1, "include": "*.{js,ts}"}),
            format!("{a}  3: line 3\n▶ 4: line 4\n  5: line 5\n  6: line 6\n▶ 7: line 7\n  8: line 8\n\n"),
        ),
        (
            json!({"pattern": "line 4", "ignore_case": true, "path": "/here"}),
            "Found matches in 2 files for pattern: line 4\n\n\
             📄 /here/b/c.ts\n▶ 1: Line 4\n\n📄 /here/a.js\n▶ 4: line 4\n\n"
                .to_owned(),
        ),
        (json!({"pattern": "none"}), "No matches found for pattern: none".to_owned()),
        (json!({"pattern": "x", "path": "none"}), "Path does not exist: none".to_owned()),
    ];
    for (arguments, expected) in cases {
        assert_eq!(text(&bench, "GrepTool", &arguments).await, expected, "{arguments}");
    }
    let vcs = text(&bench, "GrepTool", &json!({"pattern": "line 4", "no_ignore_vcs": true})).await;
    assert!(vcs.contains("📄 .git/x\n"), "{vcs}");
    let wrong = text(&bench, "GrepTool", &json!({"pattern": "("})).await;
    assert!(wrong.starts_with("Invalid arguments: /pattern: Invalid regex pattern: "), "{wrong}");
}

#[tokio::test]
async fn view_shows_what_a_file_is() {
    let long = format!("{}\nend\n", "€".repeat(1_000));
    let bench = bench()
        .file("a.txt", "one\ntwo\nthree\n")
        .file("doc.md", "# A\na\n# B\nb\n")
        .file("long", long)
        .file("bin", b"ab\0\xff")
        .file("x.txt", b"\xff\xd8\xff\xe0");
    let view = |path: &str| json!({"file_path": path});
    let cut = format!("File: /here/long\n\n{}... [line truncated]\nend", "€".repeat(666));
    let cases = [
        (view("/here/a.txt"), "File: /here/a.txt\n\none\ntwo\nthree"),
        (
            json!({"file_path": "/here/a.txt", "offset": 1, "limit": 1, "show_line_numbers": true}),
            "File: /here/a.txt\nShowing lines 2 to 2 of 3\n\n    2 | two",
        ),
        (
            json!({"file_path": "/here/doc.md", "find_section": "b"}),
            "File: /here/doc.md\nFound section matching 'b':\n\n# B\nb",
        ),
        (view("/here/long"), &cut),
        (json!({"file_path": "/here/a.txt", "offset": 3}), "Offset 3 exceeds file length"),
        (
            view("/here/bin"),
            "File: /here/bin\nSize: 4 bytes\nType: Binary file\nMIME type: application/octet-stream\n\n\
             This is a binary file. Use include_hex_dump=true to see a hexadecimal preview.\n",
        ),
        (
            json!({"file_path": "/here/bin", "include_hex_dump": true}),
            "File: /here/bin\nSize: 4 bytes\nType: Binary file\nMIME type: application/octet-stream\n\n\
             Hex Dump Preview (first 1KB):\n\
             00000000  61 62 00 ff                                       |ab..|\n",
        ),
        (view("/here/none"), "File does not exist: /here/none"),
        (view("/here"), "/here is a directory, not a file"),
        (view("/etc/passwd"), led_out!("file_path", absolute)),
        (
            view("a.txt"),
            "Invalid arguments: /file_path: file_path must be an absolute path, not a relative path",
        ),
    ];
    table(&bench, "View", &cases).await;
    let about = text(&bench, "View", &json!({"file_path": "/here/a.txt", "include_metadata": true})).await;
    assert!(about.contains("a.txt\nSize: 14 B\nPermissions: "), "{about}");
    let path = bench.path("x.txt").to_str().unwrap().to_owned();
    let image = bench.result("View", view(&path)).await;
    assert!(matches!(&image.content[1], Content::Image { mime_type, .. } if mime_type == "image/jpeg"));
}

#[tokio::test]
async fn edit_replaces_one_place_or_creates_a_file() {
    let bench = bench().file("a.txt", "one\ntwo\none\n").file("bin", b"a\0");
    let edit =
        |path: &str, old: &str, new: &str| json!({"file_path": path, "old_string": old, "new_string": new});
    let cases = [
        (
            edit("/here/a.txt", "two", "zwei"),
            "Successfully edited file: /here/a.txt\nReplaced 1 occurrence of the specified text.",
        ),
        (
            edit("/here/a.txt", "one", "x"),
            "The specified old_string occurs 2 times in the file (around lines 1, 3). Please provide a more specific \
             string with enough context to uniquely identify the instance you want to change.",
        ),
        (
            edit("/here/a.txt", "drei", "x"),
            "The specified old_string was not found in the file. Please check the string and try again.",
        ),
        (edit("/here/new.txt", "", "new"), "Created new file: /here/new.txt"),
        (
            edit("/here/new.txt", "", "other"),
            "File already exists: /here/new.txt. Use a non-empty old_string to modify it.",
        ),
        (edit("/here/no/new.txt", "", "new"), "Directory does not exist: /here/no"),
        (edit("/here/none", "a", "b"), "File does not exist: /here/none"),
        (edit("/here", "a", "b"), "/here is a directory, not a file"),
        (
            edit("/here/bin", "a", "b"),
            "Cannot edit binary files. Use a different tool for binary file manipulation.",
        ),
        (edit("/here/../x", "", "b"), led_out!("file_path", up)),
        (
            edit("x", "", "b"),
            "Invalid arguments: /file_path: file_path must be an absolute path, not a relative path",
        ),
    ];
    table(&bench, "Edit", &cases).await;
    assert_eq!((bench.read("a.txt").as_str(), bench.read("new.txt").as_str()), ("one\nzwei\none\n", "new"));
    let big = fs::File::create(bench.path("big")).unwrap();
    big.set_len((10 << 20) + 1).unwrap();
    let told = text(&bench, "Edit", &edit("/here/big", "a", "b")).await;
    assert_eq!(told, "Error reading file: the file is too large (10485761 bytes, max 10485760)");
}

#[tokio::test]
async fn replace_writes_a_file() {
    let bench = bench().file("a.txt", "old");
    let replace = |path: &str| json!({"file_path": path, "content": "new"});
    let cases = [
        (replace("/here/a.txt"), "Successfully replaced existing file: /here/a.txt"),
        (replace("/here/b.txt"), "Successfully created new file: /here/b.txt"),
        (replace("/here/no/b.txt"), "Directory does not exist: /here/no"),
        (replace("/tmp/b.txt"), led_out!("file_path", absolute)),
        (
            replace("b.txt"),
            "Invalid arguments: /file_path: file_path must be an absolute path, not a relative path",
        ),
    ];
    table(&bench, "Replace", &cases).await;
    assert_eq!((bench.read("a.txt"), bench.read("b.txt")), ("new".into(), "new".into()));
}

#[tokio::test]
async fn only_reading_is_allowed_where_files_are_read_only() {
    let bench = bench().file("a", "text").limits(Limits { read_only: true, ..Limits::PLANNING });
    for (name, arguments) in [
        ("LS", json!({"path": "/here"})),
        ("GlobTool", json!({"pattern": "*"})),
        ("GrepTool", json!({"pattern": "text"})),
        ("View", json!({"file_path": "/here/a"})),
    ] {
        let told = text(&bench, name, &arguments).await;
        assert!(told.contains("/here") || told.contains("a"), "{name}: {told}");
        assert!(!told.contains("allowed"), "{name}: {told}");
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
async fn an_agent_searches_with_the_tools_that_read() {
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
    let mut bench = bench().file("hay", "a needle\n").limits(Limits { read_only: true, ..Limits::PLANNING });
    bench.tools = toolset![(agent)];
    let own: Vec<String> = bench.tools[0].own_tools().iter().map(|spec| spec.name.to_string()).collect();
    assert_eq!(own, ["GlobTool", "GrepTool", "LS", "View"]);
    let told = bench.text("dispatch_agent", json!({"task": "find it"})).await;
    assert_eq!(told, "find it: Found matches in 1 files for pattern: needle\n\n📄 hay\n▶ 1: a needle\n\n");
}
