//! Generates a stub for a tool with errors, so that the compiler does not also report its uses.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ItemFn;

/// Returns the type of the tool with a placeholder implementation.
pub(crate) fn tool(function: &ItemFn, runtime: &TokenStream) -> TokenStream {
    let (vis, ident) = (&function.vis, &function.sig.ident);
    quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, missing_debug_implementations)]
        #vis struct #ident {}

        const _: () = {
            use #runtime::__private::function as __toolgen;

            impl __toolgen::ToolFunction for #ident {
                const NAME: &'static __toolgen::str = "";

                fn tool() -> __toolgen::FunctionTool {
                    loop {}
                }
            }

            impl #ident {
                #[doc(hidden)]
                #[allow(dead_code)]
                #vis fn tool() -> __toolgen::FunctionTool {
                    loop {}
                }
            }
        };
    }
}
