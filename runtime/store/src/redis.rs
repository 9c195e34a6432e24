//! A store on a Redis or Valkey server.
//!
//! A row is a hash under `NAMESPACE:TABLE:KEY`, with its `version` and its `value`. Each table has an index,
//! `NAMESPACE:index:TABLE`, of its keys in the order of their expiry. A counter is a hash with the count of each part
//! of its window. Each method is one script, which runs atomically and uses the clock of the server.

mod endpoint;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use endpoint::Endpoint;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Cmd, Value};
use tokio::task::JoinHandle;
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::call::store::{Expected, Row, Store, StoreError};

use super::server::{Connect, Failure, OnChange, Server, StoreChange};
use super::times::{millis, part_micros};

/// The default time limit of a request, including connecting.
const DEFAULT_TIMEOUT: Duration = Duration::from_millis(500);

/// Maximum number of rows that one request reads, so that the server is not blocked for long.
const MAX_ROWS_PER_REQUEST: usize = 200;

/// Stores a row if it has the expected version, and returns the new version, or nothing. Versions are times, so that
/// a row that was deleted, or lost by the server, never has an earlier version again.
///
/// KEYS: the row, the index. ARGV: the version, `any`, or an empty string for no row; the value; the milliseconds
/// until it expires; its key in the index.
const PUT: &str = "\
local known = redis.call('HGET', KEYS[1], 'version')
if ARGV[1] ~= 'any' and ARGV[1] ~= (known or '') then return false end
local time = redis.call('TIME')
local version = math.max(time[1] * 1000000 + time[2], (tonumber(known) or 0) + 1)
version = string.format('%.0f', version)
redis.call('HSET', KEYS[1], 'version', version)
redis.call('HSET', KEYS[1], 'value', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now))
redis.call('ZADD', KEYS[2], string.format('%.0f', now + ARGV[3]), ARGV[4])
if redis.call('PTTL', KEYS[2]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[2], ARGV[3]) end
return version";

/// Deletes a row if it has the expected version, and returns 1 if it did.
///
/// KEYS: the row, the index. ARGV: the version or `any`; its key in the index.
const DELETE: &str = "\
local known = redis.call('HGET', KEYS[1], 'version')
if not known or (ARGV[1] ~= 'any' and ARGV[1] ~= known) then return 0 end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[2])
return 1";

