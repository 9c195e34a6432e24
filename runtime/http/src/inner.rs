//! The shared state of an engine: its clients, the guard, and its settings.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use toolgen_kernel::base::frozen::Frozen;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::tool::{DEFAULT_TIMEOUT, time_limit};
use toolgen_kernel::schema::shape::decode::{ArgumentProblem, ArgumentProblemKind};
use toolgen_kernel::spec::plan::{RequestPlan, Tool};
use toolgen_kernel::spec::{Network, ToolSpec};

use super::build::build;
use super::builder::HttpEngineBuilder;
use super::guard::Guard;
use super::request::{BuildOptions, HttpRequest, RequestProblem, RequestProblemKind};
use super::response::BodyLimits;
use super::save::SaveOptions;
use super::sequence::declared_events;
use super::transport::{Clients, Interception, Redirects, Route};

/// The shared state of an engine.
pub(super) struct Inner {
    pub(super) clients: Clients,
    pub(super) guard: Guard,
    pub(super) settings: HttpEngineBuilder,
}

impl Inner {
    /// Returns the request of a call without its credentials.
    pub(super) fn request_without_credentials(
        &self,
        plan: &RequestPlan,
        arguments: &Value,
    ) -> Result<HttpRequest, Vec<RequestProblem>> {
        let mut request = build(plan, arguments, &self.options())?;
        let settings = &self.settings;
        let schemes = plan.security.iter().flat_map(|alternative| &alternative.schemes);
        let header_values = schemes.filter_map(|scheme| settings.header_of(&scheme.placement));
        for secret in settings.secrets().chain(header_values) {
            request.credentials.hide(secret);
            // The word before a token is its scheme, and not secret.
            if let Some((scheme, token)) = secret.split_once(' ') {
                request.credentials.hide(token.trim());
                if let Some(password) = basic_password(scheme, token.trim()) {
                    request.credentials.hide(&password);
                }
            }
        }
        Ok(request)
    }

    pub(super) fn options(&self) -> BuildOptions<'_> {
        let settings = &self.settings;
        BuildOptions {
            base_url: settings.base_url.0.as_deref(),
            document_url: settings.document_url.as_deref(),
            server_variables: &settings.server_variables,
            files: settings.files.as_ref(),
        }
    }

    /// Builds the request of a call before it is sent, without its credentials.
    pub(super) async fn prepare(
        self: &Arc<Inner>,
        tool: &Frozen<Tool>,
        mut arguments: Value,
    ) -> Result<HttpRequest, ToolError> {
        if plan(tool)?.defaults {
            arguments = tool.spec.with_defaults(arguments);
        }
        let built = if plan(tool)?.sends_files() {
            // Reading files blocks, which a task on a shared thread must not do.
            let (engine, tool) = (Arc::clone(self), tool.clone());
            let build = move || plan(&tool).map(|plan| engine.request_without_credentials(plan, &arguments));
            let built = tokio::task::spawn_blocking(build).await;
            built.map_err(|_| ToolError::failed("the request could not be built"))??
        } else {
            self.request_without_credentials(plan(tool)?, &arguments)
        };
        built.map_err(|problems| to_tool_error(&problems))
    }

    pub(super) fn route<'a>(&'a self, allowed: &'a Network) -> Route<'a> {
        let Inner { clients, guard, settings } = self;
        let interception = settings
            .interceptor
            .as_ref()
            .map(|interceptor| Interception { interceptor, secrets: settings.secrets().collect() });
        Route {
            clients,
            guard,
            allowed,
            redirects: Redirects::Allowed,
            success_redirects: &[],
            linked_from: None,
            is_trusted: true,
            interception,
        }
    }

    pub(super) fn time_limit(&self, spec: &ToolSpec, granted: Option<Duration>) -> Option<Duration> {
        time_limit(spec, self.settings.timeout.unwrap_or(DEFAULT_TIMEOUT), granted)
    }

    /// Returns the limits for reading the response of a tool.
    pub(super) fn limits<'t>(&'t self, tool: &'t Tool) -> BodyLimits<'t> {
        let settings = &self.settings;
        BodyLimits {
            bytes: settings.max_bytes,
            media_bytes: settings.max_media_bytes,
            stream_deadline: None,
            structured: tool.spec.output.is_some(),
            xml: tool.call.http().and_then(|plan| plan.xml_response.as_ref()),
            reported_headers: tool.call.http().map_or(&[], |plan| &*plan.headers),
            redirects: tool.call.http().map_or(&[], |plan| &*plan.redirects),
            events: declared_events(tool),
            save: settings
                .response_store
                .as_ref()
                .map(|store| SaveOptions { store, all: settings.saves_all_responses }),
        }
    }
}

/// Returns the request plan of a tool.
///
/// # Errors
///
/// Returns an error if the tool has another kind of plan, and belongs to another engine.
pub(super) fn plan(tool: &Tool) -> Result<&RequestPlan, ToolError> {
    let message = || format!("`{}` is not an HTTP request, so this engine cannot run it", tool.spec.name);
    tool.call.http().ok_or_else(|| ToolError::failed_with("WRONG_ENGINE", message()))
}

fn to_tool_error(problems: &[RequestProblem]) -> ToolError {
    let about_arguments: Vec<ArgumentProblem> = problems
        .iter()
        .filter(|problem| problem.kind.is_about_arguments())
        .map(|problem| {
            let kind = match problem.kind {
                RequestProblemKind::MissingArgument | RequestProblemKind::MissingPathParameter => {
                    ArgumentProblemKind::Missing
                }
                RequestProblemKind::Arguments => ArgumentProblemKind::Type,
                _ => ArgumentProblemKind::Value,
            };
            let message = problem.message.clone();
            let root_problem = ArgumentProblem { pointer: String::new(), kind, message };
            if problem.argument.is_empty() { root_problem } else { root_problem.within(&problem.argument) }
        })
        .collect();
    match (about_arguments.is_empty(), problems.first()) {
        (true, Some(problem)) => ToolError::failed_with(problem.kind.code(), problem.message.clone()),
        _ => ToolError::from_problems(about_arguments),
    }
}

/// Returns the password of basic credentials, which is also a secret on its own.
fn basic_password(scheme: &str, encoded: &str) -> Option<String> {
    let pair = STANDARD.decode(encoded).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    let pair = String::from_utf8(pair).ok()?;
    pair.split_once(':').map(|(_, password)| password.to_owned())
}
