//! The connection to the server where state is shared.

use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Cmd, Value};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::place::Place;
use crate::base::frozen::Text;
use crate::base::sync::unpoisoned;
use crate::base::time::whole_millis;
use crate::call::error::ToolError;

/// How long a request may take by default, with the connection that it may need.
const TIMEOUT: Duration = Duration::from_millis(500);

/// How long no request is tried after one that failed.
const PAUSE: Duration = Duration::from_millis(250);

/// State of a deployment on a server of Redis or Valkey, shared with the other processes of the same namespace. Clones
/// share the connection.
///
/// All requests go over one connection, several at once. It is opened by the first request, so a program can start
/// before its server, and opened again when it is lost. The effect of a lost request is unknown, so none is repeated.
///
/// ```no_run
/// use toolgen_runtime::layers::rate::WindowLimit;
/// use toolgen_runtime::layers::redis::{OnFailure, RedisState};
/// use toolgen_runtime::{Provider, Registry};
///
/// # fn shared(registry: &Registry) -> Result<Provider, Box<dyn std::error::Error>> {
/// let state = RedisState::builder("redis://127.0.0.1:6379", "shop-production").build()?;
/// let limit = state.rate_limit(WindowLimit::new().with_per_tool(10)).on_failure(OnFailure::Degrade);
/// let provider = Provider::builder(registry).rate_limit(limit).approval_store(state.approvals()).build()?;
/// # Ok(provider)
/// # }
/// ```
#[derive(Clone)]
pub struct RedisState(Arc<Inner>);

struct Inner {
    place: Place,
    namespace: Text,
    timeout: Duration,
    link: Mutex<Link>,
    /// Held by the request that connects.
    connecting: tokio::sync::Mutex<()>,
    /// Whether the last request was answered, or none was sent.
    is_up: AtomicBool,
    on_change: Option<OnChange>,
}

/// The connection, if there is one.
#[derive(Default)]
struct Link {
    open: Option<Open>,
    /// The number of connections so far.
    number: u64,
    /// Until when no request is tried, and why.
    pause: Option<(Instant, StateError)>,
}

struct Open {
    connection: MultiplexedConnection,
    /// Ends when the connection is lost.
    driver: JoinHandle<()>,
    /// Its number among the connections.
    number: u64,
}

type OnChange = Box<dyn Fn(&StateChange) + Send + Sync>;

/// A change of the connection to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateChange {
    /// A request was not answered, for this reason: from now on layers do what their
    /// [`OnFailure`](super::OnFailure) says.
    Down(StateError),
    /// A request was answered again.
    Up,
}

/// Why shared state cannot be reached or used: the server, and what happened. It contains no password.
#[derive(Clone, PartialEq, Eq)]
pub struct StateError(Text);

impl StateError {
    pub(super) fn new(text: impl Into<Text>) -> StateError {
        StateError(text.into())
    }
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

toolgen_core::__readable_debug!(StateError);

impl Error for StateError {}

/// An error of the store, for layers that do not show it to a model.
impl From<StateError> for ToolError {
    fn from(why: StateError) -> ToolError {
        ToolError::failed(why.to_string())
    }
}

/// Builds a [`RedisState`].
pub struct RedisBuilder {
    url: String,
    namespace: Text,
    timeout: Duration,
    roots: Vec<Vec<u8>>,
    on_change: Option<OnChange>,
}

impl RedisBuilder {
    /// Sets how long a request may take at most, including the connection that it may need: 500 milliseconds by
    /// default. No call waits longer for one.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> RedisBuilder {
        self.timeout = timeout;
        self
    }

    /// Trusts a certificate besides those of the system, as PEM text, for a server with `rediss` whose authority is
    /// private.
    #[must_use]
    pub fn root_certificate(mut self, pem: impl Into<Vec<u8>>) -> RedisBuilder {
        self.roots.push(pem.into());
        self
    }

    /// Sets a function that is called when the server can no longer be reached, and when it can again: for logs and
    /// alarms. The request that noticed calls it, and waits for it.
    #[must_use]
    pub fn on_change(mut self, told: impl Fn(&StateChange) + Send + Sync + 'static) -> RedisBuilder {
        self.on_change = Some(Box::new(told));
        self
    }

