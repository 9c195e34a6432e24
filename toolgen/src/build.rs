//! Compiles documents in build scripts into a module in `OUT_DIR`.
//!
//! ```no_run
//! // build.rs
//! toolgen::Build::new("petstore")
//!     .document("specs/petstore.yaml")
//!     .options(toolgen::Options::default().credential("api_key", "PETSTORE_KEY"))
//!     .emit();
//! ```
//!
//! ```ignore
//! // src/lib.rs
//! pub mod petstore {
//!     toolgen_runtime::include_tools!("petstore");
//! }
//! ```

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use toolgen_core::spec::docs::{self, Style};

use crate::contract;
use crate::emit::{self, ModuleStyle};
use crate::frontend;
use crate::lint::lint;
use crate::options::Options;
use crate::problem::{Problem, Problems, Severity, keep_common, one_per_line};
use crate::schema_losses;
use crate::size;
use crate::source::Document;
use crate::tool::Program;
use crate::write::{WriteError, write_if_changed};

/// The documents that a build script compiles into one module.
///
/// A document is an OpenAPI or Swagger document ([`frontend::openapi`](crate::frontend::openapi)), a manifest
/// ([`frontend::manifest`](crate::frontend::manifest)) or the lock file of an MCP server
/// ([`frontend::mcp`](crate::frontend::mcp)). One document becomes the module itself; several become nested modules,
/// named after their files. The program includes the module with `toolgen_runtime::include_tools!`.
///
/// ```no_run
/// // in build.rs
/// toolgen::Build::new("petstore").document("petstore.yaml").emit();
/// ```
#[derive(Clone, Debug)]
pub struct Build {
    name: String,
    documents: Vec<PathBuf>,
    options: Options,
    runtime: Option<String>,
    strict: bool,
    docs: Vec<Style<'static>>,
}

/// The result of a build.
#[derive(Debug)]
pub struct BuildOutput {
    /// The source text of the module. `None` if a document could not be compiled, a manifest has an error, an
    /// exclusion matches nothing, no tools are left because a filter matches nothing, the tools break their locked
    /// contract or exceed their token budget, or a dialect loses something that it must not lose.
    pub module: Option<String>,
    /// The problems found in the documents.
    pub problems: Problems,
    /// The files that the documents import or refer to, and the contract locks.
    pub sources: Vec<PathBuf>,
    /// The requested documentation: file names and contents. Empty without a module.
    pub docs: Vec<(String, String)>,
}

