//! `serve`: serves the tools of documents over the Model Context Protocol (MCP).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::future::ready;
use std::io;
use std::time::Duration;

use tokio::net::TcpListener;
use toolgen::problem::codes;
use toolgen::{About, Program, Tool};
use toolgen_runtime::engine::Engines;
use toolgen_runtime::engine::mcp::McpEngine;
use toolgen_runtime::layers::audit::Auditor;
use toolgen_runtime::layers::hooks::Hooks;
use toolgen_runtime::layers::middleware::{Middleware, MiddlewareDecision, ToolRequest};
use toolgen_runtime::layers::policy::PolicyRules;
use toolgen_runtime::rules::{Action, Rules, RulesLayer};
use toolgen_runtime::serve::mcp::Server;
use toolgen_runtime::spec::plan;
use toolgen_runtime::spec::{Requirement, RequirementKind};
use toolgen_runtime::toolbox::{ToolboxError, one_shot};
use toolgen_runtime::{
    BoxFuture, EffectLimits, Registry, ToolContext, ToolError, ToolResponse, ToolResult, Toolbox,
    ToolboxContext,
};

use super::Outcome;
use super::args::Serve;
use super::compile::{Compiled, compile_all, needs_program, skip_unrunnable};
use super::discovery;
use super::engines::{count_tools, engines, http, unset_schemes};
use super::output::{Output, print_error};
use super::store_location::StoreLocation;

/// Serves until the client disconnects or the process is interrupted. Errors in documents are reported; the other tools
/// are served.
pub(super) fn run(task: &Serve, output: &mut Output) -> io::Result<Outcome> {
    let (mut compiled, _) = compile_all(&task.selection, &[], output);
    let is_missing = |compiled: &Compiled| {
        compiled.program.is_none()
            && compiled.problems.as_slice().iter().any(|problem| problem.code == codes::UNREADABLE_FILE)
    };
    // An argument that is not a document was probably meant as something else.
    if compiled.iter().any(is_missing) {
        output.error("nothing is served, because a document is missing");
        return Ok(Outcome::Problems);
    }
    report_client_values(task, &compiled, output);
    for program in compiled.iter_mut().filter_map(|compiled| compiled.program.as_mut()) {
        skip_unrunnable(
            program,
            |requirement, skipped| is_met(requirement, skipped, &task.client_values),
            output,
        );
    }
    let tools: Vec<&Tool> = compiled.iter().flat_map(Compiled::tools).collect();
    if tools.is_empty() {
        output.error("no tool is left to serve");
        return Ok(Outcome::Problems);
    }
    let result = auditor(task).and_then(|auditor| {
        let (engines, servers) = engines(&task.requests, &task.selection.options)?;
        let rules = rules(&compiled, &tools);
        let (toolbox, offered_tools) = toolbox(task, &engines, &tools, &rules, &auditor)?;
        if offered_tools.names.is_empty() {
            return Err(
                "no tool is left to serve: `--allow`, `--deny` and `--read-only` exclude all".to_owned()
            );
        }
        let missing = warnings(task, &tools, &offered_tools)?;
        serve(
            task,
            server(task, &compiled, toolbox)?,
            (&auditor, &servers),
            (&offered_tools, &missing),
            output,
        )
    });
    Ok(match result {
        Ok(()) => Outcome::Fine,
        Err(message) => report_failure(&message, output),
    })
}

fn report_failure(message: &str, output: &mut Output) -> Outcome {
    output.error(message);
    Outcome::Problems
}

/// Reports context values that tools require without `--client-value`, and client values that no tool requires.
fn report_client_values(task: &Serve, compiled: &[Compiled], output: &mut Output) {
    let tools = compiled.iter().flat_map(Compiled::tools).filter(|tool| needs_program(&tool.call).is_none());
    let requirements = tools.flat_map(|tool| tool.spec.requires.iter());
    let requirements = requirements.filter(|requirement| requirement.kind == RequirementKind::Context);
    let required_values: BTreeMap<&str, bool> =
        requirements.fold(BTreeMap::new(), |mut values, requirement| {
            *values.entry(requirement.name.as_str()).or_default() |= !requirement.optional;
            values
        });
    let is_passed = |name: &str| task.client_values.iter().any(|value| value == name);
    for (name, _) in required_values.iter().filter(|(name, is_required)| **is_required && !is_passed(name)) {
        output.note(&format!(
            "tools require the context value `{name}`; with `--client-value {name}`, clients may set it"
        ));
    }
    for name in task.client_values.iter().filter(|name| !required_values.contains_key(name.as_str())) {
        output.note(&format!(
            "no tool requires `{name}`; clients can pass it only in `io.toolgen/context` of `_meta`"
        ));
    }
}

/// Whether a server meets a requirement: it has sessions, the values that clients pass, and the remaining tools.
fn is_met(requirement: &Requirement, skipped: &BTreeSet<String>, client_values: &[String]) -> bool {
    let name = requirement.name.as_str();
    match requirement.kind {
        RequirementKind::Tool => !skipped.contains(name),
        RequirementKind::Context => client_values.iter().any(|value| value == name),
        kind => kind == RequirementKind::Session,
    }
}

