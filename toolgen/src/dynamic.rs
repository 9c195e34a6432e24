//! Tools of a document that is read at run time.
//!
//! They are what a build script would have generated from the document: the same specifications, names, selection and
//! problems, run by the same engine. Only the typed structs for Rust callers are missing.
//!
//! ```
//! use toolgen::Options;
//! use toolgen::dynamic::Loader;
//! use toolgen_runtime::Registry;
//! use toolgen_runtime::engine::http::HttpEngine;
//!
//! # const TEXT: &str = "openapi: 3.1.0\npaths: {/pets: {get: {operationId: listPets, tags: [pets], responses: {}}}}";
//! let engine = HttpEngine::builder().base_url("https://pets.example.com").build()?;
//! let options = Options::default().include("tag:pets").namespace("store");
//! let loaded = Loader::from_str(TEXT)?.options(options).tools(&engine)?;
//!
//! let registry = Registry::new(loaded.tools)?;
//! assert!(registry.get("store__listPets").is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A document decides where its requests go (public addresses only, unless the engine allows others) and which
//! credential each of them carries. Anyone who can change the document can have credentials of the engine sent to
//! their own host, unless the engine binds them to an origin
//! ([`StaticCredentials::with_origin`](toolgen_runtime::engine::http::StaticCredentials::with_origin)) or sends every
//! request to one [`base_url`](toolgen_runtime::engine::http::HttpEngineBuilder::base_url).
//!
//! A manifest may contain tools of other kinds, commands among them, so their engines must be passed explicitly:
//!
//! ```
//! use toolgen::dynamic::Loader;
//! use toolgen_runtime::ToolContext;
//! use toolgen_runtime::engine::{Engines, FunctionTable};
//!
//! # const TEXT: &str = "toolgen: 1\ntools: {now: {description: Tells the time., function: {}}}";
//! let functions = FunctionTable::new().with("now", |_, _: ToolContext| async { Ok("noon") });
//! let loaded = Loader::from_str(TEXT)?.tools_with_engines(&Engines::new().with(functions))?;
//! assert_eq!(loaded.tools.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod parts;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use toolgen_runtime::engine::http::{Fetch, FetchError, HttpEngine};
use toolgen_runtime::engine::{Engines, EnginesError};
use toolgen_runtime::rules::Rules;
use toolgen_runtime::{AgentTool, Text};

use crate::contract;
use crate::frontend;
use crate::options::Options;
use crate::problem::{Problems, Severity, codes, one_per_line};
use crate::source::{Document, MAX_DEPTH, Pointer, Source, Written};
use crate::tool::Program;

/// The name of a document that has none.
const UNNAMED: &str = "document";

/// A document that was read, with the options for its tools.
#[derive(Clone, Debug)]
pub struct Loader {
    document: Arc<Document>,
    problems: Problems,
    options: Options,
    url: Option<String>,
}

/// The tools of a document, and the problems found in it.
#[derive(Clone)]
#[non_exhaustive]
pub struct Loaded {
    /// The tools, sorted by name.
    pub tools: Vec<Arc<dyn AgentTool>>,
    /// The rules of a manifest on the calls of these tools: `builder.layer(RulesLayer::new(loaded.rules))`. Empty for
    /// other documents.
    pub rules: Rules,
    /// The problems found: an error for each operation that is omitted, warnings and notes.
    pub problems: Problems,
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.tools.iter().map(|tool| tool.name()).collect();
        f.debug_struct("Loaded").field("tools", &names).field("problems", &self.problems).finish()
    }
}

/// The reason why a document yields no tools at all.
#[derive(Clone)]
#[non_exhaustive]
pub enum LoadError {
    /// The document could not be fetched.
    Fetch(FetchError),
    /// The document could not be read, no front end compiles it, an exclusion matches nothing, or no tools are left
    /// because a filter matches nothing. Displays as one line per error, with its location.
    Document(Problems),
    /// The document has tools that are not HTTP requests, with these names.
    NoRequests(Vec<Text>),
    /// Tools of the document need engines that are missing.
    Engines(EnginesError),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Fetch(error) => error.fmt(f),
            LoadError::NoRequests(names) => {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                write!(
                    f,
                    "no HTTP requests: {}; load the document with `tools_with_engines`",
                    names.join(", ")
                )
            }
            LoadError::Engines(error) => error.fmt(f),
            LoadError::Document(problems) => {
                let errors = one_per_line(problems, |problem| problem.severity() == Severity::Error);
                f.write_str(&errors.join("\n"))
            }
        }
    }
}

