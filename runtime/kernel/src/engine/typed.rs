//! Typed calls from Rust: arguments as structs, results as types.

#[doc(hidden)]
pub mod json;
#[doc(hidden)]
pub mod link;
mod text;

use serde_core::Serialize;
use serde_json::Value;

use crate::call::error::ToolError;
use crate::spec::plan::Tool;

pub use json::{FromJson, JsonError, ToJson};
pub use link::Link;
#[doc(hidden)]
pub use serde_core;

/// The arguments of one tool as a struct, declared by generated code:
///
/// ```ignore
/// let pets: Vec<Pet> = engine.call(petstore::ListPets::new().with_limit(5)).await?;
/// ```
pub trait TypedTool: Serialize + Sized {
    /// The result of a successful call; `serde_json::Value` if the document does not declare its type. A custom type
    /// implements [`FromJson`], for example with `serde_json::from_value`.
    type Output: FromJson;

    /// Returns the tool.
    fn tool() -> &'static Tool;

    /// Returns the arguments in decoded form: fields under their wire names, without omitted fields.
    ///
    /// # Errors
    ///
    /// Returns an error if the struct cannot be serialized to JSON, for example because a map in it has keys that
    /// are not strings.
    fn into_arguments(self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(self)
    }
}

/// A tool whose response is a list that is read item by item, page by page or as a stream: see
/// `HttpEngine::items_of`.
#[diagnostic::on_unimplemented(
    message = "the pagination of `{Self}` is unknown",
    label = "read item by item",
    note = "declare it when you compile the tools: `Options::pagination(\"GET /pets\", \"offset=skip items=/data\")`, or `--pagination`",
    note = "use `call` for a response that is not a list"
)]
pub trait TypedItems: TypedTool {
    /// The type of an item; `serde_json::Value` if the document does not declare it.
    type Item: serde_core::de::DeserializeOwned;
}

/// Converts the arguments of a function to their type.
///
/// # Errors
///
/// Returns an error if the arguments do not match the type, which can happen if the arguments were not checked against
/// the schema of the tool.
#[doc(hidden)]
pub fn decoded<T: FromJson>(arguments: Value) -> Result<T, ToolError> {
    T::from_json(arguments).map_err(|error| ToolError::invalid_args(error.to_string()))
}

/// Converts the result of a function to JSON.
///
/// # Errors
///
/// The error of the function.
#[doc(hidden)]
pub fn encoded<T: ToJson>(result: Result<T, ToolError>) -> Result<Value, ToolError> {
    result.map(|value| value.to_json())
}
