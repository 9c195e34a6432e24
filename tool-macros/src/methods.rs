//! `#[tools]`: the methods of an `impl` block as tools.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::{FnArg, ImplItem, Item, ItemImpl, Visibility};

use crate::attr;
use crate::errors::Errors;
use crate::expand::{self, Tool};
use crate::tool_attr;

/// The keys of `#[tools(…)]`.
const KEYS: &[&str] = &["list", "crate"];

/// Expands `#[tools]` on an `impl` block.
pub(crate) fn tools(attribute: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let mut block = match syn::parse2::<Item>(item.clone()) {
        Ok(Item::Impl(block)) => block,
        Ok(_) => {
            errors.push(syn::Error::new(
                Span::call_site(),
                "`#[tools]` is for `impl` blocks; a function takes `#[tool]`",
            ));
            let errors = errors.into_tokens();
            return quote!(#item #errors);
        }
        Err(error) => {
            let error = error.into_compile_error();
            return quote!(#item #error);
        }
    };
    let settings = settings(attribute, &mut errors);
    check_block(&block, &mut errors);
    let this = block.self_ty.to_token_stream();
    let (mut tools, mut vis) = (Vec::new(), Visibility::Inherited);
    for item in &mut block.items {
        match item {
            ImplItem::Fn(function) => {
                let Some(taken) = attr::take_attribute(&mut function.attrs, "tool", &mut errors) else { continue };
                if !matches!(function.vis, Visibility::Inherited) {
                    vis = function.vis.clone();
                }
                let tool_attr = tool_attr::read(taken.tokens, &mut errors);
                let tool = expand::read(&mut function.attrs, &mut function.sig, tool_attr, true, &mut errors);
                // A tool owns its arguments, even if it only reads them.
                function.attrs.push(syn::parse_quote!(#[allow(clippy::needless_pass_by_value)]));
                let has_self = matches!(function.sig.inputs.first(), Some(FnArg::Receiver(_)));
                tools.push((tool, has_self));
            }
            ImplItem::Macro(call) => errors.at(
                &call.mac.path,
                "`#[tools]` cannot see what this macro makes; write the methods yourself, or let the macro write the whole `impl` block",
            ),
            _ => {}
        }
    }
    if tools.is_empty() && errors.is_empty() {
        errors.at(&block.self_ty, "no method of this block is a tool: put `#[tool]` on those that are");
    }
    let list = settings.list.unwrap_or_else(|| Ident::new("tools", Span::call_site()));
    let runtime = settings.runtime.unwrap_or_else(crate::runtime_path::path);
    let expressions = tool_expressions(&tools, &this, &mut errors);
    let body = if errors.is_empty() {
        quote!(__toolgen::list([#(#expressions),*]))
    } else {
        quote!(__toolgen::Vec::new())
    };
    let errors = errors.into_tokens();
    quote! {
        #block

        #errors

        #[allow(deprecated, unreachable_code, unreachable_patterns, clippy::all, clippy::pedantic)]
        const _: () = {
            use #runtime::__private::function as __toolgen;
            #[allow(unused_imports)]
            use __toolgen::probes::*;

            #[automatically_derived]
            impl #this {
                /// The methods of the block as tools that share the object.
                #[allow(dead_code)]
                #vis fn #list(this: &__toolgen::Arc<Self>) -> __toolgen::Vec<__toolgen::FunctionTool<Self>> {
                    let _ = this;
                    #body
                }
            }
        };
    }
}

struct Settings {
    /// The name of the function that returns the tools.
    list: Option<Ident>,
    runtime: Option<TokenStream>,
}

fn settings(attribute: TokenStream, errors: &mut Errors) -> Settings {
    let mut settings = Settings { list: None, runtime: None };
    for key in attr::read_keys(attribute, "`#[tools]`", KEYS, errors) {
        let name = key.as_str();
        let Some(expr) = key.expr(errors) else { continue };
        if name == "list" {
            settings.list = errors.ok(syn::parse2(expr.to_token_stream()));
        } else {
            settings.runtime = Some(expr.to_token_stream());
        }
    }
    settings
}

fn check_block(block: &ItemImpl, errors: &mut Errors) {
    for param in block.generics.params.iter() {
        errors.at(
            param,
            "the tools of a block belong to one type, so the block cannot be generic; write it for the types you use",
        );
    }
    if let Some((path, _)) = &block.trait_ {
        errors.at(
            path,
            "`#[tools]` is for the methods of a type, not of a trait; call the trait's methods from there",
        );
    }
}

/// Returns the expressions of the tools.
fn tool_expressions(tools: &[(Tool, bool)], this: &TokenStream, errors: &mut Errors) -> Vec<TokenStream> {
    let mut expressions = Vec::new();
    for (index, (tool, has_self)) in tools.iter().enumerate() {
        let is_duplicate = tools.iter().take(index).any(|(other, _)| other.name == tool.name);
        if is_duplicate {
            errors.at(&tool.ident, format!("two tools of this block are called `{}`", tool.name));
        }
        let ident = &tool.ident;
        let receiver = has_self.then(|| Ident::new("this", Span::mixed_site()));
        let function = tool.function(&quote!(<#this>::#ident), receiver.as_ref(), errors);
        let function = attr::with_self(function, this);
        let static_checks = attr::with_self(tool.static_checks(errors), this);
        let name = format_ident!("__TOOL_{}", ident.unraw());
        expressions.push(quote!({
            #static_checks
            #[allow(non_upper_case_globals)]
            static #name: __toolgen::Function<#this> = #function;
            __toolgen::FunctionTool::shared(&#name, this)
        }));
    }
    expressions
}
