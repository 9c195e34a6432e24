//! Records: of calls, which a program stores and replays, and of network traffic, which tests play back.
//!
//! Programs use `toolgen-runtime`, which re-exports the modules under `layers`.
//!
//! | module | contents |
//! |---|---|
//! | [`audit`] | the layer that records every call, its sinks and its readers |
//! | [`replay`] | the layer that answers calls from a recorded run, and reports differences |
//! | [`cassette`] | recorded HTTP and MCP traffic, for tests without servers |

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod audit;
pub mod cassette;
mod pattern;
pub mod replay;
