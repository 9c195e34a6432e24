//! Reads enumerated values and unions.

use serde_json::Value;

use super::{FromJson, JsonError, ToJson};

/// The maximum number of choices that an error lists.
const MAX_CHOICES_SHOWN: usize = 20;

/// Returns the choice with this string.
#[must_use]
pub fn find<T: Clone>(choices: &[T], as_str: fn(&T) -> &str, text: &str) -> Option<T> {
    choices.iter().find(|choice| as_str(choice) == text).cloned()
}

/// Returns the error for a string that is not one of the choices.
#[must_use]
pub fn unknown<T>(choices: &[T], as_str: fn(&T) -> &str, text: &str) -> JsonError {
    let mut allowed: Vec<&str> = choices.iter().map(as_str).take(MAX_CHOICES_SHOWN).collect();
    if choices.len() > MAX_CHOICES_SHOWN {
        allowed.push("…");
    }
    JsonError::new(format!("{text:?} is not one of the allowed strings: {}", allowed.join(", ")))
}

/// Returns the string of the property that distinguishes the variants of a union, or an empty string.
#[must_use]
pub fn tag<'a>(value: &'a Value, property: &str) -> &'a str {
    value.get(property).and_then(Value::as_str).unwrap_or_default()
}

/// Adds the string that distinguishes a variant of a union to a value, unless the value already has the property.
#[must_use]
pub fn tagged(mut value: Value, property: &str, tag: &str) -> Value {
    if let Value::Object(map) = &mut value {
        map.entry(property).or_insert_with(|| tag.into());
    }
    value
}

/// Returns the variant if the value matches it.
#[must_use]
pub fn attempt<T: FromJson, U>(value: &Value, variant: fn(T) -> U) -> Option<U> {
    T::from_json(value.clone()).ok().map(variant)
}

/// Chooses the variant of a union that preserves most of a value, if nothing in the value identifies its variant. If
/// several variants preserve the same amount, the first one is chosen.
#[derive(Debug)]
pub struct Best<'v, U> {
    value: &'v Value,
    best: Option<(usize, U)>,
}

impl<'v, U> Best<'v, U> {
    /// Starts the choice for a value.
    #[must_use]
    pub fn of(value: &'v Value) -> Self {
        Best { value, best: None }
    }

    /// Tries a variant.
    #[must_use]
    pub fn or<T: FromJson + ToJson>(mut self, variant: fn(T) -> U) -> Self {
        if let Ok(content) = T::from_json(self.value.clone()) {
            let score = matching_members(self.value, &content.to_json());
            if self.best.as_ref().is_none_or(|(max, _)| score > *max) {
                self.best = Some((score, variant(content)));
            }
        }
        self
    }

    /// Returns the best variant, or `None` if the value matches no variant.
    #[must_use]
    pub fn found(self) -> Option<U> {
        self.best.map(|(_, variant)| variant)
    }
}

/// Returns the number of members and items of a value that are also in the JSON of the variant that was read from it.
fn matching_members(value: &Value, other: &Value) -> usize {
    match (value, other) {
        (Value::Object(value), Value::Object(other)) => {
            let pairs = value.iter().filter_map(|(name, value)| Some((value, other.get(name)?)));
            pairs.map(|(value, other)| 1 + matching_members(value, other)).sum()
        }
        (Value::Array(value), Value::Array(other)) => {
            value.iter().zip(other).map(|(value, other)| 1 + matching_members(value, other)).sum()
        }
        (value, other) => usize::from(value == other),
    }
}

/// Implements the traits of enumerated strings, with their `ALL` and `as_str`. Only the types after `|` allow
/// other strings.
#[doc(hidden)]
#[macro_export]
macro_rules! __choices {
    ($($closed:ident)* | $($open:ident)*) => {
        $(
            impl $crate::__private::types_prelude::FromStr for $closed {
                type Err = $crate::engine::typed::JsonError;

                fn from_str(text: &str) -> ::core::result::Result<Self, $crate::engine::typed::JsonError> {
                    match $crate::engine::typed::json::choice::find(Self::ALL, Self::as_str, text) {
                        ::core::option::Option::Some(choice) => ::core::result::Result::Ok(choice),
                        ::core::option::Option::None => ::core::result::Result::Err(
                            $crate::engine::typed::json::choice::unknown(Self::ALL, Self::as_str, text),
                        ),
                    }
                }
            }
            $crate::engine::typed::json::choice::implement! { $closed }
        )*
        $(
            impl $crate::__private::types_prelude::FromStr for $open {
                type Err = ::core::convert::Infallible;

                fn from_str(text: &str) -> ::core::result::Result<Self, ::core::convert::Infallible> {
                    ::core::result::Result::Ok(
                        match $crate::engine::typed::json::choice::find(Self::ALL, Self::as_str, text) {
                            ::core::option::Option::Some(choice) => choice,
                            ::core::option::Option::None => Self::Other(::core::convert::Into::into(text)),
                        },
                    )
                }
            }
            $crate::engine::typed::json::choice::implement! { $open }
        )*
    };
}

