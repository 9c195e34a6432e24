//! A fake network: the test's own resolver and connector, and one server that records requests.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{ClientBuilder, Proxy, Url};
use toolgen_kernel::base::future::BoxFuture;
use toolgen_test_support::http::{Reply, Request, Server, ok, reply};

use super::super::super::{HttpEngine, HttpEngineBuilder};
use super::super::Resolver;
use super::super::{Guard, ip_literal};
use super::PUBLIC;

/// Replaces all connections.
#[derive(Clone, Debug)]
pub(in super::super::super) struct FakeNetwork {
    recorder: SocketAddr,
    dialled: Arc<Mutex<Vec<IpAddr>>>,
}

impl FakeNetwork {
    pub(in super::super::super) fn install(&self, client: ClientBuilder, guard: &Guard) -> ClientBuilder {
        // A URL with an IP address is not resolved, so such a request uses the recorder as its proxy.
        let recorder = Url::parse(&format!("http://{}", self.recorder)).unwrap();
        let proxy = Proxy::custom(move |url| ip_literal(url.host_str()?).map(|_| recorder.clone()));
        client.proxy(proxy).dns_resolver(Dialler { guard: guard.clone(), network: self.clone() })
    }
}

/// Records where the guard would allow a connection, and connects to the recorder instead.
struct Dialler {
    guard: Guard,
    network: FakeNetwork,
}

impl Resolve for Dialler {
    fn resolve(&self, name: Name) -> Resolving {
        let (addresses, network) = (self.guard.resolve(name), self.network.clone());
        Box::pin(async move {
            let addresses = addresses.await?;
            network.dialled.lock().unwrap().extend(addresses.map(|address| address.ip()));
            Ok(Box::new(std::iter::once(network.recorder)) as Addrs)
        })
    }
}

/// Names and their addresses: one response per lookup; the last response repeats.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(Arc<Mutex<HashMap<String, Vec<Vec<IpAddr>>>>>);

impl Names {
    pub(super) fn set(&self, name: &str, lookups: &[&[&str]]) {
        let lookups = lookups
            .iter()
            .map(|addresses| addresses.iter().map(|address| address.parse().unwrap()).collect());
        self.0.lock().unwrap().insert(name.to_owned(), lookups.collect());
    }
}

impl Resolver for Names {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let mut names = self.0.lock().unwrap();
        let responses = names.get_mut(name.trim_end_matches('.'));
        let addresses = responses.map(|all| if all.len() > 1 { all.remove(0) } else { all[0].clone() });
        Box::pin(std::future::ready(addresses.ok_or_else(|| io::Error::other(format!("no {name}")))))
    }
}

/// A network with one recorder.
pub(super) struct World {
    pub(super) names: Names,
    network: FakeNetwork,
    server: Server,
}

impl World {
    pub(super) fn new() -> World {
        let server = Server::start(respond);
        let recorder = server.address();
        let names = Names::default();
        names.set("start.example", &[&[PUBLIC]]);
        World { names, network: FakeNetwork { recorder, dialled: Arc::default() }, server }
    }

    pub(super) fn builder(&self) -> HttpEngineBuilder {
        let mut builder = HttpEngine::builder().resolver(self.names.clone());
        builder.fake_network = Some(self.network.clone());
        builder
    }

    pub(super) fn engine(&self) -> HttpEngine {
        self.builder().build().unwrap()
    }

    /// Returns the requests, as `{host}{path}`, and the connections since the last call.
    pub(super) fn take_traffic(&self) -> (Vec<String>, Vec<String>) {
        let dialled = std::mem::take(&mut *self.network.dialled.lock().unwrap());
        let requests = self.server.take().iter().map(|request| host_and_path(request).concat()).collect();
        (requests, dialled.iter().map(ToString::to_string).collect())
    }
}

/// Returns the host and the path of a request. A request to a proxy contains both.
fn host_and_path(request: &Request) -> [&str; 2] {
    let (host, target) = (request.header("host").unwrap(), request.target());
    [host, if target.starts_with('/') { target } else { &target["http://".len() + host.len()..] }]
}

/// Responds to `/go?to=URL` with a redirect, and to everything else with `ok`.
fn respond(request: &Request) -> Reply {
    let [_, path] = host_and_path(request);
    let Some((_, to)) = path.split_once("?to=") else { return ok("text/plain", "ok") };
    let to = percent_encoding::percent_decode_str(to).decode_utf8().unwrap();
    reply(302, &format!("Location: {to}\r\n"), "ok")
}
