//! The rules of an argument, such as `range` and `len`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Lit, LitStr, RangeLimits, UnOp};

use crate::attr::{self, Key, Value, ungroup};
use crate::errors::{Errors, at};
use crate::foreign_keys;
use crate::pattern;

/// Reads a rule.
type RuleParser = fn(&mut ArgumentRules, Key, &mut Errors);

/// Every rule by its key. Items of an array may also have them.
const RULES: &[(&str, RuleParser)] = &[
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
        if let Some(text) = read_pattern(key, errors) {
            rules.set(quote!(pattern: #text));
        }
    }),
    ("deny_pattern", |rules, key, errors| {
        let Some(text) = read_pattern(key, errors) else { return };
        if text.value().is_empty() {
            errors.at(&text, "it would reject every string");
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
        let values = values.iter().map(|value| &value.lit);
        rules.set(quote!(one_of: const { &[#(#values.literal()),*] }));
    }),
    ("example", ArgumentRules::examples),
    ("examples", ArgumentRules::examples),
    ("items", ArgumentRules::items),
];

/// The keys of the rules.
pub(crate) fn keys() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|(name, _)| *name)
}

/// Rules, as the fields of a `Rules` literal.
#[derive(Default)]
pub(crate) struct ArgumentRules {
    fields: Vec<TokenStream>,
    /// The rules of the items of an array, and their span.
    items: Option<(Box<ArgumentRules>, Span)>,
    /// The rules as written.
    keys: Vec<SourceRule>,
    examples: Vec<Literal>,
}

/// A rule as written, with its fields of the `Rules` literal.
struct SourceRule {
    name: Ident,
    text: String,
    span: Span,
    fields: Vec<TokenStream>,
}

/// A literal, with its `Lit`.
struct Literal {
    expr: Expr,
    lit: TokenStream,
}

impl ArgumentRules {
    /// Reads a rule by one of the [`keys`].
    pub(crate) fn take(&mut self, key: Key, errors: &mut Errors) {
        let name = key.as_str();
        let (ident, text, span, field_count) =
            (key.name.clone(), key.to_source(), key.value_span(), self.fields.len());
        if let Some((_, read_rule)) = RULES.iter().find(|(rule_name, _)| *rule_name == name) {
            read_rule(self, key, errors);
        }
        let fields = self.fields.get(field_count..).unwrap_or_default().to_vec();
        self.keys.push(SourceRule { name: ident, text, span, fields });
    }

    /// Checks that the rules are consistent.
    pub(crate) fn check(&self, errors: &mut Errors) {
        let find = |name: &str| self.keys.iter().map(|key| &key.name).find(|key| *key == name);
        if let (Some(message), None) = (find("deny_message"), find("deny_pattern")) {
            errors.at(message, "`deny_message` needs a `deny_pattern`, which is missing");
        }
        let sets_field = |name: &str, field: &str| {
            let fields = self.keys.iter().filter(|key| key.name == name).flat_map(|key| &key.fields);
            fields.into_iter().any(|tokens| tokens.to_string().starts_with(field))
        };
        if let (Some(non_empty), true) =
            (find("non_empty"), sets_field("non_empty", "min_len") && sets_field("len", "min_len"))
        {
            errors.at(non_empty, "`non_empty` repeats the minimum of `len`: remove one of the two");
        }
        if let (Some(deny), Some(_)) = (find("deny_pattern"), find("one_of")) {
            errors.at(deny, "`deny_pattern` has no effect with `one_of`: remove the value from `one_of`");
        }
    }

    /// Sets a field.
    pub(crate) fn set(&mut self, field: TokenStream) {
        self.fields.push(field);
    }

    fn range(&mut self, key: &Key, errors: &mut Errors) {
        let form = "needs a range: `range = 1..=100`, `range = 0..` or `range = ..=9.5`";
        let Some(range) = range(key, form, errors) else { return };
        let is_float_range = [&range.start, &range.end].into_iter().flatten().any(|bound| is_float(bound));
        let number = |bound: &Expr| {
            let bound_span = bound.span();
            if is_float_range {
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
            let field =
                if matches!(range.limits, RangeLimits::Closed(_)) { quote!(maximum) } else { quote!(below) };
            self.set(quote!(#field: __toolgen::Some(#end)));
        }
    }

    fn len(&mut self, key: &Key, errors: &mut Errors) {
        let form = "needs a number or a range: `len = 3`, `len = 1..=80` or `len = ..=80`";
        if let Value::Expr(expr) = &key.value
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
        self.examples.extend(values);
    }

    fn items(&mut self, key: Key, errors: &mut Errors) {
        let span = key.value_span();
        let Value::List(tokens) = key.value else {
            key.report_invalid::<()>(errors, "needs rules: `items(non_empty, len = ..=20)`");
            return;
        };
        let mut rules = ArgumentRules::default();
        let known: Vec<&str> = keys().collect();
        for key in foreign_keys::argument_keys(tokens, "`items`", &known, errors) {
            rules.take(key, errors);
        }
        rules.check(errors);
        self.items = Some((Box::new(rules), span));
    }

    /// Whether there are no rules.
    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.examples.is_empty() && self.items.is_none()
    }

    /// Returns the literal. `shape` is the expression of the shape that the rules are for.
    pub(crate) fn to_expr(&self, shape: &TokenStream) -> TokenStream {
        if self.is_empty() {
            return quote!(__toolgen::ArgumentRules::NONE);
        }
        let fields = &self.fields;
        let examples = (!self.examples.is_empty()).then(|| {
            let lits = self.examples.iter().map(|example| &example.lit);
            quote!(examples: const { &[#(#lits.literal()),*] },)
        });
        let items = self.items.iter().map(|(items, _)| {
            let item_shape = quote!(__toolgen::items_of(#shape));
            let rules = items.to_expr(&item_shape);
            quote!(items: __toolgen::Some(const { &__toolgen::refine(#item_shape, #rules) }),)
        });
        quote!(__toolgen::ArgumentRules { #(#fields,)* #examples #(#items)* ..__toolgen::ArgumentRules::NONE })
    }

    /// Returns constant expressions that check, each with its own span, whether the rules are valid for the type, and
    /// the default and the examples for both. `ty` is the type as written, or empty.
    pub(crate) fn checks(&self, shape: &TokenStream, ty: &str, default: Option<&Expr>) -> Vec<TokenStream> {
        let mut checks = Vec::new();
        for SourceRule { text, span, fields, .. } in &self.keys {
            if !fields.is_empty() {
                let rules =
                    quote!(__toolgen::ArgumentRules { #(#fields,)* ..__toolgen::ArgumentRules::NONE });
                checks.push(quote_spanned!(at(*span)=> __toolgen::checks::rule(#shape, &#rules, #text, #ty)));
            }
        }
        let default = default.and_then(|expr| Some(("default", expr, literal(expr)?)));
        let examples = self.examples.iter().map(|example| ("example", &example.expr, example.lit.clone()));
        for (what, expr, lit) in default.into_iter().chain(examples) {
            checks.push(self.value_check(shape, ty, what, expr, &lit));
        }
        if let Some((items, span)) = &self.items {
            checks.push(quote_spanned!(at(*span)=> __toolgen::checks::items(#shape)));
            checks.extend(items.checks(&quote!(__toolgen::items_of(#shape)), "", None));
        }
        checks
    }

    /// Returns the expression that checks a default or an example.
    fn value_check(
        &self,
        shape: &TokenStream,
        ty: &str,
        what: &str,
        expr: &Expr,
        lit: &TokenStream,
    ) -> TokenStream {
        let rule_text = |names: &[&str]| {
            let keys = self.keys.iter().filter(|key| names.iter().any(|name| key.name == name));
            keys.map(|key| key.text.as_str()).collect::<Vec<_>>().join("`, `")
        };
        let (range, len, one_of) =
            (rule_text(&["range"]), rule_text(&["non_empty", "len"]), rule_text(&["one_of"]));
        let value_rules = ["range", "non_empty", "len", "one_of"];
        let keys = self.keys.iter().filter(|key| value_rules.iter().any(|name| key.name == name));
        let fields = keys.flat_map(|key| &key.fields);
        let value = attr::display_tokens(expr);
        quote_spanned!(at(expr.span())=> __toolgen::checks::value(
            #shape,
            &__toolgen::ArgumentRules { #(#fields,)* ..__toolgen::ArgumentRules::NONE },
            #lit,
            &__toolgen::checks::Written {
                what: #what,
                value: #value,
                ty: #ty,
                range: #range,
                len: #len,
                one_of: #one_of,
            },
        ))
    }
}

/// Returns the regular expression of a key.
fn read_pattern(key: Key, errors: &mut Errors) -> Option<LitStr> {
    let text = key.text(errors)?;
    if let Some(reason) = pattern::problem(&text.value()) {
        errors.at(&text, format!("this is not a regular expression (ECMA-262): {reason}"));
    }
    Some(text)
}

fn range(key: &Key, form: &str, errors: &mut Errors) -> Option<syn::ExprRange> {
    match &key.value {
        Value::Expr(expr) => match ungroup(expr) {
            Expr::Range(range) if range.start.is_some() || range.end.is_some() => Some(range.clone()),
            other => {
                errors.at(other, format!("`{}` {form}", key.name));
                None
            }
        },
        _ => key.report_invalid(errors, form),
    }
}

fn is_float(expr: &Expr) -> bool {
    match ungroup(expr) {
        Expr::Lit(ExprLit { lit: Lit::Float(_), .. }) => true,
        Expr::Unary(unary) => is_float(&unary.expr),
        _ => false,
    }
}

fn literals(key: Key, errors: &mut Errors) -> Vec<Literal> {
    let name = key.name.clone();
    let values = key.values(errors);
    if values.is_empty() {
        errors.at(&name, format!("`{name}` needs at least one value"));
    }
    let literals = values.into_iter().filter_map(|expr| {
        let lit = literal(&expr);
        if lit.is_none() {
            errors.at(&expr, format!("`{name}` takes literals: strings, numbers, `true` and `false`"));
        }
        lit.map(|lit| Literal { expr, lit })
    });
    literals.collect()
}

/// Returns the `Lit` of a literal expression.
pub(crate) fn literal(expr: &Expr) -> Option<TokenStream> {
    Some(match ungroup(expr) {
        Expr::Lit(ExprLit { lit, .. }) => match lit {
            Lit::Str(text) => quote!(__toolgen::ConstLiteral::Str(#text)),
            Lit::Bool(value) => quote!(__toolgen::ConstLiteral::Bool(#value)),
            Lit::Int(number) => quote!(__toolgen::ConstLiteral::Int(#number as __toolgen::i128)),
            Lit::Float(number) => quote!(__toolgen::ConstLiteral::Float(#number as __toolgen::f64)),
            Lit::Char(c) => {
                let text = c.value().to_string();
                quote!(__toolgen::ConstLiteral::Str(#text))
            }
            _ => return None,
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => match ungroup(&unary.expr) {
            Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => {
                quote!(__toolgen::ConstLiteral::Int(-(#number as __toolgen::i128)))
            }
            Expr::Lit(ExprLit { lit: Lit::Float(number), .. }) => {
                quote!(__toolgen::ConstLiteral::Float(-(#number as __toolgen::f64)))
            }
            _ => return None,
        },
        Expr::MethodCall(call) if call.args.is_empty() && is_string_literal(&call.receiver) => {
            let copies = ["to_owned", "to_string", "into"];
            if !copies.iter().any(|name| call.method == name) {
                return None;
            }
            let receiver = call.receiver.to_token_stream();
            quote!(__toolgen::ConstLiteral::Str(#receiver))
        }
        _ => return None,
    })
}

/// Returns the expression of a default. Literals are converted, so that a string literal is valid for every string
/// type; other types are reported with the type of the argument.
pub(crate) fn convert_default(expr: &Expr) -> TokenStream {
    let location = at(expr.span());
    match ungroup(expr) {
        Expr::Lit(ExprLit { lit, .. }) => match lit {
            Lit::Str(_) => quote!(__toolgen::DefaultOf::default_of(#expr)),
            Lit::Int(number) => quote_spanned!(location=> __toolgen::of_integer(#number as __toolgen::i128)),
            Lit::Float(number) => quote_spanned!(location=> __toolgen::of_decimal(#number as __toolgen::f64)),
            Lit::Bool(value) => quote_spanned!(location=> __toolgen::of_bool(#value)),
            _ => expr.to_token_stream(),
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => match ungroup(&unary.expr) {
            Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => {
                quote_spanned!(location=> __toolgen::of_integer(-(#number as __toolgen::i128)))
            }
            Expr::Lit(ExprLit { lit: Lit::Float(number), .. }) => {
                quote_spanned!(location=> __toolgen::of_decimal(-(#number as __toolgen::f64)))
            }
            _ => expr.to_token_stream(),
        },
        Expr::Array(array) => {
            let items = array.elems.iter().map(convert_default);
            quote_spanned!(location=> __toolgen::of_list([#(#items),*]))
        }
        _ => expr.to_token_stream(),
    }
}

/// Whether an expression is a string literal.
fn is_string_literal(expr: &Expr) -> bool {
    matches!(ungroup(expr), Expr::Lit(ExprLit { lit: Lit::Str(_), .. }))
}
