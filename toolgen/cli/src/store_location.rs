//! Locations of audit logs and approval queues: files, PostgreSQL and Redis URLs.

#[cfg_attr(not(feature = "postgres"), path = "store_location/without_postgres.rs")]
mod postgres;
#[cfg_attr(not(feature = "redis"), path = "store_location/without_redis.rs")]
mod redis;
#[cfg_attr(not(feature = "sqlite"), path = "store_location/without_sqlite.rs")]
mod sqlite;

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};

use toolgen_runtime::layers::approval::Approvals;
use toolgen_runtime::layers::audit::{AuditReader, Auditor, JsonLinesSink};
use toolgen_runtime::store::audit;

/// A file or a database URL from the command line. `Display` omits passwords.
#[derive(Clone, Debug)]
pub(super) enum StoreLocation {
    File(PathBuf),
    Postgres(String),
    Redis { url: String, namespace: String },
}

/// The prefix of an argument that names an environment variable, so that the password is not visible in the list of
/// processes.
const VARIABLE: &str = "env:";

impl StoreLocation {
    /// Parses an argument: a path, a URL, or `env:NAME` for the value of a variable.
    pub(super) fn of(argument: &Path) -> Result<StoreLocation, String> {
        let Some(text) = argument.to_str() else { return Ok(StoreLocation::File(argument.to_owned())) };
        let Some(name) = text.strip_prefix(VARIABLE) else { return StoreLocation::of_text(text) };
        match env::var(name).ok().filter(|value| !value.trim().is_empty()) {
            Some(value) => StoreLocation::of_text(value.trim()),
            None => Err(format!("{text}: the variable {name} is not set; set it to a path or a URL")),
        }
    }

    fn of_text(text: &str) -> Result<StoreLocation, String> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return Ok(StoreLocation::File(PathBuf::from(text)));
        };
        // URL schemes are case-insensitive.
        let scheme = scheme.to_ascii_lowercase();
        let url = format!("{scheme}://{rest}");
        match scheme.as_str() {
            "postgres" | "postgresql" => Ok(StoreLocation::Postgres(url)),
            "redis" | "rediss" | "valkey" | "valkeys" => match url.split_once('#') {
                Some((url, namespace)) if !namespace.is_empty() => {
                    Ok(StoreLocation::Redis { url: url.to_owned(), namespace: namespace.to_owned() })
                }
                _ => Err(format!(
                    "{}: it lacks the namespace of the deployment; append it after `#`, as in \
                     redis://127.0.0.1:6379/0#shop-production",
                    without_password(&url)
                )),
            },
            // As a path, it would be printed with its password.
            _ if rest.contains(['@', '?']) => Err(format!(
                "{scheme}://…: records and approvals cannot be stored there; pass a file, or a URL that begins with \
                 postgres:// or redis://"
            )),
            // A path may contain any character.
            _ => Ok(StoreLocation::File(PathBuf::from(text))),
        }
    }

    /// Opens the audit log at this location.
    pub(super) fn reader(&self) -> Result<AuditReader, String> {
        match self {
            StoreLocation::File(path) => audit::open(path).map_err(|error| error.to_string()),
            StoreLocation::Postgres(url) => postgres::reader(url),
            StoreLocation::Redis { .. } => Err(self.no_records()),
        }
    }

    /// Opens an auditor that appends here: to an SQLite database if the file extension is one of SQLite, otherwise JSON
    /// Lines.
    pub(super) fn auditor(&self) -> Result<Auditor, String> {
        if let StoreLocation::File(path) = self
            && let Some(dir) = path.parent()
        {
            std::fs::create_dir_all(dir).map_err(|error| format!("{self} cannot be written: {error}"))?;
        }
        let auditor = match self {
            StoreLocation::File(path) if is_database(path) => sqlite::auditor(path),
            StoreLocation::File(path) => JsonLinesSink::open(path)
                .and_then(|sink| Auditor::builder(sink).start())
                .map_err(|error| error.to_string()),
            StoreLocation::Postgres(url) => postgres::auditor(url),
            StoreLocation::Redis { .. } => return Err(self.no_records()),
        };
        auditor.map_err(|error| format!("{self} cannot be written: {error}"))
    }

    /// Opens the approval queue at this location: for decisions, or only for reading. `None` if there is no queue.
    pub(super) async fn queue(&self, for_decisions: bool) -> Result<Option<Approvals>, String> {
        match self {
            StoreLocation::File(path) => sqlite::queue(path, for_decisions)
                .map_err(|error| format!("{self}: the database cannot be opened: {error}")),
            StoreLocation::Postgres(url) => postgres::queue(url).await,
            StoreLocation::Redis { url, namespace } => redis::queue(url, namespace).await.map(Some),
        }
    }

    fn no_records(&self) -> String {
        format!("{self}: records of calls are not kept in Redis")
    }
}

/// Whether a file has an extension of SQLite databases.
fn is_database(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| ["sqlite", "sqlite3", "db"].iter().any(|known| extension == *known))
}

/// Returns a URL without its user, password and options.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let location = rest.rsplit_once('@').map_or(rest, |(_, location)| location);
    let location = location.split(['?', '#']).next().unwrap_or_default();
    format!("{scheme}://{location}")
}

impl fmt::Display for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreLocation::File(path) => write!(f, "{}", path.display()),
            StoreLocation::Postgres(url) => f.write_str(&without_password(url)),
            StoreLocation::Redis { url, namespace } => write!(f, "{}#{namespace}", without_password(url)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_are_recognized_and_shown_without_password() {
        for (argument, displayed) in [
            ("calls.jsonl", "calls.jsonl"),
            ("postgres://me:s3cret@db:5432/audit?sslmode=disable", "postgres://db:5432/audit"),
            ("postgres://me:s3c@ret?#@db/audit", "postgres://db/audit"),
            ("rediss://:s3cret@cache:6379/2#shop", "rediss://cache:6379/2#shop"),
            ("POSTGRES://me:s3cret@db/audit", "postgres://db/audit"),
            ("RedisS://:s3cret@cache#shop", "rediss://cache#shop"),
            ("Odd://file", "Odd://file"),
            ("me@home.jsonl", "me@home.jsonl"),
        ] {
            let location = StoreLocation::of(Path::new(argument))
                .unwrap_or_else(|reason| panic!("{argument}: {reason}"));
            assert_eq!(location.to_string(), displayed, "{argument}");
            assert_eq!(
                matches!(location, StoreLocation::File(_)),
                !displayed.contains("//") || displayed.starts_with("Odd")
            );
        }
    }

    #[test]
    fn missing_parts_are_reported_without_password() {
        for (argument, text) in [
            ("redis://:s3cret@cache:6379/2", "redis://cache:6379/2: it lacks the namespace"),
            ("redis://:s3cret@cache#", "it lacks the namespace"),
            ("REDIS://:s3cret@cache", "redis://cache: it lacks the namespace"),
            (
                "mysql://me:s3cret@db/audit",
                "mysql://…: records and approvals cannot be stored there; pass a file",
            ),
            ("Postgres+tls://db/audit?password=s3cret", "postgres+tls://…: records"),
            ("env:TOOLGEN_NOBODY_SETS_THIS", "the variable TOOLGEN_NOBODY_SETS_THIS is not set"),
        ] {
            let reason = StoreLocation::of(Path::new(argument)).unwrap_err();
            assert!(reason.contains(text) && !reason.contains("s3cret"), "{reason}");
        }
    }
}
