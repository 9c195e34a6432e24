//! The immutable set of tools that a program offers.

pub mod catalogue;
#[doc(hidden)]
pub mod contract;
pub mod discovery;
mod projection;
pub mod toolsets;
pub(crate) mod unknown;

use std::fmt;
use std::panic::Location;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::Value;
use toolgen_core::internal::closest_match;

pub use unknown::UnknownTool;

use crate::base::depth::shallow;
use crate::base::frozen::Text;
use crate::base::panics;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::result::ToolResult;
use crate::call::shown_name;
use crate::call::tool::{AgentTool, DEFAULT_TIMEOUT, IntoTool, call_without_layers};
use crate::spec::ToolSpec;
use crate::spec::graph::{RequirementProblem, problems as requirement_problems};
use crate::spec::projection::Projection;
use crate::spec::search::SearchIndex;

/// A tool, or several: an item of a [`Registry`], and an item of `toolset!` other than a function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a tool nor a list of tools",
    note = "functions with `#[tool]` are listed by name in `toolset![…]`; other tools are an `AgentTool` or a `Vec<Arc<dyn AgentTool>>`"
)]
pub trait IntoTools {
    /// Adds the tools to a list.
    fn add_to(self, tools: &mut Vec<Arc<dyn AgentTool>>);
}

impl<T: AgentTool + 'static> IntoTools for T {
    fn add_to(self, tools: &mut Vec<Arc<dyn AgentTool>>) {
        tools.push(Arc::new(self));
    }
}

impl<T: IntoTools> IntoTools for Vec<T> {
    fn add_to(self, tools: &mut Vec<Arc<dyn AgentTool>>) {
        for tool in self {
            tool.add_to(tools);
        }
    }
}

/// An immutable set of tools, sorted by name.
///
/// Clones share the set. To add tools later, create a new set with [`extend`](Registry::extend).
#[derive(Clone)]
pub struct Registry {
    tools: Arc<[Arc<dyn AgentTool>]>,
    /// The names of the tools, in the same order.
    names: Arc<[Text]>,
    default_timeout: Duration,
    /// The search index, built by the first search.
    index: Arc<OnceLock<SearchIndex>>,
}

/// A tool, and the location where the program adds it, unless it comes from another registry.
type Registration = (Arc<dyn AgentTool>, Option<&'static Location<'static>>);

/// Collects the tools of a [`Registry`].
pub struct RegistryBuilder {
    added: Vec<Registration>,
    replacements: Vec<Registration>,
    default_timeout: Duration,
    projection: Projection,
}

/// Why a registry could not be sealed: all its problems, sorted by name.
#[derive(Clone, PartialEq, Eq)]
pub struct RegistryError {
    /// The problems, one entry per name.
    pub problems: Vec<RegistryProblem>,
}

/// A problem of a set of tools.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RegistryProblem {
    /// Two tools have this name: `Tool [x] is already registered.`, the locations where both are added, and how to
    /// fix it.
    Duplicate {
        /// The name.
        name: String,
        /// The locations where the two tools are added in the program; `None` for a tool of another registry.
        places: [Option<&'static Location<'static>>; 2],
    },
    /// The tool to replace does not exist: `Tool [x] is not registered.`
    NotRegistered(String),
    /// The requirements of the tools cannot be met: they are cyclic, or name something that does not exist.
    Requirement(RequirementProblem),
    /// The registry is sealed and cannot change: `tool registry sealed - cannot register`
    Sealed,
}

impl fmt::Display for RegistryProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegistryProblem::Duplicate { name, places } => {
                write!(f, "Tool [{name}] is already registered. ")?;
                match places {
                    [Some(first), Some(second)] if first == second => write!(f, "Both are added at {first}")?,
                    [Some(first), Some(second)] => {
                        write!(f, "One is added at {first}, the other at {second}")?;
                    }
                    [Some(location), None] | [None, Some(location)] => {
                        write!(f, "One is in the set already, the other is added at {location}")?;
                    }
                    [None, None] => f.write_str("Both are in the set")?,
                }
                f.write_str(": rename or remove one of them, or use `replace` to replace the other.")
            }
            RegistryProblem::NotRegistered(name) => write!(f, "Tool [{name}] is not registered."),
            RegistryProblem::Requirement(problem) => problem.fmt(f),
            RegistryProblem::Sealed => f.write_str("tool registry sealed - cannot register"),
        }
    }
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let line_break = if index == 0 { "" } else { "\n" };
            write!(f, "{line_break}{problem}")?;
        }
        Ok(())
    }
}

