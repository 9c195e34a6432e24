//! Tools that are programs.
//!
//! The values of a call become arguments, environment variables or standard input of the program. No shell interprets
//! them. A value that begins with `-` is rejected if the program would parse it as an option. Other users of a
//! machine may see the arguments of its programs, so pass secrets in variables or standard input.
//!
//! # Where programs run
//!
//! A program runs in the [`Executor`] of its call, which a [toolbox](toolgen_kernel::Toolbox) restricts to the limits
//! of its context. If the call has no executor, the program runs in that of the [`CommandEngine`] under the same
//! limits: with the feature `process`, on this machine. The declared effects of a tool also apply to its program: a
//! read-only tool cannot write files, and a tool without network has no network; otherwise the executor refuses to
//! run it.
//!
//! # The result of a call
//!
//! - The text of the result is the standard output. JSON is also the
//!   [structured](toolgen_kernel::ToolResult::structured) result.
//! - If a program fails, the error is [`ToolError::Failed`] with the code `COMMAND_FAILED`: `exit code {n}` and both
//!   streams.
//! - The values of inherited variables whose names mark them as credentials, such as `GITHUB_TOKEN`, are redacted in
//!   all output.
//! - The code for output that does not match the declaration is `INVALID_OUTPUT`, that for missing programs
//!   `PROGRAM_MISSING`.

mod argv;
mod output;
mod stream;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Map, Value};
use toolgen_kernel::base::frozen::Frozen;
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::limits::EffectLimits;
use toolgen_kernel::call::result::ToolResult;
use toolgen_kernel::call::roots::inside;
use toolgen_kernel::call::secrets::Secrets;
use toolgen_kernel::call::tool::AgentTool;
use toolgen_kernel::call::toolbox_context::{FactoryError, ToolboxContext};
use toolgen_kernel::engine::Engine;
use toolgen_kernel::engine::arguments::{complete, missing};
use toolgen_kernel::spec::plan::{ArgvTemplate, CommandPlan, ExecutionPlan, Stdin, Tool};
use toolgen_kernel::spec::template::{Scope, Template};
use toolgen_kernel::spec::{Effects, Network, Timeout, ToolSpec};

use self::stream::Stream;
use crate::{ExecError, ExecOptions, Executor, ResourceLimits, preflight};

/// The error code of a call whose program is not installed.
const PROGRAM_MISSING: &str = "PROGRAM_MISSING";

/// Runs tools that are programs. `Engines` contain a default engine; replace it to choose where programs run.
#[derive(Clone)]
pub struct CommandEngine {
    executor: Option<Arc<dyn Executor>>,
}

impl Default for CommandEngine {
    fn default() -> CommandEngine {
        CommandEngine::new()
    }
}

impl CommandEngine {
    /// Creates an engine. With the feature `process`, it starts programs on this machine if a call has no executor.
    #[must_use]
    pub fn new() -> CommandEngine {
        #[cfg(feature = "process")]
        let executor: Option<Arc<dyn Executor>> = Some(Arc::new(crate::LocalExecutor::new()));
        #[cfg(not(feature = "process"))]
        let executor = None;
        CommandEngine { executor }
    }

    /// Sets the executor for calls whose context has no executor.
    #[must_use]
    pub fn executor(mut self, executor: impl Executor + 'static) -> CommandEngine {
        self.executor = Some(Arc::new(executor));
        self
    }
}

impl Engine for CommandEngine {
    fn runs(&self, tool: &Tool) -> bool {
        matches!(tool.call, ExecutionPlan::Command(_))
    }

    fn make(&self, tool: Frozen<Tool>, _: &[Arc<dyn AgentTool>]) -> Result<Arc<dyn AgentTool>, FactoryError> {
        let ExecutionPlan::Command(plan) = &tool.call else {
            return Err(FactoryError::requires(tool.spec.name.as_str(), "another engine"));
        };
        Ok(Arc::new(CommandTool {
            spec: tool.spec.clone(),
            plan: plan.clone(),
            executor: self.executor.clone(),
            has_programs: Arc::default(),
        }))
    }
}

