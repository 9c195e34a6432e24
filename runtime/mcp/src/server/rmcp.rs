//! For programs with an `rmcp` server: a toolbox as its handler.

use ::rmcp::ServerHandler;
use toolgen_kernel::toolbox::Toolbox;

use super::Server;
use super::handler::Handler;

/// Returns a handler that lists and calls the tools of a toolbox, for `rmcp::serve_server` and similar functions. One
/// handler serves one connection, or one session.
///
/// ```no_run
/// # async fn serve(toolbox: toolgen_runtime::Toolbox) -> Result<(), Box<dyn std::error::Error>> {
/// let handler = toolgen_runtime::serve::mcp::rmcp::handler(toolbox);
/// rmcp::serve_server(handler, rmcp::transport::stdio()).await?.waiting().await?;
/// # Ok(())
/// # }
/// ```
pub fn handler(toolbox: Toolbox) -> impl ServerHandler {
    Server::new(toolbox).into_handler()
}

impl Server {
    /// Returns the handler of a connection to this server, with its settings. Settings for HTTP do not apply. A
    /// [`Principal`](toolgen_kernel::Principal) in the extensions of an HTTP request is the principal of its calls.
    pub fn into_handler(self) -> impl ServerHandler {
        Handler::new(self.state)
    }
}
