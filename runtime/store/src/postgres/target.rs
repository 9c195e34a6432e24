//! Parses the URL of a database, and connects to it.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::{Client, Config, NoTls};

use super::tls::Tls;

/// The default timeout for connecting, unless the URL sets one.
const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A database. The password is only in `config`, which is never printed.
#[derive(Clone)]
pub(crate) struct Target {
    config: Config,
    tls: Option<Tls>,
    /// The URL without the password and the options.
    pub(crate) redacted_url: String,
}

/// The expected form of a URL, for errors. An error never contains the URL itself, because a password may be anywhere
/// in it.
const FORM: &str = "write it as postgres://user:password@host:5432/database, with `%40` for `@` and `%2F` for `/` in a \
                    password";

impl Target {
    /// Parses a URL as PostgreSQL's own programs do, except for `sslmode`: modes that encrypt without full verification
    /// are also verified, and modes that may fall back to plain text are rejected.
    pub(crate) fn parse(url: &str) -> Result<Target, String> {
        let scheme = ["postgres://", "postgresql://"].into_iter().find(|scheme| url.starts_with(scheme));
        if scheme.is_none() {
            return Err(format!("this is not the URL of a PostgreSQL database: {FORM}"));
        }
        // The options start at the last question mark: a password may contain another one.
        let (location, options) = url.rsplit_once('?').unwrap_or((url, ""));
        let (mut mode, mut root_file, mut other_options) = (None, None, Vec::new());
        for option in options.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let value = || percent_decode_str(value).decode_utf8_lossy().into_owned();
            match name {
                "sslmode" => mode = Some(value()),
                "sslrootcert" => root_file = Some(value()).filter(|file| file != "system").map(PathBuf::from),
                _ => other_options.push(option),
            }
        }
        let remaining_url = if other_options.is_empty() {
            location.to_owned()
        } else {
            format!("{location}?{}", other_options.join("&"))
        };
        let mut config: Config = remaining_url.parse().map_err(|_| {
            format!(
                "the URL of the PostgreSQL database cannot be read: {FORM}; after `?` are options of its own programs, \
                 such as `sslmode`, `sslrootcert`, `connect_timeout` and `options`"
            )
        })?;
        let is_named = |host: &Host| *host != Host::Tcp(String::new());
        if config.get_hostaddrs().is_empty() && !config.get_hosts().iter().any(is_named) {
            return Err(format!("the URL of the PostgreSQL database has no host: {FORM}"));
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(DEFAULT_CONNECT_TIMEOUT);
        }
        if config.get_application_name().is_none() {
            config.application_name("toolgen");
        }
        let is_encrypted = match mode.as_deref() {
            None => !is_local(&config),
            Some("verify-full" | "verify-ca" | "require") => true,
            Some("disable") => false,
            Some("prefer" | "allow") => {
                return Err(String::from(
                    "`sslmode`: `prefer` and `allow` may send everything in plain text without notice; write \
                     `verify-full`, or `disable` for plain text",
                ));
            }
            Some(_) => {
                return Err(String::from(
                    "unknown `sslmode`; use `verify-full` (`require` and `verify-ca` mean the same) or `disable`",
                ));
            }
        };
        config.ssl_mode(if is_encrypted { SslMode::Require } else { SslMode::Disable });
        let tls = if is_encrypted { Some(Tls::new(root_file.as_deref())?) } else { None };
        let redacted_url = redact_url(&config);
        Ok(Target { config, tls, redacted_url })
    }

    /// Requires a writable server, which matters if the URL names several servers.
    pub(crate) fn writable(mut self) -> Target {
        self.config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        self
    }

    /// Connects. The returned client works as long as the current runtime.
    pub(crate) async fn connect(&self) -> Result<Client, tokio_postgres::Error> {
        // The connection task runs until the client is dropped, and the client receives its errors.
        Ok(match &self.tls {
            Some(tls) => {
                let (client, connection) = self.config.connect(tls.clone()).await?;
                tokio::spawn(connection);
                client
            }
            None => {
                let (client, connection) = self.config.connect(NoTls).await?;
                tokio::spawn(connection);
                client
            }
        })
    }

    /// Returns the text of an error, with the URL of the database.
    pub(crate) fn error(&self, reason: &tokio_postgres::Error) -> String {
        format!("{}: {}", self.redacted_url, error_text(reason))
    }
}

/// Returns the class of an error, the first two characters of its code. Returns `None` if the error is not from the
/// server.
pub(crate) fn class(error: &tokio_postgres::Error) -> Option<&str> {
    error.code().and_then(|code| code.code().get(..2))
}

/// Whether a connection is unusable after an error: it is broken, or its server is stopping or a standby.
pub(crate) fn breaks_connection(error: &tokio_postgres::Error) -> bool {
    class(error).is_none_or(|class| ["08", "25", "57"].contains(&class))
}

