//! The formats of the providers: calls that are read, answers and lists of tools that are rendered.

mod cases;
mod deferred;
mod dialects;
mod formats;
use toolgen_test_support::golden;
mod helpers;
mod plan;
mod properties;
mod strict;
mod tools;
mod turns;
