//! Audit logs in databases: the sinks that write them, and the readers of log files and of servers.

#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use toolgen_record::audit::{AuditError, AuditReader};

#[cfg(feature = "postgres")]
pub use postgres::{PostgresSink, PostgresSinkBuilder, connect};
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteSink, rusqlite};

/// The first bytes of each SQLite database (<https://www.sqlite.org/fileformat.html>, section 1.3).
const SQLITE_HEADER: &[u8; 16] = b"SQLite format 3\0";

/// Opens the log in the file at `path`. Its first bytes determine the format: an SQLite database (with the feature
/// `sqlite`) or JSON Lines. Nothing is written.
///
/// # Errors
///
/// Returns an error if the file cannot be opened, or is a database without audit records.
pub fn open(path: impl AsRef<Path>) -> Result<AuditReader, AuditError> {
    let path = path.as_ref();
    let with_path = |error: AuditError| AuditError::new(format!("{}: {error}", path.display()));
    let mut header = Vec::new();
    let file = File::open(path).map_err(|error| with_path(error.into()))?;
    file.take(16).read_to_end(&mut header).map_err(|error| with_path(error.into()))?;
    if header == SQLITE_HEADER { open_database(path).map_err(with_path) } else { AuditReader::open(path) }
}

#[cfg(feature = "sqlite")]
fn open_database(path: &Path) -> Result<AuditReader, AuditError> {
    sqlite::Log::open(path).map(AuditReader::of)
}

#[cfg(not(feature = "sqlite"))]
fn open_database(_: &Path) -> Result<AuditReader, AuditError> {
    Err(AuditError::new("an SQLite database can be read only with the feature `sqlite`"))
}
