//! Front ends: one per kind of document, each in its own directory.
//!
//! All other modules use only the trait [`Frontend`]. To add a front end, create a directory with its implementation
//! and the table of its problem codes, and add it to the list below.

pub mod manifest;
pub mod mcp;
pub mod openapi;
pub mod surface;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde_json::Value;
use toolgen_core::internal::article;
use toolgen_core::{Effects, InvisibleChar};

use crate::argument_rules::fix;
use crate::options::Options;
use crate::overlay::{Overlaid, overlaid};
use crate::pagination::paginate;
use crate::problem::{Code, Problems, codes};
use crate::selection::check_credentials;
use crate::source::{Document, Pointer, Source};
use crate::tool::Program;
use crate::{schema_losses, size};

/// All front ends.
static FRONT_ENDS: &[&dyn Frontend] =
    &[&openapi::OpenApi, &manifest::Manifest, &mcp::Mcp, &surface::ContractLock];

/// Compiles one kind of document to tools.
pub trait Frontend: Sync {
    /// Returns the name of the kind in reports, such as `openapi`.
    fn name(&self) -> &'static str;

    /// Returns the noun for a document of the kind, after "a" or "no": `OpenAPI document`.
    fn title(&self) -> &'static str;

    /// Returns how to recognise a document of the kind: help for a user who passed another kind of document.
    fn mark(&self) -> &'static str;

    /// Whether a document is of this kind. Only the marks of the kind count: a broken document or an unsupported
    /// version with these marks is of this kind, and [`lower`](Frontend::lower) reports the errors.
    fn claims(&self, document: &Document) -> Claim;

    /// Compiles a document that this front end claims. An operation that cannot be compiled is omitted, with a problem.
    ///
    /// Returns `None` if nothing can be compiled; an error among the problems gives the reason.
    fn lower(&self, document: &Arc<Document>, options: &Options, problems: &mut Problems) -> Option<Program>;

    /// Returns the codes of the problems that only this front end reports.
    fn codes(&self) -> &'static [Code];
}

/// How a front end classifies a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The document is of another kind.
    No,
    /// The document is not supported, but is closely related to a supported kind. The string says what to do.
    Near(&'static str),
    /// The document is of this kind.
    Yes,
}

/// All front ends.
#[must_use]
pub fn all() -> &'static [&'static dyn Frontend] {
    FRONT_ENDS
}

/// Compiles a document of any kind.
///
/// Returns `None` if nothing can be compiled, because no front end or several claim the document, or because
/// the front end cannot read it; an error among the problems gives the reason.
pub fn compile(document: &Arc<Document>, options: &Options, problems: &mut Problems) -> Option<Program> {
    compile_with(FRONT_ENDS, document, options, problems)
}

fn compile_with(
    front_ends: &[&dyn Frontend],
    document: &Arc<Document>,
    options: &Options,
    problems: &mut Problems,
) -> Option<Program> {
    let Overlaid { document, sources } = overlaid(document, options, problems)?;
    let mut program = claimant(front_ends, &document, problems)?.lower(&document, options, problems)?;
    program.sources.extend(sources);
    program.sources.sort();
    check_credentials(options, &program.schemes, problems);
    fix(&mut program, options, problems);
    paginate(&mut program, options, problems);
    size::trim(&mut program, options, problems);
    size::project(&mut program, options.projection);
    schema_losses::mark_exact(&mut program, options, problems);
    Some(program)
}

/// Returns the front end that claims a document. If none or several claim it, reports them and their marks.
fn claimant<'f>(
    front_ends: &[&'f dyn Frontend],
    document: &Document,
    problems: &mut Problems,
) -> Option<&'f dyn Frontend> {
    let claims: Vec<(&dyn Frontend, Claim)> =
        front_ends.iter().map(|front_end| (*front_end, front_end.claims(document))).collect();
    let claiming: Vec<&'f dyn Frontend> =
        claims.iter().filter(|(_, claim)| *claim == Claim::Yes).map(|(front_end, _)| *front_end).collect();
    match claiming.as_slice() {
        [front_end] => Some(*front_end),
        [] => {
            let near = claims.iter().filter_map(|(front_end, claim)| match claim {
                Claim::Near(hint) => Some((*front_end, *hint)),
                Claim::No | Claim::Yes => None,
            });
            let (near, hints): (Vec<&dyn Frontend>, Vec<&str>) = near.unzip();
            let (kinds, help) = if near.is_empty() {
                (front_ends.to_vec(), front_ends.iter().map(|front_end| front_end.mark()).collect())
            } else {
                (near, hints)
            };
            let with_article = |front_end: &&dyn Frontend| {
                let title = front_end.title();
                format!("{} {title}", article(title))
            };
            let titles: Vec<String> = kinds.iter().map(with_article).collect();
            let message = format!("this is not {}", enumerated(&titles, "or"));
            problems.report(codes::UNKNOWN_KIND, &Pointer::ROOT, message, help.join("; "));
            None
        }
        claimants => {
            let names: Vec<String> =
                claimants.iter().map(|front_end| format!("`{}`", front_end.name())).collect();
            let marks: Vec<&str> = claimants.iter().map(|front_end| front_end.mark()).collect();
            let message =
                format!("this document has the marks of several kinds: {}", enumerated(&names, "and"));
            let help = format!("remove those that are not meant: {}", marks.join("; "));
            problems.report(codes::TWO_KINDS, &Pointer::ROOT, message, help);
            None
        }
    }
}

/// Joins items as `a`, `a and b`, `a, b and c`, with the conjunction.
fn enumerated(items: &[String], conjunction: &str) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [rest @ .., last] => format!("{} {conjunction} {last}", rest.join(", ")),
    }
}

/// Returns the effects of a method according to HTTP (RFC 9110, section 9.2). A method that is not safe is assumed to
/// be destructive: a service decides what POST does, and many services delete with it.
fn effects_of_method(method: &str) -> Effects {
    let read_only = matches!(method, "GET" | "HEAD" | "OPTIONS" | "TRACE" | "QUERY");
    Effects {
        read_only,
        destructive: !read_only,
        idempotent: read_only || matches!(method, "PUT" | "DELETE"),
        open_world: true,
        ..Effects::NONE
    }
}

/// The keys whose values are descriptions or other prose.
const PROSE: &[&str] = &["summary", "description", "title", "label", "returns", "use_for", "doc_override"];

/// Reports prose of a document that contains invisible characters.
fn report_hidden(source: &Arc<Source>, root: &Value, problems: &mut Problems) {
    if source.text.is_ascii() && !source.text.contains("\\u") && !source.text.contains("\\x") {
        return;
    }
    let mut pending = vec![(Pointer::ROOT, root)];
    while let Some((pointer, value)) = pending.pop() {
        match value {
            Value::Object(members) => {
                for (key, value) in members {
                    match value {
                        Value::String(text) if PROSE.contains(&key.as_str()) => {
                            let Some(finding) = InvisibleChar::describe_first(text) else { continue };
                            let help = "remove it: it is invisible to people who read the text";
                            let message = format!("the text {finding}");
                            problems.report_in(source, codes::HIDDEN, &pointer.child(key), message, help);
                        }
                        Value::Object(_) | Value::Array(_) => pending.push((pointer.child(key), value)),
                        _ => {}
                    }
                }
            }
            Value::Array(items) => {
                let nested = items.iter().enumerate().filter(|(_, item)| item.is_object() || item.is_array());
                pending.extend(nested.map(|(index, item)| (pointer.item(index), item)));
            }
            _ => {}
        }
    }
}
