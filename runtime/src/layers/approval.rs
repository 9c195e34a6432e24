//! Seals on waiting calls, and the store of those already resumed.

#[cfg(feature = "sqlite")]
mod sqlite;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::base::frozen::Text;
use crate::base::future::BoxFuture;
use crate::base::sync::unpoisoned;
use crate::call::ToolCall;
use crate::call::callback;
use crate::call::called::CalledTool;
use crate::call::context::ToolContext;
use crate::call::digest::{SealKey, fingerprint, promise};
use crate::call::error::ToolError;
use crate::call::resumption::{Ticket, Waited};
use crate::call::tool::AgentTool;
use crate::call::waiting::{CalledBy, WaitingCall, millis_of};
use crate::registry::Registry;
use crate::spec::ToolSpec;

#[cfg(feature = "sqlite")]
pub use sqlite::SqliteApprovals;

/// How long a call waits for approval or for input by default: 24 hours.
pub const APPROVAL_EXPIRY: Duration = Duration::from_secs(24 * 60 * 60);

/// Remembers which calls were resumed, so that none is resumed twice.
///
/// Set with [`ProviderBuilder::approval_store`](crate::provider::ProviderBuilder::approval_store). The default,
/// [`MemoryApprovals`], keeps nothing beyond the end of the program. Programs that set
/// [`approval_key`](crate::provider::ProviderBuilder::approval_key), so that requests outlive them or move to another
/// process, need a store that lives as long as the key does and that all of these processes share: `SqliteApprovals`
/// (feature `sqlite`), or a table of another database. `INSERT` the name under a unique index, and the second attempt
/// fails.
pub trait ApprovalStore: Send + Sync {
    /// Takes a name and returns whether it was free: `false` if it was taken before. Of two concurrent calls for the
    /// same name, one returns `false`. The store may forget the name after `expires_at`, when its request is refused
    /// anyway.
    ///
    /// # Errors
    ///
    /// If the store cannot determine this. Then the call does not run.
    fn take<'a>(&'a self, name: &'a str, expires_at: SystemTime) -> BoxFuture<'a, Result<bool, ToolError>>;
}

impl<T: ApprovalStore + ?Sized> ApprovalStore for Arc<T> {
    fn take<'a>(&'a self, name: &'a str, expires_at: SystemTime) -> BoxFuture<'a, Result<bool, ToolError>> {
        (**self).take(name, expires_at)
    }
}

/// Remembers in memory which calls were resumed, until their requests would have expired.
#[derive(Default)]
pub struct MemoryApprovals(Mutex<Taken>);

#[derive(Default)]
struct Taken {
    names: BTreeMap<Text, SystemTime>,
    /// The number of names at which expired ones are swept.
    sweep_at: usize,
}

/// With fewer names than this there is no sweep.
const FEW: usize = 1024;

impl MemoryApprovals {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> MemoryApprovals {
        MemoryApprovals::default()
    }

    fn take_now(&self, name: &str, expires_at: SystemTime) -> bool {
        let mut taken = unpoisoned(self.0.lock());
        if taken.names.len() >= taken.sweep_at.max(FEW) {
            let now = SystemTime::now();
            taken.names.retain(|_, expires_at| *expires_at > now);
            taken.sweep_at = taken.names.len() * 2;
        }
        taken.names.insert(Text::copy_of(name), expires_at).is_none()
    }
}

impl ApprovalStore for MemoryApprovals {
    fn take<'a>(&'a self, name: &'a str, expires_at: SystemTime) -> BoxFuture<'a, Result<bool, ToolError>> {
        Box::pin(std::future::ready(Ok(self.take_now(name, expires_at))))
    }
}

impl fmt::Debug for MemoryApprovals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = unpoisoned(self.0.lock()).names.len();
        f.debug_struct("MemoryApprovals").field("names", &names).finish()
    }
}

/// Returns whether an error code says that a waiting call may not be resumed, which must not count against its tool.
pub(crate) fn is_refusal(code: &str) -> bool {
    let rest = code.strip_prefix("APPROVAL_").or_else(|| code.strip_prefix("INPUT_REQUEST_"));
    matches!(rest, Some("INVALID" | "EXPIRED" | "USED" | "UNKNOWN"))
}

fn refusal(prefix: &str, code: &str, why: impl fmt::Display) -> ToolError {
    ToolError::failed_with(format!("{prefix}_{code}"), format!("The call was not executed: {why}"))
}

fn unexpired(prefix: &str, expires_at: SystemTime) -> Result<(), ToolError> {
    if expires_at <= SystemTime::now() {
        return Err(refusal(prefix, "EXPIRED", "it has waited too long. Call the tool again."));
    }
    Ok(())
}

/// Returns the tools that a tool calls, and those that they call, each once: the tools of a sub-agent, which are its own,
/// by their specification alone.
fn below<'a>(
    tool: &'a dyn AgentTool,
    registry: &'a Registry,
) -> BTreeMap<&'a str, (&'a ToolSpec, Option<&'a dyn AgentTool>)> {
    let mut found = BTreeMap::new();
    let mut open = vec![tool];
    while let Some(tool) = open.pop() {
        for called in tool.called_tools().into_iter().filter_map(|name| registry.get(name)) {
            if found.insert(called.name(), (called.spec(), Some(&**called))).is_none() {
                open.push(&**called);
            }
        }
        for spec in tool.own_tools() {
            found.entry(spec.name.as_str()).or_insert((spec, None));
        }
    }
    found
}

