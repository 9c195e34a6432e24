//! For programs that have a server of the `rmcp` crate: a provider as its handler.

use ::rmcp::ServerHandler;
use toolgen_kernel::provider::Provider;

use super::Server;
use super::handler::Handler;

/// Returns a handler that lists and calls the tools of a provider, for `rmcp::serve_server` and the like. One handler serves
/// one connection, or one session.
///
/// ```no_run
/// # async fn serve(provider: toolgen_runtime::Provider) -> Result<(), Box<dyn std::error::Error>> {
/// let handler = toolgen_runtime::serve::mcp::rmcp::handler(provider);
/// rmcp::serve_server(handler, rmcp::transport::stdio()).await?.waiting().await?;
/// # Ok(())
/// # }
/// ```
pub fn handler(provider: Provider) -> impl ServerHandler {
    Server::new(provider).into_handler()
}

impl Server {
    /// Returns the handler of a connection to this server, with its settings. Those for HTTP do not apply; a
    /// [`Principal`](toolgen_kernel::Principal) in the extensions of an HTTP request is that of its calls.
    pub fn into_handler(self) -> impl ServerHandler {
        Handler::new(self.served)
    }
}
