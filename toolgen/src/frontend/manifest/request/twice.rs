//! Detects names that two parts of a request set: a service reads one of them, or both.

use super::super::codes;
use super::super::context::Context;
use super::super::node::Node;
use super::Request;
use crate::source::Pointer;

/// The kind of a named value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Query,
    /// Case-insensitive.
    Header,
    Cookie,
}

/// A name in a request, and the location that sets its value.
#[derive(Debug)]
pub(super) struct Sent {
    what: Named,
    name: String,
    at: Pointer,
}

impl<'a> Context<'a> {
    /// Records that a location sends a value under a name, and reports it if another location already does. The query
    /// of a URL may repeat a name, which is how an array is written.
    pub(super) fn sends(&mut self, what: Named, name: &str, at: &Pointer, request: &mut Request) {
        let is_same = |sent: &&Sent| {
            let is_same =
                if what == Named::Header { sent.name.eq_ignore_ascii_case(name) } else { sent.name == name };
            sent.what == what && is_same && (what == Named::Cookie || sent.at != *at)
        };
        if let Some(first) = request.sent.iter().find(is_same) {
            let kind = match what {
                Named::Query => "query parameter",
                Named::Header => "header",
                Named::Cookie => "cookie",
            };
            let spelt = if first.name == name { String::new() } else { format!(", as `{}`", first.name) };
            let message = match first.at == *at {
                true => format!("the {kind} `{name}` occurs twice in this string"),
                false => format!("the {kind} `{name}` is sent by `{}`{spelt}, too", first.at),
            };
            self.report(codes::SENT_TWICE, at, message, "leave one of them out");
        }
        request.sent.push(Sent { what, name: name.to_owned(), at: at.clone() });
    }

    /// As [`sends`](Self::sends), for a header and the cookies in it.
    pub(super) fn sends_header(&mut self, name: &str, node: &Node<'a>, request: &mut Request) {
        self.sends(Named::Header, name, &node.pointer, request);
        let cookies = node.value.as_str().filter(|_| name.eq_ignore_ascii_case("cookie")).unwrap_or_default();
        for (name, _) in cookies.split(';').filter_map(|pair| pair.trim().split_once('=')) {
            self.sends(Named::Cookie, name.trim(), &node.pointer, request);
        }
    }
}
