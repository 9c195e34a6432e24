//! Agents: the loop of a model and its tools, state maps, and sub-agents as tools of other agents.
//!
//! Programs use this crate as `agent` of `toolgen-runtime`.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod agent_loop;
#[cfg(feature = "model")]
#[cfg_attr(docsrs, doc(cfg(feature = "model")))]
pub mod model;
pub mod state_map;
pub mod sub_agent;
mod terminal;

pub use agent_loop::Agent;
#[cfg(feature = "model")]
#[cfg_attr(docsrs, doc(cfg(feature = "model")))]
pub use model::Model;
pub use terminal::TerminalApprover;