fn auditor(task: &Serve) -> Result<Auditor, String> {
    match &task.audit {
        None => Ok(Auditor::none()),
        Some(argument) => StoreLocation::of(argument)?.auditor(),
    }
}

/// The tools that a client may call.
struct Offered {
    names: BTreeSet<String>,
    /// Whether the client sees only the discovery tools.
    with_discovery: bool,
}

/// Returns warnings about tools that will fail, with fixes: blocked hosts, security schemes without credentials,
/// context values that a client cannot see.
fn warnings(task: &Serve, tools: &[&Tool], offered: &Offered) -> Result<Vec<String>, String> {
    let engine = http(&task.requests, &task.selection.options)?;
    let offered_tools = tools.iter().filter(|tool| offered.names.contains(tool.spec.name.as_str()));
    let offered_tools: Vec<plan::Tool> =
        offered_tools.map(|tool| plan::Tool::from((*tool).clone())).collect();
    let lines = unset_schemes(&engine, &offered_tools).into_iter().map(|(scheme, (help, tools))| {
        format!("there is no credential for `{scheme}`, of {}: {help}", count_tools(tools))
    });
    let blocked = engine.blocked_hosts(&offered_tools).into_iter();
    // Discovered tools show no argument for such a value.
    let values: Vec<String> = task.client_values.iter().map(|name| format!("`{name}`")).collect();
    let hidden_values = (offered.with_discovery && !values.is_empty()).then(|| {
        format!(
            "clients can pass {} only in `io.toolgen/context` of `_meta`, because discovered tools show no argument \
             for it (they do with `--discovery=off`)",
            values.join(" and ")
        )
    });
    Ok(blocked
        .map(|host| format!("{} cannot be called: {}", count_tools(host.tools.len()), host.remedy))
        .chain(lines)
        .chain(hidden_values)
        .collect())
}

/// Prints the reasons of failed calls for the operator. Clients get only the message for the model.
struct FailureLog;

impl Hooks for FailureLog {
    fn after_tool_execution<'a>(
        &'a self,
        response: &'a ToolResponse,
        _ctx: &'a ToolContext,
    ) -> BoxFuture<'a, ()> {
        let text = match &response.outcome {
            // Invalid arguments are reported to the model.
            Err(ToolError::InvalidArgs { .. }) => None,
            Err(error) => Some(error.operator_text()),
            Ok(result) => result.operator_text().map(Cow::Borrowed),
        };
        if let Some(text) = text {
            let text = text.strip_prefix("Error: ").unwrap_or(&text);
            let failed = response.outcome.as_ref().map_or(true, ToolResult::is_error);
            let verb = if failed { "failed" } else { "returned another result" };
            print_error(&format!("a call of `{}` {verb}: {text}", response.name));
        }
        Box::pin(ready(()))
    }
}

/// Returns the rules of the documents about the tools that are served.
fn rules(compiled: &[Compiled], tools: &[&Tool]) -> Rules {
    let programs = compiled.iter().filter_map(|compiled| compiled.program.as_ref());
    let rules: Vec<Rules> = programs.map(Program::all_rules).collect();
    let rules: Rules = rules.iter().flat_map(Rules::as_slice).cloned().collect();
    rules.about(tools.iter().map(|tool| &tool.spec))
}

/// Whether a rule of a document requires approvals.
fn asks(compiled: &[Compiled]) -> bool {
    let mut programs = compiled.iter().filter_map(|compiled| compiled.program.as_ref());
    programs.any(|program| program.all_rules().as_slice().iter().any(|rule| rule.action() == Action::Ask))
}

/// Returns the toolbox with its limits and audit log, and the tools that a client may call.
fn toolbox(
    task: &Serve,
    engines: &Engines,
    tools: &[&Tool],
    call_rules: &Rules,
    auditor: &Auditor,
) -> Result<(Toolbox, Offered), String> {
    let plans = tools.iter().map(|tool| plan::Tool::from((*tool).clone()));
    let plans = engines.tools_from(plans).map_err(|error| error.to_string())?;
    let registry = Registry::new(plans).map_err(|error| error.to_string())?;
    let limits = EffectLimits { read_only: task.read_only, ..EffectLimits::ANY };
    let mut rules = PolicyRules::builder().exclude(task.deny.iter().cloned());
    if !task.allow.is_empty() {
        rules = rules.include(task.allow.iter().cloned());
    }
    let rules = rules.build().map_err(|error| error.to_string())?;
    let ask_rules = PolicyRules::builder()
        .include(task.ask.iter().cloned())
        .build()
        .map_err(|error| error.to_string())?;
    let unused = ask_rules.unused(&registry);
    if !task.ask.is_empty() && !unused.is_empty() {
        return Err(ToolboxError::UnusedRules(unused).to_string());
    }
    let builder = || {
        let builder = Toolbox::builder(&registry)
            .context(
                ToolboxContext::new().with_limits(limits.clone()).with_work_dir(task.requests.work_dir()),
            )
            .rules(rules.clone())
            .default_timeout(Duration::from_secs(task.requests.timeout))
            .layer(RulesLayer::new(call_rules.clone()))
            .layer(auditor.clone())
            .hooks(FailureLog);
        // An empty list of rules would match all tools.
        if task.ask.is_empty() { builder } else { builder.middleware(RequireApproval(ask_rules.clone())) }
    };
    let toolbox = builder().build().map_err(|error| error.to_string())?;
    let names: BTreeSet<String> = toolbox.specs().map(|spec| spec.name.to_string()).collect();
    let with_discovery = match task.discovery.as_str() {
        "auto" => names.len() >= discovery::DISCOVERY_THRESHOLD,
        when => when == "on" && !names.is_empty(),
    };
    let offered = Offered { names, with_discovery };
    if !with_discovery {
        return Ok((toolbox, offered));
    }
    let toolbox = builder().discovery(discovery::of(tools, &task.pinned)).build();
    toolbox.map(|toolbox| (toolbox, offered)).map_err(|error| error.to_string())
}

