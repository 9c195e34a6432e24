//! State that other processes have, too, in the memory of the test.

use std::collections::BTreeMap;

use toolgen_runtime::call::session::{SessionChanges, SessionData, SessionKey, SessionLimits, SessionStore};
use toolgen_runtime::layers::repeat::{FailedCall, FailureStore};

use crate::prelude::*;

/// One session, and the failures of calls. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stored(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    version: u64,
    values: BTreeMap<String, Value>,
    called: Vec<Text>,
    failures: BTreeMap<String, (String, FailedCall)>,
}

impl Stored {
    /// The tools that succeeded, as others know them.
    pub(crate) fn called(&self) -> Vec<Text> {
        self.0.lock().unwrap().called.clone()
    }

    /// All that others could read.
    pub(crate) fn text(&self) -> String {
        format!("{:?}", self.0.lock().unwrap())
    }
}

fn now<T: Send + 'static>(value: T) -> BoxFuture<'static, Result<T, ToolError>> {
    Box::pin(ready(Ok(value)))
}

impl SessionStore for Stored {
    fn load<'a>(
        &'a self,
        _: SessionKey<'a>,
        known: u64,
        _: Duration,
    ) -> BoxFuture<'a, Result<Option<SessionData>, ToolError>> {
        let kept = self.0.lock().unwrap();
        now((kept.version != known).then(|| SessionData {
            version: kept.version,
            values: kept.values.clone(),
            called: kept.called.iter().map(|tool| (tool.clone(), Duration::ZERO)).collect(),
        }))
    }

    fn save<'a>(
        &'a self,
        _: SessionKey<'a>,
        changes: &'a SessionChanges,
        _: SessionLimits,
        _: Duration,
    ) -> BoxFuture<'a, Result<u64, ToolError>> {
        let mut kept = self.0.lock().unwrap();
        for (key, value) in &changes.values {
            match value {
                Some(value) => drop(kept.values.insert(key.clone(), value.clone())),
                None => drop(kept.values.remove(key)),
            }
        }
        for (tool, _) in &changes.called {
            kept.called.retain(|known| known != tool);
            kept.called.push(tool.clone());
        }
        kept.version += 1;
        now(kept.version)
    }

    fn remove<'a>(&'a self, _: SessionKey<'a>) -> BoxFuture<'a, Result<bool, ToolError>> {
        now(false)
    }
}

impl FailureStore for Stored {
    fn failures<'a>(&'a self, call: &'a str) -> BoxFuture<'a, Result<Option<FailedCall>, ToolError>> {
        now(self.0.lock().unwrap().failures.get(call).map(|(_, failed)| failed.clone()))
    }

    fn failed<'a>(
        &'a self,
        call: &'a str,
        error: &'a str,
        shown: &'a str,
        _: Duration,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        let mut kept = self.0.lock().unwrap();
        let before =
            kept.failures.get(call).filter(|(known, _)| known == error).map_or(0, |(_, it)| it.count);
        let failed = FailedCall { count: before + 1, error: shown.to_owned() };
        kept.failures.insert(call.to_owned(), (error.to_owned(), failed));
        now(())
    }

    fn succeeded<'a>(&'a self, call: &'a str) -> BoxFuture<'a, Result<(), ToolError>> {
        self.0.lock().unwrap().failures.remove(call);
        now(())
    }
}
