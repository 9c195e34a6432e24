//! Redis in a program that is built without the feature `redis`.

use std::future::{Ready, ready};

use toolgen_runtime::layers::approval::Approvals;

use crate::lacks_feature;

pub(super) fn queue(_: &str, _: &str) -> Ready<Result<Approvals, String>> {
    ready(Err(lacks_feature("redis", "Redis")))
}