/// Whether an error is likely to be temporary: a connection, a conflict, or a server that stops, starts, or is a
/// standby.
pub(crate) fn is_temporary(error: &tokio_postgres::Error) -> bool {
    class(error).is_none_or(|class| ["08", "25", "40", "53", "55", "57", "58"].contains(&class))
}

/// Returns the text of an error with its causes. Server errors include only their message and code, because their
/// details repeat the data.
pub(crate) fn error_text(reason: &tokio_postgres::Error) -> String {
    if let Some(db_error) = reason.as_db_error() {
        return format!("{} (SQLSTATE {})", db_error.message(), db_error.code().code());
    }
    let mut text = reason.to_string();
    let mut cause = std::error::Error::source(reason);
    while let Some(source) = cause {
        text = format!("{text}: {source}");
        cause = source.source();
    }
    text
}

/// Whether all traffic stays on this machine.
fn is_local(config: &Config) -> bool {
    if !config.get_hostaddrs().is_empty() {
        return config.get_hostaddrs().iter().all(IpAddr::is_loopback);
    }
    config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => {
            let name = name.trim_start_matches('[').trim_end_matches(']');
            name == "localhost" || name.parse().is_ok_and(|address: IpAddr| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    })
}

fn redact_url(config: &Config) -> String {
    let ports = config.get_ports();
    let mut hosts = Vec::new();
    for (index, host) in config.get_hosts().iter().enumerate() {
        let port = ports.get(index).or(ports.first()).map_or(String::new(), |port| format!(":{port}"));
        hosts.push(match host {
            Host::Tcp(name) => format!("{name}{port}"),
            #[cfg(unix)]
            Host::Unix(path) => format!("{}{port}", path.display()),
        });
    }
    if hosts.is_empty() {
        hosts.extend(config.get_hostaddrs().iter().map(IpAddr::to_string));
    }
    let user = config.get_user().map_or(String::new(), |user| format!("{user}@"));
    let database = config.get_dbname().or(config.get_user()).unwrap_or_default();
    format!("postgres://{user}{}/{database}", hosts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_url(url: &str) -> (String, bool) {
        let target = Target::parse(url).unwrap();
        assert_eq!(target.config.get_ssl_mode() == SslMode::Require, target.tls.is_some());
        (target.redacted_url, target.tls.is_some())
    }

    #[test]
    fn remote_connections_use_tls_unless_disabled_by_the_url() {
        for (url, redacted_url, is_encrypted) in [
            ("postgres://me:pw@db.example:5433/audit", "postgres://me@db.example:5433/audit", true),
            (
                "postgresql://me@db.example/audit?sslmode=disable",
                "postgres://me@db.example:5432/audit",
                false,
            ),
            ("postgres://me@db.example/a?sslmode=require", "postgres://me@db.example:5432/a", true),
            ("postgres://me@db.example/a?sslmode=verify-ca", "postgres://me@db.example:5432/a", true),
            ("postgres://me:a%40b@localhost/a", "postgres://me@localhost:5432/a", false),
            ("postgres://me@127.0.0.9/a", "postgres://me@127.0.0.9:5432/a", false),
            ("postgres://me@[::1]/a", "postgres://me@::1:5432/a", false),
            ("postgres://me@localhost/a?sslmode=verify-full", "postgres://me@localhost:5432/a", true),
            ("postgres://me:a?b@db.example/a", "postgres://me@db.example:5432/a", true),
            ("postgres://me:a?b@db.example/a?sslmode=disable", "postgres://me@db.example:5432/a", false),
            // One of several hosts is remote.
            ("postgres://me@localhost,db.example/a", "postgres://me@localhost:5432,db.example:5432/a", true),
            // The address takes precedence over the name.
            ("postgres://me@localhost/a?hostaddr=192.0.2.1", "postgres://me@localhost:5432/a", true),
            ("postgres://me@%2Frun%2Fpg/a", "postgres://me@/run/pg:5432/a", false),
        ] {
            assert_eq!(parse_url(url), (redacted_url.to_owned(), is_encrypted), "{url}");
        }
    }

    #[test]
    fn invalid_url_error_hides_secrets() {
        for (url, message) in [
            ("mysql://me:hunter2@db/a", "not the URL of a PostgreSQL database"),
            ("host=db password=hunter2", "not the URL of a PostgreSQL database"),
            ("postgres://me:hunter2@db/a?hunter2=x", "cannot be read"),
            ("postgres://me:hunter2@db:port/a", "cannot be read"),
            ("postgres://me:hunter2@/a", "has no host"),
            ("postgres://me:hunter2@db/a?sslmode=prefer", "in plain text without notice"),
            ("postgres://me:hunter2@db/a?sslmode=full", "unknown `sslmode`"),
            ("postgres://me:hunter2@db/a?sslrootcert=%2Fnone.pem", "/none.pem"),
        ] {
            let reason = Target::parse(url).err().unwrap_or_else(|| panic!("{url}")).to_string();
            assert!(reason.contains(message), "{url}: {reason}");
            assert!(!reason.contains("hunter2") && !reason.contains("ter2"), "{reason}");
        }
    }
}