/// Returns what whoever approves a call of a tool is told of the tools below it.
pub(crate) fn told_below(tool: &dyn AgentTool, registry: &Registry) -> Vec<CalledTool> {
    let told = |(spec, _): &(&ToolSpec, _)| CalledTool::new(spec.name.to_text(), spec.effects.clone());
    below(tool, registry).values().map(told).collect()
}

/// Returns the promise of a tool, with those of the tools below it.
fn promised(tool: &dyn AgentTool, registry: &Registry) -> String {
    below(tool, registry).into_values().fold(promise(tool), |all, (spec, called)| {
        let one = called.map_or_else(|| format!("{}{:?}", spec.name, spec.effects), promise);
        fingerprint(&format!("{all}{one}"))
    })
}

/// The key, the expiry and the store of waiting calls.
#[derive(Clone)]
pub(crate) struct Seals {
    /// Generated on first use, unless set.
    key: Arc<OnceLock<SealKey>>,
    pub(crate) expiry: Duration,
    pub(crate) store: Arc<dyn ApprovalStore>,
}

impl Default for Seals {
    fn default() -> Seals {
        Seals { key: Arc::default(), expiry: APPROVAL_EXPIRY, store: Arc::new(MemoryApprovals::new()) }
    }
}

impl Seals {
    pub(crate) fn set_key(&mut self, secret: &[u8]) {
        self.key = Arc::new(OnceLock::from(SealKey::new(secret)));
    }

    fn key(&self) -> Result<&SealKey, ToolError> {
        if let Some(key) = self.key.get() {
            return Ok(key);
        }
        let made = SealKey::random()?;
        Ok(self.key.get_or_init(|| made))
    }

    /// Returns when a call that starts to wait now expires, in whole milliseconds.
    fn expires_at(&self) -> SystemTime {
        /// Longer than any real wait, and short enough that the time can be written.
        const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
        let now = SystemTime::now();
        let end = now.checked_add(self.expiry.min(LONGEST)).unwrap_or(now);
        UNIX_EPOCH.checked_add(Duration::from_millis(millis_of(end))).unwrap_or(end)
    }

    /// Returns a call that starts to wait now, not sealed yet.
    pub(crate) fn waiting(
        &self,
        call: &ToolCall,
        name: Text,
        arguments: Value,
        inputs: Vec<Value>,
        ctx: &ToolContext,
    ) -> WaitingCall {
        WaitingCall {
            id: call.id.clone(),
            name,
            via: call.via.clone(),
            arguments,
            approved: call.brings().approved.clone(),
            expires_at: self.expires_at(),
            called_by: CalledBy::of(ctx),
            inputs,
            traceparent: ctx.traceparent(),
            seal: Text::EMPTY,
        }
    }

    /// Seals a waiting call for its tool, as registered.
    pub(crate) fn seal(
        &self,
        waited: Waited,
        tool: &dyn AgentTool,
        registry: &Registry,
    ) -> Result<Waited, ToolError> {
        let seal = self.key()?.seal(&waited.sealed(&promised(tool, registry)))?;
        Ok(waited.sealed_with(seal))
    }

    /// Refuses a resumed call whose request does not match it.
    pub(crate) fn verify(
        &self,
        call: &ToolCall,
        tool: &dyn AgentTool,
        registry: &Registry,
        ctx: &ToolContext,
    ) -> Result<(), ToolError> {
        let Some(waited) = &call.brings().waited else { return Ok(()) };
        let prefix = waited.prefix();
        let invalid = |why: String| Err(refusal(prefix, "INVALID", why));
        let WaitingCall { seal, called_by, expires_at, .. } = waited.call();
        if !self.key()?.holds(seal, &waited.sealed(&promised(tool, registry))) {
            let why = "its request was changed, the tool or one that it calls was, or another provider has made it.";
            return invalid(why.into());
        }
        if let Some(what) = called_by.difference(&CalledBy::of(ctx)) {
            return invalid(format!("its request is for another {what}."));
        }
        unexpired(prefix, *expires_at)
    }

    /// Ensures that no request this call resumes was resumed before, and that none can be resumed again.
    pub(crate) async fn spend(&self, tickets: &[Ticket], limit: Duration) -> Result<(), ToolError> {
        for Ticket { name, prefix, expires_at } in tickets {
            // Since the request was verified, middleware may have taken its time.
            unexpired(prefix, *expires_at)?;
            let taken = callback::answer(Some(limit), async { self.store.take(name, *expires_at).await });
            match taken.await {
                // The store may have forgotten a name that was taken before and has expired since.
                Ok(Ok(true)) => unexpired(prefix, *expires_at)?,
                Ok(Ok(false)) => {
                    return Err(refusal(prefix, "USED", "its request was resumed before, and runs once."));
                }
                failed => {
                    let why = refusal(prefix, "UNKNOWN", "nobody can tell whether it was resumed before.");
                    return Err(match failed {
                        Ok(Err(detail)) => why.with_operator_detail(detail.to_string()),
                        _ => why,
                    });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_remembered_until_they_expire() {
        let store = MemoryApprovals::new();
        let (past, later) = (SystemTime::UNIX_EPOCH, SystemTime::now() + Duration::from_secs(60));
        for number in 0..FEW {
            assert!(store.take_now(&number.to_string(), if number % 2 == 0 { past } else { later }));
        }
        assert!(!store.take_now("1", later), "this swept");
        assert_eq!(unpoisoned(store.0.lock()).names.len(), FEW / 2);
        assert!(!store.take_now("3", later));
    }
}
