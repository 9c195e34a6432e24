//! `#[arg(…)]`: the properties of an argument in addition to its type.

use proc_macro2::{Span, TokenStream};
use syn::{Expr, LitStr};

use crate::attr::{self, Key, TakenAttr, Value};
use crate::errors::{Errors, at};
use crate::foreign_keys;
use crate::rules::{self, ArgumentRules};

/// The keys of `#[arg(…)]`, except for the keys of rules.
const KEYS: &[&str] = &["default", "rename", "alias", "description", "path", "deprecated", "schemars"];

/// The properties of an argument.
#[derive(Default)]
pub(crate) struct ArgAttr {
    /// The default value.
    pub(crate) default: Option<DefaultValue>,
    /// The name that a model sees, if it differs from the argument's.
    pub(crate) rename: Option<LitStr>,
    /// Other accepted names.
    pub(crate) aliases: Vec<LitStr>,
    /// The description, if it is not the doc comment.
    pub(crate) description: Option<Expr>,
    /// The rules for values.
    pub(crate) rules: ArgumentRules,
    /// Set if the argument is a path that must stay inside a directory.
    pub(crate) path: Option<Path>,
    /// Whether `schemars` provides the schema and `serde` the decoding.
    pub(crate) schemars: bool,
}

/// `default` and `default = value`
pub(crate) enum DefaultValue {
    /// `Default::default()`
    OfType(Span),
    /// A value from the attribute.
    Value(Box<Expr>),
}

/// `path` and `path(within = "…")`
pub(crate) struct Path {
    /// The name of the directory.
    pub(crate) within: Option<LitStr>,
    /// The span of the key.
    pub(crate) span: Span,
}

/// Reads the attribute.
pub(crate) fn read(taken: Option<TakenAttr>, errors: &mut Errors) -> ArgAttr {
    let mut arg = ArgAttr::default();
    let Some(TakenAttr { tokens, .. }) = taken else { return arg };
    let known: Vec<&str> = KEYS.iter().copied().chain(rules::keys()).collect();
    for key in foreign_keys::argument_keys(tokens, "`#[arg]`", &known, errors) {
        take(&mut arg, key, errors);
    }
    arg.rules.check(errors);
    arg
}

fn take(arg: &mut ArgAttr, key: Key, errors: &mut Errors) {
    match key.as_str().as_str() {
        "default" => match key.value {
            Value::Empty => arg.default = Some(DefaultValue::OfType(key.name.span())),
            Value::Expr(expr) => arg.default = Some(DefaultValue::Value(expr)),
            Value::List(_) => {
                key.report_invalid::<()>(errors, "stands alone or has a value: `default = 10`");
            }
        },
        "rename" => arg.rename = key.text(errors).filter(|name| check_name(name, errors)),
        "alias" => {
            let names = key.texts(errors);
            arg.aliases.extend(names.into_iter().filter(|name| check_name(name, errors)));
        }
        "description" => arg.description = key.expr(errors),
        "path" => arg.path = path(key, errors),
        "deprecated" => {
            let is_deprecated = key.flag(errors).unwrap_or(false);
            arg.rules.set(quote::quote!(deprecated: #is_deprecated));
        }
        "schemars" => arg.schemars = key.flag(errors).unwrap_or(false),
        _ => arg.rules.take(key, errors),
    }
}

/// Checks a name: vendors reject other keys (Anthropic: `^[a-zA-Z0-9_.-]{1,64}$`).
fn check_name(name: &LitStr, errors: &mut Errors) -> bool {
    let text = name.value();
    let is_valid = (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    if !is_valid {
        errors.at(
            name,
            "an argument's name has 1 to 64 ASCII letters, digits, `_`, `-` and `.`; vendors reject others",
        );
    }
    is_valid
}

fn path(key: Key, errors: &mut Errors) -> Option<Path> {
    let span = key.name.span();
    let form = "stands alone or names a directory: `path(within = \"workdir\")`";
    let within = match key.value {
        Value::Empty => None,
        Value::List(tokens) => {
            let mut keys = attr::read_keys(tokens, "`path`", &["within"], errors);
            match keys.pop() {
                Some(key) => Some(key.text(errors)?),
                None => {
                    errors.push(syn::Error::new(span, format!("`path` {form}")));
                    return None;
                }
            }
        }
        Value::Expr(_) => return key.report_invalid(errors, form),
    };
    Some(Path { within, span })
}

impl ArgAttr {
    /// Returns constant expressions that check whether the rules, the default and the examples are valid for the type.
    /// The type is written as `text` and has the shape of the expression `shape`.
    pub(crate) fn checks(&self, shape: &TokenStream, text: &str) -> Vec<TokenStream> {
        let default = match &self.default {
            Some(DefaultValue::Value(expr)) => Some(&**expr),
            Some(DefaultValue::OfType(_)) | None => None,
        };
        self.rules.checks(shape, text, default)
    }

    /// Returns the expression of the default, of the argument's type.
    pub(crate) fn default_expr(&self) -> Option<TokenStream> {
        use quote::quote_spanned;
        Some(match self.default.as_ref()? {
            DefaultValue::OfType(span) => quote_spanned!(at(*span)=> __toolgen::Default::default()),
            DefaultValue::Value(expr) => rules::convert_default(expr),
        })
    }
}
