//! Audit logs and approval queues in SQLite databases.

use std::path::Path;

use toolgen_runtime::layers::approval::Approvals;
use toolgen_runtime::layers::audit::Auditor;
use toolgen_runtime::store::SqliteStore;
use toolgen_runtime::store::audit::SqliteSink;

/// Opens an auditor. Calls that a killed program was running are recorded with an unknown outcome.
pub(super) fn auditor(path: &Path) -> Result<Auditor, String> {
    let auditor = SqliteSink::open(path).and_then(|mut sink| {
        sink.recover()?;
        Auditor::builder(sink).start()
    });
    auditor.map_err(|error| error.to_string())
}

/// Opens the queue in a database; `None` if it has none.
pub(super) fn queue(path: &Path, for_decisions: bool) -> Result<Option<Approvals>, String> {
    let store =
        if for_decisions { SqliteStore::open_existing(path) } else { SqliteStore::open_read_only(path) };
    let store = store.map_err(|error| format!("{error}; pass the database that your program writes"))?;
    Ok(store.map(Approvals::on))
}
