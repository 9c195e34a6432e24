//! What the macros make of functions, methods and types.

pub mod functions;
pub mod macros;
pub mod macros_derive;
pub mod macros_guards;
pub mod macros_hygiene;
pub mod macros_methods;
pub mod macros_told;
