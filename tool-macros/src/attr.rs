//! The grammar all attributes share: `key`, `key = value` and `key(…)`, separated by commas.
//!
//! Everything that does not match the grammar is reported; nothing is ignored.

use proc_macro2::{Delimiter, Ident, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Lit, LitBool, LitStr, Token};

use crate::errors::Errors;
use crate::names::{nearest, quoted_list};

/// An entry of an attribute.
pub(crate) struct Key {
    /// The name.
    pub(crate) name: Ident,
    /// The value.
    pub(crate) value: Value,
}

/// The value of an entry.
pub(crate) enum Value {
    /// No value: the name stands alone.
    Empty,
    /// `= value`
    Expr(Box<Expr>),
    /// `(…)`
    List(TokenStream),
}

impl Key {
    /// Returns the name as text.
    pub(crate) fn as_str(&self) -> String {
        self.name.unraw().to_string()
    }

    /// Returns the entry as written in the source.
    pub(crate) fn to_source(&self) -> String {
        let name = self.as_str();
        match &self.value {
            Value::Empty => name,
            Value::Expr(expr) => format!("{name} = {}", display_tokens(expr.to_token_stream())),
            Value::List(tokens) => format!("{name}({})", display_tokens(tokens.clone())),
        }
    }

    /// Returns the span of the value, or of the name if there is no value.
    pub(crate) fn value_span(&self) -> Span {
        match &self.value {
            Value::Expr(expr) => expr.span(),
            Value::Empty | Value::List(_) => self.name.span(),
        }
    }

    /// Returns the value, which must be a string literal.
    pub(crate) fn text(self, errors: &mut Errors) -> Option<LitStr> {
        self.text_or(EXPECTED_STRING, errors)
    }

    /// Like [`text`](Self::text); `message` is the error for other values.
    pub(crate) fn text_or(self, message: &str, errors: &mut Errors) -> Option<LitStr> {
        match self.value {
            Value::Expr(expr) => text(&expr, message, errors),
            _ => self.report_invalid(errors, "needs a string: `KEY = \"…\"`"),
        }
    }

    /// Returns the value, which must be an expression.
    pub(crate) fn expr(self, errors: &mut Errors) -> Option<Expr> {
        match self.value {
            Value::Expr(expr) => Some(*expr),
            _ => self.report_invalid(errors, "needs a value: `KEY = …`"),
        }
    }

    /// Returns the value of a flag: alone, or `= true` or `= false`.
    pub(crate) fn flag(self, errors: &mut Errors) -> Option<bool> {
        match &self.value {
            Value::Empty => Some(true),
            Value::Expr(expr) => match &**expr {
                Expr::Lit(ExprLit { lit: Lit::Bool(LitBool { value, .. }), .. }) => Some(*value),
                other => {
                    errors.at(other, format!("`{}` is a flag: write it alone, or `= false`", self.name));
                    None
                }
            },
            Value::List(_) => self.report_invalid(errors, "is a flag: write it alone, or `= false`"),
        }
    }

    /// Returns one or more strings: `KEY = "a"`, `KEY("a", "b")` or `KEY = ["a", "b"]`.
    pub(crate) fn texts(self, errors: &mut Errors) -> Vec<LitStr> {
        self.values(errors).iter().filter_map(|expr| text(expr, EXPECTED_STRING, errors)).collect()
    }

    /// Returns one or more expressions: `KEY = a`, `KEY(a, b)` or `KEY = [a, b]`.
    pub(crate) fn values(self, errors: &mut Errors) -> Vec<Expr> {
        match self.value {
            Value::Expr(expr) => match *expr {
                Expr::Array(array) => array.elems.into_iter().collect(),
                other => vec![other],
            },
            Value::List(tokens) => {
                let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
                errors.ok(parser.parse2(tokens)).into_iter().flatten().collect()
            }
            Value::Empty => {
                errors.at(&self.name, format!("`{}` needs a value", self.name));
                Vec::new()
            }
        }
    }

