//! `#[tool(…)]`: the properties of a tool in addition to its function.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Expr, LitStr, Path, Token};

use crate::attr::{self, Key, Value};
use crate::dialects::DIALECTS;
use crate::effects::{self, Effects};
use crate::errors::Errors;
use crate::hints;
use crate::names;
use crate::requires::{self, Requirement};

/// The keys of `#[tool(…)]`.
const KEYS: &[&str] = &[
    "name",
    "label",
    "description",
    "doc_override",
    "category",
    "scopes",
    "timeout",
    "read_only",
    "destructive",
    "idempotent",
    "open_world",
    "pure",
    "files",
    "network",
    "spawns",
    "requires",
    "exactly_one",
    "at_most_one",
    "complete",
    "service",
    "reads",
    "writes",
    "exclusive",
    "result_limit",
    "fields",
    "blocking",
    "deprecated",
    "undocumented",
    "dialects",
    "exact",
    "example",
    "hints",
    "ignore_unknown",
    "crate",
];

/// The properties of a tool.
#[derive(Default)]
pub(crate) struct ToolAttr {
    /// The name, if it differs from the function's.
    pub(crate) name: Option<LitStr>,
    /// The description, if it is not the doc comment.
    pub(crate) description: Option<Expr>,
    /// The effects.
    pub(crate) effects: Effects,
    /// Set if the function runs on a thread for blocking code.
    pub(crate) blocking: Option<Ident>,
    /// The timeout, if the attribute sets one.
    pub(crate) timeout: Option<LitStr>,
    /// Whether descriptions are optional.
    pub(crate) undocumented: bool,
    /// Whether dialects must be able to express all rules of the tool.
    pub(crate) exact: bool,
    /// Whether the tool ignores unknown arguments. Its schema then allows them.
    pub(crate) ignore_unknown: bool,
    /// The dialects that the tool must support.
    pub(crate) dialects: Vec<Ident>,
    /// The path of the runtime.
    pub(crate) runtime: Option<Path>,
    /// Rules between arguments.
    pub(crate) relations: Vec<Relation>,
    /// The requirements that must be met before a call.
    pub(crate) requires: Vec<Requirement>,
    /// The resources that the tool reads and writes; `{name}` is the value of an argument.
    pub(crate) resources: Vec<LitStr>,
    /// The hint that the arguments are text.
    pub(crate) text_input: Option<Span>,
    /// Example calls, as JSON objects.
    pub(crate) examples: Vec<LitStr>,
    /// Other fields of the specification.
    pub(crate) fields: Vec<TokenStream>,
}

/// A rule between arguments.
pub(crate) struct Relation {
    /// The kind of rule, by its name in the runtime.
    pub(crate) kind: Ident,
    /// The arguments.
    pub(crate) arguments: Vec<Ident>,
}

