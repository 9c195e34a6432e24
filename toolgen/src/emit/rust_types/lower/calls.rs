//! The types of a tool: its arguments, its result, and the other contents of its responses.

use toolgen_core::Shape;
use toolgen_core::schema::shape::{Kind, ObjectRules};

use super::super::model::{Body, CallTypes, Origin, Presence, Struct, Ty, TypeRequest, Use, Wrap};
use super::super::objects::{item_at, object_of};
use super::super::place::{TypeSite, longer};
use super::super::usage::Usage;
use super::Lowering;

impl Lowering<'_> {
    /// Returns the types of a tool whose argument struct already has a name.
    pub(in super::super) fn tool<'w>(&mut self, wanted: &TypeRequest<'w>, input: usize) -> CallTypes<'w> {
        let spec = wanted.spec;
        self.owner = Some(input);
        let name = self.items.get(input).map_or_else(String::new, |item| item.name.clone());
        let place = TypeSite::new(&name, String::new(), Usage::INPUT);
        let rules = object_of(self.defs, &spec.input, 0);
        let body = match rules {
            Some(rules) if wanted.is_function => with_defaults(self.structure(&rules, &place), &rules),
            Some(rules) => self.structure(&rules, &place),
            // Arguments that are not a plain object are passed unchanged.
            None => Struct { extra: Some(("arguments".to_owned(), Ty::Value)), ..Struct::default() },
        };
        self.set(input, Body::Struct(body));
        // This precedes the result, which contains the items, so that they are named after the tool alone.
        let item = wanted.items.map(|at| self.item(wanted, at, &name));
        let what = format!("The result of [`{0}`](super::{0}).", wanted.ident);
        let place = TypeSite::new(&longer(&name, "Output"), what, Usage::OUTPUT);
        let nothing = if wanted.success.is_empty { Ty::Unit } else { Ty::Value };
        let output = spec.output.as_ref().map_or(nothing, |shape| self.value(shape, &place));
        let headers = wanted.success.headers.as_ref().and_then(|shape| self.headers(shape, input, &name));
        let failure = wanted.failure.map(|shape| self.failure(shape, input, &name));
        CallTypes {
            ident: wanted.ident,
            home: wanted.home,
            input,
            output,
            failure,
            item,
            headers,
            is_function: wanted.is_function,
        }
    }

    /// Returns the type of the items of the list at a pointer into the result.
    fn item(&mut self, wanted: &TypeRequest<'_>, at: &str, name: &str) -> Ty {
        let item = wanted.spec.output.as_ref().and_then(|shape| item_at(self.defs, shape, at));
        let what = format!("An item of the list of [`{0}`](super::{0}).", wanted.ident);
        item.map_or(Ty::Value, |shape| {
            self.value(&shape, &TypeSite::new(&longer(name, "Item"), what, Usage::OUTPUT))
        })
    }

    /// Adds the type of the headers of successful responses, which the arguments' documentation names.
    fn headers(&mut self, shape: &Shape, input: usize, name: &str) -> Option<Ty> {
        let Kind::Object(rules) = &shape.kind else { return None };
        let what = format!("The headers of an answer to [`{name}`], as `Answer::headers` reads them.");
        let index = self.reserve(&longer(name, "Headers"), what);
        let own = self.items.get(index).map_or_else(String::new, |item| item.name.clone());
        let body = self.structure(rules, &TypeSite::new(&own, String::new(), Usage::OUTPUT));
        self.set(index, Body::Struct(body));
        if let Some(item) = self.items.get_mut(index) {
            let what = item.doc.clone();
            item.uses.push(Use { owner: Some(input), key: String::new(), name: own.clone(), what });
        }
        if let Some(item) = self.items.get_mut(input) {
            item.doc += &format!(" Its answer has the headers of [`{own}`].");
        }
        Some(Ty::Item(index, Wrap::Plain))
    }

    /// Returns the type of unsuccessful responses, which the arguments' documentation names. It is named after the
    /// arguments, unless the document has a name for it.
    fn failure(&mut self, shape: &Shape, input: usize, name: &str) -> Ty {
        let own = longer(name, "Error");
        let what = "What answers other than success hold.".to_owned();
        let ty = self.value(shape, &TypeSite::new(&own, what.clone(), Usage::OUTPUT));
        let item = if let Ty::Item(at, Wrap::Plain) = &ty { self.items.get(*at) } else { None };
        let documents = item.filter(|item| item.origin == Origin::Document).map(|item| item.name.clone());
        if documents.is_none() && self.names.is_free(&own) && ty != Ty::Value {
            let alias = self.reserve(&own, what);
            self.set(alias, Body::Alias(ty.clone()));
        }
        let documented = documents.unwrap_or(own);
        if self.items.iter().any(|item| item.name == documented)
            && let Some(item) = self.items.get_mut(input)
        {
            item.doc += &format!(" An answer other than success holds [`{documented}`].");
        }
        ty
    }
}

/// Makes arguments with a default required: a function receives the default if a model passes no value.
fn with_defaults(mut body: Struct, rules: &ObjectRules) -> Struct {
    for field in &mut body.fields {
        let of_key = rules.fields.iter().find(|rule| rule.wire_name() == field.key);
        if of_key.is_some_and(|rule| rule.shape.default.is_some()) {
            field.presence = match field.presence {
                Presence::Nullable | Presence::OptionalNullable => Presence::Nullable,
                Presence::Required | Presence::Optional => Presence::Required,
            };
        }
    }
    body
}
