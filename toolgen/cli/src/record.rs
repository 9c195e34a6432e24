//! `record`: extracts a run from an audit log, as a file that a test replays.

use std::io;

use toolgen::write::write_if_changed;
use toolgen_runtime::testing::replay::{RecordedRun, RunSelection};

use super::Outcome;
use super::args::Record;
use super::output::Output;
use super::output_file::is_stdout;
use super::store_location::StoreLocation;

/// Writes or prints the run. Returns `Problems` if the log does not contain it, or if the file cannot be written.
pub(super) fn run(task: &Record, output: &mut Output) -> io::Result<Outcome> {
    match select_run(task) {
        Ok(run) => {
            let Some(out) = task.out.as_ref().filter(|out| !is_stdout(out)) else {
                output.write(&run.text())?;
                return Ok(Outcome::Fine);
            };
            if let Err(error) = write_if_changed(out, &run.text()) {
                output.error(&error.to_string());
                return Ok(Outcome::Problems);
            }
            let calls = run.calls().len();
            output.note(&format!("{} has {calls} calls: review it before you commit it", out.display()));
            Ok(Outcome::Fine)
        }
        Err(error) => {
            output.error(&error);
            Ok(Outcome::Problems)
        }
    }
}

fn select_run(task: &Record) -> Result<RecordedRun, String> {
    if let Some(out) = task.out.as_ref().filter(|out| !is_stdout(out) && out.exists() && !task.force) {
        return Err(format!("{} exists; `--force` overwrites it", out.display()));
    }
    let mut selection = RunSelection::new();
    if let Some(run) = &task.run {
        selection = selection.run(run);
    }
    if let Some(session) = &task.session {
        selection = selection.session(session);
    }
    if let Some(agent) = &task.agent {
        selection = selection.agent(agent);
    }
    if let Some(principal) = &task.principal {
        selection = selection.principal(principal);
    }
    let mut reader = StoreLocation::of(&task.log.audit)?.reader()?;
    RecordedRun::from_reader(&mut reader, &selection).map_err(|error| error.to_string())
}
