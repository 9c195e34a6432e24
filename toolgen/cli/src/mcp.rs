//! `mcp lock` and `mcp verify`: write locks of MCP servers, and compare servers with them.

mod package;

use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Duration;

use serde_json::{Value, json};
use toolgen::{Document, McpSource, Options, Problems, Severity};
use toolgen_runtime::engine::mcp::{McpClient, McpOptions};
use toolgen_runtime::spec::drift::Change;
use toolgen_runtime::spec::drift::report::{counted, visible};
use toolgen_runtime::spec::mcp::drift::drift;
use toolgen_runtime::spec::mcp::lint::{shadows, suspicions};
use toolgen_runtime::spec::mcp::{self, Lock, is_alias};
use toolgen_runtime::spec::plan::{McpServer, McpTransport};
use toolgen_runtime::{List, Text, ToolError};

use super::Outcome;
use super::args::{ListingOptions, LockServers, Mcp, McpTask, Server, ServerTransport, Verify};
use super::engines::mcp_options;
use super::output::Output;

/// Delay before the command prints which server it waits for. Not printed if the timeout is less than twice that.
const QUIET: Duration = Duration::from_secs(3);

/// Runs the command. Returns `Problems` if a server could not be reached, or differs from its lock.
pub(super) fn run(task: &Mcp, output: &mut Output) -> io::Result<Outcome> {
    match &task.task {
        McpTask::Lock(task) => lock(task, output),
        McpTask::Verify(task) => verify(task, output),
    }
}

/// A server to list, with its existing lock.
struct Target {
    server: McpServer,
    path: PathBuf,
    locked: Option<Lock>,
}

/// The result for one server.
struct Report {
    path: PathBuf,
    alias: String,
    /// The new lock.
    current: Lock,
    /// Changes since the existing lock. `None` if there was none.
    changes: Option<Vec<Change>>,
    /// Suspicious descriptions: tool, JSON pointer, and finding.
    suspicious: Vec<(String, String, String)>,
}

fn lock(task: &LockServers, output: &mut Output) -> io::Result<Outcome> {
    let (mut targets, complete) = targets(&task.documents, true, output);
    if let Some(server_argument) = &task.server {
        if !is_alias(&server_argument.alias) {
            let rule = "use `a` to `z`, digits and `-`, at most 32, and start with a letter";
            output.error(&format!("`{}` is not a valid alias of a server; {rule}", server_argument.alias));
            return Ok(Outcome::Usage);
        }
        let server = server_of(server_argument);
        if let McpTransport::Stdio { inherit, .. } = &server.transport {
            for variable in inherit.iter().filter(|variable| std::env::var_os(variable.as_str()).is_none()) {
                output.note(&format!("{variable} is not set, so the server starts without it"));
            }
        }
        targets.push(Target {
            server,
            path: server_argument.out.clone(),
            locked: read(&server_argument.out),
        });
    }
    for target in &mut targets {
        if !task.capabilities.is_empty() {
            target.server.capabilities = task.capabilities.iter().map(|name| Text::copy_of(name)).collect();
        }
    }
    let (mut reports, all_listed) = list_all(&targets, &task.listing, output);
    let mut success = complete && all_listed;
    reports.retain_mut(|report| {
        if let Some(scope) = &task.scope {
            report.current.auth.clone_from(scope);
        }
        if let Err(error) = write(report) {
            output.error(&format!("{} cannot be written: {error}", report.path.display()));
            success = false;
            return false;
        }
        if let Some(package) = report.current.package.as_ref().filter(|package| package.version.is_empty()) {
            let (alias, name) = (&report.alias, &package.name);
            output.note(&format!(
                "the command of `{alias}` starts any version of `{name}`; pin one, as in `{name}{}`",
                if package.registry == "npm" { "@1.2.3" } else { "==1.2.3" }
            ));
        }
        true
    });
    show(&reports, "locked", task.format.json, output)?;
    Ok(if success { Outcome::Fine } else { Outcome::Problems })
}

/// Writes a lock, and creates its directory.
fn write(report: &Report) -> io::Result<()> {
    if let Some(dir) = report.path.parent() {
        std::fs::create_dir_all(dir)?;
    }
    std::fs::write(&report.path, report.current.text())
}

fn verify(task: &Verify, output: &mut Output) -> io::Result<Outcome> {
    let (targets, complete) = targets(&task.documents, false, output);
    let mut success = complete;
    for target in targets.iter().filter(|target| target.locked.is_none()) {
        let (alias, path) = (&target.server.alias, target.path.display());
        output.error(&format!("the lock of `{alias}`, {path}, is missing or cannot be read; write it with `cargo toolgen mcp lock`"));
        success = false;
    }
    let (locked, _): (Vec<_>, Vec<_>) = targets.into_iter().partition(|target| target.locked.is_some());
    let (reports, all_listed) = list_all(&locked, &task.listing, output);
    let is_unchanged = reports.iter().all(|report| report.changes.as_ref().is_some_and(Vec::is_empty));
    show(&reports, "verified", task.format.json, output)?;
    Ok(if success && all_listed && is_unchanged { Outcome::Fine } else { Outcome::Problems })
}

