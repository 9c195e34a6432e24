//! What the macros say of mistakes: each file of `ui/` does not compile, with the text beside it.

use std::process::Command;

/// The texts are rustc's too, so they are compared for one version of it.
const TOOLCHAIN: &str = "rustc 1.95.0";

#[test]
fn mistakes_are_told_at_the_token_they_are_about() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().unwrap().stdout;
    let version = String::from_utf8(version).unwrap();
    if !version.starts_with(TOOLCHAIN) {
        eprintln!("SKIPPED: the texts are those of {TOOLCHAIN}, this is {version}");
        return;
    }
    trybuild::TestCases::new().compile_fail("ui/*.rs");
}
