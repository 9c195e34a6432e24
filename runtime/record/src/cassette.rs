//! Cassettes: HTTP and MCP traffic of engines, recorded once and played back in tests.
//!
//! To [record](Cassette::record), pass a cassette to the engines of a program that uses the real network. The
//! [saved](Cassette::save) file has the requests and responses as transmitted, without credentials and without the
//! values that a [`Redactor`] hides. A cassette that is [played back](Cassette::open) replaces the network: the same
//! engines build the same requests, no socket is opened and no server is started. A request that is not on the
//! cassette is refused with the differences.
//!
//! ```
//! use serde_json::json;
//! use toolgen_runtime::testing::cassette::Cassette;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let saved = json!({"toolgen_cassette": 1, "traffic": [{
//!     "http": {"method": "GET", "url": "https://api.example.com/pets", "headers": {"accept": "application/json"}},
//!     "answer": {"status": 200, "headers": {"content-type": "application/json"}, "body": {"json": []}},
//! }]});
//! let cassette = Cassette::parse(&saved.to_string())?; // or `Cassette::open(path)`
//! // A program would run with `HttpEngine::builder().cassette(&cassette)`; in this example, none does.
//! let error = cassette.finish().unwrap_err().to_string();
//! assert!(error.ends_with("requests were not made\n  1: GET https://api.example.com/pets"));
//! # Ok(())
//! # }
//! ```

mod entry;
mod http;
mod interceptor;
mod mcp;
mod redaction;

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::pattern::{brief, differences};
use entry::Entry;
use redaction::{KnownSecrets, SecretFilter};
use toolgen_kernel::base::private;
use toolgen_kernel::base::sync::unpoisoned;
use toolgen_kernel::engine::Interceptor;
use toolgen_kernel::layers::redact::Redactor;

/// Maximum number of requests and locations that are reported.
const MAX_DIFFERENCES_SHOWN: usize = 12;

/// Recorded traffic. Clones share the cassette.
///
/// Pass it to `HttpEngineBuilder::cassette` and `McpOptions::cassette`.
#[derive(Clone)]
pub struct Cassette(Arc<Inner>);

struct Inner {
    redactor: Redactor,
    is_playback: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    entries: Vec<Entry>,
    known_secrets: KnownSecrets,
    /// The requests that were played back.
    played: BTreeSet<usize>,
    difference: Option<String>,
    /// The number of connections to each server so far.
    connections: BTreeMap<String, usize>,
    playbacks: BTreeMap<(String, usize), mcp::Playback>,
}

/// The reason why a cassette cannot be read, written or played to its end.
#[derive(Clone, PartialEq, Eq)]
pub struct CassetteError(String);

impl fmt::Display for CassetteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

toolgen_core::__readable_debug!(CassetteError);

impl std::error::Error for CassetteError {}

impl Cassette {
    /// Creates an empty cassette that records. This redactor hides secrets, in addition to the credentials that the
    /// engines send. Secrets that tools declare are hidden if the calls pass a [`Toolbox`](toolgen_kernel::Toolbox).
    #[must_use]
    pub fn record(redactor: &Redactor) -> Cassette {
        Cassette::new(Vec::new(), redactor, false)
    }

