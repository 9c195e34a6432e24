//! Large results of which all processes can read the rest.

use std::time::Duration;

use redis::Value;

use super::state::expiry;
use super::{RedisState, StateError};
use crate::base::future::BoxFuture;
use crate::call::error::ToolError;
use crate::layers::pages::{PageStore, StoredPage};

/// The code of the error for a page that cannot be looked up, because the shared state cannot be reached.
pub const RESULT_UNKNOWN: &str = "RESULT_UNKNOWN";

/// Keeps large results on the server, from [`RedisState::pages`], for
/// [`Pages::with_shared`](crate::layers::pages::Pages::with_shared).
///
/// The process that cut a result keeps it, too, and reads it from its own memory. So while the server cannot be reached,
/// results are read where they were cut; elsewhere, reading fails with the code [`RESULT_UNKNOWN`]. A call whose result
/// cannot be shared is not refused, since it has run.
///
/// The server keeps a result as long as the limits of the pages say. What it keeps in total is limited by its memory.
#[derive(Clone, Debug)]
pub struct RedisPages(RedisState);

impl RedisState {
    /// Returns a store of large results.
    #[must_use]
    pub fn pages(&self) -> RedisPages {
        RedisPages(self.clone())
    }
}

impl RedisPages {
    fn key(&self, owner: &str, handle: &str) -> String {
        self.0.key("page", &format!("{owner}:{handle}"))
    }

    /// A value is the size of a page, a line break, and the text.
    fn parsed(&self, answer: Value) -> Result<Option<StoredPage>, StateError> {
        let bytes = match answer {
            Value::Nil => return Ok(None),
            Value::BulkString(bytes) => bytes,
            other => return Err(self.0.unexpected(&other)),
        };
        let text = String::from_utf8(bytes).ok();
        let page = text
            .as_deref()
            .and_then(|text| text.split_once('\n'))
            .and_then(|(size, text)| Some(StoredPage { text: text.into(), size: size.parse().ok()? }));
        page.map(Some).ok_or_else(|| self.0.error("a result that this version did not write"))
    }
}

impl PageStore for RedisPages {
    fn keep<'a>(
        &'a self,
        owner: &'a str,
        handle: &'a str,
        page: &'a StoredPage,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(async move {
            let mut command = redis::cmd("SET");
            command.arg(self.key(owner, handle)).arg(format!("{}\n{}", page.size, page.text));
            command.arg("PX").arg(expiry(ttl));
            match self.0.request(&command).await {
                Ok(_) => Ok(()),
                Err(why) => Err(why.into()),
            }
        })
    }

    fn get<'a>(
        &'a self,
        owner: &'a str,
        handle: &'a str,
    ) -> BoxFuture<'a, Result<Option<StoredPage>, ToolError>> {
        Box::pin(async move {
            let mut command = redis::cmd("GET");
            command.arg(self.key(owner, handle));
            let answer = self.0.request(&command).await;
            answer.and_then(|answer| self.parsed(answer)).map_err(|why| {
                let text = format!(
                    "Whether there is a result '{handle}' is not known, because the state that is shared with other \
                     processes cannot be reached. Try again in a moment."
                );
                ToolError::failed_with(RESULT_UNKNOWN, text).with_operator_detail(why.to_string())
            })
        })
    }
}
