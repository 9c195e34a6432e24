//! `toolset![…]`: an explicit list of tools.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, ExprPath, Token};

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
    let (mut functions, mut statements) = (Vec::new(), Vec::new());
    for entry in &entries {
        let span = at(entry.span());
        match ungroup(entry) {
            Expr::Path(path) => {
                let text = path.to_token_stream().to_string().replace(' ', "");
                if let Some(first) = seen.iter().position(|known| *known == text) {
                    let offset = first + 1;
                    errors.at(
                        path,
                        format!("`{text}` is listed twice: it is also function {offset} of this list"),
                    );
                    continue;
                }
                let index = seen.len();
                functions.push(function(path, &text, &runtime));
                seen.push(text);
                statements.push(quote_spanned!(span=> #runtime::__private::toolset::IntoTools::add_to((FUNCTIONS[#index].tool)(), &mut tools);));
            }
            Expr::Paren(paren) => {
                let inner = &paren.expr;
                statements.push(quote_spanned!(span=> #runtime::__private::toolset::IntoTools::add_to(#inner, &mut tools);));
            }
            other => {
                statements.push(quote_spanned!(span=> #runtime::__private::toolset::IntoTools::add_to(#other, &mut tools);));
            }
        }
    }
    let errors = (!errors.is_empty()).then(|| errors.into_tokens());
    let (count, indices) = (functions.len(), 0..functions.len());
    quote!({
        #errors
        const FUNCTIONS: [#runtime::__private::toolset::Entry; #count] = [#(#functions),*];
        const _: () = #runtime::__private::toolset::check_names(&FUNCTIONS);
        const _: () = #runtime::__private::toolset::check_cycles(
            &[#((FUNCTIONS[#indices].name, FUNCTIONS[#indices].requires)),*]
        );
        let mut tools = ::std::vec::Vec::<::std::sync::Arc<dyn #runtime::AgentTool>>::new();
        #(#statements)*
        tools
    })
}

/// Returns the entry of a function. The import `ThisFunction` shadows the generated type of that name, if there is one:
/// a function without `#[tool]` has none, and is then reported as a plain function.
fn function(path: &ExprPath, text: &str, runtime: &TokenStream) -> TokenStream {
    let span = at(path.span());
    let starts_with_self = path.path.segments.first().is_some_and(|segment| segment.ident == "Self");
    let is_generic = path.path.segments.iter().any(|segment| !segment.arguments.is_none());
    if path.qself.is_some() || starts_with_self || is_generic {
        // These cannot be imported.
        return quote_spanned!(span=> #runtime::__private::toolset::entry::<#path>(#text));
    }
    quote_spanned!(span=> {
        #[allow(unused_imports, clippy::wildcard_imports)]
        use #runtime::__private::toolset::forgotten::*;
        #[allow(unused_imports)]
        use #path as ThisFunction;
        #runtime::__private::toolset::entry::<ThisFunction>(#text)
    })
}