/// Returns rows with their remaining time, and the keys of the remaining rows, in two lists. The value of a row that
/// cannot be read is the error.
///
/// KEYS: an index, or none. ARGV: the maximum number of rows, the prefix of the keys of rows, and the keys to read,
/// or the prefix of those in the index.
const READ: &str = "\
local keys = {}
if KEYS[1] then
  for _, key in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
    if string.sub(key, 1, #ARGV[3]) == ARGV[3] then keys[#keys + 1] = key end
  end
else
  for at = 3, #ARGV do keys[#keys + 1] = ARGV[at] end
end
local found, rest = {}, {}
for at, key in ipairs(keys) do
  if at > tonumber(ARGV[1]) then
    rest[#rest + 1] = key
  else
    local row = redis.pcall('HMGET', ARGV[2] .. key, 'version', 'value')
    if row.err then
      found[#found + 1] = { key, '0', row.err, 0 }
    elseif row[1] then
      found[#found + 1] = { key, row[1], row[2] or '', redis.call('PTTL', ARGV[2] .. key) }
    end
  end
end
return { found, rest }";

/// Increments all counters and returns 1, unless one of them has reached its maximum.
///
/// KEYS: the counters. ARGV: the length of a part in microseconds, the milliseconds until the counts expire, and the
/// maximum of each counter.
const COUNT: &str = "\
local time = redis.call('TIME')
local part = math.floor((time[1] * 1000000 + time[2]) / ARGV[1])
for at, key in ipairs(KEYS) do
  local parts, sum = redis.call('HGETALL', key), 0
  for of = 1, #parts, 2 do
    if tonumber(parts[of]) < part - 64 then redis.call('HDEL', key, parts[of]) else sum = sum + parts[of + 1] end
  end
  if sum >= tonumber(ARGV[at + 2]) then return 0 end
end
for _, key in ipairs(KEYS) do
  redis.call('HINCRBY', key, string.format('%.0f', part), 1)
  redis.call('PEXPIRE', key, ARGV[2])
end
return 1";

/// A store on a Redis or Valkey server, shared with all processes of the same namespace. Clones share the connection.
///
/// All requests use one connection concurrently. The first request opens it, so a program can start before its
/// server. A lost connection is opened again. The effect of a lost request is unknown, so no request is retried.
///
/// All keys begin with the namespace, such as the name of the deployment, and expire. The server must not evict them
/// (`maxmemory-policy noeviction`, its default): if a counter is evicted, its limit is not enforced. State is as
/// durable as the server. If a server loses data, because it restarts without persistence or because a replica
/// without the last writes takes over, an approval can be used again. To prevent that, use `appendonly yes` and
/// `appendfsync always` without such replicas, or keep approvals in a database on disk.
///
/// Any server with the commands of Redis 5 works, such as Valkey. The state is on one server, at one address.
///
/// ```no_run
/// use toolgen_runtime::layers::approval::Approvals;
/// use toolgen_runtime::layers::rate::WindowLimit;
/// use toolgen_runtime::store::{OnFailure, RedisStore};
/// use toolgen_runtime::{Toolbox, Registry};
///
/// # fn shared(registry: &Registry) -> Result<Toolbox, Box<dyn std::error::Error>> {
/// let store = RedisStore::builder("redis://127.0.0.1:6379", "shop-production").build()?;
/// let limit = WindowLimit::new().with_per_tool(10).shared(store.clone()).on_failure(OnFailure::Degrade);
/// let toolbox = Toolbox::builder(registry).rate_limit(limit).approval_store(Approvals::on(store)).build()?;
/// # Ok(toolbox)
/// # }
/// ```
#[derive(Clone)]
pub struct RedisStore(Arc<Inner>);

struct Inner {
    server: Server<Endpoint>,
    namespace: Text,
}

/// A builder for [`RedisStore`].
pub struct RedisBuilder {
    url: String,
    namespace: Text,
    timeout: Duration,
    roots: Vec<Vec<u8>>,
    on_change: Option<OnChange>,
}

impl RedisBuilder {
    /// Sets the time limit of a request, including connecting. Default: 500 milliseconds. No call waits longer for a
    /// request.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> RedisBuilder {
        self.timeout = timeout;
        self
    }

    /// Trusts a certificate in addition to those of the system, for a `rediss` server with a private certificate
    /// authority. Takes PEM text.
    #[must_use]
    pub fn root_certificate(mut self, pem: impl Into<Vec<u8>>) -> RedisBuilder {
        self.roots.push(pem.into());
        self
    }

    /// Sets a callback that is called when the server becomes unreachable, and when it is reachable again: for logs
    /// and alerts. The request that detects the change calls it, and waits for it.
    #[must_use]
    pub fn on_change(mut self, callback: impl Fn(&StoreChange) + Send + Sync + 'static) -> RedisBuilder {
        self.on_change = Some(Box::new(callback));
        self
    }

    /// Builds the store. It does not connect yet, see [`RedisStore::ping`].
    ///
    /// # Errors
    ///
    /// Returns an error if the URL is not that of a server, a certificate cannot be read, or the namespace is blank.
    pub fn build(self) -> Result<RedisStore, StoreError> {
        if self.namespace.trim().is_empty() {
            return Err(StoreError::new(
                "the namespace of the shared state is blank: name the deployment whose processes share it",
            ));
        }
        let endpoint = Endpoint::parse(&self.url, &self.roots)?;
        let server = Server::new(endpoint, self.timeout, self.on_change);
        Ok(RedisStore(Arc::new(Inner { server, namespace: self.namespace })))
    }
}

/// A connection, and the task that drives it. The task ends when the connection is lost.
#[derive(Clone)]
pub(super) struct OpenConnection {
    connection: MultiplexedConnection,
    driver: Arc<JoinHandle<()>>,
}

impl Connect for Endpoint {
    type Connection = OpenConnection;

    async fn connect(&self) -> Result<OpenConnection, Failure> {
        let to_failure = |reason: String| Failure::Lost(format!("cannot connect: {reason}"));
        let stream = self.open().await.map_err(|error| to_failure(error.to_string()))?;
        // This module enforces the time limit itself.
        let config = AsyncConnectionConfig::new().set_response_timeout(None).set_connection_timeout(None);
        let result = MultiplexedConnection::new_with_config(&self.login, stream, config).await;
        let (connection, driver) = result.map_err(|error| to_failure(error.to_string()))?;
        Ok(OpenConnection { connection, driver: Arc::new(tokio::spawn(driver)) })
    }

    fn is_open(connection: &OpenConnection) -> bool {
        !connection.driver.is_finished()
    }

    fn display_url(&self) -> String {
        self.to_string()
    }
}

impl RedisStore {
    /// Returns a builder for a store at a URL: `redis://[[user]:password@]host[:port][/database]`, with `rediss` for
    /// TLS.
    ///
    /// The namespace separates deployments on one server: only processes with the same namespace share state.
    #[must_use]
    pub fn builder(url: impl Into<String>, namespace: impl Into<Text>) -> RedisBuilder {
        let (url, namespace) = (url.into(), namespace.into());
        RedisBuilder { url, namespace, timeout: DEFAULT_TIMEOUT, roots: Vec::new(), on_change: None }
    }

    /// Checks that the server is reachable, so that a program can fail at startup.
    ///
    /// # Errors
    ///
    /// Returns an error if the server cannot be reached, rejects the login, or does not respond in time.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.request(&redis::cmd("PING")).await.map(drop)
    }

    /// Returns whether the last request got a response; `true` before the first request.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.0.server.is_up()
    }

    /// Returns the prefix of the keys of a table.
    fn prefix(&self, table: &str) -> String {
        format!("{}:{table}:", self.0.namespace)
    }

    fn key(&self, table: &str, key: &str) -> String {
        self.prefix(table) + key
    }

    /// Runs a script on keys, atomically and in one round trip, and returns its result.
    async fn run_script(&self, script: &str, keys: &[String], args: &[&[u8]]) -> Result<Value, StoreError> {
        // The whole script is sent each time: it is short, and a restarted server does not know its digest.
        let mut command = redis::cmd("EVAL");
        command.arg(script).arg(keys.len()).arg(keys);
        for arg in args {
            command.arg(*arg);
        }
        self.request(&command).await
    }

    async fn request(&self, command: &Cmd) -> Result<Value, StoreError> {
        let send = async |mut connection: OpenConnection| match connection
            .connection
            .send_packed_command(command)
            .await
        {
            Ok(Value::ServerError(error)) => Err(Failure::Refused(error.to_string())),
            Ok(response) => Ok(response),
            // A server that became a replica still responds, but can no longer be used.
            Err(error) if error.is_io_error() || error.is_unrecoverable_error() => {
                Err(Failure::Lost(error.to_string()))
            }
            Err(error) => Err(Failure::Refused(error.to_string())),
        };
        self.0.server.request(send).await
    }

    /// Returns rows, and the keys of those that remain to be read.
    async fn read(
        &self,
        table: &str,
        index: Option<String>,
        keys: &[&str],
    ) -> Result<(Vec<Row>, Vec<String>), StoreError> {
        let (max_rows, prefix) = (MAX_ROWS_PER_REQUEST.to_string(), self.prefix(table));
        let mut args = vec![max_rows.as_bytes(), prefix.as_bytes()];
        args.extend(keys.iter().map(|key| key.as_bytes()));
        let response = self.run_script(READ, index.as_slice(), &args).await?;
        let parts = || {
            let Value::Array(parts) = &response else { return None };
            let [Value::Array(rows), Value::Array(remaining_keys)] = parts.as_slice() else { return None };
            let rows = rows.iter().map(parse_row).collect::<Option<_>>()?;
            let remaining_keys =
                remaining_keys.iter().map(|key| Some(String::from_utf8_lossy(as_bytes(key)?).into_owned()));
            Some((rows, remaining_keys.collect::<Option<_>>()?))
        };
        parts().ok_or_else(|| self.unexpected(&response))
    }

    /// Returns the error for an unexpected response.
    fn unexpected(&self, response: &Value) -> StoreError {
        let excerpt: String = format!("{response:?}").chars().take(100).collect();
        self.0.server.error(&format!("unexpected response: {excerpt}"))
    }
}

fn as_bytes(value: &Value) -> Option<&[u8]> {
    match value {
        Value::BulkString(bytes) => Some(bytes),
        Value::SimpleString(text) => Some(text.as_bytes()),
        _ => None,
    }
}

fn parse_row(value: &Value) -> Option<Row> {
    let Value::Array(fields) = value else { return None };
    let [key, version, content, Value::Int(remaining)] = fields.as_slice() else { return None };
    let version = std::str::from_utf8(as_bytes(version)?).ok().and_then(|version| version.parse().ok());
    Some(Row {
        key: String::from_utf8_lossy(as_bytes(key)?).into_owned(),
        // 0: the row was not written by this store.
        version: version.unwrap_or(0),
        value: as_bytes(content)?.to_vec(),
        left: Duration::from_millis(u64::try_from(*remaining).unwrap_or(0)),
    })
}

/// Returns the version argument of a script.
fn version_argument(expected: Expected) -> String {
    match expected {
        Expected::Any => "any".to_owned(),
        Expected::Absent => String::new(),
        Expected::Version(version) => version.to_string(),
    }
}

impl Store for RedisStore {
    fn get<'a>(&'a self, table: &'a str, key: &'a str) -> BoxFuture<'a, Result<Option<Row>, StoreError>> {
        Box::pin(async move { Ok(self.read(table, None, &[key]).await?.0.pop()) })
    }

    fn scan<'a>(&'a self, table: &'a str, prefix: &'a str) -> BoxFuture<'a, Result<Vec<Row>, StoreError>> {
        Box::pin(async move {
            let (mut rows, remaining) = self.read(table, Some(self.key("index", table)), &[prefix]).await?;
            let remaining: Vec<&str> = remaining.iter().map(String::as_str).collect();
            for keys in remaining.chunks(MAX_ROWS_PER_REQUEST) {
                rows.extend(self.read(table, None, keys).await?.0);
            }
            rows.sort_by(|left, right| left.key.cmp(&right.key));
            Ok(rows)
        })
    }

    fn put<'a>(
        &'a self,
        table: &'a str,
        key: &'a str,
        value: &'a [u8],
        ttl: Duration,
        expected: Expected,
    ) -> BoxFuture<'a, Result<Option<u64>, StoreError>> {
        Box::pin(async move {
            // The server rejects a time to live of zero.
            let (expected, ttl) = (version_argument(expected), millis(ttl).max(1).to_string());
            let keys = [self.key(table, key), self.key("index", table)];
            let args = [expected.as_bytes(), value, ttl.as_bytes(), key.as_bytes()];
            let response = self.run_script(PUT, &keys, &args).await?;
            if response == Value::Nil {
                return Ok(None);
            }
            let version = as_bytes(&response).and_then(|text| std::str::from_utf8(text).ok()?.parse().ok());
            version.map(Some).ok_or_else(|| self.unexpected(&response))
        })
    }

    fn delete<'a>(
        &'a self,
        table: &'a str,
        key: &'a str,
        expected: Expected,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let keys = [self.key(table, key), self.key("index", table)];
            match self
                .run_script(DELETE, &keys, &[version_argument(expected).as_bytes(), key.as_bytes()])
                .await?
            {
                Value::Int(deleted) => Ok(deleted == 1),
                other => Err(self.unexpected(&other)),
            }
        })
    }

    fn count<'a>(
        &'a self,
        table: &'a str,
        counters: &'a [(&'a str, u32)],
        window: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let keys: Vec<String> = counters.iter().map(|(key, _)| self.key(table, key)).collect();
            // The counts are kept longer than the last call counts.
            let (part, ttl) = (part_micros(window), millis(window.saturating_mul(66) / 64).saturating_add(1));
            let settings = [part.to_string(), ttl.to_string()];
            let max = counters.iter().map(|(_, max)| max.to_string());
            let args: Vec<String> = settings.into_iter().chain(max).collect();
            let args: Vec<&[u8]> = args.iter().map(String::as_bytes).collect();
            match self.run_script(COUNT, &keys, &args).await? {
                Value::Int(counted) => Ok(counted == 1),
                other => Err(self.unexpected(&other)),
            }
        })
    }
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore")
            .field("namespace", &self.0.namespace)
            .field("server", &self.0.server)
            .finish()
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
