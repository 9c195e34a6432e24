//! Foreign types whose schema `schemars` generates and that `serde` deserializes: `#[arg(schemars)]`.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_core::de::DeserializeOwned;
use serde_core::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::named_shapes::rename_refs;
use super::{ArgumentProblem, ArgumentProblemKind, Defs, ToolInput, reference};
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::schema::shape::Shape;
use toolgen_kernel::schema::shape::read::read;

/// A type of another crate; `N` is its name in schemas.
pub struct Foreign<T, N>(pub T, PhantomData<N>);

impl<T, N> Foreign<T, N> {
    /// Wraps a value.
    pub fn of(value: T) -> Foreign<T, N> {
        Foreign(value, PhantomData)
    }

    /// Wraps the value of an option.
    pub fn of_optional(value: Option<T>) -> Option<Foreign<T, N>> {
        value.map(Foreign::of)
    }

    /// Returns the value.
    pub fn value(self) -> T {
        self.0
    }

    /// Returns the value in an option.
    pub fn optional(this: Option<Self>) -> Option<T> {
        this.map(Foreign::value)
    }
}

impl<T: Serialize, N> Serialize for Foreign<T, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<T: fmt::Debug, N> fmt::Debug for Foreign<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The name of a type of another crate.
pub trait ForeignName {
    /// The name, as a path.
    const NAME: &'static str;
}

impl<T: JsonSchema + DeserializeOwned, N: ForeignName> ToolInput for Foreign<T, N> {
    const SHAPE: Shape = reference(N::NAME);

    fn defs(defs: &mut Defs) {
        // Two arguments share the shapes that they refer to, unless two foreign types have the same name.
        let mut shapes = shapes::<T>(N::NAME, "schemars");
        if shapes.iter().any(|(name, shape)| defs.shapes.get(name).is_some_and(|existing| existing != shape))
        {
            shapes = self::shapes::<T>(N::NAME, N::NAME);
        }
        for (name, shape) in shapes {
            defs.add(name, || shape, &[]);
        }
    }

    fn decode(value: Value) -> Result<Self, ArgumentProblem> {
        serde_json::from_value(value).map(|value| Foreign(value, PhantomData)).map_err(|error| {
            ArgumentProblem {
                pointer: String::new(),
                kind: ArgumentProblemKind::Value,
                message: error.to_string(),
            }
        })
    }
}

/// Returns the shape of the type under its name, and the shapes that it refers to under names prefixed with `prefix`.
fn shapes<T: JsonSchema>(name: &'static str, prefix: &str) -> Vec<(Text, Shape)> {
    let generator = SchemaSettings::draft2020_12().for_deserialize().into_generator();
    let mut schema = Value::from(generator.into_root_schema_for::<T>());
    let by_name = match schema.as_object_mut().and_then(|schema| schema.remove("$defs")) {
        Some(Value::Object(by_name)) => by_name,
        _ => Map::new(),
    };
    let prefixed = |inner: &str| Text::from(format!("{prefix}::{inner}"));
    let names: BTreeMap<Text, Text> =
        by_name.keys().map(|inner| (Text::from(inner.clone()), prefixed(inner))).collect();
    let shape = |schema: &Value| rename_refs(&read(&remove_rust_details(schema), &mut Vec::new()), &names);
    let inner = by_name.iter().map(|(inner, schema)| (prefixed(inner), shape(schema)));
    [(Text::Static(name), shape(&schema))].into_iter().chain(inner).collect()
}

/// Removes Rust-specific titles and formats from a schema.
fn remove_rust_details(schema: &Value) -> Value {
    let Value::Object(schema) = schema else { return schema.clone() };
    let rust_formats = [
        "int8", "int16", "int32", "int64", "int", "uint8", "uint16", "uint32", "uint64", "uint", "float",
        "double",
    ];
    let mut out = Map::new();
    for (keyword, value) in schema {
        let is_rust_specific = matches!(keyword.as_str(), "$schema" | "title")
            || (keyword == "format" && value.as_str().is_some_and(|format| rust_formats.contains(&format)));
        if is_rust_specific {
            continue;
        }
        let value = match (keyword.as_str(), value) {
            // The keys of these objects are names, not keywords.
            ("properties" | "patternProperties" | "dependentSchemas", Value::Object(by_name)) => {
                by_name.iter().map(|(name, schema)| (name.clone(), remove_rust_details(schema))).collect()
            }
            ("enum" | "const" | "default" | "examples" | "required", value) => value.clone(),
            (_, Value::Array(schemas)) => schemas.iter().map(remove_rust_details).collect(),
            (_, value) => remove_rust_details(value),
        };
        out.insert(keyword.clone(), value);
    }
    Value::Object(out)
}
