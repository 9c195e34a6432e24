//! `timeline`: shows what an audit log says, as a page in a browser.

mod data;
mod page;
mod queue;
mod server;

use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use tokio::net::TcpListener;
use toolgen_runtime::provider::one_shot;

use super::Outcome;
use super::args::Timeline;
use super::output::Output;
use data::Log;
use queue::Queue;
use server::Server;

/// Serves the page until it is interrupted, or writes it to a file. "Problems found" means that the log cannot be read,
/// or the page not written or served.
pub(super) fn run(task: &Timeline, output: &mut Output) -> io::Result<Outcome> {
    let done = Log::open(&task.audit, &task.documents).and_then(|log| {
        let queue = Queue::open(task.approvals.as_deref(), &task.audit)?;
        match &task.out {
            Some(out) => write(log, &queue, (out, task.force), output),
            None => serve(log, queue, &task.listen, output),
        }
    });
    Ok(match done {
        Ok(()) => Outcome::Fine,
        Err(message) => {
            output.complain(&message);
            Outcome::Problems
        }
    })
}

fn write(
    mut log: Log,
    queue: &Queue,
    (out, force): (&Path, bool),
    output: &mut Output,
) -> Result<(), String> {
    if out.exists() && !force {
        return Err(format!("{} is there already; `--force` replaces it", out.display()));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let approvals = runtime.map_err(|why| why.to_string())?.block_on(queue.changed(""))?;
    let page = page::embedded(&mut log, approvals)?;
    fs::write(out, page).map_err(|why| format!("{} cannot be written: {why}", out.display()))?;
    output.note(&format!("{} shows {} calls", out.display(), log.len()));
    Ok(())
}

fn serve(log: Log, queue: Queue, address: &str, output: &mut Output) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|why| why.to_string())?;
    runtime.block_on(async {
        let listener = TcpListener::bind(address)
            .await
            .map_err(|why| format!("cannot listen at {address}: {why}; write it as 127.0.0.1:8080"))?;
        let address = listener.local_addr().map_err(|why| why.to_string())?;
        if !address.ip().is_loopback() {
            return Err(format!(
                "{address} can be reached from other machines, and the log is for nobody else: listen at 127.0.0.1"
            ));
        }
        let server = Server::new(Arc::new(Mutex::new(log)), Arc::new(queue), address)?;
        output.note(&format!("the timeline is at {}", server.url()));
        output.note("whoever has this address can read the log; Ctrl-C ends it");
        tokio::select! {
            served = server.listen(listener) => served.map_err(|why| why.to_string()),
            () = one_shot::interrupted() => Ok(()),
        }
    })
}