    /// Reports that the value has the wrong form; `KEY` in the message is replaced by the name.
    pub(crate) fn report_invalid<T>(&self, errors: &mut Errors, message: &str) -> Option<T> {
        let name = self.as_str();
        errors.at(&self.name, format!("`{name}` {}", message.replace("KEY", &name)));
        None
    }
}

const EXPECTED_STRING: &str = "expected a string literal";

/// Returns a string literal.
fn text(expr: &Expr, message: &str, errors: &mut Errors) -> Option<LitStr> {
    match ungroup(expr) {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.clone()),
        other => {
            errors.at(other, message);
            None
        }
    }
}

/// Returns the expression without the invisible parentheses that `macro_rules!` puts around its arguments.
pub(crate) fn ungroup(mut expr: &Expr) -> &Expr {
    while let Expr::Group(group) = expr {
        expr = &group.expr;
    }
    expr
}

/// Reads the entries of an attribute, each of which must be one of `known`. Messages call the attribute `attr_name`.
pub(crate) fn read_keys(
    tokens: TokenStream,
    attr_name: &str,
    known: &[&str],
    errors: &mut Errors,
) -> Vec<Key> {
    let entries = read_entries(tokens, errors);
    check_known(entries, attr_name, known, errors)
}

/// Reads the entries of an attribute, without a check of their names.
pub(crate) fn read_entries(tokens: TokenStream, errors: &mut Errors) -> Vec<Key> {
    let mut keys = Vec::new();
    for entry in split_at_commas(tokens) {
        let span = entry.span();
        match parse_key.parse2(entry) {
            Ok(key) => keys.push(key),
            Err(error) => errors.push(syn::Error::new(
                if error.span().source_text().is_some() { error.span() } else { span },
                error,
            )),
        }
    }
    keys
}

/// Returns the known entries, each once. Other entries are reported.
pub(crate) fn check_known(
    entries: Vec<Key>,
    attr_name: &str,
    known: &[&str],
    errors: &mut Errors,
) -> Vec<Key> {
    let mut accepted: Vec<Key> = Vec::new();
    for key in entries {
        let name = key.as_str();
        if !known.contains(&name.as_str()) {
            errors.at(&key.name, unknown_key(&name, attr_name, known));
        } else if accepted.iter().any(|other| other.as_str() == name) && name != "requires" {
            errors.at(&key.name, format!("duplicate key `{name}`"));
        } else {
            accepted.push(key);
        }
    }
    accepted
}

/// Returns the message for an unknown name, with a suggestion, or with all known names.
pub(crate) fn unknown_key(name: &str, attr_name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(suggestion) => format!("unknown `{name}` in {attr_name}; did you mean `{suggestion}`?"),
        None => format!("unknown `{name}` in {attr_name}; known: {}", quoted_list(known.iter().copied())),
    }
}

fn parse_key(input: ParseStream<'_>) -> syn::Result<Key> {
    if input.peek(Lit) {
        return Err(input.error(
            "an entry of an attribute begins with its name, as in `description = \"…\"`; a description is best a doc \
             comment (`/// …`)",
        ));
    }
    let name = input.call(Ident::parse_any)?;
    let value = if input.peek(Token![=]) {
        input.parse::<Token![=]>()?;
        if input.is_empty() {
            return Err(syn::Error::new(name.span(), format!("`{name}` needs a value after `=`")));
        }
        Value::Expr(input.parse()?)
    } else if input.peek(syn::token::Paren) {
        let content;
        syn::parenthesized!(content in input);
        Value::List(content.parse()?)
    } else {
        Value::Empty
    };
    if input.is_empty() {
        Ok(Key { name, value })
    } else {
        Err(input.error("expected `,` between the entries of the attribute"))
    }
}

