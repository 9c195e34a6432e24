//! Audit logs and approval queues in PostgreSQL.

use toolgen_runtime::layers::approval::Approvals;
use toolgen_runtime::layers::audit::{AuditReader, Auditor};
use toolgen_runtime::store::PostgresStore;
use toolgen_runtime::store::audit::{self, PostgresSink};

pub(super) fn reader(url: &str) -> Result<AuditReader, String> {
    audit::connect(url).map_err(|error| error.to_string())
}

/// Opens an auditor. Calls that a killed program was running are recorded with an unknown outcome.
pub(super) fn auditor(url: &str) -> Result<Auditor, String> {
    let auditor = PostgresSink::builder(url).open().and_then(|mut sink| {
        sink.recover()?;
        Auditor::builder(sink).start()
    });
    auditor.map_err(|error| error.to_string())
}

/// Opens the queue in a database; `None` if it has none.
pub(super) async fn queue(url: &str) -> Result<Option<Approvals>, String> {
    let store = PostgresStore::connect_existing(url).await.map_err(|error| error.to_string())?;
    Ok(store.map(Approvals::on))
}
