//! The structured part of a result: the value that its tool declares.

use std::borrow::Cow;

use serde_json::Value;

use crate::base::frozen::Text;
use crate::call::result::ToolResult;

/// Where the value is that a tool declares as its result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Structured {
    /// The details are the value.
    #[default]
    Details,
    /// The details are the value, but for members of these names, which were added for the program.
    DetailsWithout(Vec<Text>),
    /// This JSON text is the value, and the details are something else.
    Json(Text),
    /// Nowhere, for this reason, such as its size.
    Missing(Text),
}

impl ToolResult {
    /// The value that the tool declares as its result.
    ///
    /// # Errors
    ///
    /// Why there is none.
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
                serde_json::from_str(text).map(Cow::Owned).map_err(|_| Cow::Borrowed("it is not JSON"))
            }
            Structured::Missing(why) => Err(Cow::Borrowed(why)),
        }
    }

    /// Notes that a member of the details was added for the program, and is no part of what the tool declares.
    pub(crate) fn added_to_details(&mut self, name: &'static str) {
        match &mut self.structured {
            Structured::Details => self.structured = Structured::DetailsWithout(vec![name.into()]),
            Structured::DetailsWithout(added) => added.push(name.into()),
            Structured::Json(_) | Structured::Missing(_) => {}
        }
    }
}
