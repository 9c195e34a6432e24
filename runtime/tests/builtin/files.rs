//! Reading, writing, editing, listing and searching.

use std::time::Instant;

use toolgen_runtime::{CancellationToken, Content};

use crate::Bench;
use crate::prelude::*;

fn bench() -> Bench {
    Bench::new(builtin::files())
}

async fn table(bench: &Bench, name: &str, cases: &[(Value, &str)]) {
    for (arguments, expected) in cases {
        assert_eq!(bench.text(name, arguments.clone()).await, *expected, "{name} {arguments}");
    }
}

#[tokio::test]
async fn part_of_a_large_file_is_readable() {
    let line = format!("{}\n", "ä".repeat(500));
    let bench = bench().file("big", line.repeat(5_000)).file("long", "€".repeat(1_000_000));
    let size = 1001 * 5_000;
    let refused = format!("File too large ({size} bytes, max 1048576). Use offset/limit for partial reads.");
    assert_eq!(bench.text("read_file", json!({"path": "big"})).await, refused);
    let part = bench.text("read_file", json!({"path": "big", "offset": 4_999, "limit": 9})).await;
    assert!(
        part.starts_with("[Lines 4999-5000 of 5000]\n4999 | ää") && part.lines().count() == 3,
        "{part:.99}"
    );
    let most = bench.text("read_file", json!({"path": "big", "offset": 1})).await;
    assert!(most.starts_with("[Lines 1-1047 of 5000]\n"), "{most:.99}");
    assert!(most.ends_with("\n... (more than 1048576 bytes: continue with offset 1048)"));
    let long = bench.text("read_file", json!({"path": "long", "limit": 1})).await;
    assert!(long.ends_with("€... [line truncated]") && long.len() < (1 << 20) + 100, "{}", long.len());
}

#[tokio::test]
async fn image_is_recognized_by_its_content() {
    let png = b"\x89PNG\r\n\x1a\nrest";
    let bench = bench().file("notes.txt", png).file("fake.png", "no image");
    let result = bench.result("read_file", json!({"path": "notes.txt"})).await;
    let expected = Content::Image { data: "iVBORw0KGgpyZXN0".into(), mime_type: "image/png".into() };
    assert_eq!(result.content, [expected]);
    assert_eq!(result.details, json!({"path": "notes.txt", "bytes": png.len()}));
    assert_eq!(bench.text("read_file", json!({"path": "fake.png"})).await, "[1 lines]\n   1 | no image");
    assert_eq!(
        bench.result("read_file", json!({"path": "fake.png"})).await.details,
        json!({"path": "fake.png"})
    );
    let big = fs::File::create(bench.path("big.png")).unwrap();
    std::io::Write::write_all(&mut &big, png).unwrap();
    big.set_len(21 << 20).unwrap();
    assert_eq!(bench.text("read_file", json!({"path": "big.png"})).await, "Image too large (21MB, max 20MB)");
}

#[tokio::test]
async fn write_preserves_permissions_and_links() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
    let bench =
        bench().file("run.sh", "old").file("real", "old").file("one", "shared").file("../outside", "safe");
    fs::set_permissions(bench.path("run.sh"), fs::Permissions::from_mode(0o4751)).unwrap();
    symlink("real", bench.path("link")).unwrap();
    symlink("nowhere", bench.path("broken")).unwrap();
    symlink("../outside", bench.path("out")).unwrap();
    fs::hard_link(bench.base.join("outside"), bench.path("twin")).unwrap();
    let before = fs::metadata(bench.path("run.sh")).unwrap().ino();
    let linked = "the file has other names (hard links), perhaps outside the working directory";
    let twin = format!("Cannot write twin: {linked}");
    let cases = [
        (json!({"path": "run.sh", "content": "new"}), "Wrote 3 bytes to run.sh"),
        (json!({"path": "link", "content": "new"}), "Wrote 3 bytes to link"),
        (json!({"path": "broken", "content": "new"}), "Cannot write broken: it is a dangling link"),
        (json!({"path": "out", "content": "new"}), led_out!("path", link)),
        (json!({"path": "twin", "content": "new"}), twin.as_str()),
    ];
    table(&bench, "write_file", &cases).await;
    let edited = bench.text("edit_file", json!({"path": "twin", "old_text": "safe", "new_text": "x"})).await;
    assert_eq!(edited, twin);
    let after = fs::metadata(bench.path("run.sh")).unwrap();
    assert_eq!(after.permissions().mode() & 0o7777, 0o751, "rights of others are not given to new content");
    assert_ne!(after.ino(), before, "the file was replaced in one step");
    assert_eq!(bench.read("real"), "new");
    // Only an administrator can test this.
    if std::os::unix::fs::chown(bench.path("real"), Some(12_345), Some(54_321)).is_ok() {
        bench.text("write_file", json!({"path": "real", "content": "newer"})).await;
        let owned = fs::metadata(bench.path("real")).unwrap();
        assert_eq!((owned.uid(), owned.gid(), bench.read("real").as_str()), (12_345, 54_321, "newer"));
    }
    assert!(fs::symlink_metadata(bench.path("link")).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(bench.base.join("outside")).unwrap(), "safe");
}

