//! Tools that read the workspaces of other agents.

use toolgen_runtime::builtin::Workspaces;
use toolgen_runtime::engine::executor::{ExecOutput, ScriptedExecutor};

use crate::prelude::*;
use crate::{Bench, no_promise};

/// Returns the tools with a workspace `coder-001` and these outcomes of `git`.
fn bench(outcomes: Vec<ExecOutput>) -> (Bench, Arc<ScriptedExecutor>) {
    let executor = Arc::new(ScriptedExecutor::new(outcomes.into_iter().map(Ok)));
    let mut bench = Bench::new(Vec::new());
    let workspaces = Workspaces::new().add("coder-001", bench.base.join("coder"));
    fs::create_dir(bench.base.join("coder")).unwrap();
    bench.tools = toolset![(workspaces)];
    bench.context = bench.context.clone().with_executor(Arc::clone(&executor) as Arc<_>);
    (bench.limits(EffectLimits { read_only: true, ..EffectLimits::PLANNING }), executor)
}

#[tokio::test]
async fn files_of_other_agents_are_readable() {
    let (bench, _) = bench(Vec::new());
    let long = "ä".repeat(600_000);
    let bench = bench
        .file("../coder/src/a.go", "größe\n")
        .file("../coder/long", &long)
        .file("../coder/bin", b"\0")
        .file("../secret", "secret");
    let read = |coder: &str, path: &str| json!({"coder_id": coder, "path": path});
    let result = bench.result("read_file", read("coder-001", "src/a.go")).await.details;
    let expected = json!({"coder_id": "coder-001", "path": "src/a.go", "content": "größe\n", "size": 8});
    assert_eq!(result, expected);
    let cases = [
        (read("coder-002", "src/a.go"), "Invalid arguments: /coder_id: invalid coder_id"),
        (read("../..", "etc/passwd"), "Invalid arguments: /coder_id: invalid coder_id"),
        (read("coder-001", "../secret"), led_out!("path", up)),
        (read("coder-001", "none"), "Cannot read none: No such file or directory"),
        (read("coder-001", "bin"), "Cannot read bin: it is a binary file"),
    ];
    for (arguments, expected) in cases {
        assert_eq!(bench.text("read_file", arguments.clone()).await, expected, "{arguments}");
    }
    let long = bench.result("read_file", read("coder-001", "long")).await.details;
    assert_eq!((&long["size"], &long["truncated"]), (&json!(1 << 20), &json!(true)));
}

#[tokio::test]
async fn files_of_other_agents_are_listed() {
    let (bench, _) = bench(Vec::new());
    let bench =
        bench.file("../coder/a.go", "").file("../coder/src/b.go", "").file("../coder/.git/config", "");
    let list = |pattern: Value| {
        let mut arguments = json!({"coder_id": "coder-001"});
        if !pattern.is_null() {
            arguments["pattern"] = pattern;
        }
        arguments
    };
    let listed = |files: &[&str], pattern: &str| json!({"success": true, "files": files, "count": files.len(), "pattern": pattern, "truncated": false});
    let cases = [
        (Value::Null, listed(&["a.go", "src/b.go"], "*")),
        (json!("src/**/*.go"), listed(&["src/b.go"], "src/**/*.go")),
        (json!("'; touch owned; '"), listed(&[], "'; touch owned; '")),
    ];
    for (pattern, expected) in cases {
        assert_eq!(bench.result("list_files", list(pattern)).await.details, expected);
    }
    let mut bench = bench;
    for number in 0..1_001 {
        bench = bench.file(&format!("../coder/many/{number:04}"), "");
    }
    let many = bench.result("list_files", list(json!("/many/*"))).await.details;
    assert_eq!((&many["count"], &many["truncated"]), (&json!(1_000), &json!(true)));
}

#[tokio::test]
async fn diff_uses_git_without_changing_anything() {
    let long: String = (0..10_005).map(|line| format!("+{line}\n")).collect();
    let (bench, executor) = bench(vec![
        ExecOutput::new(0, "-a\n+b\n", ""),
        ExecOutput::new(0, long, ""),
        ExecOutput::new(128, "", "fatal: not a git repository"),
        ExecOutput::new(128, "", "fatal: bad revision\n"),
    ]);
    let diff = |path: &str| json!({"coder_id": "coder-001", "path": path});
    let result = bench.result("get_diff", diff("-x $(touch owned)")).await.details;
    let expected = json!({
        "success": true, "diff": "-a\n+b\n", "coder_id": "coder-001", "path": "-x $(touch owned)",
        "truncated": false, "lines": 2,
    });
    assert_eq!(result, expected);
    let long = bench.result("get_diff", json!({"coder_id": "coder-001"})).await.details;
    assert_eq!((&long["lines"], &long["truncated"]), (&json!(10_000), &json!(true)));
    for expected in ["workspace coder-001 is not a git repository", "git diff failed: fatal: bad revision"] {
        let failed = bench.call("get_diff", diff("")).await;
        assert!(failed.is_error());
        assert_eq!(failed.outcome.unwrap().details, json!({"success": false, "error": expected}));
    }
    let absolute = led_out!(@ "path", "it is absolute; write it relative to the directory, without the `/` at its start");
    for (wrong, message) in
        [("../x", led_out!("path", up)), ("/etc", absolute), ("a/../..", led_out!("path", up))]
    {
        assert_eq!(bench.text("get_diff", diff(wrong)).await, message);
    }
    let (argv, options) = &executor.commands()[0];
    assert_eq!(
        argv.join(" "),
        "git -c core.fsmonitor=false -c core.hooksPath=/dev/null --literal-pathspecs --no-pager diff --no-color \
         --no-ext-diff --no-textconv --end-of-options origin/main -- -x $(touch owned)"
    );
    assert_eq!(options.timeout, Some(Duration::from_secs(30)));
    assert_eq!(options.work_dir, Some(bench.base.join("coder")));
    assert!(options.read_only && options.network_disabled);
    assert_eq!(executor.commands().len(), 4);
}

