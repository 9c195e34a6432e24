//! What the macros make of functions, methods and types.

#![allow(unreachable_pub, reason = "what is generated is public, wherever it stands")]

mod functions;
mod macros;
mod macros_derive;
mod macros_guards;
mod macros_hygiene;
mod macros_methods;
mod macros_told;
