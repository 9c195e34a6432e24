//! Composes nodes from events.

use std::borrow::Cow;
use std::collections::BTreeMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Tag};

use super::super::{Finding, MAX_DEPTH, MAX_FINDINGS, Position, TextPosition};
use super::hints::diagnose;
use crate::problem::codes;

/// The number of a node in [`Tree::nodes`].
pub(super) type Id = usize;

/// A document as a list of nodes; aliases are edges to shared nodes.
#[derive(Debug)]
pub(super) struct Tree<'t> {
    pub(super) nodes: Vec<Node<'t>>,
    pub(super) root: Id,
}

/// A node.
#[derive(Debug)]
pub(super) struct Node<'t> {
    pub(super) at: Position,
    pub(super) tag: Option<Cow<'t, Tag>>,
    pub(super) kind: Kind<'t>,
}

/// The kind of a node.
#[derive(Debug)]
pub(super) enum Kind<'t> {
    Scalar {
        text: Cow<'t, str>,
        /// Whether it has no quotes, so it may be a number or a word.
        plain: bool,
    },
    List(Vec<Id>),
    /// Keys and values.
    Map(Vec<(Id, Id)>),
}

struct Composer<'t> {
    nodes: Vec<Node<'t>>,
    /// The arrays and maps that are not yet complete.
    open: Vec<OpenNode>,
    /// The node of each anchor, by the parser's number for it.
    anchors: Vec<Option<Id>>,
    root: Option<Id>,
    findings: Vec<Finding>,
}

struct OpenNode {
    id: Id,
    anchor: usize,
    children: Vec<Id>,
}

/// The position at which the parser stopped, and the parser's message.
#[derive(Debug)]
pub(super) struct ParseStop {
    pub(super) at: Position,
    pub(super) info: String,
}

/// Composes the first document. If the YAML is invalid before that document's end, returns the parser's position
/// instead of a tree.
pub(super) fn compose(text: &str) -> (Option<Tree<'_>>, Vec<Finding>, Option<ParseStop>) {
    let mut composer = Composer {
        nodes: Vec::with_capacity(text.len() / 24),
        open: Vec::new(),
        anchors: Vec::new(),
        root: None,
        findings: Vec::new(),
    };
    let comments = comments(text);
    let mut parser = Parser::new_from_str(text);
    let mut is_ended = false;
    let mut stop = None;
    while let Some(next) = parser.next_event() {
        match next {
            Err(error) => {
                composer.report_error(text, &error, is_ended);
                stop = (!is_ended)
                    .then(|| ParseStop { at: position(*error.marker()), info: error.info().to_owned() });
                break;
            }
            Ok((Event::DocumentStart(_), span)) if is_ended => {
                let message = "a second document begins here; it is not read";
                composer.add_finding(
                    codes::SECOND_DOCUMENT,
                    position(span.start),
                    message,
                    "put it into its own file",
                );
                break;
            }
            Ok((Event::DocumentEnd, _)) => is_ended = true,
            Ok((event, span)) => {
                if let Event::Scalar(text, ScalarStyle::Plain, ..) = &event {
                    composer.check_cut_string(text, position(span.start), &comments);
                }
                if !composer.process(event, position(span.start)) {
                    return (None, composer.findings, None);
                }
            }
        }
    }
    let tree = composer.root.filter(|_| is_ended).map(|root| Tree { nodes: composer.nodes, root });
    if tree.is_none() && composer.findings.is_empty() {
        let help = "name a document with content";
        let message = String::from("the document is empty");
        composer.findings.push(Finding::new(codes::EMPTY_DOCUMENT, TextPosition::Byte(0), message, help));
    }
    (tree, composer.findings, stop)
}

pub(super) fn position(marker: Marker) -> Position {
    Position { line: marker.line().max(1), column: marker.col() + 1 }
}

/// Returns the lines, by number, with a comment that begins like a tag or an issue number.
fn comments(text: &str) -> BTreeMap<usize, &str> {
    let is_tag_like = |line: &str| {
        line.match_indices(" #").any(|(index, mark)| {
            line.get(index + mark.len()..).is_some_and(|word| word.starts_with(char::is_alphanumeric))
        })
    };
    (1..).zip(text.lines()).filter(|(_, line)| is_tag_like(line)).collect()
}

