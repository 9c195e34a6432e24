//! Expands a function into a tool.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Item, ItemFn, ReturnType, Signature, Type};

use crate::argument;
use crate::dialects;
use crate::docs::{self, Description, Docs};
use crate::errors::{Errors, at};
use crate::names;
use crate::param::{self, Param, Source};
use crate::parameter_type;
use crate::runtime_path;
use crate::signature;
use crate::stub;
use crate::tool_attr::{self, ToolAttr};

/// A parsed tool: its function, attribute, parameters and documentation.
pub(crate) struct Tool {
    /// The name.
    pub(crate) name: String,
    /// The function.
    pub(crate) ident: Ident,
    /// The attribute.
    pub(crate) attr: ToolAttr,
    pub(crate) docs: Docs,
    params: Vec<Param>,
    is_async: bool,
    output: Option<Type>,
    deprecated: Option<String>,
}

/// Expands `#[tool]` on an item.
pub(crate) fn tool(attribute: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let mut function = match syn::parse2::<Item>(item.clone()) {
        Ok(Item::Fn(function)) => function,
        Ok(other) => {
            errors.at(attribute_site(&other), misplaced_message(&other));
            let errors = errors.into_tokens();
            return quote!(#item #errors);
        }
        Err(error) => {
            errors.push(error);
            let errors = errors.into_tokens();
            return quote!(#item #errors);
        }
    };
    let attr = tool_attr::read(attribute, &mut errors);
    let tool = read(&mut function.attrs, &mut function.sig, attr, false, &mut errors);
    let runtime = tool.runtime();
    let body = if errors.is_empty() { Some(expand(&tool, &function, &runtime, &mut errors)) } else { None };
    if let (Some(body), true) = (body, errors.is_empty()) {
        return body;
    }
    // An `impl` block cannot contain other items.
    let stub = function.sig.receiver().is_none().then(|| stub::tool(&function, &runtime));
    let errors = errors.into_tokens();
    quote!(#function #stub #errors)
}

fn attribute_site(item: &Item) -> TokenStream {
    // The first token of the item, so that the message does not underline all of it.
    item.to_token_stream()
        .into_iter()
        .find(|token| !matches!(token, proc_macro2::TokenTree::Punct(_)))
        .into_token_stream()
}

fn misplaced_message(item: &Item) -> &'static str {
    match item {
        Item::Impl(_) => {
            "`#[tool]` is for functions; an `impl` block takes `#[tools]`, with `#[tool]` on its methods"
        }
        Item::Struct(_) | Item::Enum(_) => {
            "`#[tool]` is for functions; a type that is an argument takes `#[derive(ToolInput)]`"
        }
        _ => "`#[tool]` is for functions",
    }
}

/// Reads a function and removes the macro's own attributes from it.
pub(crate) fn read(
    attributes: &mut [Attribute],
    signature: &mut Signature,
    attr: ToolAttr,
    is_method: bool,
    errors: &mut Errors,
) -> Tool {
    signature::check(signature, is_method, errors);
    let mut docs = docs::read(attributes);
    docs.examples.extend(attr.examples.iter().map(|text| docs::Example {
        summary: String::new(),
        arguments: text.value(),
        span: Some(text.span()),
    }));
    let mut params: Vec<Param> =
        signature.inputs.iter_mut().filter_map(|input| param::read(input, errors)).collect();
    param::describe(&mut params, &docs, errors);
    let name = attr.name.as_ref().map_or_else(|| signature.ident.unraw().to_string(), syn::LitStr::value);
    if attr.name.is_none()
        && let Some(problem) = names::tool_name_problem(&name)
    {
        errors.at(&signature.ident, format!("{problem}; set another name with `#[tool(name = \"…\")]`"));
    }
    if let (Some(blocking), Some(_)) = (&attr.blocking, &signature.asyncness) {
        errors
            .at(blocking, "an `async` function must not block; make it a plain function, or omit `blocking`");
    }
    if let (Some(timeout), None, None) = (&attr.timeout, &attr.blocking, &signature.asyncness) {
        errors.at(
            timeout,
            "a timeout cannot stop a plain function; make it `async fn`, or add `blocking` to run it on a separate \
             thread, which the call stops waiting for at the timeout",
        );
    }
    let output = match &signature.output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) => Some((**ty).clone()),
    };
    let tool = Tool {
        name,
        ident: signature.ident.clone(),
        attr,
        docs,
        params,
        is_async: signature.asyncness.is_some(),
        output,
        deprecated: deprecated(attributes),
    };
    tool.check(errors);
    tool
}

