//! Calls that wait on the server for an approval.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use redis::Value;

use super::RedisApprovals;
use crate::base::frozen::Text;
use crate::base::future::BoxFuture;
use crate::call::error::ToolError;
use crate::call::waiting::millis_of;
use crate::layers::approval::{APPROVALS_KEPT, ApprovalQueue, ApprovalState, QueueRow};
use crate::layers::redis::state::{LONGEST, StateError, text};

/// Stores a row: a hash, the sealed call under a key of its own, which expires earlier, and its place in the index of
/// its state, in the order in which calls began to wait. Returns 1 if it did.
///
/// KEYS: the row, the sealed call, the index of the new state. ARGV: the version that the row must have, empty if there
/// must be no row; the beginning of the keys of all indexes; the ID; version, state, asked_at, expires_at and entry;
/// when the row expires; the sealed call, or nothing.
const STORE: &str = "\
local row, request, index = KEYS[1], KEYS[2], KEYS[3]
local version, state = unpack(redis.call('HMGET', row, 'version', 'state'))
if (version or '') ~= ARGV[1] then return 0 end
if state then redis.call('ZREM', ARGV[2] .. '{' .. state .. '}', ARGV[3]) end
redis.call('HSET', row, 'version', ARGV[4])
redis.call('HSET', row, 'state', ARGV[5])
redis.call('HSET', row, 'asked_at', ARGV[6])
redis.call('HSET', row, 'expires_at', ARGV[7])
redis.call('HSET', row, 'entry', ARGV[8])
redis.call('PEXPIREAT', row, ARGV[9])
redis.call('ZADD', index, ARGV[6], ARGV[3])
if ARGV[10] == '' then redis.call('DEL', request)
else
  redis.call('SET', request, ARGV[10])
  redis.call('PEXPIREAT', request, ARGV[7])
end
return 1";

/// Returns the rows that exist, and takes those that have expired out of the index.
///
/// KEYS: the index of a state, or none. ARGV: the beginning of the keys of rows, that of sealed calls, and the IDs.
const READ: &str = "\
local found = {}
for at = 3, #ARGV do
  local row = ARGV[1] .. '{' .. ARGV[at] .. '}'
  local fields = redis.pcall('HMGET', row, 'version', 'state', 'asked_at', 'expires_at', 'entry')
  if fields.err then
    table.insert(found, { ARGV[at], fields.err })
  elseif fields[1] then
    table.insert(fields, 1, ARGV[at])
    local request = redis.pcall('GET', ARGV[2] .. '{' .. ARGV[at] .. '}')
    if type(request) == 'table' then request = request.err end
    table.insert(fields, request)
    table.insert(found, fields)
  elseif KEYS[1] then redis.call('ZREM', KEYS[1], ARGV[at]) end
end
return found";

/// How many rows are read by one request, so that no request holds up the server for long.
const AT_ONCE: usize = 200;

const ROW: &str = "approval-row";
const REQUEST: &str = "approval-request";
const INDEX: &str = "approval-index";

impl RedisApprovals {
    async fn store(&self, row: &QueueRow, version: Option<u64>) -> Result<bool, StateError> {
        let text = |time: SystemTime| millis_of(time).min(LONGEST).to_string();
        let kept = row.expires_at.checked_add(APPROVALS_KEPT).unwrap_or(row.expires_at);
        let args = [
            version.map_or_else(String::new, |version| version.to_string()),
            self.state.prefix(INDEX),
            row.id.as_str().to_owned(),
            row.version.to_string(),
            row.state.as_str().to_owned(),
            text(row.asked_at),
            text(row.expires_at),
            row.entry.clone(),
            text(kept),
            row.request.clone().unwrap_or_default(),
        ];
        let keys = [
            self.state.key(ROW, &row.id),
            self.state.key(REQUEST, &row.id),
            self.state.key(INDEX, row.state.as_str()),
        ];
        let keys = keys.each_ref().map(String::as_str);
        match self.state.script(STORE, &keys, &args.each_ref().map(String::as_bytes)).await? {
            Value::Int(stored) => Ok(stored == 1),
            other => Err(self.state.unexpected(&other)),
        }
    }

