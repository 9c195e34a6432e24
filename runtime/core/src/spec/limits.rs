//! The limits on the effects of tools in a context.

use std::fmt;

use crate::base::check::Check;
use crate::spec::hosts::{self, describe_hosts};
use crate::spec::{Effects, Files, Network, ToolSpec};

/// The limits on the effects of tools in a context.
///
/// A tool is allowed if and only if each of its [`Effects`] is within its limit. A tool that declares no effects
/// counts as having all effects. Other declarations (`idempotent`, `open_world`) have no limit:
/// `layers::policy::Rules` of `toolgen-runtime` can require them.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectLimits {
    /// Allows only tools that declare themselves read-only, are not destructive and do not write files.
    pub read_only: bool,
    /// Whether tools may be destructive. A tool that declares no effects counts as destructive.
    pub destructive: bool,
    /// The hosts that tools may contact, as `host` (any port) or `host:port`. `*.example.com` matches every host below
    /// `example.com`, but not `example.com` itself; `*` matches every host. Case is ignored. A tool that declares a
    /// host without a port may use any of its ports, so a limit with a port does not cover it.
    pub network: Network,
    /// The allowed access to files.
    pub files: Files,
    /// Whether tools may start programs. The executor enforces the limits of these programs.
    pub spawns: bool,
}

/// An effect of a tool that exceeds the [`EffectLimits`] of its context.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LimitViolation {
    /// The tool is not read-only.
    Changes,
    /// The tool may be destructive.
    Destroys {
        /// Whether the limits are read-only.
        read_only: bool,
    },
    /// The tool contacts hosts that are not allowed.
    Network {
        /// The hosts that are not allowed.
        beyond: Network,
        /// The allowed hosts.
        allowed: Network,
    },
    /// The tool needs more file access than is allowed.
    Files {
        /// The access that the tool needs.
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

    /// Limits for agents that plan: files are read-only, and there is no network. A tool may still change the
    /// program's data, such as a plan or a chat. Tools may start programs: such a tool is allowed if its executor
    /// enforces the same limits on these programs, see [`confine`](Self::confine).
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
                || hosts::not_covered(&effects.network, &self.network) == Network::None)
    }

    /// Checks the effects of a tool.
    ///
    /// # Errors
    ///
    /// Returns `ToolError::Denied` with the tool, every effect that exceeds the limits, and the allowed ones.
    pub fn check<E>(&self, spec: &ToolSpec) -> Result<(), E>
    where
        EffectLimits: Check<ToolSpec, E>,
    {
        self.checked(spec)
    }

    /// Returns every effect that exceeds the limits. Empty if and only if [`allows`](Self::allows) returns `true`.
    #[must_use]
    pub fn violations(&self, effects: &Effects) -> Vec<LimitViolation> {
        let mut violations = Vec::new();
        if self.read_only && !effects.read_only {
            violations.push(LimitViolation::Changes);
        }
        if effects.destructive && !self.may_destroy() {
            violations.push(LimitViolation::Destroys { read_only: self.read_only });
        }
        let beyond = hosts::not_covered(&effects.network, &self.network);
        if beyond != Network::None {
            violations.push(LimitViolation::Network { beyond, allowed: self.network.clone() });
        }
        let allowed = self.allowed_files();
        if rank(effects.files) > rank(allowed) {
            violations.push(LimitViolation::Files { asked: effects.files, allowed });
        }
        if effects.spawns && !self.spawns {
            violations.push(LimitViolation::Spawns);
        }
        violations
    }

    /// Returns the intersection of both limits: a toolset can narrow the limits of its context, never widen them.
    #[must_use]
    pub fn and(&self, other: &EffectLimits) -> EffectLimits {
        EffectLimits {
            read_only: self.read_only || other.read_only,
            destructive: self.destructive && other.destructive,
            network: hosts::both(&self.network, &other.network),
            files: lesser(self.files, other.files),
            spawns: self.spawns && other.spawns,
        }
    }

    /// Returns the effects of a tool whose executor enforces these limits. The tool has no network unless any host is
    /// allowed, and cannot write files unless that is allowed. If the limits are read-only, it changes nothing except
    /// over a network. No executor prevents it from starting programs and reading files.
    #[must_use]
    pub fn confine(&self, effects: &Effects) -> Effects {
        let network = if self.network == Network::Any { effects.network.clone() } else { Network::None };
        let is_harmless = self.read_only && network == Network::None;
        let files = if self.allowed_files() == Files::Write { Files::Write } else { Files::Read };
        Effects {
            read_only: effects.read_only || is_harmless,
            destructive: effects.destructive && !is_harmless,
            network,
            files: lesser(effects.files, files),
            ..effects.clone()
        }
    }

    fn may_destroy(&self) -> bool {
        self.destructive && !self.read_only
    }

    fn allowed_files(&self) -> Files {
        if self.read_only { lesser(self.files, Files::Read) } else { self.files }
    }
}

fn rank(files: Files) -> u8 {
    match files {
        Files::None => 0,
        Files::Read => 1,
        Files::Write => 2,
    }
}

fn lesser(left: Files, right: Files) -> Files {
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
