//! Permits of HTTP requests in flight: each caller may use a part of all permits.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use rmcp::model::{JsonRpcError, NumberOrString};
use serde_json::{Value, json};
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::base::lines::MessageKind;

use super::super::invalid_request;
use super::super::shares::{Share, Shares};
use super::SESSION_HEADER;
use super::sessions::{RETRY_AFTER_SECONDS, SessionGuard};

/// Holds a permit: in the request until the request is handled, and in the body of its response.
#[derive(Clone)]
pub(super) struct RequestPermit {
    _share: Arc<Share>,
}

impl RequestPermit {
    /// Holds the permit until a response has been sent.
    pub(super) fn hold_until_sent(self, response: Response) -> Response {
        response.map(|body| Body::new(PermitBody { body, _permit: self }))
    }
}

/// Assigns a permit to a request that is answered later: its ID must be unique in its session, and its caller must be
/// within its limit. The caller is the principal, or else the session.
///
/// # Errors
///
/// Returns the response for the client if the ID is in use, or the caller has reached its limit.
#[expect(clippy::result_large_err, reason = "the response is returned to the client unchanged")]
pub(super) fn acquire_permit(
    parts: &mut Parts,
    body: &[u8],
    owner: Option<&Text>,
    (shares, max): (&Arc<Shares>, usize),
) -> Result<Option<RequestPermit>, Response> {
    let id = match parts.method {
        Method::GET => None,
        Method::POST => match MessageKind::at(body) {
            MessageKind::Request(Some(id)) => Some(id),
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    if let (Some(id), Some(session)) = (&id, parts.extensions.get::<SessionGuard>())
        && !session.set_id(id)
    {
        return Err(duplicate_id(id));
    }
    let session = || parts.headers.get(SESSION_HEADER).and_then(|id| id.to_str().ok()).map(Text::copy_of);
    let Some(caller) = owner.cloned().or_else(session) else { return Ok(None) };
    let share = shares.acquire(caller, max).ok_or_else(|| {
        let text = format!(
            "This caller is at its limit of {max} concurrent requests. Close a stream, or retry when a request has \
             completed."
        );
        (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, RETRY_AFTER_SECONDS)], text).into_response()
    })?;
    let permit = RequestPermit { _share: Arc::new(share) };
    parts.extensions.insert(permit.clone());
    Ok(Some(permit))
}

fn duplicate_id(id: &Value) -> Response {
    let request_id: Option<NumberOrString> = serde_json::from_value(id.clone()).ok();
    let headers = [(header::CONTENT_TYPE, "application/json")];
    (
        StatusCode::BAD_REQUEST,
        headers,
        json!(JsonRpcError::new(request_id, invalid_request::duplicate_id(id))).to_string(),
    )
        .into_response()
}

/// The body of a response that holds a permit.
struct PermitBody {
    body: Body,
    _permit: RequestPermit,
}

impl HttpBody for PermitBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
