//! What the search reads of a schema: names, descriptions and listed values.
//!
//! In generated code a schema is a text until it is used. Fully reading a thousand schemas takes longer than indexing
//! them, so the search takes what it needs from the text, and the shapes stay unread.

use std::borrow::Cow;
use std::fmt;

use serde_core::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::base::frozen::List;
use crate::schema::shape::{Def, Kind, Literal, Schema, Shape, find_schema, pointer};

/// How many levels of a shape are looked at: the arguments, their values, and the values of a list or of an object.
const LEVELS: usize = 3;

/// A schema, as far as the search reads it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Glance<'t> {
    pub(super) description: Cow<'t, str>,
    /// The fields of an object.
    pub(super) fields: Vec<(Cow<'t, str>, Glance<'t>)>,
    /// What a list holds.
    pub(super) items: Option<Box<Glance<'t>>>,
    /// The texts among the listed values.
    pub(super) values: Vec<Cow<'t, str>>,
    /// The named shape that is meant.
    name: Option<Cow<'t, str>>,
}

impl<'t> Glance<'t> {
    /// Looks at a schema.
    pub(super) fn at(schema: &'t Schema) -> Glance<'t> {
        let read = schema.unread().and_then(|text| serde_json::from_str(text).ok());
        read.unwrap_or_else(|| Glance::of(schema.shape(), LEVELS))
    }

    fn of(shape: &'t Shape, levels: usize) -> Glance<'t> {
        let mut glance = Glance { description: Cow::Borrowed(&shape.description), ..Glance::default() };
        match &shape.kind {
            Kind::Ref(name) => glance.name = Some(Cow::Borrowed(name)),
            Kind::Enum(values) => {
                let texts = values.iter().filter_map(|value| match value {
                    Literal::String(text) => Some(Cow::Borrowed(text.as_str())),
                    _ => None,
                });
                glance.values = texts.collect();
            }
            Kind::Array(rules) if levels > 0 => {
                glance.items = Some(Box::new(Glance::of(&rules.items, levels - 1)));
            }
            Kind::Object(rules) if levels > 0 => {
                let fields = rules.fields.iter();
                glance.fields = fields
                    .map(|field| (Cow::Borrowed(field.name.as_str()), Glance::of(&field.shape, levels - 1)))
                    .collect();
            }
            _ => {}
        }
        glance
    }

    /// Returns the target of this, if it is a reference.
    pub(super) fn resolved(&self, defs: &'t List<Def>) -> Option<Glance<'t>> {
        let mut found = Glance::at(find_schema(defs, self.name.as_deref()?)?);
        // More references than names are a circle.
        for _ in 0..defs.len() {
            let Some(name) = &found.name else { break };
            found = Glance::at(find_schema(defs, name)?);
        }
        Some(found)
    }
}

impl<'de: 't, 't> Deserialize<'de> for Glance<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Glance<'t>, D::Error> {
        deserializer.deserialize_any(Reader).map(Read::schema)
    }
}

/// The value at a place of a schema.
enum Read<'t> {
    Schema(Box<Glance<'t>>),
    Text(Cow<'t, str>),
    Texts(Vec<Cow<'t, str>>),
    Other,
}

impl<'t> Read<'t> {
    fn schema(self) -> Glance<'t> {
        if let Read::Schema(schema) = self { *schema } else { Glance::default() }
    }

    fn texts(self) -> Vec<Cow<'t, str>> {
        match self {
            Read::Texts(texts) => texts,
            Read::Text(text) => vec![text],
            _ => Vec::new(),
        }
    }
}

impl<'de: 't, 't> Deserialize<'de> for Read<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Read<'t>, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Read<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Read<'de>, E> {
        Ok(Read::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Read<'de>, E> {
        Ok(Read::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Read<'de>, E> {
        Ok(Read::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Read<'de>, E> {
        Ok(Read::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Read<'de>, E> {
        Ok(Read::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Read<'de>, E> {
        Ok(Read::Other)
    }

    fn visit_unit<E>(self) -> Result<Read<'de>, E> {
        Ok(Read::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Read<'de>, A::Error> {
        let mut texts = Vec::new();
        while let Some(read) = seq.next_element()? {
            if let Read::Text(text) = read {
                texts.push(text);
            }
        }
        Ok(Read::Texts(texts))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Read<'de>, A::Error> {
        let (mut glance, mut types, mut is_tuple) = (Glance::default(), Vec::new(), false);
        while let Some(Read::Text(keyword)) = map.next_key()? {
            match &*keyword {
                "description" => {
                    glance.description = map.next_value::<Read<'de>>()?.texts().pop().unwrap_or_default();
                }
                "type" => types = map.next_value::<Read<'de>>()?.texts(),
                "enum" | "const" | "x-enum" => glance.values = map.next_value::<Read<'de>>()?.texts(),
                "properties" => glance.fields = map.next_value::<Fields<'de>>()?.0,
                "items" => glance.items = Some(Box::new(map.next_value()?)),
                "$ref" => {
                    let reference = map.next_value::<Read<'de>>()?.texts().pop();
                    glance.name = reference.and_then(|text| pointer::referenced(&text)).map(Cow::Owned);
                }
                other => {
                    is_tuple |= other == "prefixItems";
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let is = |name: &str| types.iter().any(|own| own == name);
        if !is("object") {
            glance.fields.clear();
        }
        glance.items = glance.items.filter(|_| is("array") && !is_tuple);
        Ok(Read::Schema(Box::new(glance)))
    }
}

/// The fields of an object, in order.
struct Fields<'t>(Vec<(Cow<'t, str>, Glance<'t>)>);

impl<'de: 't, 't> Deserialize<'de> for Fields<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Fields<'t>, D::Error> {
        deserializer.deserialize_map(FieldsReader).map(Fields)
    }
}

struct FieldsReader;

impl<'de> Visitor<'de> for FieldsReader {
    type Value = Vec<(Cow<'de, str>, Glance<'de>)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the fields of an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::with_capacity(map.size_hint().unwrap_or_default());
        while let Some(Read::Text(name)) = map.next_key()? {
            fields.push((name, map.next_value()?));
        }
        Ok(fields)
    }
}