/// Returns the servers of documents, and whether all documents could be read. Other errors of a document are left to
/// `check`: a missing lock is not an error here, and neither is an edited lock that will be rewritten.
fn targets(documents: &[PathBuf], rewrite: bool, output: &mut Output) -> (Vec<Target>, bool) {
    let mut targets = Vec::new();
    let mut complete = true;
    for path in documents {
        let mut problems = Problems::new();
        let document = Document::load(path, &mut problems);
        let program = document
            .as_ref()
            .and_then(|document| toolgen::compile(document, &Options::default(), &mut problems));
        let servers: Vec<McpSource> =
            program.iter().flat_map(|program| program.all_servers()).cloned().collect();
        let edited = document.filter(|_| rewrite && program.is_none());
        if let Some(server) = edited.and_then(|document| Lock::read_server(&document.root)) {
            let path = path.display();
            output.note(&format!("{path} was edited, so the changes are unknown; review the whole new lock"));
            targets.push(Target { server, path: path.to_string().into(), locked: None });
            continue;
        }
        if servers.is_empty() {
            output.problems(&problems, |problem| problem.severity() == Severity::Error);
            if !problems.has_errors() {
                output.error(&format!("{} names no MCP server", path.display()));
            }
            complete = false;
        }
        for McpSource { mut server, lock } in servers {
            let locked = read(&lock);
            if let Some(locked) = &locked {
                server.capabilities = locked.server.capabilities.clone();
            }
            targets.push(Target { server, path: lock, locked });
        }
    }
    (targets, complete)
}

/// Parses a file as a lock. `None` if it is not a lock.
fn read(path: &Path) -> Option<Lock> {
    Lock::read(&Document::load(path, &mut Problems::new())?.root).ok()
}

fn server_of(argument: &Server) -> McpServer {
    let text_list = |texts: &[String]| texts.iter().map(|text| Text::copy_of(text)).collect();
    let transport = match &argument.transport {
        ServerTransport::Program { argv, inherit, work_dir } => McpTransport::Stdio {
            argv: text_list(argv),
            env: List::EMPTY,
            inherit: text_list(inherit),
            work_dir: Text::copy_of(work_dir),
        },
        ServerTransport::Url { url, headers, bearer } => McpTransport::Http {
            url: Text::copy_of(url),
            headers: headers
                .iter()
                .map(|(name, variable)| (Text::copy_of(name), Text::copy_of(variable)))
                .collect(),
            bearer: Text::copy_of(bearer),
        },
    };
    McpServer { alias: Text::copy_of(&argument.alias), transport, ..McpServer::EMPTY }
}

/// Lists the tools of all servers, and reports those that fail.
fn list_all(targets: &[Target], settings: &ListingOptions, output: &mut Output) -> (Vec<Report>, bool) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(reason) => {
            output.error(&reason.to_string());
            return (Vec::new(), false);
        }
    };
    let limit = Duration::from_secs(settings.timeout);
    let options = mcp_options(settings.hosts.all()).connect_timeout(limit);
    let mut listings = Vec::new();
    for target in targets {
        output.progress(&format!("listing the tools of {}", target.server.alias));
        let listing = runtime.block_on(async {
            let mut listing = pin!(list_tools(&target.server, &options));
            if let Ok(listing) = tokio::time::timeout(QUIET.min(limit / 2), &mut listing).await {
                return listing;
            }
            output.note(&waiting_message(&target.server, settings.timeout));
            listing.await
        });
        match listing {
            Ok(Listing { lock, rejected, remarks }) => {
                for remark in remarks {
                    output.note(&format!("{}: {}", target.server.alias, visible(&remark)));
                }
                for mcp::RejectedDescriptor { tool, message, help, .. } in rejected {
                    let alias = &target.server.alias;
                    let tool = match &*visible(&tool) {
                        "" => "an unnamed tool".to_owned(),
                        name => format!("the tool `{name}`"),
                    };
                    output.note(&format!("skipped {tool} of `{alias}`: {message}; {help}"));
                }
                listings.push((target, lock));
            }
            Err(error) => {
                let text = error.operator_text();
                output.error(text.strip_prefix("Error: ").unwrap_or(&text));
            }
        }
    }
    let all_listed = listings.len() == targets.len();
    let names: Vec<(&str, Vec<String>)> =
        listings.iter().map(|(target, lock)| (target.server.alias.as_str(), names_of(lock))).collect();
    let reports = listings.iter().map(|(target, current)| {
        let others: Vec<String> = names
            .iter()
            .filter(|(alias, _)| *alias != target.server.alias.as_str())
            .flat_map(|(_, names)| names.clone())
            .collect();
        report(target, current, &others)
    });
    (reports.collect(), all_listed)
}

