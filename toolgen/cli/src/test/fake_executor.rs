//! Simulates commands, without running them.

use std::sync::Arc;

use toolgen_runtime::engine::Engines;
use toolgen_runtime::engine::command::CommandEngine;
use toolgen_runtime::engine::executor::{ExecError, ExecOptions, ExecOutput, Executor};
use toolgen_runtime::{BoxFuture, CancellationToken};

use super::simulation::Simulation;

/// Adds a command engine that uses the simulation.
pub(super) fn with_commands(engines: Engines, simulation: &Arc<Simulation>) -> Engines {
    engines.with(CommandEngine::new().executor(FakeExecutor(Arc::clone(simulation))))
}

/// An executor that runs nothing.
struct FakeExecutor(Arc<Simulation>);

impl Executor for FakeExecutor {
    fn run<'a>(
        &'a self,
        _: &'a [String],
        _: &'a ExecOptions,
        _: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<ExecOutput, ExecError>> {
        self.0.count_request();
        let output = ExecOutput::new(self.0.exit_code, self.0.output.as_str(), "");
        Box::pin(std::future::ready(Ok(output)))
    }

    fn missing<'a>(
        &'a self,
        _: &'a [&'a str],
        _: &'a ExecOptions,
        _: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Vec<String>, ExecError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}
