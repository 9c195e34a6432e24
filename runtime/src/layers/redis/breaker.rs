//! Circuit breakers that open in all processes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use redis::{Value, from_redis_value_ref};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::state::expiry;
use super::{OnFailure, RedisState, StateError};
use crate::base::sync::unpoisoned;
use crate::base::time::whole_millis;
use crate::call::error::ToolError;
use crate::layers::breaker::{
    BreakerSettings, CircuitBreaker, CircuitChange, SERVICE_UNAVAILABLE, SharedCircuits,
};

/// How often a process asks by default what others opened and closed.
const INTERVAL: Duration = Duration::from_millis(100);

/// How long the server remembers what became of circuits after the last change, at least.
const MEMORY: Duration = Duration::from_secs(60 * 60);

/// Notes changes of circuits, and returns those that came after a number, with the milliseconds for which they are
/// open: 0 if they are closed. A circuit that was open long enough is not returned, since each process tries it by
/// itself.
///
/// KEYS: the circuits. ARGV: the last number that is known, the milliseconds to remember them, and for each change its
/// service and for how many milliseconds it is open.
const SCRIPT: &str = "\
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local last = tonumber(redis.call('HGET', KEYS[1], 'n') or 0)
local known = tonumber(ARGV[1])
if known > last then known = 0 end
for at = 3, #ARGV, 2 do
  last = redis.call('HINCRBY', KEYS[1], 'n', 1)
  local left = tonumber(ARGV[at + 1])
  local till = left > 0 and string.format('%.0f', now + left) or '0'
  redis.call('HSET', KEYS[1], 's:' .. ARGV[at], last .. ':' .. till)
end
if #ARGV > 2 then
  local left = redis.call('PTTL', KEYS[1])
  if left < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
