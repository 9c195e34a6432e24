//! Literals as defaults of arguments. A trait converts each literal, so that an error names the type of the argument.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::hash::{BuildHasher, Hash};

/// A type that a string literal can be the default of.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the default of an argument of type `{T}`",
    label = "this is not a `{T}`",
    note = "write a value of the type: `default = 10`, `default = 0.5`, `default = true`, `default = \"text\"`, `default = [1, 2]`, a variant such as `default = Unit::Celsius`, `default = Some(10)` for an `Option`, or an expression"
)]
pub trait DefaultOf<T> {
    /// Returns the value.
    fn default_of(self) -> T;
}

// Otherwise the compiler would name a conversion that the user did not write.
#[diagnostic::do_not_recommend]
impl<T, U: Into<T>> DefaultOf<T> for U {
    fn default_of(self) -> T {
        self.into()
    }
}

/// A type that an integer literal can be the default of.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a whole number cannot be the default of an argument of type `{Self}`",
    label = "this is not a `{Self}`",
    note = "write a value of the type: `default = 10`, `default = 0.5`, `default = true`, `default = \"text\"`, `default = [1, 2]`, a variant such as `default = Unit::Celsius`, `default = Some(10)` for an `Option`, or an expression"
)]
pub trait OfInteger: Sized {
    /// Returns the value.
    fn of_integer(literal: i128) -> Self;
}

/// Returns a literal as a value of the type of an argument.
#[doc(hidden)]
#[must_use]
pub fn of_integer<T: OfInteger>(literal: i128) -> T {
    T::of_integer(literal)
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl OfInteger for $type {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_precision_loss,
                clippy::cast_sign_loss,
                clippy::cast_lossless,
                clippy::unnecessary_cast,
                reason = "`checks` rejects a number outside the type at compile time"
            )]
            fn of_integer(literal: i128) -> Self {
                literal as $type
            }
        }
    )*};
}

integers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64);

/// A type that a decimal literal can be the default of.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a number with a fraction cannot be the default of an argument of type `{Self}`",
    label = "this is not a `{Self}`",
    note = "write a value of the type: `default = 10`, `default = 0.5`, `default = true`, `default = \"text\"`, `default = [1, 2]`, a variant such as `default = Unit::Celsius`, `default = Some(10)` for an `Option`, or an expression"
)]
pub trait OfDecimal: Sized {
    /// Returns the value.
    fn of_decimal(literal: f64) -> Self;
}

/// Returns a literal as a value of the type of an argument.
#[doc(hidden)]
#[must_use]
pub fn of_decimal<T: OfDecimal>(literal: f64) -> T {
    T::of_decimal(literal)
}

#[diagnostic::do_not_recommend]
impl OfDecimal for f64 {
    fn of_decimal(literal: f64) -> Self {
        literal
    }
}

#[diagnostic::do_not_recommend]
impl OfDecimal for f32 {
    #[expect(clippy::cast_possible_truncation, reason = "the type limits the precision")]
    fn of_decimal(literal: f64) -> Self {
        literal as f32
    }
}

/// A type that `true` and `false` can be the default of.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`true` or `false` cannot be the default of an argument of type `{Self}`",
    label = "this is not a `{Self}`",
    note = "write a value of the type: `default = 10`, `default = 0.5`, `default = true`, `default = \"text\"`, `default = [1, 2]`, a variant such as `default = Unit::Celsius`, `default = Some(10)` for an `Option`, or an expression"
)]
pub trait OfBool: Sized {
    /// Returns the value.
    fn of_bool(literal: bool) -> Self;
}

/// Returns a literal as a value of the type of an argument.
#[doc(hidden)]
#[must_use]
pub fn of_bool<T: OfBool>(literal: bool) -> T {
    T::of_bool(literal)
}

#[diagnostic::do_not_recommend]
impl OfBool for bool {
    fn of_bool(literal: bool) -> Self {
        literal
    }
}

/// A type that a list of `N` values can be the default of.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a list cannot be the default of an argument of type `{Self}`",
    label = "this is not a `{Self}`",
    note = "write a value of the type: `default = 10`, `default = 0.5`, `default = true`, `default = \"text\"`, `default = [1, 2]`, a variant such as `default = Unit::Celsius`, `default = Some(10)` for an `Option`, or an expression"
)]
pub trait OfList<const N: usize>: Sized {
    /// The type of the items.
    type Item;

    /// Returns the value.
    fn of_list(items: [Self::Item; N]) -> Self;
}

/// Returns a list as a value of the type of an argument.
#[doc(hidden)]
#[must_use]
pub fn of_list<T: OfList<N>, const N: usize>(items: [T::Item; N]) -> T {
    T::of_list(items)
}

macro_rules! lists {
    ($($type:ty, [$($generics:tt)*], [$($bounds:tt)*];)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T, $($generics)* const N: usize> OfList<N> for $type
        where
            $($bounds)*
        {
            type Item = T;

            fn of_list(items: [T; N]) -> Self {
                items.into_iter().collect()
            }
        }
    )*};
}

lists! {
    Vec<T>, [], [];
    VecDeque<T>, [], [];
    Box<[T]>, [], [];
    BTreeSet<T>, [], [T: Ord];
    HashSet<T, S>, [S: BuildHasher + Default,], [T: Eq + Hash];
}

#[diagnostic::do_not_recommend]
impl<T, const N: usize> OfList<N> for [T; N] {
    type Item = T;

    fn of_list(items: [T; N]) -> Self {
        items
    }
}
