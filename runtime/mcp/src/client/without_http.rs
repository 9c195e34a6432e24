//! Replaces `http` in builds without that feature: servers with a URL are unreachable.

use std::sync::Arc;
use std::time::Duration;

use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::secrets::Secrets;
use toolgen_kernel::spec::Network;
use toolgen_kernel::spec::plan::McpServer;

use super::connection::Transport;
use super::credentials::Credentials;
use super::inbox::Inbox;

#[derive(Clone, Default)]
pub(super) struct HttpOptions;

pub(super) fn start(
    _: &McpServer,
    _: &HttpOptions,
    _: Duration,
    _: usize,
    _: &Credentials,
    _: Inbox,
) -> Result<Arc<dyn Transport>, String> {
    Err("a server over HTTP requires the feature `http`".to_owned())
}

pub(super) fn credentials<H>(_: &H, _: &Text) -> Secrets {
    Secrets::default()
}

pub(super) fn reaches(_: &str, _: &Network) -> Result<(), ToolError> {
    Ok(())
}

pub(super) fn host_and_port(_: &str) -> (Option<String>, Option<u16>) {
    (None, None)
}
