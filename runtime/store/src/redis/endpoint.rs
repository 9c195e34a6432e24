//! The address of a server, and the stream to it.

use std::fmt;
use std::io;
use std::sync::Arc;

use percent_encoding::percent_decode_str;
use redis::RedisConnectionInfo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use toolgen_kernel::base::tls::trusting;
use toolgen_kernel::call::store::StoreError;
use url::{Host, Url};

/// The default port.
const DEFAULT_PORT: u16 = 6379;

/// A plain or an encrypted stream.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// The address of a server. `Debug` and messages contain no password.
pub(super) struct Endpoint {
    host: String,
    port: u16,
    tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    /// The user and the database.
    pub(super) login: RedisConnectionInfo,
}

impl Endpoint {
    /// Parses `redis://[[user]:password@]host[:port][/database]`; `rediss` is the same over TLS.
    pub(super) fn parse(text: &str, roots: &[Vec<u8>]) -> Result<Endpoint, StoreError> {
        // The errors do not contain the URL, because it may contain a password.
        let form = "write redis://HOST:PORT/DATABASE, or rediss:// for TLS";
        let to_error = |reason: String| {
            StoreError::new(format!("the URL of the shared state is not valid: {reason}; {form}"))
        };
        let url = Url::parse(text).map_err(|error| to_error(error.to_string()))?;
        let is_encrypted = match url.scheme() {
            "redis" | "valkey" => false,
            "rediss" | "valkeys" => true,
            other => return Err(to_error(format!("unknown scheme `{other}`"))),
        };
        let host = match url.host() {
            None => return Err(to_error(String::from("it has no host"))),
            Some(Host::Ipv6(address)) => address.to_string(),
            Some(host) => host.to_string(),
        };
        let database = match url.path().trim_matches('/') {
            "" => 0,
            number => number
                .parse::<u32>()
                .map_err(|_| to_error(format!("the database `{number}` is not a number")))?,
        };
        let mut login = RedisConnectionInfo::default().set_db(database.into()).set_skip_set_lib_name();
        let decode = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        if !url.username().is_empty() {
            login = login.set_username(decode(url.username()));
        }
        if let Some(password) = url.password() {
            login = login.set_password(decode(password));
        }
        let tls = if is_encrypted {
            let config = trusting(roots).map_err(|error| StoreError::new(format!("TLS: {error}")))?;
            let name = ServerName::try_from(host.clone());
            let name =
                name.map_err(|error| to_error(format!("`{host}` cannot have a certificate: {error}")))?;
            Some((Arc::new(config.with_no_client_auth()), name))
        } else {
            None
        };
        Ok(Endpoint { host, port: url.port().unwrap_or(DEFAULT_PORT), tls, login })
    }

    /// Connects.
    pub(super) async fn open(&self) -> io::Result<Box<dyn Stream>> {
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await?;
        // A request is one small packet, and a call waits for its response.
        stream.set_nodelay(true)?;
        match &self.tls {
            None => Ok(Box::new(stream)),
            Some((config, name)) => {
                let connector = TlsConnector::from(Arc::clone(config));
                Ok(Box::new(connector.connect(name.clone(), stream).await?))
            }
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls.is_some() { "rediss" } else { "redis" };
        let (open, close) = if self.host.contains(':') { ("[", "]") } else { ("", "") };
        write!(f, "{scheme}://{open}{}{close}:{}/{}", self.host, self.port, self.login.db())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_parsed_and_shown_without_password() {
        let endpoint = Endpoint::parse("redis://app:s%3Acret@[::1]:7000/3", &[]).unwrap();
        assert_eq!(endpoint.to_string(), "redis://[::1]:7000/3");
        assert_eq!((endpoint.login.username(), endpoint.login.password()), (Some("app"), Some("s:cret")));
        assert_eq!(endpoint.login.db(), 3);
        let endpoint = Endpoint::parse("valkeys://cache.example", &[]).unwrap();
        assert_eq!(
            (endpoint.to_string().as_str(), endpoint.tls.is_some()),
            ("rediss://cache.example:6379/0", true)
        );
    }

    #[test]
    fn invalid_url_error_hides_secrets() {
        for (text, message) in [
            ("localhost:6379", "unknown scheme `localhost`"),
            ("redis://:s3cret@host/zero", "the database `zero` is not a number"),
            ("s3cret", "write redis://HOST:PORT/DATABASE"),
            ("redis:///", "has no host"),
        ] {
            let reason = Endpoint::parse(text, &[]).err().unwrap().to_string();
            assert!(reason.contains(message) && !reason.contains("s3cret"), "{reason}");
        }
    }
}
