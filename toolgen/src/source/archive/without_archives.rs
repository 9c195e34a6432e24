//! Archives in a program that is built without the feature `archives`.

use std::path::Path;

use crate::source::bundle::Bundle;

pub(super) fn bundle(_: &Path, _: &[u8]) -> Result<Bundle, String> {
    Err("it is an archive, which only programs with the feature `archives` can read".to_owned())
}