/// Splits a list into its parts, so that an error in one does not hide errors in the others.
pub(crate) fn split_at_commas(tokens: TokenStream) -> Vec<TokenStream> {
    let mut parts = vec![TokenStream::new()];
    for token in tokens {
        match (&token, parts.last_mut()) {
            (TokenTree::Punct(punct), _) if punct.as_char() == ',' => parts.push(TokenStream::new()),
            (_, Some(part)) => part.extend([token]),
            (_, None) => {}
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Removes all attributes `#[NAME(…)]` and returns their tokens.
pub(crate) fn take_attribute(
    attributes: &mut Vec<syn::Attribute>,
    name: &str,
    errors: &mut Errors,
) -> Option<TakenAttr> {
    let mut taken: Option<TakenAttr> = None;
    attributes.retain(|attribute| {
        if !attribute.path().is_ident(name) {
            return true;
        }
        let tokens = match &attribute.meta {
            syn::Meta::Path(_) => TokenStream::new(),
            syn::Meta::List(list) => list.tokens.clone(),
            syn::Meta::NameValue(value) => {
                errors.at(value, format!("write `#[{name}(…)]`"));
                TokenStream::new()
            }
        };
        match &mut taken {
            Some(taken) => {
                taken.tokens.extend(TokenStream::from(TokenTree::Punct(proc_macro2::Punct::new(
                    ',',
                    Spacing::Alone,
                ))));
                taken.tokens.extend(tokens);
            }
            None => taken = Some(TakenAttr { tokens, span: attribute.path().span() }),
        }
        false
    });
    taken
}

/// The result of [`take_attribute`].
pub(crate) struct TakenAttr {
    /// The tokens in the parentheses.
    pub(crate) tokens: TokenStream,
    /// The span of the attribute's name.
    pub(crate) span: Span,
}

/// Formats tokens like source code.
pub(crate) fn display_tokens(tokens: impl ToTokens) -> String {
    let mut text = String::new();
    let mut after_word = false;
    for token in tokens.to_token_stream() {
        let is_word = matches!(token, TokenTree::Ident(_) | TokenTree::Literal(_));
        if is_word && after_word {
            text.push(' ');
        }
        match &token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{ ", " }"),
                    Delimiter::None => ("", ""),
                };
                text.extend([open, &display_tokens(group.stream()), close]);
            }
            TokenTree::Punct(punct) => match punct.as_char() {
                ',' | ';' => text.extend([punct.as_char(), ' ']),
                '+' => text.push_str(" + "),
                // The `=` of `..=` and `=>` takes no spaces.
                '=' if punct.spacing() == Spacing::Alone && !text.ends_with(['.', '=']) => {
                    text.push_str(" = ");
                }
                other => text.push(other),
            },
            TokenTree::Ident(_) | TokenTree::Literal(_) => text.push_str(&token.to_string()),
        }
        after_word = is_word;
    }
    text.trim_end().to_owned()
}

/// Returns the tokens with every named lifetime replaced by `lifetime`.
pub(crate) fn with_lifetimes(tokens: TokenStream, lifetime: &Ident) -> TokenStream {
    let mut after_quote = false;
    let replaced = tokens.into_iter().map(|token| match token {
        TokenTree::Group(group) => {
            let inner = with_lifetimes(group.stream(), lifetime);
            let mut new = proc_macro2::Group::new(group.delimiter(), inner);
            new.set_span(group.span());
            TokenTree::Group(new)
        }
        TokenTree::Ident(ident) if std::mem::take(&mut after_quote) => {
            TokenTree::Ident(Ident::new(&lifetime.to_string(), ident.span()))
        }
        TokenTree::Punct(punct) => {
            after_quote = punct.as_char() == '\'';
            TokenTree::Punct(punct)
        }
        other => other,
    });
    replaced.collect()
}

/// Returns the tokens with `Self` replaced by the type of the `impl` block.
pub(crate) fn with_self(tokens: TokenStream, this: &TokenStream) -> TokenStream {
    let replaced = tokens.into_iter().map(|token| match token {
        TokenTree::Group(group) => {
            let mut new = proc_macro2::Group::new(group.delimiter(), with_self(group.stream(), this));
            new.set_span(group.span());
            TokenTree::Group(new).into_token_stream()
        }
        TokenTree::Ident(ident) if ident == "Self" => {
            TokenTree::Group(proc_macro2::Group::new(Delimiter::None, this.clone())).into_token_stream()
        }
        other => other.into_token_stream(),
    });
    replaced.collect()
}
