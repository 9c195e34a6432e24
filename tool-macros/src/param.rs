//! The parameters of a function: arguments or injected values, with their attributes.

use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, Ident, Pat, PatType};

use crate::arg_attr::{self, ArgAttr};
use crate::attr;
use crate::docs::{self, Description};
use crate::errors::Errors;
use crate::parameter_type::{self, Form};

/// A parameter.
pub(crate) struct Param {
    /// `#[cfg(…)]` of the parameter.
    pub(crate) cfg: Vec<Attribute>,
    /// The span of its type.
    pub(crate) span: Span,
    /// The source of its value.
    pub(crate) source: Source,
}

/// The source of a parameter's value.
pub(crate) enum Source {
    /// The model.
    Model(Box<Argument>),
    /// The context of the call, with the parameter's type; its lifetimes are left to the compiler.
    Context(TokenStream),
}

/// A parameter whose value the model sets.
pub(crate) struct Argument {
    /// The name a model sees.
    pub(crate) name: String,
    /// The name in the function.
    pub(crate) ident: Ident,
    /// The type.
    pub(crate) form: Form,
    /// The type as in the source, without enclosing pointers.
    pub(crate) ty: String,
    /// The type behind the pointer, if the type is a shared pointer.
    pub(crate) shared: Option<String>,
    /// The description.
    pub(crate) description: Option<Description>,
    /// The attribute.
    pub(crate) attr: ArgAttr,
}

/// Reads a parameter and removes the macro's own attributes from it.
pub(crate) fn read(input: &mut FnArg, errors: &mut Errors) -> Option<Param> {
    let FnArg::Typed(input) = input else { return None };
    let arg = attr::take_attribute(&mut input.attrs, "arg", errors);
    let inject = attr::take_attribute(&mut input.attrs, "inject", errors);
    let docs = docs::read(&input.attrs);
    // rustc rejects documentation on parameters.
    input.attrs.retain(|attribute| !attribute.path().is_ident("doc"));
    check_attributes(&mut input.attrs, errors);
    let cfg = input.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg")).cloned().collect();
    let span = input.ty.span();
    if let (Some(arg), Some(_)) = (&arg, &inject) {
        errors.push(syn::Error::new(arg.span, "a parameter is either an argument or injected, not both"));
    }
    let is_injected = inject.is_some() || (arg.is_none() && parameter_type::is_injected(&input.ty));
    let source = if is_injected {
        let elided = Ident::new("_", Span::call_site());
        Source::Context(attr::with_lifetimes(quote::ToTokens::to_token_stream(&input.ty), &elided))
    } else {
        Source::Model(Box::new(argument(input, arg_attr::read(arg, errors), docs, errors)?))
    };
    Some(Param { cfg, span, source })
}

fn argument(input: &PatType, attr: ArgAttr, docs: docs::Docs, errors: &mut Errors) -> Option<Argument> {
    let ident = match &*input.pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => pat.ident.clone(),
        Pat::Wild(wild) => {
            errors.at(wild, "an argument of a tool needs a name: it is what the model sees");
            return None;
        }
        other => {
            errors.at(other, "an argument of a tool needs one plain name: it is what the model sees; destructure it in the body");
            return None;
        }
    };
    let form = errors.ok(parameter_type::form(&input.ty))?;
    let name = match &attr.rename {
        Some(name) => name.value(),
        None => ident.unraw().to_string(),
    };
    let description = match &attr.description {
        Some(expr) => Some(Description::Expr(quote::quote!(#expr))),
        None => docs.description,
    };
    let shared = parameter_type::shared(&input.ty).map(attr::display_tokens);
    let ty = attr::display_tokens(parameter_type::pointee(&input.ty));
    Some(Argument { name, ident, form, ty, shared, description, attr })
}

/// Reports attributes of a parameter that neither the macro nor rustc accepts there, and removes them, so that rustc
/// does not report them again.
fn check_attributes(attributes: &mut Vec<Attribute>, errors: &mut Errors) {
    let allowed = ["cfg", "cfg_attr", "allow", "expect", "warn", "deny", "forbid"];
    attributes.retain(|attribute| {
        let path = attribute.path();
        if allowed.iter().any(|name| path.is_ident(name)) {
            return true;
        }
        let help = if path.is_ident("serde") || path.is_ident("schemars") {
            "; on an argument of a tool, write `#[arg(…)]`: `default`, `rename`, `alias`, `range`, `len`, `pattern` and others"
        } else {
            "; arguments of a tool take `#[arg(…)]` and `#[inject]`"
        };
        let name =
            path.get_ident().map_or_else(|| "this attribute".to_owned(), |name| format!("`#[{name}]`"));
        errors.at(path, format!("{name} has no effect here{help}"));
        false
    });
}

/// Sets missing descriptions of parameters from the section `# Arguments`; reports names without a parameter.
pub(crate) fn describe(params: &mut [Param], docs: &docs::Docs, errors: &mut Errors) {
    for (name, text) in &docs.arguments {
        let mut arguments = params.iter_mut().filter_map(|param| match &mut param.source {
            Source::Model(argument) => Some(argument),
            Source::Context(_) => None,
        });
        match arguments.find(|argument| argument.ident.unraw() == name || argument.name == *name) {
            Some(argument) => {
                argument.description.get_or_insert_with(|| Description::Text(text.clone()));
            }
            None => errors.push(syn::Error::new(
                docs.span.unwrap_or_else(Span::call_site),
                format!("the section on arguments describes `{name}`, but the tool has no such argument"),
            )),
        }
    }
}
