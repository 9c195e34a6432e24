//! The SSRF guard: decides which hosts requests may go to.
//!
//! A host is checked twice. Before each request and each redirect, the URL is checked: the calling context must allow
//! its host, and if the host is an address, the engine must allow it too. When a connection is made, every resolved
//! address of a name is checked, and the connection uses an address that passed.
//!
//! The notation of an address makes no difference. Parsing the URL turns `2130706433`, `0177.1` and `0x7f000001` into
//! `127.0.0.1`, and names such as `metadata.google.internal` or `10.0.0.1.nip.io` are resolved to addresses.
//!
//! Private addresses are accessible only at hosts that the program allowed. Documents and redirects cannot allow
//! hosts, and a redirect from a host that is not allowed cannot lead to an allowed private host.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::{fmt, io};

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use toolgen_core::internal::hosts;
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::spec::Network;

use super::address;
use super::address::{Access, Range};

/// The rules for all requests of an engine.
#[derive(Clone, Debug)]
pub(super) struct Guard {
    /// The hosts whose private addresses are allowed.
    private_hosts: Arc<[Text]>,
    resolver: Arc<dyn Resolver>,
    help: HostHelp,
}

/// A function that describes how to allow a private host.
pub(super) type HostHelp = fn(&str) -> String;

/// Describes how a program allows a private host.
pub(super) fn default_host_help(host: &str) -> String {
    format!("The program can allow it with `HttpEngineBuilder::private_host({host:?})`.")
}

/// A host that the guard blocks, and the reason.
#[derive(Clone)]
pub(super) struct HostBlocked {
    host: String,
    reason: BlockReason,
    help: HostHelp,
}

#[derive(Clone, Debug)]
enum BlockReason {
    /// The calling context allows only these other hosts.
    Hosts(String),
    /// The host is, or resolves to, an address in this range.
    Range(IpAddr, Range),
    /// The host is allowed, but not at this port.
    Port(u16),
    /// The host is a link-local name.
    LocalName,
    /// The host is allowed, but a host that is not allowed redirected to it.
    RedirectedInside,
}

impl Guard {
    pub(super) fn new(
        private_hosts: impl IntoIterator<Item = String>,
        resolver: Arc<dyn Resolver>,
        help: HostHelp,
    ) -> Guard {
        Guard { private_hosts: private_hosts.into_iter().map(Text::from).collect(), resolver, help }
    }

    /// Checks the target of a request, and the host that redirected to it, if any.
    pub(super) fn check(
        &self,
        url: &Url,
        redirected_from: Option<&Url>,
        allowed: &Network,
    ) -> Result<(), HostBlocked> {
        Guard::check_allowed(url, allowed)?;
        let (host, port) = host_and_port(url);
        let refuse = |reason| Err(HostBlocked { host: host.to_owned(), reason, help: self.help });
        let is_private_host = hosts::covers(&self.private_hosts, host, port);
        let blocked = match ip_literal(host) {
            Some(address) => match (address, address::range(address)) {
                (_, Range { access: Access::Public, .. }) => return Ok(()),
                (_, Range { access: Access::Private, .. }) if is_private_host => None,
                blocked => Some(blocked),
            },
            None if is_private_host => None,
            None if hosts::covers_name(&self.private_hosts, host) => return refuse(BlockReason::Port(port)),
            None if is_local_name(host) => return refuse(BlockReason::LocalName),
            None => return Ok(()),
        };
        if let Some((address, range)) = blocked {
            return refuse(BlockReason::Range(address, range));
        }
        let redirected_inside = redirected_from.is_some_and(|redirected_from| {
            let (host, port) = host_and_port(redirected_from);
            !hosts::covers(&self.private_hosts, host, port)
        });
        if redirected_inside { refuse(BlockReason::RedirectedInside) } else { Ok(()) }
    }

    /// Like [`check`](Self::check), but also rejects names that always resolve to this machine.
    pub(super) fn check_before_resolving(&self, url: &Url, allowed: &Network) -> Result<(), HostBlocked> {
        self.check(url, None, allowed)?;
        let (host, port) = host_and_port(url);
        if !is_localhost(host) || hosts::covers(&self.private_hosts, host, port) {
            return Ok(());
        }
        let address = IpAddr::from([127, 0, 0, 1]);
        let reason = BlockReason::Range(address, address::range(address));
        Err(HostBlocked { host: host.to_owned(), reason, help: self.help })
    }

    /// Checks only whether the calling context allows the host.
    pub(super) fn check_allowed(url: &Url, allowed: &Network) -> Result<(), HostBlocked> {
        let (host, port) = host_and_port(url);
        if hosts::allows(allowed, host, port) {
            return Ok(());
        }
        let reason = BlockReason::Hosts(hosts::describe_hosts(allowed));
        Err(HostBlocked { host: host.to_owned(), reason, help: default_host_help })
    }