impl Build {
    /// Starts a module with this name, which is also the argument of `include_tools!`. It becomes the file `NAME.rs`
    /// in `OUT_DIR`. Modules that earlier runs wrote there under other names can no longer be included.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Build {
        Build {
            name: name.into(),
            documents: Vec::new(),
            options: Options::default(),
            runtime: None,
            strict: false,
            docs: Vec::new(),
        }
    }

    /// Adds a document. A relative path starts at the directory of the crate's manifest, where cargo runs build
    /// scripts.
    #[must_use]
    pub fn document(mut self, path: impl Into<PathBuf>) -> Build {
        self.documents.push(path.into());
        self
    }

    /// Sets how the documents are compiled: filters, names, credentials, types.
    #[must_use]
    pub fn options(mut self, options: Options) -> Build {
        self.options = options;
        self
    }

    /// Sets the path of the runtime crate, if the dependency has another name than `toolgen-runtime`.
    #[must_use]
    pub fn runtime(mut self, path: impl Into<String>) -> Build {
        self.runtime = Some(path.into());
        self
    }

    /// Sets whether an operation of a third-party document that cannot be compiled fails the build. By default it is
    /// a warning. An error in a manifest always fails the build.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Build {
        self.strict = strict;
        self
    }

    /// Also writes the documentation of all tools for a system prompt into `OUT_DIR`, as `NAME.LEVEL.md`. Each call
    /// adds a level.
    ///
    /// ```no_run
    /// use toolgen_runtime::spec::docs::{Level, Style};
    ///
    /// toolgen::Build::new("petstore").document("specs/petstore.yaml").docs(Style::new(Level::Signature)).emit();
    /// // In the program: include_str!(concat!(env!("OUT_DIR"), "/petstore.signature.md"))
    /// ```
    #[must_use]
    pub fn docs(mut self, style: Style<'static>) -> Build {
        self.docs.push(style);
        self
    }

    /// Compiles the documents without writing or printing anything.
    #[must_use]
    pub fn compile(&self) -> BuildOutput {
        let compile = |path: &PathBuf| {
            let mut problems = Problems::new();
            let document = Document::load(path, &mut problems);
            let program = document
                .as_ref()
                .and_then(|document| frontend::compile(document, &self.options, &mut problems));
            if let (Some(document), Some(program)) = (&document, &program) {
                lint(document, program, &self.options, &mut problems);
            }
            (program, problems)
        };
        let mut compiled: Vec<(Option<Program>, Problems)> = self.documents.iter().map(compile).collect();
        keep_common(
            compiled.iter_mut().filter(|(program, _)| program.is_some()).map(|(_, problems)| problems),
        );
        let mut problems = Problems::new();
        let mut programs = Vec::with_capacity(compiled.len());
        for (program, document_problems) in compiled {
            programs.extend(program);
            problems.append(document_problems);
        }
        let is_complete = !programs.is_empty() && programs.len() == self.documents.len();
        let is_in_budget = size::check_budget(&programs, &self.options, &mut problems);
        let is_lossless = schema_losses::check(&programs, &self.options, &mut problems);
        let is_empty = programs.iter().all(Program::is_empty) && problems.selected_no_tools();
        let contract = contract::check(&programs.iter().collect::<Vec<_>>(), &self.options);
        let keeps_contract = !contract.has_errors();
        problems.append(contract);
        let is_valid = is_complete && is_in_budget && is_lossless && !is_empty && keeps_contract;
        let is_valid = is_valid && !problems.missed_exclusion() && !problems.has_own_errors();
        let locks = contract::paths(&programs, &self.options);
        let sources = programs.iter().flat_map(|program| program.sources.clone()).chain(locks).collect();
        let module = is_valid.then(|| self.module(&programs));
        let docs = if is_valid { self.documentation(&programs) } else { Vec::new() };
        BuildOutput { module, problems, sources, docs }
    }

    fn documentation(&self, programs: &[Program]) -> Vec<(String, String)> {
        let specs = || programs.iter().flat_map(Program::all_tools).map(|tool| &tool.spec);
        let document = |style: &Style<'_>| {
            (format!("{}.{}.md", self.name, style.level.name()), docs::docs_at(specs(), style))
        };
        self.docs.iter().map(document).collect()
    }

    /// Returns the source text of one program for each document.
    fn module(&self, programs: &[Program]) -> String {
        let mut used_names = Vec::new();
        let modules = self.documents.iter().zip(programs).map(|(path, program)| {
            let file_name = path.file_name().unwrap_or(OsStr::new("tools")).to_string_lossy();
            let mut style = ModuleStyle::new(file_name.as_ref());
            style.types = self.options.types;
            style.derives.clone_from(&self.options.derives);
            style.text_types.clone_from(&self.options.text_types);
            style.modules = self.options.modules;
            if let Some(runtime) = &self.runtime {
                style.runtime.clone_from(runtime);
            }
            (emit::module_name(&file_name, &mut used_names), emit::module(program, &style))
        });
        match modules.collect::<Vec<_>>().as_slice() {
            [(_, text)] => text.clone(),
            modules => modules
                .iter()
                .map(|(name, text)| format!("/// Tools of one document.\npub mod {name} {{\n{text}}}\n"))
                .collect(),
        }
    }

    /// Compiles the documents into `OUT_DIR` and reports to cargo: which files to watch, an error for each document
    /// that cannot be compiled and for each error in a manifest, and a warning for each operation that was omitted.
    ///
    /// Exits the process with status 1 if there is an error, so that the build stops there.
    pub fn emit(&self) {
        let mut script = Script::default();
        for path in &self.documents {
            script.push_directive("rerun-if-changed", &path.display().to_string());
        }
        let failed = match self.run(&mut script) {
            Ok(built) => script.report(&built, self.strict),
            Err(reason) => {
                script.push_directive("error", &reason.to_string());
                true
            }
        };
        script.print();
        if failed {
            std::process::exit(1);
        }
    }

    fn run(&self, script: &mut Script) -> Result<BuildOutput, BuildError> {
        if self.documents.is_empty() {
            return Err(BuildError::NoDocument);
        }
        let file_name = Path::new(&self.name).file_name();
        if file_name != Some(OsStr::new(&self.name)) {
            return Err(BuildError::Name(self.name.clone()));
        }
        let dir = std::env::var_os("OUT_DIR").ok_or(BuildError::NoOutDir)?;
        self.run_in(Path::new(&dir), script)
    }

    fn run_in(&self, dir: &Path, script: &mut Script) -> Result<BuildOutput, BuildError> {
        let built = self.compile();
        for path in &built.sources {
            script.push_directive("rerun-if-changed", &path.display().to_string());
        }
        script.arguments = self.options.command_line() + &self.options.levels.command_line();
        if let Some(module) = &built.module {
            let path = dir.join(format!("{}.rs", self.name));
            script.wrote = write_if_changed(&path, module).map_err(BuildError::Write)?;
            // `include_tools!` reads these. Cargo forgets those of an earlier run, whose files may still exist.
            script.push_directive("rustc-env", &format!("TOOLGEN_MODULE_{}={}", self.name, path.display()));
            script.push_directive("rustc-env", &format!("TOOLGEN_MODULES={}", written_modules(&self.name)));
        }
        for (name, text) in &built.docs {
            write_if_changed(&dir.join(name), text).map_err(BuildError::Write)?;
        }
        Ok(built)
    }
}