    /// Returns the rows of these IDs that exist; those that cannot be read, as damaged ones in this state.
    async fn rows(
        &self,
        index: Option<&str>,
        state: ApprovalState,
        ids: &[&str],
    ) -> Result<Vec<QueueRow>, StateError> {
        let (rows, requests) = (self.state.prefix(ROW), self.state.prefix(REQUEST));
        let mut args = vec![rows.as_bytes(), requests.as_bytes()];
        args.extend(ids.iter().map(|id| id.as_bytes()));
        let answer = self.state.script(READ, index.as_slice(), &args).await?;
        let Value::Array(found) = &answer else { return Err(self.state.unexpected(&answer)) };
        let unexpected = || self.state.unexpected(&answer);
        found.iter().map(|found| row_of(found, state).ok_or_else(unexpected)).collect()
    }

    async fn ids_in_state(&self, index: &str) -> Result<Vec<String>, StateError> {
        let mut command = redis::cmd("ZRANGE");
        command.arg(index).arg(0).arg(-1);
        let answer = self.state.request(&command).await?;
        let Value::Array(ids) = &answer else { return Err(self.state.unexpected(&answer)) };
        Ok(ids.iter().filter_map(text).map(str::to_owned).collect())
    }

    async fn in_state(&self, state: ApprovalState) -> Result<Vec<QueueRow>, StateError> {
        let index = self.state.key(INDEX, state.as_str());
        let ids = self.ids_in_state(&index).await?;
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let mut all = Vec::with_capacity(ids.len());
        for ids in ids.chunks(AT_ONCE) {
            all.extend(self.rows(Some(&index), state, ids).await?);
        }
        // One that was changed meanwhile is in the state in which it was found.
        all.retain(|row| row.state == state);
        Ok(all)
    }
}

/// Returns a row, or a damaged one if it cannot be read; only its ID must be there.
fn row_of(found: &Value, state: ApprovalState) -> Option<QueueRow> {
    let Value::Array(fields) = found else { return None };
    let id = Text::copy_of(text(fields.first()?)?);
    let damaged = || QueueRow::damaged(id, state, "this version did not write it");
    Some(whole_row(fields).unwrap_or_else(damaged))
}

fn whole_row(fields: &[Value]) -> Option<QueueRow> {
    let [id, version, state, asked_at, expires_at, entry, request] = fields else { return None };
    let time = |value| {
        let millis = text(value)?.parse().ok()?;
        UNIX_EPOCH.checked_add(Duration::from_millis(millis))
    };
    Some(QueueRow {
        id: Text::copy_of(text(id)?),
        version: text(version)?.parse().ok()?,
        // A state of a later version: nothing is done with what nobody here knows.
        state: ApprovalState::named(text(state)?).unwrap_or(ApprovalState::Finished),
        asked_at: time(asked_at)?,
        expires_at: time(expires_at)?,
        entry: text(entry)?.to_owned(),
        request: text(request).map(str::to_owned),
    })
}

impl ApprovalQueue for RedisApprovals {
    fn insert(&self, row: QueueRow) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(async move {
            if self.store(&row, None).await? {
                return Ok(());
            }
            Err(ToolError::failed(format!("there is already a call '{}' in the queue", row.id)))
        })
    }

    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<QueueRow>, ToolError>> {
        Box::pin(async move { Ok(self.rows(None, ApprovalState::Finished, &[id]).await?.pop()) })
    }

    fn list<'a>(&'a self, states: &'a [ApprovalState]) -> BoxFuture<'a, Result<Vec<QueueRow>, ToolError>> {
        Box::pin(async move {
            let mut all = Vec::new();
            for state in states {
                all.extend(self.in_state(*state).await?);
            }
            all.sort_by_key(|row| row.asked_at);
            Ok(all)
        })
    }

    fn ids<'a>(&'a self, start: &'a str) -> BoxFuture<'a, Result<Vec<Text>, ToolError>> {
        Box::pin(async move {
            let mut found = Vec::new();
            for state in ApprovalState::ALL {
                let ids = self.ids_in_state(&self.state.key(INDEX, state.as_str())).await?;
                found.extend(ids.into_iter().filter(|id| id.starts_with(start)).map(Text::from));
            }
            Ok(found)
        })
    }

    fn replace(&self, row: QueueRow, version: u64) -> BoxFuture<'_, Result<bool, ToolError>> {
        Box::pin(async move { self.store(&row, Some(version)).await.map_err(ToolError::from) })
    }
}
