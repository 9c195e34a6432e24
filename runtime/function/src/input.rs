//! Rust types as tool arguments: their shapes, and the conversion of validated JSON values.
//!
//! A shape is a constant, so the arguments of a tool are one constant as well, which the compiler composes through
//! aliases and generics. A user-defined type is a reference in that constant. Its body is stored separately, so
//! recursive types need no special handling.
//!
//! `#[derive(ToolInput)]` makes structs and enums usable as arguments, in the form that `serde` gives them, whether or
//! not `serde` is used. `rename`, `rename_all`, `alias`, `default`, `flatten`, `skip`, `tag`, `content`, `untagged`
//! and `transparent` have the same meaning. Attributes that would make the form unknown (`with`, `from`, `other`) are
//! rejected. Objects are closed: an unknown field is rejected, and the error lists the known fields. `#[arg(…)]` sets
//! the same rules on a field as on a function argument. Doc comments describe types and fields. Those of the variants
//! of a unit-only enum are joined into one description, because separate schemas would change the form. A field needs
//! no description, unless the type declares `#[tool_input(documented)]`: then a field without a description does not
//! compile.
//!
//! ```
//! # use serde_json::json;
//! use toolgen_runtime::{ToolInput, tool};
//!
//! /// Where to send it.
//! #[derive(ToolInput)]
//! struct Address {
//!     /// The street, with the number.
//!     #[arg(non_empty)]
//!     street: String,
//!     #[serde(default)]
//!     kind: Kind,
//! }
//!
//! #[derive(Default, ToolInput)]
//! #[serde(rename_all = "lowercase")]
//! enum Kind {
//!     /// Where people live.
//!     #[default]
//!     Home,
//!     /// Where people work.
//!     Office,
//! }
//!
//! /// Sends a parcel.
//! #[tool]
//! fn send(
//!     /// Where to.
//!     to: Address,
//! ) -> String {
//!     to.street
//! }
//! ```

#[cfg(feature = "schemars")]
#[doc(hidden)]
pub mod bridge;
#[doc(hidden)]
pub mod checks;
mod const_copy;
mod containers;
mod default_of;
mod defs;
#[doc(hidden)]
pub mod derive;
mod formats;
mod named_shapes;
mod rules;
mod scalars;

use serde_json::Value;

pub use toolgen_kernel::schema::shape::decode::{ArgumentProblem, ArgumentProblemKind};
use toolgen_kernel::schema::shape::{Kind, Shape};

#[doc(hidden)]
pub use default_of::{
    DefaultOf, OfBool, OfDecimal, OfInteger, OfList, of_bool, of_decimal, of_integer, of_list,
};
pub use defs::Defs;
#[doc(hidden)]
pub use defs::{DefaultFromSerialize, DefaultFromToolInput, Defaults};
pub(crate) use named_shapes::with_named_shapes;
#[doc(hidden)]
pub use rules::{ArgumentRules, ConstLiteral, items_of, object, refine, relation};
#[doc(hidden)]
pub use toolgen_core::internal::BorrowedValue;

/// A type that can be an argument of a tool, or a part of an argument.
///
/// Implemented for numbers, strings, paths, `Option`, lists, sets, maps, tuples and `serde_json::Value`; derived for
/// structs and enums. The two halves must agree: [`decode`](Self::decode) accepts every value that
/// [`SHAPE`](Self::SHAPE) allows. It only receives values that `shape::decode` has accepted, so it does not have to
/// check any rule again.
///
/// ```
/// use serde_json::Value;
/// use toolgen_runtime::function::input::{ArgumentProblem, ToolInput, problem};
/// use toolgen_runtime::schema::shape::Shape;
///
/// struct Celsius(f64);
///
/// impl ToolInput for Celsius {
///     const SHAPE: Shape = <f64 as ToolInput>::SHAPE;
///
///     fn decode(value: Value) -> Result<Self, ArgumentProblem> {
///         f64::decode(value).map(Celsius)
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a tool",
    label = "its schema is not known",
    note = "derive `ToolInput` for it if it is yours; options, lists, tuples and maps are arguments if their items are",
    note = "map keys must be `String`, as in a JSON object",
    note = "for a type of another crate that implements `schemars::JsonSchema` and `serde::Deserialize`, write `#[arg(schemars)]` and enable the feature `schemars`",
    note = "a parameter that the program provides, such as a database, is a service: `db: Service<Db>`"
)]
pub trait ToolInput: Sized {
    /// The shape of the values that the type is decoded from.
    const SHAPE: Shape;

