//! A registry that parts of a program fill before it is used, for programs whose tools register themselves.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::base::sync::unpoisoned;
use crate::call::tool::AgentTool;
use crate::registry::{Registry, RegistryError, RegistryProblem};
use crate::toolbox::{Toolbox, ToolboxContext, ToolboxError};

/// A registry that threads fill together until the first toolbox is built from it.
///
/// Where possible, pass a list of tools to [`Registry::new`] instead: the order of initialization then does not
/// matter and a late tool is a compile error. This type is for all other programs. A `static` serves the whole
/// process:
///
/// ```
/// use toolgen_runtime::toolbox::SharedRegistry;
/// use toolgen_runtime::{ToolboxContext, tool};
///
/// static TOOLS: SharedRegistry = SharedRegistry::new();
///
/// /// Adds two numbers.
/// #[tool(read_only, undocumented)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// TOOLS.register(add::tool());
/// let toolbox = TOOLS.toolbox(ToolboxContext::new(), ["add"])?;
/// assert_eq!(toolbox.list().len(), 1);
/// let late = TOOLS.try_register(add::tool()).unwrap_err();
/// assert_eq!(late.to_string(), "tool registry sealed - cannot register");
/// # Ok::<(), toolgen_runtime::toolbox::ToolboxError>(())
/// ```
pub struct SharedRegistry(Mutex<State>);

enum State {
    /// Sorted by name, so that nothing depends on the order of registration.
    Open(BTreeMap<String, (Arc<dyn AgentTool>, &'static Location<'static>)>),
    Sealed(Registry),
}

impl SharedRegistry {
    /// Creates an empty registry, open for tools.
    #[must_use]
    pub const fn new() -> SharedRegistry {
        SharedRegistry(Mutex::new(State::Open(BTreeMap::new())))
    }

    /// Adds a tool, for initialization code that cannot return an error.
    ///
    /// # Panics
    ///
    /// Panics with `tool registry sealed - cannot register` if the registry is sealed, and with `Tool [x] is already
    /// registered.` and the locations if the name is taken.
    #[expect(clippy::panic, reason = "a silently missing tool is worse than a program that does not start")]
    #[track_caller]
    pub fn register(&self, tool: impl AgentTool + 'static) {
        if let Err(error) = self.try_register(tool) {
            panic!("{error}");
        }
    }

    /// Adds a tool.
    ///
    /// # Errors
    ///
    /// Returns [`RegistryProblem::Sealed`] if the registry is sealed, and [`RegistryProblem::Duplicate`] if the name
    /// is taken; the existing tool is kept.
    #[track_caller]
    pub fn try_register(&self, tool: impl AgentTool + 'static) -> Result<(), RegistryError> {
        let (name, location) = (tool.name().to_owned(), Location::caller());
        let tool: Arc<dyn AgentTool> = Arc::new(tool);
        let problem = match &mut *self.lock() {
            State::Sealed(_) => RegistryProblem::Sealed,
            State::Open(tools) => match tools.get(&name) {
                Some((_, first_location)) => {
                    RegistryProblem::Duplicate { places: [Some(first_location), Some(location)], name }
                }
                None => {
                    tools.insert(name, (tool, location));
                    return Ok(());
                }
            },
        };
        Err(RegistryError { problems: vec![problem] })
    }

    /// Closes the registry and returns the sealed set; every call returns the same set.
    ///
    /// # Errors
    ///
    /// Returns all problems with the requirements of the tools, see
    /// [`RegistryBuilder::seal`](crate::registry::RegistryBuilder::seal). The registry then stays open, so that
    /// missing tools can be added.
    pub fn seal(&self) -> Result<Registry, RegistryError> {
        let mut state = self.lock();
        let registry = match &*state {
            State::Sealed(registry) => return Ok(registry.clone()),
            State::Open(tools) => Registry::new(tools.values().map(|(tool, _)| Arc::clone(tool)))?,
        };
        *state = State::Sealed(registry.clone());
        Ok(registry)
    }

    /// Seals the registry and builds a toolbox of these tools. For a toolbox with layers, use [`Toolbox::builder`]
    /// with the result of [`seal`](Self::seal).
    ///
    /// # Errors
    ///
    /// The errors of [`seal`](Self::seal), and every name that no tool has.
    pub fn toolbox<S: Into<String>>(
        &self,
        context: ToolboxContext,
        allowed: impl IntoIterator<Item = S>,
    ) -> Result<Toolbox, ToolboxError> {
        let registry = self.seal().map_err(ToolboxError::NotSealed)?;
        Toolbox::builder(&registry).context(context).allow(allowed).build()
    }

    /// Whether the registry is sealed.
    #[must_use]
    pub fn is_sealed(&self) -> bool {
        matches!(&*self.lock(), State::Sealed(_))
    }

    /// Locks the state. Every change is atomic, so the state is consistent even after a panic of the lock holder.
    fn lock(&self) -> MutexGuard<'_, State> {
        unpoisoned(self.0.lock())
    }
}

impl Default for SharedRegistry {
    fn default() -> Self {
        SharedRegistry::new()
    }
}

impl fmt::Debug for SharedRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.lock() {
            State::Open(tools) => f.debug_tuple("Open").field(&tools.keys()).finish(),
            State::Sealed(registry) => f.debug_tuple("Sealed").field(registry).finish(),
        }
    }
}
