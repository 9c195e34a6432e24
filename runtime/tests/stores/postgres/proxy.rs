//! A proxy between a program and its database, which can break connections and lose a response.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::AtomicBool;

use crate::prelude::*;

#[derive(Default)]
struct State {
    is_cut: AtomicBool,
    /// The next response is lost, and the connection breaks.
    loses: AtomicBool,
    lost: AtomicU32,
    connections: Mutex<Vec<TcpStream>>,
}

pub(crate) struct Proxy {
    port: u16,
    server: u16,
    state: Arc<State>,
}

impl Proxy {
    /// Starts a proxy to a server on a port of the loopback interface.
    pub(crate) fn to(server: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State::default());
        let known = Arc::clone(&state);
        // The thread ends with the program.
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(client) = client else { continue };
                if known.is_cut.load(Ordering::SeqCst) {
                    continue;
                }
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                let ends = [&client, &server].map(|end| end.try_clone().unwrap());
                known.connections.lock().unwrap().extend(ends);
                let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                std::thread::spawn(move || carry(from, to, &|| false));
                let state = Arc::clone(&known);
                std::thread::spawn(move || {
                    carry(server, client, &|| {
                        let loses = state.loses.swap(false, Ordering::SeqCst);
                        state.lost.fetch_add(u32::from(loses), Ordering::SeqCst);
                        loses
                    });
                });
            }
        });
        Proxy { port, server, state }
    }

    /// Returns the same URL through this proxy.
    pub(crate) fn url(&self, url: &str) -> String {
        url.replace(&format!(":{}/", self.server), &format!(":{}/", self.port))
    }

    /// Breaks all connections, and accepts no new ones.
    pub(crate) fn cut(&self) {
        self.state.is_cut.store(true, Ordering::SeqCst);
        for end in self.state.connections.lock().unwrap().drain(..) {
            let _ = end.shutdown(Shutdown::Both);
        }
    }

    pub(crate) fn mend(&self) {
        self.state.is_cut.store(false, Ordering::SeqCst);
    }

    /// Loses the next response of the server.
    pub(crate) fn lose_an_answer(&self) {
        self.state.loses.store(true, Ordering::SeqCst);
    }

    /// Returns the number of lost responses.
    pub(crate) fn lost(&self) -> u32 {
        self.state.lost.load(Ordering::SeqCst)
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, loses: &dyn Fn() -> bool) {
    let mut bytes = [0; 16 << 10];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        if loses() || to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    for end in [from, to] {
        let _ = end.shutdown(Shutdown::Both);
    }
}
