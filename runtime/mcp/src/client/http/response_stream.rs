//! Reads HTTP responses: the response to a request, as a stream or a single message, and server-initiated messages.

use std::borrow::Cow;
use std::sync::atomic::Ordering;
use std::time::Duration;

use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use toolgen_kernel::base::lines::MessageKind;
use toolgen_kernel::base::sse::{Event, Reader, TooLong};

use super::channel::{Channel, Exchange};
use crate::client::reading;

/// Initial delay before a stream is resumed, unless the server specifies one. It doubles up to the maximum.
const INITIAL_RESUME_DELAY: Duration = Duration::from_secs(1);
const MAX_RESUME_DELAY: Duration = Duration::from_secs(60);

/// Maximum number of failed attempts to resume a stream.
const MAX_RESUME_ATTEMPTS: usize = 5;

/// How long to wait for the end of a stream after its response, so that the connection can be reused.
const STREAM_END_TIMEOUT: Duration = Duration::from_secs(2);

const EVENTS: &str = "text/event-stream";

/// Reads an HTTP response until the inbox has the JSON-RPC response, or the reason why there is none.
pub(super) async fn read(channel: &Channel, exchange: Exchange, id: u64) {
    let outcome = match exchange.media_type().as_str() {
        EVENTS => read_stream(channel, exchange, id).await,
        "application/json" => read_single_message(channel, exchange, id).await,
        "" => Err(format!(
            "the server answered with status {} and without a response",
            exchange.response.status()
        )),
        other => {
            Err(format!("the server answered with `{other}`, and neither with JSON nor with an event stream"))
        }
    };
    if let Err(error) = outcome {
        channel.inbox.report_lost(id, error);
    }
}

/// Reads an HTTP response that is a single message.
async fn read_single_message(channel: &Channel, mut exchange: Exchange, id: u64) -> Result<(), String> {
    let mut body: Vec<u8> = Vec::new();
    while let Some(bytes) =
        exchange.chunk().await.map_err(|error| format!("the response was interrupted: {error}"))?
    {
        let bytes = bytes.as_ref();
        if body.len() + bytes.len() > channel.max_message {
            channel
                .inbox
                .report_unparsable(id, format!("the response has more than {} bytes", channel.max_message));
            return Ok(());
        }
        body.extend_from_slice(bytes);
    }
    let message = match reading::parse(&body) {
        Ok(message) => message,
        Err(error) => {
            channel.inbox.report_unparsable(id, error);
            return Ok(());
        }
    };
    let mut messages = Messages { channel, id: Some(id), unexpected: None };
    if messages.handle(message) { Ok(()) } else { Err(messages.missing_response("the response")) }
}

/// Reads the stream with the response. In protocol versions with sessions, an interrupted stream is resumed.
async fn read_stream(channel: &Channel, mut exchange: Exchange, id: u64) -> Result<(), String> {
    let mut reader = Reader::new(channel.max_message);
    let mut messages = Messages { channel, id: Some(id), unexpected: None };
    loop {
        let reason = match messages.read_events(&mut reader, &mut exchange).await? {
            StreamEnd::Response => {
                let rest = async { while let Ok(Some(_)) = exchange.chunk().await {} };
                // If the server continues the stream, the connection is closed.
                drop(timeout(STREAM_END_TIMEOUT, rest).await);
                return Ok(());
            }
            StreamEnd::NoResponse { reason, .. } => reason,
        };
        if channel.is_modern() || reader.last_id().is_none() {
            return Err(reason);
        }
        exchange = resume(channel, &mut reader).await.map_err(|error| format!("{reason}, and {error}"))?;
    }
}

/// Resumes a stream after its last event.
async fn resume(channel: &Channel, reader: &mut Reader) -> Result<Exchange, String> {
    let mut last_error = String::new();
    for attempt in 0..MAX_RESUME_ATTEMPTS {
        sleep(reader.retry().unwrap_or_else(|| resume_delay(attempt))).await;
        match channel.get(reader.last_id()).await {
            Ok(exchange) if is_stream(&exchange) => {
                reader.reconnected();
                return Ok(exchange);
            }
            Ok(exchange) => {
                return Err(format!("the server does not resume it: status {}", exchange.response.status()));
            }
            Err(error) => last_error = error.reason,
        }
    }
    Err(format!("it cannot be resumed: {last_error}"))
}

