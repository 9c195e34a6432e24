//! The executor that a toolbox provides to its tools.

use std::sync::Arc;

use super::{Executor, GuardedExecutor};
use crate::call::services::Services;
use crate::call::toolbox_context::{FactoryError, ToolboxContext};

impl ToolboxContext {
    /// Sets the executor for the tools, replacing any other.
    #[must_use]
    pub fn with_executor(self, executor: Arc<dyn Executor>) -> ToolboxContext {
        self.with_service(executor)
    }

    /// Returns the executor for a tool that is built for this context. By default it starts programs in the directory
    /// of the context. It enforces the limits of the context on every command, regardless of the tool. A tool that
    /// does all its work through the executor is [`confined`](crate::toolbox::ToolFactory::confined).
    ///
    /// ```
    /// use std::sync::Arc;
    /// use toolgen_runtime::engine::executor::ScriptedExecutor;
    /// use toolgen_runtime::toolbox::ToolboxContext;
    ///
    /// let error = ToolboxContext::new().executor("shell").unwrap_err();
    /// assert_eq!(error.to_string(), "shell tool requires an executor");
    ///
    /// let ctx = ToolboxContext::new().with_executor(Arc::new(ScriptedExecutor::default()));
    /// assert!(ctx.executor("shell").is_ok());
    /// ```
    ///
    /// # Errors
    ///
    /// Returns `{tool} tool requires an executor` if none is set.
    pub fn executor(&self, tool: &str) -> Result<GuardedExecutor, FactoryError> {
        let executor = self.service::<dyn Executor>();
        let executor = executor.ok_or_else(|| FactoryError::requires(tool, "an executor"))?;
        Ok(self.guarded(executor))
    }

    /// Returns the services with their executor, if there is one, restricted to the limits of the context, so that
    /// tools that look up the service cannot get an unrestricted executor.
    pub(crate) fn confined(&self, services: Services) -> Services {
        match services.get::<dyn Executor>() {
            Some(executor) => services.with::<dyn Executor>(Arc::new(self.guarded(executor))),
            None => services,
        }
    }

    fn guarded(&self, executor: Arc<dyn Executor>) -> GuardedExecutor {
        let executor = GuardedExecutor::new(executor).restricted_to(&self.limits);
        match &self.work_dir {
            Some(work_dir) => executor.work_dir(work_dir),
            None => executor,
        }
    }
}
