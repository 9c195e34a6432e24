//! The words of how calls are made.

use std::path::PathBuf;

use clap::{Args, value_parser};

use super::selection::{pairs, variables};

/// How calls are made
#[derive(Debug, Args)]
pub(crate) struct Requests {
    /// Send requests here, whatever servers the document names
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// The value of a variable of the server's URL
    #[arg(long, value_name = "NAME=VALUE")]
    server_variable: Vec<String>,
    /// A header of every request, by the variable that holds its value
    #[arg(long, value_name = "NAME=VARIABLE")]
    header: Vec<String>,
    /// Get the tokens of a scheme by OAuth, with the client in SCHEME_CLIENT_ID and SCHEME_CLIENT_SECRET, and the
    /// refresh token in SCHEME_REFRESH_TOKEN if there is one
    #[arg(long = "oauth", value_name = "SCHEME=TOKEN_URL")]
    token_url: Vec<String>,
    /// The client's certificate, as PEM
    #[arg(long, value_name = "FILE", requires = "client_key")]
    client_cert: Option<PathBuf>,
    /// The key of the client's certificate, as PEM
    #[arg(long, value_name = "FILE", requires = "client_cert")]
    client_key: Option<PathBuf>,
    #[command(flatten)]
    place: WorkDir,
    /// Read the files that arguments name below this folder, which counts from the current one; without it, none are
    /// read
    #[arg(long, value_name = "FOLDER")]
    pub(crate) files: Option<PathBuf>,
    /// Write binary answers, and texts that are too long, to this folder, and show their names, sizes and digests
    #[arg(long, value_name = "FOLDER")]
    pub(crate) save: Option<PathBuf>,
    /// The most bytes of a file that is sent or written
    #[arg(long, value_name = "BYTES", default_value = "67108864", value_parser = value_parser!(u64).range(1..))]
    pub(crate) max_file: u64,
    /// How often to repeat a request that may be repeated
    #[arg(long, value_name = "NUMBER", default_value = "2", value_parser = value_parser!(u32).range(0..=20))]
    pub(crate) retries: u32,
    /// How long a call may take
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = value_parser!(u64).range(1..=86_400))]
    pub(crate) timeout: u64,
    // The rest is read of these words and of others.
    #[arg(skip)]
    pub(crate) private_hosts: Vec<String>,
    #[arg(skip)]
    pub(crate) server_variables: Vec<(String, String)>,
    /// With the variables that hold their values.
    #[arg(skip)]
    pub(crate) headers: Vec<(String, String)>,
    /// The schemes whose tokens come by OAuth, with their token URLs.
    #[arg(skip)]
    pub(crate) oauth: Vec<(String, String)>,
    /// The file that the one answer is written to, or `-`; `None`: it is shown.
    #[arg(skip)]
    pub(crate) output: Option<PathBuf>,
}

/// The folder that programs work in
#[derive(Clone, Debug, Args)]
pub(crate) struct WorkDir {
    /// The folder that programs work in, and that their paths count from; without it, the current one
    #[arg(long, value_name = "FOLDER", value_parser = folder)]
    pub(crate) work_dir: Option<PathBuf>,
}

/// Reads a folder as an absolute path.
fn folder(given: &str) -> Result<PathBuf, String> {
    let dir = PathBuf::from(given);
    if !dir.is_dir() {
        return Err("there is no such folder".to_owned());
    }
    Ok(std::path::absolute(&dir).unwrap_or(dir))
}

impl Requests {
    /// Reads the words. An error says which one is wrong.
    pub(super) fn read(&mut self, private_hosts: &[String]) -> Result<(), String> {
        if let Some(given) = self.base_url.as_deref().filter(|given| !given.contains("://")) {
            // What stands before an `@` may be a password.
            let given = given.rsplit_once('@').map_or(given, |(_, host)| host);
            return Err(format!(
                "`--base-url {given}` is not a URL: it must begin with `http://` or `https://`, as in `--base-url http://{given}`"
            ));
        }
        self.private_hosts = private_hosts.to_vec();
        self.server_variables = pairs(&self.server_variable, "server-variable", ("NAME", "VALUE"))?;
        self.headers = variables(&self.header, "header", "NAME")?;
        self.oauth = pairs(&self.token_url, "oauth", ("SCHEME", "TOKEN_URL"))?;
        Ok(())
    }

    /// The files of the client's certificate and its key.
    pub(crate) fn identity(&self) -> Option<(&PathBuf, &PathBuf)> {
        self.client_cert.as_ref().zip(self.client_key.as_ref())
    }

    /// The folder that programs work in, as an absolute path, if it is given.
    pub(crate) fn given_work_dir(&self) -> Option<&PathBuf> {
        self.place.work_dir.as_ref()
    }

    /// The folder that programs work in.
    pub(crate) fn work_dir(&self) -> PathBuf {
        let here = || std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        self.given_work_dir().cloned().unwrap_or_else(here)
    }
}
