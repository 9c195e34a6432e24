//! Maps the signals of completion tools to the states of a program.

use std::collections::BTreeMap;
use std::fmt;

use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::spec::ToolSpec;

/// Maps each signal of a completion tool to the next state.
///
/// The map is checked against the tools when it is built: every declared signal must have a state, and every entry
/// must be used.
///
/// ```
/// use toolgen_runtime::agent::state_map::StateMap;
/// use toolgen_runtime::{Registry, tool, toolset};
///
/// #[derive(Debug, PartialEq)]
/// enum State {
///     PlanReview,
///     Done,
/// }
///
/// /// Submits a plan.
/// #[tool(complete(next_state = "PLAN_REVIEW"))]
/// fn submit_plan() {}
///
/// /// Reports that nothing is left to do.
/// #[tool(complete(next_state = "DONE"))]
/// fn mark_story_complete() {}
///
/// let registry = Registry::new(toolset![submit_plan, mark_story_complete])?;
/// let toolbox = registry.toolbox(Default::default());
/// let states = StateMap::builder()
///     .on("PLAN_REVIEW", State::PlanReview)
///     .on("DONE", State::Done)
///     .build(toolbox.specs())?;
/// assert_eq!(states.next("DONE"), Ok(&State::Done));
/// assert_eq!(states.next("NOWHERE").unwrap_err().to_string(), "unknown tool transition");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateMap<S> {
    states: BTreeMap<Text, S>,
}

/// Builder of a [`StateMap`].
#[derive(Clone, Debug)]
pub struct StateMapBuilder<S> {
    /// The signals with their states, and whether a tool must declare them.
    entries: Vec<(Text, S, bool)>,
}

impl<S> StateMap<S> {
    /// Returns an empty builder.
    #[must_use]
    pub fn builder() -> StateMapBuilder<S> {
        StateMapBuilder { entries: Vec::new() }
    }

    /// Returns the next state for a signal.
    ///
    /// # Errors
    ///
    /// `unknown tool transition` for a signal that is not in the map, such as one that a tool created at run time.
    pub fn next(&self, signal: &str) -> Result<&S, UnknownTransition> {
        let found = self.states.iter().find(|(known, _)| known.as_str() == signal);
        found
            .map(|(_, state)| state)
            .ok_or_else(|| UnknownTransition { signal: Text::from(signal.to_owned()) })
    }

    /// Returns the signals and their states, sorted by signal.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &S)> {
        self.states.iter().map(|(signal, state)| (signal.as_str(), state))
    }
}

impl<S> StateMapBuilder<S> {
    /// Adds a signal that a tool declares, and its next state.
    #[must_use]
    pub fn on(mut self, signal: impl Into<Text>, state: S) -> StateMapBuilder<S> {
        self.entries.push((signal.into(), state, true));
        self
    }

    /// Adds a signal that a tool returns only at run time, with `next_state` in its result or with
    /// [`Control::complete`](toolgen_kernel::Control::complete), and its next state.
    #[must_use]
    pub fn on_undeclared(mut self, signal: impl Into<Text>, state: S) -> StateMapBuilder<S> {
        self.entries.push((signal.into(), state, false));
        self
    }

    /// Checks the entries against the tools of an agent: those of [`Toolbox::specs`](toolgen_kernel::Toolbox::specs),
    /// or of a whole registry. A completion tool without a signal ends the loop and needs no entry.
    ///
    /// # Errors
    ///
    /// Returns all problems together.
    pub fn build<'a>(
        self,
        tools: impl IntoIterator<Item = &'a ToolSpec>,
    ) -> Result<StateMap<S>, StateMapError> {
        let mut problems = Vec::new();
        let mut given: BTreeMap<&str, &str> = BTreeMap::new();
        for spec in tools {
            let signal = spec.completion.as_ref().map_or("", |completion| &*completion.next_state);
            if signal.is_empty() {
                continue;
            }
            given.insert(signal, spec.name.as_str());
            if !self.entries.iter().any(|(known, ..)| known.as_str() == signal) {
                let (tool, signal) = (spec.name.to_text(), Text::from(signal.to_owned()));
                problems.push(StateMapProblem::UnknownSignal { tool, signal });
            }
        }
        let mut states = BTreeMap::new();
        for (signal, state, declared) in self.entries {
            if declared && !given.contains_key(signal.as_str()) {
                problems.push(StateMapProblem::UnusedSignal { signal: signal.clone() });
            }
            if states.insert(signal.clone(), state).is_some() {
                problems.push(StateMapProblem::Twice { signal });
            }
        }
        if problems.is_empty() { Ok(StateMap { states }) } else { Err(StateMapError { problems }) }
    }
}

