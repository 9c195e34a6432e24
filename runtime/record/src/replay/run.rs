//! The calls of a run, as a file that people can read.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::ReplayError;
use super::outcome::RecordedOutcome;
use toolgen_kernel::base::private;

/// The version of the file.
const VERSION: u64 = 1;
/// The member that holds the version.
const VERSION_KEY: &str = "toolgen_run";

/// The calls of a run in their order. A [`Replay`](super::Replay) answers calls from it.
///
/// The file is JSON with one object per call, to be read, reviewed and committed:
///
/// ```json
/// {
///   "toolgen_run": 1,
///   "calls": [
///     {
///       "call": 1,
///       "group": 1,
///       "tool": "find_orders",
///       "arguments": { "customer": "ada" },
///       "result": { "content": [{ "type": "text", "text": "7, 9" }], "details": null }
///     }
///   ]
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedRun {
    pub(super) calls: Vec<RecordedCall>,
}

/// A call of a [`RecordedRun`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RecordedCall {
    /// The number of the call that made this one, from 1; `None` if a model or the program made it.
    pub inside: Option<usize>,
    /// The number of the group. The calls of a group were made together and may come in any order. The groups of
    /// nested calls of the same call are sequential.
    pub group: usize,
    /// The agent; empty if unknown.
    pub agent: String,
    /// The tool, as called.
    pub tool: String,
    /// The arguments, as sent. A masked value matches anything; a mask within a string matches one secret.
    pub arguments: Value,
    /// The approver; empty if the approver has no name. `None` if the call was not approved.
    pub approved: Option<String>,
    /// The outcome.
    pub outcome: RecordedOutcome,
}

impl RecordedRun {
    /// Returns the calls, in their order.
    #[must_use]
    pub fn calls(&self) -> &[RecordedCall] {
        &self.calls
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Returns an error with the location of the problem if the file cannot be read, or is not a recorded run.
    pub fn open(path: impl AsRef<Path>) -> Result<RecordedRun, ReplayError> {
        let path = path.as_ref();
        let text = fs::read_to_string(path).map_err(|error| {
            let help = "`cargo toolgen record AUDIT --out FILE` writes one of an audit log";
            ReplayError::new(format!("{} cannot be read: {error}; {help}", path.display()))
        })?;
        RecordedRun::parse(&text).map_err(|error| ReplayError::new(format!("{}: {error}", path.display())))
    }

    /// Parses the text of a file.
    ///
    /// # Errors
    ///
    /// Returns an error with the location of the problem if it is not a recorded run.
    pub fn parse(text: &str) -> Result<RecordedRun, ReplayError> {
        let document: Value = serde_json::from_str(text)
            .map_err(|error| ReplayError::new(format!("it is not JSON: {error}")))?;
        match document.get(VERSION_KEY).and_then(Value::as_u64) {
            Some(VERSION) => {}
            Some(other) => {
                let text = format!("/{VERSION_KEY}: version {other} is not supported; record the run again");
                return Err(ReplayError::new(text));
            }
            None => {
                return Err(ReplayError::new(format!(
                    "it is not a recorded run: `{VERSION_KEY}` is missing"
                )));
            }
        }
        let calls = document.get("calls").and_then(Value::as_array);
        let calls = calls.ok_or_else(|| ReplayError::new("/calls: an array of calls is missing"))?;
        let mut run = RecordedRun::default();
        for (index, call) in calls.iter().enumerate() {
            let read = RecordedCall::read(call, index);
            run.calls.push(read.map_err(|error| ReplayError::new(format!("/calls/{index}{error}")))?);
        }
        Ok(run)
    }

    /// Returns the text of the file.
    #[must_use]
    pub fn text(&self) -> String {
        let calls: Vec<Value> =
            self.calls.iter().enumerate().map(|(index, call)| call.to_json(index + 1)).collect();
        let mut text = format!("{:#}", json!({ VERSION_KEY: VERSION, "calls": calls }));
        text.push('\n');
        text
    }

    /// Writes the file, and creates the directory if needed.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ReplayError> {
        let path = path.as_ref();
        private::write(path, &self.text())
            .map_err(|error| ReplayError::new(format!("{} cannot be written: {error}", path.display())))
    }

    /// Returns whether a call made nested calls.
    pub(super) fn has_nested_calls(&self, index: usize) -> bool {
        self.calls.iter().any(|call| call.inside == Some(index + 1))
    }
}

impl RecordedCall {
    fn to_json(&self, number: usize) -> Value {
        let mut out = Map::new();
        out.insert("call".to_owned(), number.into());
        if let Some(inside) = self.inside {
            out.insert("inside".to_owned(), inside.into());
        }
        out.insert("group".to_owned(), self.group.into());
        if !self.agent.is_empty() {
            out.insert("agent".to_owned(), self.agent.as_str().into());
        }
        out.insert("tool".to_owned(), self.tool.as_str().into());
        out.insert("arguments".to_owned(), self.arguments.clone());
        if let Some(by) = &self.approved {
            let by = if by.is_empty() { Value::Bool(true) } else { by.as_str().into() };
            out.insert("approved".to_owned(), by);
        }
        let (key, value) = self.outcome.to_member();
        out.insert(key.to_owned(), value);
        Value::Object(out)
    }

    fn read(call: &Value, index: usize) -> Result<RecordedCall, String> {
        let Value::Object(call) = call else { return Err(": a call is an object".to_owned()) };
        let number = |key: &str| match call.get(key) {
            None => Ok(None),
            Some(value) => {
                let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
                number
                    .filter(|number| *number > 0)
                    .map(Some)
                    .ok_or_else(|| format!("/{key}: a number from 1 is expected"))
            }
        };
        let text = |key: &str| match call.get(key) {
            None => Ok(None),
            Some(value) => value.as_str().map(Some).ok_or_else(|| format!("/{key}: a string is expected")),
        };
        if number("call")?.is_some_and(|number| number != index + 1) {
            return Err(format!("/call: it is call {} of the array", index + 1));
        }
        let approved = match call.get("approved") {
            None | Some(Value::Bool(false)) => None,
            Some(Value::Bool(true)) => Some(String::new()),
            Some(Value::String(by)) => Some(by.clone()),
            Some(_) => return Err("/approved: `true` or the name of the approver is expected".to_owned()),
        };
        let inside = number("inside")?;
        if inside.is_some_and(|inside| inside > index) {
            return Err("/inside: the number of an earlier call is expected".to_owned());
        }
        Ok(RecordedCall {
            inside,
            group: number("group")?.unwrap_or(index + 1),
            agent: text("agent")?.unwrap_or_default().to_owned(),
            tool: text("tool")?.ok_or("/tool: the name of the tool is missing")?.to_owned(),
            arguments: call.get("arguments").cloned().unwrap_or_else(|| json!({})),
            approved,
            outcome: RecordedOutcome::read(call)?,
        })
    }
}
