//! The structured part of a result: the value of the output that its tool declares.

use std::borrow::Cow;
use std::fmt;

use serde_core::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};
use toolgen_core::internal::rounded_integers;

use crate::base::data::Members;
use crate::base::discreet::Hidden;
use crate::base::frozen::Text;
use crate::call::control::Control;
use crate::call::result::{Content, ToolResult};
use crate::spec::output::StructuredOutput;

/// The code of a result that is not what its tool declares.
#[doc(hidden)]
pub const INVALID_OUTPUT: &str = "INVALID_OUTPUT";

/// Why a text is no structured value.
#[doc(hidden)]
pub const NOT_JSON: &str = "it is not JSON";

/// Why a text with a number that no value can hold is none either.
const TOO_LARGE: &str = "it has a number that is too large, which only the text has as it is";

/// Says why a call whose tool declares a result has none.
#[doc(hidden)]
pub fn no_structured_result(why: &str) -> String {
    format!(
        "The call was made, but it has no structured result: {why}. What it gave follows as far as it can be shown."
    )
}

/// Where to find the structured value that a tool declares as its result.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Structured {
    /// The details are the value.
    #[default]
    Details,
    /// The details are the value, except for these members, which were added for the program.
    DetailsWithout(Vec<Text>),
    /// This JSON text is the value; the details are something else.
    Json(Text),
    /// There is no value, for this reason, such as its size.
    Missing(Text),
}

impl fmt::Debug for Structured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Structured::Details => f.write_str("Details"),
            Structured::DetailsWithout(names) => f.debug_tuple("DetailsWithout").field(names).finish(),
            Structured::Json(text) => f.debug_tuple("Json").field(&Hidden(&text.as_str())).finish(),
            Structured::Missing(why) => f.debug_tuple("Missing").field(why).finish(),
        }
    }
}

impl ToolResult {
    /// Returns the structured value that the tool declares as its result.
    ///
    /// # Errors
    ///
    /// Why there is no such value.
    pub fn structured(&self) -> Result<Cow<'_, Value>, Cow<'_, str>> {
        match &self.structured {
            Structured::Details => Ok(Cow::Borrowed(&self.details)),
            Structured::DetailsWithout(added) => {
                let mut value = self.details.clone();
                if let Value::Object(members) = &mut value {
                    members.retain(|name, _| !added.iter().any(|added| added.as_str() == name));
                }
                Ok(Cow::Owned(value))
            }
            Structured::Json(text) => {
                let value = serde_json::from_str(text).map_err(|why| {
                    let too_large = why.to_string().starts_with("number out of range");
                    Cow::Borrowed(if too_large { TOO_LARGE } else { NOT_JSON })
                })?;
                match rounded_integers(text, &value).is_empty() {
                    true => Ok(Cow::Owned(value)),
                    false => Err(Cow::Borrowed(
                        "it has an integer beyond 64 bits, which only the text has as it is",
                    )),
                }
            }
            Structured::Missing(why) => Err(Cow::Borrowed(why)),
        }
    }

    /// Makes the result an error if its structured value is not what its tool declares: who relies on the declaration
    /// reads something else.
    pub(crate) fn hold_to(&mut self, declared: &StructuredOutput) {
        if declared.may_differ || self.is_error() || !matches!(self.control, Control::Continue) {
            return;
        }
        let problems = match self.structured() {
            Ok(value) => declared.problems(&value),
            // The texts have it.
            Err(_) => return,
        };
        let Some(first) = problems.first() else { return };
        let why = format!("it is not as declared: {}", first.of_result());
        let told = no_structured_result(&why);
        self.content.insert(0, Content::Text(told.clone()));
        self.details = json!({ "success": false, "error": told, "code": INVALID_OUTPUT });
        self.structured = Structured::Missing(why.into());
    }

    /// Marks a member of the details as added for the program, and not part of the declared output.
    pub(crate) fn added_to_details(&mut self, name: &'static str) {
        match &mut self.structured {
            Structured::Details => self.structured = Structured::DetailsWithout(vec![name.into()]),
            Structured::DetailsWithout(added) => added.push(name.into()),
            Structured::Json(_) | Structured::Missing(_) => {}
        }
    }
}

/// `{"kind": "details"}`, `{"kind": "details", "without": […]}`, `{"kind": "json", "text"}` or
/// `{"kind": "missing", "reason"}`.
impl Serialize for Structured {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = match self {
            Structured::Details => json!({ "kind": "details" }),
            Structured::DetailsWithout(names) => json!({ "kind": "details", "without": names }),
            Structured::Json(text) => json!({ "kind": "json", "text": text }),
            Structured::Missing(reason) => json!({ "kind": "missing", "reason": reason }),
        };
        written.serialize(serializer)
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
