//! State that several processes share, in Redis or Valkey.
//!
//! A [`RedisState`] is the connection of a process to a server. Its methods give the layers of a provider a place there,
//! instead of the memory of the process:
//!
//! | layer | shared by | what is shared | when the server is down |
//! |---|---|---|---|
//! | rate limit | [`RedisState::rate_limit`] | the calls in the window, exact to one call | refuses, or counts in this process |
//! | circuit breakers | [`RedisState::breaker`] | which circuits are open, within a tenth of a second | refuses, or goes by the circuits of this process |
//! | pages | [`RedisState::pages`] | large results, of which models read the rest | reads what this process cut |
//! | sessions | [`RedisState::sessions`] | values, and which tools succeeded | refuses, or goes by what this process knows |
//! | repeat guard | [`RedisState::failures`] | the failures of identical calls | counts in this process |
//! | approvals | [`RedisState::approvals`] | which requests were resumed, and the calls that wait | refuses, or remembers in this process |
//!
//! Where the last column has two answers, [`OnFailure`] chooses one, for each layer. No call waits longer for the
//! server than the [timeout](RedisBuilder::timeout) of the state, half a second by default, and while the server is
//! down only one call in a quarter of a second tries to reach it: the others get their answer at once.
//!
//! All keys begin with a namespace, such as the name of the deployment, and expire by themselves. The server must not
//! evict them (`maxmemory-policy noeviction`, its default): a count that is evicted is a limit that does not hold. What
//! is shared is as durable as the server is, see [`RedisApprovals`].
//!
//! Any server works that has the commands of Redis 5, such as Valkey. State is kept on one server, behind one address.

mod approval;
mod breaker;
mod failures;
mod pages;
mod place;
mod rate;
mod session;
mod state;

pub use approval::RedisApprovals;
pub use breaker::RedisBreaker;
pub use failures::RedisFailures;
pub use pages::{RESULT_UNKNOWN, RedisPages};
pub use rate::{RATE_LIMIT_UNKNOWN, RedisRateLimit};
pub use session::{RedisSessions, SESSION_UNKNOWN};
pub use state::{RedisBuilder, RedisState, StateChange, StateError};

/// What a layer does when the server with its state cannot be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// Refuses calls that depend on the state, with an error that says so.
    Closed,
    /// Goes on with the state of this process alone.
    Degrade,
}