impl fmt::Debug for CommandEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandEngine").finish_non_exhaustive()
    }
}

/// A tool that is a program.
#[derive(Clone)]
struct CommandTool {
    spec: ToolSpec,
    plan: CommandPlan,
    /// The executor for calls whose context has no executor.
    executor: Option<Arc<dyn Executor>>,
    /// Whether all required programs were found.
    has_programs: Arc<AtomicBool>,
}

impl CommandTool {
    /// Runs the program, and redacts its credentials in the outcome: they may appear, for example, in the URL of an
    /// error.
    async fn run(&self, params: Value, ctx: &ToolContext) -> Result<ToolResult, ToolError> {
        let credentials = self.credentials();
        ctx.hide(&credentials);
        let mut outcome = self.start(params, ctx).await;
        match &mut outcome {
            Ok(result) => credentials.hide_in(result),
            Err(ToolError::Failed { message, code, detail }) => {
                credentials.hide_in_text(message);
                credentials.hide_in_text(code.to_mut());
                credentials.hide_in_text(detail);
            }
            Err(_) => {}
        }
        outcome
    }

    /// Returns the secrets in the inherited environment variables.
    fn credentials(&self) -> Secrets {
        let names = self.plan.inherit.iter();
        if names.len() == 0 {
            return Secrets::default();
        }
        Secrets::of_variables(
            names.filter_map(|name| Some((name.to_string(), std::env::var(name.as_str()).ok()?))),
        )
    }

    async fn start(&self, params: Value, ctx: &ToolContext) -> Result<ToolResult, ToolError> {
        let arguments = complete(&self.spec, params);
        let argv = argv::argv(&self.plan, &Scope::of(&arguments))?;
        let mut options = self.options(&arguments, ctx)?;
        let executor = ctx.service::<dyn Executor>().or_else(|| self.executor.clone());
        let executor = executor.ok_or_else(|| self.no_executor())?;
        self.check_programs(&*executor, ctx).await?;
        let stream = self.plan.stream.then(|| Stream::new(ctx));
        if let Some(stream) = stream.clone() {
            options = options.on_line(move |line| stream.line(line));
        }
        let outcome = executor.run(&argv, &options, ctx.cancel()).await;
        stream.iter().for_each(Stream::end);
        match outcome {
            Ok(output) => output::outcome(&self.plan, &output),
            Err(error) => Err(self.execution_error(error, &argv, &*executor, ctx).await),
        }
    }

    /// Returns the error for a program that did not run to completion.
    async fn execution_error(
        &self,
        error: ExecError,
        argv: &[String],
        executor: &dyn Executor,
        ctx: &ToolContext,
    ) -> ToolError {
        if let (ExecError::Start { .. }, Some(program)) = (&error, argv.first()) {
            // A program may also fail to start for other reasons, such as arguments that are too long.
            let options = self.restricted_options(ctx);
            let check = preflight(executor, &[program.as_str()], &options, ctx.cancel()).await;
            if let Ok(check) = check
                && !check.success()
            {
                return not_installed(&check.message());
            }
        }
        error.into()
    }

    fn options(&self, arguments: &Map<String, Value>, ctx: &ToolContext) -> Result<ExecOptions, ToolError> {
        let (plan, scope) = (&self.plan, Scope::of(arguments));
        let mut options = self.restricted_options(ctx);
        options.limits = ResourceLimits::default();
        (options.limits.cpus, options.limits.memory, options.limits.pids) =
            (plan.cpus, plan.memory, plan.pids);
        if let Ok(bytes @ 1..) = usize::try_from(plan.max_output) {
            options.max_output = bytes;
        }
        for name in &plan.inherit {
            options.env.extend(std::env::var(name.as_str()).ok().map(|value| (name.to_string(), value)));
        }
        for (name, value) in &plan.env {
            options.env.extend(argv::text(value, &scope)?.map(|value| (name.to_string(), value)));
        }
        if let Some(template) = &plan.work_dir
            && let Some(directory) = argv::text(template, &scope)?
        {
            options.work_dir =
                Some(inside(directory, &first_placeholder(template), Some("workdir"), ctx)?.into());
        }
        options.stdin = match &plan.stdin {
            Stdin::Nothing => Vec::new(),
            Stdin::Text(template) => {
                template.fill_text(&scope).map_err(missing)?.unwrap_or_default().into_bytes()
            }
            Stdin::Arguments => serde_json::to_vec(arguments).unwrap_or_default(),
        };
        Ok(options)
    }