    /// Whether a field of this type is required.
    const REQUIRED: bool = true;

    /// The shape that [`SHAPE`](Self::SHAPE) refers to, if it is a reference. It allows compile-time checks of the
    /// rules of dialects.
    const BODY: Option<&'static Shape> = None;

    /// Whether `serde::Serialize` writes the type in the form in which it is read. If so, the same shape describes
    /// results.
    const SYMMETRIC: bool = true;

    /// Adds the named shapes that [`SHAPE`](Self::SHAPE) refers to.
    fn defs(defs: &mut Defs) {
        let _ = defs;
    }

    /// Decodes a value that fits [`SHAPE`](Self::SHAPE).
    ///
    /// # Errors
    ///
    /// Returns the location and the reason if the value does not fit.
    fn decode(value: Value) -> Result<Self, ArgumentProblem>;

    /// Like [`decode`](Self::decode), for a value that may be borrowed. Containers decode their items without building
    /// a `Value` for them.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`decode`](Self::decode).
    #[doc(hidden)]
    fn decode_borrowed(value: BorrowedValue<'_>) -> Result<Self, ArgumentProblem> {
        Self::decode(value.into_value())
    }

    /// Returns the value of a missing field, if the field is optional.
    #[must_use]
    fn absent() -> Option<Self> {
        None
    }

    /// Returns the JSON that decodes to this value, for types without `serde::Serialize` that can produce it. It shows
    /// the model a default that is a variant.
    #[doc(hidden)]
    #[must_use]
    fn default_json(&self) -> Option<Value> {
        None
    }
}

/// The shape of a type as a `&'static` reference, for constants of other shapes.
pub(crate) struct StaticShape<T>(core::marker::PhantomData<T>);

impl<T: ToolInput> StaticShape<T> {
    pub(crate) const SHAPE: &'static Shape = &T::SHAPE;
}

/// A type that a function may borrow from an argument: `&str`, `&[T]`, `&Path` and `&T`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`&{Self}` cannot be an argument of a tool",
    label = "there is no value to borrow it from",
    note = "`&str`, `&[T]`, `&Path` and `&T` of an argument type `T` can be; derive `ToolInput` for `T` if it is yours",
    note = "a parameter that the program provides, such as a database, is a service: `db: Service<Db>`"
)]
pub trait BorrowedArgument {
    /// The type that is decoded.
    type Owner: ToolInput + std::borrow::Borrow<Self>;
}

impl BorrowedArgument for str {
    type Owner = String;
}

impl BorrowedArgument for std::path::Path {
    type Owner = std::path::PathBuf;
}

impl<T: ToolInput> BorrowedArgument for [T] {
    type Owner = Vec<T>;
}

impl<T: ToolInput> BorrowedArgument for T {
    type Owner = T;
}

/// The type that is decoded for a borrowed argument.
#[doc(hidden)]
pub type Owned<T> = <T as BorrowedArgument>::Owner;

/// Returns a reference to a `$defs` entry. Derives use it.
#[doc(hidden)]
#[must_use]
pub const fn reference(name: &'static str) -> Shape {
    rules::with_kind(Kind::Ref(toolgen_kernel::base::frozen::Text::Static(name)))
}

/// Returns a problem with a value as a whole: the expected and the actual value.
#[doc(hidden)]
#[must_use]
pub fn problem(expected: &str, value: &Value) -> ArgumentProblem {
    let value = match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        Value::String(text) if text.chars().count() <= 40 => format!("{text:?}"),
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    ArgumentProblem {
        pointer: String::new(),
        kind: ArgumentProblemKind::Type,
        message: format!("expected {expected}, got {value}"),
    }
}

/// Returns the value of a missing field.
///
/// # Errors
///
/// Returns an error if the field is required.
#[doc(hidden)]
pub fn missing<T: ToolInput>(name: &str) -> Result<T, ArgumentProblem> {
    T::absent().ok_or_else(|| {
        let problem = ArgumentProblem {
            pointer: String::new(),
            kind: ArgumentProblemKind::Missing,
            message: "is required".to_owned(),
        };
        problem.within(name)
    })
}

#[cfg(test)]
mod tests;