toolgen_core::__readable_debug!(LoadError);

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LoadError::Fetch(error) => Some(error),
            LoadError::Engines(error) => Some(error),
            LoadError::Document(_) | LoadError::NoRequests(_) => None,
        }
    }
}

impl From<FetchError> for LoadError {
    fn from(error: FetchError) -> LoadError {
        LoadError::Fetch(error)
    }
}

impl Loader {
    /// Parses a document from a string, JSON or YAML.
    ///
    /// # Errors
    ///
    /// If the string is neither; the error names the line.
    #[expect(
        clippy::should_implement_trait,
        reason = "one of four constructors, which is found without an import"
    )]
    pub fn from_str(text: &str) -> Result<Loader, LoadError> {
        Loader::read(|problems| Document::parse(Path::new(UNNAMED), text, problems))
    }

    /// Reads a document from disk. Its content, not its name, decides between JSON and YAML.
    ///
    /// # Errors
    ///
    /// If it cannot be read; the error names the file and the line.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Loader, LoadError> {
        Loader::read(|problems| Document::load(path.as_ref(), problems))
    }

    /// Fetches a document with the client of an engine: limited in time and size, and from no private address unless
    /// the engine [allows](toolgen_runtime::engine::http::HttpEngineBuilder::private_host) it. Relative servers are
    /// relative to the document's final URL.
    ///
    /// [`Fetch`] adds options that the URL alone cannot express. No header and no credential of the engine is sent:
    /// they are for the service, and its document may be hosted elsewhere.
    ///
    /// # Errors
    ///
    /// If the document cannot be fetched, which includes every status other than success, or cannot be read.
    pub async fn from_url(url: impl Into<Fetch>, engine: &HttpEngine) -> Result<Loader, LoadError> {
        let fetched = engine.fetch(url).await?;
        let path = Path::new(&fetched.url);
        let loaded = Loader::read(|problems| Document::from_bytes(path, fetched.bytes, problems))?;
        Ok(Loader { url: Some(fetched.url), ..loaded })
    }

    /// Fetches a document as [`from_url`](Self::from_url) does, with its parts on these hosts: `api.example.com`, or
    /// `localhost:8080` with a port. Each part is fetched like the document, but without the headers of the
    /// [`Fetch`]. At most 1,000 parts are fetched, and only over `https` if the document was. References to other
    /// hosts are not followed.
    ///
    /// # Errors
    ///
    /// As for [`from_url`](Self::from_url). A part that cannot be fetched is a problem, and operations that refer to
    /// it are omitted.
    pub async fn from_url_with_parts<H: AsRef<str>>(
        url: impl Into<Fetch>,
        engine: &HttpEngine,
        hosts: impl IntoIterator<Item = H>,
    ) -> Result<Loader, LoadError> {
        let hosts: Vec<String> = hosts.into_iter().map(|host| host.as_ref().to_ascii_lowercase()).collect();
        let fetched = engine.fetch(url).await?;
        let (bundle, problems) = parts::fetch_parts(&fetched, engine, &hosts).await;
        let bundle = Arc::new(bundle);
        let mut loaded = Loader::read(|document_problems| {
            Document::from_bundle(&bundle, &fetched.url, document_problems)
        })?;
        loaded.problems.append(problems);
        loaded.problems.set_source(Arc::clone(&loaded.document.source));
        Ok(Loader { url: Some(fetched.url), ..loaded })
    }

    /// Takes a document as a value that the program read or built. Line numbers in problems are those of the value,
    /// printed with an indentation of two.
    ///
    /// # Errors
    ///
    /// If it is nested deeper than [`MAX_DEPTH`].
    pub fn from_spec(spec: Value) -> Result<Loader, LoadError> {
        Loader::read(|problems| {
            let mut source = Source { path: UNNAMED.into(), ..Source::default() };
            // Checked first, because printing is recursive.
            if is_deeper_than(&spec, MAX_DEPTH) {
                problems.set_source(Arc::new(source));
                let message = format!("the value has more than {MAX_DEPTH} levels");
                let help = "name parts of it under `components`, and refer to them";
                problems.report(codes::TOO_DEEP, &Pointer::ROOT, message, help);
                return None;
            }
            source.text = format!("{spec:#}");
            let source = Arc::new(source);
            problems.set_source(Arc::clone(&source));
            Some(Arc::new(Document { source, root: spec, written: Written::default() }))
        })
    }

    /// Takes a document loaded by [`Document::load`] or a similar function, with the problems found then.
    #[must_use]
    pub fn from_document(document: Arc<Document>, mut problems: Problems) -> Loader {
        problems.set_source(Arc::clone(&document.source));
        Loader::of(document, problems)
    }

    fn read(parse: impl FnOnce(&mut Problems) -> Option<Arc<Document>>) -> Result<Loader, LoadError> {
        let mut problems = Problems::new();
        match parse(&mut problems) {
            Some(document) => Ok(Loader::of(document, problems)),
            None => Err(LoadError::Document(problems)),
        }
    }

    fn of(document: Arc<Document>, problems: Problems) -> Loader {
        Loader { document, problems, options: Options::default(), url: None }
    }

    /// Sets which operations become tools and how the tools are named, as in a build script.
    #[must_use]
    pub fn options(mut self, options: Options) -> Loader {
        self.options = options;
        self
    }

    /// Returns the tools as data, for a host that runs or stores them itself, and the problems found.
    ///
    /// # Errors
    ///
    /// If no front end compiles the document, an exclusion matches nothing, no tools are left because a filter
    /// matches nothing, or the tools break a contract that is [locked](Options::lock). An operation that cannot be
    /// compiled is omitted, with a problem.
    pub fn compile(&self) -> Result<(Program, Problems), LoadError> {
        let mut problems = self.problems.clone();
        // Types of failures are not used here.
        let options = self.options.clone().types(false);
        let program = frontend::compile(&self.document, &options, &mut problems);
        let is_empty = |program: &Program| program.is_empty() && problems.selected_no_tools();
        let Some(program) = program.filter(|program| !is_empty(program) && !problems.missed_exclusion())
        else {
            return Err(LoadError::Document(problems));
        };
        let contract = contract::check(&[&program], &self.options);
        let is_broken = contract.has_errors();
        problems.append(contract);
        if is_broken { Err(LoadError::Document(problems)) } else { Ok((program, problems)) }
    }

    /// Returns the tools, run by an HTTP engine. Relative servers are relative to the URL that the document came from.
    ///
    /// # Errors
    ///
    /// If no front end compiles the document, an exclusion matches nothing, or no tools are left because a filter
    /// matches nothing; or if the document has a tool that is not an HTTP request. An operation that cannot be
    /// compiled is omitted, with a problem.
    pub fn tools(&self, engine: &HttpEngine) -> Result<Loaded, LoadError> {
        let (program, problems) = self.compile()?;
        let others = program.all_tools().into_iter().filter(|tool| tool.call.http().is_none());
        let others: Vec<Text> = others.map(|tool| tool.spec.name.to_text()).collect();
        if !others.is_empty() {
            return Err(LoadError::NoRequests(others));
        }
        let engine = self.url.as_ref().map_or_else(|| engine.clone(), |url| engine.for_document(url));
        let rules = program.all_rules();
        Ok(Loaded { tools: engine.tools_from(program.into_tools()), rules, problems })
    }

    /// Returns tools of all kinds, run by engines. An HTTP engine among them resolves relative servers by its own
    /// settings, not by the URL that the document came from.
    ///
    /// If the engines run commands, the document decides which programs its tools start. Pass such engines only if
    /// you trust the document like your own code.
    ///
    /// # Errors
    ///
    /// If no front end compiles the document, an exclusion matches nothing, or no tools are left because a filter
    /// matches nothing; [`LoadError::Engines`] names every tool that no engine runs, and what to add.
    pub fn tools_with_engines(&self, engines: &Engines) -> Result<Loaded, LoadError> {
        let (program, problems) = self.compile()?;
        let rules = program.all_rules();
        let mut tools = engines.tools_from(program.into_tools()).map_err(LoadError::Engines)?;
        tools.sort_by(|left, right| left.name().cmp(right.name()));
        Ok(Loaded { tools, rules, problems })
    }
}

/// Whether a value has more than a number of levels.
fn is_deeper_than(value: &Value, limit: usize) -> bool {
    let mut level: Vec<&Value> = vec![value];
    for _ in 0..limit {
        level = level.into_iter().flat_map(children).collect();
        if level.is_empty() {
            return false;
        }
    }
    level.iter().any(|value| children(value).next().is_some())
}

fn children(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(members) => Box::new(members.values()),
        _ => Box::new(std::iter::empty()),
    }
}
