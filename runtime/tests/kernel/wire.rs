//! The wire formats of the vendors: parsed calls, rendered results and rendered lists of tools.

mod cases;
mod deferred;
mod dialects;
mod formats;
use toolgen_test_support::golden;
pub(crate) mod helpers;
mod plan;
mod properties;
pub(crate) mod properties_of_tools;
mod strict;
mod tools;
mod turns;
