//! Reads parameters that describe the complete query string (`in: querystring`, OpenAPI 3.2).

use toolgen_core::Shape;
use toolgen_core::schema::shape::{Access, Field, Kind};
use toolgen_core::spec::plan::{Encoding, Location};

use super::body::flat;
use super::codes;
use super::context::Context;
use super::media::{self, Kind as Medium};
use super::parameter::Param;
use super::reference::Resolved;

impl<'a> Context<'a> {
    /// Returns the parameters of a query: a parameter for each field of a form, or else a single parameter whose value
    /// is the query.
    pub(super) fn querystring(&mut self, resolved: &Resolved<'a>, name: &str) -> Vec<Param> {
        let node = &resolved.node;
        let Some((media_type, media)) = node.members("content").into_iter().next() else {
            self.report(
                codes::PARAMETER,
                &node.pointer,
                format!("the parameter `{name}` is a whole query and has no `content`; it is left out"),
                "add `content` with a media type and a schema",
            );
            return Vec::new();
        };
        let mut shape = media.get("schema").map_or(Shape::ANY, |schema| self.shape_of(&schema, name));
        let required = node.is_true("required");
        let param = |name: &str, required, encoding, shape| Param {
            name: name.to_owned(),
            location: Location::Query,
            required,
            encoding,
            shape,
            is_querystring: false,
        };
        self.apply_annotations(resolved, &mut shape);
        if media::kind(media_type) != Medium::Form {
            let encoding = self.content_encoding(&mut shape, media_type, &media, name);
            return vec![Param { is_querystring: true, ..param(name, required, encoding, shape) }];
        }
        let object = self.resolved(&shape);
        let Some(rules) = flat(&object) else { return vec![param(name, required, Encoding::FORM, shape)] };
        let is_sent = |field: &&Field| field.access != Access::ReadOnly && field.shape.kind != Kind::Never;
        let mut may_be_object =
            |field: &Field| self.may_be(&field.shape, |kind| matches!(kind, Kind::Object(_) | Kind::All(_)));
        let fields: Vec<(&Field, bool)> =
            rules.fields.iter().filter(is_sent).map(|field| (field, may_be_object(field))).collect();
        // A call that sets any field of an optional query must set its required fields. Separate arguments could not
        // express this.
        if !required && fields.iter().any(|(field, _)| field.required) {
            if !fields.iter().any(|(_, may_be_object)| *may_be_object) {
                return vec![param(name, required, Encoding::FORM, shape)];
            }
            // Styles cannot represent nested objects; a form encodes them as JSON.
            let encoding = Encoding::Content(media_type.to_owned().into());
            return vec![Param { is_querystring: true, ..param(name, required, encoding, shape) }];
        }
        let mut params = Vec::new();
        for (field, may_be_object) in fields {
            // As in the body of a form, a nested object is JSON.
            let encoding =
                if may_be_object { Encoding::Content("application/json".into()) } else { Encoding::FORM };
            params.push(param(field.wire_name(), required && field.required, encoding, field.shape.clone()));
        }
        params
    }
}
