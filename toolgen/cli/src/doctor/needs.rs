//! Checks of what tools need on this machine: programs, environment variables, credentials.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Map;
use toolgen::Program;
use toolgen_runtime::CancellationToken;
use toolgen_runtime::engine::executor::{ExecOptions, LocalExecutor, preflight};
use toolgen_runtime::engine::http::{HttpEngine, MissingCredential};
use toolgen_runtime::spec::plan::{ArgvTemplate, CommandPlan, ExecutionPlan, McpServer, McpTransport, Tool};
use toolgen_runtime::spec::template::Scope;

use super::super::engines::{count_tools, credentials};
use super::Finding;

type Programs = [(PathBuf, Program)];

/// Names of programs or variables, each with the tools and servers that need it.
type Needed = BTreeMap<String, Vec<String>>;

/// Checks that the programs of command tools and MCP servers exist.
pub(super) fn programs(compiled: &Programs) -> Vec<Finding> {
    let mut needed = Needed::new();
    for (_, program) in compiled {
        for tool in program.all_tools() {
            if let ExecutionPlan::Command(plan) = &tool.call {
                for name in programs_of(plan) {
                    needed.entry(name).or_default().push(format!("the tool `{}`", tool.spec.name.as_str()));
                }
            }
        }
    }
    for server in servers(compiled) {
        if let McpTransport::Stdio { argv, .. } = &server.transport
            && let Some(name) = argv.first()
        {
            needed.entry(name.to_string()).or_default().push(format!("the MCP server `{}`", server.alias));
        }
    }
    let names: Vec<&str> = needed.keys().map(String::as_str).collect();
    let missing = missing(&names);
    needed
        .iter()
        .map(|(name, users)| {
            if missing.contains(name) {
                let help = "install it, or add its directory to PATH; a path with `/` is relative to the current directory";
                Finding::problem(format!("{name} is not found; needed by {}", few(users)), help)
            } else {
                Finding::fine(format!("{name}, for {}", few(users)))
            }
        })
        .collect()
}

/// Returns the programs of a command that do not depend on arguments.
fn programs_of(plan: &CommandPlan) -> Vec<String> {
    let no_arguments = Map::new();
    let first = match plan.argv.first() {
        Some(ArgvTemplate::One { text, .. }) if plan.script.is_empty() => {
            text.fill_text(&Scope::of(&no_arguments)).ok().flatten()
        }
        _ => None,
    };
    first.into_iter().chain(plan.programs.iter().map(ToString::to_string)).collect()
}

fn missing(names: &[&str]) -> Vec<String> {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return Vec::new();
    };
    let (executor, options, cancel) =
        (LocalExecutor::new(), ExecOptions::default(), CancellationToken::new());
    let result = runtime.block_on(preflight(&executor, names, &options, &cancel));
    result.map(|capabilities| capabilities.missing).unwrap_or_default()
}

/// Returns the MCP servers of documents and locks, each once.
fn servers(compiled: &Programs) -> Vec<&McpServer> {
    let declared =
        compiled.iter().flat_map(|(_, program)| program.all_servers()).map(|source| &source.server);
    let tools = compiled.iter().flat_map(|(_, program)| program.all_tools());
    let locked = tools.filter_map(|tool| match &tool.call {
        ExecutionPlan::Mcp(plan) => Some(&*plan.server),
        _ => None,
    });
    let mut servers: Vec<&McpServer> = Vec::new();
    for server in declared.chain(locked) {
        if !servers.iter().any(|other| other.alias == server.alias && other.transport == server.transport) {
            servers.push(server);
        }
    }
    servers
}

/// Checks the variables that programs and servers inherit, and the credentials of requests. `configured` are the
/// variables of security schemes that code names.
pub(super) fn variables(compiled: &Programs, configured: &[(String, String)]) -> Vec<Finding> {
    let mut needed = Needed::new();
    for server in servers(compiled) {
        let names: Vec<&str> = match &server.transport {
            McpTransport::Stdio { inherit, .. } => inherit.iter().map(|name| name.as_str()).collect(),
            McpTransport::Http { headers, bearer, .. } => {
                headers.iter().map(|(_, variable)| variable.as_str()).chain([bearer.as_str()]).collect()
            }
        };
        for name in names.into_iter().filter(|name| !name.is_empty()) {
            needed.entry(name.to_owned()).or_default().push(format!("the MCP server `{}`", server.alias));
        }
    }
    for (_, program) in compiled {
        for tool in program.all_tools() {
            if let ExecutionPlan::Command(plan) = &tool.call {
                for name in &*plan.inherit {
                    let by = format!("the tool `{}`", tool.spec.name.as_str());
                    needed.entry(name.to_string()).or_default().push(by);
                }
            }
        }
    }
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let describe = |(name, users): (&String, &Vec<String>)| match is_set(name) {
        true => Finding::fine(format!("{name} is set, for {}", few(users))),
        false => {
            Finding::problem(format!("{name} is not set, for {}", few(users)), format!("`export {name}=…`"))
        }
    };
    let unset = compiled.iter().flat_map(|(path, program)| unset_credentials(path, program, configured));
    needed.iter().map(describe).chain(unset).collect()
}

/// Returns a finding for each private host of a document, and for each credential that its tools lack.
fn unset_credentials(path: &Path, program: &Program, configured: &[(String, String)]) -> Vec<Finding> {
    let mut options = toolgen::Options::default();
    options.credentials.extend(configured.iter().cloned());
    let Ok(engine) = HttpEngine::builder().credentials(credentials(&options)).build() else {
        return Vec::new();
    };
    let tools: Vec<Tool> = program.all_tools().into_iter().map(|tool| tool.clone().into()).collect();
    let path = path.display();
    let blocked = engine.blocked_hosts(&tools).into_iter().map(|host| {
        let tools = count_tools(host.tools.len());
        Finding::note(format!("{path}: a private host, of {tools}"), host.remedy)
    });
    let missing = engine.missing_credentials(&tools).into_iter().map(|missing| {
        let join = |text: fn(&MissingCredential) -> String| {
            let alternatives = missing
                .alternatives
                .iter()
                .map(|schemes| schemes.iter().map(text).collect::<Vec<_>>().join(" with "));
            alternatives.collect::<Vec<_>>().join(", or ")
        };
        let tools = count_tools(missing.tools.len());
        let schemes = join(|credential| format!("`{}`", credential.scheme));
        Finding::problem(
            format!("{path}: no credential for {schemes}, of {tools}"),
            join(|credential| credential.remedy.clone()),
        )
    });
    blocked.chain(missing).collect()
}

/// Lists the first few names, and the number of the others.
fn few(names: &[String]) -> String {
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.dedup();
    match names.as_slice() {
        [first, second, third, others @ ..] if !others.is_empty() => {
            format!("{first}, {second}, {third} and {} more", others.len())
        }
        names => names.join(", "),
    }
}
