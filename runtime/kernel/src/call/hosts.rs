//! The hosts that a call may reach.

use toolgen_core::internal::hosts;

use crate::call::context::ToolContext;
use crate::spec::Network;

impl ToolContext {
    /// Restricts the call to these hosts. The list can shrink but never grow: hosts that were excluded before stay
    /// excluded, and the calls that a tool makes inherit the restrictions of the tool.
    ///
    /// A toolbox sets the restriction from the `Limits::network` of its context. Tools that connect to hosts check each
    /// host: the HTTP engine checks the first URL and every redirect.
    #[must_use]
    pub fn with_allowed_hosts(self, hosts: &Network) -> ToolContext {
        self.with(|turn| turn.hosts = hosts::both(&turn.hosts, hosts))
    }

    /// The hosts that the call may reach: any, unless restricted.
    #[must_use]
    pub fn allowed_hosts(&self) -> &Network {
        &self.turn().hosts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::frozen::Text;

    fn network(hosts: &[&'static str]) -> Network {
        Network::Hosts(hosts.iter().copied().map(Text::Static).collect())
    }

    #[test]
    fn allowed_hosts_only_shrink() {
        let ctx = ToolContext::new("1", "t");
        assert_eq!(ctx.allowed_hosts(), &Network::Any);
        let ctx = ctx.with_allowed_hosts(&network(&["*.example.com", "h"]));
        let ctx = ctx.with_allowed_hosts(&network(&["api.example.com", "evil.example"]));
        assert_eq!(ctx.allowed_hosts(), &network(&["api.example.com"]));
        let ctx = ctx.with_allowed_hosts(&Network::Any).child("2", "u");
        assert_eq!(ctx.allowed_hosts(), &network(&["api.example.com"]));
        assert_eq!(ctx.with_allowed_hosts(&network(&["h"])).allowed_hosts(), &Network::None);
    }
}
