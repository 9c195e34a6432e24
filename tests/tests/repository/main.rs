//! The rules of the repository that no compiler checks.

mod checklist;
mod floors;
mod manifest_schema;
mod tidy;