/// A signal that is not in a [`StateMap`]: `unknown tool transition`.
#[derive(Clone, PartialEq, Eq)]
pub struct UnknownTransition {
    /// The signal.
    pub signal: Text,
}

impl fmt::Display for UnknownTransition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown tool transition")
    }
}

toolgen_core::__readable_debug!(UnknownTransition);

impl std::error::Error for UnknownTransition {}

/// The problems of building a [`StateMap`]: first the tools with unknown signals, in the order of the tools, then the
/// invalid entries, in their order.
#[derive(Clone, PartialEq, Eq)]
pub struct StateMapError {
    /// The problems.
    pub problems: Vec<StateMapProblem>,
}

/// A problem with a [`StateMap`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateMapProblem {
    /// `tool '{tool}' declares the signal '{signal}', which is not in the map`
    UnknownSignal {
        /// The tool.
        tool: Text,
        /// Its signal.
        signal: Text,
    },
    /// `no tool declares the signal '{signal}'`
    UnusedSignal {
        /// The signal.
        signal: Text,
    },
    /// `the signal '{signal}' is in the map twice`
    Twice {
        /// The signal.
        signal: Text,
    },
}

impl fmt::Display for StateMapProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StateMapProblem::UnknownSignal { tool, signal } => {
                write!(f, "tool '{tool}' declares the signal '{signal}', which is not in the map")
            }
            StateMapProblem::UnusedSignal { signal } => write!(f, "no tool declares the signal '{signal}'"),
            StateMapProblem::Twice { signal } => write!(f, "the signal '{signal}' is in the map twice"),
        }
    }
}

impl fmt::Display for StateMapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let line_break = if index == 0 { "" } else { "\n" };
            write!(f, "{line_break}{problem}")?;
        }
        Ok(())
    }
}

toolgen_core::__readable_debug!(StateMapError);

impl std::error::Error for StateMapError {}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgen_kernel::spec::{Completion, ToolName};

    fn tool(name: &'static str, next_state: Option<&'static str>) -> ToolSpec {
        let completion = next_state.map(|state| Completion { next_state: Text::Static(state) });
        ToolSpec { name: ToolName::new(name), completion, ..ToolSpec::EMPTY }
    }

    #[test]
    fn state_map_reports_all_errors_when_built() {
        let tools = [tool("submit_plan", Some("REVIEW")), tool("done", Some("MERGE")), tool("shell", None)];
        let built = StateMap::builder().on("REVIEW", 1).on("ENDED", 2).on("REVIEW", 3).build(&tools);
        assert_eq!(
            built.unwrap_err().to_string(),
            "tool 'done' declares the signal 'MERGE', which is not in the map\n\
             no tool declares the signal 'ENDED'\n\
             the signal 'REVIEW' is in the map twice"
        );
    }

    #[test]
    fn signal_is_known_only_if_the_map_contains_it() {
        let tools = [tool("done", Some("MERGE")), tool("stop", Some(""))];
        let states = StateMap::builder().on("MERGE", 1).on_undeclared("ABORTED", 2).build(&tools).unwrap();
        assert_eq!((states.next("MERGE"), states.next("ABORTED")), (Ok(&1), Ok(&2)));
        assert_eq!(states.next("merge").unwrap_err().to_string(), "unknown tool transition");
        assert_eq!(states.iter().collect::<Vec<_>>(), [("ABORTED", &2), ("MERGE", &1)]);
    }
}
