//! Tests in one line that replay a run.

use std::error::Error;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use super::Replay;

/// Turns a recorded run into a test: `replay_test!(NAME, FILE, …)`, with the path of the file relative to the
/// directory of the crate.
///
/// With a closure, its body is the program under test, in an async function where `?` can be used. The closure gets
/// the [`Replay`], which it adds to its toolbox. With the builder of a toolbox instead, the test itself makes the
/// recorded calls sequentially, and resumes those that were approved. It checks that the tools still exist, accept
/// these arguments, and are allowed or refused as before.
///
/// ```
/// use serde_json::json;
/// use toolgen_runtime::{Toolbox, Registry, ToolCall, Turn, replay_test, tool, toolset};
///
/// /// Tells the weather.
/// #[tool(undocumented)]
/// fn weather(city: &str) -> String {
///     panic!("the replay answers instead of this tool: {city}")
/// }
///
/// fn registry() -> Registry {
///     Registry::new(toolset![weather]).unwrap()
/// }
///
/// replay_test!(weather_tool_accepts_the_recorded_calls, "tests/replay/weather.json", Toolbox::builder(&registry()));
///
/// replay_test!(weather_is_reported, "tests/replay/weather.json", |replay| {
///     let toolbox = Toolbox::builder(&registry()).layer(replay.clone()).build()?;
///     let call = ToolCall::new("1", "weather", json!({"city": "Ulm"}));
///     let answer = toolbox.run(call, &Turn::new("turn")).await;
///     assert_eq!(answer.text(), "It rains in Ulm.");
/// });
/// # fn main() {}
/// ```
///
/// The test fails with the first difference, regardless of other failures that it causes.
#[macro_export]
macro_rules! replay_test {
    ($(#[$attribute:meta])* $name:ident, $path:expr, |$replay:ident| $body:expr $(,)?) => {
        $(#[$attribute])*
        #[test]
        fn $name() {
            let path = ::std::path::Path::new(::core::env!("CARGO_MANIFEST_DIR")).join($path);
            let result = $crate::replay::run_test(&path, |$replay| async move {
                $body;
                ::core::result::Result::Ok(())
            });
            if let ::core::result::Result::Err(error) = result {
                ::core::panic!("{error}");
            }
        }
    };
    ($(#[$attribute:meta])* $name:ident, $path:expr, $builder:expr $(,)?) => {
        $(#[$attribute])*
        #[test]
        fn $name() {
            let path = ::std::path::Path::new(::core::env!("CARGO_MANIFEST_DIR")).join($path);
            let result = $crate::replay::run_test(&path, |replay| async move {
                let toolbox = $builder.layer(replay.clone()).build()?;
                replay.rerun(&toolbox).await?;
                ::core::result::Result::Ok(())
            });
            if let ::core::result::Result::Err(error) = result {
                ::core::panic!("{error}");
            }
        }
    };
}

/// Runs a program against the run in a file. [`replay_test!`](crate::replay_test) does this in a test.
///
/// # Errors
///
/// Returns the first difference; otherwise the error of the program; otherwise the reason why the file cannot be read.
///
/// # Panics
///
/// Panics if the program panics and there is no difference.
pub fn run_test<Run>(path: &Path, program: impl FnOnce(Replay) -> Run) -> Result<(), String>
where
    Run: Future<Output = Result<(), Box<dyn Error>>>,
{
    let replay = Replay::open(path).map_err(|error| error.to_string())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("no runtime for the test: {error}"))?;
    let result = catch_unwind(AssertUnwindSafe(|| runtime.block_on(program(replay.clone()))));
    // Other failures are usually caused by the difference.
    replay.finish().map_err(|difference| format!("{}: {difference}", path.display()))?;
    match result {
        Ok(outcome) => outcome.map_err(|error| error.to_string()),
        Err(payload) => resume_unwind(payload),
    }
}
