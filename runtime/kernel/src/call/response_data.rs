//! Tool responses as plain data.

use std::time::{Duration, SystemTime};

use serde_core::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;

use crate::base::data::Members;
use crate::base::time::whole_millis;
use crate::call::ToolResponse;

/// `{"tool_call_id", "tool_name", "result" or "error", "skipped", "timestamp", "duration_ms"}`: the whole response,
/// with times in milliseconds (times before 1970 become 1970). The declared output of the tool is not included.
impl Serialize for ToolResponse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let since = self.started.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let mut json = json!({ "tool_call_id": self.id, "tool_name": self.name });
        match &self.outcome {
            Ok(result) => json["result"] = json!(result),
            Err(error) => json["error"] = json!(error),
        }
        json["skipped"] = self.skipped.into();
        if let Some(program) = &self.program {
            json["program"] = json!(program);
        }
        json["timestamp"] = whole_millis(since).into();
        json["duration_ms"] = whole_millis(self.duration).into();
        json.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ToolResponse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::read(deserializer, "ToolResponse")?;
        let since = Duration::from_millis(members.take("timestamp")?);
        let outcome =
            if members.has("error") { Err(members.take("error")?) } else { Ok(members.take("result")?) };
        Ok(ToolResponse {
            id: members.take("tool_call_id")?,
            name: members.take("tool_name")?,
            outcome,
            skipped: members.or_default("skipped")?,
            program: members.or_default("program")?,
            started: SystemTime::UNIX_EPOCH.checked_add(since).unwrap_or(SystemTime::UNIX_EPOCH),
            duration: Duration::from_millis(members.take("duration_ms")?),
            declared: None,
        })
    }
}