/// Receives the server-initiated messages of a session, while the server offers a stream for them.
pub(super) async fn receive_server_messages(channel: &Channel) {
    let mut reader = Reader::new(channel.max_message);
    let mut messages = Messages { channel, id: None, unexpected: None };
    let (mut quiet_attempts, mut is_reconnect) = (0, false);
    loop {
        match channel.get(reader.last_id()).await {
            Ok(mut exchange) if is_stream(&exchange) => {
                // The server repeats missed messages only after an event with an ID.
                if std::mem::replace(&mut is_reconnect, true) && reader.last_id().is_none() {
                    channel.inbox.accept(json!({ "method": "notifications/tools/list_changed" }));
                }
                reader.reconnected();
                channel.is_listening.store(true, Ordering::Release);
                let end = messages.read_events(&mut reader, &mut exchange).await;
                channel.is_listening.store(false, Ordering::Release);
                match end {
                    Ok(StreamEnd::NoResponse { had_events: true, .. }) => quiet_attempts = 0,
                    Ok(_) => {}
                    // The server would send the same event again.
                    Err(_) => return,
                }
            }
            // The server has no such stream.
            Ok(_) => return,
            Err(_) => {}
        }
        sleep(reader.retry().unwrap_or_else(|| resume_delay(quiet_attempts))).await;
        quiet_attempts += 1;
    }
}

fn is_stream(exchange: &Exchange) -> bool {
    exchange.response.status() == StatusCode::OK && exchange.media_type() == EVENTS
}

fn resume_delay(attempt: usize) -> Duration {
    INITIAL_RESUME_DELAY.saturating_mul(1 << attempt.min(6)).min(MAX_RESUME_DELAY)
}

/// How a stream connection ended.
enum StreamEnd {
    /// With the response.
    Response,
    /// Without the response.
    NoResponse {
        reason: String,
        /// Whether there was an event.
        had_events: bool,
    },
}

/// The messages of one stream.
struct Messages<'c> {
    channel: &'c Channel,
    /// The ID of the request that the stream answers, if any.
    id: Option<u64>,
    /// An unexpected message on the stream.
    unexpected: Option<Cow<'static, str>>,
}

impl Messages<'_> {
    /// Reads events until the response or the end of the connection.
    async fn read_events(
        &mut self,
        reader: &mut Reader,
        exchange: &mut Exchange,
    ) -> Result<StreamEnd, String> {
        let (mut events, mut had_events) = (Vec::new(), false);
        loop {
            let bytes = match exchange.chunk().await {
                Ok(Some(bytes)) => bytes,
                Ok(None) => {
                    return Ok(StreamEnd::NoResponse {
                        reason: self.missing_response("the stream"),
                        had_events,
                    });
                }
                Err(error) => {
                    return Ok(StreamEnd::NoResponse {
                        reason: format!("the stream was interrupted: {error}"),
                        had_events,
                    });
                }
            };
            let pushed = reader.push(bytes.as_ref(), &mut events);
            had_events |= !events.is_empty();
            for event in events.drain(..) {
                if self.handle_event(&event) {
                    return Ok(StreamEnd::Response);
                }
            }
            pushed
                .map_err(|TooLong(limit)| format!("the server sent an event of more than {limit} bytes"))?;
        }
    }

    /// Handles an event; returns whether it is the response.
    fn handle_event(&mut self, event: &Event) -> bool {
        // Other event types are not part of the protocol. An event without data only sets the ID to resume from.
        if !matches!(event.kind.as_slice(), b"" | b"message") || event.data.is_empty() {
            return false;
        }
        match reading::parse(&event.data) {
            Ok(message) => self.handle(message),
            Err(error) => {
                let id = match MessageKind::at(&event.data) {
                    MessageKind::Answer(id) => id.as_u64().filter(|id| Some(*id) == self.id),
                    _ => None,
                };
                match id {
                    Some(id) => self.channel.inbox.report_unparsable(id, error),
                    None => self.unexpected = Some(format!("an invalid message: {error}").into()),
                }
                id.is_some()
            }
        }
    }

    /// Handles a message, or an array of messages; returns whether it contains the response.
    fn handle(&mut self, message: Value) -> bool {
        match message {
            Value::Array(messages) => {
                // Messages after the response are handled as well.
                let responses: Vec<bool> =
                    messages.into_iter().map(|message| self.handle_message(message)).collect();
                responses.contains(&true)
            }
            message => self.handle_message(message),
        }
    }

    fn handle_message(&mut self, message: Value) -> bool {
        let is_ours = self.id.is_some() && message["id"].as_u64() == self.id;
        let unexpected = match (message.get("method").is_some(), message.get("id").is_some()) {
            (false, _) if is_ours => None,
            (false, true) => Some("the response to another request"),
            (false, false) => Some("an invalid message"),
            // Such servers request input in their results.
            (true, true) if self.channel.is_modern() => Some("a request of its own"),
            (true, _) => None,
        };
        let is_response = unexpected.is_none() && message.get("method").is_none();
        match unexpected {
            None => self.channel.inbox.accept(message),
            unexpected => self.unexpected = unexpected.map(Cow::Borrowed),
        }
        is_response
    }

    fn missing_response(&self, source: &str) -> String {
        match &self.unexpected {
            Some(unexpected) => {
                format!("{source} ended without a JSON-RPC response; it contained {unexpected}")
            }
            None => format!("{source} ended without a JSON-RPC response"),
        }
    }
}
