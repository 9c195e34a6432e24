//! Checks the signature of a function with `#[tool]`.

use quote::ToTokens;
use syn::{FnArg, GenericParam, ReturnType, Signature};

use crate::errors::Errors;

/// Reports parts of a signature that a tool cannot have.
pub(crate) fn check(signature: &Signature, is_method: bool, errors: &mut Errors) {
    for param in &signature.generics.params {
        let param_name = match param {
            GenericParam::Lifetime(_) => continue,
            GenericParam::Type(param) => &param.ident,
            GenericParam::Const(param) => &param.ident,
        };
        errors.at(
            param,
            format!("a tool has one schema, so it cannot be generic over `{param_name}`; write a tool for each type and call the generic function from it"),
        );
    }
    if let syn::Safety::Unsafe(token) = &signature.safety {
        errors.at(
            token,
            "a model's arguments cannot uphold what an `unsafe` function asks for; wrap it in a safe one",
        );
    }
    if let Some(variadic) = &signature.variadic {
        errors.at(variadic, "a tool takes a fixed list of arguments; take a `Vec` instead");
    }
    if let Some(FnArg::Receiver(receiver)) = signature.inputs.first() {
        if !is_method {
            errors.at(receiver, "`self` needs its type: put `#[tools]` on the `impl` block and `#[tool]` on the methods in it");
        } else if !matches!(receiver.kind, syn::ReceiverKind::Reference(_, _, None)) {
            errors.at(receiver, "calls run concurrently and share the object, so a tool takes `&self`; put mutable state behind a lock");
        }
    }
    if let ReturnType::Type(_, ty) = &signature.output
        && matches!(**ty, syn::Type::Never(_))
    {
        errors.at(ty.to_token_stream(), "a tool returns a result, so it cannot return `!`");
    }
}
