//! Agents: the calls of a turn, the agent loop, state maps, and agents that are tools of other agents.

#[cfg(feature = "agent")]
pub mod agent_loop;
pub mod dispatch;
#[cfg(feature = "agent")]
pub mod state_map;
#[cfg(feature = "agent")]
pub mod sub_agent;