    /// Builds the state. Nothing is connected yet, see [`RedisState::ping`].
    ///
    /// # Errors
    ///
    /// If the URL is not that of a server, a certificate cannot be read, or the namespace is blank.
    pub fn build(self) -> Result<RedisState, StateError> {
        if self.namespace.trim().is_empty() {
            return Err(StateError::new(
                "the namespace of the shared state is blank: name the deployment whose processes share it",
            ));
        }
        let place = Place::parse(&self.url, &self.roots)?;
        Ok(RedisState(Arc::new(Inner {
            place,
            namespace: self.namespace,
            timeout: self.timeout,
            link: Mutex::default(),
            connecting: tokio::sync::Mutex::new(()),
            is_up: AtomicBool::new(true),
            on_change: self.on_change,
        })))
    }
}

impl RedisState {
    /// Begins a state at a URL: `redis://[[user]:password@]host[:port][/database]`, with `rediss` for TLS.
    ///
    /// The namespace separates deployments on one server: only processes with the same namespace share state.
    #[must_use]
    pub fn builder(url: impl Into<String>, namespace: impl Into<Text>) -> RedisBuilder {
        let (url, namespace) = (url.into(), namespace.into());
        RedisBuilder { url, namespace, timeout: TIMEOUT, roots: Vec::new(), on_change: None }
    }

    /// Asks the server whether it is there, so that a program can refuse to start without it.
    ///
    /// # Errors
    ///
    /// If it cannot be reached, does not let this program in, or does not answer in time.
    pub async fn ping(&self) -> Result<(), StateError> {
        self.request(&redis::cmd("PING")).await.map(drop)
    }

    /// Returns whether the last request was answered. `true` before the first one.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.0.is_up.load(Ordering::Acquire)
    }

    /// Returns a key in the namespace. The part in braces keeps the keys of one script on one server, where there are
    /// several behind an address.
    pub(super) fn key(&self, kind: &str, name: &str) -> String {
        format!("{}{{{name}}}", self.prefix(kind))
    }

    /// Returns the common prefix of the keys of a kind, before the part in braces.
    pub(super) fn prefix(&self, kind: &str) -> String {
        format!("{}:{kind}:", self.0.namespace)
    }

    /// Runs a script on keys, atomically and in one round trip, and returns its answer.
    pub(super) async fn script(
        &self,
        script: &str,
        keys: &[&str],
        args: &[&[u8]],
    ) -> Result<Value, StateError> {
        // The text is sent each time: it is short, and a server that has restarted does not know it by its digest.
        let mut command = redis::cmd("EVAL");
        command.arg(script).arg(keys.len());
        for key in keys {
            command.arg(*key);
        }
        for arg in args {
            command.arg(*arg);
        }
        self.request(&command).await
    }

    /// Sends a request and returns its answer, within the time limit.
    ///
    /// # Errors
    ///
    /// If there is no answer, or the answer is an error. Then it is unknown whether the request had an effect.
    pub(super) async fn request(&self, command: &Cmd) -> Result<Value, StateError> {
        let inner = &*self.0;
        // The number of the connection that is used; 0 before there is one.
        let mut used = 0;
        let answer = tokio::time::timeout(inner.timeout, self.answer(command, &mut used)).await;
        let lost = match answer {
            Ok(Ok(answer)) => {
                self.tell(None);
                return Ok(answer);
            }
            Ok(Err(Failure::Paused(why))) => return Err(why),
            Ok(Err(Failure::Refused(why))) => return Err(self.error(&why)),
            Ok(Err(Failure::Lost(why))) => self.error(&why),
            Err(_) => self.error(&format!("no answer within {:?}", inner.timeout)),
        };
        let mut link = unpoisoned(inner.link.lock());
        // Another request may have connected again meanwhile.
        if link.open.as_ref().is_none_or(|open| open.number == used) {
            link.open = None;
            link.pause = Some((Instant::now() + PAUSE, lost.clone()));
        }
        drop(link);
        self.tell(Some(&lost));
        Err(lost)
    }

    async fn answer(&self, command: &Cmd, used: &mut u64) -> Result<Value, Failure> {
        let (mut connection, number) = self.connection().await?;
        *used = number;
        match connection.send_packed_command(command).await {
            Ok(Value::ServerError(why)) => Err(Failure::Refused(why.to_string())),
            Ok(answer) => Ok(answer),
            // A server that became a replica answers, too, but is no longer the one that is wanted.
            Err(why) if why.is_io_error() || why.is_unrecoverable_error() => {
                Err(Failure::Lost(why.to_string()))
            }
            Err(why) => Err(Failure::Refused(why.to_string())),
        }
    }

    /// Returns the connection and its number, and connects if there is none.
    async fn connection(&self) -> Result<(MultiplexedConnection, u64), Failure> {
        let inner = &*self.0;
        if let Some(found) = unpoisoned(inner.link.lock()).usable()? {
            return Ok(found);
        }
        let _connecting = inner.connecting.lock().await;
        if let Some(found) = unpoisoned(inner.link.lock()).usable()? {
            return Ok(found);
        }
        let lost = |why: String| Failure::Lost(format!("cannot connect: {why}"));
        let stream = inner.place.open().await.map_err(|why| lost(why.to_string()))?;
        // Our own clock limits the time.
        let config = AsyncConnectionConfig::new().set_response_timeout(None).set_connection_timeout(None);
        let made = MultiplexedConnection::new_with_config(&inner.place.login, stream, config).await;
        let (connection, driver) = made.map_err(|why| lost(why.to_string()))?;
        let driver = tokio::spawn(driver);
        let mut link = unpoisoned(inner.link.lock());
        link.number += 1;
        let number = link.number;
        link.open = Some(Open { connection: connection.clone(), driver, number });
        Ok((connection, number))
    }

    /// Notes whether the server answers, and tells the program if that is new.
    fn tell(&self, lost: Option<&StateError>) {
        let (is_up, known) = (lost.is_none(), &self.0.is_up);
        if known.load(Ordering::Acquire) == is_up || known.swap(is_up, Ordering::AcqRel) == is_up {
            return;
        }
        if let Some(told) = &self.0.on_change {
            told(&lost.map_or(StateChange::Up, |why| StateChange::Down(why.clone())));
        }
    }

    /// Returns an error with the server it is about.
    pub(super) fn error(&self, why: &str) -> StateError {
        StateError::new(format!("shared state at {}: {why}", self.0.place))
    }

    /// Returns the error for an unexpected answer.
    pub(super) fn unexpected(&self, answer: &Value) -> StateError {
        let shown: String = format!("{answer:?}").chars().take(100).collect();
        self.error(&format!("an answer that was not expected: {shown}"))
    }
}

