//! Resolves the name of a host to its addresses.

use std::fmt;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};

use crate::base::future::BoxFuture;

/// Finds the addresses of a host.
///
/// An engine uses it for every name, checks the addresses it returns, and connects only to addresses it has checked:
/// the name is not looked up a second time.
pub trait Resolver: fmt::Debug + Send + Sync {
    /// Returns the addresses of a name, the preferred one first.
    ///
    /// # Errors
    ///
    /// If there are no addresses, or they cannot be found.
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
            found.await.unwrap_or_else(|_| Err(io::Error::other("the name could not be looked up")))
        })
    }
}
