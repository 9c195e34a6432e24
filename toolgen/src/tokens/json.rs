//! The report as JSON.

use serde_json::{Value, json};
use toolgen_core::schema::shape::slim::Trim;

use super::{GroupTokens, Parts, Report, Saving, ToolTokens};

impl Report {
    /// Returns the report as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        let parts = |parts: Parts| -> Value {
            Parts::NAMES.into_iter().map(str::to_owned).zip(parts.numbers().map(Value::from)).collect()
        };
        let trim =
            |trim: &Trim| json!({"pointer": trim.pointer, "lever": trim.lever.name(), "what": trim.what});
        let tool = |tool: &ToolTokens| {
            let mut out = json!({
                "name": tool.name,
                "groups": tool.groups,
                "tokens": tool.tokens,
                "parts": parts(tool.parts),
                "trims": tool.trims.iter().map(trim).collect::<Vec<_>>(),
            });
            if let Some(reason) = &tool.refused {
                out["refused"] = reason.as_str().into();
            }
            out
        };
        let group =
            |group: &GroupTokens| json!({"name": group.name, "tools": group.tools, "tokens": group.tokens});
        let saving = |saving: &Saving| json!({"slim": saving.levers, "saves": saving.tokens});
        json!({
            "tokenizer": self.tokenizer.name(),
            "exactness": self.tokenizer.exactness(),
            "dialect": self.dialect,
            "rendering": self.rendering.name(),
            "total": self.total(),
            "median": self.percentile(50),
            "p95": self.percentile(95),
            "max": self.percentile(100),
            "parts": parts(self.parts()),
            "groups": self.groups().iter().map(group).collect::<Vec<_>>(),
            "savings": self.savings.iter().map(saving).collect::<Vec<_>>(),
            "tools": self.tools.iter().map(tool).collect::<Vec<_>>(),
        })
    }
}
