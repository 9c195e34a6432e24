//! The owned form of a parameter's type during decoding.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericArgument, PathArguments, Type, TypeReference};

use crate::attr::{display_tokens, with_lifetimes};
use crate::errors::at;

/// The type of a parameter.
pub(crate) enum Form {
    /// The type itself.
    Owned(TokenStream),
    /// `&T`: a value of the owning type is decoded and borrowed.
    Ref(TokenStream),
    /// `Option<&T>`: the same for an optional value.
    OptionRef(TokenStream),
}

/// Returns the form of a parameter's type, or why it cannot be a parameter.
pub(crate) fn form(ty: &Type) -> Result<Form, syn::Error> {
    let reject =
        |tokens: &dyn ToTokens, reason: &str| Err(syn::Error::new_spanned(tokens.to_token_stream(), reason));
    let pointee = pointee(ty);
    if has_word(&pointee.to_token_stream(), "dyn") {
        let type_text = display_tokens(pointee);
        return reject(
            ty,
            &format!(
                "no model can send a trait object, which has no schema; if your program provides it, write `Service<{type_text}>`"
            ),
        );
    }
    match ungrouped(ty) {
        Type::Reference(reference) if reference.mutability.is_some() => reject(
            ty,
            "a tool gets its arguments from a model, so they cannot be `&mut`; take the value itself",
        ),
        Type::Reference(reference) if is_static(reference) => reject(ty, &borrowed_hint(reference, "&", "")),
        Type::Reference(reference) => Ok(Form::Ref(with_static_lifetimes(&*reference.elem))),
        Type::ImplTrait(_) => {
            reject(ty, "an argument of a tool needs a concrete type for its schema, not `impl Trait`")
        }
        Type::Ptr(_) => reject(ty, "a pointer cannot come from a model; take the value itself"),
        Type::Infer(_) => reject(ty, "an argument of a tool needs a type"),
        other => match option_of(other).map(ungrouped) {
            Some(Type::Reference(reference)) if is_static(reference) => {
                reject(ty, &borrowed_hint(reference, "Option<&", ">"))
            }
            Some(Type::Reference(reference)) if reference.mutability.is_none() => {
                Ok(Form::OptionRef(with_static_lifetimes(&*reference.elem)))
            }
            _ => Ok(Form::Owned(with_static_lifetimes(other))),
        },
    }
}

/// Whether a reference is `'static`.
fn is_static(reference: &TypeReference) -> bool {
    reference.lifetime.as_ref().is_some_and(|lifetime| lifetime.ident == "static")
}

/// Returns the help for a `'static` reference.
fn borrowed_hint(reference: &TypeReference, prefix: &str, suffix: &str) -> String {
    let borrowed = display_tokens(&reference.elem);
    let owned = match ungrouped(&reference.elem) {
        Type::Path(path) if path.path.is_ident("str") => "String".to_owned(),
        Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Path") => {
            "PathBuf".to_owned()
        }
        Type::Slice(slice) => format!("Vec<{}>", display_tokens(&slice.elem)),
        _ => borrowed.clone(),
    };
    let owned = if suffix.is_empty() { owned } else { format!("Option<{owned}>") };
    format!(
        "an argument lives as long as the call, not as long as the program: write `{prefix}{borrowed}{suffix}` or `{owned}`"
    )
}

/// Returns the type behind references, options and shared pointers.
pub(crate) fn pointee(ty: &Type) -> &Type {
    let ty = ungrouped(ty);
    if let Type::Reference(reference) = ty {
        return pointee(&reference.elem);
    }
    ["Option", "Arc", "Rc", "Box"].iter().find_map(|name| generic_argument(ty, name)).map_or(ty, pointee)
}

/// Returns the type inside a shared pointer, if programs use it for their own objects.
pub(crate) fn shared(ty: &Type) -> Option<&Type> {
    let ty = ungrouped(ty);
    let shared = generic_argument(option_of(ty).map_or(ty, ungrouped), "Arc")?;
    // `Arc<str>` and `Arc<[T]>` are strings and arrays.
    matches!(ungrouped(shared), Type::Path(path) if !path.path.is_ident("str")).then_some(shared)
}

/// Whether a word such as `dyn` or `impl` occurs anywhere in a type.
pub(crate) fn has_word(tokens: &TokenStream, word: &str) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        proc_macro2::TokenTree::Ident(ident) => ident == word,
        proc_macro2::TokenTree::Group(group) => has_word(&group.stream(), word),
        _ => false,
    })
}

/// Returns the type without parentheses and invisible groups.
pub(crate) fn ungrouped(mut ty: &Type) -> &Type {
    loop {
        ty = match ty {
            Type::Group(group) => &group.elem,
            Type::Paren(paren) => &paren.elem,
            other => return other,
        };
    }
}

/// Returns the type for a constant: every lifetime is `'static`.
pub(crate) fn with_static_lifetimes(ty: impl ToTokens) -> TokenStream {
    with_lifetimes(ty.to_token_stream(), &Ident::new("static", Span::call_site()))
}

/// Returns the `T` of `Option<T>`.
fn option_of(ty: &Type) -> Option<&Type> {
    generic_argument(ty, "Option")
}

/// Returns the `T` of `NAME<T>`.
fn generic_argument<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|segment| segment.ident == name)?;
    match &last.arguments {
        PathArguments::AngleBracketed(arguments) => match arguments.args.first()? {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a parameter of this type is injected unless an attribute says otherwise.
pub(crate) fn is_injected(ty: &Type) -> bool {
    let ty = match ungrouped(ty) {
        Type::Reference(reference) => ungrouped(&reference.elem),
        other => option_of(other).map_or(other, ungrouped),
    };
    let Type::Path(path) = ty else { return false };
    let injected = ["ToolContext", "CancellationToken", "Progress", "Service"];
    path.path.segments.last().is_some_and(|segment| injected.iter().any(|name| segment.ident == name))
}

impl Form {
    /// Returns the type that is decoded.
    pub(crate) fn decoded_type(&self) -> TokenStream {
        match self {
            Form::Owned(ty) => ty.clone(),
            Form::Ref(ty) => {
                let span = ty.span();
                quote_spanned!(at(span)=> __toolgen::Owned<#ty>)
            }
            Form::OptionRef(ty) => {
                let span = ty.span();
                quote_spanned!(at(span)=> __toolgen::Option<__toolgen::Owned<#ty>>)
            }
        }
    }

    /// Returns the expression passed to the function, from the variable that holds the decoded value.
    pub(crate) fn argument_expr(&self, variable: &Ident) -> TokenStream {
        match self {
            Form::Owned(_) => variable.to_token_stream(),
            Form::Ref(ty) => quote!(__toolgen::Borrow::<#ty>::borrow(&#variable)),
            Form::OptionRef(ty) => {
                quote!(#variable.as_ref().map(__toolgen::Borrow::<#ty>::borrow))
            }
        }
    }
}
