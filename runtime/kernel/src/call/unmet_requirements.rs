//! Missing prerequisites of a call, and their error for a model.

use std::fmt;

use serde_core::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::base::data::Members;
use crate::spec::{Requirement, RequirementKind, ToolSpec};

/// A requirement that is not met.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unmet {
    /// The tool that has the requirement: the called tool, or one that it requires.
    pub tool: String,
    /// The kind of requirement.
    pub kind: RequirementKind,
    /// The name of the required tool, service or value.
    pub name: String,
    /// The argument that identifies an entity. Empty for other kinds.
    pub argument: String,
    /// The message for the caller.
    pub message: String,
    /// Whether the requirement does not block the call.
    pub optional: bool,
}

impl Unmet {
    pub(crate) fn new(spec: &ToolSpec, requirement: &Requirement) -> Unmet {
        Unmet {
            tool: spec.name.to_string(),
            kind: requirement.kind,
            name: requirement.name.to_string(),
            argument: requirement.argument.to_string(),
            message: requirement.message_or_default().into_owned(),
            optional: requirement.optional,
        }
    }

    /// Whether both are the same requirement.
    pub(crate) fn is_same(&self, other: &Unmet) -> bool {
        (self.kind, &self.name, &self.argument) == (other.kind, &other.name, &other.argument)
    }

    /// The requirement as `{"type", "key", "description", "optional", "metadata"}`, with the argument as
    /// `metadata.arg_key`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let metadata = if self.argument.is_empty() { json!({}) } else { json!({ "arg_key": self.argument }) };
        json!({
            "type": self.kind.as_str(),
            "key": self.name,
            "description": self.message,
            "optional": self.optional,
            "metadata": metadata,
        })
    }
}

/// The missing prerequisites of a tool that could not be called, in the order of the specification.
///
/// `Display` is the text for the model:
///
/// ```text
/// Cannot execute 'session_log': prerequisites not met.
///
/// Missing:
/// - Active session required. Call session_start first.
///
/// Suggested order:
///   1. session_start
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissingDependencies {
    /// The tool that was called.
    pub tool: String,
    /// The requirements that are not met.
    pub missing: Vec<Unmet>,
    /// The tools to call first, each after all tools it requires itself.
    pub suggested_order: Vec<String>,
    /// Whether calls of earlier turns are unknown, because the call has no session that outlasts its turn. The text
    /// then tells how to provide a session.
    pub without_session: bool,
}

/// The hint that the program must provide a session, so that calls of earlier turns count.
const NO_SESSION: &str = "Calls of earlier turns are not known here, because no session outlasts the turn. The program \
    must give the context of its turns a session, with `Turn::with_session`.";

impl MissingDependencies {
    /// Returns what the caller can do about the missing prerequisites, in one sentence.
    #[must_use]
    pub fn help(&self) -> String {
        if self.suggested_order.is_empty() {
            return String::from("Ensure all required dependencies are satisfied before calling this tool.");
        }
        let order = self.suggested_order.join(" -> ");
        format!("Call these tools in order before attempting {}: {order}", self.tool)
    }

    /// The error as
    /// `{"error": "dependency_not_met", "message", "tool", "missing_dependencies", "suggested_order", "help"}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "error": "dependency_not_met",
            "message": format!("Cannot execute '{}': prerequisites not met", self.tool),
            "tool": self.tool,
            "missing_dependencies": self.missing.iter().map(Unmet::to_json).collect::<Vec<_>>(),
            "suggested_order": self.suggested_order,
            "help": self.help(),
        })
    }
}

/// The code of the error.
#[doc(hidden)]
pub const CODE: &str = "DEPENDENCY_NOT_MET";

impl fmt::Display for MissingDependencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cannot execute '{}': prerequisites not met.\n\nMissing:", self.tool)?;
        for unmet in &self.missing {
            write!(f, "\n- {}", unmet.message)?;
        }
        if !self.suggested_order.is_empty() {
            f.write_str("\n\nSuggested order:")?;
        }
        for (index, tool) in self.suggested_order.iter().enumerate() {
            write!(f, "\n  {}. {tool}", index + 1)?;
        }
        if self.without_session {
            write!(f, "\n\n{NO_SESSION}")?;
        }
        Ok(())
    }
}

toolgen_core::__readable_debug!(MissingDependencies);

impl std::error::Error for MissingDependencies {}

/// The same members as [`Unmet::to_json`], and `tool`.
impl Serialize for Unmet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut json = self.to_json();
        json["tool"] = self.tool.as_str().into();
        json.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Unmet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::read(deserializer, "Unmet")?;
        let kind: String = members.take("type")?;
        let Some(kind) = RequirementKind::ALL.into_iter().find(|other| other.as_str() == kind) else {
            return Err(members.unknown("type", &kind));
        };
        let metadata: Value = members.or_default("metadata")?;
        Ok(Unmet {
            tool: members.take("tool")?,
            kind,
            name: members.take("key")?,
            argument: metadata.get("arg_key").and_then(Value::as_str).unwrap_or_default().to_owned(),
            message: members.take("description")?,
            optional: members.take("optional")?,
        })
    }
}

/// The same members as [`MissingDependencies::to_json`], with the tool of each requirement.
impl Serialize for MissingDependencies {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut json = self.to_json();
        json["missing_dependencies"] = json!(self.missing);
        if self.without_session {
            json["without_session"] = Value::Bool(true);
        }
        json.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for MissingDependencies {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::read(deserializer, "MissingDependencies")?;
        Ok(MissingDependencies {
            tool: members.take("tool")?,
            missing: members.take("missing_dependencies")?,
            suggested_order: members.take("suggested_order")?,
            without_session: members.or_default("without_session")?,
        })
    }
}