/// Returns the choice with this number.
#[must_use]
pub fn numbered<T: Clone>(choices: &[T], as_i64: fn(&T) -> i64, number: i64) -> Option<T> {
    choices.iter().find(|choice| as_i64(choice) == number).cloned()
}

/// Returns the error for a number that is not one of the choices.
#[must_use]
pub fn unknown_number<T>(choices: &[T], as_i64: fn(&T) -> i64, number: i64) -> JsonError {
    let allowed: Vec<String> =
        choices.iter().take(MAX_CHOICES_SHOWN).map(|choice| as_i64(choice).to_string()).collect();
    let more = if choices.len() > MAX_CHOICES_SHOWN { ", …" } else { "" };
    JsonError::new(format!("{number} is not one of the allowed numbers: {}{more}", allowed.join(", ")))
}

/// Implements the traits of enumerated numbers, with their `ALL` and `as_i64`. Only the types after `|` allow
/// other numbers.
#[doc(hidden)]
#[macro_export]
macro_rules! __numbers {
    ($($closed:ident)* | $($open:ident)*) => {
        $(
            impl ::core::convert::TryFrom<i64> for $closed {
                type Error = $crate::engine::typed::JsonError;

                fn try_from(number: i64) -> ::core::result::Result<Self, $crate::engine::typed::JsonError> {
                    match $crate::engine::typed::json::choice::numbered(Self::ALL, Self::as_i64, number) {
                        ::core::option::Option::Some(choice) => ::core::result::Result::Ok(choice),
                        ::core::option::Option::None => ::core::result::Result::Err(
                            $crate::engine::typed::json::choice::unknown_number(Self::ALL, Self::as_i64, number),
                        ),
                    }
                }
            }
            $crate::engine::typed::json::choice::implement_number! { $closed, <$closed as ::core::convert::TryFrom<i64>>::try_from }
        )*
        $(
            impl ::core::convert::From<i64> for $open {
                fn from(number: i64) -> Self {
                    match $crate::engine::typed::json::choice::numbered(Self::ALL, Self::as_i64, number) {
                        ::core::option::Option::Some(choice) => choice,
                        ::core::option::Option::None => Self::Other(number),
                    }
                }
            }
            $crate::engine::typed::json::choice::implement_number! {
                $open, |number| ::core::result::Result::Ok(<$open as ::core::convert::From<i64>>::from(number))
            }
        )*
    };
}

/// Implements the traits of all enumerated numbers.
#[doc(hidden)]
#[macro_export]
macro_rules! __number {
    ($type:ident, $read:expr) => {
        impl ::core::fmt::Display for $type {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Display::fmt(&self.as_i64(), f)
            }
        }

        impl $crate::engine::typed::ToJson for $type {
            fn to_json(&self) -> $crate::__private::types_prelude::Value {
                ::core::convert::Into::into(self.as_i64())
            }
        }

        impl $crate::engine::typed::FromJson for $type {
            fn from_json(
                value: $crate::__private::types_prelude::Value,
            ) -> ::core::result::Result<Self, $crate::engine::typed::JsonError> {
                <i64 as $crate::engine::typed::FromJson>::from_json(value).and_then($read)
            }
        }
    };
}

#[doc(hidden)]
pub use __number as implement_number;

/// Implements the traits of all enumerated strings.
#[doc(hidden)]
#[macro_export]
macro_rules! __choice {
    ($type:ident) => {
        impl ::core::fmt::Display for $type {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl $crate::engine::typed::ToJson for $type {
            fn to_json(&self) -> $crate::__private::types_prelude::Value {
                ::core::convert::Into::into(self.as_str())
            }
        }

        impl $crate::engine::typed::FromJson for $type {
            fn from_json(
                value: $crate::__private::types_prelude::Value,
            ) -> ::core::result::Result<Self, $crate::engine::typed::JsonError> {
                $crate::engine::typed::json::choice::parse(value)
            }
        }
    };
}

#[doc(hidden)]
pub use __choice as implement;

/// Parses a string as the type that it represents.
///
/// # Errors
///
/// Returns an error if the value is not a string, or cannot be parsed.
pub fn parse<T: std::str::FromStr>(value: Value) -> Result<T, JsonError>
where
    T::Err: std::fmt::Display,
{
    String::from_json(value)?.parse().map_err(|error: T::Err| JsonError::new(error.to_string()))
}
