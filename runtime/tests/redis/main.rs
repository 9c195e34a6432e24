//! Shared state.