    /// Returns options that limit the program to the tool's declared effects, and to the time and the hosts of the
    /// call.
    fn restricted_options(&self, ctx: &ToolContext) -> ExecOptions {
        let Effects { read_only, files, network, .. } = &self.spec.effects;
        let limits = EffectLimits { read_only: *read_only, files: *files, ..EffectLimits::ANY };
        let mut options = ExecOptions::default().restricted_to(&limits);
        // A program cannot be limited to certain hosts.
        options.network_disabled |= *network != Network::Any || *ctx.allowed_hosts() != Network::Any;
        // If the tool has no time limit, that of the caller applies.
        options.timeout = match self.spec.timeout {
            Timeout::Millis(limit) => Some(Duration::from_millis(limit)),
            Timeout::Default | Timeout::Never => None,
        };
        options
    }

    /// Checks before the first run that the required programs are available.
    async fn check_programs(&self, executor: &dyn Executor, ctx: &ToolContext) -> Result<(), ToolError> {
        if self.plan.programs.is_empty() || self.has_programs.load(Ordering::Relaxed) {
            return Ok(());
        }
        let no_arguments = Map::new();
        let scope = Scope::of(&no_arguments);
        let program = match self.plan.argv.first() {
            Some(ArgvTemplate::One { text, .. }) if self.plan.script.is_empty() => {
                text.fill_text(&scope).ok().flatten()
            }
            _ => None,
        };
        let mut programs: Vec<&str> = self.plan.programs.iter().map(|program| program.as_str()).collect();
        programs.extend(program.as_deref().filter(|name| !programs.contains(name)));
        let options = self.restricted_options(ctx);
        let check = preflight(executor, &programs, &options, ctx.cancel()).await?;
        if !check.success() {
            return Err(not_installed(&check.message()));
        }
        self.has_programs.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn no_executor(&self) -> ToolError {
        let reason = FactoryError::requires(self.spec.name.as_str(), "an executor").to_string();
        let help = "set one in the toolbox's context (`ToolboxContext::with_executor`) or in the engine \
                    (`CommandEngine::executor`), or enable the feature `process`";
        ToolError::failed_with("SERVICE_UNAVAILABLE", reason.clone())
            .with_operator_detail(format!("{reason}: {help}"))
    }
}

/// Returns the name of the first argument in a template, for messages.
fn first_placeholder(template: &Template) -> String {
    let mut name = String::new();
    template.references(&mut |reference| {
        if name.is_empty() {
            name = reference.to_string().trim_end_matches('?').to_owned();
        }
    });
    if name.is_empty() { "cwd".to_owned() } else { name }
}

fn not_installed(reason: &str) -> ToolError {
    let text = format!("{reason}. Do not retry: the program is not installed in the tool's environment");
    ToolError::failed_with(PROGRAM_MISSING, text)
}

impl AgentTool for CommandTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn action(&self) -> Option<String> {
        Some(format!("{:?}", self.plan))
    }

    fn bind(&self, ctx: &ToolboxContext) -> Option<Result<Arc<dyn AgentTool>, FactoryError>> {
        let executor = self.executor.clone()?;
        let restricted = ctx.clone().with_executor(executor).executor(self.spec.name.as_str());
        Some(restricted.map(|restricted| {
            let executor = Some(Arc::new(restricted) as Arc<dyn Executor>);
            Arc::new(CommandTool { executor, has_programs: Arc::default(), ..self.clone() })
                as Arc<dyn AgentTool>
        }))
    }

    fn effects_in_context(&self, ctx: &ToolboxContext) -> Effects {
        ctx.limits.confine(&self.spec.effects)
    }

    fn execute<'a>(
        &'a self,
        params: Value,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(self.run(params, ctx))
    }
}
