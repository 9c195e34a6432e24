//! Rate limits that processes share.

use std::fmt;

use redis::Value;

use super::{OnFailure, RedisState, StateError};
use crate::base::future::BoxFuture;
use crate::call::error::ToolError;
use crate::call::principal::Principal;
use crate::layers::rate::{PARTS, RateLimit, WindowLimit, exceeded};
use crate::spec::ToolSpec;

/// The code of the error of a call that could not be counted, because the shared state cannot be reached.
pub const RATE_LIMIT_UNKNOWN: &str = "RATE_LIMIT_UNKNOWN";

/// Counts a call, if it is within the limits. A window has 64 parts, as that of `WindowLimit`. For each principal there
/// are the sums of the window, in total and of each tool; the calls of each part and tool; and the parts in order.
///
/// KEYS: counts, parts. ARGV: the length of a part in microseconds, the most calls of the tool, the most calls in
/// total, the tool, and the milliseconds until nothing counts any longer.
const SCRIPT: &str = "\
local counts, parts, tool = KEYS[1], KEYS[2], ARGV[4]
local time = redis.call('TIME')
local part = math.floor((time[1] * 1000000 + time[2]) / ARGV[1])
local last = string.format('%.0f', part - 65)
for _, old in ipairs(redis.call('ZRANGEBYSCORE', parts, '-inf', last)) do
  local calls = tonumber(redis.call('HGET', counts, old) or 0)
  local own = 't:' .. string.match(old, '^%d+:(.*)$')
  redis.call('HDEL', counts, old)
  redis.call('HINCRBY', counts, 'all', -calls)
  if redis.call('HINCRBY', counts, own, -calls) <= 0 then redis.call('HDEL', counts, own) end
end
redis.call('ZREMRANGEBYSCORE', parts, '-inf', last)
local own = 't:' .. tool
if tonumber(redis.call('HGET', counts, own) or 0) >= tonumber(ARGV[2]) then return 0 end
if tonumber(redis.call('HGET', counts, 'all') or 0) >= tonumber(ARGV[3]) then return 0 end
part = string.format('%.0f', part)
local now = part .. ':' .. tool
if redis.call('HINCRBY', counts, now, 1) == 1 then redis.call('ZADD', parts, part, now) end
redis.call('HINCRBY', counts, own, 1)
redis.call('HINCRBY', counts, 'all', 1)
redis.call('PEXPIRE', counts, ARGV[5])
redis.call('PEXPIRE', parts, ARGV[5])
return 1";

/// A rate limit for all processes of a deployment, from [`RedisState::rate_limit`]: at most a given number of calls in
/// any time window of a given length, per principal in total and per principal and tool, as [`WindowLimit`] does for
/// one process.
///
/// A call costs one request, which counts and answers at once, by the clock of the server. So the limits are exact,
/// however many processes ask. Limits with windows of another length have counts of their own. Principals without calls
/// in the window are forgotten; their number is limited only by the memory of the server.
pub struct RedisRateLimit {
    state: RedisState,
    limit: WindowLimit,
    on_failure: OnFailure,
}

impl RedisState {
    /// Returns a rate limit with the window and the numbers of `limit`, for
    /// [`ProviderBuilder::rate_limit`](crate::provider::ProviderBuilder::rate_limit).
    #[must_use]
    pub fn rate_limit(&self, limit: WindowLimit) -> RedisRateLimit {
        RedisRateLimit { state: self.clone(), limit, on_failure: OnFailure::Closed }
    }
}

impl RedisRateLimit {
    /// Sets what happens to calls while the server cannot be reached: by default they are refused
    /// ([`OnFailure::Closed`]) with the code [`RATE_LIMIT_UNKNOWN`]. With [`OnFailure::Degrade`] each process counts its
    /// own calls, from zero, so together they let through as many times the limit as there are processes.
    #[must_use]
    pub fn on_failure(mut self, on_failure: OnFailure) -> RedisRateLimit {
        self.on_failure = on_failure;
        self
    }

    async fn count(&self, principal: &Principal, spec: &ToolSpec) -> Result<bool, StateError> {
        let (window, per_tool, in_all) = self.limit.bounds(principal);
        if per_tool == 0 || in_all == 0 {
            return Ok(false);
        }
        let part = (window.as_micros() / u128::from(PARTS)).max(1);
        // Longer than the last call counts.
        let life = part.saturating_mul(u128::from(PARTS) + 2) / 1000 + 1;
        let who = format!("{}:{}", window.as_micros(), principal.id);
        let (counts, parts) = (self.state.key("rate", &who), self.state.key("rate-parts", &who));
        let (part, per_tool, in_all, life) =
            (part.to_string(), per_tool.to_string(), in_all.to_string(), life.to_string());
        let args: [&str; 5] = [&part, &per_tool, &in_all, spec.name.as_str(), &life];
        match self.state.script(SCRIPT, &[&counts, &parts], &args.map(str::as_bytes)).await? {
            Value::Int(counted) => Ok(counted == 1),
            other => Err(self.state.unexpected(&other)),
        }
    }
}

impl RateLimit for RedisRateLimit {
    fn allow<'a>(&'a self, principal: &'a Principal, spec: &'a ToolSpec) -> BoxFuture<'a, bool> {
        Box::pin(async move { self.ask(principal, spec).await.is_ok() })
    }

    fn ask<'a>(
        &'a self,
        principal: &'a Principal,
        spec: &'a ToolSpec,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(async move {
            let tool = spec.name.as_str();
            let allowed = match (self.count(principal, spec).await, self.on_failure) {
                (Ok(allowed), _) => allowed,
                (Err(_), OnFailure::Degrade) => self.limit.admit(principal, &spec.name.to_text()),
                (Err(why), OnFailure::Closed) => {
                    let text = format!(
                        "The call was not executed: whether the rate limit allows '{tool}' now is not known, because \
                         the state that counts calls cannot be reached. Try again in a moment."
                    );
                    let error = ToolError::failed_with(RATE_LIMIT_UNKNOWN, text);
                    return Err(error.with_operator_detail(why.to_string()));
                }
            };
            if allowed { Ok(()) } else { Err(exceeded(tool)) }
        })
    }
}

impl fmt::Debug for RedisRateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisRateLimit")
            .field("limit", &self.limit)
            .field("on_failure", &self.on_failure)
            .field("state", &self.state)
            .finish()
    }
}
