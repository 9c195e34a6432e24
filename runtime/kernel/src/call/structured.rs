//! The structured part of a result: the value of the output that its tool declares.

use std::fmt;

use serde_core::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;

use crate::base::data::Members;
use crate::base::frozen::Text;
use crate::base::redacted_debug::Redacted;

/// The code of a result that does not match the tool's output schema.
#[doc(hidden)]
pub const INVALID_OUTPUT: &str = "INVALID_OUTPUT";

/// Why a text has no structured value.
#[doc(hidden)]
pub const NOT_JSON: &str = "it is not JSON";

/// Why a JSON text has no structured value: it contains a number that no value can represent.
pub(super) const TOO_LARGE: &str = "it has a number that is too large; only the content has its exact value";

/// Returns the message of a call whose tool declares a structured result but returned none.
#[doc(hidden)]
pub fn no_structured_result(reason: &str) -> String {
    format!(
        "The call was made, but it has no structured result: {reason}. The part of its result that can be shown \
         follows."
    )
}

/// The location of the structured value that a tool declares as its result.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Structured {
    /// The details are the value.
    #[default]
    Details,
    /// The details are the value, except for these members, which were added for the program.
    DetailsWithout(Vec<Text>),
    /// This JSON text is the value. The details are something else.
    Json(Text),
    /// There is no value, for this reason, such as its size.
    Missing(Text),
}

impl fmt::Debug for Structured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Structured::Details => f.write_str("Details"),
            Structured::DetailsWithout(names) => f.debug_tuple("DetailsWithout").field(names).finish(),
            Structured::Json(text) => f.debug_tuple("Json").field(&Redacted(&text.as_str())).finish(),
            Structured::Missing(reason) => f.debug_tuple("Missing").field(reason).finish(),
        }
    }
}

/// `{"kind": "details"}`, `{"kind": "details", "without": […]}`, `{"kind": "json", "text"}` or
/// `{"kind": "missing", "reason"}`.
impl Serialize for Structured {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = match self {
            Structured::Details => json!({ "kind": "details" }),
            Structured::DetailsWithout(names) => json!({ "kind": "details", "without": names }),
            Structured::Json(text) => json!({ "kind": "json", "text": text }),
            Structured::Missing(reason) => json!({ "kind": "missing", "reason": reason }),
        };
        json.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Structured {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::read(deserializer, "Structured")?;
        match members.take::<String, _>("kind")?.as_str() {
            "details" if members.has("without") => members.take("without").map(Structured::DetailsWithout),
            "details" => Ok(Structured::Details),
            "json" => members.take("text").map(Structured::Json),
            "missing" => members.take("reason").map(Structured::Missing),
            other => Err(members.unknown("kind", other)),
        }
    }
}
