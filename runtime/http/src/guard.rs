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
    opened: Arc<[Text]>,
    resolver: Arc<dyn Resolver>,
    remedy: Remedy,
}

/// A function that describes how to allow a private host.
pub(super) type Remedy = fn(&str) -> String;

/// Describes how a program allows a private host.
pub(super) fn by_the_program(host: &str) -> String {
    format!("The program can allow it with `HttpEngineBuilder::private_host({host:?})`.")
}

/// A host that the guard blocks, and the reason.
#[derive(Clone)]
pub(super) struct Refused {
    host: String,
    reason: Why,
    remedy: Remedy,
}

#[derive(Clone, Debug)]
enum Why {
    /// The calling context allows only these other hosts.
    Hosts(String),
    /// The host is, or resolves to, an address in this range.
    Range(IpAddr, Range),
    /// The host is allowed, but not at this port.
    Port(u16),
    /// The host is a link-local name.
    LocalName,
    /// The host is allowed, but a host that is not allowed redirected to it.
    LedInside,
}

impl Guard {
    pub(super) fn new(
        opened: impl IntoIterator<Item = String>,
        resolver: Arc<dyn Resolver>,
        help: Remedy,
    ) -> Guard {
        Guard { opened: opened.into_iter().map(Text::from).collect(), resolver, remedy: help }
    }

    /// Checks the target of a request, and the host that redirected to it, if any.
    pub(super) fn check(&self, url: &Url, from: Option<&Url>, allowed: &Network) -> Result<(), Refused> {
        Guard::allows(url, allowed)?;
        let (host, port) = target(url);
        let refuse = |cause| Err(Refused { host: host.to_owned(), reason: cause, remedy: self.remedy });
        let opened = hosts::covers(&self.opened, host, port);
        let range = match literal(host) {
            Some(address) => match (address, address::range(address)) {
                (_, Range { access: Access::Public, .. }) => return Ok(()),
                (_, Range { access: Access::Private, .. }) if opened => None,
                found => Some(found),
            },
            None if opened => None,
            None if hosts::covers_name(&self.opened, host) => return refuse(Why::Port(port)),
            None if is_local_name(host) => return refuse(Why::LocalName),
            None => return Ok(()),
        };
        if let Some((address, range)) = range {
            return refuse(Why::Range(address, range));
        }
        let led_inside = from.is_some_and(|from| {
            let (host, port) = target(from);
            !hosts::covers(&self.opened, host, port)
        });
        if led_inside { refuse(Why::LedInside) } else { Ok(()) }
    }

    /// Like [`check`](Self::check), but also rejects names that always resolve to this machine.
    pub(super) fn before_resolving(&self, url: &Url, allowed: &Network) -> Result<(), Refused> {
        self.check(url, None, allowed)?;
        let (host, port) = target(url);
        if !is_localhost(host) || hosts::covers(&self.opened, host, port) {
            return Ok(());
        }
        let address = IpAddr::from([127, 0, 0, 1]);
        let cause = Why::Range(address, address::range(address));
        Err(Refused { host: host.to_owned(), reason: cause, remedy: self.remedy })
    }

    /// Checks only whether the calling context allows the host.
    pub(super) fn allows(url: &Url, allowed: &Network) -> Result<(), Refused> {
        let (host, port) = target(url);
        if hosts::allows(allowed, host, port) {
            return Ok(());
        }
        let cause = Why::Hosts(hosts::describe_hosts(allowed));
        Err(Refused { host: host.to_owned(), reason: cause, remedy: by_the_program })
    }

    /// Returns the addresses of a name that a connection may use.
    async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, Box<dyn std::error::Error + Send + Sync>> {
        let most = if hosts::covers_name(&self.opened, name) { Access::Private } else { Access::Public };
        let (mut passed, mut refused) = (Vec::new(), None);
        for address in self.resolver.resolve(name).await? {
            let range = address::range(address);
            if range.access <= most {
                passed.push(address);
            } else {
                let (host, cause) = (name.to_owned(), Why::Range(address, range));
                refused = refused.or(Some(Refused { host, reason: cause, remedy: self.remedy }));
            }
        }
        match refused {
            Some(refused) if passed.is_empty() => Err(Box::new(refused)),
            _ => Ok(passed),
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
fn target(url: &Url) -> (&str, u16) {
    (url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default())
}

/// Returns the host of a URL if it is an IP address.
fn literal(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// Whether the name is below `local`. Machines on the local link answer for such names (RFC 6762, section 3), so
/// documents must not make the program resolve them.
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
pub(super) fn opened_by(url: &str) -> Option<String> {
    let url = Url::parse(url.trim()).ok()?;
    let host = url.host_str()?;
    let private = match literal(host) {
        Some(address) => address::range(address).access == Access::Private,
        None => is_localhost(host),
    };
    private.then(|| Some(format!("{host}:{}", url.port_or_known_default()?))).flatten()
}

impl Refused {
    /// Returns the message for models. It omits how to allow the host, because only an operator can do that.
    fn reason(&self) -> String {
        format!("The host `{}` is blocked: {}", self.host, self.reason)
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Hosts(allowed) => write!(f, "this context allows {allowed}."),
            Why::Range(address, range) => {
                write!(f, "its address {address} is in the range {range}, which ")?;
                let private = range.access == Access::Private;
                f.write_str(if private { "is private." } else { "is never allowed." })
            }
            Why::Port(port) => write!(f, "port {port} is not allowed."),
            Why::LocalName => f.write_str("it is a link-local name."),
            Why::LedInside => f.write_str("it is private, and a host that is not allowed redirected to it."),
        }
    }
}

/// The message for operators, including how to allow the host.
impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason())?;
        match &self.reason {
            Why::Range(_, Range { access: Access::Private, .. }) | Why::LocalName => {
                write!(f, " {}", (self.remedy)(&self.host))
            }
            _ => Ok(()),
        }
    }
}

toolgen_core::__readable_debug!(Refused);

impl std::error::Error for Refused {}

impl From<Refused> for ToolError {
    fn from(refused: Refused) -> ToolError {
        ToolError::denied(refused.reason()).with_operator_detail(refused.to_string())
    }
}

/// Finds the guard's refusal among the causes of an error.
pub(super) fn refusal(error: &(dyn std::error::Error + 'static)) -> Option<Refused> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(refused) = error.downcast_ref::<Refused>() {
            return Some(refused.clone());
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
            let found = tokio::task::spawn_blocking(move || {
                Ok((name.as_str(), 0).to_socket_addrs()?.map(|address| address.ip()).collect())
            });
            found.await.unwrap_or_else(|_| Err(io::Error::other("the name could not be resolved")))
        })
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(super) use tests::Diverted;
