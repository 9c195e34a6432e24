//! Calls that get a response but never run.

use serde_core::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;

use crate::base::data::Members;
use crate::base::frozen::Text;
use crate::call::error::ToolError;

/// The reason why a call gets a response but never runs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Blocked {
    /// The model was cut off while writing the call. The code is `TRUNCATED`.
    Truncated,
    /// The vendor stopped the model for this reason, in the vendor's own term, such as `content_filter`. The code is
    /// `STOPPED`.
    Stopped(Text),
    /// The call does not have the vendor's format, for this reason. The code is `MALFORMED_CALL`.
    Malformed(Text),
}

/// The code of a call that does not have the vendor's format.
#[doc(hidden)]
pub const MALFORMED_CALL: &str = "MALFORMED_CALL";

impl Blocked {
    /// Returns the error that the call gets as its response.
    #[must_use]
    pub fn error(&self) -> ToolError {
        match self {
            Blocked::Truncated => ToolError::failed_with(
                "TRUNCATED",
                "The call was cut off before it was complete, and was not executed. Send the complete call again.",
            ),
            Blocked::Stopped(reason) => ToolError::failed_with(
                "STOPPED",
                format!("Your reply was stopped ({reason}), so none of its calls was executed."),
            ),
            Blocked::Malformed(cause) => {
                ToolError::failed_with(MALFORMED_CALL, format!("The call was not executed: {cause}."))
            }
        }
    }
}

/// `{"kind": "truncated"}`, `{"kind": "stopped", "reason"}` or `{"kind": "malformed", "reason"}`.
impl Serialize for Blocked {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = match self {
            Blocked::Truncated => json!({ "kind": "truncated" }),
            Blocked::Stopped(reason) => json!({ "kind": "stopped", "reason": reason }),
            Blocked::Malformed(reason) => json!({ "kind": "malformed", "reason": reason }),
        };
        json.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Blocked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::read(deserializer, "Blocked")?;
        match members.take::<String, _>("kind")?.as_str() {
            "truncated" => Ok(Blocked::Truncated),
            "stopped" => members.take("reason").map(Blocked::Stopped),
            "malformed" => members.take("reason").map(Blocked::Malformed),
            other => Err(members.unknown("kind", other)),
        }
    }
}
