//! Tests of the macros' error messages: each file in the parent directory fails to compile, with the output in its
//! `.stderr` file.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;

use needs::{Need, skip};

use toolgen_test_support::golden;
use toolgen_test_support::needs;

/// Messages also come from rustc, so they are compared for one version only.
const TOOLCHAIN: &str = include_str!("../toolchain");

#[test]
#[ignore = "heavy: cargo"]
fn macro_errors_have_the_right_span() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().unwrap().stdout;
    let version = String::from_utf8(version).unwrap();
    let pinned = TOOLCHAIN.trim();
    if version.split(' ').nth(1) != Some(pinned) {
        let this = version.trim();
        skip(
            Need::Ui,
            &format!("the messages of `tests/ui` are those of rustc {pinned}, and this is {this}"),
        );
        return;
    }
    // trybuild has its own variable.
    if golden::updating() && std::env::var_os("TRYBUILD").is_none() {
        let mut again = Command::new(std::env::current_exe().unwrap());
        assert!(
            again.env("TRYBUILD", "overwrite").args(std::env::args_os().skip(1)).status().unwrap().success()
        );
        return;
    }
    trybuild::TestCases::new().compile_fail("*.rs");
}
