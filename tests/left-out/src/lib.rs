//! Nothing: what counts is its test, the last of all.
