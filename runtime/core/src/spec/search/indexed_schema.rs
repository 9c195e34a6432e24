//! Extracts the parts of a schema that the search indexes: names, descriptions and enumerated values.
//!
//! In generated code, a schema is a string until it is used. Parsing a thousand schemas takes longer than indexing
//! them, so the search extracts these parts from the string, without parsing the shapes.

use std::borrow::Cow;
use std::fmt;

use serde_core::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::base::frozen::List;
use crate::schema::shape::{Def, Kind, Literal, Schema, Shape, find_schema, pointer};

/// Number of levels of a shape that are indexed: the arguments, their values, and the items or members of these.
const LEVELS: usize = 3;

/// The parts of a schema that the search indexes.
#[derive(Debug, Default, PartialEq)]
pub(super) struct IndexedSchema<'t> {
    pub(super) description: Cow<'t, str>,
    /// The fields of an object.
    pub(super) fields: Vec<(Cow<'t, str>, IndexedSchema<'t>)>,
    /// The items of a list.
    pub(super) items: Option<Box<IndexedSchema<'t>>>,
    /// The strings among the enumerated values.
    pub(super) values: Vec<Cow<'t, str>>,
    /// The named shape that a reference refers to.
    name: Option<Cow<'t, str>>,
}

impl<'t> IndexedSchema<'t> {
    /// Reads a schema.
    pub(super) fn from_schema(schema: &'t Schema) -> IndexedSchema<'t> {
        let parsed = schema.unparsed_text().and_then(|text| serde_json::from_str(text).ok());
        parsed.unwrap_or_else(|| IndexedSchema::from_shape(schema.shape(), LEVELS))
    }

    fn from_shape(shape: &'t Shape, levels: usize) -> IndexedSchema<'t> {
        let mut indexed =
            IndexedSchema { description: Cow::Borrowed(&shape.description), ..IndexedSchema::default() };
        match &shape.kind {
            Kind::Ref(name) => indexed.name = Some(Cow::Borrowed(name)),
            Kind::Enum(values) => {
                let texts = values.iter().filter_map(|value| match value {
                    Literal::String(text) => Some(Cow::Borrowed(text.as_str())),
                    _ => None,
                });
                indexed.values = texts.collect();
            }
            Kind::Array(rules) if levels > 0 => {
                indexed.items = Some(Box::new(IndexedSchema::from_shape(&rules.items, levels - 1)));
            }
            Kind::Object(rules) if levels > 0 => {
                let fields = rules.fields.iter();
                indexed.fields = fields
                    .map(|field| {
                        (
                            Cow::Borrowed(field.name.as_str()),
                            IndexedSchema::from_shape(&field.shape, levels - 1),
                        )
                    })
                    .collect();
            }
            _ => {}
        }
        indexed
    }

    /// Returns the target of the schema, if the schema is a reference.
    pub(super) fn resolved(&self, defs: &'t List<Def>) -> Option<IndexedSchema<'t>> {
        let mut target = IndexedSchema::from_schema(find_schema(defs, self.name.as_deref()?)?);
        // More references than named shapes are a cycle.
        for _ in 0..defs.len() {
            let Some(name) = &target.name else { break };
            target = IndexedSchema::from_schema(find_schema(defs, name)?);
        }
        Some(target)
    }
}

impl<'de: 't, 't> Deserialize<'de> for IndexedSchema<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<IndexedSchema<'t>, D::Error> {
        deserializer.deserialize_any(Reader).map(SchemaValue::schema)
    }
}

/// A value in a schema.
enum SchemaValue<'t> {
    Schema(Box<IndexedSchema<'t>>),
    Text(Cow<'t, str>),
    Texts(Vec<Cow<'t, str>>),
    Other,
}

impl<'t> SchemaValue<'t> {
    fn schema(self) -> IndexedSchema<'t> {
        if let SchemaValue::Schema(schema) = self { *schema } else { IndexedSchema::default() }
    }

    fn texts(self) -> Vec<Cow<'t, str>> {
        match self {
            SchemaValue::Texts(texts) => texts,
            SchemaValue::Text(text) => vec![text],
            _ => Vec::new(),
        }
    }
}

impl<'de: 't, 't> Deserialize<'de> for SchemaValue<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SchemaValue<'t>, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = SchemaValue<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<SchemaValue<'de>, E> {
        Ok(SchemaValue::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<SchemaValue<'de>, E> {
        Ok(SchemaValue::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_bool<E>(self, _: bool) -> Result<SchemaValue<'de>, E> {
        Ok(SchemaValue::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<SchemaValue<'de>, E> {
        Ok(SchemaValue::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<SchemaValue<'de>, E> {
        Ok(SchemaValue::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<SchemaValue<'de>, E> {
        Ok(SchemaValue::Other)
    }

    fn visit_unit<E>(self) -> Result<SchemaValue<'de>, E> {
        Ok(SchemaValue::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<SchemaValue<'de>, A::Error> {
        let mut texts = Vec::new();
        while let Some(value) = seq.next_element()? {
            if let SchemaValue::Text(text) = value {
                texts.push(text);
            }
        }
        Ok(SchemaValue::Texts(texts))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<SchemaValue<'de>, A::Error> {
        let (mut indexed, mut types, mut is_tuple) = (IndexedSchema::default(), Vec::new(), false);
        while let Some(SchemaValue::Text(keyword)) = map.next_key()? {
            match &*keyword {
                "description" => {
                    indexed.description =
                        map.next_value::<SchemaValue<'de>>()?.texts().pop().unwrap_or_default();
                }
                "type" => types = map.next_value::<SchemaValue<'de>>()?.texts(),
                "enum" | "const" | "x-enum" => indexed.values = map.next_value::<SchemaValue<'de>>()?.texts(),
                "properties" => indexed.fields = map.next_value::<Fields<'de>>()?.0,
                "items" => indexed.items = Some(Box::new(map.next_value()?)),
                "$ref" => {
                    let reference = map.next_value::<SchemaValue<'de>>()?.texts().pop();
                    indexed.name = reference.and_then(|text| pointer::referenced(&text)).map(Cow::Owned);
                }
                other => {
                    is_tuple |= other == "prefixItems";
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let has_type = |name: &str| types.iter().any(|ty| ty == name);
        if !has_type("object") {
            indexed.fields.clear();
        }
        indexed.items = indexed.items.filter(|_| has_type("array") && !is_tuple);
        Ok(SchemaValue::Schema(Box::new(indexed)))
    }
}

/// The fields of an object, in order.
struct Fields<'t>(Vec<(Cow<'t, str>, IndexedSchema<'t>)>);

impl<'de: 't, 't> Deserialize<'de> for Fields<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Fields<'t>, D::Error> {
        deserializer.deserialize_map(FieldsReader).map(Fields)
    }
}

struct FieldsReader;

impl<'de> Visitor<'de> for FieldsReader {
    type Value = Vec<(Cow<'de, str>, IndexedSchema<'de>)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the fields of an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::with_capacity(map.size_hint().unwrap_or_default());
        while let Some(SchemaValue::Text(name)) = map.next_key()? {
            fields.push((name, map.next_value()?));
        }
        Ok(fields)
    }
}
