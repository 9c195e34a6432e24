//! The connection to the server of a store: opened when it is needed, given up when it is lost, and not tried by everybody
//! while the server is away.

use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use toolgen_kernel::call::store::StoreError;

/// How long no request is tried after one that failed.
const PAUSE: Duration = Duration::from_millis(250);

/// A change of the connection to the server of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreChange {
    /// A request was not answered, for this reason: from now on each user of the store does what its
    /// [`OnFailure`](super::OnFailure) says.
    Down(StoreError),
    /// A request was answered again.
    Up,
}

/// A function that is told of changes.
pub(super) type OnChange = Box<dyn Fn(&StoreChange) + Send + Sync>;

/// How a server is reached.
pub(super) trait Connect: Send + Sync {
    /// A connection, of which several requests make use at once.
    type Connection: Clone + Send + Sync;

    /// Connects.
    fn connect(&self) -> impl Future<Output = Result<Self::Connection, Failure>> + Send;

    /// Whether a connection may still be used.
    fn is_open(connection: &Self::Connection) -> bool;

    /// The server, without a password.
    fn shown(&self) -> String;
}

/// Why a request has no answer.
pub(super) enum Failure {
    /// The connection can no longer be used.
    Lost(String),
    /// The server answered that it does not do this.
    Refused(String),
    /// A request failed a moment ago, so this one was not sent.
    Paused(StoreError),
}

/// A server, with the connection to it if there is one. All requests go over it, several at once.
pub(super) struct Server<C: Connect> {
    target: C,
    timeout: Duration,
    link: Mutex<Link<C::Connection>>,
    /// Held by the request that connects.
    connecting: tokio::sync::Mutex<()>,
    /// Whether the last request was answered, or none was sent.
    is_up: AtomicBool,
    on_change: Option<OnChange>,
}

struct Link<T> {
    open: Option<T>,
    /// The number of connections so far.
    number: u64,
    /// Until when no request is tried, and why.
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

    /// Sends a request and returns its answer, within the time limit.
    ///
    /// # Errors
    ///
    /// If there is no answer, or the answer is an error. Then it is unknown whether the request had an effect, so it is
    /// not repeated.
    pub(super) async fn request<T>(
        &self,
        ask: impl AsyncFnOnce(C::Connection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        // The number of the connection that is used; 0 before there is one.
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
            Err(_) => self.error(&format!("no answer within {:?}", self.timeout)),
        };
        let mut link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        // Another request may have connected again meanwhile.
        if link.open.is_none() || link.number == used {
            link.open = None;
            link.pause = Some((Instant::now() + PAUSE, lost.clone()));
        }
        drop(link);
        self.tell(Some(&lost));
        Err(lost)
    }

    /// Returns the connection and its number, and connects if there is none.
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

    /// Notes whether the server answers, and tells the program if that is new.
    fn tell(&self, lost: Option<&StoreError>) {
        let is_up = lost.is_none();
        if self.is_up() == is_up || self.is_up.swap(is_up, Ordering::AcqRel) == is_up {
            return;
        }
        if let Some(message) = &self.on_change {
            message(&lost.map_or(StoreChange::Up, |error| StoreChange::Down(error.clone())));
        }
    }

    /// Returns an error with the server it is about.
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
