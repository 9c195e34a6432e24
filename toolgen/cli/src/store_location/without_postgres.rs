//! PostgreSQL in a program that is built without the feature `postgres`.

use std::future::{Ready, ready};

use toolgen_runtime::layers::approval::Approvals;
use toolgen_runtime::layers::audit::{AuditReader, Auditor};

use crate::lacks_feature;

pub(super) fn reader(_: &str) -> Result<AuditReader, String> {
    Err(lacks_feature("postgres", "PostgreSQL"))
}

pub(super) fn auditor(_: &str) -> Result<Auditor, String> {
    Err(lacks_feature("postgres", "PostgreSQL"))
}

pub(super) fn queue(_: &str) -> Ready<Result<Option<Approvals>, String>> {
    ready(Err(lacks_feature("postgres", "PostgreSQL")))
}
