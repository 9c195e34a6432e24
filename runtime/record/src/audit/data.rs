//! Serialization of records: the objects of `to_json`, with the number of the call.

use std::time::Duration;

use serde_core::{Deserialize, Deserializer, Serialize, Serializer};

use super::{AuditIntent, AuditOutcome, AuditStatus};
use toolgen_kernel::base::data::Members;
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::call::codes;

/// Returns the approver of a record. Earlier versions wrote an empty string for `None`.
pub(super) fn non_empty(approver: Option<Text>) -> Option<Text> {
    approver.filter(|by| !by.is_empty())
}

impl Serialize for AuditIntent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = self.to_json();
        out["key"] = self.key.into();
        if self.parent > 0 {
            out["parent"] = self.parent.into();
        }
        out.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for AuditIntent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::read(deserializer, "AuditIntent")?;
        Ok(AuditIntent {
            key: members.or_default("key")?,
            parent: members.or_default("parent")?,
            turn: members.or_default("turn")?,
            session_id: members.take("session_id")?,
            agent_id: members.take("agent_id")?,
            principal: members.or_default("principal")?,
            tool_name: members.take("tool_name")?,
            tool_call_id: members.take("tool_call_id")?,
            parameters: members.take("parameters")?,
            timestamp: members.take("timestamp")?,
            spec_hash: members.take("spec_hash")?,
            attempt: members.take("attempt")?,
            approved: members.or_default("approved")?,
            approved_by: non_empty(members.or_default("approved_by")?),
        })
    }
}

impl Serialize for AuditOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for AuditOutcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::read(deserializer, "AuditOutcome")?;
        let error_code: Option<String> = members.or_default("error_code")?;
        Ok(AuditOutcome {
            status: members.take("status")?,
            result: members.take("result")?,
            error: members.or_default("error")?,
            error_code: error_code.map(|code| codes::current(&code).to_owned().into()),
            is_error: members.take("is_error")?,
            duration: Duration::from_millis(members.take("duration_ms")?),
        })
    }
}

/// Serializes as the name of the status.
impl Serialize for AuditStatus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for AuditStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        AuditStatus::by_name(&name)
            .ok_or_else(|| serde_core::de::Error::custom(format!("AuditStatus: `{name}` is not known")))
    }
}