/// Returns the message for a slow server.
fn waiting_message(server: &McpServer, timeout: u64) -> String {
    let endpoint = match &server.transport {
        McpTransport::Stdio { argv, .. } => argv.iter().map(Text::as_str).collect::<Vec<_>>().join(" "),
        McpTransport::Http { url, .. } => url.to_string(),
    };
    let (alias, endpoint) = (&server.alias, visible(&endpoint));
    format!(
        "still waiting for `{alias}` ({endpoint}): it has {timeout} s to start, and the same to list its tools; \
         `--timeout SECONDS` sets another limit"
    )
}

/// The listing of a server.
struct Listing {
    /// The new lock.
    lock: Lock,
    /// The tools that are not in the lock, because they could never be called.
    rejected: Vec<mcp::RejectedDescriptor>,
    /// Remarks about the list.
    remarks: Vec<String>,
}

/// Lists the tools of a server.
async fn list_tools(server: &McpServer, options: &McpOptions) -> Result<Listing, ToolError> {
    let client = McpClient::connect(server.clone(), options.clone()).await?;
    let tools = client.list_tools().await;
    let (rejected, remarks) = (client.rejected_tools().await, client.list_warnings().await);
    let revision = client.protocol_version().unwrap_or_default();
    let info = mcp::about(&client.server_info().unwrap_or_default());
    client.close().await;
    let (package, auth) = match &server.transport {
        McpTransport::Stdio { argv, .. } => {
            let argv: Vec<&str> = argv.iter().map(Text::as_str).collect();
            (package::detect(&argv), "none")
        }
        McpTransport::Http { bearer, .. } if !bearer.is_empty() => (None, "bearer"),
        McpTransport::Http { headers, .. } if !headers.is_empty() => (None, "headers"),
        McpTransport::Http { .. } => (None, "none"),
    };
    let server = McpServer { revision: revision.into(), ..server.clone() };
    let mut tools = tools?;
    let mut is_valid = mcp::tools(&server.clone().into(), &tools, true).into_iter().map(|tool| tool.is_ok());
    tools.retain(|_| is_valid.next().unwrap_or_default());
    let lock = Lock { server, package, info, auth: auth.to_owned(), tools };
    Ok(Listing { lock, rejected: rejected?, remarks: remarks? })
}

/// Returns the names of the tools of a lock: those of the server, and those for a model.
fn names_of(lock: &Lock) -> Vec<String> {
    let raw: Vec<&str> =
        lock.tools.iter().map(|tool| tool.get("name").and_then(Value::as_str).unwrap_or_default()).collect();
    let exposed = mcp::names(&lock.server.alias, &raw).into_iter().flatten().map(|name| name.to_string());
    raw.iter().map(|name| (*name).to_owned()).chain(exposed).collect()
}

fn report(target: &Target, current: &Lock, others: &[String]) -> Report {
    let mut current = current.clone();
    if let Some(locked) = &target.locked {
        current.auth.clone_from(&locked.auth);
    }
    let changes = target.locked.as_ref().map(|locked| drift(&locked.tools, &current.tools, others));
    let mut suspicious = Vec::new();
    for tool in &current.tools {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        let findings = suspicions(tool, &[]).into_iter().chain(shadows(tool, others));
        suspicious.extend(findings.map(|finding| (name.to_owned(), finding.pointer, finding.message)));
    }
    let alias = target.server.alias.to_string();
    Report { path: target.path.clone(), alias, current, changes, suspicious }
}

fn show(reports: &[Report], verb: &str, json: bool, output: &mut Output) -> io::Result<()> {
    if json {
        let all: Vec<Value> = reports.iter().map(report_json).collect();
        output.json(&json!({ "servers": all }))?;
        return output.line("");
    }
    for report in reports {
        let Report { path, alias, current, changes, suspicious } = report;
        let (path, count, revision) = (path.display(), current.tools.len(), &current.server.revision);
        let plural = if count == 1 { "" } else { "s" };
        let changed = match changes.as_deref() {
            None => String::new(),
            Some([]) => ", as locked".to_owned(),
            Some(changes) => format!(", {}", counted(changes)),
        };
        output.line(&format!("{path}: {verb} {count} tool{plural} of `{alias}` ({revision}){changed}"))?;
        for change in changes.iter().flatten() {
            output.line(&format!("  {}", visible(&change.to_string())))?;
        }
        for (tool, pointer, message) in suspicious {
            output.line(&format!(
                "  review `{}`{}: the text {}",
                visible(tool),
                visible(pointer),
                visible(message)
            ))?;
        }
    }
    Ok(())
}

fn report_json(report: &Report) -> Value {
    let Report { path, alias, current, changes, suspicious } = report;
    let change = |change: &Change| {
        let Change { tool, pointer, class, message, reason: cause, .. } = change;
        json!({"tool": tool, "pointer": pointer, "class": class.name(), "message": message, "why": cause})
    };
    json!({
        "path": path.display().to_string(),
        "alias": alias,
        "revision": current.server.revision.as_str(),
        "tools": current.tools.len(),
        "changes": changes.as_ref().map(|changes| changes.iter().map(change).collect::<Vec<_>>()),
        "suspicious": suspicious
            .iter()
            .map(|(tool, pointer, message)| json!({"tool": tool, "pointer": pointer, "message": message}))
            .collect::<Vec<_>>(),
    })
}
