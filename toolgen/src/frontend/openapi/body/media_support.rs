//! Determines which media types can represent the values of a body.

use toolgen_core::Shape;
use toolgen_core::schema::shape::{Access, Kind};

use super::super::context::Context;
use super::super::media::{self, Kind as Medium};
use super::super::node::Node;
use super::{MAX_UNIONS, is_array, is_scalar};

impl<'a> Context<'a> {
    /// Whether values of this shape can be sent in a media type of this kind. A form needs fields, but if it is not
    /// multipart, or its boundary is declared, its complete text can be passed.
    pub(super) fn can_represent(&mut self, media_type: &str, shape: &Shape) -> bool {
        match media::kind(media_type) {
            Medium::Form => self.may_be(shape, |kind| !is_array(kind)),
            Medium::FormData | Medium::Multipart if media::has_boundary(media_type) => {
                self.may_be(shape, |kind| !is_array(kind))
            }
            Medium::FormData | Medium::Multipart => {
                self.may_be(shape, |kind| !is_array(kind) && !is_scalar(kind))
            }
            _ => true,
        }
    }

    /// Whether a media type is lossless for values of this shape: text and JSON cannot contain bytes, and a JSON Patch
    /// (RFC 6902) is an array.
    pub(super) fn is_lossless(&mut self, media_type: &str, shape: &Shape) -> bool {
        if media::essence(media_type) == "application/json-patch+json" {
            return self.may_be(shape, |kind| is_array(kind) || *kind == Kind::Any);
        }
        match media::kind(media_type) {
            Medium::FormData | Medium::Multipart => true,
            Medium::Binary | Medium::Text | Medium::Any if self.is_file(shape, "") => true,
            _ => !self.contains_files(shape, MAX_UNIONS),
        }
    }

    /// Whether a shape is a file, or an object, array or union with files.
    fn contains_files(&mut self, shape: &Shape, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        if self.is_file(shape, "") {
            return true;
        }
        match self.resolved(shape).kind {
            Kind::Array(rules) => self.contains_files(&rules.items, depth),
            Kind::Union(union) => union.variants.iter().any(|variant| self.contains_files(variant, depth)),
            Kind::Object(rules) => {
                let mut sent_fields = rules.fields.iter().filter(|field| field.access != Access::ReadOnly);
                sent_fields.any(|field| self.contains_files(&field.shape, depth))
            }
            _ => false,
        }
    }

    /// Reports media types that are not objects and are therefore ignored.
    pub(in super::super) fn note_malformed_content(&mut self, content: Option<&Node<'a>>) {
        let Some(content) = content else { return };
        if content.object().is_none() {
            self.malformed(content, "`content` must be an object of media types; it is left out");
        }
        for (media_type, node) in content.entries() {
            if node.object().is_none() && !node.value.is_null() {
                let message = format!("`{media_type}` must contain an object; any value is accepted");
                self.malformed(&node, &message);
            }
        }
    }
}
