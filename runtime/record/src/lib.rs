//! Records: of calls, which a program keeps and replays, and of network traffic, which tests play back.
//!
//! Programs use `toolgen-runtime`, which re-exports the modules under `layers`.
//!
//! | module | is |
//! |---|---|
//! | [`audit`] | the layer that records every call, its sinks and its readers |
//! | [`replay`] | the layer that answers calls as a record has them, and says what differs |
//! | [`cassette`] | what HTTP and MCP servers were sent and answered, for tests without them |

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod audit;
pub mod cassette;
mod pattern;
pub mod replay;
