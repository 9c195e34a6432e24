//! Reads doc comments as documentation for a model.
//!
//! The text before the first section describes the tool. `# Returns`, `# Use for`, `# Examples` and `# Arguments`
//! are separate sections; `# Errors`, `# Panics` and `# Safety`, and Rust code blocks, are for people only.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

use crate::attr::ungroup;

/// The content of a doc comment.
#[derive(Default)]
pub(crate) struct Docs {
    /// The description: a text, or an expression that evaluates to one.
    pub(crate) description: Option<Description>,
    /// The returned value.
    pub(crate) returns: String,
    /// When to use it.
    pub(crate) use_for: String,
    /// Example calls.
    pub(crate) examples: Vec<Example>,
    /// The arguments in the section on arguments: name and text.
    pub(crate) arguments: Vec<(String, String)>,
    /// The span of the comment.
    pub(crate) span: Option<Span>,
}

/// A description.
pub(crate) enum Description {
    /// A text known at expansion.
    Text(String),
    /// An expression for the compiler: `#[doc = include_str!(…)]`.
    Expr(TokenStream),
}

impl Description {
    /// Returns the expression, of type `&'static str`.
    pub(crate) fn to_expr(&self) -> TokenStream {
        match self {
            Description::Text(text) => text.to_token_stream(),
            Description::Expr(expr) => expr.clone(),
        }
    }
}

/// An example call.
pub(crate) struct Example {
    /// The purpose of the call.
    pub(crate) summary: String,
    /// The arguments, as JSON.
    pub(crate) arguments: String,
    /// Where it is written, if not in the documentation.
    pub(crate) span: Option<Span>,
}

