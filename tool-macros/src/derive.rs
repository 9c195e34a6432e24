//! `#[derive(ToolInput)]`: structs and enums as arguments, in serde's representation.

mod body;
mod cases;
mod decode;
mod documented;
mod serde_attr;
mod unique;

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Fields, GenericParam, Ident};

use crate::arg_attr::{self, ArgAttr};
use crate::attr;
use crate::dialects;
use crate::docs::{self, Description};
use crate::errors::{Errors, at};
use crate::foreign::Foreign;
use crate::parameter_type;
use crate::runtime_path;
use cases::Case;
use serde_attr::{ContainerAttr, FieldAttr, VariantAttr};

/// A struct or an enum.
pub(crate) struct Input {
    pub(crate) ident: Ident,
    pub(crate) attr: ContainerAttr,
    pub(crate) description: Option<Description>,
    pub(crate) data: Shape,
    /// Whether the type has type parameters. Such a type has no name in a schema.
    pub(crate) is_generic: bool,
}

/// The kind of a type.
pub(crate) enum Shape {
    Struct(Payload),
    Enum(Vec<Variant>),
}

/// The content of a struct or a variant.
pub(crate) enum Payload {
    Unit,
    Newtype(Box<Field>),
    Tuple(Vec<Field>),
    Named(Vec<Field>),
}

/// A variant of an enum.
pub(crate) struct Variant {
    pub(crate) ident: Ident,
    pub(crate) name: String,
    pub(crate) aliases: Vec<String>,
    pub(crate) description: Option<Description>,
    pub(crate) payload: Payload,
}

/// A field.
pub(crate) struct Field {
    /// The name or the index of the field in the type.
    pub(crate) member: syn::Member,
    /// The name in JSON.
    pub(crate) name: String,
    /// Other accepted names.
    pub(crate) aliases: Vec<String>,
    /// The type that is decoded.
    pub(crate) ty: TokenStream,
    /// The type as written, without enclosing pointers.
    pub(crate) text: String,
    /// The wrapper of a type of another crate, if the field has such a type.
    pub(crate) foreign: Option<Foreign>,
    pub(crate) span: proc_macro2::Span,
    pub(crate) serde: FieldAttr,
    pub(crate) arg: ArgAttr,
    pub(crate) description: Option<Description>,
}

impl Input {
    /// Returns all fields, including the fields of all variants of an enum.
    fn fields(&self) -> impl Iterator<Item = &Field> {
        let payloads: Vec<&Payload> = match &self.data {
            Shape::Struct(payload) => vec![payload],
            Shape::Enum(variants) => variants.iter().map(|variant| &variant.payload).collect(),
        };
        payloads.into_iter().flat_map(|payload| match payload {
            Payload::Unit => &[][..],
            Payload::Newtype(field) => std::slice::from_ref(&**field),
            Payload::Tuple(fields) | Payload::Named(fields) => fields,
        })
    }
}

impl Field {
    /// Returns the value of the field, from an expression of the type that is decoded.
    pub(crate) fn unwrapped(&self, decoded: &TokenStream) -> TokenStream {
        self.foreign.as_ref().map_or_else(|| decoded.clone(), |foreign| foreign.unwrapped(decoded))
    }

    /// Returns an expression of the type that is decoded, from the value of the field.
    pub(crate) fn wrapped(&self, value: &TokenStream) -> TokenStream {
        self.foreign.as_ref().map_or_else(|| value.clone(), |foreign| foreign.wrapped(value))
    }
}

