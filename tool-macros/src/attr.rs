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
use crate::names::{list, nearest};

/// One entry of an attribute.
pub(crate) struct Key {
    /// Its name.
    pub(crate) name: Ident,
    /// Its value.
    pub(crate) value: Value,
}

/// The value of an entry.
pub(crate) enum Value {
    /// No value: the name stands alone.
    Bare,
    /// `= value`
    Is(Box<Expr>),
    /// `(…)`
    List(TokenStream),
}

impl Key {
    /// Returns the name as text.
    pub(crate) fn as_str(&self) -> String {
        self.name.unraw().to_string()
    }

    /// Returns the entry as written in the source.
    pub(crate) fn written(&self) -> String {
        let name = self.as_str();
        match &self.value {
            Value::Bare => name,
            Value::Is(expr) => format!("{name} = {}", display_tokens(expr.to_token_stream())),
            Value::List(tokens) => format!("{name}({})", display_tokens(tokens.clone())),
        }
    }

    /// Returns the span of the value, or of the name if there is no value.
    pub(crate) fn place(&self) -> Span {
        match &self.value {
            Value::Is(expr) => expr.span(),
            Value::Bare | Value::List(_) => self.name.span(),
        }
    }

    /// Returns the value, which must be a string literal.
    pub(crate) fn text(self, errors: &mut Errors) -> Option<LitStr> {
        self.text_of(TEXT, errors)
    }

    /// Like [`text`](Self::text); `form` describes the expected value for errors.
    pub(crate) fn text_of(self, form: &str, errors: &mut Errors) -> Option<LitStr> {
        match self.value {
            Value::Is(expr) => text(&expr, form, errors),
            _ => self.refuse(errors, "needs a string: `KEY = \"…\"`"),
        }
    }

    /// Returns the value, which must be an expression.
    pub(crate) fn expr(self, errors: &mut Errors) -> Option<Expr> {
        match self.value {
            Value::Is(expr) => Some(*expr),
            _ => self.refuse(errors, "needs a value: `KEY = …`"),
        }
    }

    /// Returns the value of a flag: alone, or `= true` or `= false`.
    pub(crate) fn flag(self, errors: &mut Errors) -> Option<bool> {
        match &self.value {
            Value::Bare => Some(true),
            Value::Is(expr) => match &**expr {
                Expr::Lit(ExprLit { lit: Lit::Bool(LitBool { value, .. }), .. }) => Some(*value),
                other => {
                    errors.at(other, format!("`{}` is a flag: write it alone, or `= false`", self.name));
                    None
                }
            },
            Value::List(_) => self.refuse(errors, "is a flag: write it alone, or `= false`"),
        }
    }

    /// Returns one or more strings: `KEY = "a"`, `KEY("a", "b")` or `KEY = ["a", "b"]`.
    pub(crate) fn texts(self, errors: &mut Errors) -> Vec<LitStr> {
        self.values(errors).iter().filter_map(|expr| text(expr, TEXT, errors)).collect()
    }

    /// Returns one or more expressions: `KEY = a`, `KEY(a, b)` or `KEY = [a, b]`.
    pub(crate) fn values(self, errors: &mut Errors) -> Vec<Expr> {
        match self.value {
            Value::Is(expr) => match *expr {
                Expr::Array(array) => array.elems.into_iter().collect(),
                other => vec![other],
            },
            Value::List(tokens) => {
                let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
                errors.ok(parser.parse2(tokens)).into_iter().flatten().collect()
            }
            Value::Bare => {
                errors.at(&self.name, format!("`{}` needs a value", self.name));
                Vec::new()
            }
        }
    }

    /// Reports that the value has the wrong form; `KEY` in the message is replaced by the name.
    pub(crate) fn refuse<T>(&self, errors: &mut Errors, what: &str) -> Option<T> {
        let name = self.as_str();
        errors.at(&self.name, format!("`{name}` {}", what.replace("KEY", &name)));
        None
    }
}

const TEXT: &str = "expected a string literal";

/// Returns a string literal.
fn text(expr: &Expr, form: &str, errors: &mut Errors) -> Option<LitStr> {
    match ungroup(expr) {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.clone()),
        other => {
            errors.at(other, form);
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

/// Reads the entries of an attribute, each of which must be one of `known`. `what` names the attribute in messages.
pub(crate) fn keys(tokens: TokenStream, what: &str, known: &[&str], errors: &mut Errors) -> Vec<Key> {
    let entries = entries(tokens, errors);
    only(entries, what, known, errors)
}

/// Reads the entries of an attribute, without a check of their names.
pub(crate) fn entries(tokens: TokenStream, errors: &mut Errors) -> Vec<Key> {
    let mut found = Vec::new();
    for entry in split(tokens) {
        let span = entry.span();
        match parse_key.parse2(entry) {
            Ok(key) => found.push(key),
            Err(error) => errors.push(syn::Error::new(
                if error.span().source_text().is_some() { error.span() } else { span },
                error,
            )),
        }
    }
    found
}

/// Returns the entries that are known, each once; others are reported.
pub(crate) fn only(entries: Vec<Key>, what: &str, known: &[&str], errors: &mut Errors) -> Vec<Key> {
    let mut found: Vec<Key> = Vec::new();
    for key in entries {
        let name = key.as_str();
        if !known.contains(&name.as_str()) {
            errors.at(&key.name, unknown(&name, what, known));
        } else if found.iter().any(|other| other.as_str() == name) && name != "requires" {
            errors.at(&key.name, format!("duplicate key `{name}`"));
        } else {
            found.push(key);
        }
    }
    found
}

/// Returns the message for an unknown name, with a suggestion, or with all known names.
pub(crate) fn unknown(name: &str, what: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("unknown `{name}` in {what}; did you mean `{near}`?"),
        None => format!("unknown `{name}` in {what}; known: {}", list(known.iter().copied())),
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
        Value::Is(input.parse()?)
    } else if input.peek(syn::token::Paren) {
        let content;
        syn::parenthesized!(content in input);
        Value::List(content.parse()?)
    } else {
        Value::Bare
    };
    if input.is_empty() {
        Ok(Key { name, value })
    } else {
        Err(input.error("expected `,` between the entries of the attribute"))
    }
}

/// Splits a list into its parts, so that an error in one does not hide errors in the others.
pub(crate) fn split(tokens: TokenStream) -> Vec<TokenStream> {
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
pub(crate) fn take(
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

/// The result of [`take`].
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
        let word = matches!(token, TokenTree::Ident(_) | TokenTree::Literal(_));
        if word && after_word {
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
                // Not the `=` of `..=` or `=>`.
                '=' if punct.spacing() == Spacing::Alone && !text.ends_with(['.', '=']) => {
                    text.push_str(" = ");
                }
                other => text.push(other),
            },
            TokenTree::Ident(_) | TokenTree::Literal(_) => text.push_str(&token.to_string()),
        }
        after_word = word;
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
