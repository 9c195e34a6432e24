//! One specification as JSON.

use serde_core::de::{Deserialize, Deserializer, Error};
use serde_core::ser::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::named::{Lists, defs, reached, read, written};
use super::{LockProblem, tool};
use crate::spec::ToolSpec;
use crate::spec::reader::Reader;

impl ToolSpec {
    /// Returns the specification as JSON: what a lock records of a tool, with its name and its named shapes. Members
    /// with default values are left out, and so are named shapes that nothing refers to.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut out = Map::new();
        out.insert("name".into(), self.name.as_str().into());
        out.extend(tool::written(self));
        let mut out = Value::Object(out);
        let named = reached(&out, &Lists::default().of(&self.defs));
        if !named.is_empty() {
            out["$defs"] = written(&named);
        }
        out
    }

    /// Reads a specification from JSON.
    ///
    /// # Errors
    ///
    /// All mistakes, with their places.
    pub fn from_json(value: &Value) -> Result<ToolSpec, Vec<LockProblem>> {
        let mut reader = Reader::new("write it as `ToolSpec::to_json` does");
        let name = reader.text(value, "", "name");
        let mut tool = value.clone();
        if let Value::Object(members) = &mut tool {
            members.shift_remove("name");
        }
        let spec = reader.tool(&name, &tool, "");
        let named = value.get("$defs").and_then(Value::as_object).map(read).unwrap_or_default();
        if reader.problems.is_empty() {
            Ok(ToolSpec { defs: defs(&named), ..spec })
        } else {
            Err(reader.problems)
        }
    }
}

impl Serialize for ToolSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ToolSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let told = |problems: Vec<LockProblem>| {
            let told = problems.iter().map(|one| format!("ToolSpec{}: {}", one.pointer, one.message));
            D::Error::custom(told.collect::<Vec<_>>().join("; "))
        };
        ToolSpec::from_json(&Value::deserialize(deserializer)?).map_err(told)
    }
}
