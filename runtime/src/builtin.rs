//! Ready-made tools.

mod edit;
mod files;
mod grep;
mod place;
mod text;
mod walk;

use std::sync::Arc;

use crate::call::tool::AgentTool;
use crate::toolset;

/// Tools for files.
#[must_use]
pub fn files() -> Vec<Arc<dyn AgentTool>> {
    toolset![files::read_file, files::write_file, files::edit_file, files::list_files, files::search]
}