    /// Returns the addresses of a name that a connection may use.
    async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, Box<dyn std::error::Error + Send + Sync>> {
        let max_access =
            if hosts::covers_name(&self.private_hosts, name) { Access::Private } else { Access::Public };
        let (mut allowed, mut blocked) = (Vec::new(), None);
        for address in self.resolver.resolve(name).await? {
            let range = address::range(address);
            if range.access <= max_access {
                allowed.push(address);
            } else {
                let (host, reason) = (name.to_owned(), BlockReason::Range(address, range));
                blocked = blocked.or(Some(HostBlocked { host, reason, help: self.help }));
            }
        }
        match blocked {
            Some(blocked) if allowed.is_empty() => Err(Box::new(blocked)),
            _ => Ok(allowed),
        }
    }
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.clone();
        Box::pin(async move {
            let addresses = guard.addresses(name.as_str()).await?;
            // The connector takes the port from the URL.
            let addresses = addresses.into_iter().map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(addresses) as Addrs)
        })
    }
}

/// Returns the host and the port of a URL.
fn host_and_port(url: &Url) -> (&str, u16) {
    (url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default())
}

/// Returns the host of a URL if it is an IP address.
fn ip_literal(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// Whether the name is below `local`. Any machine on the local link can respond to queries for such names (RFC 6762,
/// section 3), so documents must not make the program resolve them.
fn is_local_name(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    host == "local" || host.ends_with(".local")
}

/// Whether the name is below `localhost`, and therefore refers to this machine (RFC 6761, section 6.3).
fn is_localhost(host: &str) -> bool {
    let name = host.strip_suffix('.').unwrap_or(host);
    name == "localhost" || name.ends_with(".localhost")
}

/// Returns the host that a base URL allows implicitly: a private address or `localhost`. Other names are not
/// recognizably private.
pub(super) fn implicit_private_host(url: &str) -> Option<String> {
    let url = Url::parse(url.trim()).ok()?;
    let host = url.host_str()?;
    let is_private = match ip_literal(host) {
        Some(address) => address::range(address).access == Access::Private,
        None => is_localhost(host),
    };
    is_private.then(|| Some(format!("{host}:{}", url.port_or_known_default()?))).flatten()
}

impl HostBlocked {
    /// Returns the message for models. It omits how to allow the host, because only an operator can do that.
    fn model_message(&self) -> String {
        format!("The host `{}` is blocked: {}", self.host, self.reason)
    }
}

impl fmt::Display for BlockReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BlockReason::Hosts(allowed) => write!(f, "this context allows {allowed}."),
            BlockReason::Range(address, range) => {
                write!(f, "its address {address} is in the range {range}, which ")?;
                let private = range.access == Access::Private;
                f.write_str(if private { "is private." } else { "is never allowed." })
            }
            BlockReason::Port(port) => write!(f, "port {port} is not allowed."),
            BlockReason::LocalName => f.write_str("it is a link-local name."),
            BlockReason::RedirectedInside => {
                f.write_str("it is private, and a host that is not allowed redirected to it.")
            }
        }
    }
}

/// The message for operators, including how to allow the host.
impl fmt::Display for HostBlocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.model_message())?;
        match &self.reason {
            BlockReason::Range(_, Range { access: Access::Private, .. }) | BlockReason::LocalName => {
                write!(f, " {}", (self.help)(&self.host))
            }
            _ => Ok(()),
        }
    }
}

toolgen_core::__readable_debug!(HostBlocked);

impl std::error::Error for HostBlocked {}

impl From<HostBlocked> for ToolError {
    fn from(blocked: HostBlocked) -> ToolError {
        ToolError::denied(blocked.model_message()).with_operator_detail(blocked.to_string())
    }
}

/// Finds a [`HostBlocked`] among the causes of an error.
pub(super) fn host_blocked_in(error: &(dyn std::error::Error + 'static)) -> Option<HostBlocked> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(blocked) = error.downcast_ref::<HostBlocked>() {
            return Some(blocked.clone());
        }
        cause = error.source();
    }
    None
}

/// A DNS resolver.
///
/// An engine resolves every name with it, checks the returned addresses, and connects only to checked addresses: a
/// name is not resolved a second time.
pub trait Resolver: fmt::Debug + Send + Sync {
    /// Returns the addresses of a name, in order of preference.
    ///
    /// # Errors
    ///
    /// Returns an error if there are no addresses, or if they cannot be found.
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// Resolves names with the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let name = name.to_owned();
        Box::pin(async move {
            // The system's function blocks.
            let lookup = tokio::task::spawn_blocking(move || {
                Ok((name.as_str(), 0).to_socket_addrs()?.map(|address| address.ip()).collect())
            });
            lookup.await.unwrap_or_else(|_| Err(io::Error::other("the name could not be resolved")))
        })
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(super) use tests::FakeNetwork;
