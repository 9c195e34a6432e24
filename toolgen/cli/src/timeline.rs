//! `timeline`: shows an audit log as a page in a browser.

mod data;
mod page;
mod queue;
mod server;

use std::io;
use std::path::Path;

use serde_json::Value;
use tokio::net::TcpListener;
use toolgen::write::write_if_changed;
use toolgen_runtime::toolbox::one_shot;

use super::Outcome;
use super::args::Timeline;
use super::output::Output;
use super::output_file::is_stdout;
use super::store_location::StoreLocation;
use data::Log;
use queue::Queue;
use server::Server;

/// Serves the page until interrupted, or writes it to a file. Returns `Problems` if the log cannot be read, or the page
/// cannot be written or served.
pub(super) fn run(task: &Timeline, output: &mut Output) -> io::Result<Outcome> {
    Ok(match serve_timeline(task, output) {
        Ok(()) => Outcome::Fine,
        Err(message) => {
            output.error(&message);
            Outcome::Problems
        }
    })
}

fn serve_timeline(task: &Timeline, output: &mut Output) -> Result<(), String> {
    let location = StoreLocation::of(&task.log.audit)?;
    let approvals_location = task.approvals.as_deref().map(StoreLocation::of).transpose()?;
    let log = Log::open(&location, &task.documents)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let queue = runtime.block_on(Queue::open(approvals_location.as_ref(), &location))?;
    let result = match &task.out {
        Some(out) => write(log, runtime.block_on(queue.changed(""))?, (out, task.force), output),
        None => runtime.block_on(serve((log, location), queue, &task.listen, output)),
    };
    // Do not wait for a running database query.
    runtime.shutdown_background();
    result
}

fn write(
    mut log: Log,
    approvals: Value,
    (out, force): (&Path, bool),
    output: &mut Output,
) -> Result<(), String> {
    if is_stdout(out) {
        return output.write(&page::embedded(&mut log, approvals)?).map_err(|error| error.to_string());
    }
    if out.exists() && !force {
        return Err(format!("{} exists; `--force` overwrites it", out.display()));
    }
    let page = page::embedded(&mut log, approvals)?;
    write_if_changed(out, &page).map_err(|error| error.to_string())?;
    output.note(&format!("{} shows {} calls", out.display(), log.len()));
    Ok(())
}

async fn serve(
    log: (Log, StoreLocation),
    queue: Queue,
    address: &str,
    output: &mut Output,
) -> Result<(), String> {
    let listener = TcpListener::bind(address)
        .await
        .map_err(|error| format!("cannot listen at {address}: {error}; write it as 127.0.0.1:8080"))?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    if !address.ip().is_loopback() {
        return Err(format!(
            "{address} can be reached from other machines, and the log is for this machine only: listen at 127.0.0.1"
        ));
    }
    let server = Server::new(log, queue, address)?;
    output.note(&format!("the timeline is at {}", server.url()));
    output.note("anyone with this address can read the log; press Ctrl-C to stop");
    tokio::select! {
        served = server.listen(listener) => served.map_err(|error| error.to_string()),
        () = one_shot::interrupted() => Ok(()),
    }
}