/// Returns the note of `#[deprecated]`.
fn deprecated(attributes: &[Attribute]) -> Option<String> {
    let attribute = attributes.iter().find(|attribute| attribute.path().is_ident("deprecated"))?;
    let mut note = String::new();
    let result = attribute.parse_nested_meta(|meta| {
        let text: syn::LitStr = meta.value()?.parse()?;
        if meta.path.is_ident("note") {
            note = text.value();
        }
        Ok(())
    });
    // rustc reports errors in its own attribute.
    drop(result);
    Some(note)
}

impl Tool {
    /// Returns the path of the runtime.
    pub(crate) fn runtime(&self) -> TokenStream {
        self.attr.runtime.as_ref().map_or_else(runtime_path::path, ToTokens::to_token_stream)
    }

    pub(crate) fn arguments(&self) -> impl Iterator<Item = &param::Argument> {
        self.params.iter().filter_map(|param| match &param.source {
            Source::Model(argument) => Some(&**argument),
            Source::Context(_) => None,
        })
    }

    /// Returns the field that a rule between arguments refers to.
    fn name_of(&self, ident: &Ident) -> &str {
        let argument = self.arguments().find(|argument| argument.ident.unraw() == ident.unraw());
        argument.map_or("", |argument| argument.name.as_str())
    }

