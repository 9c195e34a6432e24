//! Reads the effects of a tool from its attribute.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Expr, ExprLit, Lit, LitStr};

use crate::attr::{Key, Value, ungroup};
use crate::errors::{Errors, at};

/// The declared effects; an undeclared effect has the most dangerous value.
#[derive(Default)]
pub(crate) struct Effects {
    pure: Option<Ident>,
    read_only: Option<(bool, Ident)>,
    destructive: Option<(bool, Ident)>,
    idempotent: Option<bool>,
    open_world: Option<bool>,
    spawns: Option<bool>,
    files: Option<TokenStream>,
    /// The hosts, and whether there are none.
    network: Option<(TokenStream, bool)>,
    /// The strings that must be hosts.
    hosts: Vec<LitStr>,
    /// The keys that declare an effect, which a `pure` tool cannot have.
    declared: Vec<Ident>,
}

/// Reads one of the keys `read_only`, `destructive`, `idempotent`, `open_world`, `pure`, `files`, `network` and `spawns`.
pub(crate) fn read_key(effects: &mut Effects, key: Key, errors: &mut Errors) {
    let ident = key.name.clone();
    let has_effect = match ident.to_string().as_str() {
        "pure" => {
            effects.pure = key.flag(errors).filter(|is_set| *is_set).map(|_| ident);
            return;
        }
        "read_only" => {
            effects.read_only = key.flag(errors).map(|is_set| (is_set, ident));
            return;
        }
        "idempotent" => {
            effects.idempotent = key.flag(errors);
            return;
        }
        "destructive" => {
            effects.destructive = key.flag(errors).map(|is_set| (is_set, ident.clone()));
            matches!(effects.destructive, Some((true, _)))
        }
        "open_world" => {
            effects.open_world = key.flag(errors);
            effects.open_world == Some(true)
        }
        "spawns" => {
            effects.spawns = key.flag(errors);
            effects.spawns == Some(true)
        }
        "files" => {
            let text = key.text(errors);
            effects.files = text.as_ref().and_then(|text| files(text, errors));
            text.is_some_and(|text| text.value() != "none")
        }
        _ => {
            effects.network = network(key, &mut effects.hosts, errors);
            matches!(effects.network, Some((_, false)))
        }
    };
    if has_effect {
        effects.declared.push(ident);
    }
}

fn files(text: &LitStr, errors: &mut Errors) -> Option<TokenStream> {
    match text.value().as_str() {
        "none" => Some(quote!(__toolgen::Files::None)),
        "read" => Some(quote!(__toolgen::Files::Read)),
        "write" => Some(quote!(__toolgen::Files::Write)),
        _ => {
            errors.at(text, "what a tool may do to files is `\"none\"`, `\"read\"` or `\"write\"`");
            None
        }
    }
}

fn network(key: Key, host_literals: &mut Vec<LitStr>, errors: &mut Errors) -> Option<(TokenStream, bool)> {
    let is_flag = |expr: &Expr| matches!(ungroup(expr), Expr::Lit(ExprLit { lit: Lit::Bool(_), .. }));
    if matches!(&key.value, Value::Empty) || matches!(&key.value, Value::Expr(expr) if is_flag(expr)) {
        return key.report_invalid(
            errors,
            "names hosts: `network(\"api.example.com\")`, or is `\"none\"` or `\"any\"`",
        );
    }
    let hosts = key.texts(errors);
    Some(match hosts.as_slice() {
        [only] if only.value() == "none" => (quote!(__toolgen::Network::None), true),
        [only] if only.value() == "any" => (quote!(__toolgen::Network::Any), false),
        hosts => {
            host_literals.extend_from_slice(hosts);
            let hosts = quote!(__toolgen::S(const { &[#(__toolgen::S(#hosts)),*] }));
            (quote!(__toolgen::Network::Hosts(#hosts)), false)
        }
    })
}

impl Effects {
    /// Returns the constants that reject strings that are not hosts, with the span of the string.
    pub(crate) fn host_checks(&self) -> TokenStream {
        let check = |host: &LitStr| quote_spanned!(at(host.span())=> const _: () = __toolgen::host(#host););
        self.hosts.iter().map(check).collect()
    }

    /// Returns the literal, if an effect is declared.
    pub(crate) fn to_expr(&self, errors: &mut Errors) -> Option<TokenStream> {
        if let (Some((true, _)), Some((true, ident))) = (&self.read_only, &self.destructive) {
            errors.at(ident, "a tool that is `read_only` cannot be `destructive`: it changes nothing");
        }
        for ident in self.declared.iter().filter(|_| self.pure.is_some()) {
            errors.at(
                ident,
                format!(
                    "a tool that is `pure` cannot state `{ident}`: it has no effects; remove one of the two"
                ),
            );
        }
        let mut fields = Vec::new();
        if let Some((is_set, _)) = &self.read_only {
            fields.push(quote!(read_only: #is_set));
            if *is_set {
                // A read-only tool is neither destructive nor changes anything when repeated.
                fields.push(quote!(destructive: false));
                if self.idempotent.is_none() {
                    fields.push(quote!(idempotent: true));
                }
                if self.files.is_none() && self.pure.is_none() {
                    fields.push(quote!(files: __toolgen::Files::Read));
                }
            }
        }
        if let Some((is_set, _)) =
            self.destructive.as_ref().filter(|_| !matches!(self.read_only, Some((true, _))))
        {
            fields.push(quote!(destructive: #is_set));
        }
        fields.extend(self.idempotent.map(|is_set| quote!(idempotent: #is_set)));
        if let Some(is_set) = self.open_world {
            fields.push(quote!(open_world: #is_set));
            if !is_set && self.network.is_none() {
                fields.push(quote!(network: __toolgen::Network::None));
            }
        } else if matches!(self.network, Some((_, true))) {
            fields.push(quote!(open_world: false));
        }
        fields.extend(self.spawns.map(|is_set| quote!(spawns: #is_set)));
        fields.extend(self.files.as_ref().map(|files| quote!(files: #files)));
        fields.extend(self.network.as_ref().map(|(network, _)| quote!(network: #network)));
        let base = if self.pure.is_some() { quote!(NONE) } else { quote!(UNDECLARED) };
        if fields.is_empty() {
            return self.pure.as_ref().map(|_| quote!(__toolgen::Effects::NONE));
        }
        Some(quote!(__toolgen::Effects { #(#fields,)* ..__toolgen::Effects::#base }))
    }
}
