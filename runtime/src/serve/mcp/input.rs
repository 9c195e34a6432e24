//! The end of the input of a server over streams: what waits for the client does not wait any longer.

use std::borrow::Cow;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rmcp::Service;
use rmcp::model::{
    ClientNotification, ClientRequest, ErrorData, ProtocolVersion, ServerConfig, ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer};
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

use super::handler::Handler;

/// An input that fires a token when it ends. `rmcp` answers what is still asked before it ends a connection, and waits
/// seconds for it; what waits for the client would wait all that time for nothing.
pub(super) struct Input<R> {
    input: R,
    ended: CancellationToken,
}

impl<R> Input<R> {
    /// Creates an input that fires this token at its end.
    pub(super) fn new(input: R, ended: CancellationToken) -> Input<R> {
        Input { input, ended }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Input<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = ready!(Pin::new(&mut self.input).poll_read(cx, buffer));
        // Nothing is read into a buffer without room, too.
        if read.is_err() || (buffer.filled().len() == before && buffer.remaining() > 0) {
            self.ended.cancel();
        }
        Poll::Ready(read)
    }
}

/// The handler of a connection over streams.
pub(super) struct Connected(pub(super) Handler);

impl Service<RoleServer> for Connected {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let listens = matches!(request, ClientRequest::SubscriptionsListenRequest(_));
        let answer = Service::handle_request(&self.0, request, context);
        if !listens {
            return answer.await;
        }
        tokio::select! {
            // A subscription that is open ends by itself.
            biased;
            answer = answer => answer,
            // After the input, `rmcp` sends no notification, so the one that opens a subscription waits in vain.
            () = self.0.over().cancelled() => Err(ErrorData::internal_error("The client closed its output.", None)),
        }
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Service::handle_notification(&self.0, notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        Service::get_info(&self.0)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Service::supported_protocol_versions(&self.0)
    }
}