toolgen_core::__readable_debug!(RegistryError);

impl std::error::Error for RegistryError {}

impl RegistryBuilder {
    /// Adds a tool.
    #[must_use]
    #[track_caller]
    #[expect(clippy::should_implement_trait, reason = "the usual name of a builder method")]
    pub fn add(mut self, tool: impl AgentTool + 'static) -> RegistryBuilder {
        self.added.push((Arc::new(tool), Some(Location::caller())));
        self
    }

    /// Adds several tools.
    #[must_use]
    #[track_caller]
    pub fn add_all(mut self, tools: impl IntoIterator<Item = impl IntoTool>) -> RegistryBuilder {
        let location = Location::caller();
        self.added.extend(tools.into_iter().map(|tool| (tool.into_tool(), Some(location))));
        self
    }

    /// Replaces the tool of the same name; the two may be added in either order.
    #[must_use]
    #[track_caller]
    pub fn replace(mut self, tool: impl AgentTool + 'static) -> RegistryBuilder {
        self.replacements.push((Arc::new(tool), Some(Location::caller())));
        self
    }

    /// Sets the timeout for tools that set none; [`DEFAULT_TIMEOUT`] by default.
    #[must_use]
    pub fn default_timeout(mut self, timeout: Duration) -> RegistryBuilder {
        self.default_timeout = timeout;
        self
    }

    /// Lets models choose the fields of results: adds the argument of
    /// [`with_projection`](crate::ToolSpec::with_projection) to the tools that the projection applies to.
    /// [`Projection::Off`] by default, which leaves tools that already have the argument unchanged.
    #[must_use]
    pub fn projection(mut self, projection: Projection) -> RegistryBuilder {
        self.projection = projection;
        self
    }

    /// Sorts the tools and seals the set.
    ///
    /// # Errors
    ///
    /// Returns every duplicate name, every replacement of a tool that does not exist, and every invalid requirement
    /// of a tool.
    pub fn seal(mut self) -> Result<Registry, RegistryError> {
        // The result does not depend on the order of registration, except for the order of duplicates.
        self.added.sort_by(by_name);
        self.replacements.sort_by(by_name);
        let mut problems = duplicates(&self.added);
        problems.extend(duplicates(&self.replacements));
        for replacement in self.replacements {
            match self.added.binary_search_by(|tool| by_name(tool, &replacement)) {
                Ok(index) => self.added[index] = replacement,
                Err(_) => problems.push(RegistryProblem::NotRegistered(replacement.0.name().to_owned())),
            }
        }
        let invalid = requirement_problems(self.added.iter().map(|(tool, _)| tool.spec()));
        problems.extend(invalid.into_iter().map(RegistryProblem::Requirement));
        problems.sort();
        problems.dedup();
        if problems.is_empty() {
            panics::watch();
            let names = self.added.iter().map(|(tool, _)| Text::copy_of(tool.name())).collect();
            let projection = self.projection;
            let tools =
                self.added.into_iter().map(|(tool, _)| projection::projected(tool, projection)).collect();
            let default_timeout = self.default_timeout;
            Ok(Registry { tools, names, default_timeout, index: Arc::default() })
        } else {
            Err(RegistryError { problems })
        }
    }
}

fn by_name((left, _): &Registration, (right, _): &Registration) -> std::cmp::Ordering {
    left.name().cmp(right.name())
}

/// Returns the names that occur more than once in a sorted list.
fn duplicates(tools: &[Registration]) -> Vec<RegistryProblem> {
    let pairs = tools.windows(2).filter(|pair| pair[0].0.name() == pair[1].0.name());
    let problem = |pair: &[Registration]| RegistryProblem::Duplicate {
        name: pair[0].0.name().to_owned(),
        places: [pair[0].1, pair[1].1],
    };
    pairs.map(problem).collect()
}

