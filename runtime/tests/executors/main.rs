//! Programs that tools start, and the engines whose tools start them.

mod engines;
mod executor;
mod prelude;
