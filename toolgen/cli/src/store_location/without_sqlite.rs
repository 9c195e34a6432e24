//! SQLite in a program that is built without the feature `sqlite`.

use std::path::Path;

use toolgen_runtime::layers::approval::Approvals;
use toolgen_runtime::layers::audit::Auditor;

use crate::lacks_feature;

pub(super) fn auditor(_: &Path) -> Result<Auditor, String> {
    Err(lacks_feature("sqlite", "SQLite"))
}

pub(super) fn queue(_: &Path, _: bool) -> Result<Option<Approvals>, String> {
    Err(lacks_feature("sqlite", "SQLite"))
}
