//! Failures that all processes count.

use std::time::Duration;

use redis::Value;

use super::state::expiry;
use super::{RedisState, StateError};
use crate::base::future::BoxFuture;
use crate::call::error::ToolError;
use crate::layers::repeat::{FailedCall, FailureStore};

/// Counts a failure, starting again from one if the error is a new one.
///
/// KEYS: the call. ARGV: the error, the beginning of its text, the milliseconds until it is forgotten.
const SCRIPT: &str = "\
if redis.call('HGET', KEYS[1], 'error') ~= ARGV[1] then
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'error', ARGV[1])
end
redis.call('HSET', KEYS[1], 'shown', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return redis.call('HINCRBY', KEYS[1], 'count', 1)";

/// Counts the failures of identical calls on the server, from [`RedisState::failures`], for
/// [`ProviderBuilder::repeat_store`](crate::provider::ProviderBuilder::repeat_store).
///
/// A call costs one request before it, and one after it if it fails, or succeeds after it failed before. While the
/// server cannot be reached, each process goes by the failures that it saw.
#[derive(Clone, Debug)]
pub struct RedisFailures(RedisState);

impl RedisState {
    /// Returns a store of the failures of identical calls.
    #[must_use]
    pub fn failures(&self) -> RedisFailures {
        RedisFailures(self.clone())
    }
}

impl RedisFailures {
    fn key(&self, call: &str) -> String {
        self.0.key("repeat", call)
    }

    fn parsed(&self, answer: &Value) -> Result<Option<FailedCall>, StateError> {
        let Value::Array(parts) = answer else { return Err(self.0.unexpected(answer)) };
        match parts.as_slice() {
            [Value::Nil, _] => Ok(None),
            [Value::BulkString(count), Value::BulkString(shown)] => {
                let count = std::str::from_utf8(count).ok().and_then(|count| count.parse().ok());
                let count = count.ok_or_else(|| self.0.unexpected(answer))?;
                Ok(Some(FailedCall { count, error: String::from_utf8_lossy(shown).into_owned() }))
            }
            _ => Err(self.0.unexpected(answer)),
        }
    }
}

impl FailureStore for RedisFailures {
    fn failures<'a>(&'a self, call: &'a str) -> BoxFuture<'a, Result<Option<FailedCall>, ToolError>> {
        Box::pin(async move {
            let mut command = redis::cmd("HMGET");
            command.arg(self.key(call)).arg("count").arg("shown");
            self.0.request(&command).await.and_then(|answer| self.parsed(&answer)).map_err(ToolError::from)
        })
    }

    fn failed<'a>(
        &'a self,
        call: &'a str,
        error: &'a str,
        shown: &'a str,
        memory: Duration,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(async move {
            let memory = expiry(memory).to_string();
            let args = [error.as_bytes(), shown.as_bytes(), memory.as_bytes()];
            self.0.script(SCRIPT, &[&self.key(call)], &args).await.map(drop).map_err(ToolError::from)
        })
    }

    fn succeeded<'a>(&'a self, call: &'a str) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(async move {
            let mut command = redis::cmd("DEL");
            command.arg(self.key(call));
            self.0.request(&command).await.map(drop).map_err(ToolError::from)
        })
    }
}
