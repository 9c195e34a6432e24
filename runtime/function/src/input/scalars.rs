//! Numbers, strings and values that need no conversion.

use std::borrow::Cow;
use std::num::{NonZeroU8, NonZeroU16, NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Map, Number as JsonNumber, Value};

use super::{ArgumentProblem, BorrowedValue, ToolInput, problem, rules};
use toolgen_kernel::base::frozen::Frozen;
use toolgen_kernel::schema::shape::{Extra, Kind, Number, NumberRules, ObjectRules, Shape, StringRules};

/// Returns the rules of numbers with a format, whose own bounds are checked but not shown.
const fn bounded(minimum: Number, maximum: Number, format: &'static str) -> NumberRules {
    let format = Frozen::Static(format);
    NumberRules { minimum: Some(minimum), maximum: Some(maximum), format, ..NumberRules::ANY }
}

const fn integer_shape(minimum: i128, maximum: i128, bits: u32, signed: bool) -> Shape {
    let format = match (bits, signed) {
        (8, true) => "int8",
        (16, true) => "int16",
        (32, true) => "int32",
        (_, true) => "int64",
        (8, false) => "uint8",
        (16, false) => "uint16",
        (32, false) => "uint32",
        (_, false) => "uint64",
    };
    rules::with_kind(Kind::Integer(bounded(Number::Int(minimum), Number::Int(maximum), format)))
}

/// Converts a number to an integer. A fraction of zero is accepted.
fn to_i128(number: &JsonNumber) -> Option<i128> {
    if let Some(int) = number.as_i128() {
        return Some(int);
    }
    let float = number.as_f64()?;
    #[expect(clippy::cast_possible_truncation, reason = "the float is whole and far inside the range")]
    let int = float as i128;
    (float.fract() == 0.0 && float.abs() < 1e38).then_some(int)
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl ToolInput for $type {
            const SHAPE: Shape = integer_shape(
                <$type>::MIN as i128,
                <$type>::MAX as i128,
                <$type>::BITS,
                <$type>::MIN != 0,
            );

            fn decode(value: Value) -> Result<Self, ArgumentProblem> {
                Self::decode_borrowed(value.into())
            }

            fn decode_borrowed(value: BorrowedValue<'_>) -> Result<Self, ArgumentProblem> {
                let int = match &value {
                    BorrowedValue::Number(number) => to_i128(number).and_then(|int| Self::try_from(int).ok()),
                    _ => None,
                };
                int.ok_or_else(|| {
                    problem(concat!("an integer that fits ", stringify!($type)), &value.into_value())
                })
            }
        }
    )*};
}

integers!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

macro_rules! positives {
    ($($type:ident of $inner:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl ToolInput for $type {
            const SHAPE: Shape = integer_shape(1, <$inner>::MAX as i128, <$inner>::BITS, false);

            fn decode(value: Value) -> Result<Self, ArgumentProblem> {
                <$inner>::decode(value.clone())
                    .ok()
                    .and_then(Self::new)
                    .ok_or_else(|| problem("an integer above zero", &value))
            }
        }
    )*};
}

positives!(
    NonZeroU8 of u8, NonZeroU16 of u16, NonZeroU32 of u32, NonZeroU64 of u64, NonZeroUsize of usize
);

#[diagnostic::do_not_recommend]
impl ToolInput for f64 {
    const SHAPE: Shape = rules::with_kind(Kind::Number(NumberRules::ANY));

    fn decode(value: Value) -> Result<Self, ArgumentProblem> {
        Self::decode_borrowed(value.into())
    }

    fn decode_borrowed(value: BorrowedValue<'_>) -> Result<Self, ArgumentProblem> {
        let number = match &value {
            BorrowedValue::Number(number) => number.as_f64(),
            _ => None,
        };
        number.ok_or_else(|| problem("a number", &value.into_value()))
    }
}

#[diagnostic::do_not_recommend]
impl ToolInput for f32 {
    const SHAPE: Shape = rules::with_kind(Kind::Number(bounded(
        Number::Float(f32::MIN as f64),
        Number::Float(f32::MAX as f64),
        "float",
    )));

    fn decode(value: Value) -> Result<Self, ArgumentProblem> {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the shape keeps the value in range; the type limits the precision"
        )]
        let narrow = f64::decode(value)? as f32;
        Ok(narrow)
    }
}

#[diagnostic::do_not_recommend]
impl ToolInput for bool {
    const SHAPE: Shape = rules::with_kind(Kind::Boolean);

    fn decode(value: Value) -> Result<Self, ArgumentProblem> {
        Self::decode_borrowed(value.into())
    }

    fn decode_borrowed(value: BorrowedValue<'_>) -> Result<Self, ArgumentProblem> {
        match value {
            BorrowedValue::Bool(value) => Ok(value),
            other => Err(problem("true or false", &other.into_value())),
        }
    }
}

#[diagnostic::do_not_recommend]
impl ToolInput for char {
    const SHAPE: Shape = rules::with_kind(Kind::String(StringRules {
        min_length: Some(1),
        max_length: Some(1),
        ..StringRules::ANY
    }));

    fn decode(value: Value) -> Result<Self, ArgumentProblem> {
        let mut chars = value.as_str().unwrap_or_default().chars();
        match (chars.next(), chars.next()) {
            (Some(only), None) => Ok(only),
            _ => Err(problem("a single character", &value)),
        }
    }
}

#[diagnostic::do_not_recommend]
impl ToolInput for () {
    const SHAPE: Shape = rules::with_kind(Kind::Null);

    fn decode(value: Value) -> Result<Self, ArgumentProblem> {
        if value.is_null() { Ok(()) } else { Err(problem("null", &value)) }
    }
}

#[diagnostic::do_not_recommend]
impl ToolInput for String {
    const SHAPE: Shape = rules::with_kind(Kind::String(StringRules::ANY));

    fn decode(value: Value) -> Result<Self, ArgumentProblem> {
        Self::decode_borrowed(value.into())
    }

    fn decode_borrowed(value: BorrowedValue<'_>) -> Result<Self, ArgumentProblem> {
        match value {
            BorrowedValue::Text(text) => Ok(text.into_owned()),
            other => Err(problem("a string", &other.into_value())),
        }
    }
}

macro_rules! texts {
    ($($type:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl ToolInput for $type {
            const SHAPE: Shape = String::SHAPE;

            fn decode(value: Value) -> Result<Self, ArgumentProblem> {
                String::decode(value).map(Into::into)
            }

            fn decode_borrowed(value: BorrowedValue<'_>) -> Result<Self, ArgumentProblem> {
                String::decode_borrowed(value).map(Into::into)
            }
        }
    )*};
}

texts!(Box<str> Arc<str> Rc<str> PathBuf Cow<'static, str>);

#[diagnostic::do_not_recommend]
impl ToolInput for Value {
    const SHAPE: Shape = Shape::ANY;

    fn decode(value: Value) -> Result<Self, ArgumentProblem> {
        Ok(value)
    }
}

#[diagnostic::do_not_recommend]
impl ToolInput for Map<String, Value> {
    const SHAPE: Shape =
        rules::with_kind(Kind::Object(ObjectRules { extra: Extra::Open, ..ObjectRules::ANY }));

    fn decode(value: Value) -> Result<Self, ArgumentProblem> {
        match value {
            Value::Object(map) => Ok(map),
            other => Err(problem("an object", &other)),
        }
    }
}
