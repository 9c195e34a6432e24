//! Named sets of tools, and the contexts that they are meant for: what a kind of agent gets, and what it may do.

use std::time::Duration;

use crate::base::check::Check;
use crate::base::frozen::{Frozen, List, Text};
use crate::spec::limits::EffectLimits;

/// A named set of tools, which can be a constant. End a literal with `..Toolset::EMPTY`, so that later fields do not
/// break it:
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
    /// What the set is for. May be empty.
    pub description: Text,
    /// The names of the tools in the set.
    pub members: List<Text>,
    /// The limits of the tools, in addition to those of their context: the stricter one applies.
    pub overlay: EffectLimits,
    /// The context that the set is meant for. A provider of the set applies it.
    pub context: Option<Frozen<ContextSpec>>,
}

impl Toolset {
    /// A set without tools and limits: the base of every literal.
    pub const EMPTY: Toolset = Toolset {
        name: Text::EMPTY,
        description: Text::EMPTY,
        members: List::EMPTY,
        overlay: EffectLimits::ANY,
        context: None,
    };

    /// Creates a set without limits of its own.
    pub fn new<S: Into<Text>>(name: impl Into<Text>, members: impl IntoIterator<Item = S>) -> Toolset {
        let members = members.into_iter().map(Into::into).collect();
        Toolset { name: name.into(), members, ..Toolset::EMPTY }
    }

    /// Checks that every member is a tool of the registry, or of a sub-agent in it, and is listed once.
    ///
    /// # Errors
    ///
    /// Every member that fails the check, as a `ToolsetError`.
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

/// What the tools of an agent may do, and where, as data. A provider applies it to its context and only ever narrows
/// what that allows.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextSpec {
    /// The name of the context.
    pub name: Text,
    /// The limits of the tools.
    pub limits: EffectLimits,
    /// The working directory, relative to that of the provider's context. Empty for that directory itself.
    pub work_dir: Text,
    /// The scopes that the tools may need: a tool that needs another is not available. `None` for any.
    pub scopes: Option<List<Text>>,
    /// The time limit of the tools that set none. `None` for that of the provider.
    pub timeout: Option<Duration>,
}

impl ContextSpec {
    /// A context that narrows nothing: the base of every literal.
    pub const ANY: ContextSpec = ContextSpec {
        name: Text::EMPTY,
        limits: EffectLimits::ANY,
        work_dir: Text::EMPTY,
        scopes: None,
        timeout: None,
    };
}
