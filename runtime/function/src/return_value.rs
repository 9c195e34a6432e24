//! Return values of functions as tool results.
//!
//! The conversion depends on the traits of a type, never on its spelling, so aliases of `Result` work like `Result`.
//! The macros call a `Probe` on the returned value; method resolution finds the first trait that applies.

use std::borrow::Cow;
use std::convert::Infallible;
use std::error::Error;
use std::fmt::{Debug, Display};
use std::marker::PhantomData;

use serde_core::Serialize;

use crate::input::{Defs, StaticShape, ToolInput};
use toolgen_kernel::base::frozen::Frozen;
use toolgen_kernel::call::control::{Control, Effect, InputRequest};
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::result::{Content, ToolResult};
use toolgen_kernel::schema::shape::{Kind, Schema, Shape};

/// A type that defines its output for a model.
///
/// Implemented for strings, content, results and `()`. Any other type only needs `serde::Serialize`: a model sees it
/// as compact JSON, and the details of the result contain the value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a tool",
    label = "returned by a tool",
    note = "derive `serde::Serialize` for it, implement `IntoToolOutput`, or return a string",
    note = "return errors in a `Result<_, E>`"
)]
pub trait IntoToolOutput {
    /// Converts the value into a result for the model and the program.
    ///
    /// # Errors
    ///
    /// Returns an error if the value cannot be converted.
    fn into_tool_output(self) -> Result<ToolResult, ToolError>;
}

impl IntoToolOutput for ToolResult {
    fn into_tool_output(self) -> Result<ToolResult, ToolError> {
        Ok(self)
    }
}

impl IntoToolOutput for Content {
    fn into_tool_output(self) -> Result<ToolResult, ToolError> {
        Ok(ToolResult::empty().with_content(self))
    }
}

impl IntoToolOutput for Vec<Content> {
    fn into_tool_output(self) -> Result<ToolResult, ToolError> {
        Ok(self.into_iter().fold(ToolResult::empty(), ToolResult::with_content))
    }
}

impl IntoToolOutput for () {
    fn into_tool_output(self) -> Result<ToolResult, ToolError> {
        Ok(ToolResult::empty())
    }
}

macro_rules! texts {
    ($($type:ty)*) => {$(
        impl IntoToolOutput for $type {
            fn into_tool_output(self) -> Result<ToolResult, ToolError> {
                Ok(ToolResult::text(self))
            }
        }
    )*};
}

texts!(String &str Box<str> Cow<'_, str>);

/// Selects the conversion of a returned value.
#[doc(hidden)]
#[derive(Debug)]
pub struct Probe<'a, T>(pub &'a T);

