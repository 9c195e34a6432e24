//! The handler of a connection over streams, in which nothing waits for the client after the end of the
//! input.

use std::borrow::Cow;

use rmcp::Service;
use rmcp::model::{
    ClientNotification, ClientRequest, ErrorCode, ErrorData, ProtocolVersion, ServerConfig, ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer};

use super::handler::Handler;
use super::misfit;

/// The handler of a connection over streams.
pub(super) struct Connected(pub(super) Handler);

impl Service<RoleServer> for Connected {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let listens = matches!(request, ClientRequest::SubscriptionsListenRequest(_));
        let method = request.method().to_owned();
        let answer = async {
            let answer = Service::handle_request(&self.0, request, context).await;
            // `rmcp` says nothing but the name of a method that the protocol has and this server has not.
            let is_unknown =
                |why: &ErrorData| why.code == ErrorCode::METHOD_NOT_FOUND && why.message == method;
            answer.map_err(|why| if is_unknown(&why) { misfit::unknown(&method) } else { why })
        };
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