#[tokio::test]
async fn git_accepts_the_command_line() {
    use std::process::Command;
    use toolgen_runtime::BoxFuture;
    use toolgen_runtime::engine::executor::{ExecError, ExecOptions, Executor, LocalExecutor};

    /// Runs on this machine and ignores guarantees that it cannot enforce.
    struct Trusting;
    impl Executor for Trusting {
        fn run<'a>(
            &'a self,
            argv: &'a [String],
            options: &'a ExecOptions,
            cancel: &'a toolgen_runtime::CancellationToken,
        ) -> BoxFuture<'a, Result<ExecOutput, ExecError>> {
            Box::pin(async move {
                let mut options = options.clone();
                (options.read_only, options.network_disabled) = (false, false);
                LocalExecutor::new().run(argv, &options, cancel).await
            })
        }
    }
    let (mut bench, _) = bench(Vec::new());
    bench.context = bench.context.clone().with_executor(Arc::new(Trusting));
    let bench = bench.file("../coder/a.txt", "old\n").file("../coder/b.txt", "old\n");
    let git = |line: &str| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b.c"]).args(line.split(' '));
        assert!(git.current_dir(bench.base.join("coder")).output().unwrap().status.success(), "{line}");
    };
    for line in ["init -q", "add .", "commit -q -m first", "branch -f base"] {
        git(line);
    }
    let workspaces = Workspaces::new().add("coder-001", bench.base.join("coder")).base("base");
    let mut bench = bench.file("../coder/a.txt", "new\n").file("../coder/b.txt", "new\n");
    bench.tools = toolset![(workspaces)];
    let one = bench.result("get_diff", json!({"coder_id": "coder-001", "path": "a.txt"})).await.details;
    let diff = one["diff"].as_str().unwrap();
    assert!(diff.ends_with("@@ -1 +1 @@\n-old\n+new\n") && !diff.contains("b.txt"), "{one}");
    let all = bench.result("get_diff", json!({"coder_id": "coder-001"})).await.details;
    assert!(all["diff"].as_str().unwrap().contains("b.txt"));
    // A path that is not a path of the workspace does not exist: it is not an option, a pattern, or a shell command.
    for hostile in [
        "--output=owned",
        "-Oowned",
        "--ext-diff",
        "; touch owned",
        "$(touch owned)",
        "`touch owned`",
        "| touch owned",
        ":(exclude)a.txt",
        ":/",
        "*.txt",
        "a.txt\nb.txt",
    ] {
        let none = bench.result("get_diff", json!({"coder_id": "coder-001", "path": hostile})).await.details;
        assert_eq!((&none["success"], &none["diff"]), (&json!(true), &json!("")), "{hostile}: {none}");
    }
    assert_eq!(crate::names(&bench.base.join("coder")), [".git", "a.txt", "b.txt"]);
    assert_eq!(crate::names(&bench.base.join("work")), [""; 0]);
    // The repository of the other agent makes `git` start a program for each file that it reads; the program cannot
    // write either.
    let owned = bench.base.join("coder/owned");
    let filter = format!("touch {} && cat", owned.to_str().unwrap());
    let set = ["config", "filter.evil.clean", &filter];
    assert!(Command::new("git").args(set).current_dir(bench.base.join("coder")).status().unwrap().success());
    let mut bench =
        bench.file("../coder/.gitattributes", "* filter=evil\n").file("../coder/a.txt", "newer\n");
    for sandbox in crate::SANDBOXES {
        let local = LocalExecutor::new().sandbox(sandbox);
        bench.context = bench.context.clone().with_executor(Arc::new(local));
        let outcome = bench.call("get_diff", json!({"coder_id": "coder-001"})).await.outcome;
        let held = match &outcome {
            Ok(_) => true,
            Err(error) => matches!(error, ToolError::Denied { .. }),
        };
        assert!(held && !owned.exists(), "{sandbox:?}: {outcome:?}");
    }
}

#[tokio::test]
async fn diff_requires_a_read_only_executor() {
    let (mut bench, _) = bench(Vec::new());
    bench.context = ToolboxContext::new();
    let error = bench.toolbox().get("get_diff").err().unwrap().to_string();
    assert_eq!(error, "failed to create tool 'get_diff': get_diff tool requires an executor");
    let denied =
        |outcome| matches!(outcome, Err(ToolError::Denied { message, .. }) if message.contains("read_only"));
    let arguments = json!({"coder_id": "coder-001"});
    bench.context = ToolboxContext::new().with_executor(Arc::new(ScriptedExecutor::new([Err(no_promise())])));
    assert!(denied(bench.call("get_diff", arguments.clone()).await.outcome));
    for sandbox in crate::SANDBOXES {
        let local = toolgen_runtime::engine::executor::LocalExecutor::new().sandbox(sandbox);
        bench.context = ToolboxContext::new().with_executor(Arc::new(local));
        match bench.call("get_diff", arguments.clone()).await.outcome {
            Ok(result) => {
                assert_eq!(
                    result.details["error"], "workspace coder-001 is not a git repository",
                    "{sandbox:?}"
                );
            }
            outcome => assert!(denied(outcome.clone()), "{sandbox:?}: {outcome:?}"),
        }
    }
}
