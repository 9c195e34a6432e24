//! Limits on what clients over HTTP may use: connections, sessions, bytes and time.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::serve::{Listener, ListenerExt};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Sleep, sleep};

use super::super::Server;
use super::super::shares::quarter;

/// The response to a client that gets no connection.
const TOO_MANY_CONNECTIONS: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nConnection: close\r\n\
    Content-Type: text/plain\r\nContent-Length: 72\r\n\r\n\
    This server has all the connections that it may have: try again later.\r\n";

/// The limits on what clients may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServerLimits {
    pub(super) connections: usize,
    pub(super) sessions: usize,
    pub(super) sessions_each: usize,
    requests_each: Option<usize>,
    pub(super) request: usize,
    pub(super) read_time: Duration,
}

impl Default for ServerLimits {
    fn default() -> ServerLimits {
        ServerLimits {
            connections: 1024,
            sessions: 512,
            sessions_each: 64,
            requests_each: None,
            request: 4 << 20,
            read_time: Duration::from_secs(30),
        }
    }
}

impl Server {
    /// Sets how many connections there are at the same time over HTTP, at least 1; 1,024 by default. Further clients get
    /// status 503. A server of the program that answers with the [`router`](Self::router) has limits of its own.
    pub fn max_connections(mut self, connections: usize) -> Server {
        self.gate.limits.connections = connections.max(1);
        self
    }

    /// Sets how many sessions there are at the same time over HTTP, at least 1; 512 by default. For a new one, the one
    /// that has waited longest for a request ends: its client gets status 404 and begins another, as the protocol says.
    /// If calls run in all of them, the new client gets status 503.
    pub fn max_sessions(mut self, sessions: usize) -> Server {
        self.gate.limits.sessions = sessions.max(1);
        self
    }

    /// Sets how many sessions one [principal](Self::principal) has at the same time, at least 1; 64 by default. A new one
    /// takes the place of another as in [`max_sessions`](Self::max_sessions), with status 429 if calls run in all of them.
    pub fn max_sessions_per_principal(mut self, sessions: usize) -> Server {
        self.gate.limits.sessions_each = sessions.max(1);
        self
    }

    /// Sets how many requests of one [principal](Self::principal), or without principals of one session, are answered at
    /// the same time over HTTP, at least 1, streams of events included; by default a quarter of
    /// [`max_connections`](Self::max_connections), but 8 in any case. A further one gets status 429.
    pub fn max_requests_each(mut self, requests: usize) -> Server {
        self.gate.limits.requests_each = Some(requests.max(1));
        self
    }

    /// Sets how many bytes the body of a request over HTTP has at most; 4 MiB by default. A longer one gets status 413.
    pub fn max_request_bytes(mut self, bytes: usize) -> Server {
        self.gate.limits.request = bytes;
        self
    }

    /// Sets how long a client has to send the head of a request over HTTP, and then its body; 30 seconds by default. A
    /// connection without a request ends after this time, a body that is not complete by then gets status 408. A
    /// connection whose client reads nothing of an answer for this time ends, too.
    pub fn read_timeout(mut self, limit: Duration) -> Server {
        self.gate.limits.read_time = limit;
        self
    }
}

impl ServerLimits {
    /// How many requests of one caller are answered at the same time.
    pub(super) fn requests_each(&self) -> usize {
        self.requests_each.unwrap_or_else(|| quarter(self.connections))
    }

    /// Reads the body of a request.
    ///
    /// # Errors
    ///
    /// The answer to the client, if the body is too long or does not come.
    pub(super) async fn read(&self, body: Body) -> Result<Bytes, Response> {
        match tokio::time::timeout(self.read_time, to_bytes(body, self.request)).await {
            Ok(Ok(bytes)) => Ok(bytes),
            // Or the client is gone, and reads no answer.
            Ok(Err(_)) => {
                let text = format!("The body has more than {} bytes: send less at once.", self.request);
                Err((StatusCode::PAYLOAD_TOO_LARGE, text).into_response())
            }
            Err(_) => {
                let text = format!("The body did not come within {:?}: send it at once.", self.read_time);
                Err((StatusCode::REQUEST_TIMEOUT, text).into_response())
            }
        }
    }

    /// Serves the connections of a listener, until the program ends.
    pub(super) async fn serve(self, listener: TcpListener, router: Router) {
        let places = Arc::new(Semaphore::new(self.connections));
        // Messages are small and come one at a time, so none waits for a packet to fill.
        let mut listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(self.read_time);
        loop {
            let (stream, _): (TcpStream, _) = listener.accept().await;
            let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
                // Without waiting for a client who may not read.
                let _ = stream.try_write(TOO_MANY_CONNECTIONS);
                continue;
            };
            let service = TowerToHyperService::new(router.clone());
            let stream = Unread { stream, limit: self.read_time, waits: None };
            let connection = http.serve_connection(TokioIo::new(stream), service);
            tokio::spawn(async move {
                // A connection that breaks is its client's affair.
                let _ = connection.await;
                drop(place);
            });
        }
    }
}

/// A connection that ends when its client reads nothing for a time: it would keep its place for ever.
struct Unread {
    stream: TcpStream,
    limit: Duration,
    /// Fires when a write has waited too long.
    waits: Option<Pin<Box<Sleep>>>,
}

impl Unread {
    /// Ends the wait of a write that went on, or fails one that has waited too long.
    fn in_time<T>(&mut self, cx: &mut Context<'_>, write: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if write.is_ready() {
            self.waits = None;
            return write;
        }
        let limit = self.limit;
        ready!(self.waits.get_or_insert_with(|| Box::pin(sleep(limit))).as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Unread {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Unread {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let write = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.in_time(cx, write)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let write = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.in_time(cx, write)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
