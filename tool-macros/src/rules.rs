//! The rules that an attribute sets for an argument.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Lit, LitStr, RangeLimits, UnOp};

use crate::attr::{self, Key, Value, ungroup};
use crate::errors::{Errors, at};
use crate::pattern;

/// Reads a rule.
type Read = fn(&mut Rules, Key, &mut Errors);

/// Every rule by its key. Values of a list may have them, too.
const RULES: &[(&str, Read)] = &[
    ("range", |rules, key, errors| rules.range(&key, errors)),
    ("len", |rules, key, errors| rules.len(&key, errors)),
    ("non_empty", |rules, key, errors| {
        if key.flag(errors) == Some(true) {
            rules.set(quote!(min_len: __toolgen::Some(1)));
        }
    }),
    ("secret", |rules, key, errors| {
        if key.flag(errors) == Some(true) {
            rules.set(quote!(format: "password"));
        }
    }),
    ("pattern", |rules, key, errors| {
        if let Some(text) = expression(key, errors) {
            rules.set(quote!(pattern: #text));
        }
    }),
    ("deny_pattern", |rules, key, errors| {
        let Some(text) = expression(key, errors) else { return };
        if text.value().is_empty() {
            errors.at(&text, "it would refuse every text");
        }
        rules.set(quote!(deny: #text));
    }),
    ("deny_message", |rules, key, errors| {
        if let Some(text) = key.text(errors) {
            rules.set(quote!(deny_message: #text));
        }
    }),
    ("one_of", |rules, key, errors| {
        let values = literals(key, errors);
        let span = rules.span.unwrap_or_else(proc_macro2::Span::call_site);
        rules.set(quote_spanned!(at(span)=> one_of: const { &[#(#values.literal()),*] }));
    }),
    ("example", Rules::examples),
    ("examples", Rules::examples),
    ("items", Rules::items),
];

/// The keys of the rules.
pub(crate) fn keys() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|(name, _)| *name)
}

/// Rules, as the fields of a `Rules` literal.
#[derive(Default)]
pub(crate) struct Rules {
    fields: Vec<TokenStream>,
    /// The rules of the values of a list.
    items: Option<Box<Rules>>,
    /// The place of the rules.
    span: Option<proc_macro2::Span>,
}

impl Rules {
    /// Reads a rule by one of the [`keys`].
    pub(crate) fn take(&mut self, key: Key, errors: &mut Errors) {
        self.span.get_or_insert(key.name.span());
        let name = key.as_str();
        if let Some((_, read)) = RULES.iter().find(|(known, _)| *known == name) {
            read(self, key, errors);
        }
    }

    /// Sets a field.
    pub(crate) fn set(&mut self, field: TokenStream) {
        self.fields.push(field);
    }

    fn range(&mut self, key: &Key, errors: &mut Errors) {
        let form = "needs a range: `range = 1..=100`, `range = 0..` or `range = ..=9.5`";
        let Some(range) = range(key, form, errors) else { return };
        let float = [&range.start, &range.end].into_iter().flatten().any(|bound| is_float(bound));
        let number = |bound: &Expr| {
            let bound_span = bound.span();
            if float {
                quote_spanned!(at(bound_span)=> __toolgen::Number::Float(#bound as __toolgen::f64))
            } else {
                quote_spanned!(at(bound_span)=> __toolgen::Number::Int(#bound as __toolgen::i128))
            }
        };
        if let Some(start) = &range.start {
            let start = number(start);
            self.set(quote!(minimum: __toolgen::Some(#start)));
        }
        if let Some(end) = &range.end {
            let end = number(end);
            let side =
                if matches!(range.limits, RangeLimits::Closed(_)) { quote!(maximum) } else { quote!(below) };
            self.set(quote!(#side: __toolgen::Some(#end)));
        }
    }

    fn len(&mut self, key: &Key, errors: &mut Errors) {
        let form = "needs a number or a range: `len = 3`, `len = 1..=80` or `len = ..=80`";
        if let Value::Is(expr) = &key.value
            && let exact @ Expr::Lit(ExprLit { lit: Lit::Int(_), .. }) = ungroup(expr)
        {
            self.set(quote!(min_len: __toolgen::Some(#exact as __toolgen::u64)));
            self.set(quote!(max_len: __toolgen::Some(#exact as __toolgen::u64)));
            return;
        }
        let Some(range) = range(key, form, errors) else { return };
        if let Some(start) = &range.start {
            self.set(quote!(min_len: __toolgen::Some(#start as __toolgen::u64)));
        }
        if let Some(end) = &range.end {
            let last = match range.limits {
                RangeLimits::Closed(_) => quote!(#end as __toolgen::u64),
                RangeLimits::HalfOpen(_) => quote!((#end as __toolgen::u64) - 1),
            };
            self.set(quote!(max_len: __toolgen::Some(#last)));
        }
    }

    fn examples(&mut self, key: Key, errors: &mut Errors) {
        let values = literals(key, errors);
        self.set(quote!(examples: const { &[#(#values.literal()),*] }));
    }

    fn items(&mut self, key: Key, errors: &mut Errors) {
        let Value::List(tokens) = key.value else {
            key.refuse::<()>(errors, "needs rules: `items(non_empty, len = ..=20)`");
            return;
        };
        let mut rules = Rules::default();
        let known: Vec<&str> = keys().collect();
        for key in attr::keys(tokens, "`items`", &known, errors) {
            rules.take(key, errors);
        }
        self.items = Some(Box::new(rules));
    }

    /// Whether there are no rules.
    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.items.is_none()
    }

    /// Returns the literal, for an argument of the type `ty`.
    pub(crate) fn to_expr(&self, ty: &TokenStream) -> TokenStream {
        let shape = quote!(<#ty as __toolgen::ToolInput>::SHAPE);
        self.literal(&quote!(const { &#shape }))
    }

    fn literal(&self, shape: &TokenStream) -> TokenStream {
        if self.is_empty() {
            return quote!(__toolgen::Rules::NONE);
        }
        let fields = &self.fields;
        let items = self.items.as_ref().map(|items| {
            let span = items.span.unwrap_or_else(proc_macro2::Span::call_site);
            let of = quote_spanned!(at(span)=> __toolgen::items_of(#shape));
            let rules = items.literal(&of);
            quote_spanned!(at(span)=> items: __toolgen::Some(const { &__toolgen::refine(#of, #rules) }),)
        });
        quote!(__toolgen::Rules { #(#fields,)* #items ..__toolgen::Rules::NONE })
    }
}

/// Returns the regular expression of a key.
fn expression(key: Key, errors: &mut Errors) -> Option<LitStr> {
    let text = key.text(errors)?;
    if let Some(why) = pattern::problem(&text.value()) {
        errors.at(&text, format!("this is no regular expression (ECMA-262): {why}"));
    }
    Some(text)
}

fn range(key: &Key, form: &str, errors: &mut Errors) -> Option<syn::ExprRange> {
    match &key.value {
        Value::Is(expr) => match ungroup(expr) {
            Expr::Range(range) if range.start.is_some() || range.end.is_some() => Some(range.clone()),
            other => {
                errors.at(other, format!("`{}` {form}", key.name));
                None
            }
        },
        _ => key.refuse(errors, form),
    }
}

fn is_float(expr: &Expr) -> bool {
    match ungroup(expr) {
        Expr::Lit(ExprLit { lit: Lit::Float(_), .. }) => true,
        Expr::Unary(unary) => is_float(&unary.expr),
        _ => false,
    }
}

fn literals(key: Key, errors: &mut Errors) -> Vec<TokenStream> {
    let name = key.name.clone();
    let values = key.values(errors);
    if values.is_empty() {
        errors.at(&name, format!("`{name}` needs at least one value"));
    }
    let literals = values.iter().filter_map(|value| {
        let found = literal(value);
        if found.is_none() {
            errors
                .at(value, format!("`{name}` takes literals: texts in quotes, numbers, `true` and `false`"));
        }
        found
    });
    literals.collect()
}

/// Returns the `Lit` of a literal expression.
pub(crate) fn literal(expr: &Expr) -> Option<TokenStream> {
    Some(match ungroup(expr) {
        Expr::Lit(ExprLit { lit, .. }) => match lit {
            Lit::Str(text) => quote!(__toolgen::Lit::Str(#text)),
            Lit::Bool(value) => quote!(__toolgen::Lit::Bool(#value)),
            Lit::Int(number) => quote!(__toolgen::Lit::Int(#number as __toolgen::i128)),
            Lit::Float(number) => quote!(__toolgen::Lit::Float(#number as __toolgen::f64)),
            Lit::Char(c) => {
                let text = c.value().to_string();
                quote!(__toolgen::Lit::Str(#text))
            }
            _ => return None,
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => match ungroup(&unary.expr) {
            Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => {
                quote!(__toolgen::Lit::Int(-(#number as __toolgen::i128)))
            }
            Expr::Lit(ExprLit { lit: Lit::Float(number), .. }) => {
                quote!(__toolgen::Lit::Float(-(#number as __toolgen::f64)))
            }
            _ => return None,
        },
        Expr::MethodCall(call) if call.args.is_empty() && is_text(&call.receiver) => {
            let copies = ["to_owned", "to_string", "into"];
            if !copies.iter().any(|name| call.method == name) {
                return None;
            }
            let receiver = call.receiver.to_token_stream();
            quote!(__toolgen::Lit::Str(#receiver))
        }
        _ => return None,
    })
}

/// Whether an expression is a text literal.
pub(crate) fn is_text(expr: &Expr) -> bool {
    matches!(ungroup(expr), Expr::Lit(ExprLit { lit: Lit::Str(_), .. }))
}
