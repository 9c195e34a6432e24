//! Parses server-sent events (WHATWG HTML, section 9.2.6) from a stream of bytes, in pieces of any size.
//!
//! The data of an event stays bytes: it is JSON, whose parser rejects invalid UTF-8. The rules for events would insert
//! replacement characters instead.

use std::time::Duration;

use memchr::memchr2;

/// The maximum reconnection delay that a server can request.
const MAX_RETRY: Duration = Duration::from_secs(60);

const BOM: &[u8] = b"\xef\xbb\xbf";

/// An event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The event type; empty for a plain message.
    pub kind: Vec<u8>,
    /// The lines of data, joined by line feeds.
    pub data: Vec<u8>,
    /// The ID of the event.
    pub id: Option<String>,
}

/// The error for an event that is larger than this limit, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong(pub usize);

/// The state between two pieces of a stream.
#[derive(Debug)]
pub struct Reader {
    limit: usize,
    /// The beginning of a line whose end has not arrived.
    line: Vec<u8>,
    /// Whether the first line has ended; a byte order mark can only precede it.
    past_first_line: bool,
    /// Whether the last byte was a carriage return, which a line feed may complete.
    after_return: bool,
    event: Event,
    has_data: bool,
    /// The ID of the event that is being read, which becomes the last ID when the event is complete.
    id: Option<String>,
    last_id: Option<String>,
    retry: Option<Duration>,
}

impl Reader {
    /// Returns a reader that buffers at most this many bytes of an event.
    pub fn new(limit: usize) -> Reader {
        Reader {
            limit,
            line: Vec::new(),
            past_first_line: false,
            after_return: false,
            event: Event::default(),
            has_data: false,
            id: None,
            last_id: None,
            retry: None,
        }
    }

    /// Returns the ID of the last complete event that had one, to resume the stream.
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref().filter(|id| !id.is_empty())
    }

    /// Returns the reconnection delay, if the server set one; at most a minute.
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Starts with the bytes of a new connection, which continues after the last complete event.
    pub fn reconnected(&mut self) {
        let (last_id, retry) = (self.last_id.take(), self.retry);
        *self = Reader { last_id, retry, ..Reader::new(self.limit) };
    }

    /// Reads the next bytes, and adds each event that they complete to `events`.
    pub fn push(&mut self, mut bytes: &[u8], events: &mut Vec<Event>) -> Result<(), TooLong> {
        while let Some(first) = bytes.first() {
            if std::mem::take(&mut self.after_return) && *first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = memchr2(b'\r', b'\n', bytes);
            let part = &bytes[..end.unwrap_or(bytes.len())];
            if self.line.len() + self.event.data.len() + part.len() > self.limit {
                return Err(TooLong(self.limit));
            }
            let Some(end) = end else {
                self.line.extend_from_slice(part);
                return Ok(());
            };
            self.after_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            if self.line.is_empty() {
                self.end_line(part, events);
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(part);
                self.end_line(&line, events);
                line.clear();
                self.line = line;
            }
        }
        Ok(())
    }

    fn end_line(&mut self, line: &[u8], events: &mut Vec<Event>) {
        let line = match std::mem::replace(&mut self.past_first_line, true) {
            false => line.strip_prefix(BOM).unwrap_or(line),
            true => line,
        };
        if line.is_empty() {
            return self.end_event(events);
        }
        let colon = memchr::memchr(b':', line);
        let (name, value) = colon.map_or((line, &b""[..]), |colon| (&line[..colon], &line[colon + 1..]));
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push(b'\n');
                }
                self.event.data.extend_from_slice(value);
            }
            b"event" => self.event.kind = value.to_vec(),
            b"id" if !value.contains(&0) => {
                let id = String::from_utf8_lossy(value).into_owned();
                self.event.id = Some(id.clone());
                self.id = Some(id);
            }
            b"retry" => self.retry = milliseconds(value).or(self.retry),
            // A comment has an empty name. Unknown names are ignored.
            _ => {}
        }
    }

    fn end_event(&mut self, events: &mut Vec<Event>) {
        self.last_id = self.id.clone().or_else(|| self.last_id.take());
        let event = std::mem::take(&mut self.event);
        if std::mem::take(&mut self.has_data) {
            events.push(event);
        }
    }
}

fn milliseconds(value: &[u8]) -> Option<Duration> {
    let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(value).ok().filter(|_| is_number)?;
    // A number that overflows requests the maximum.
    let delay = text.parse().map_or(MAX_RETRY, Duration::from_millis);
    Some(delay.min(MAX_RETRY))
}

#[cfg(test)]
mod tests;
