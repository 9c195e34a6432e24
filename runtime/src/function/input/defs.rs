//! The named shapes of a tool.

use std::collections::BTreeMap;

use serde_json::Value;

use super::ToolInput;
use crate::base::frozen::Text;
use crate::schema::shape::Shape;

/// The named shapes that the arguments and the result of a tool refer to.
///
/// A name is the full path of its type, so that types of the same name stay apart; [`ToolSpec`](crate::ToolSpec) uses
/// the short name unless two types share it.
#[derive(Clone, Debug, Default)]
pub struct Defs {
    pub(super) found: BTreeMap<Text, Shape>,
    pub(super) defaults: Vec<(&'static str, Value)>,
}

impl Defs {
    /// Adds a shape and, on first use, the shapes it refers to.
    pub fn add(&mut self, name: impl Into<Text>, shape: impl FnOnce() -> Shape, parts: &[fn(&mut Defs)]) {
        let name = name.into();
        if self.found.contains_key(&name) {
            return;
        }
        self.found.insert(name, shape());
        for part in parts {
            part(self);
        }
    }

    /// Adds the body of a type under its name and, on first use, the shapes it refers to.
    #[doc(hidden)]
    pub fn named<T: ToolInput>(&mut self, name: &'static str, parts: &[fn(&mut Defs)]) {
        if let Some(body) = T::BODY {
            self.add(name, || body.clone(), parts);
        }
    }

    /// Sets the default of an argument, for defaults that cannot be constants.
    #[doc(hidden)]
    pub fn default_of(&mut self, argument: &'static str, value: Value) {
        self.defaults.push((argument, value));
    }

    /// Whether there is nothing to add.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.found.is_empty() && self.defaults.is_empty()
    }
}
