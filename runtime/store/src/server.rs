//! The connection to the server of a store. It is opened on demand, and dropped when it breaks. After a failure,
//! requests fail immediately for a moment, so that not every request tries to connect while the server is down.

use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use toolgen_kernel::call::store::StoreError;

/// How long requests fail immediately after a failed one.
const PAUSE: Duration = Duration::from_millis(250);

/// A change of the connection to a store's server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreChange {
    /// A request failed with this error. From now on, each user of the store follows its
    /// [`OnFailure`](super::OnFailure).
    Down(StoreError),
    /// A request got a response again.
    Up,
}

/// A callback that receives changes.
pub(super) type OnChange = Box<dyn Fn(&StoreChange) + Send + Sync>;

/// How to connect to a server.
pub(super) trait Connect: Send + Sync {
    /// A connection, which concurrent requests share.
    type Connection: Clone + Send + Sync;

    /// Connects.
    fn connect(&self) -> impl Future<Output = Result<Self::Connection, Failure>> + Send;

    /// Whether a connection is still usable.
    fn is_open(connection: &Self::Connection) -> bool;

    /// Returns the address of the server, without a password.
    fn shown(&self) -> String;
}

/// The reason why a request got no usable response.
pub(super) enum Failure {
    /// The connection is broken.
    Lost(String),
    /// The server returned an error.
    Refused(String),
    /// An earlier request failed a moment ago, so this request was not sent.
    Paused(StoreError),
}

/// A server, and the connection to it, if there is one. Concurrent requests share the connection.
pub(super) struct Server<C: Connect> {
    target: C,
    timeout: Duration,
    link: Mutex<Link<C::Connection>>,
    /// Held by the request that connects.
    connecting: tokio::sync::Mutex<()>,
    /// Whether the last request got a response; `true` before the first request.
    is_up: AtomicBool,
    on_change: Option<OnChange>,
}

struct Link<T> {
    open: Option<T>,
    /// The number of connections so far.
    number: u64,
    /// The end of the pause, during which requests fail, and the error.
    pause: Option<(Instant, StoreError)>,
}

impl<C: Connect> Server<C> {
    pub(super) fn new(target: C, timeout: Duration, on_change: Option<OnChange>) -> Server<C> {
        Server {
            target,
            timeout,
            link: Mutex::new(Link { open: None, number: 0, pause: None }),
            connecting: tokio::sync::Mutex::new(()),
            is_up: AtomicBool::new(true),
            on_change,
        }
    }

    pub(super) fn is_up(&self) -> bool {
        self.is_up.load(Ordering::Acquire)
    }

    /// Sends a request and returns its response, within the time limit.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no response, or if the response is an error. The request may have taken effect,
    /// so it is not retried.
    pub(super) async fn request<T>(
        &self,
        ask: impl AsyncFnOnce(C::Connection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        // The number of the connection in use; 0 before there is one.
        let mut used = 0;
        let response = async {
            let (connection, number) = self.connection().await?;
            used = number;
            ask(connection).await
        };
        let response = tokio::time::timeout(self.timeout, response).await;
        let lost = match response {
            Ok(Ok(response)) => {
                self.tell(None);
                return Ok(response);
            }
            Ok(Err(Failure::Paused(reason))) => return Err(reason),
            Ok(Err(Failure::Refused(reason))) => return Err(self.error(&reason)),
            Ok(Err(Failure::Lost(reason))) => self.error(&reason),
            Err(_) => self.error(&format!("no response within {:?}", self.timeout)),
        };
        let mut link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        // Another request may have reconnected in the meantime.
        if link.open.is_none() || link.number == used {
            link.open = None;
            link.pause = Some((Instant::now() + PAUSE, lost.clone()));
        }
        drop(link);
        self.tell(Some(&lost));
        Err(lost)
    }

    /// Returns the connection and its number. Connects if there is no connection.
    async fn connection(&self) -> Result<(C::Connection, u64), Failure> {
        if let Some(found) = self.usable()? {
            return Ok(found);
        }
        let _connecting = self.connecting.lock().await;
        if let Some(found) = self.usable()? {
            return Ok(found);
        }
        let connection = self.target.connect().await?;
        let mut link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        link.number += 1;
        link.open = Some(connection.clone());
        Ok((connection, link.number))
    }

    fn usable(&self) -> Result<Option<(C::Connection, u64)>, Failure> {
        let mut link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        link.open.take_if(|open| !C::is_open(open));
        match (&link.open, &link.pause) {
            (Some(open), _) => Ok(Some((open.clone(), link.number))),
            (None, Some((until, error))) if *until > Instant::now() => Err(Failure::Paused(error.clone())),
            _ => Ok(None),
        }
    }

    /// Records whether the server responds, and calls the callback if that changed.
    fn tell(&self, lost: Option<&StoreError>) {
        let is_up = lost.is_none();
        if self.is_up() == is_up || self.is_up.swap(is_up, Ordering::AcqRel) == is_up {
            return;
        }
        if let Some(message) = &self.on_change {
            message(&lost.map_or(StoreChange::Up, |error| StoreChange::Down(error.clone())));
        }
    }

    /// Adds the address of the server to an error.
    pub(super) fn error(&self, reason: &str) -> StoreError {
        StoreError::new(format!("shared state at {}: {reason}", self.target.shown()))
    }
}

impl<C: Connect> fmt::Debug for Server<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("server", &self.target.shown())
            .field("timeout", &self.timeout)
            .field("is_up", &self.is_up())
            .finish_non_exhaustive()
    }
}
