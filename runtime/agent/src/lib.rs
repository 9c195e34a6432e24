//! Agents: the loop of a model and its tools, state maps, and sub-agents as tools of other agents.
//!
//! Programs use this crate as `agent` of `toolgen-runtime`.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod agent_loop;
pub mod state_map;
pub mod sub_agent;
