//! Debug output that shows the size of a value, but not its contents.
//!
//! Debug output ends up in logs, by `{:?}` and by `dbg!`. Arguments and results may contain secrets and personal
//! data, which must not be logged.

use std::fmt;

use serde_json::Value;

/// A value whose debug output shows only its kind and size.
pub trait RedactedDebug {
    /// Writes the kind and the size.
    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

impl RedactedDebug for Value {
    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(_) => f.write_str("<boolean>"),
            Value::Number(_) => f.write_str("<number>"),
            Value::String(text) => text.as_str().describe(f),
            Value::Array(items) => items.describe(f),
            Value::Object(fields) => write!(f, "<object of {}>", fields.len()),
        }
    }
}

impl RedactedDebug for &str {
    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<text of {} bytes>", self.len())
    }
}

impl RedactedDebug for crate::base::frozen::Text {
    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().describe(f)
    }
}

impl RedactedDebug for String {
    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().describe(f)
    }
}

impl<T> RedactedDebug for Vec<T> {
    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<list of {}>", self.len())
    }
}

impl<T: RedactedDebug> RedactedDebug for Option<T> {
    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Some(value) => value.describe(f),
            None => f.write_str("None"),
        }
    }
}

/// Formats a value as its kind and size.
pub struct Redacted<'a>(pub &'a dyn RedactedDebug);

impl fmt::Debug for Redacted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.describe(f)
    }
}

/// Implements `Debug` for structs: prints the fields before the semicolon normally, and the others only by kind and
/// size.
#[doc(hidden)]
#[macro_export]
macro_rules! __discreet_debug {
    ($name:ident $(<$life:lifetime>)?: $($shown:ident),*; $($hidden:ident),+) => {
        impl std::fmt::Debug for $name $(<$life>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name))
                    $(.field(stringify!($shown), &self.$shown))*
                    $(.field(stringify!($hidden), &$crate::base::redacted_debug::Redacted(&self.$hidden)))+
                    .finish()
            }
        }
    };
}

pub use __discreet_debug as discreet_debug;