/// Declares the conversions, which have no fields.
macro_rules! conversions {
    ($($(#[$doc:meta])+ $conversion:ident;)+) => {$(
        $(#[$doc])+
        #[doc(hidden)]
        #[derive(Debug)]
        pub struct $conversion;
    )+};
}

conversions! {
    /// The value is a `Result`.
    Fallible;
    /// The value is not a `Result`.
    Plain;
    /// A conversion by `IntoToolOutput`.
    Itself;
    /// A conversion to JSON.
    AsJson;
    /// The error is, or converts into, a `ToolError`.
    Own;
    /// The error implements `Error`.
    Chained;
    /// The error implements `Display`, but not `Error`.
    Said;
    /// The error implements only `Debug`.
    Hidden;
}

/// Declares the choices: the first trait that applies has the method that returns the conversion.
macro_rules! choices {
    ($($(#[$doc:meta])+ $probe:ident.$method:ident -> $conversion:ident;)+) => {$(
        $(#[$doc])+
        #[doc(hidden)]
        pub trait $probe {
            /// Returns the conversion.
            fn $method(&self) -> $conversion {
                $conversion
            }
        }
    )+};
}

choices! {
    /// First choice of `toolgen_outcome`. The value is a `Result`.
    ProbeFallible.toolgen_outcome -> Fallible;
    /// Second choice of `toolgen_outcome`. The value is not a `Result`.
    ProbePlain.toolgen_outcome -> Plain;
    /// First choice of `toolgen_output`. The type defines its own output.
    ProbeOutput.toolgen_output -> Itself;
    /// Second choice of `toolgen_output`. The type can be written as JSON.
    ProbeSerialize.toolgen_output -> AsJson;
    /// Last choice of `toolgen_output`: the compiler reports the missing trait. The type would have to define its own
    /// output.
    ProbeNothing.toolgen_output -> Itself;
    /// First choice of `toolgen_failure`. The error converts into a `ToolError`.
    ProbeOwn.toolgen_failure -> Own;
    /// Second choice of `toolgen_failure`. The error implements `Error`.
    ProbeError.toolgen_failure -> Chained;
    /// Third choice of `toolgen_failure`. The error implements `Display`.
    ProbeDisplay.toolgen_failure -> Said;
    /// Last choice of `toolgen_failure`. The error can only be shown to operators.
    ProbeDebug.toolgen_failure -> Hidden;
}

impl Fallible {
    /// Returns the value as a `Result`.
    pub fn split<T, E>(&self, value: Result<T, E>) -> Result<T, E> {
        value
    }
}

impl Plain {
    /// Returns the value as a `Result`.
    pub fn split<T>(&self, value: T) -> Result<T, Infallible> {
        Ok(value)
    }
}

impl<T, E> ProbeFallible for &Probe<'_, Result<T, E>> {}
impl<T> ProbePlain for Probe<'_, T> {}

impl Itself {
    /// Converts the value.
    pub fn convert<T: IntoToolOutput>(&self, value: T) -> Result<ToolResult, ToolError> {
        value.into_tool_output()
    }
}

impl AsJson {
    /// Converts the value.
    ///
    /// # Errors
    ///
    /// Returns an error if the value cannot be written as JSON.
    pub fn convert<T: Serialize>(&self, value: T) -> Result<ToolResult, ToolError> {
        serde_json::to_value(&value)
            .map(ToolResult::json)
            .map_err(|error| ToolError::failed(format!("the result cannot be serialized as JSON: {error}")))
    }
}

impl<T: IntoToolOutput> ProbeOutput for &&Probe<'_, T> {}
impl<T: Serialize> ProbeSerialize for &Probe<'_, T> {}
impl<T> ProbeNothing for Probe<'_, T> {}

impl Own {
    /// Converts the error.
    pub fn convert<E: Into<ToolError>>(&self, error: E) -> ToolError {
        error.into()
    }
}

impl Chained {
    /// Shows the error to the model; operators also see its causes.
    pub fn convert<E: Error>(&self, error: E) -> ToolError {
        let mut chain = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            chain.push_str(": ");
            chain.push_str(&cause.to_string());
            source = cause.source();
        }
        ToolError::failed(error.to_string()).with_operator_detail(chain)
    }
}

impl Said {
    /// Shows the message to the model; operators get the alternate form, which contains the causes for most error
    /// types.
    pub fn convert<E: Display>(&self, error: E) -> ToolError {
        ToolError::failed(error.to_string()).with_operator_detail(format!("{error:#}"))
    }
}

/// An error that can be shown to operators.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool",
    label = "this error has no message to show",
    note = "implement `Display` for `{Self}`, which the model reads, or derive the error with `thiserror`",
    note = "with `#[derive(Debug)]` alone, the model reads that the tool failed, and operators read the value"
)]
pub trait HiddenError: Debug {}

#[diagnostic::do_not_recommend]
impl<E: Debug> HiddenError for E {}

impl Hidden {
    /// Shows the model only that the tool failed; operators see the value.
    pub fn convert<E: HiddenError>(&self, error: E) -> ToolError {
        ToolError::failed("the tool failed").with_operator_detail(format!("{error:?}"))
    }
}

impl<E: Into<ToolError>> ProbeOwn for &&&Probe<'_, E> {}
impl<E: Error> ProbeError for &&Probe<'_, E> {}
impl<E: Display> ProbeDisplay for &Probe<'_, E> {}
impl<E> ProbeDebug for Probe<'_, E> {}

/// Finds the output schema of a returned type.
#[doc(hidden)]
#[derive(Debug)]
pub struct Returned<T>(PhantomData<T>);

/// Returns the shape of structured values. A string is not structured, and `()` has no value.
const fn structured_shape(shape: &'static Shape) -> Option<&'static Shape> {
    match shape.kind {
        Kind::String(_) | Kind::Null | Kind::Any => None,
        _ => Some(shape),
    }
}

impl<T: ToolInput + Serialize> Returned<T> {
    /// The schema, if known.
    pub const SHAPE: Option<&'static Shape> =
        if T::SYMMETRIC { structured_shape(StaticShape::<T>::SHAPE) } else { None };
    /// Adds the shapes that the schema refers to.
    pub const DEFS: fn(&mut Defs) = T::defs;
}

impl<T: ToolInput + Serialize, E> Returned<Result<T, E>> {
    /// The schema, if known.
    pub const SHAPE: Option<&'static Shape> = Returned::<T>::SHAPE;
    /// Adds the shapes that the schema refers to.
    pub const DEFS: fn(&mut Defs) = T::defs;
}

/// The schema of every other type for [`Returned`].
#[doc(hidden)]
pub trait ReturnedUnknown {
    /// The schema is unknown.
    const SHAPE: Option<&'static Shape> = None;
    /// Adds nothing.
    const DEFS: fn(&mut Defs) = |_| {};
}

impl<T> ReturnedUnknown for Returned<T> {}

/// Returns the schema of a result.
#[doc(hidden)]
#[must_use]
pub const fn schema(shape: Option<&'static Shape>) -> Option<Schema> {
    match shape {
        Some(shape) => Some(Schema::Tree(Frozen::Static(shape))),
        None => None,
    }
}

impl IntoToolOutput for Control {
    fn into_tool_output(self) -> Result<ToolResult, ToolError> {
        Ok(ToolResult::empty().with_control(self))
    }
}

impl IntoToolOutput for Effect {
    fn into_tool_output(self) -> Result<ToolResult, ToolError> {
        Control::Effect(self).into_tool_output()
    }
}

impl IntoToolOutput for InputRequest {
    fn into_tool_output(self) -> Result<ToolResult, ToolError> {
        Control::NeedInput(self).into_tool_output()
    }
}