/// Reads the doc comments among the attributes.
pub(crate) fn read(attributes: &[Attribute]) -> Docs {
    let mut lines = Vec::new();
    let mut parts = Vec::new();
    let mut is_literal = true;
    let mut span = None;
    for attribute in attributes {
        let Meta::NameValue(meta) = &attribute.meta else { continue };
        if !meta.path.is_ident("doc") {
            continue;
        }
        span.get_or_insert(attribute.span());
        if let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = ungroup(&meta.value) {
            let text = text.value();
            // Lines of a block comment may start with `*`. In a single line, `*` starts a list item.
            let is_block = text.contains('\n');
            lines.extend(text.lines().map(|line| strip_markers(line, is_block)));
        } else {
            is_literal = false;
        }
        parts.push(&meta.value);
    }
    let mut docs = if is_literal { parse_sections(&lines) } else { Docs::default() };
    if !is_literal {
        let concatenated = parts.iter().map(|part| quote!(#part, "\n",));
        docs.description = Some(Description::Expr(quote!(::core::concat!(#(#concatenated)*).trim_ascii())));
    }
    docs.span = span;
    docs
}

/// Returns a line without its comment markers.
fn strip_markers(line: &str, is_block: bool) -> String {
    let trimmed = line.trim_end();
    let content = trimmed.trim_start().strip_prefix('*').filter(|_| is_block).map(|rest| rest.trim_start());
    content.or_else(|| trimmed.strip_prefix(' ')).unwrap_or(trimmed).to_owned()
}

#[derive(Clone, Copy, PartialEq)]
enum Section {
    Description,
    Returns,
    UseFor,
    Examples,
    Arguments,
    HumanOnly,
}

fn parse_heading(line: &str) -> Option<Section> {
    let text = line.strip_prefix('#')?.trim_start_matches('#').trim();
    Some(match text.trim_end_matches(':').to_lowercase().as_str() {
        "returns" | "return" => Section::Returns,
        "use for" | "use when" | "when to use" => Section::UseFor,
        "examples" | "example" => Section::Examples,
        "arguments" | "parameters" | "args" => Section::Arguments,
        "errors" | "panics" | "safety" => Section::HumanOnly,
        _ => return None,
    })
}

fn parse_sections(lines: &[String]) -> Docs {
    let mut docs = Docs::default();
    let mut section = Section::Description;
    let mut bodies: [Vec<&str>; 3] = Default::default();
    let mut example = ExampleReader::default();
    // `Some` inside a code block: whether the block is Rust code, which is for people only.
    let mut fence: Option<bool> = None;
    for line in lines {
        if let Some(info) = line.trim_start().strip_prefix("```") {
            let is_rust_block = fence.unwrap_or_else(|| is_rust(info));
            fence = if fence.is_some() { None } else { Some(is_rust_block) };
            if section == Section::Examples {
                example.handle_fence(fence.is_some() && !is_rust_block, &mut docs.examples);
            } else if !is_rust_block {
                push_line(&mut bodies, section, line);
            }
            continue;
        }
        match (fence, parse_heading(line)) {
            (Some(true), _) => {}
            (None, Some(new)) => section = new,
            _ if section == Section::Examples => example.handle_line(line, &mut docs.examples),
            _ if section == Section::Arguments => parse_argument(line, &mut docs.arguments),
            _ => push_line(&mut bodies, section, line),
        }
    }
    let [description, returns, use_for] = bodies.map(|body| join_paragraphs(&body));
    docs.description = (!description.is_empty()).then_some(Description::Text(description));
    (docs.returns, docs.use_for) = (returns, use_for);
    docs
}

fn push_line<'a>(bodies: &mut [Vec<&'a str>; 3], section: Section, line: &'a str) {
    match section {
        Section::Description => bodies[0].push(line),
        Section::Returns => bodies[1].push(line),
        Section::UseFor => bodies[2].push(line),
        Section::Examples | Section::Arguments | Section::HumanOnly => {}
    }
}

/// Whether rustdoc would test the block.
fn is_rust(info: &str) -> bool {
    let rust_words =
        ["", "rust", "ignore", "no_run", "should_panic", "compile_fail", "edition2021", "edition2024"];
    info.trim().split(',').all(|word| rust_words.contains(&word.trim()))
}

/// Joins the lines of each paragraph. Lists, tables and code keep their line breaks.
fn join_paragraphs(lines: &[&str]) -> String {
    let mut text = String::new();
    let mut in_code = false;
    for line in lines {
        let is_fence = line.trim_start().starts_with("```");
        let keeps_line = in_code
            || is_fence
            || line.trim_start().starts_with(['-', '*', '|', '>', '#'])
            || is_numbered(line);
        if line.is_empty() && !in_code {
            if !text.is_empty() && !text.ends_with("\n\n") {
                text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
            }
        } else {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push(if keeps_line { '\n' } else { ' ' });
            }
            text.push_str(if keeps_line { line } else { line.trim() });
        }
        in_code ^= is_fence;
        if in_code || is_fence {
            text.push('\n');
        }
    }
    text.trim().to_owned()
}

fn is_numbered(line: &str) -> bool {
    line.trim_start()
        .split_once(". ")
        .is_some_and(|(number, _)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Reads `- name: text` or ``* `name` - text``, and continuation lines.
fn parse_argument(line: &str, arguments: &mut Vec<(String, String)>) {
    let item = line.trim_start().strip_prefix(['-', '*']).map(str::trim_start);
    let argument = item.and_then(|item| {
        let (name, text) = match item.strip_prefix('`') {
            Some(rest) => rest.split_once('`')?,
            None => item.split_at(item.find([':', ' ', '-'])?),
        };
        Some((name.trim().to_owned(), text.trim_start_matches([' ', ':', '-', '–', '—']).trim().to_owned()))
    });
    match (argument, arguments.last_mut()) {
        (Some(argument), _) => arguments.push(argument),
        (None, Some((_, text))) if !line.trim().is_empty() => {
            text.push(' ');
            text.push_str(line.trim());
        }
        _ => {}
    }
}

/// Reads examples: a summary, then the arguments as a JSON block or, on one line, in backticks.
#[derive(Default)]
struct ExampleReader {
    summary: Vec<String>,
    block: Option<String>,
}

impl ExampleReader {
    fn handle_fence(&mut self, is_opening: bool, examples: &mut Vec<Example>) {
        if is_opening {
            self.block = Some(String::new());
        } else if let Some(block) = self.block.take() {
            examples.push(Example {
                summary: self.take_summary(),
                arguments: block.trim().to_owned(),
                span: None,
            });
        }
    }

    fn handle_line(&mut self, line: &str, examples: &mut Vec<Example>) {
        if let Some(block) = &mut self.block {
            block.push_str(line);
            block.push('\n');
            return;
        }
        let line = line.trim().trim_start_matches(['-', '*']).trim();
        match (line.find("`{"), line.rfind("}`")) {
            (Some(start), Some(end)) if start < end => {
                self.summary.push(line[..start].trim().to_owned());
                let arguments = line[start + 1..=end].to_owned();
                examples.push(Example { summary: self.take_summary(), arguments, span: None });
            }
            _ if !line.is_empty() => self.summary.push(line.to_owned()),
            _ => {}
        }
    }

    fn take_summary(&mut self) -> String {
        let summary = std::mem::take(&mut self.summary).join(" ");
        summary.trim().trim_end_matches(':').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn docs(text: &str) -> Docs {
        parse_sections(&text.lines().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn doc_comment_sections_are_recognized() {
        let docs = docs(
            "Finds things\nby name.\n\n- one\n- two\n\n# Arguments\n\n- `q`: what to find\n  and where\n* limit - how many\n\n\
             # Returns\nA list.\n\n# Use for\nSearching.\n\n# Examples\nThe usual:\n```json\n{\"q\": \"x\"}\n```\n- Short: `{\"q\": \"y\"}`\n\n\
             ```\nfind(\"x\");\n```\n# Errors\nNever shown.\n",
        );
        assert!(
            matches!(&docs.description, Some(Description::Text(text)) if text == "Finds things by name.\n\n- one\n- two")
        );
        assert_eq!(docs.returns, "A list.");
        assert_eq!(docs.use_for, "Searching.");
        let examples: Vec<_> =
            docs.examples.iter().map(|e| (e.summary.as_str(), e.arguments.as_str())).collect();
        assert_eq!(examples, [("The usual", "{\"q\": \"x\"}"), ("Short", "{\"q\": \"y\"}")]);
        let arguments: Vec<_> = docs.arguments.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
        assert_eq!(arguments, [("q", "what to find and where"), ("limit", "how many")]);
    }

    #[test]
    fn other_headings_and_code_are_kept() {
        let docs = docs("# Notes\nKept.\n```text\n# Returns\n```");
        assert!(
            matches!(&docs.description, Some(Description::Text(text)) if text.contains("# Notes") && text.contains("# Returns"))
        );
        assert!(docs.returns.is_empty());
    }
}
