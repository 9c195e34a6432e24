//! Resource limits for clients over HTTP: connections, sessions, bytes and time.

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
use super::super::shares::default_share;

/// The response to a client at the connection limit.
const TOO_MANY_CONNECTIONS: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nConnection: close\r\n\
    Content-Type: text/plain\r\nContent-Length: 53\r\n\r\n\
    The server is at its connection limit. Retry later.\r\n";

/// The limits for clients.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServerLimits {
    pub(super) connections: usize,
    pub(super) sessions: usize,
    pub(super) sessions_per_principal: usize,
    requests_per_caller: Option<usize>,
    pub(super) request_bytes: usize,
    pub(super) read_timeout: Duration,
}

impl Default for ServerLimits {
    fn default() -> ServerLimits {
        ServerLimits {
            connections: 1024,
            sessions: 512,
            sessions_per_principal: 64,
            requests_per_caller: None,
            request_bytes: 4 << 20,
            read_timeout: Duration::from_secs(30),
        }
    }
}

impl Server {
    /// Sets the maximum number of concurrent HTTP connections, at least 1. Default: 1,024. Additional clients receive
    /// status 503. A program that serves the [`router`](Self::router) itself has its own limits.
    pub fn max_connections(mut self, connections: usize) -> Server {
        self.access_rules.limits.connections = connections.max(1);
        self
    }

    /// Sets the maximum number of concurrent HTTP sessions, at least 1. Default: 512. At the limit, a new session
    /// replaces the session that has been idle longest: its client receives status 404 and starts a new one, as the
    /// protocol specifies. If calls run in all sessions, the new client receives status 503.
    pub fn max_sessions(mut self, sessions: usize) -> Server {
        self.access_rules.limits.sessions = sessions.max(1);
        self
    }

    /// Sets the maximum number of concurrent sessions per [principal](Self::principal), at least 1. Default: 64. A
    /// new session replaces an idle one as for [`max_sessions`](Self::max_sessions), or receives status 429 if calls
    /// run in all sessions of the principal.
    pub fn max_sessions_per_principal(mut self, sessions: usize) -> Server {
        self.access_rules.limits.sessions_per_principal = sessions.max(1);
        self
    }

    /// Sets the maximum number of concurrent HTTP requests per [principal](Self::principal), or per session if there
    /// are no principals, at least 1, event streams included. Default: a quarter of
    /// [`max_connections`](Self::max_connections), but at least 8. Additional requests receive status 429.
    pub fn max_requests_per_caller(mut self, requests: usize) -> Server {
        self.access_rules.limits.requests_per_caller = Some(requests.max(1));
        self
    }

    /// Sets the maximum size of an HTTP request body, in bytes. Default: 4 MiB. A larger body receives status 413.
    pub fn max_request_bytes(mut self, bytes: usize) -> Server {
        self.access_rules.limits.request_bytes = bytes;
        self
    }

    /// Sets how long a client may take to send the head of an HTTP request, and then its body. Default: 30 seconds. A
    /// connection without a request is closed after this time; an incomplete body receives status 408. A connection
    /// is also closed if its client reads nothing of a response for this time.
    pub fn read_timeout(mut self, limit: Duration) -> Server {
        self.access_rules.limits.read_timeout = limit;
        self
    }
}

impl ServerLimits {
    /// Returns the maximum number of concurrent requests per caller.
    pub(super) fn requests_per_caller(&self) -> usize {
        self.requests_per_caller.unwrap_or_else(|| default_share(self.connections))
    }

    /// Reads the body of a request.
    ///
    /// # Errors
    ///
    /// Returns the response for the client if the body is too large or incomplete.
    pub(super) async fn read(&self, body: Body) -> Result<Bytes, Response> {
        match tokio::time::timeout(self.read_timeout, to_bytes(body, self.request_bytes)).await {
            Ok(Ok(bytes)) => Ok(bytes),
            // The client may also have disconnected; then no client reads the response.
            Ok(Err(_)) => {
                let text = format!(
                    "The body has more than {} bytes. Send less data per request.",
                    self.request_bytes
                );
                Err((StatusCode::PAYLOAD_TOO_LARGE, text).into_response())
            }
            Err(_) => {
                let text = format!(
                    "The body was not received within {:?}. Send it without pauses.",
                    self.read_timeout
                );
                Err((StatusCode::REQUEST_TIMEOUT, text).into_response())
            }
        }
    }

    /// Serves the connections of a listener until the program ends.
    pub(super) async fn serve(self, listener: TcpListener, router: Router) {
        let permits = Arc::new(Semaphore::new(self.connections));
        // Messages are small and sent one at a time, so Nagle's algorithm would only delay them.
        let mut listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(self.read_timeout);
        loop {
            let (stream, _): (TcpStream, _) = listener.accept().await;
            let Ok(permit) = Arc::clone(&permits).try_acquire_owned() else {
                // Do not wait: the client may not read.
                let _ = stream.try_write(TOO_MANY_CONNECTIONS);
                continue;
            };
            let service = TowerToHyperService::new(router.clone());
            let stream = WriteTimeout { stream, limit: self.read_timeout, timer: None };
            let connection = builder.serve_connection(TokioIo::new(stream), service);
            tokio::spawn(async move {
                // A broken connection is not an error of the server.
                let _ = connection.await;
                drop(permit);
            });
        }
    }
}

/// A connection that is closed if its client reads nothing for a time. Otherwise it would never be released.
struct WriteTimeout {
    stream: TcpStream,
    limit: Duration,
    /// Fires when a write has waited too long.
    timer: Option<Pin<Box<Sleep>>>,
}

impl WriteTimeout {
    /// Resets the timer of a write that made progress, or fails a write that has waited too long.
    fn check_timeout<T>(&mut self, cx: &mut Context<'_>, write: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if write.is_ready() {
            self.timer = None;
            return write;
        }
        let limit = self.limit;
        ready!(self.timer.get_or_insert_with(|| Box::pin(sleep(limit))).as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for WriteTimeout {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for WriteTimeout {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let write = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.check_timeout(cx, write)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let write = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.check_timeout(cx, write)
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
