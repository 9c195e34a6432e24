//! Sessions that all processes have.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use redis::Value;

use super::state::{LONGEST, text};
use super::{OnFailure, RedisState, StateError};
use crate::base::canonical::digest;
use crate::base::frozen::Text;
use crate::base::future::BoxFuture;
use crate::base::time::whole_millis;
use crate::call::error::ToolError;
use crate::call::session::{SessionChanges, SessionData, SessionKey, SessionLimits, SessionStore};

/// The code of the error of a call whose session cannot be read, because the shared state cannot be reached.
pub const SESSION_UNKNOWN: &str = "SESSION_UNKNOWN";

/// Returns the version, the time in milliseconds and all members, unless the version is the one that is known. A session
/// has its version under `v`, values under `k:` and their key, and under `c:` and the name of a tool the time of its last
/// success.
///
/// KEYS: the session. ARGV: the version that is known, the milliseconds until it expires.
const LOAD: &str = "\
redis.call('PEXPIRE', KEYS[1], ARGV[2])
local version = redis.call('HGET', KEYS[1], 'v') or '0'
if version == ARGV[1] then return false end
local time = redis.call('TIME')
return {version, string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)), redis.call('HGETALL', KEYS[1])}";

/// Applies changes and returns the version afterwards. Versions begin with the time, so that a server that forgot
/// everything does not reuse them.
///
/// KEYS: the session. ARGV: the milliseconds until it expires, for how many tools the last success is kept, whether the
/// history is cleared (`1`), how many values follow; each with its key and `=` and its JSON, or nothing; then tools, each
/// with the milliseconds since its success.
const SAVE: &str = "\
local session, most, count = KEYS[1], tonumber(ARGV[2]), tonumber(ARGV[4])
local time = redis.call('TIME')
redis.call('HSETNX', session, 'v', string.format('%.0f', time[1] * 1000000 + time[2]))
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function called()
  local all, found = redis.call('HGETALL', session), {}
  for at = 1, #all, 2 do
    if string.sub(all[at], 1, 2) == 'c:' then table.insert(found, {all[at], tonumber(all[at + 1])}) end
  end
  return found
end
if ARGV[3] == '1' then
  for _, one in ipairs(called()) do redis.call('HDEL', session, one[1]) end
end
for at = 5, 4 + 2 * count, 2 do
  local json = ARGV[at + 1]
  if json == '' then redis.call('HDEL', session, 'k:' .. ARGV[at])
  else redis.call('HSET', session, 'k:' .. ARGV[at], string.sub(json, 2)) end
end
local added = 0
for at = 5 + 2 * count, #ARGV, 2 do
  added = added + redis.call('HSET', session, 'c:' .. ARGV[at], string.format('%.0f', now - ARGV[at + 1]))
end
if added > 0 and redis.call('HLEN', session) > most then
  local all = called()
  table.sort(all, function(left, right) return left[2] < right[2] end)
  for at = 1, #all - most do redis.call('HDEL', session, all[at][1]) end
end
redis.call('PEXPIRE', session, ARGV[1])
return redis.call('HINCRBY', session, 'v', 1)";

/// Keeps the values and the call history of sessions on the server, from [`RedisState::sessions`], for
/// [`Sessions::shared`](crate::call::session::Sessions::shared).
///
/// A call of such a session costs one request before it, which returns data only if the session has changed, and one
/// after it if it changed the session, as a success does. Values are on the server as JSON, in plain text: if they are
/// secrets, so are its contents.
#[derive(Clone)]
pub struct RedisSessions {
    state: RedisState,
    on_failure: OnFailure,
}

impl RedisState {
    /// Returns a store of sessions.
    #[must_use]
    pub fn sessions(&self) -> RedisSessions {
        RedisSessions { state: self.clone(), on_failure: OnFailure::Closed }
    }
}

impl RedisSessions {
    /// Sets what happens to calls of sessions while the server cannot be reached: by default they are refused
    /// ([`OnFailure::Closed`]) with the code [`SESSION_UNKNOWN`]. With [`OnFailure::Degrade`] they go by what this
    /// process knows of the session; what they change is stored later.
    #[must_use]
    pub fn on_failure(mut self, on_failure: OnFailure) -> RedisSessions {
        self.on_failure = on_failure;
        self
    }

    /// An owner or an ID may contain anything, so neither is part of the key itself.
    fn key(&self, key: SessionKey<'_>) -> String {
        self.state.key("session", &digest(&serde_json::json!([key.owner, key.id])))
    }