#[tokio::test]
async fn special_file_is_rejected_immediately() {
    let bench = bench();
    let made = std::process::Command::new("mkfifo").arg(bench.path("pipe")).status().unwrap();
    assert!(made.success());
    let reason = "it is a pipe or a device, not a file";
    let cases = [(json!({"path": "pipe", "content": "x"}), &*format!("Cannot write pipe: {reason}"))];
    table(&bench, "write_file", &cases).await;
    assert_eq!(
        bench.text("read_file", json!({"path": "pipe"})).await,
        format!("Cannot access pipe: {reason}")
    );
    assert_eq!(bench.text("list_files", json!({})).await, "No files found in .");
    assert_eq!(bench.text("search", json!({"pattern": "x"})).await, "No matches found for 'x'");
}

#[tokio::test]
async fn long_lists_of_files_and_matches_are_truncated() {
    let many: String = (0..60).map(|line| format!("hit {line}\n")).collect();
    let long = format!("{}needle\n", "x".repeat(2_000));
    let mut bench = bench().file("lines", many).file("long", long);
    for number in 0..250 {
        bench = bench.file(&format!("many/{number:03}"), "");
    }
    let result = bench.result("list_files", json!({"path": "many"})).await;
    let listed = result.to_text();
    assert!(listed.ends_with("many/199\n\n... (250 files, showing first 200)"), "{listed}");
    assert_eq!(result.details, json!({"total": 250, "truncated": true}));
    let first: String = (0..50).map(|line| format!("lines:{}:hit {line}\n", line + 1)).collect();
    let result = bench.result("search", json!({"pattern": "hit"})).await;
    assert_eq!(result.to_text(), format!("{first}... (showing first 50 matches)"));
    assert_eq!(result.details, json!({"matches": 50}));
    let cut = format!("long:1:{}…\n(1 matches)", "x".repeat(500));
    assert_eq!(bench.text("search", json!({"pattern": "needle"})).await, cut);
    for wrong in ["a{1000}{1000}{1000}", &"(".repeat(500)] {
        let message = bench.text("search", json!({ "pattern": wrong })).await;
        assert!(message.starts_with("Invalid arguments: /pattern: Search error: "), "{message}");
    }
}

#[tokio::test]
async fn incompletely_searched_files_are_reported() {
    let long = format!("needle\n{}\nneedle\nother\n", "x".repeat((8 << 20) + 1));
    let bench = bench().file("a", &long).file("b", "needle\n");
    let message = "a: a line is longer than 8 MiB";
    let search = async |pattern: &str| bench.text("search", json!({ "pattern": pattern })).await;
    assert_eq!(
        search("needle").await,
        format!("a:1:needle\nb:1:needle\n(2 matches)\n... (not searched to the end: {message})")
    );
    let none = "No matches found for 'other'\n... (";
    assert_eq!(search("other").await, format!("{none}not searched to the end: {message})"));
    let bench = bench.file("c", &long);
    let several = bench.text("search", json!({"pattern": "other"})).await;
    assert_eq!(several, format!("{none}2 files were not searched to the end, the first is {message})"));
    let mut bench = bench;
    bench.tools = builtin::coding();
    let message = format!("2 files were not searched to the end, the first is {message}");
    let found = bench.text("GrepTool", json!({"pattern": "other"})).await;
    assert_eq!(found, format!("No matches found for pattern: other\n... ({message})"));
    let found = bench.text("GrepTool", json!({"pattern": "needle"})).await;
    assert!(
        found.starts_with("Found matches in 3 files") && found.ends_with(&format!("\n... ({message})")),
        "{found}"
    );
}

#[tokio::test]
async fn context_limits_are_enforced() {
    let planning = || bench().file("a", "text").limits(EffectLimits::PLANNING);
    let none = || bench().file("a", "text").limits(EffectLimits::NONE);
    let reading = [
        ("read_file", json!({"path": "a"})),
        ("list_files", json!({})),
        ("search", json!({"pattern": "text"})),
    ];
    let writing = [
        ("write_file", json!({"path": "a", "content": "new"})),
        ("edit_file", json!({"path": "a", "old_text": "text", "new_text": "new"})),
    ];
    let read_only = EffectLimits { read_only: true, ..EffectLimits::PLANNING };
    for (name, arguments) in &reading {
        assert!(!planning().call(name, arguments.clone()).await.is_error(), "{name}");
        let strict = planning().limits(read_only.clone());
        assert!(!strict.call(name, arguments.clone()).await.is_error(), "{name}");
        assert!(matches!(none().call(name, arguments.clone()).await.outcome, Err(ToolError::Denied { .. })));
    }
    for (name, arguments) in &writing {
        let bench = planning();
        let denied = bench.call(name, arguments.clone()).await.outcome;
        assert!(matches!(denied, Err(ToolError::Denied { .. })), "{name}: {denied:?}");
        assert_eq!(bench.read("a"), "text");
    }
}

