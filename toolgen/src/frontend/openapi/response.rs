//! Reads the responses of operations.

use toolgen_runtime::Shape;
use toolgen_runtime::schema::shape::{Kind, read::any_of};
use toolgen_runtime::spec::plan::Xml;

use super::context::Context;
use super::media;
use super::node::Node;

/// The maximum length of an `Accept` header.
const MAX_ACCEPT: usize = 256;

/// What is known about an operation's results.
pub(super) struct Returned {
    /// The shape of a successful result, if there is something to say about it.
    pub(super) shape: Option<Shape>,
    /// How a result that is XML is read.
    pub(super) answer: Option<Xml>,
    /// The `Accept` header; empty for anything.
    pub(super) accept: String,
    /// What the document says about success.
    pub(super) description: String,
}

impl<'a> Context<'a> {
    /// Reads the results of an operation: those of its 2xx responses, or of `default` if there are none.
    pub(super) fn returned(&mut self, operation: &Node<'a>) -> Returned {
        let responses = operation.get("responses").and_then(|node| self.resolve(&node));
        let all = responses.map(|resolved| resolved.node.entries()).unwrap_or_default();
        let mut chosen: Vec<&(&str, Node<'a>)> =
            all.iter().filter(|(status, _)| is_success(status)).collect();
        if chosen.is_empty() {
            chosen = all.iter().filter(|(status, _)| *status == "default").collect();
        }
        let mut shapes: Vec<Shape> = Vec::new();
        let mut types: Vec<&str> = Vec::new();
        let mut description = String::new();
        let mut answer = None;
        for (_, node) in chosen {
            let Some(resolved) = self.resolve(node) else { continue };
            if description.is_empty() {
                description = resolved.prose().into_owned();
            }
            let media = self.contents(operation, &resolved.node, &mut types);
            let shape = self.result_shape(&media, &mut answer);
            shapes.extend(shape.filter(|shape| !shapes.contains(shape)));
        }
        let shape = any_of(shapes).filter(|shape| *shape != Shape::ANY);
        if says_nothing(&description) {
            description.clear();
        }
        Returned { shape, answer, accept: accept(&types), description }
    }

    /// Returns the media types of a response, and adds those that are asked for.
    fn contents(
        &mut self,
        operation: &Node<'a>,
        response: &Node<'a>,
        types: &mut Vec<&'a str>,
    ) -> Vec<(&'a str, Node<'a>)> {
        let Some(content) = response.get("content") else {
            return if self.is_swagger() { self.produced(operation, response, types) } else { Vec::new() };
        };
        self.note_newer(response, "content");
        let media = self.resolve(&content).map(|resolved| resolved.node.entries()).unwrap_or_default();
        types.extend(media.iter().map(|(media_type, _)| media_type.trim()));
        media
    }

    /// Returns the shape of a result in the media type that it is read in, and how it is XML.
    fn result_shape(&mut self, media: &[(&'a str, Node<'a>)], answer: &mut Option<Xml>) -> Option<Shape> {
        use media::Kind::{Any, Json, JsonLike, Lines, Xml};
        let of = |kind: media::Kind| media.iter().find(|(name, _)| media::kind(name) == kind);
        let (name, node) = [Json, JsonLike, Any, Lines, Xml].into_iter().find_map(of)?;
        let node = self.resolve(node)?.node;
        if media::kind(name) == Lines {
            let shape = self.content_shape(&node);
            return (shape != Shape::ANY).then(|| self.lines(shape));
        }
        let schema = node.get("schema")?;
        let shape = self.shape_of(&schema, "");
        if media::kind(name) == Xml {
            if !self.is_structured(&shape) {
                return None;
            }
            // Of an answer the name of the root does not matter.
            answer.get_or_insert(self.xml(&schema, "answer"));
        }
        let bytes = matches!(&shape.kind, Kind::String(rules) if rules.format == *"binary");
        (!bytes).then_some(shape)
    }
}

fn is_success(status: &str) -> bool {
    let status = status.trim();
    status.len() == 3 && status.starts_with('2')
}

/// Whether a description only exists because OpenAPI requires one for each response.
fn says_nothing(description: &str) -> bool {
    const EMPTY: [&str; 12] = [
        "ok",
        "success",
        "successful",
        "response",
        "successful response",
        "successful operation",
        "success response",
        "default response",
        "expected response to a valid request",
        "default",
        "no content",
        "description",
    ];
    let text = description.trim_end_matches(['.', '!']).to_ascii_lowercase();
    EMPTY.contains(&text.trim()) || text.chars().all(|char| !char.is_alphabetic())
}

/// Returns the `Accept` header: JSON first, the rest in the document's order.
fn accept(types: &[&str]) -> String {
    let legal =
        |name: &str| name.contains('/') && name.chars().all(|char| matches!(char, ' '..='~') && char != ',');
    let mut sorted: Vec<&str> = types.iter().copied().filter(|name| legal(name)).collect();
    sorted.sort_by_key(|name| media::kind(name).min(media::Kind::Form));
    let mut accept = String::new();
    let mut seen: Vec<&str> = Vec::new();
    for name in sorted {
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        if accept.len() + name.len() + 2 > MAX_ACCEPT {
            return format!("{accept}, */*");
        }
        if !accept.is_empty() {
            accept.push_str(", ");
        }
        accept.push_str(name);
    }
    accept
}
