//! The named shapes of a tool.

use std::collections::BTreeMap;

use serde_core::Serialize;
use serde_json::Value;

use super::{StaticShape, ToolInput};
use toolgen_kernel::base::frozen::{Frozen, Text};
use toolgen_kernel::schema::shape::{Kind, Shape};

/// The named shapes that the arguments and the result of a tool refer to.
///
/// A name is the full path of its type, so that types with the same name remain distinct.
/// [`ToolSpec`](toolgen_kernel::ToolSpec) uses the short name unless two types share it.
#[doc(hidden)]
#[derive(Clone, Debug, Default)]
pub struct Defs {
    pub(super) shapes: BTreeMap<Text, Shape>,
    pub(super) defaults: Vec<FieldDefault>,
    /// The pairs of a type and a type that is flattened into it.
    pub(super) flattened: Vec<(&'static str, &'static str)>,
}

/// A default of a field that is not a constant.
#[derive(Clone, Debug)]
pub(super) struct FieldDefault {
    /// The name of the type that has the field; empty for an argument.
    pub(super) owner: &'static str,
    pub(super) field: &'static str,
    pub(super) value: Value,
}

impl Defs {
    /// Adds a shape and, on first use, the shapes that it refers to.
    pub fn add(&mut self, name: impl Into<Text>, shape: impl FnOnce() -> Shape, parts: &[fn(&mut Defs)]) {
        let name = name.into();
        if self.shapes.contains_key(&name) {
            return;
        }
        self.shapes.insert(name, shape());
        for part in parts {
            part(self);
        }
    }

    /// Adds the body of a type under its name and, on first use, the shapes that it refers to.
    #[doc(hidden)]
    pub fn define<T: ToolInput>(&mut self, name: &'static str, parts: &[fn(&mut Defs)]) {
        if let Some(body) = T::BODY {
            self.add(name, || body.clone(), parts);
        }
    }

    /// Sets the default of a field of a type, or of an argument if `owner` is empty, for defaults that cannot be
    /// constants.
    #[doc(hidden)]
    pub fn default_of(&mut self, owner: &'static str, field: &'static str, value: Value) {
        self.defaults.push(FieldDefault { owner, field, value });
    }

    /// Records that the fields of a type are flattened into another type.
    #[doc(hidden)]
    pub fn flatten<T: ToolInput>(&mut self, owner: &'static str) {
        if let Kind::Ref(Frozen::Static(inner)) = &StaticShape::<T>::SHAPE.kind {
            self.flattened.push((owner, inner));
        }
    }
}

/// The default of a field, evaluated twice. The macros call it for the value to show; method resolution finds the first
/// trait that applies.
#[doc(hidden)]
#[derive(Debug)]
pub struct Defaults<T>(pub T, pub T);

/// First choice for a default: it is added to the schema.
#[doc(hidden)]
pub trait DefaultFromSerialize {
    /// Adds the default to the schema.
    fn toolgen_default(&self, owner: &'static str, field: &'static str, defs: &mut Defs);
}

/// Last choice for a default: it is added to the schema if its type can serialize it.
#[doc(hidden)]
pub trait DefaultFromToolInput {
    /// Adds the default to the schema.
    fn toolgen_default(&self, owner: &'static str, field: &'static str, defs: &mut Defs);
}

impl<T: Serialize> DefaultFromSerialize for &Defaults<T> {
    fn toolgen_default(&self, owner: &'static str, field: &'static str, defs: &mut Defs) {
        // A value that cannot be serialized is omitted, and so is a value that changes with each evaluation.
        let (first, second) = (serde_json::to_value(&self.0), serde_json::to_value(&self.1));
        if let (Ok(first), Ok(second)) = (first, second)
            && first == second
        {
            defs.default_of(owner, field, first);
        }
    }
}

impl<T: ToolInput> DefaultFromToolInput for Defaults<T> {
    fn toolgen_default(&self, owner: &'static str, field: &'static str, defs: &mut Defs) {
        if let (Some(first), Some(second)) = (self.0.default_json(), self.1.default_json())
            && first == second
        {
            defs.default_of(owner, field, first);
        }
    }
}