/// Reads the attribute.
pub(crate) fn read(tokens: TokenStream, errors: &mut Errors) -> ToolAttr {
    let mut tool = ToolAttr::default();
    for key in attr::read_keys(tokens, "`#[tool]`", KEYS, errors) {
        read_key(&mut tool, key, errors);
    }
    if !tool.requires.is_empty() {
        let requires = tool.requires.iter().map(|requirement| &requirement.value);
        tool.fields.push(quote!(requires: __toolgen::S(const { &[#(#requires),*] })));
    }
    tool
}

fn read_key(tool: &mut ToolAttr, key: Key, errors: &mut Errors) {
    let name = key.as_str();
    match name.as_str() {
        "name" => {
            tool.name = key.text(errors).filter(|text| match names::tool_name_problem(&text.value()) {
                Some(problem) => {
                    errors.at(text, problem);
                    false
                }
                None => true,
            });
        }
        "label" | "category" | "service" => {
            if let Some(text) = key.text(errors) {
                let field = Ident::new(&name, text.span());
                tool.fields.push(quote!(#field: __toolgen::S(#text)));
            }
        }
        "description" => tool.description = key.expr(errors),
        "doc_override" => {
            if let Some(text) = key.text(errors) {
                if text.value().trim().is_empty() {
                    errors.at(
                        &text,
                        "it is empty; remove it, and the documentation is generated from the tool",
                    );
                }
                tool.fields.push(quote!(documentation: __toolgen::S(#text)));
            }
        }
        "scopes" | "reads" | "writes" => {
            let field = Ident::new(&name, key.name.span());
            let texts = key.texts(errors);
            tool.fields.push(quote!(#field: __toolgen::S(const { &[#(__toolgen::S(#texts)),*] })));
            if name != "scopes" {
                tool.resources.extend(texts);
            }
        }
        "timeout" => {
            if let Some(text) = key.text_or(TIMEOUT_HELP, errors)
                && let Some(timeout) = timeout(&text, errors)
            {
                tool.fields.push(quote!(timeout: #timeout));
                tool.timeout = Some(text).filter(|text| text.value() != "none");
            }
        }
        "result_limit" => tool.fields.extend(result_limit(key, errors)),
        "example" => tool.examples.extend(key.texts(errors)),
        "hints" => hints::read(key, tool, errors),
        "requires" => requires(tool, key, errors),
        "exactly_one" | "at_most_one" => relation(tool, key, errors),
        "complete" => complete(tool, key, errors),
        "exclusive" | "exact" => {
            let field = key.name.clone();
            if key.flag(errors) == Some(true) {
                tool.exact |= field == "exact";
                tool.fields.push(quote!(#field: true));
            }
        }
        "fields" => tool.fields.extend(projection(key, errors)),
        "blocking" => {
            let ident = key.name.clone();
            tool.blocking = key.flag(errors).filter(|on| *on).map(|_| ident);
        }
        "ignore_unknown" => tool.ignore_unknown = key.flag(errors) == Some(true),
        "undocumented" => tool.undocumented = key.flag(errors).unwrap_or(true),
        "deprecated" => {
            let text = match key.value {
                Value::Empty => quote!(""),
                _ => key.text(errors).into_token_stream(),
            };
            tool.fields.push(quote!(deprecated: __toolgen::Some(__toolgen::S(#text))));
        }
        "dialects" => tool.dialects = dialects(key, errors),
        "crate" => tool.runtime = path(key, errors),
        _ => effects::read_key(&mut tool.effects, key, errors),
    }
}

fn path(key: Key, errors: &mut Errors) -> Option<Path> {
    let expr = key.expr(errors)?;
    errors.ok(syn::parse2(expr.to_token_stream()))
}

fn dialects(key: Key, errors: &mut Errors) -> Vec<Ident> {
    let Value::List(tokens) = key.value else {
        key.report_invalid::<()>(errors, "names dialects: `dialects(openai_strict, gemini)`");
        return Vec::new();
    };
    let idents = errors.ok(Punctuated::<Ident, Token![,]>::parse_terminated.parse2(tokens));
    let idents = idents.into_iter().flatten().filter(|ident| {
        let name = ident.to_string();
        let is_known = DIALECTS.contains(&name.as_str());
        if !is_known {
            errors.at(ident, attr::unknown_key(&name, "`dialects`", DIALECTS));
        }
        is_known
    });
    idents.collect()
}

const TIMEOUT_HELP: &str =
    "a timeout is a number with a unit, such as `\"500ms\"`, `\"30s\"`, `\"5m\"` or `\"1h\"`, or `\"none\"`";
const SIZE_HELP: &str = "a size is a number with a unit, such as `\"500B\"`, `\"64KiB\"` or `\"1MiB\"`";

fn timeout(text: &LitStr, errors: &mut Errors) -> Option<TokenStream> {
    if text.value() == "none" {
        return Some(quote!(__toolgen::Timeout::Never));
    }
    let units = [("ms", 1), ("s", 1_000), ("m", 60_000), ("min", 60_000), ("h", 3_600_000)];
    let millis = parse_quantity(text, &units, TIMEOUT_HELP, errors)?;
    Some(quote!(__toolgen::Timeout::Millis(#millis)))
}

/// Reads `fields`. The runtime adds the argument, because it knows the named types of the result.
fn projection(key: Key, errors: &mut Errors) -> Option<TokenStream> {
    (key.flag(errors) == Some(true)).then(|| quote!(projection: __toolgen::S("fields")))
}

/// Reads `result_limit = "64KiB"`.
fn result_limit(key: Key, errors: &mut Errors) -> Option<TokenStream> {
    let text = key.text_or(SIZE_HELP, errors)?;
    let units = [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20)];
    let bytes = parse_quantity(&text, &units, SIZE_HELP, errors)?;
    Some(quote!(result_limit: __toolgen::Some(#bytes)))
}

/// Parses a number above zero with one of these units. Returns the number in the smallest unit.
fn parse_quantity(text: &LitStr, units: &[(&str, u64)], help: &str, errors: &mut Errors) -> Option<u64> {
    let value = text.value();
    let digits_end = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    let (number, unit) = value.split_at(digits_end);
    let factor = units.iter().find(|(name, _)| *name == unit.trim());
    let product = factor.and_then(|(_, factor)| number.parse::<u64>().ok()?.checked_mul(*factor));
    let amount = product.filter(|amount| *amount > 0);
    if amount.is_none() {
        errors.at(text, help);
    }
    amount
}

fn complete(tool: &mut ToolAttr, key: Key, errors: &mut Errors) {
    let next_state = match key.value {
        Value::Empty => Some(quote!("")),
        Value::List(tokens) => {
            let keys = attr::read_keys(tokens, "`complete`", &["next_state"], errors);
            keys.into_iter().filter_map(|key| key.text(errors)).next().map(ToTokens::into_token_stream)
        }
        Value::Expr(_) => {
            key.report_invalid(errors, "stands alone or sets a state: `complete(next_state = \"…\")`")
        }
    };
    if let Some(next_state) = next_state {
        tool.fields.push(quote!(
            completion: __toolgen::Some(__toolgen::Completion { next_state: __toolgen::S(#next_state) })
        ));
    }
}

/// Reads `requires(a => b)`, a rule between arguments, or `requires(context("…"))`, a requirement of the environment.
fn requires(tool: &mut ToolAttr, key: Key, errors: &mut Errors) {
    let Value::List(tokens) = key.value else {
        key.report_invalid::<()>(
            errors,
            "needs what is required: `requires(session(\"cart\"))`, or `requires(a => b)` between arguments",
        );
        return;
    };
    for entry in attr::split_at_commas(tokens) {
        if is_arrow(&entry) {
            let parser = |input: syn::parse::ParseStream<'_>| {
                let first: Ident = input.parse()?;
                input.parse::<Token![=>]>()?;
                Ok(vec![first, input.parse()?])
            };
            if let Some(arguments) = errors.ok(parser.parse2(entry)) {
                tool.relations.push(Relation { kind: Ident::new("Requires", key.name.span()), arguments });
            }
        } else if let Some(requirement) = requires::read(entry, errors) {
            tool.requires.push(requirement);
        }
    }
}

fn is_arrow(tokens: &TokenStream) -> bool {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    tokens.windows(2).any(|pair| match pair {
        [TokenTree::Punct(first), TokenTree::Punct(second)] => {
            first.as_char() == '=' && second.as_char() == '>'
        }
        _ => false,
    })
}

fn relation(tool: &mut ToolAttr, key: Key, errors: &mut Errors) {
    let kind = if key.as_str() == "exactly_one" { "ExactlyOne" } else { "AtMostOne" };
    let kind = Ident::new(kind, key.name.span());
    let Value::List(tokens) = key.value else {
        key.report_invalid::<()>(errors, "names arguments: `KEY(a, b)`");
        return;
    };
    let Some(arguments) = errors.ok(Punctuated::<Ident, Token![,]>::parse_terminated.parse2(tokens)) else {
        return;
    };
    if arguments.len() < 2 {
        errors.at(&key.name, format!("`{}` needs at least two arguments to choose from", key.name));
        return;
    }
    tool.relations.push(Relation { kind, arguments: arguments.into_iter().collect() });
}