    async fn loaded(
        &self,
        key: SessionKey<'_>,
        known: u64,
        ttl: Duration,
    ) -> Result<Option<SessionData>, StateError> {
        let (known, ttl) = (known.to_string(), millis(ttl));
        let answer = self.state.script(LOAD, &[&self.key(key)], &[known.as_bytes(), ttl.as_bytes()]).await?;
        if answer == Value::Nil {
            return Ok(None);
        }
        match data(&answer) {
            Some(data) => Ok(Some(data)),
            None => Err(self.state.error("a session that this version did not write")),
        }
    }

    async fn saved(
        &self,
        key: SessionKey<'_>,
        changes: &SessionChanges,
        limits: SessionLimits,
        ttl: Duration,
    ) -> Result<u64, StateError> {
        let mut args: Vec<String> = vec![
            millis(ttl),
            limits.history_tools.max(1).to_string(),
            u8::from(changes.forget_calls).to_string(),
            changes.values.len().to_string(),
        ];
        for (key, value) in &changes.values {
            args.push(key.clone());
            args.push(value.as_ref().map_or_else(String::new, |value| format!("={value}")));
        }
        for (tool, ago) in &changes.called {
            args.push(tool.as_str().to_owned());
            args.push(millis(*ago));
        }
        let args: Vec<&[u8]> = args.iter().map(String::as_bytes).collect();
        match self.state.script(SAVE, &[&self.key(key)], &args).await? {
            Value::Int(version) if version > 0 => Ok(version.unsigned_abs()),
            other => Err(self.state.unexpected(&other)),
        }
    }

    fn refused(why: &StateError) -> ToolError {
        let text = "The call was not executed: the state of the session is not known, because the server that keeps it \
                    cannot be reached. Try again in a moment.";
        ToolError::failed_with(SESSION_UNKNOWN, text).with_operator_detail(why.to_string())
    }
}

/// Returns a time to live, or how long ago something was, which may be just now.
fn millis(time: Duration) -> String {
    whole_millis(time).min(LONGEST).to_string()
}

/// Reads the answer of [`LOAD`]; `None` if it is not one.
fn data(answer: &Value) -> Option<SessionData> {
    let Value::Array(parts) = answer else { return None };
    let [version, now, Value::Array(members)] = parts.as_slice() else { return None };
    let now: u64 = text(now)?.parse().ok()?;
    let mut data =
        SessionData { version: text(version)?.parse().ok()?, values: BTreeMap::new(), called: Vec::new() };
    for member in members.chunks_exact(2) {
        let (name, value) = (text(&member[0])?, text(&member[1])?);
        if let Some(key) = name.strip_prefix("k:") {
            data.values.insert(key.to_owned(), serde_json::from_str(value).ok()?);
        } else if let Some(tool) = name.strip_prefix("c:") {
            let at: u64 = value.parse().ok()?;
            data.called.push((Text::copy_of(tool), Duration::from_millis(now.saturating_sub(at))));
        }
    }
    Some(data)
}

impl SessionStore for RedisSessions {
    fn load<'a>(
        &'a self,
        key: SessionKey<'a>,
        known: u64,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<Option<SessionData>, ToolError>> {
        Box::pin(async move {
            match (self.loaded(key, known, ttl).await, self.on_failure) {
                (Ok(found), _) => Ok(found),
                (Err(_), OnFailure::Degrade) => Ok(None),
                (Err(why), OnFailure::Closed) => Err(RedisSessions::refused(&why)),
            }
        })
    }

    fn save<'a>(
        &'a self,
        key: SessionKey<'a>,
        changes: &'a SessionChanges,
        limits: SessionLimits,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<u64, ToolError>> {
        Box::pin(async move {
            let saved = self.saved(key, changes, limits, ttl).await;
            saved.map_err(|why| ToolError::failed_with(SESSION_UNKNOWN, why.to_string()))
        })
    }

    fn remove<'a>(&'a self, key: SessionKey<'a>) -> BoxFuture<'a, Result<bool, ToolError>> {
        Box::pin(async move {
            let mut command = redis::cmd("DEL");
            command.arg(self.key(key));
            match self.state.request(&command).await {
                Ok(Value::Int(removed)) => Ok(removed > 0),
                Ok(other) => {
                    Err(ToolError::failed_with(SESSION_UNKNOWN, self.state.unexpected(&other).to_string()))
                }
                Err(why) => Err(ToolError::failed_with(SESSION_UNKNOWN, why.to_string())),
            }
        })
    }
}

impl fmt::Debug for RedisSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisSessions")
            .field("on_failure", &self.on_failure)
            .field("state", &self.state)
            .finish()
    }
}
