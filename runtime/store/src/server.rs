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
    /// A request failed with this error. From now on, each part that uses the store follows its
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
    fn display_url(&self) -> String;
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
    state: Mutex<ConnectionState<C::Connection>>,
    /// Held by the request that connects.
    connect_lock: tokio::sync::Mutex<()>,
    /// Whether the last request got a response; `true` before the first request.
    is_up: AtomicBool,
    on_change: Option<OnChange>,
}

struct ConnectionState<T> {
    connection: Option<T>,
    /// The number of connections that were opened so far.
    number: u64,
    /// The end of the pause, during which requests fail, and the error.
    pause: Option<(Instant, StoreError)>,
}

impl<C: Connect> Server<C> {
    pub(super) fn new(target: C, timeout: Duration, on_change: Option<OnChange>) -> Server<C> {
        Server {
            target,
            timeout,
            state: Mutex::new(ConnectionState { connection: None, number: 0, pause: None }),
            connect_lock: tokio::sync::Mutex::new(()),
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
        send: impl AsyncFnOnce(C::Connection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        // The number of the connection in use; 0 if there is none yet.
        let mut used_number = 0;
        let response = async {
            let (connection, number) = self.connection().await?;
            used_number = number;
            send(connection).await
        };
        let response = tokio::time::timeout(self.timeout, response).await;
        let error = match response {
            Ok(Ok(response)) => {
                self.report(None);
                return Ok(response);
            }
            Ok(Err(Failure::Paused(reason))) => return Err(reason),
            Ok(Err(Failure::Refused(reason))) => return Err(self.error(&reason)),
            Ok(Err(Failure::Lost(reason))) => self.error(&reason),
            Err(_) => self.error(&format!("no response within {:?}", self.timeout)),
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // Another request may have reconnected in the meantime.
        if state.connection.is_none() || state.number == used_number {
            state.connection = None;
            state.pause = Some((Instant::now() + PAUSE, error.clone()));
        }
        drop(state);
        self.report(Some(&error));
        Err(error)
    }

    /// Returns the connection and its number. Connects if there is no connection.
    async fn connection(&self) -> Result<(C::Connection, u64), Failure> {
        if let Some(existing) = self.usable_connection()? {
            return Ok(existing);
        }
        let _connecting = self.connect_lock.lock().await;
        if let Some(existing) = self.usable_connection()? {
            return Ok(existing);
        }
        let connection = self.target.connect().await?;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.number += 1;
        state.connection = Some(connection.clone());
        Ok((connection, state.number))
    }

    fn usable_connection(&self) -> Result<Option<(C::Connection, u64)>, Failure> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.connection.take_if(|connection| !C::is_open(connection));
        match (&state.connection, &state.pause) {
            (Some(connection), _) => Ok(Some((connection.clone(), state.number))),
            (None, Some((pause_end, error))) if *pause_end > Instant::now() => {
                Err(Failure::Paused(error.clone()))
            }
            _ => Ok(None),
        }
    }

    /// Records whether the server responds, and calls the callback if that changed.
    fn report(&self, error: Option<&StoreError>) {
        let is_up = error.is_none();
        if self.is_up() == is_up || self.is_up.swap(is_up, Ordering::AcqRel) == is_up {
            return;
        }
        if let Some(callback) = &self.on_change {
            callback(&error.map_or(StoreChange::Up, |error| StoreChange::Down(error.clone())));
        }
    }

    /// Adds the address of the server to an error.
    pub(super) fn error(&self, reason: &str) -> StoreError {
        StoreError::new(format!("shared state at {}: {reason}", self.target.display_url()))
    }
}

impl<C: Connect> fmt::Debug for Server<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("server", &self.target.display_url())
            .field("timeout", &self.timeout)
            .field("is_up", &self.is_up())
            .finish_non_exhaustive()
    }
}