impl Registry {
    /// Returns an empty builder.
    #[must_use]
    pub fn builder() -> RegistryBuilder {
        RegistryBuilder {
            added: Vec::new(),
            replacements: Vec::new(),
            default_timeout: DEFAULT_TIMEOUT,
            projection: Projection::Off,
        }
    }

    /// Creates a set of these tools.
    ///
    /// # Errors
    ///
    /// The errors of [`RegistryBuilder::seal`].
    #[track_caller]
    pub fn new(tools: impl IntoIterator<Item = impl IntoTool>) -> Result<Registry, RegistryError> {
        Registry::builder().add_all(tools).seal()
    }

    /// Creates a new set with these tools added. This set does not change.
    ///
    /// # Errors
    ///
    /// The errors of [`RegistryBuilder::seal`].
    #[track_caller]
    pub fn extend(&self, tools: impl IntoIterator<Item = impl IntoTool>) -> Result<Registry, RegistryError> {
        self.to_builder().add_all(tools).seal()
    }

    /// Returns a builder that holds the tools of this set.
    #[must_use]
    pub fn to_builder(&self) -> RegistryBuilder {
        let added = self.tools.iter().map(|tool| (Arc::clone(tool), None)).collect();
        RegistryBuilder { added, default_timeout: self.default_timeout, ..Registry::builder() }
    }

    /// Returns the tool of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn AgentTool>> {
        self.index(name).map(|index| self.at(index))
    }

    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        self.names.binary_search_by(|other| other.as_str().cmp(name)).ok()
    }

    /// Returns the tool at an index from [`index`](Self::index).
    pub(crate) fn at(&self, index: usize) -> &Arc<dyn AgentTool> {
        &self.tools[index]
    }

    pub(crate) fn default_timeout(&self) -> Duration {
        self.default_timeout
    }

    /// Returns the search index of the tools, which the first search builds.
    pub(crate) fn search_index(&self) -> &SearchIndex {
        self.index
            .get_or_init(|| SearchIndex::new(self.iter().map(|tool| (tool.spec(), tool.search_terms()))))
    }

    /// Iterates over the tools, sorted by name.
    pub fn iter(&self) -> std::slice::Iter<'_, Arc<dyn AgentTool>> {
        self.tools.iter()
    }

    /// The number of tools.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there are no tools.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Calls a tool by name, without any layers; see [`call_without_layers`]. Only for calls that your program makes
    /// itself and is responsible for. Calls of a model must go through a [`Toolbox`](crate::toolbox::Toolbox).
    ///
    /// # Errors
    ///
    /// Returns [`ToolError::NotFound`], with a similar name, if there is no such tool; otherwise the errors of
    /// [`call_without_layers`].
    pub async fn call_without_layers(
        &self,
        name: &str,
        params: Value,
        ctx: &ToolContext,
    ) -> Result<ToolResult, ToolError> {
        match self.get(name) {
            Some(tool) => call_without_layers(tool.as_ref(), params, ctx, self.default_timeout).await,
            None => {
                drop(shallow(params));
                let suggestion = closest_match(name, self.names.iter().map(Text::as_str));
                Err(ToolError::NotFound {
                    name: shown_name(name).into_owned(),
                    suggestion: suggestion.map(str::to_owned),
                })
            }
        }
    }

    /// Iterates over the specifications of the tools, including the tools of sub-agents.
    pub(crate) fn all_specs(&self) -> impl Iterator<Item = &ToolSpec> {
        self.iter().flat_map(|tool| std::iter::once(tool.spec()).chain(tool.own_tools()))
    }
}

impl<'a> IntoIterator for &'a Registry {
    type Item = &'a Arc<dyn AgentTool>;
    type IntoIter = std::slice::Iter<'a, Arc<dyn AgentTool>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(|tool| tool.name())).finish()
    }
}

impl fmt::Debug for RegistryBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |tools: &[Registration]| -> Vec<String> {
            tools.iter().map(|(tool, _)| tool.name().to_owned()).collect()
        };
        f.debug_struct("RegistryBuilder")
            .field("added", &names(&self.added))
            .field("replacements", &names(&self.replacements))
            .field("default_timeout", &self.default_timeout)
            .field("projection", &self.projection)
            .finish()
    }
}
