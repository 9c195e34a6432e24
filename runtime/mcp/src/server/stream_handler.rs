//! Handler of a connection over streams. After the end of the input, nothing waits for the client.

use std::borrow::Cow;

use rmcp::Service;
use rmcp::model::{
    ClientNotification, ClientRequest, ErrorCode, ErrorData, ProtocolVersion, ServerConfig, ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer};
use tokio::sync::Semaphore;

use super::handler::Handler;
use super::invalid_request;
use super::slots::Slot;

/// Maximum number of subscriptions per connection; a client needs one.
const MAX_SUBSCRIPTIONS: usize = 16;

/// The handler of a connection over streams.
pub(super) struct StreamHandler {
    handler: Handler,
    /// A permit for each further subscription.
    subscriptions: Semaphore,
}

impl StreamHandler {
    pub(super) fn new(handler: Handler) -> StreamHandler {
        StreamHandler { handler, subscriptions: Semaphore::new(MAX_SUBSCRIPTIONS) }
    }
}

impl Service<RoleServer> for StreamHandler {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let is_subscription = matches!(request, ClientRequest::SubscriptionsListenRequest(_));
        let method = request.method().to_owned();
        let slot = context.extensions.get::<Slot>().cloned();
        let response = async {
            let response = Service::handle_request(&self.handler, request, context).await;
            // `rmcp` reports only the name of a protocol method that this server does not support.
            let is_unknown =
                |error: &ErrorData| error.code == ErrorCode::METHOD_NOT_FOUND && error.message == method;
            response.map_err(|error| {
                if is_unknown(&error) { invalid_request::unknown_method(&method) } else { error }
            })
        };
        if !is_subscription {
            return response.await;
        }
        let Ok(_permit) = self.subscriptions.try_acquire() else {
            let reason =
                format!("This connection is at its limit of {MAX_SUBSCRIPTIONS} subscriptions. Cancel one.");
            return Err(ErrorData::invalid_request(reason, None));
        };
        slot.iter().for_each(Slot::release);
        tokio::select! {
            // An open subscription ends when its connection closes.
            biased;
            response = response => response,
            // After the end of the input, `rmcp` sends no notifications, so a new subscription would never be
            // acknowledged.
            () = self.handler.closed().cancelled() => Err(ErrorData::internal_error("The client closed its output.", None)),
        }
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Service::handle_notification(&self.handler, notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        Service::get_info(&self.handler)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Service::supported_protocol_versions(&self.handler)
    }
}
