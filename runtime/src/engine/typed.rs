//! Calls from Rust: arguments as structs, results as types.

#[doc(hidden)]
pub mod json;
#[doc(hidden)]
pub mod link;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::spec::plan::Tool;

pub use json::{FromJson, JsonError, ToJson};
pub use link::Link;
#[doc(hidden)]
pub use serde;

/// The arguments of one tool as a struct, which generated code declares:
///
/// ```ignore
/// let pets: Vec<Pet> = engine.call(petstore::ListPets { limit: Some(5) }).await?;
/// ```
pub trait TypedTool: Serialize + Sized {
    /// What a successful call gives. `serde_json::Value` where the document does not say.
    type Output: DeserializeOwned;

    /// The tool.
    fn tool() -> &'static Tool;

    /// The arguments in the form decoding gives them: fields under their wire names, and what is not given left
    /// out.
    ///
    /// # Errors
    ///
    /// If the struct cannot be JSON, because a map in it has keys that are not texts for example.
    fn into_arguments(self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(self)
    }
}