/// The longest time that the server is asked to keep something, in milliseconds: its clock holds no more.
pub(super) const LONGEST: u64 = 1 << 50;

/// Returns for how many milliseconds the server is to keep something, at least one, since it refuses zero.
pub(super) fn expiry(time: Duration) -> u64 {
    whole_millis(time).clamp(1, LONGEST)
}

/// Returns a text in an answer; `None` if it is something else.
pub(super) fn text(value: &Value) -> Option<&str> {
    match value {
        Value::BulkString(bytes) => std::str::from_utf8(bytes).ok(),
        Value::SimpleString(text) => Some(text),
        _ => None,
    }
}

impl Link {
    fn usable(&mut self) -> Result<Option<(MultiplexedConnection, u64)>, Failure> {
        if let Some(open) = &self.open {
            if !open.driver.is_finished() {
                return Ok(Some((open.connection.clone(), open.number)));
            }
            self.open = None;
        }
        match &self.pause {
            Some((until, why)) if *until > Instant::now() => Err(Failure::Paused(why.clone())),
            _ => Ok(None),
        }
    }
}

/// Why a request has no answer.
enum Failure {
    /// The connection can no longer be used.
    Lost(String),
    /// The server answered that it does not do this.
    Refused(String),
    /// A request failed a moment ago, so this one was not sent.
    Paused(StateError),
}

impl fmt::Debug for RedisState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisState")
            .field("server", &self.0.place.to_string())
            .field("namespace", &self.0.namespace)
            .field("timeout", &self.0.timeout)
            .field("is_up", &self.is_up())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for RedisBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URL may contain a password.
        f.debug_struct("RedisBuilder")
            .field("namespace", &self.namespace)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
