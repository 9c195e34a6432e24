//! The functions by which programs make values of generated types.

/// Implements `new` with the fields that are required, and a `with_…` for each of the others, so that a program still
/// compiles when a document adds an optional field. After `:` comes the expression of what further members start with.
#[doc(hidden)]
#[macro_export]
macro_rules! __build {
    ($($type:ident ($($name:ident: $of:ty),*) { $($method:ident $field:ident: $some:ty),* } [$($extra:ident)?];)*) => {$(
        impl $type {
            #[doc = concat!("Creates `", stringify!($type), "` of what is required.")]
            #[must_use]
            pub fn new($($name: impl ::core::convert::Into<$of>),*) -> Self {
                Self {
                    $($name: ::core::convert::Into::into($name),)*
                    $($field: ::core::option::Option::None,)*
                    $($extra: ::core::default::Default::default(),)?
                }
            }

            $(
                #[doc = concat!("Sets [`", stringify!($field), "`](Self::", stringify!($field), ").")]
                #[must_use]
                pub fn $method(mut self, $field: impl ::core::convert::Into<$some>) -> Self {
                    self.$field = ::core::option::Option::Some(::core::convert::Into::into($field));
                    self
                }
            )*
        }
    )*};
}
