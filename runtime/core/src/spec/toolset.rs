//! Toolsets and their contexts: the tools of a kind of agent, and their limits.

use std::time::Duration;

use crate::base::check::Check;
use crate::base::frozen::{Frozen, List, Text};
use crate::spec::limits::EffectLimits;

/// A named set of tools, which can be a constant. End a literal with `..Toolset::EMPTY`, so that it compiles when
/// fields are added:
///
/// ```
/// use toolgen_runtime::registry::toolsets::Toolset;
/// use toolgen_runtime::{EffectLimits, List, Text};
///
/// static PLANNING: Toolset = Toolset {
///     name: Text::Static("planning"),
///     members: List::Static(&[Text::Static("shell"), Text::Static("submit_plan")]),
///     overlay: EffectLimits::PLANNING,
///     ..Toolset::EMPTY
/// };
/// let registry = toolgen_runtime::Registry::builder().seal()?;
/// assert_eq!(
///     PLANNING.check(&registry).unwrap_err().to_string(),
///     "toolset 'planning': tool 'shell' not registered\ntoolset 'planning': tool 'submit_plan' not registered"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Toolset {
    /// The name of the set.
    pub name: Text,
    /// The purpose of the set. May be empty.
    pub description: Text,
    /// The names of the tools in the set.
    pub members: List<Text>,
    /// The limits of the tools, in addition to those of their context: the stricter limit applies.
    pub overlay: EffectLimits,
    /// The context that the set is meant for. A toolbox of the set applies it.
    pub context: Option<Frozen<ContextSpec>>,
}

impl Toolset {
    /// A set without tools and without limits: the base of every literal.
    pub const EMPTY: Toolset = Toolset {
        name: Text::EMPTY,
        description: Text::EMPTY,
        members: List::EMPTY,
        overlay: EffectLimits::ANY,
        context: None,
    };

    /// Creates a set without its own limits.
    pub fn new<S: Into<Text>>(name: impl Into<Text>, members: impl IntoIterator<Item = S>) -> Toolset {
        let members = members.into_iter().map(Into::into).collect();
        Toolset { name: name.into(), members, ..Toolset::EMPTY }
    }

    /// Checks that every member is a tool of the registry, or of a sub-agent in it, and is listed once.
    ///
    /// # Errors
    ///
    /// Returns every member that fails the check, as a `ToolsetError`.
    pub fn check<R, E>(&self, registry: &R) -> Result<(), E>
    where
        Toolset: Check<R, E>,
    {
        self.checked(registry)
    }

    /// Sets the limits of the tools.
    #[must_use]
    pub fn with_overlay(mut self, overlay: EffectLimits) -> Toolset {
        self.overlay = overlay;
        self
    }
}

/// The limits and the working directory of an agent's tools, as data. A toolbox applies them to its context; they only
/// narrow what that context allows.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextSpec {
    /// The name of the context.
    pub name: Text,
    /// The limits of the tools.
    pub limits: EffectLimits,
    /// The working directory, relative to that of the toolbox's context. Empty for that directory itself.
    pub work_dir: Text,
    /// The scopes that the tools may need: a tool that needs another scope is not available. `None` allows all scopes.
    pub scopes: Option<List<Text>>,
    /// The time limit of the tools that set none. `None` uses that of the toolbox.
    pub timeout: Option<Duration>,
}

impl ContextSpec {
    /// A context that restricts nothing: the base of every literal.
    pub const ANY: ContextSpec = ContextSpec {
        name: Text::EMPTY,
        limits: EffectLimits::ANY,
        work_dir: Text::EMPTY,
        scopes: None,
        timeout: None,
    };
}