impl<'t> Composer<'t> {
    /// Reports a string of several words that ends at a comment which was probably meant to be a part of it.
    fn check_cut_string(&mut self, text: &str, at: Position, comments: &BTreeMap<usize, &str>) {
        let Some(line) = comments.get(&at.line).filter(|_| text.contains(' ')) else { return };
        let start = line.char_indices().nth(at.column - 1).map_or(line.len(), |(start, _)| start);
        let comment =
            line.get(start..).and_then(|comment| comment.strip_prefix(text)).unwrap_or_default().trim_start();
        if comment.strip_prefix('#').is_some_and(|comment| comment.starts_with(char::is_alphanumeric)) {
            let word = comment.split_whitespace().next().unwrap_or_default();
            let message = format!("the string ends before `{word}`, which begins a comment");
            self.add_finding(
                codes::CUT_BY_COMMENT,
                at,
                &message,
                "put the string in quotes, or write `# ` before a comment",
            );
        }
    }

    /// Processes an event. Returns false if the document cannot be read.
    fn process(&mut self, event: Event<'t>, at: Position) -> bool {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain;
                let id = self.node(at, tag, Kind::Scalar { text, plain });
                self.anchor(anchor, id);
                self.attach(id);
            }
            Event::SequenceStart(anchor, tag) => return self.begin(at, anchor, tag, Kind::List(Vec::new())),
            Event::MappingStart(anchor, tag) => return self.begin(at, anchor, tag, Kind::Map(Vec::new())),
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(anchor) => self.alias(anchor, at),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => {}
        }
        true
    }

    fn node(&mut self, at: Position, tag: Option<Cow<'t, Tag>>, kind: Kind<'t>) -> Id {
        self.nodes.push(Node { at, tag, kind });
        self.nodes.len() - 1
    }

    fn begin(&mut self, at: Position, anchor: usize, tag: Option<Cow<'t, Tag>>, kind: Kind<'t>) -> bool {
        if self.open.len() >= MAX_DEPTH {
            let message = format!("the document is nested deeper than {MAX_DEPTH} levels");
            self.add_finding(codes::TOO_DEEP, at, &message, "name parts of it and refer to them");
            return false;
        }
        let id = self.node(at, tag, kind);
        // The anchor is set only when the node is complete, so that no node can contain itself.
        self.open.push(OpenNode { id, anchor, children: Vec::new() });
        true
    }

    fn end(&mut self) {
        let Some(open) = self.open.pop() else { return };
        if let Some(node) = self.nodes.get_mut(open.id) {
            match &mut node.kind {
                Kind::List(items) => *items = open.children,
                Kind::Map(members) => {
                    members.extend(open.children.chunks_exact(2).map(|pair| (pair[0], pair[1])));
                }
                Kind::Scalar { .. } => {}
            }
        }
        self.anchor(open.anchor, open.id);
        self.attach(open.id);
    }

    fn anchor(&mut self, anchor: usize, id: Id) {
        if anchor == 0 {
            return;
        }
        if self.anchors.len() <= anchor {
            self.anchors.resize(anchor + 1, None);
        }
        if let Some(slot) = self.anchors.get_mut(anchor) {
            *slot = Some(id);
        }
    }

    fn alias(&mut self, anchor: usize, at: Position) {
        let complete = self.anchors.get(anchor).copied().flatten();
        let id = complete.unwrap_or_else(|| {
            let message = "this alias is inside the value it refers to; it is read as null";
            self.add_finding(codes::RECURSIVE_ALIAS, at, message, "use `$ref` for a recursive value");
            self.node(at, None, Kind::Scalar { text: Cow::Borrowed(""), plain: true })
        });
        self.attach(id);
    }

    /// Adds a complete node to its parent.
    fn attach(&mut self, id: Id) {
        match self.open.last_mut() {
            Some(open) => open.children.push(id),
            None => self.root = self.root.or(Some(id)),
        }
    }

    fn report_error(&mut self, text: &str, error: &saphyr_parser::ScanError, is_ended: bool) {
        // The reason for rejecting the document must not be lost among lesser findings.
        self.findings.truncate(MAX_FINDINGS - 1);
        let at = position(*error.marker());
        if is_ended {
            let message = "text after the end of the document is ignored";
            self.add_finding(codes::TRAILING_TEXT, at, message, "remove it");
        } else {
            let (at, message, help) = diagnose(text, at, error.info());
            self.add_finding(codes::MALFORMED_TEXT, at, &format!("this is not YAML: {message}"), help);
        }
    }

    fn add_finding(&mut self, code: crate::Code, at: Position, message: &str, help: &'static str) {
        if self.findings.len() >= MAX_FINDINGS {
            return;
        }
        self.findings.push(Finding::new(code, TextPosition::Position(at), message.to_owned(), help));
    }
}