end
local found = {last}
if known < last then
  local all = redis.call('HGETALL', KEYS[1])
  for at = 1, #all, 2 do
    if string.sub(all[at], 1, 2) == 's:' then
      local number, till = string.match(all[at + 1], '^(%d+):(%d+)$')
      local left = till == '0' and 0 or tonumber(till) - now
      if tonumber(number) > known and (till == '0' or left > 0) then
        found[#found + 1] = string.sub(all[at], 3)
        found[#found + 1] = left
      end
    end
  end
end
return found";

/// Builds circuit breakers that processes share, from [`RedisState::breaker`].
///
/// A circuit that opens or closes in one process does so in all of them, within the [interval](RedisBreaker::interval)
/// and one request: a tenth of a second by default. Each process counts the failures that it sees itself; after the
/// reset time each makes one trial call, and the first that ends decides for all.
///
/// Calls do not wait for the server: a task asks for changes, one small request in each interval, and passes on those of
/// this process. It ends when the breaker is dropped.
#[derive(Debug)]
pub struct RedisBreaker {
    state: RedisState,
    settings: BreakerSettings,
    services: BTreeMap<String, BreakerSettings>,
    interval: Duration,
    on_failure: OnFailure,
}

impl RedisState {
    /// Begins circuit breakers with settings, for
    /// [`ProviderBuilder::breaker`](crate::provider::ProviderBuilder::breaker). All processes should use the same.
    #[must_use]
    pub fn breaker(&self, settings: BreakerSettings) -> RedisBreaker {
        RedisBreaker {
            state: self.clone(),
            settings,
            services: BTreeMap::new(),
            interval: INTERVAL,
            on_failure: OnFailure::Degrade,
        }
    }
}

impl RedisBreaker {
    /// Sets the settings of one service.
    #[must_use]
    pub fn service(mut self, name: impl Into<String>, settings: BreakerSettings) -> RedisBreaker {
        self.services.insert(name.into(), settings);
        self
    }

    /// Sets how often the process asks what others opened and closed: every 100 milliseconds by default.
    #[must_use]
    pub fn interval(mut self, interval: Duration) -> RedisBreaker {
        self.interval = interval;
        self
    }

    /// Sets what happens while the server cannot be reached: by default each process goes by its own circuits
    /// ([`OnFailure::Degrade`]), and tells the others when the server is back. With [`OnFailure::Closed`] calls of services
    /// are refused with the code [`SERVICE_UNAVAILABLE`] from the first failed request on, and before the first answer.
    #[must_use]
    pub fn on_failure(mut self, on_failure: OnFailure) -> RedisBreaker {
        self.on_failure = on_failure;
        self
    }

    /// Starts the task and returns the breakers.
    ///
    /// # Errors
    ///
    /// If this is not called in a Tokio runtime, in which the task could run.
    pub fn start(self) -> Result<Arc<CircuitBreaker>, StateError> {
        let runtime = tokio::runtime::Handle::try_current().map_err(|_| {
            StateError::new("shared circuit breakers need a Tokio runtime: start them inside of one")
        })?;
        let asked = Arc::new(Circuits {
            on_failure: self.on_failure,
            seen: Mutex::new(Seen { changes: BTreeMap::new(), answered: false }),
            woken: Notify::new(),
        });
        let breaker = CircuitBreaker::new().with_settings(self.settings).with_shared(Arc::clone(&asked) as _);
        let all = self.services.values().chain([&self.settings]);
        let longest = all.map(|settings| settings.reset).max().unwrap_or_default();
        let memory = longest.saturating_mul(2).saturating_add(MEMORY);
        let services = self.services.into_iter();
        let breaker = services.fold(breaker, |all, (name, settings)| all.with_service(&name, settings));
        let breaker = Arc::new(breaker);
        runtime.spawn(follow(self.state, Arc::downgrade(&breaker), asked, self.interval, memory));
        Ok(breaker)
    }
}

/// What the calls of this process and the task share.
#[derive(Debug)]
struct Circuits {
    on_failure: OnFailure,
    seen: Mutex<Seen>,
    woken: Notify,
}

#[derive(Debug)]
struct Seen {
    changes: Changes,
    /// Whether the last request was answered.
    answered: bool,
}

impl SharedCircuits for Circuits {
    fn changed(&self, service: &str, change: CircuitChange) {
        let till = match change {
            // A time that cannot be represented is far enough in the future.
            CircuitChange::Opened(left) => Instant::now().checked_add(left.min(MEMORY * 24 * 365)),
            CircuitChange::Closed => None,
        };
        unpoisoned(self.seen.lock()).changes.insert(service.to_owned(), till);
        self.woken.notify_one();
    }

    fn check(&self, service: &str) -> Result<(), ToolError> {
        if self.on_failure == OnFailure::Degrade || unpoisoned(self.seen.lock()).answered {
            return Ok(());
        }
        let text = format!(
            "The call was not executed: whether service '{service}' is available is not known, because the state that \
             is shared with other processes cannot be reached. Try again in a moment."
        );
        Err(ToolError::failed_with(SERVICE_UNAVAILABLE, text))
    }
}

/// Passes on what circuits do here, and does here what they do elsewhere, until the breaker is dropped.
async fn follow(
    state: RedisState,
    breaker: Weak<CircuitBreaker>,
    circuits: Arc<Circuits>,
    interval: Duration,
    memory: Duration,
) {
    let key = state.key("circuits", "all");
    let memory = expiry(memory).to_string();
    let mut known = 0;
    while breaker.strong_count() > 0 {
        let changes = std::mem::take(&mut unpoisoned(circuits.seen.lock()).changes);
        let answer = exchange(&state, &key, known, &memory, &changes).await;
        let Some(breaker) = breaker.upgrade() else { return };
        known = circuits.heard(answer, changes, &breaker).unwrap_or(known);
        drop(breaker);
        // A change is passed on at once, but not again and again while the server is away.
        if state.is_up() {
            let _ = tokio::time::timeout(interval, circuits.woken.notified()).await;
        } else {
            tokio::time::sleep(interval).await;
        }
    }
}

impl Circuits {
    /// Applies changes made elsewhere to the circuits here, and returns the number of the last change. Changes that
    /// were not passed on are passed on later.
    fn heard(
        &self,
        answer: Result<Heard, StateError>,
        told: Changes,
        breaker: &CircuitBreaker,
    ) -> Option<u64> {
        let mut seen = unpoisoned(self.seen.lock());
        seen.answered = answer.is_ok();
        let Ok((last, mut found)) = answer else {
            for (service, till) in told {
                seen.changes.entry(service).or_insert(till);
            }
            return None;
        };
        // What happened here is newer.
        found.retain(|(service, _)| !seen.changes.contains_key(service) && !told.contains_key(service));
        drop(seen);
        for (service, left) in found {
            match left {
                0 => breaker.closed_elsewhere(&service),
                left => breaker.open_elsewhere(&service, Duration::from_millis(left)),
            }
        }
        Some(last)
    }
}

/// Changes that are still to be sent to others: until when a circuit is open; `None` if it is closed.
type Changes = BTreeMap<String, Option<Instant>>;

/// The number of the last change, and the circuits that changed, with the milliseconds for which they are open.
type Heard = (u64, Vec<(String, u64)>);

/// Sends the changes to the server, and returns the number of the last one and those after the known one.
async fn exchange(
    state: &RedisState,
    key: &str,
    known: u64,
    memory: &str,
    changes: &Changes,
) -> Result<Heard, StateError> {
    let (known, now) = (known.to_string(), Instant::now());
    let lefts: Vec<_> = changes
        .values()
        .map(|till| till.map_or(0, |till| whole_millis(till.saturating_duration_since(now))).to_string())
        .collect();
    let mut args = vec![known.as_bytes(), memory.as_bytes()];
    for (service, left) in changes.keys().zip(&lefts) {
        args.extend([service.as_bytes(), left.as_bytes()]);
    }
    let answer = state.script(SCRIPT, &[key], &args).await?;
    let unexpected = || state.unexpected(&answer);
    let Value::Array(parts) = &answer else { return Err(unexpected()) };
    let Some((Value::Int(last), rest)) = parts.split_first() else { return Err(unexpected()) };
    let pairs = rest.chunks_exact(2).map(|pair| match pair {
        [service, Value::Int(left)] => {
            let service = from_redis_value_ref::<String>(service).map_err(|_| unexpected())?;
            Ok((service, u64::try_from(*left).unwrap_or(0)))
        }
        _ => Err(unexpected()),
    });
    Ok((u64::try_from(*last).unwrap_or(0), pairs.collect::<Result<_, _>>()?))
}
