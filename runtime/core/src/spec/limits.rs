//! The limits on the tools of a context.

use std::fmt;

use crate::base::check::Check;
use crate::spec::hosts::{self, describe_hosts};
use crate::spec::{Effects, Files, Network, ToolSpec};

/// The limits on the tools of a context.
///
/// A tool is allowed exactly if each of its [`Effects`] is within the limit of its kind; a tool that declares no
/// effects counts as doing everything. Other declarations (`idempotent`, `open_world`) have no limit:
/// `layers::policy::Rules` of `toolgen-runtime` can require them.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectLimits {
    /// Allows only tools that declare themselves read-only, do not destroy and do not write files.
    pub read_only: bool,
    /// Whether things may be destroyed. A tool that declares no effects may destroy.
    pub destructive: bool,
    /// The hosts that may be reached, as `host` (any port) or `host:port`; `*.example.com` stands for every host below
    /// `example.com`, but not for itself, and `*` for every host. Case does not matter. A tool that declares a host
    /// without a port may use any port of it, so a host with a port does not cover it.
    pub network: Network,
    /// The allowed access to files.
    pub files: Files,
    /// Whether other programs may be started. Their own limits are the executor's task.
    pub spawns: bool,
}

/// An effect of a tool that exceeds the [`EffectLimits`] of its context.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LimitViolation {
    /// The tool changes things.
    Changes,
    /// The tool may destroy things.
    Destroys {
        /// Whether nothing may be changed at all.
        read_only: bool,
    },
    /// The tool reaches hosts that are not allowed.
    Network {
        /// The hosts that are not allowed.
        beyond: Network,
        /// The allowed hosts.
        allowed: Network,
    },
    /// The tool needs more access to files than allowed.
    Files {
        /// The access of the tool.
        asked: Files,
        /// The allowed access.
        allowed: Files,
    },
    /// The tool starts programs.
    Spawns,
}

impl Default for EffectLimits {
    fn default() -> EffectLimits {
        EffectLimits::ANY
    }
}

impl EffectLimits {
    /// No limits.
    pub const ANY: EffectLimits = EffectLimits {
        read_only: false,
        destructive: true,
        network: Network::Any,
        files: Files::Write,
        spawns: true,
    };

    /// Allows only tools that touch nothing outside the program.
    pub const NONE: EffectLimits = EffectLimits {
        read_only: true,
        destructive: false,
        network: Network::None,
        files: Files::None,
        spawns: false,
    };

    /// Limits for agents that plan: files are read-only, and there is no network. A tool may still change the program's
    /// own data, such as a plan or a chat. Programs may be started: a tool that starts any is allowed if its executor
    /// enforces the same limits on them, see [`confine`](Self::confine).
    pub const PLANNING: EffectLimits = EffectLimits {
        read_only: false,
        destructive: true,
        network: Network::None,
        files: Files::Read,
        spawns: true,
    };

    /// Whether all effects are within the limits.
    #[must_use]
    pub fn allows(&self, effects: &Effects) -> bool {
        (effects.read_only || !self.read_only)
            && (!effects.destructive || self.may_destroy())
            && rank(effects.files) <= rank(self.allowed_files())
            && (self.spawns || !effects.spawns)
            && (self.network == Network::Any
                || hosts::beyond(&effects.network, &self.network) == Network::None)
    }

    /// Checks the effects of a tool.
    ///
    /// # Errors
    ///
    /// `ToolError::Denied` with the tool, every effect that exceeds the limits, and what is allowed instead.
    pub fn check<E>(&self, spec: &ToolSpec) -> Result<(), E>
    where
        EffectLimits: Check<ToolSpec, E>,
    {
        self.checked(spec)
    }

    /// Returns every effect that exceeds the limits. Empty exactly if [`allows`](Self::allows).
    #[must_use]
    pub fn violations(&self, effects: &Effects) -> Vec<LimitViolation> {
        let mut excess = Vec::new();
        if self.read_only && !effects.read_only {
            excess.push(LimitViolation::Changes);
        }
        if effects.destructive && !self.may_destroy() {
            excess.push(LimitViolation::Destroys { read_only: self.read_only });
        }
        let beyond = hosts::beyond(&effects.network, &self.network);
        if beyond != Network::None {
            excess.push(LimitViolation::Network { beyond, allowed: self.network.clone() });
        }
        let allowed = self.allowed_files();
        if rank(effects.files) > rank(allowed) {
            excess.push(LimitViolation::Files { asked: effects.files, allowed });
        }
        if effects.spawns && !self.spawns {
            excess.push(LimitViolation::Spawns);
        }
        excess
    }

    /// Returns what both limits allow: a toolset may narrow what its context grants, never widen it.
    #[must_use]
    pub fn and(&self, other: &EffectLimits) -> EffectLimits {
        EffectLimits {
            read_only: self.read_only || other.read_only,
            destructive: self.destructive && other.destructive,
            network: hosts::both(&self.network, &other.network),
            files: least(self.files, other.files),
            spawns: self.spawns && other.spawns,
        }
    }

    /// Returns the effects of a tool whose executor enforces these limits: it has no network unless any host is
    /// allowed, and cannot write files unless that is allowed. If the limits are read-only, it then changes nothing
    /// except over a network. No executor prevents it from starting programs and reading files.
    #[must_use]
    pub fn confine(&self, effects: &Effects) -> Effects {
        let network = if self.network == Network::Any { effects.network.clone() } else { Network::None };
        let harmless = self.read_only && network == Network::None;
        let files = if self.allowed_files() == Files::Write { Files::Write } else { Files::Read };
        Effects {
            read_only: effects.read_only || harmless,
            destructive: effects.destructive && !harmless,
            network,
            files: least(effects.files, files),
            ..effects.clone()
        }
    }

    fn may_destroy(&self) -> bool {
        self.destructive && !self.read_only
    }

    fn allowed_files(&self) -> Files {
        if self.read_only { least(self.files, Files::Read) } else { self.files }
    }
}

fn rank(files: Files) -> u8 {
    match files {
        Files::None => 0,
        Files::Read => 1,
        Files::Write => 2,
    }
}

fn least(left: Files, right: Files) -> Files {
    if rank(left) <= rank(right) { left } else { right }
}

impl fmt::Display for LimitViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LimitViolation::Changes => f.write_str("changes: it may change things (allowed: reading only)"),
            LimitViolation::Destroys { read_only } => {
                let allowed = if *read_only { "reading only" } else { "none" };
                write!(f, "destruction: it may destroy things (allowed: {allowed})")
            }
            LimitViolation::Network { beyond, allowed } => {
                write!(
                    f,
                    "network: it may reach {} (allowed: {})",
                    describe_hosts(beyond),
                    describe_hosts(allowed)
                )
            }
            LimitViolation::Files { asked, allowed } => {
                let asked = if *asked == Files::Write { "write" } else { "read" };
                let allowed = match allowed {
                    Files::None => "none",
                    Files::Read => "reading only",
                    Files::Write => "writing",
                };
                write!(f, "files: it may {asked} files (allowed: {allowed})")
            }
            LimitViolation::Spawns => f.write_str("programs: it may start programs (allowed: none)"),
        }
    }
}
