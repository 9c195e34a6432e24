//! Arguments about the requests of calls, shared by `call` and `serve`.

use std::path::PathBuf;

use clap::{Args, value_parser};

use super::selection::{pairs, variables};

/// How calls are made
#[derive(Debug, Args)]
pub(crate) struct Requests {
    /// Base URL of all requests, instead of the document's servers
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Value of a variable in the server's URL
    #[arg(long, value_name = "NAME=VALUE")]
    server_variable: Vec<String>,
    /// Header of every request, whose value is in an environment variable
    #[arg(long, value_name = "NAME=ENV_VAR")]
    header: Vec<String>,
    /// OAuth token URL of a security scheme; the client is in SCHEME_CLIENT_ID and SCHEME_CLIENT_SECRET, an optional
    /// refresh token in SCHEME_REFRESH_TOKEN
    #[arg(long = "oauth", value_name = "SCHEME=TOKEN_URL")]
    token_url: Vec<String>,
    /// Client certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "client_key")]
    client_cert: Option<PathBuf>,
    /// Private key of the client certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "client_cert")]
    client_key: Option<PathBuf>,
    #[command(flatten)]
    work_dir_argument: WorkDir,
    /// Directory of the files that arguments name; without it, no files are read
    #[arg(long, value_name = "DIR")]
    pub(crate) files: Option<PathBuf>,
    /// Directory for binary and very long responses; the result names the file, its size and digest
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,
    /// Maximum size of a file that is sent or written, in bytes
    #[arg(long, value_name = "BYTES", default_value = "67108864", value_parser = value_parser!(u64).range(1..))]
    pub(crate) max_file: u64,
    /// Maximum number of retries of a request that is safe to retry
    #[arg(long, value_name = "N", default_value = "2", value_parser = value_parser!(u32).range(0..=20))]
    pub(crate) retries: u32,
    /// Timeout of a call, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = value_parser!(u64).range(1..=86_400))]
    pub(crate) timeout: u64,
    // The following fields are derived from the arguments above and from others.
    #[arg(skip)]
    pub(crate) private_hosts: Vec<String>,
    #[arg(skip)]
    pub(crate) server_variables: Vec<(String, String)>,
    /// Header names, each with the environment variable that holds its value.
    #[arg(skip)]
    pub(crate) headers: Vec<(String, String)>,
    /// Security schemes that use OAuth, with their token URLs.
    #[arg(skip)]
    pub(crate) oauth: Vec<(String, String)>,
    /// File for the response body, or `-` for standard output. `None`: the response is printed.
    #[arg(skip)]
    pub(crate) output: Option<PathBuf>,
}

/// The working directory of commands
#[derive(Clone, Debug, Args)]
pub(crate) struct WorkDir {
    /// Working directory of commands, and base of their relative paths [default: the current directory]
    #[arg(long, value_name = "DIR", value_parser = existing_dir)]
    pub(crate) work_dir: Option<PathBuf>,
}

/// Parses a directory as an absolute path.
fn existing_dir(path: &str) -> Result<PathBuf, String> {
    let dir = PathBuf::from(path);
    if !dir.is_dir() {
        return Err("no such directory".to_owned());
    }
    Ok(std::path::absolute(&dir).unwrap_or(dir))
}

impl Requests {
    /// Validates the arguments and sets the fields that clap skips. `Err` names the invalid argument.
    pub(super) fn validate(&mut self, private_hosts: &[String]) -> Result<(), String> {
        if let Some(url) = self.base_url.as_deref().filter(|url| !url.contains("://")) {
            // The part before `@` may be a password.
            let url = url.rsplit_once('@').map_or(url, |(_, host)| host);
            return Err(format!(
                "`--base-url {url}` is not a URL: it must begin with `http://` or `https://`, as in `--base-url http://{url}`"
            ));
        }
        self.private_hosts = private_hosts.to_vec();
        self.server_variables = pairs(&self.server_variable, "server-variable", ("NAME", "VALUE"))?;
        self.headers = variables(&self.header, "header", "NAME")?;
        self.oauth = pairs(&self.token_url, "oauth", ("SCHEME", "TOKEN_URL"))?;
        Ok(())
    }

    /// Returns the files of the client certificate and of its key.
    pub(crate) fn identity(&self) -> Option<(&PathBuf, &PathBuf)> {
        self.client_cert.as_ref().zip(self.client_key.as_ref())
    }

    /// Returns the working directory of commands as an absolute path, if the user set one.
    pub(crate) fn explicit_work_dir(&self) -> Option<&PathBuf> {
        self.work_dir_argument.work_dir.as_ref()
    }

    /// Returns the working directory of commands.
    pub(crate) fn work_dir(&self) -> PathBuf {
        let current_dir = || std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        self.explicit_work_dir().cloned().unwrap_or_else(current_dir)
    }
}