/// Middleware that requests approval for calls of tools that match the rules.
struct RequireApproval(PolicyRules);

impl Middleware for RequireApproval {
    fn before<'a>(&'a self, request: &'a ToolRequest<'a>) -> BoxFuture<'a, MiddlewareDecision> {
        let needs_approval = self.0.allows(request.spec) && !request.approved();
        let decision = if needs_approval {
            MiddlewareDecision::NeedApproval(
                "The operator of this server requires approval of this tool.".to_owned(),
            )
        } else {
            MiddlewareDecision::Allow
        };
        Box::pin(async move { decision })
    }
}

/// Sets a limit of a server.
type SetLimit = fn(Server, usize) -> Server;

fn server(task: &Serve, compiled: &[Compiled], toolbox: Toolbox) -> Result<Server, String> {
    let mut server = Server::new(toolbox).client_values(task.client_values.iter().cloned());
    // With several documents, none has the title for all.
    if let [Compiled { path, program: Some(program), .. }] = compiled {
        if let Some(name) = path.file_stem() {
            server = server.name(name.to_string_lossy());
        }
        let About { title, version } = &program.about;
        if !title.is_empty() {
            server = server.title(title.as_str());
        }
        if !version.is_empty() {
            server = server.version(version.as_str());
        }
    }
    if !task.ask.is_empty() || asks(compiled) {
        server = server.approve_by_elicitation();
    }
    if let Some(variable) = &task.token {
        let token = env::var(variable).ok().filter(|token| !token.trim().is_empty());
        server = server
            .bearer(token.ok_or_else(|| format!("set {variable} to the token that clients must send"))?);
    }
    let limits: [(Option<u32>, SetLimit); 4] = [
        (task.max_calls, Server::max_calls),
        (task.max_connections, Server::max_connections),
        (task.max_sessions, Server::max_sessions),
        (task.max_request, Server::max_request_bytes),
    ];
    for (limit, set_limit) in limits {
        if let Some(limit) = limit.and_then(|limit| usize::try_from(limit).ok()) {
            server = set_limit(server, limit);
        }
    }
    server = task.hosts.iter().fold(server, Server::allow_host);
    Ok(task.origins.iter().fold(server, Server::allow_origin))
}

/// Serves, then stops the MCP servers that were called and flushes the audit log.
fn serve(
    task: &Serve,
    server: Server,
    (auditor, servers): (&Auditor, &McpEngine),
    (offered, missing): (&Offered, &[String]),
    output: &mut Output,
) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let count = offered.names.len();
        let mut tools = if count == 1 { "1 tool is".to_owned() } else { format!("{count} tools are") };
        if offered.with_discovery {
            tools.push_str(" found by `search_tools` (`--discovery=off` lists them all) and");
        }
        let serving = async {
            let Some(address) = &task.http else {
                output.note(&format!("{tools} served on standard input and output"));
                missing.iter().for_each(|missing| output.note(missing));
                return server.stdio().await.map_err(|error| error.to_string());
            };
            let listener = TcpListener::bind(address).await.map_err(|error| {
                let help = if error.kind() == io::ErrorKind::InvalidInput { "; write it as 127.0.0.1:8080" } else { "" };
                format!("cannot listen at {address}: {error}{help}")
            })?;
            let address = listener.local_addr().map_err(|error| error.to_string())?;
            if task.token.is_none() && !address.ip().is_loopback() {
                return Err(format!(
                    "anyone who can reach {address} could call the tools: set a bearer token with `--token ENV_VAR`, or \
                     listen at 127.0.0.1"
                ));
            }
            output.note(&format!("{tools} served at http://{address}/mcp"));
            missing.iter().for_each(|missing| output.note(missing));
            server.listen(listener).await.map_err(|error| error.to_string())
        };
        let result = tokio::select! {
            result = serving => result,
            // Running calls are dropped, with their processes.
            () = one_shot::interrupted() => Ok(()),
        };
        servers.close().await;
        let flushed = auditor.flush().await.map_err(|error| format!("the last records are lost: {error}"));
        result.and(flushed)
    })
}
