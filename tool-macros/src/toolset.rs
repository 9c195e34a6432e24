//! `toolset![…]`: an explicit list of tools.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, Token};

use crate::attr::ungroup;
use crate::errors::{Errors, at};
use crate::runtime_path;

/// Expands the list: a path names a function with `#[tool]`; any other expression is a tool or a list of tools.
pub(crate) fn toolset(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let runtime = runtime_path::path();
    let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
    let entries = errors.ok(parser.parse2(input)).unwrap_or_default();
    let mut seen: Vec<String> = Vec::new();
    let (mut names, mut requires, mut adds) = (Vec::new(), Vec::new(), Vec::new());
    for entry in &entries {
        let span = at(entry.span());
        match ungroup(entry) {
            Expr::Path(path) => {
                let text = path.to_token_stream().to_string();
                if seen.contains(&text) {
                    errors.at(path, format!("`{text}` is listed twice"));
                    continue;
                }
                seen.push(text);
                names.push(quote_spanned!(span=> <#path as #runtime::ToolFunction>::NAME));
                requires.push(quote_spanned!(span=> <#path as #runtime::ToolFunction>::REQUIRES));
                adds.push(quote_spanned!(span=> #runtime::__private::toolset::IntoTools::add_to(<#path as #runtime::ToolFunction>::tool(), &mut tools);));
            }
            Expr::Paren(paren) => {
                let inner = &paren.expr;
                adds.push(quote_spanned!(span=> #runtime::__private::toolset::IntoTools::add_to(#inner, &mut tools);));
            }
            other => {
                adds.push(quote_spanned!(span=> #runtime::__private::toolset::IntoTools::add_to(#other, &mut tools);));
            }
        }
    }
    let errors = (!errors.is_empty()).then(|| errors.into_tokens());
    quote!({
        #errors
        const _: () = #runtime::__private::toolset::check_names(&[#(#names),*]);
        const _: () = #runtime::__private::toolset::check_cycles(&[#((#names, #requires)),*]);
        let mut tools = ::std::vec::Vec::<::std::sync::Arc<dyn #runtime::AgentTool>>::new();
        #(#adds)*
        tools
    })
}