    /// Opens a cassette for playback.
    ///
    /// # Errors
    ///
    /// Returns an error with the location of the problem if the file cannot be read, or is not a cassette.
    pub fn open(path: impl AsRef<Path>) -> Result<Cassette, CassetteError> {
        let path = path.as_ref();
        let failed = |reason: &dyn fmt::Display| CassetteError(format!("{}: {reason}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| failed(&error))?;
        Cassette::parse(&text).map_err(|error| failed(&error))
    }

    /// Parses a cassette for playback.
    ///
    /// # Errors
    ///
    /// Returns an error with the location of the problem if it is not a cassette.
    pub fn parse(text: &str) -> Result<Cassette, CassetteError> {
        let entries = entry::parse(text).map_err(CassetteError)?;
        Ok(Cassette::new(entries, &Redactor::new(), true))
    }

    fn new(entries: Vec<Entry>, redactor: &Redactor, is_playback: bool) -> Cassette {
        let state = Mutex::new(State { entries, ..State::default() });
        Cassette(Arc::new(Inner { redactor: redactor.clone(), is_playback, state }))
    }

    /// Returns the text of the traffic recorded so far, without its secrets.
    ///
    /// # Errors
    ///
    /// Returns an error if the text would still contain a credential, for example one that is split by the surrounding
    /// text.
    pub fn to_text(&self) -> Result<String, CassetteError> {
        let state = unpoisoned(self.0.state.lock());
        let filter = state.known_secrets.filter_with(&self.0.redactor);
        let redact = |entry: &Entry| entry.clone().map(|value| without_secrets(value, &filter));
        let entries: Vec<Entry> = state.entries.iter().map(redact).collect();
        let text = entry::text(&entries);
        if filter.contains_secret(&text) {
            let reason = "the cassette was not written, because it would contain a credential; a `rule` of its \
                       redactor can hide it";
            return Err(CassetteError(reason.to_owned()));
        }
        Ok(text)
    }

    /// Writes the traffic recorded so far to a file, without its secrets, and creates the directory if needed.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`to_text`](Self::to_text), and an error if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), CassetteError> {
        let path = path.as_ref();
        let failed = |error| CassetteError(format!("{} cannot be written: {error}", path.display()));
        let text = self.to_text()?;
        private::write(path, &text).map_err(failed)
    }

    /// Ends playback, and checks that all requests on the cassette were made, and no others. Does nothing for a
    /// cassette that records.
    ///
    /// # Errors
    ///
    /// Returns the first request that differs, or the requests that were not made.
    pub fn finish(&self) -> Result<(), CassetteError> {
        let state = unpoisoned(self.0.state.lock());
        if let Some(difference) = &state.difference {
            return Err(CassetteError(difference.clone()));
        }
        let entries = state.entries.iter().enumerate().filter(|_| self.0.is_playback);
        let remaining: Vec<String> = entries
            .filter(|(index, entry)| entry.is_request() && !state.played.contains(index))
            .map(|(index, entry)| format!("\n  {}: {}", index + 1, entry.summary()))
            .collect();
        if remaining.is_empty() {
            return Ok(());
        }
        let omitted = match remaining.len().saturating_sub(MAX_DIFFERENCES_SHOWN) {
            0 => String::new(),
            omitted => format!("\n  and {omitted} more"),
        };
        let list: String = remaining.into_iter().take(MAX_DIFFERENCES_SHOWN).collect();
        Err(CassetteError(format!(
            "the traffic differs from the cassette: requests were not made{list}{omitted}"
        )))
    }

    /// Finds the recorded entry of a request, and marks it as played.
    fn find(
        &self,
        state: &mut State,
        request: &Value,
        recorded_request: impl Fn(&Entry) -> Option<Value>,
    ) -> Result<usize, String> {
        let visible = without_secrets(request.clone(), &state.known_secrets.filter_with(&self.0.redactor));
        let unplayed = state.entries.iter().enumerate().filter(|(index, _)| !state.played.contains(index));
        let candidates = unplayed.filter_map(|(index, entry)| {
            let recorded = recorded_request(entry)?;
            Some((differences(&recorded, request, &visible).len(), index, recorded))
        });
        // The first of equal entries is used, so that repeated requests get their responses in order.
        let nearest = candidates.min_by_key(|(count, index, _)| (*count, *index));
        if let Some((0, index, _)) = nearest {
            state.played.insert(index);
            return Ok(index);
        }
        let mut message =
            "the traffic differs from the cassette: a request is not on it, or was already played".to_owned();
        if let Some((_, index, recorded)) = &nearest {
            message.push_str(&format!("\n- expected {}: {}", index + 1, brief(recorded)));
        }
        message.push_str(&format!("\n+ found    {}", brief(&visible)));
        let locations =
            nearest.map(|(.., recorded)| differences(&recorded, &visible, &visible)).unwrap_or_default();
        locations
            .iter()
            .take(MAX_DIFFERENCES_SHOWN)
            .for_each(|location| message.push_str(&format!("\n  {location}")));
        state.difference.get_or_insert_with(|| message.clone());
        Err(message)
    }
}

/// Returns traffic without secrets.
fn without_secrets(value: Value, filter: &SecretFilter<'_>) -> Value {
    // The progress token is not a secret; only its name looks like one.
    let tokens = ["/params/progressToken", "/params/_meta/progressToken"];
    let originals = tokens.map(|location| value.pointer(location).filter(|token| token.is_u64()).cloned());
    let mut value = value;
    // Within Base64, a secret cannot be masked separately, so the whole body is.
    if let Some(body) = value.get_mut("body").filter(|body| http::holds_secret(body, filter)) {
        *body = serde_json::json!({ "text": toolgen_kernel::layers::redact::REDACTED });
    }
    value = filter.value(value);
    for (location, original) in tokens.into_iter().zip(originals) {
        if let (Some(token), Some(original)) = (value.pointer_mut(location), original) {
            *token = original;
        }
    }
    value
}

impl From<&Cassette> for Interceptor {
    fn from(cassette: &Cassette) -> Interceptor {
        Interceptor(Arc::new(cassette.clone()))
    }
}

impl From<Cassette> for Interceptor {
    fn from(cassette: Cassette) -> Interceptor {
        Interceptor(Arc::new(cassette))
    }
}

impl fmt::Debug for Cassette {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = unpoisoned(self.0.state.lock());
        f.debug_struct("Cassette")
            .field("plays", &self.0.is_playback)
            .field("entries", &state.entries.len())
            .field("played", &state.played.len())
            .finish_non_exhaustive()
    }
}
