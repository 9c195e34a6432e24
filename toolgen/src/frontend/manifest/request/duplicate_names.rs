//! Detects names that two parts of a request set: a service reads one of the values, or both.

use super::super::codes;
use super::super::context::Context;
use super::super::node::Node;
use super::Request;
use crate::source::Pointer;

/// The kind of a named value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameKind {
    Query,
    /// Names of headers are case-insensitive.
    Header,
    Cookie,
}

/// A name that a request sends, and the location that sets its value.
#[derive(Debug)]
pub(super) struct SentName {
    kind: NameKind,
    name: String,
    pointer: Pointer,
}

impl<'a> Context<'a> {
    /// Records that a location sends a value under a name, and reports a name that is already sent. The query
    /// of a URL may repeat a name to send an array.
    pub(super) fn record_name(
        &mut self,
        kind: NameKind,
        name: &str,
        pointer: &Pointer,
        request: &mut Request,
    ) {
        let is_duplicate = |sent: &&SentName| {
            let is_same_name = if kind == NameKind::Header {
                sent.name.eq_ignore_ascii_case(name)
            } else {
                sent.name == name
            };
            sent.kind == kind && is_same_name && (kind == NameKind::Cookie || sent.pointer != *pointer)
        };
        if let Some(first) = request.sent_names.iter().find(is_duplicate) {
            let noun = match kind {
                NameKind::Query => "query parameter",
                NameKind::Header => "header",
                NameKind::Cookie => "cookie",
            };
            let other_spelling =
                if first.name == name { String::new() } else { format!(", as `{}`", first.name) };
            let message = match first.pointer == *pointer {
                true => format!("the {noun} `{name}` occurs twice in this string"),
                false => format!("the {noun} `{name}` is sent by `{}`{other_spelling}, too", first.pointer),
            };
            self.report(codes::SENT_TWICE, pointer, message, "leave one of them out");
        }
        request.sent_names.push(SentName { kind, name: name.to_owned(), pointer: pointer.clone() });
    }

    /// Records a header and its cookies, as [`record_name`](Self::record_name) does.
    pub(super) fn record_header(&mut self, name: &str, node: &Node<'a>, request: &mut Request) {
        self.record_name(NameKind::Header, name, &node.pointer, request);
        let cookies = node.value.as_str().filter(|_| name.eq_ignore_ascii_case("cookie")).unwrap_or_default();
        for (name, _) in cookies.split(';').filter_map(|pair| pair.trim().split_once('=')) {
            self.record_name(NameKind::Cookie, name.trim(), &node.pointer, request);
        }
    }
}
