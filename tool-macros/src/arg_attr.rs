//! `#[arg(…)]`: what is said about an argument beside its type.

use proc_macro2::{Span, TokenStream};
use syn::{Expr, LitStr};

use crate::attr::{self, Key, Taken, Value};
use crate::errors::{Errors, at};
use crate::rules::{self, Rules};

/// What `#[arg(…)]` knows.
const KEYS: &[&str] = &[
    "default",
    "rename",
    "alias",
    "description",
    "range",
    "len",
    "items",
    "pattern",
    "deny_pattern",
    "deny_message",
    "one_of",
    "secret",
    "non_empty",
    "path",
    "example",
    "examples",
    "deprecated",
    "schemars",
];

/// What is said about an argument.
#[derive(Default)]
pub(crate) struct ArgAttr {
    /// What stands for it when it is not given.
    pub(crate) default: Option<Fallback>,
    /// The name a model sees, if it is not the argument's.
    pub(crate) rename: Option<LitStr>,
    /// Other names that are taken.
    pub(crate) aliases: Vec<LitStr>,
    /// What it means, if that is not said by its doc comment.
    pub(crate) description: Option<Expr>,
    /// The rules of its values.
    pub(crate) rules: Rules,
    /// It is a path that may not leave a directory.
    pub(crate) path: Option<Path>,
    /// Its schema and its decoding are those of `schemars` and `serde`.
    pub(crate) schemars: bool,
    /// There is such an attribute.
    pub(crate) given: Option<Span>,
}

/// `default` and `default = value`
pub(crate) enum Fallback {
    /// `Default::default()`
    OfType(Span),
    /// This.
    Value(Box<Expr>),
}

/// `path` and `path(within = "…")`
pub(crate) struct Path {
    /// The name of the directory.
    pub(crate) within: Option<LitStr>,
    /// Where it is said.
    pub(crate) span: Span,
}

/// Reads the attribute.
pub(crate) fn read(taken: Option<Taken>, errors: &mut Errors) -> ArgAttr {
    let mut arg = ArgAttr::default();
    let Some(Taken { tokens, span }) = taken else { return arg };
    arg.given = Some(span);
    for key in attr::keys(tokens, "`#[arg]`", KEYS, errors) {
        take(&mut arg, key, errors);
    }
    arg
}

fn take(arg: &mut ArgAttr, key: Key, errors: &mut Errors) {
    match key.as_str().as_str() {
        "default" => match key.value {
            Value::Bare => arg.default = Some(Fallback::OfType(key.name.span())),
            Value::Is(expr) => arg.default = Some(Fallback::Value(expr)),
            Value::List(_) => {
                key.refuse::<()>(errors, "stands alone or has a value: `default = 10`");
            }
        },
        "rename" => arg.rename = key.text(errors).filter(|name| is_name(name, errors)),
        "alias" => {
            let names = key.texts(errors);
            arg.aliases.extend(names.into_iter().filter(|name| is_name(name, errors)));
        }
        "description" => arg.description = key.expr(errors),
        "path" => arg.path = path(key, errors),
        "deprecated" => {
            let on = key.flag(errors).unwrap_or(false);
            arg.rules.set(quote::quote!(deprecated: #on));
        }
        "schemars" => arg.schemars = key.flag(errors).unwrap_or(false),
        _ if rules::KEYS.contains(&key.as_str().as_str()) => arg.rules.take(key, errors),
        _ => {}
    }
}

/// Providers refuse other keys (Anthropic: `^[a-zA-Z0-9_.-]{1,64}$`).
fn is_name(name: &LitStr, errors: &mut Errors) -> bool {
    let text = name.value();
    let fine = (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    if !fine {
        errors.at(
            name,
            "an argument's name has 1 to 64 ASCII letters, digits, `_`, `-` and `.`; providers refuse others",
        );
    }
    fine
}

fn path(key: Key, errors: &mut Errors) -> Option<Path> {
    let span = key.name.span();
    let form = "stands alone or names a directory: `path(within = \"workdir\")`";
    let within = match key.value {
        Value::Bare => None,
        Value::List(tokens) => {
            let mut keys = attr::keys(tokens, "`path`", &["within"], errors);
            match keys.pop() {
                Some(key) => Some(key.text(errors)?),
                None => {
                    errors.push(syn::Error::new(span, format!("`path` {form}")));
                    return None;
                }
            }
        }
        Value::Is(_) => return key.refuse(errors, form),
    };
    Some(Path { within, span })
}

impl ArgAttr {
    /// The expression of the default, of the argument's type.
    pub(crate) fn default_expr(&self) -> Option<TokenStream> {
        use quote::{quote, quote_spanned};
        Some(match self.default.as_ref()? {
            Fallback::OfType(span) => quote_spanned!(at(*span)=> __toolgen::Default::default()),
            // So that a text in quotes is one for every type of text.
            Fallback::Value(expr) if rules::is_text(expr) => quote!(__toolgen::Into::into(#expr)),
            Fallback::Value(expr) => quote!(#expr),
        })
    }
}
