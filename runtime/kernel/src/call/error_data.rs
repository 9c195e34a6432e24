//! Call errors as plain data: `{"kind", …}` with the fields of the kind.

use std::time::Duration;

use serde_core::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::base::data::Members;
use crate::base::time::whole_millis;
use crate::call::codes;
use crate::call::error::ToolError;
use crate::schema::shape::decode::{ArgumentProblem, ArgumentProblemKind};

impl Serialize for ToolError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = match self {
            ToolError::Failed { message, code, detail } => {
                json!({ "kind": "failed", "message": message, "code": code, "detail": detail })
            }
            ToolError::NotFound { name, suggestion } => {
                json!({ "kind": "not_found", "name": name, "suggestion": suggestion })
            }
            ToolError::InvalidArgs { message, problems } => {
                let problems: Vec<Value> = problems.iter().map(problem_json).collect();
                json!({ "kind": "invalid_args", "message": message, "problems": problems })
            }
            ToolError::Cancelled => json!({ "kind": "cancelled" }),
            ToolError::Timeout { duration } => {
                json!({ "kind": "timeout", "duration_ms": whole_millis(*duration) })
            }
            ToolError::Denied { message, detail } => {
                json!({ "kind": "denied", "message": message, "detail": detail })
            }
            ToolError::ApprovalRequired(request) => {
                json!({ "kind": "approval_required", "request": request })
            }
            ToolError::InputRequired(pending) => json!({ "kind": "input_required", "pending": pending }),
            ToolError::MissingDependencies(missing) => {
                json!({ "kind": "missing_dependencies", "missing": missing })
            }
        };
        json.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ToolError {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::read(deserializer, "ToolError")?;
        Ok(match members.take::<String, _>("kind")?.as_str() {
            "failed" => ToolError::Failed {
                message: members.take("message")?,
                code: codes::current(&members.take::<String, _>("code")?).to_owned().into(),
                detail: members.or_default("detail")?,
            },
            "not_found" => ToolError::NotFound {
                name: members.take("name")?,
                suggestion: members.or_default("suggestion")?,
            },
            "invalid_args" => {
                let problems: Vec<Problem> = members.or_default("problems")?;
                let problems = problems.into_iter().map(|Problem(problem)| problem).collect();
                ToolError::InvalidArgs { message: members.take("message")?, problems }
            }
            "cancelled" => ToolError::Cancelled,
            "timeout" => ToolError::Timeout { duration: Duration::from_millis(members.take("duration_ms")?) },
            "denied" => {
                ToolError::Denied { message: members.take("message")?, detail: members.or_default("detail")? }
            }
            "approval_required" => ToolError::ApprovalRequired(Box::new(members.take("request")?)),
            "input_required" => ToolError::InputRequired(Box::new(members.take("pending")?)),
            "missing_dependencies" => ToolError::MissingDependencies(Box::new(members.take("missing")?)),
            other => return Err(members.unknown("kind", other)),
        })
    }
}

const KINDS: [(ArgumentProblemKind, &str); 4] = [
    (ArgumentProblemKind::Missing, "missing"),
    (ArgumentProblemKind::Unknown, "unknown"),
    (ArgumentProblemKind::Type, "type"),
    (ArgumentProblemKind::Value, "value"),
];

fn problem_json(problem: &ArgumentProblem) -> Value {
    let kind = KINDS.iter().find(|(kind, _)| *kind == problem.kind).map(|(_, name)| name);
    json!({ "pointer": problem.pointer, "kind": kind, "message": problem.message })
}

/// A problem read from plain data.
struct Problem(ArgumentProblem);

impl<'de> Deserialize<'de> for Problem {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::read(deserializer, "ArgumentProblem")?;
        let name: String = members.take("kind")?;
        let Some((kind, _)) = KINDS.iter().find(|(_, other)| *other == name) else {
            return Err(members.unknown("kind", &name));
        };
        let (pointer, message) = (members.take("pointer")?, members.take("message")?);
        Ok(Problem(ArgumentProblem { pointer, kind: *kind, message }))
    }
}