/// Expands the derive.
pub(crate) fn tool_input(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let parsed: DeriveInput = match syn::parse2(input) {
        Ok(parsed) => parsed,
        Err(error) => return error.into_compile_error(),
    };
    let input = read_input(&parsed, &mut errors);
    let runtime = runtime_path::path();
    match input {
        Some(input) if errors.is_empty() => {
            let expanded = expand(&input, &parsed, &runtime, &mut errors);
            let errors = errors.into_tokens();
            quote!(#expanded #errors)
        }
        _ => {
            let stub = stub(&parsed, &runtime);
            let errors = errors.into_tokens();
            quote!(#stub #errors)
        }
    }
}

fn read_input(input: &DeriveInput, errors: &mut Errors) -> Option<Input> {
    let attr = serde_attr::container(&input.attrs, errors);
    for param in &input.generics.params {
        match param {
            GenericParam::Type(_) => {}
            GenericParam::Lifetime(param) => {
                errors.at(
                    param,
                    "an argument owns its data, so its type cannot borrow; use a `String` or a `Vec`",
                );
            }
            GenericParam::Const(param) => {
                errors.at(
                    param,
                    "a type with a const parameter cannot derive `ToolInput`; implement it by hand",
                );
            }
        }
    }
    let data = match &input.data {
        Data::Struct(data) => {
            Shape::Struct(read_payload(&data.fields, "", attr.rename_all, attr.default, errors))
        }
        Data::Enum(data) => {
            if data.variants.is_empty() {
                errors.at(&input.ident, "an enum without variants has no value a model could send");
            }
            let variants = data.variants.iter().filter_map(|variant| read_variant(variant, &attr, errors));
            Shape::Enum(variants.collect())
        }
        Data::Union(data) => {
            errors.at(data.union_token, "a union has no JSON representation; use an enum");
            return None;
        }
    };
    let is_generic = !input.generics.params.is_empty();
    let description = docs::read(&input.attrs).description;
    let parsed = Input { ident: input.ident.clone(), attr, description, data, is_generic };
    unique::check(&parsed, errors);
    if documented::is_required(&input.attrs, errors) {
        documented::check(&parsed, errors);
    }
    Some(parsed)
}

fn read_variant(variant: &syn::Variant, container: &ContainerAttr, errors: &mut Errors) -> Option<Variant> {
    let VariantAttr { rename, aliases, rename_all, skip } = serde_attr::variant(&variant.attrs, errors);
    if skip {
        return None;
    }
    let ident = variant.ident.unraw().to_string();
    let case = rename_all.or(container.rename_all_fields);
    let name = rename.unwrap_or_else(|| {
        container.rename_all.map_or_else(|| ident.clone(), |case| case.rename_variant(&ident))
    });
    Some(Variant {
        ident: variant.ident.clone(),
        aliases: dedup_aliases(aliases, &name),
        name,
        description: docs::read(&variant.attrs).description,
        payload: read_payload(&variant.fields, &ident, case, false, errors),
    })
}

/// Returns the aliases that differ from the first name, each once.
fn dedup_aliases(mut aliases: Vec<String>, name: &str) -> Vec<String> {
    let mut seen = vec![name.to_owned()];
    aliases.retain(|alias| {
        let is_new = !seen.contains(alias);
        seen.push(alias.clone());
        is_new
    });
    aliases
}

/// Reads the fields of a struct, or of the variant of this name.
fn read_payload(
    fields: &Fields,
    variant: &str,
    case: Option<Case>,
    default: bool,
    errors: &mut Errors,
) -> Payload {
    let mut parsed_fields: Vec<Field> = Vec::new();
    for (index, field) in fields.iter().enumerate() {
        let mut attrs = field.attrs.clone();
        let arg = arg_attr::read(attr::take_attribute(&mut attrs, "arg", errors), errors);
        let mut serde = serde_attr::field(&attrs, errors);
        serde.container_default |= default;
        let ident = field.ident.as_ref().map(|ident| ident.unraw().to_string()).unwrap_or_default();
        let default_name = case.map_or_else(|| ident.clone(), |case| case.rename_field(&ident));
        let name = arg
            .rename
            .as_ref()
            .map(syn::LitStr::value)
            .or_else(|| serde.rename.clone())
            .unwrap_or(default_name);
        let mut aliases = std::mem::take(&mut serde.aliases);
        aliases.extend(arg.aliases.iter().map(syn::LitStr::value));
        let aliases = dedup_aliases(aliases, &name);
        let member = match &field.ident {
            Some(ident) => syn::Member::Named(ident.clone()),
            None => syn::Member::Unnamed(index.into()),
        };
        if let Some(path) = &arg.path {
            errors.push(syn::Error::new(
                path.span,
                "`path` needs the context of a call, so it is for arguments of a tool, not for fields",
            ));
        }
        let description = match &arg.description {
            Some(expr) => Some(Description::Expr(quote!(#expr))),
            None => docs::read(&field.attrs).description,
        };
        let span = syn::spanned::Spanned::span(&field.ty);
        let ty = field.ty.to_token_stream();
        let text = attr::display_tokens(parameter_type::pointee(&field.ty));
        // A skipped field is not decoded.
        let foreign = (arg.schemars && !serde.skip)
            .then(|| Foreign::new(format_ident!("__Foreign_{variant}_{index}"), &ty));
        let ty = foreign.as_ref().map_or(ty, Foreign::decoded_type);
        parsed_fields.push(Field { member, name, aliases, ty, text, foreign, span, serde, arg, description });
    }
    match fields {
        Fields::Named(_) => Payload::Named(parsed_fields),
        Fields::Unit => Payload::Unit,
        Fields::Unnamed(_) => {
            parsed_fields.retain(|field| !field.serde.skip);
            match <[Field; 1]>::try_from(parsed_fields) {
                Ok([only]) => Payload::Newtype(Box::new(only)),
                Err(fields) => Payload::Tuple(fields),
            }
        }
    }
}

fn expand(input: &Input, parsed: &DeriveInput, runtime: &TokenStream, errors: &mut Errors) -> TokenStream {
    let ident = &input.ident;
    let name = input.attr.rename.clone().unwrap_or_else(|| ident.unraw().to_string());
    let path = quote!(::core::concat!(::core::module_path!(), "::", #name));
    let is_inline = body::is_inline(input);
    let shape_expr = body::shape_expression(input);
    let checks = input.fields().flat_map(body::checks);
    // Type parameters are only usable in constants of the type itself.
    let (shape_expr, checks) = if input.is_generic {
        (quote!({ #(#checks;)* #shape_expr }), TokenStream::new())
    } else {
        let this = ident.to_token_stream();
        (shape_expr, attr::with_self(quote!(#(const _: () = #checks;)*), &this))
    };
    let (shape, items) = if input.is_generic || is_inline {
        let body = body::inherits_body(input).map(|ty| {
            quote!(const BODY: __toolgen::Option<&'static __toolgen::Shape> = <#ty as __toolgen::ToolInput>::BODY;)
        });
        let collectors = body::type_collectors(input);
        (
            shape_expr,
            quote!(#body fn defs(defs: &mut __toolgen::Defs) { #(#collectors(defs);)* let _ = defs; }),
        )
    } else {
        let mut collectors = body::type_collectors(input);
        collectors.extend(body::defaults(input, &path));
        let items = quote! {
            const BODY: __toolgen::Option<&'static __toolgen::Shape> = __toolgen::Some(const { &#shape_expr });

            fn defs(defs: &mut __toolgen::Defs) {
                defs.define::<Self>(#path, &[#(#collectors),*]);
            }
        };
        (quote!(__toolgen::reference(#path)), items)
    };
    let symmetric = (!body::is_symmetric(input)).then(|| {
        quote!(
            const SYMMETRIC: __toolgen::bool = false;
        )
    });
    let (decode, default_json) = (decode::decode(input), body::default_json_fn(input));
    let foreign = input.fields().filter_map(|field| field.foreign.as_ref()).map(Foreign::declaration);
    let variable_tracking = dialects::track_variable();
    let span = at(ident.span());
    let static_checks = if input.is_generic { Vec::new() } else { dialects::constants(&[], errors) };
    let static_checks = static_checks.iter().map(|constant| {
        quote_spanned!(span=> const _: () = __toolgen::dialect_check::derived::<#ident>(#name, &__toolgen::dialect::#constant);)
    });
    let generics = bounded_generics(parsed);
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    quote! {
        #[allow(deprecated, clippy::all, clippy::pedantic)]
        const _: () = {
            use #runtime::__private::input as __toolgen;

            #variable_tracking
            #checks
            #(#static_checks)*
            #(#foreign)*

            #[automatically_derived]
            impl #impl_generics __toolgen::ToolInput for #ident #type_generics #where_clause {
                const SHAPE: __toolgen::Shape = #shape;
                #symmetric
                #items

                fn decode(value: __toolgen::Value) -> __toolgen::Result<Self, __toolgen::ArgumentProblem> {
                    <Self as __toolgen::ToolInput>::decode_borrowed(__toolgen::BorrowedValue::of(value))
                }

                fn decode_borrowed(value: __toolgen::BorrowedValue<'_>) -> __toolgen::Result<Self, __toolgen::ArgumentProblem> {
                    #decode
                }

                #default_json
            }
        };
    }
}

/// Returns the generics of a type; each type parameter implements `ToolInput`.
fn bounded_generics(parsed: &DeriveInput) -> syn::Generics {
    let mut generics = parsed.generics.clone();
    for param in generics.type_params_mut() {
        let span = at(param.ident.span());
        param.bounds.push(syn::parse_quote_spanned!(span=> __toolgen::ToolInput));
    }
    generics
}

/// Returns a stub for a type with errors, so that the compiler does not also report tools that use the type.
fn stub(parsed: &DeriveInput, runtime: &TokenStream) -> TokenStream {
    let ident = &parsed.ident;
    let (impl_generics, type_generics, where_clause) = parsed.generics.split_for_impl();
    quote! {
        const _: () = {
            use #runtime::__private::input as __toolgen;

            #[automatically_derived]
            impl #impl_generics __toolgen::ToolInput for #ident #type_generics #where_clause {
                const SHAPE: __toolgen::Shape = __toolgen::Shape::ANY;

                fn decode(_: __toolgen::Value) -> __toolgen::Result<Self, __toolgen::ArgumentProblem> {
                    loop {}
                }
            }
        };
    }
}

/// Returns a local variable for the member of a payload.
pub(crate) fn variable(index: usize) -> Ident {
    format_ident!("field{index}", span = proc_macro2::Span::mixed_site())
}
