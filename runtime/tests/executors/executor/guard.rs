//! Tests of executor guards: the options that they pass on to the executor.

use toolgen_runtime::engine::executor::{BANNED_PROGRAMS, LAUNCHER_PROGRAMS};
use toolgen_runtime::spec::Files;

use crate::executor::{argv, run};
use crate::prelude::*;

#[tokio::test]
async fn banned_programs_are_matched_by_name() {
    let inner = Arc::new(ScriptedExecutor::default());
    let executor = GuardedExecutor::new(Arc::clone(&inner)).ban(BANNED_PROGRAMS);
    assert_eq!(BANNED_PROGRAMS.len(), 17);
    for banned in BANNED_PROGRAMS {
        for program in
            [(*banned).to_owned(), format!("/usr/bin/{banned}"), format!("./{banned}"), banned.to_uppercase()]
        {
            let error = run(&executor, &argv(&[&program, "x"]), &ExecOptions::default()).await.unwrap_err();
            assert_eq!(error.to_string(), format!("Command '{banned}' is banned for security reasons"));
            assert!(matches!(ToolError::from(error), ToolError::Denied { .. }));
        }
    }
    assert_eq!(inner.commands(), []);
    for fine in [["ls", "/usr/include/ncurses.h"], ["echo", "curl"], ["ncal", "2026"]] {
        run(&executor, &argv(&fine), &ExecOptions::default()).await.unwrap();
    }
    assert_eq!(inner.commands().len(), 3);
}

#[tokio::test]
async fn launcher_programs_can_be_banned() {
    let executor = GuardedExecutor::new(ScriptedExecutor::default()).ban(LAUNCHER_PROGRAMS).ban(&["git"]);
    for words in [&["sh", "-c", "c\"\"url x"][..], &["/usr/bin/env", "curl"], &["xargs", "wget"], &["git"]] {
        let error = run(&executor, &argv(words), &ExecOptions::default()).await.unwrap_err();
        assert!(matches!(error, ExecError::Banned { .. }), "{words:?}");
    }
    assert!(LAUNCHER_PROGRAMS.is_sorted());
}

#[tokio::test]
async fn context_limits_apply_regardless_of_tool_options() {
    let inner = Arc::new(ScriptedExecutor::new([Ok(ExecOutput::new(0, "a", ""))]));
    let planning = GuardedExecutor::new(Arc::clone(&inner))
        .restricted_to(&EffectLimits::PLANNING)
        .limits(ResourceLimits::default().cpus(2.0).memory(1 << 30).pids(64))
        .timeout(Duration::from_secs(10));
    let careless = ExecOptions::default()
        .work_dir("/workspace")
        .without_timeout()
        .limits(ResourceLimits::default().cpus(0.5).memory(1 << 40))
        .env("A", "b")
        .user("1000")
        .stdin("in")
        .max_output(10);
    let output = run(&planning, &argv(&["ls"]), &careless).await.unwrap();
    assert_eq!(output.stdout, "a");
    let (asked, options) = inner.commands().remove(0);
    assert_eq!(asked, ["ls"]);
    let expected = careless
        .clone()
        .read_only()
        .without_network()
        .timeout(Duration::from_secs(10))
        .limits(ResourceLimits::default().cpus(0.5).memory(1 << 30).pids(64));
    assert_eq!(options, expected);
    // A guard never weakens options.
    let strict = ExecOptions::default().read_only().without_network().timeout(Duration::from_secs(1));
    let open = GuardedExecutor::new(Arc::clone(&inner)).timeout(Duration::from_secs(60));
    run(&open, &argv(&["ls"]), &strict).await.unwrap();
    assert_eq!(inner.commands()[1].1, strict);
}

#[tokio::test]
async fn unsupported_limits_are_enforced_as_stricter_ones() {
    let hosts = EffectLimits {
        network: Network::Hosts(vec![Text::Static("example.com")].into()),
        ..EffectLimits::ANY
    };
    assert!(ExecOptions::default().restricted_to(&hosts).network_disabled);
    let reads = EffectLimits { files: Files::Read, ..EffectLimits::ANY };
    assert!(ExecOptions::default().restricted_to(&reads).read_only);
    assert_eq!(ExecOptions::default().restricted_to(&EffectLimits::ANY), ExecOptions::default());
    let executor = GuardedExecutor::new(ScriptedExecutor::default()).restricted_to(&EffectLimits::NONE);
    let error = run(&executor, &argv(&["ls"]), &ExecOptions::default()).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot start 'ls': this context does not allow programs");
}

#[test]
fn default_timeout_is_thirty_seconds() {
    let options = ExecOptions::default();
    assert_eq!(options.timeout, Some(Duration::from_secs(30)));
    assert!(!options.read_only && !options.network_disabled && options.work_dir.is_none());
    assert_eq!(options.limits, ResourceLimits::default());
}

#[tokio::test]
async fn preflight_reports_banned_programs_as_missing() {
    let inner = Arc::new(ScriptedExecutor::new([Ok(ExecOutput::new(0, "gh\n", ""))]));
    let executor = GuardedExecutor::new(Arc::clone(&inner))
        .ban(LAUNCHER_PROGRAMS)
        .ban(BANNED_PROGRAMS)
        .restricted_to(&EffectLimits::PLANNING);
    let never = CancellationToken::new();
    let programs = ["git", "curl", "gh", "sh"];
    let there = preflight(&executor, &programs, &ExecOptions::default(), &never).await.unwrap();
    assert_eq!(
        (there.found, there.missing),
        (vec!["git".into()], vec!["curl".into(), "gh".into(), "sh".into()])
    );
    let (words, options) = &inner.commands()[0];
    assert_eq!(words[4..], ["git", "gh"]);
    assert!(options.read_only, "the limits also apply to the check");
}
