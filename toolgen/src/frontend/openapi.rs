//! OpenAPI 3 documents to tools.

use std::sync::Arc;

use crate::options::Options;
use crate::problem::Problems;
use crate::source::Document;
use crate::tool::Program;

/// Compiles a document. One bad operation costs that operation, with a problem, never the document.
///
/// `None` if it is no OpenAPI 3 document at all; the problem says why.
pub fn lower(document: &Arc<Document>, options: &Options, problems: &mut Problems) -> Option<Program> {
    let _ = (document, options, problems);
    None
}
