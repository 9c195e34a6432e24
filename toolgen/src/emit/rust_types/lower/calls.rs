//! The types of a tool: its arguments, its result, and the other contents of its responses.

use toolgen_core::Shape;
use toolgen_core::schema::shape::{Field, Kind, ObjectRules};

use super::super::model::{Body, CallTypes, Origin, Presence, Struct, Ty, TypeRequest, Use, Wrap};
use super::super::objects::{item_at, object_of};
use super::super::type_site::{TypeSite, nested_name};
use super::super::usage::Usage;
use super::Lowering;

impl Lowering<'_> {
    /// Returns the types of a tool whose argument struct already has a name.
    pub(in super::super) fn tool<'w>(&mut self, request: &TypeRequest<'w>, input: usize) -> CallTypes<'w> {
        let spec = request.spec;
        self.owner = Some(input);
        let name = self.items.get(input).map_or_else(String::new, |item| item.name.clone());
        let site = TypeSite::new(&name, String::new(), Usage::INPUT);
        let rules = object_of(self.defs, &spec.input, 0).map(|mut rules| {
            // A typed call returns a whole result; the program reads the fields that it needs.
            if !spec.projection.is_empty() {
                let is_argument = |field: &&Field| field.name != spec.projection;
                rules.fields = rules.fields.iter().filter(is_argument).cloned().collect();
            }
            rules
        });
        let body = match rules {
            Some(rules) if request.is_function => with_defaults(self.structure(&rules, &site), &rules),
            Some(rules) => self.structure(&rules, &site),
            // Arguments that are not a plain object are passed unchanged.
            None => Struct { extra: Some(("arguments".to_owned(), Ty::Value)), ..Struct::default() },
        };
        self.set(input, Body::Struct(body));
        // This precedes the result, which contains the items, so that they are named after the tool alone.
        let item = request.items.map(|pointer| self.item(request, pointer, &name));
        let fallback_doc = format!("The result of [`{0}`](super::{0}).", request.ident);
        let site = TypeSite::new(&nested_name(&name, "Output"), fallback_doc, Usage::OUTPUT);
        let nothing = if request.success.is_empty { Ty::Unit } else { Ty::Value };
        let output = spec.output.as_ref().map_or(nothing, |shape| self.value(shape, &site));
        let headers = request.success.headers.as_ref().and_then(|shape| self.headers(shape, input, &name));
        let failure = request.failure.map(|shape| self.failure(shape, input, &name));
        CallTypes {
            ident: request.ident,
            tag_index: request.tag_index,
            input,
            output,
            failure,
            item,
            headers,
            is_function: request.is_function,
        }
    }

    /// Returns the type of the items of the list at a pointer into the result.
    fn item(&mut self, request: &TypeRequest<'_>, pointer: &str, name: &str) -> Ty {
        let item = request.spec.output.as_ref().and_then(|shape| item_at(self.defs, shape, pointer));
        let fallback_doc = format!("An item of the list of [`{0}`](super::{0}).", request.ident);
        item.map_or(Ty::Value, |shape| {
            self.value(&shape, &TypeSite::new(&nested_name(name, "Item"), fallback_doc, Usage::OUTPUT))
        })
    }

    /// Adds the type of the headers of successful responses, which the arguments' documentation names.
    fn headers(&mut self, shape: &Shape, input: usize, name: &str) -> Option<Ty> {
        let Kind::Object(rules) = &shape.kind else { return None };
        let fallback_doc =
            format!("The headers of an answer to [`{name}`], as `Answer::headers` reads them.");
        let index = self.reserve(&nested_name(name, "Headers"), fallback_doc);
        let unique = self.items.get(index).map_or_else(String::new, |item| item.name.clone());
        let body = self.structure(rules, &TypeSite::new(&unique, String::new(), Usage::OUTPUT));
        self.set(index, Body::Struct(body));
        if let Some(item) = self.items.get_mut(index) {
            let fallback_doc = item.doc.clone();
            item.uses.push(Use {
                owner: Some(input),
                key: String::new(),
                name: unique.clone(),
                fallback_doc,
            });
        }
        if let Some(item) = self.items.get_mut(input) {
            item.doc += &format!(" Its answer has the headers of [`{unique}`].");
        }
        Some(Ty::Item(index, Wrap::Plain))
    }

    /// Returns the type of unsuccessful responses, which the arguments' documentation names. It is named after the
    /// arguments, unless the document has a name for it.
    fn failure(&mut self, shape: &Shape, input: usize, name: &str) -> Ty {
        let error_name = nested_name(name, "Error");
        let fallback_doc = "What answers other than success hold.".to_owned();
        let ty = self.value(shape, &TypeSite::new(&error_name, fallback_doc.clone(), Usage::OUTPUT));
        let item = if let Ty::Item(index, Wrap::Plain) = &ty { self.items.get(*index) } else { None };
        let document_name = item.filter(|item| item.origin == Origin::Document).map(|item| item.name.clone());
        if document_name.is_none() && self.names.is_free(&error_name) && ty != Ty::Value {
            let alias = self.reserve(&error_name, fallback_doc);
            self.set(alias, Body::Alias(ty.clone()));
        }
        let displayed = document_name.unwrap_or(error_name);
        if self.items.iter().any(|item| item.name == displayed)
            && let Some(item) = self.items.get_mut(input)
        {
            item.doc += &format!(" An answer other than success holds [`{displayed}`].");
        }
        ty
    }
}

/// Makes arguments with a default required: a function receives the default if a model passes no value.
fn with_defaults(mut body: Struct, rules: &ObjectRules) -> Struct {
    for field in &mut body.fields {
        let rule = rules.fields.iter().find(|field_rule| field_rule.wire_name() == field.key);
        if rule.is_some_and(|rule| rule.shape.default.is_some()) {
            field.presence = match field.presence {
                Presence::Nullable | Presence::OptionalNullable => Presence::Nullable,
                Presence::Required | Presence::Optional => Presence::Required,
            };
        }
    }
    body
}
