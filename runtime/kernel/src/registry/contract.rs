//! The contract of a program's own tools: printed for `cargo toolgen`, and compared with a lock by a test.

use std::fmt::Display;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use crate::call::tool::AgentTool;
use crate::registry::Registry;
use crate::spec::drift::report::report;
use crate::spec::drift::{Change, ChangeClass};
use crate::spec::plan::Tool;
use crate::spec::surface::{LockProblem, Surface, recorded};

/// Tools that have a surface: a registry, a list of tools or of tools as data, a surface, or a `Result` of one of
/// these.
pub trait HasSurface {
    /// Returns the surface.
    ///
    /// # Errors
    ///
    /// Returns the reason if there is no surface, as a message for the user of the program or the test.
    fn surface(self) -> Result<Surface, String>;
}

impl HasSurface for &Registry {
    fn surface(self) -> Result<Surface, String> {
        of_tools(self.iter())
    }
}

impl HasSurface for Registry {
    fn surface(self) -> Result<Surface, String> {
        of_tools(self.iter())
    }
}

impl HasSurface for Vec<Arc<dyn AgentTool>> {
    fn surface(self) -> Result<Surface, String> {
        of_tools(&self)
    }
}

/// Tools as data, such as the `TOOLS` of generated modules.
impl HasSurface for &[&Tool] {
    fn surface(self) -> Result<Surface, String> {
        let tools = self.iter().map(|tool| (&tool.spec, Some(recorded(&tool.call))));
        Surface::of(tools).map_err(|error| error.to_string())
    }
}

impl HasSurface for Surface {
    fn surface(self) -> Result<Surface, String> {
        Ok(self)
    }
}

impl<T: HasSurface, E: Display> HasSurface for Result<T, E> {
    fn surface(self) -> Result<Surface, String> {
        self.map_err(|error| error.to_string())?.surface()
    }
}

fn of_tools<'t>(tools: impl IntoIterator<Item = &'t Arc<dyn AgentTool>>) -> Result<Surface, String> {
    Surface::of(tools.into_iter().map(|tool| (tool.spec(), None))).map_err(|error| error.to_string())
}

/// Defines a program that prints its tools for `cargo toolgen`: the entire content of `src/bin/tools.rs` or an example.
///
/// The program prints its `Surface`, which every command accepts as a document.
///
/// ```ignore
/// // src/bin/tools.rs
/// toolgen_runtime::export!(my_crate::registry());
/// ```
///
/// ```sh
/// cargo toolgen list --bin tools
/// cargo toolgen lock --bin tools
/// ```
///
/// The macro accepts everything that implements `HasSurface`: a [`Registry`], a `Vec` of tools such as `toolset!`
/// creates, a `Surface`, or a `Result` of one of these.
#[macro_export]
macro_rules! export {
    ($tools:expr $(,)?) => {
        fn main() -> ::std::process::ExitCode {
            $crate::registry::contract::print($tools)
        }
    };
}

/// Fails a test if the tools differ from the committed lock, and explains each change.
///
/// The path is relative to the directory of the crate. If the variable `TOOLGEN_UPDATE` is set, the lock is written
/// instead. A third argument, a [`ChangeClass`](crate::spec::drift::ChangeClass), allows changes below that class.
///
/// ```no_run
/// use toolgen_runtime::{assert_contract, tool, toolset};
///
/// /// Adds two numbers.
/// #[tool(undocumented)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # fn main() {
/// assert_contract!("toolgen.lock", toolset![add]);
///
/// use toolgen_runtime::spec::drift::ChangeClass;
/// assert_contract!("toolgen.lock", toolset![add], ChangeClass::Breaking);
/// # }
/// ```
///
/// # Panics
///
/// Panics if a change is not allowed, if there is no lock, or if the lock cannot be read or written.
#[macro_export]
macro_rules! assert_contract {
    ($path:expr, $tools:expr $(,)?) => {{
        let path = ::std::path::Path::new(::core::env!("CARGO_MANIFEST_DIR")).join($path);
        let least = $crate::spec::drift::ChangeClass::Compatible;
        if let ::core::result::Result::Err(error) = $crate::registry::contract::check(&path, $tools, least) {
            ::core::panic!("{error}");
        }
    }};
    ($path:expr, $tools:expr, $least:expr $(,)?) => {{
        let path = ::std::path::Path::new(::core::env!("CARGO_MANIFEST_DIR")).join($path);
        if let ::core::result::Result::Err(error) = $crate::registry::contract::check(&path, $tools, $least) {
            ::core::panic!("{error}");
        }
    }};
}

/// Prints the surface of tools. [`export!`](crate::export) writes a program that only does this.
pub fn print(tools: impl HasSurface) -> ExitCode {
    let outcome = tools.surface().and_then(|surface| {
        let mut out = std::io::stdout().lock();
        let write = out.write_all(surface.text().as_bytes()).and_then(|()| out.flush());
        write.map_err(|error| format!("the tools cannot be written: {error}"))
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // A failure cannot be reported anywhere.
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

/// Compares tools with their lock, or writes the lock if the variable `TOOLGEN_UPDATE` is set.
/// [`assert_contract!`](crate::assert_contract) does this in a test.
///
/// # Errors
///
/// Returns the changes of this class or a more severe one, each with its class and the reason, or the reason why the
/// lock cannot be used.
pub fn check(path: &Path, tools: impl HasSurface, least: ChangeClass) -> Result<(), String> {
    let current = tools.surface()?;
    let path_name = path.display();
    let update = std::env::var_os("TOOLGEN_UPDATE").is_some_and(|value| !value.is_empty() && value != "0");
    let locked = match fs::read_to_string(path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(format!("{path_name} cannot be read: {error}")),
    };
    let text = current.text();
    if update {
        if locked.as_deref() == Some(text.as_str()) {
            return Ok(());
        }
        let create_dir = path.parent().map_or(Ok(()), fs::create_dir_all);
        return create_dir
            .and_then(|()| fs::write(path, text))
            .map_err(|error| format!("{path_name} cannot be written: {error}"));
    }
    const HELP: &str = "run the test with TOOLGEN_UPDATE=1 to write it, read what changed, and commit it";
    let Some(locked) = locked else {
        return Err(format!("there is no lock {path_name}; {HELP}"));
    };
    let locked = Surface::parse(&locked).map_err(|problems| {
        let lines =
            problems.iter().map(|LockProblem { pointer, message, .. }| format!("  {pointer}: {message}\n"));
        format!("{path_name} cannot be used:\n{}{HELP}", lines.collect::<String>())
    })?;
    let mut changes = locked.drift(&current);
    changes.retain(|Change { class, .. }| *class >= least);
    if changes.is_empty() {
        return Ok(());
    }
    Err(format!("the tools differ from {path_name}:\n{}If this is intended, {HELP}.", report(&changes)))
}