    /// Returns the expression of the `ToolSpec`.
    pub(crate) fn spec(&self, errors: &mut Errors) -> TokenStream {
        let name = &self.name;
        let name_span = self.attr.name.as_ref().map_or_else(|| self.ident.span(), Spanned::span);
        let mut fields = vec![quote_spanned!(at(name_span)=> name: __toolgen::ToolName::new(#name))];
        if !self.attr.fields.iter().any(|field| field.to_string().starts_with("label")) {
            let label = names::title(name);
            fields.push(quote!(label: __toolgen::S(#label)));
        }
        let attr_description = self.attr.description.as_ref().map(|expr| Description::Expr(quote!(#expr)));
        if let Some(description) = attr_description.as_ref().or(self.docs.description.as_ref()) {
            let description = description.to_expr();
            fields.push(quote!(description: __toolgen::S(#description)));
        }
        for (field, text) in [("returns", &self.docs.returns), ("use_for", &self.docs.use_for)] {
            if !text.is_empty() {
                let field = Ident::new(field, Span::call_site());
                fields.push(quote!(#field: __toolgen::S(#text)));
            }
        }
        if !self.docs.examples.is_empty() {
            let examples = self.docs.examples.iter().map(|example| {
                let (summary, arguments) = (&example.summary, &example.arguments);
                quote!(__toolgen::Example { summary: __toolgen::S(#summary), arguments: __toolgen::S(#arguments) })
            });
            fields.push(quote!(examples: __toolgen::S(const { &[#(#examples),*] })));
        }
        if let Some(note) = &self.deprecated {
            fields.push(quote!(deprecated: __toolgen::Some(__toolgen::S(#note))));
        }
        fields.extend(self.attr.effects.to_expr(errors).map(|effects| quote!(effects: #effects)));
        fields.extend(self.attr.fields.iter().cloned());
        fields.push(self.input());
        if let Some(output) = self.output_type() {
            fields.push(quote!(output: __toolgen::schema(__toolgen::Returned::<#output>::SHAPE)));
        }
        quote!(__toolgen::ToolSpec { #(#fields,)* ..__toolgen::ToolSpec::EMPTY })
    }

    /// Returns the constants that check the attributes of each argument, and each argument against its dialects.
    pub(crate) fn static_checks(&self, errors: &mut Errors) -> TokenStream {
        let constants = dialects::constants(&self.attr.dialects, errors);
        let checks = self.params.iter().filter_map(|param| {
            let Source::Model(argument) = &param.source else { return None };
            // With the span of the argument, regardless of its type.
            let mut checks = argument::checks(argument, param.span);
            checks.extend(dialects::checks(&constants, &self.name, argument, param.span, self.attr.exact));
            let cfg = &param.cfg;
            let checks = checks.iter().map(|check| quote!(#(#cfg)* #check));
            Some(quote!(#(#checks)*))
        });
        let rules = self.attr.relations.iter().filter(|_| self.attr.exact).map(|rule| rule.kind.span());
        let rules = rules.map(|span| dialects::rule_checks(&constants, &self.name, span));
        let variable_tracking = dialects::track_variable();
        let foreign = self.arguments().map(argument::foreign_declaration);
        let hosts = self.attr.effects.host_checks();
        quote!(#variable_tracking #hosts #(#foreign)* #(#checks)* #(#rules)*)
    }

    fn input(&self) -> TokenStream {
        let fields = self.params.iter().filter_map(|param| {
            let Source::Model(argument) = &param.source else { return None };
            let (cfg, field) = (&param.cfg, argument::field(argument, param.span));
            Some(quote!(#(#cfg)* #field))
        });
        let relations = self.attr.relations.iter().map(|relation| {
            let kind = &relation.kind;
            let names = relation.arguments.iter().map(|ident| self.name_of(ident));
            quote!(__toolgen::relation(__toolgen::RelationKind::#kind, const { &[#(__toolgen::S(#names)),*] }))
        });
        let relations =
            if self.attr.relations.is_empty() { quote!(&[]) } else { quote!(const { &[#(#relations),*] }) };
        let extra = if self.attr.ignore_unknown { quote!(Open) } else { quote!(Closed) };
        quote!(input: __toolgen::Schema::Tree(__toolgen::S(const {
            &__toolgen::object(const { &[#(#fields),*] }, #relations, __toolgen::Extra::#extra)
        })))
    }

    /// Returns the returned type, if it can be named in a constant.
    fn output_type(&self) -> Option<TokenStream> {
        let output = self.output.as_ref()?;
        let tokens = parameter_type::with_static_lifetimes(output);
        (!parameter_type::has_word(&tokens, "impl")).then_some(tokens)
    }

    /// Returns the expression of the `Function`. `call` is the called path; a method is called on `receiver`.
    pub(crate) fn function(
        &self,
        call: &TokenStream,
        receiver: Option<&Ident>,
        errors: &mut Errors,
    ) -> TokenStream {
        let spec = self.spec(errors);
        let defs = self.defs();
        let run = self.run(call, receiver);
        quote!(__toolgen::Function::new(#spec, #defs, #run))
    }

    fn defs(&self) -> TokenStream {
        let defs = Ident::new("defs", Span::mixed_site());
        let parts: Vec<TokenStream> =
            self.params.iter().map(|param| argument::collect(param, &defs)).collect();
        let output = self.output_type().map(|output| quote!(__toolgen::Returned::<#output>::DEFS(#defs);));
        if parts.iter().all(TokenStream::is_empty) && output.is_none() {
            return quote!(|_| {});
        }
        quote!(|#defs| { #(#parts)* #output })
    }

    fn run(&self, call: &TokenStream, receiver: Option<&Ident>) -> TokenStream {
        let site = Span::mixed_site();
        let (args, ctx, out) = (Ident::new("args", site), Ident::new("ctx", site), Ident::new("out", site));
        let variables: Vec<Ident> =
            (0..self.params.len()).map(|index| format_ident!("arg{index}", span = site)).collect();
        let pairs = || self.params.iter().zip(&variables);
        let binds = pairs().map(|(param, variable)| argument::bind(param, variable, &args, &ctx));
        let passed = pairs().map(|(param, variable)| argument::pass_expr(param, variable));
        let receiver_arg = receiver.into_iter();
        let wait = self.is_async.then(|| quote_spanned!(at(self.ident.span())=> .await));
        let convert = self.convert(&out);
        let body = quote!({
            #(#binds)*
            let #out = #call(#(#receiver_arg,)* #(#passed),*) #wait;
            #convert
        });
        let this = receiver.map_or_else(|| quote!(_), ToTokens::to_token_stream);
        let has_arguments = self.arguments().next().is_some();
        let args_param = if has_arguments { quote!(mut #args) } else { quote!(_) };
        let needs_ctx = self.params.iter().any(|param| match &param.source {
            Source::Context(_) => true,
            Source::Model(argument) => argument.attr.path.is_some(),
        });
        let ctx_param = if needs_ctx { ctx.to_token_stream() } else { quote!(_) };
        if self.is_async {
            // The only place where the future must be `Send`, with the span of the function name.
            let boxed = quote_spanned!(at(self.ident.span())=> __toolgen::boxed(async move #body));
            quote!(__toolgen::Run::Async(|#this, #args_param, #ctx_param| #boxed))
        } else {
            let kind = Ident::new(
                if self.attr.blocking.is_some() { "Blocking" } else { "Inline" },
                Span::call_site(),
            );
            quote!(__toolgen::Run::#kind(|#this, #args_param, #ctx_param| #body))
        }
    }

    /// Returns the statements that convert the returned value to the outcome.
    fn convert(&self, out: &Ident) -> TokenStream {
        let span = self.output.as_ref().map_or_else(|| self.ident.span(), Spanned::span);
        let site = Span::mixed_site().located_at(span);
        let (how, value, error) =
            (Ident::new("how", site), Ident::new("value", site), Ident::new("error", site));
        quote_spanned! { at(span)=>
            let #how = (&&__toolgen::Probe(&#out)).toolgen_outcome();
            match #how.split(#out) {
                __toolgen::Ok(#value) => {
                    let #how = (&&&__toolgen::Probe(&#value)).toolgen_output();
                    #how.convert(#value)
                }
                __toolgen::Err(#error) => {
                    let #how = (&&&&__toolgen::Probe(&#error)).toolgen_failure();
                    __toolgen::Err(#how.convert(#error))
                }
            }
        }
    }
}

fn expand(tool: &Tool, function: &ItemFn, runtime: &TokenStream, errors: &mut Errors) -> TokenStream {
    let (vis, ident, name) = (&function.vis, &tool.ident, &tool.name);
    let function_expr = tool.function(&ident.to_token_stream(), None, errors);
    let static_checks = tool.static_checks(errors);
    let required = tool
        .attr
        .requires
        .iter()
        .filter(|requirement| requirement.kind == "tool" && !requirement.is_optional);
    let required: Vec<_> = required.map(|requirement| &requirement.name).collect();
    let requires = (!required.is_empty())
        .then(|| quote!(const REQUIRES: &'static [&'static __toolgen::str] = &[#(#required),*];));
    let doc = format!("The function [`{0}`](fn@{0}), as the tool `{name}`.", ident.unraw());
    quote! {
        // A tool owns its arguments, even if it only reads them.
        #[allow(clippy::needless_pass_by_value)]
        #function

        #[doc = #doc]
        #[allow(non_camel_case_types, missing_debug_implementations, missing_copy_implementations)]
        #vis struct #ident {}

        #[allow(deprecated, unreachable_code, unreachable_patterns, clippy::all, clippy::pedantic)]
        const _: () = {
            use #runtime::__private::function as __toolgen;
            #[allow(unused_imports)]
            use __toolgen::probes::*;

            #static_checks

            static __TOOL: __toolgen::Function = #function_expr;

            #[automatically_derived]
            impl __toolgen::ToolFunction for #ident {
                const NAME: &'static __toolgen::str = #name;
                #requires

                fn tool() -> __toolgen::FunctionTool {
                    __toolgen::FunctionTool::new(&__TOOL, __toolgen::Arc::new(()))
                }
            }

            __toolgen::register!(#ident);

            #[automatically_derived]
            impl #ident {
                /// The tool, for a registry.
                #[allow(dead_code)]
                #vis fn tool() -> __toolgen::FunctionTool {
                    <#ident as __toolgen::ToolFunction>::tool()
                }
            }
        };
    }
}
