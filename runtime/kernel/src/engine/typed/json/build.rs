//! The functions that create values of generated types.

use std::collections::BTreeMap;

/// Implements `new` with the required fields and a `with_…` function for each other field, so that a program still
/// compiles when a document adds an optional field. The type of a field follows `:`: `(T)`, an array `[T]`, or a map
/// `{K, V}` or `{K, [T]}`. The function that sets a field to null follows `or`, if null differs from omission. `[…]`
/// contains the field for additional members. The fields with a fixed value follow `=`.
#[doc(hidden)]
#[macro_export]
macro_rules! __build {
    ($(
        $type:ident ($($name:ident: $of:tt),*) { $($method:ident $field:ident: $some:tt $(or $null:ident)?),* } [$($extra:ident)?]
        $(= $known:ident: $value:expr)?;
    )*) => {$(
        impl $type {
            #[doc = ::core::concat!("Creates `", ::core::stringify!($type), "` with the required fields.")]
            #[must_use]
            pub fn new($($name: $crate::engine::typed::json::build::given!(type $of)),*) -> Self {
                Self {
                    $($name: $crate::engine::typed::json::build::given!($name $of),)*
                    $($known: ::core::convert::Into::into($value),)?
                    $($field: ::core::option::Option::None,)*
                    $($extra: ::core::default::Default::default(),)?
                }
            }

            $(
                #[doc = ::core::concat!("Sets [`", ::core::stringify!($field), "`](Self::", ::core::stringify!($field), ").")]
                #[must_use]
                pub fn $method(mut self, $field: $crate::engine::typed::json::build::given!(type $some)) -> Self {
                    self.$field = ::core::option::Option::Some($crate::engine::typed::json::build::given!($field $some $($null)?));
                    self
                }

                $(
                    #[doc = ::core::concat!(
                        "Sets [`", ::core::stringify!($field), "`](Self::", ::core::stringify!($field),
                        ") to null, which differs from omitting it.",
                    )]
                    #[must_use]
                    pub fn $null(mut self) -> Self {
                        self.$field = ::core::option::Option::Some(::core::option::Option::None);
                        self
                    }
                )?
            )*
        }
    )*};
}

/// Expands to the type of the parameter for a field, or to the value of the field.
#[doc(hidden)]
#[macro_export]
macro_rules! __given {
    (type ($of:ty)) => { impl ::core::convert::Into<$of> };
    (type [$of:ty]) => { impl ::core::iter::IntoIterator<Item: ::core::convert::Into<$of>> };
    (type {$key:ty, [$of:ty]}) => {
        impl ::core::iter::IntoIterator<
            Item = (
                impl ::core::convert::Into<$key>,
                impl ::core::iter::IntoIterator<Item: ::core::convert::Into<$of>>,
            ),
        >
    };
    (type {$key:ty, $of:ty}) => {
        impl ::core::iter::IntoIterator<
            Item = (impl ::core::convert::Into<$key>, impl ::core::convert::Into<$of>),
        >
    };
    ($given:ident ($of:ty)) => { ::core::convert::Into::into($given) };
    ($given:ident [$of:ty]) => { $crate::engine::typed::json::build::list_of($given) };
    ($given:ident {$key:ty, [$of:ty]}) => { $crate::engine::typed::json::build::map_of_lists($given) };
    ($given:ident {$key:ty, $of:ty}) => { $crate::engine::typed::json::build::map_of($given) };
    ($given:ident $of:tt $null:ident) => {
        ::core::option::Option::Some($crate::engine::typed::json::build::given!($given $of))
    };
}

pub use __given as given;

/// Implements `From` for unions, from the type of each variant. `[T]` is an array of values that convert to items.
#[doc(hidden)]
#[macro_export]
macro_rules! __from {
    ($($union:ident { $($variant:ident $of:tt),* })*) => {$($(
        $crate::engine::typed::json::build::held!($union $variant $of);
    )*)*};
}

/// Implements `From` for a union and the type of one variant. The names of its generic parameters cannot collide
/// with type names of a document.
#[doc(hidden)]
#[macro_export]
macro_rules! __held {
    ($union:ident $variant:ident [$of:ty]) => {
        impl<__T: ::core::convert::Into<$of>, const __N: usize> ::core::convert::From<[__T; __N]> for $union {
            fn from(items: [__T; __N]) -> Self {
                Self::$variant(::core::convert::Into::into(
                    $crate::engine::typed::json::build::list_of::<$of>(items),
                ))
            }
        }
    };
    ($union:ident $variant:ident ($of:ty)) => {
        impl ::core::convert::From<$of> for $union {
            fn from(value: $of) -> Self {
                Self::$variant(::core::convert::Into::into(value))
            }
        }
    };
}

pub use __held as held;

/// Returns the list of a field.
pub fn list_of<T>(items: impl IntoIterator<Item: Into<T>>) -> Vec<T> {
    items.into_iter().map(Into::into).collect()
}

/// Returns the map of a field.
pub fn map_of<K: Ord, V>(entries: impl IntoIterator<Item = (impl Into<K>, impl Into<V>)>) -> BTreeMap<K, V> {
    entries.into_iter().map(|(key, value)| (key.into(), value.into())).collect()
}

/// Returns the map of lists of a field.
pub fn map_of_lists<K: Ord, V>(
    entries: impl IntoIterator<Item = (impl Into<K>, impl IntoIterator<Item: Into<V>>)>,
) -> BTreeMap<K, Vec<V>> {
    entries.into_iter().map(|(key, items)| (key.into(), list_of(items))).collect()
}