/// Returns the names of the modules that this build script has written, and one more: a script may write several.
fn written_modules(name: &str) -> String {
    static WRITTEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut written_modules = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    written_modules.insert(format!("`{name}`"));
    written_modules.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// The reason why a build script failed that does not depend on the documents.
#[derive(Debug)]
enum BuildError {
    NoDocument,
    NoOutDir,
    Name(String),
    Write(WriteError),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::NoDocument => f.write_str("no document was given: call `.document(\"…\")`"),
            BuildError::NoOutDir => f.write_str("OUT_DIR is not set: call this from a build script"),
            BuildError::Name(name) => write!(f, "`{name}` is not a file name: give the module a plain name"),
            BuildError::Write(error) => error.fmt(f),
        }
    }
}

fn is_warning(problem: &Problem) -> bool {
    problem.severity() == Severity::Warning
}

fn full_path(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// The output to cargo, in order.
#[derive(Default)]
struct Script {
    lines: Vec<String>,
    wrote: bool,
    /// The arguments of `cargo toolgen` that correspond to the options.
    arguments: String,
}

impl Script {
    /// Adds one directive. Cargo reads line by line, so a message must be one line.
    fn push_directive(&mut self, directive: &str, text: &str) {
        let text = text.replace(['\r', '\n'], " ");
        self.lines.push(format!("cargo::{directive}={text}"));
    }

    /// Reports the problems. Returns `true` if the build must fail.
    fn report(&mut self, built: &BuildOutput, strict: bool) -> bool {
        let failed =
            built.module.is_none() || built.problems.has_denied() || (strict && built.problems.has_errors());
        let directive = if failed { "error" } else { "warning" };
        for line in one_per_line(&built.problems, |problem| problem.severity() == Severity::Error) {
            self.push_directive(directive, &line);
        }
        // Errors in the build script itself are reported in every run until they are fixed.
        for line in one_per_line(&built.problems, |problem| is_warning(problem) && problem.code.is_choice()) {
            self.push_directive("warning", &line);
        }
        // Problems of operations that were compiled less faithfully are reported once, when they are new.
        if self.wrote {
            self.report_warning_count(&built.problems);
        }
        failed
    }

    /// Reports how many warnings the documents have, and how to see them from the user's directory.
    fn report_warning_count(&mut self, problems: &Problems) {
        let of_documents = |problem: &&Problem| is_warning(problem) && !problem.code.is_choice();
        let document_warnings: Vec<&Problem> = problems.as_slice().iter().filter(of_documents).collect();
        let documents: BTreeSet<PathBuf> =
            document_warnings.iter().map(|problem| full_path(&problem.source.path)).collect();
        let documents: Vec<String> = documents.iter().map(|path| path.display().to_string()).collect();
        let noun = match document_warnings.len() {
            0 => return,
            1 => "warning",
            _ => "warnings",
        };
        // Without the options, the command would check other operations and report other problems.
        let command = format!("cargo toolgen check {}{}", documents.join(" "), self.arguments);
        self.push_directive(
            "warning",
            &format!("{} {noun}; `{command}` has the details", document_warnings.len()),
        );
    }

    #[expect(clippy::print_stdout, reason = "cargo reads the standard output of build scripts")]
    fn print(&self) {
        for line in &self.lines {
            println!("{line}");
        }
    }
}
