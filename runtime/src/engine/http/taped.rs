//! Requests that are recorded, and answers that are played back.

use std::pin::Pin;
use std::task::{Context, Poll};

use http_body::{Frame, SizeHint};
use reqwest::header::HeaderMap;
use reqwest::{Body, Response};

use super::request::HttpRequest;
use super::settings::{HttpEngineBuilder, is_sensitive};
use super::transport::{SendError, Step};
use crate::call::secrets::REDACTED;
use crate::engine::tape::{Tape, TapedAnswer, TapedRequest};

/// Where the traffic of an engine goes, and what it sends with every request.
#[derive(Clone, Copy)]
pub(super) struct Taped<'a> {
    pub(super) tape: &'a Tape,
    pub(super) settings: &'a HttpEngineBuilder,
}

impl Taped<'_> {
    /// Hides the credentials of a request in everything that is recorded.
    pub(super) fn hide(&self, request: &HttpRequest) {
        let tape = &*self.tape.0;
        request.credentials.texts().chain(self.settings.secrets()).for_each(|text| tape.hide(text));
    }

    /// Returns the request as it is recorded.
    fn request(&self, request: &HttpRequest, step: &Step) -> TapedRequest {
        let carries = |name: &str| {
            let mut own = request.credentials.headers.iter();
            is_sensitive(name) || own.any(|header| header.eq_ignore_ascii_case(name))
        };
        let mut headers = texts(&step.headers);
        for (name, value) in &mut headers {
            if carries(name) {
                REDACTED.clone_into(value);
            }
        }
        let url = request.credentials.mask_url(step.url.as_str(), REDACTED);
        let body = step.body.clone().unwrap_or_default();
        TapedRequest { method: step.method.to_string(), url, headers, body }
    }

    /// Returns the recorded answer.
    pub(super) fn play(&self, request: &HttpRequest, step: &Step) -> Result<Response, SendError> {
        let answer = self.tape.0.answer(self.request(request, step)).map_err(SendError::Taped)?;
        let mut response = http::Response::builder().status(answer.status);
        for (name, value) in &answer.headers {
            response = response.header(name, value);
        }
        let response = response.body(answer.body).map(Response::from);
        response.map_err(|why| SendError::Taped(format!("a recorded answer cannot be read: {why}")))
    }

    /// Records a request, and its answer while it is read.
    pub(super) fn record(
        &self,
        request: &HttpRequest,
        step: &Step,
    ) -> impl FnOnce(Response) -> Response + use<> {
        let tape = self.tape.clone();
        let number = tape.0.asked(self.request(request, step));
        move |response| {
            let (parts, body) = http::Response::<Body>::from(response).into_parts();
            let (status, headers) = (parts.status.as_u16(), texts(&parts.headers));
            let heard =
                Heard { body, tape, number, answer: TapedAnswer { status, headers, body: Vec::new() } };
            Response::from(http::Response::from_parts(parts, Body::wrap(heard)))
        }
    }
}

fn texts(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    headers.iter().map(|(name, value)| (name.to_string(), text(value.as_bytes()))).collect()
}

/// A body that is recorded as far as it is read.
struct Heard {
    body: Body,
    tape: Tape,
    number: usize,
    answer: TapedAnswer,
}

impl http_body::Body for Heard {
    type Data = <Body as http_body::Body>::Data;
    type Error = <Body as http_body::Body>::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(data) = frame.data_ref()
        {
            self.answer.body.extend_from_slice(data);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Heard {
    fn drop(&mut self) {
        self.tape.0.answered(self.number, std::mem::take(&mut self.answer));
    }
}
