//! `hints(…)`: properties for the tool interfaces of vendors and of MCP.

use proc_macro2::TokenStream;
use quote::quote;
use syn::LitStr;

use crate::attr::{self, Key, Value};
use crate::errors::Errors;
use crate::json;
use crate::tool_attr::ToolAttr;

const KEYS: &[&str] = &["callers", "eager_input", "text", "lark", "regex", "icon", "meta"];

/// The values of `callers`, with their names in the runtime.
const CALLERS: &[(&str, &str)] = &[("model", "Model"), ("programs", "Programs"), ("both", "Both")];

/// Reads `hints(callers = "programs", eager_input, lark = "…", icon = "https://…", meta = "{…}")`.
pub(crate) fn read(key: Key, tool: &mut ToolAttr, errors: &mut Errors) {
    let Value::List(tokens) = key.value else {
        key.report_invalid::<()>(
            errors,
            "needs hints: `hints(callers = \"programs\", eager_input, icon = \"https://…\")`",
        );
        return;
    };
    let mut fields = Vec::new();
    let mut icons = Vec::new();
    let mut formats = Vec::new();
    for key in attr::read_keys(tokens, "`hints`", KEYS, errors) {
        let (name, span) = (key.as_str(), key.name.span());
        match name.as_str() {
            "callers" => fields.extend(key.text(errors).and_then(|text| callers(&text, errors))),
            "eager_input" => {
                fields.extend((key.flag(errors) == Some(true)).then(|| quote!(eager_input: true)));
            }
            "text" => {
                if key.flag(errors) == Some(true) {
                    formats.push((span, quote!(__toolgen::InputFormat::Text)));
                }
            }
            "lark" | "regex" => {
                let text = key.text(errors);
                let variant = if name == "lark" { quote!(Lark) } else { quote!(Regex) };
                formats.extend(
                    text.map(|text| (span, quote!(__toolgen::InputFormat::#variant(__toolgen::S(#text))))),
                );
            }
            "icon" => icons.extend(key.text(errors).filter(|text| is_url(text, errors))),
            _ => fields.extend(key.text(errors).and_then(|text| meta(&text, errors))),
        }
    }
    if let [_, (second, _), ..] = formats.as_slice() {
        errors.push(syn::Error::new(
            *second,
            "the arguments have one form: keep one of `text`, `lark` and `regex`",
        ));
    }
    fields.extend(formats.first().map(|(_, format)| quote!(input_format: #format)));
    if !icons.is_empty() {
        let icons =
            icons.iter().map(|src| quote!(__toolgen::Icon { src: __toolgen::S(#src), ..__toolgen::ICON }));
        fields.push(quote!(icons: __toolgen::S(const { &[#(#icons),*] })));
    }
    tool.text_input = formats.first().map(|(span, _)| *span);
    tool.fields.push(quote!(hints: __toolgen::Hints { #(#fields,)* ..__toolgen::Hints::NONE }));
}

fn callers(text: &LitStr, errors: &mut Errors) -> Option<TokenStream> {
    let value = text.value();
    let Some((_, variant)) = CALLERS.iter().find(|(name, _)| *name == value) else {
        errors.at(text, "`callers` is `\"model\"`, `\"programs\"` or `\"both\"`");
        return None;
    };
    let variant = proc_macro2::Ident::new(variant, text.span());
    Some(quote!(callers: __toolgen::Callers::#variant))
}

fn is_url(text: &LitStr, errors: &mut Errors) -> bool {
    let is_url = ["https://", "http://", "data:"].iter().any(|scheme| text.value().starts_with(scheme));
    if !is_url {
        errors.at(text, "an icon is a URL of `https` or `data`");
    }
    is_url
}

fn meta(text: &LitStr, errors: &mut Errors) -> Option<TokenStream> {
    match json::object_keys(&text.value()) {
        Ok(_) => Some(quote!(meta: __toolgen::S(#text))),
        Err(error) => {
            errors.at(text, format!("`meta` is not a JSON object: {error}"));
            None
        }
    }
}
