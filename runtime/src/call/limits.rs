//! The most that tools of a context may do.

use std::fmt;

mod hosts;

use crate::base::frozen::Text;
use crate::spec::{Effects, Files, Network};

/// The most that tools of a context may do.
///
/// A tool is allowed exactly if each of its [`Effects`] is within the limit of its kind; a tool that declares none
/// counts as doing everything. What a tool merely says of itself beside that (`idempotent`, `open_world`) has no
/// limit: [`Rules`](crate::layers::policy::Rules) can ask for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Nothing may be changed: only tools that declare to be read-only, do not destroy and do not write files.
    pub read_only: bool,
    /// The hosts that may be reached, as `host` (any port) or `host:port`; `*.example.com` stands for every host
    /// below `example.com`, not for itself, and `*` for every host. The case of letters does not matter. A tool that
    /// declares a host without a port may use any port of it, so a host with a port does not cover it.
    pub network: Network,
    /// What may be done to files.
    pub files: Files,
    /// Other programs may be started. What they may do is for the executor to hold them to.
    pub spawns: bool,
}

/// One thing a tool may do beyond the [`Limits`] of its context.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Excess {
    /// It changes things.
    Changes,
    /// It may destroy things.
    Destroys,
    /// It reaches these hosts beyond the ones that are allowed.
    Network {
        /// What goes too far.
        beyond: Network,
        /// What is allowed.
        allowed: Network,
    },
    /// It does too much to files.
    Files {
        /// What it does.
        asked: Files,
        /// What is allowed.
        allowed: Files,
    },
    /// It starts programs.
    Spawns,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::ANY
    }
}

impl Limits {
    /// No limit.
    pub const ANY: Limits =
        Limits { read_only: false, network: Network::Any, files: Files::Write, spawns: true };

    /// Nothing but tools that touch nothing outside the program.
    pub const NONE: Limits =
        Limits { read_only: true, network: Network::None, files: Files::None, spawns: false };

    /// For agents that plan: files are only read, and there is no network. What a tool changes of the program's own,
    /// such as a plan or a chat, it may change. Programs may be started: a tool that starts any is allowed if its
    /// executor holds them to the same, see [`confine`](Self::confine).
    pub const PLANNING: Limits =
        Limits { read_only: false, network: Network::None, files: Files::Read, spawns: true };

    /// All effects are within the limits.
    #[must_use]
    pub fn allows(&self, effects: &Effects) -> bool {
        !(self.read_only && (!effects.read_only || effects.destructive))
            && rank(effects.files) <= rank(self.allowed_files())
            && (self.spawns || !effects.spawns)
            && (self.network == Network::Any
                || hosts::beyond(&effects.network, &self.network) == Network::None)
    }

    /// Every effect that goes beyond the limits. Empty exactly if [`allows`](Self::allows).
    #[must_use]
    pub fn exceeded(&self, effects: &Effects) -> Vec<Excess> {
        let mut excess = Vec::new();
        if self.read_only && !effects.read_only {
            excess.push(Excess::Changes);
        }
        if self.read_only && effects.destructive {
            excess.push(Excess::Destroys);
        }
        let beyond = hosts::beyond(&effects.network, &self.network);
        if beyond != Network::None {
            excess.push(Excess::Network { beyond, allowed: self.network.clone() });
        }
        let allowed = self.allowed_files();
        if rank(effects.files) > rank(allowed) {
            excess.push(Excess::Files { asked: effects.files, allowed });
        }
        if effects.spawns && !self.spawns {
            excess.push(Excess::Spawns);
        }
        excess
    }

    /// What both limits allow: a toolset may narrow what its context grants, never widen it.
    #[must_use]
    pub fn and(&self, other: &Limits) -> Limits {
        Limits {
            read_only: self.read_only || other.read_only,
            network: hosts::both(&self.network, &other.network),
            files: least(self.files, other.files),
            spawns: self.spawns && other.spawns,
        }
    }

    /// The effects that remain of a tool that does its work in an executor which holds it to these limits: without a
    /// network unless any host is allowed, and unable to write files where that is not. Then it can change nothing
    /// either, unless by a network. That it starts programs and reads files, no executor prevents.
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

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Excess::Changes => f.write_str("changes: it may change things (allowed: reading only)"),
            Excess::Destroys => f.write_str("destruction: it may destroy things (allowed: reading only)"),
            Excess::Network { beyond, allowed } => {
                write!(f, "network: it may reach {} (allowed: {})", told(beyond), told(allowed))
            }
            Excess::Files { asked, allowed } => {
                let asked = if *asked == Files::Write { "write" } else { "read" };
                let allowed = match allowed {
                    Files::None => "none",
                    Files::Read => "reading only",
                    Files::Write => "writing",
                };
                write!(f, "files: it may {asked} files (allowed: {allowed})")
            }
            Excess::Spawns => f.write_str("programs: it may start programs (allowed: none)"),
        }
    }
}

fn told(network: &Network) -> String {
    match network {
        Network::None => String::from("none"),
        Network::Any => String::from("any host"),
        Network::Hosts(hosts) if hosts.is_empty() => String::from("none"),
        Network::Hosts(hosts) => hosts.iter().map(Text::as_str).collect::<Vec<_>>().join(", "),
    }
}