#[tokio::test]
async fn missing_working_directory_is_reported() {
    let mut bench = bench();
    bench.context = ToolboxContext::new();
    assert_eq!(bench.text("list_files", json!({})).await, "no workdir is set for this call");
    bench.context = ToolboxContext::new().with_work_dir("/no/such/directory");
    let message = bench.text("list_files", json!({})).await;
    assert_eq!(message, "the working directory cannot be opened: No such file or directory");
}

#[tokio::test]
async fn cancelled_search_ends() {
    let bench = bench();
    let file = fs::File::create(bench.path("sparse")).unwrap();
    std::io::Write::write_all(&mut &file, "text\n".repeat(2_000).as_bytes()).unwrap();
    let cancel = CancellationToken::new();
    let ctx = Turn::new("turn").with_cancel(cancel.clone());
    let search = bench.call_in("search", json!({"pattern": "x"}), &ctx);
    cancel.cancel();
    assert_eq!(search.await.outcome, Err(ToolError::Cancelled));
}

#[test]
fn timed_out_read_leaves_nothing_running() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let bench = bench().file("sparse", "text\n".repeat(4_000));
    // A sparse file takes no space, but minutes to read.
    fs::File::options().write(true).open(bench.path("sparse")).unwrap().set_len(400 << 30).unwrap();
    let started = Instant::now();
    let ctx = Turn::new("turn").with_timeout(Duration::from_millis(200));
    let read = bench.call_in("read_file", json!({"path": "sparse", "limit": 1}), &ctx);
    let outcome = runtime.block_on(read).outcome;
    assert!(matches!(outcome, Err(ToolError::Timeout { .. })), "{outcome:?}");
    // This waits for the reading thread.
    drop(runtime);
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn unusual_file_names_are_shown_on_one_line() {
    use std::os::unix::ffi::OsStrExt as _;
    let bench = bench().file("a\n(9 files)", "needle");
    let odd = bench.path("x").with_file_name(std::ffi::OsStr::from_bytes(b"b\xff"));
    fs::write(odd, "needle").unwrap();
    let listed = bench.text("list_files", json!({})).await;
    assert_eq!(listed, "a\u{fffd}(9 files)\nb\u{fffd}\n\n(2 files)");
    let found = bench.text("search", json!({"pattern": "needle"})).await;
    assert_eq!(found, "a\u{fffd}(9 files):1:needle\nb\u{fffd}:1:needle\n(2 matches)");
}

#[tokio::test]
async fn calls_on_the_same_files_run_in_order() {
    use toolgen_runtime::DispatchOptions;
    use toolgen_runtime::ToolCall;
    let bench = bench();
    let call = |id: &str, name: &str, arguments| ToolCall::new(id, name, arguments);
    for round in 0..20 {
        let (file, text) = (format!("f{round}"), format!("needle{round}"));
        let calls = vec![
            call("1", "write_file", json!({"path": file, "content": text})),
            call("2", "search", json!({"pattern": format!("^{text}$")})),
            call("3", "edit_file", json!({"path": file, "old_text": text, "new_text": "hay"})),
            call("4", "read_file", json!({"path": file})),
        ];
        let ctx = Turn::new("turn");
        let done = bench.toolbox().dispatch(calls, &ctx, &DispatchOptions::default()).await;
        let texts: Vec<String> = done.responses.iter().map(|response| response.text()).collect();
        assert_eq!(texts[1], format!("{file}:1:{text}\n(1 matches)"));
        assert_eq!(texts[3], "[1 lines]\n   1 | hay");
    }
}

#[tokio::test]
async fn too_deep_directory_is_reported() {
    let deep = "d/".repeat(70);
    let bench = bench().file("a", "needle").file(&format!("{deep}x"), "needle");
    let found = bench.text("search", json!({"pattern": "needle"})).await;
    assert_eq!(found, "a:1:needle\n(1 matches; too many files, not all were searched)");
    let inner = bench.text("search", json!({"pattern": "needle", "path": "d/".repeat(69)})).await;
    assert_eq!(inner, format!("{deep}x:1:needle\n(1 matches)"));
}
