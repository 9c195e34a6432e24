//! Items that the macros and generated code need from this crate and the kernel. They are not part of the public
//! interface: they change with the contract number.

pub use toolgen_kernel::__private::*;

/// Does nothing: the feature `inventory` is disabled.
#[doc(hidden)]
#[macro_export]
macro_rules! __toolgen_no_register {
    ($tool:ident) => {};
}

/// Everything that code of `#[derive(ToolInput)]` may name.
pub mod input {
    pub use core::default::Default;
    pub use core::option::Option::{self, None, Some};
    pub use core::primitive::{bool, f64, i128, str, u64, usize};
    pub use core::result::Result::{self, Err, Ok};

    pub use serde_json::Value;

    #[cfg(feature = "schemars")]
    pub use crate::input::bridge::{Foreign, ForeignName};
    pub use crate::input::derive::{
        Fields, Items, adjacent, count, defs_of, external, extra, extra_of, field_of, fields_of, internal,
        join, member, names, no_variant, null, of, placed, shape_of, tuple, union, value,
    };
    pub use crate::input::{
        ArgumentProblem, ArgumentRules, BorrowedValue, ConstLiteral, DefaultFromSerialize,
        DefaultFromToolInput, DefaultOf, Defaults, Defs, ToolInput, checks, items_of, object, of_bool,
        of_decimal, of_integer, of_list, problem, reference, refine,
    };
    pub use toolgen_kernel::base::frozen::Frozen::Static as S;
    pub use toolgen_kernel::schema::shape::{Extra, Field, Number, Shape};

    pub use crate::dialect_check;
    pub use toolgen_kernel::schema::dialect;

    /// Returns the string.
    #[must_use]
    pub fn as_str(text: &str) -> &str {
        text
    }

    /// Copies the value.
    #[must_use]
    pub fn copy_of(value: &Value) -> Value {
        value.clone()
    }
}

/// Everything that code of `toolset!` may name.
pub mod toolset {
    pub use crate::toolset::{Entry, IntoTools, check_cycles, check_names, entry, forgotten};
}

/// Everything that code of `#[tool]` may name.
pub mod function {
    pub use core::default::Default;
    pub use core::option::Option::{self, None, Some};
    pub use core::primitive::{f64, i128, str, u64};
    pub use core::result::Result::{Err, Ok};
    pub use std::borrow::Borrow;
    pub use std::sync::Arc;
    pub use std::vec::Vec;

    pub use crate::host_check::host;
    pub use crate::inject::inject;
    #[cfg(feature = "schemars")]
    pub use crate::input::bridge::{Foreign, ForeignName};
    pub use crate::input::derive::{field_of, of, shape_of};
    pub use crate::input::{
        ArgumentRules, ConstLiteral, DefaultOf, Defaults, Owned, ToolInput, checks, items_of, object,
        of_bool, of_decimal, of_integer, of_list, refine, relation,
    };
    pub use crate::return_value::{Probe, Returned, schema};
    pub use crate::{Arguments, Function, FunctionTool, Run, ToolFunction, boxed};
    pub use crate::{dialect_check, exact_check};
    pub use toolgen_kernel::base::frozen::Frozen::Static as S;
    pub use toolgen_kernel::call::roots::inside;
    pub use toolgen_kernel::schema::dialect;
    pub use toolgen_kernel::schema::shape::{Extra, Number, RelationKind, Schema};
    pub use toolgen_kernel::spec::{
        Completion, Effects, Example, Files, Network, Requirement, RequirementKind, Timeout, ToolName,
        ToolSpec,
    };

    #[cfg(not(feature = "inventory"))]
    pub use crate::__toolgen_no_register as register;
    #[cfg(feature = "inventory")]
    pub use crate::__toolgen_register as register;

    /// The traits that select the conversion of a value.
    pub mod probes {
        pub use crate::input::{DefaultFromSerialize, DefaultFromToolInput};
        pub use crate::return_value::{
            ProbeDebug, ProbeDisplay, ProbeError, ProbeFallible, ProbeNothing, ProbeOutput, ProbeOwn,
            ProbePlain, ProbeSerialize, ReturnedUnknown,
        };
    }

    /// Builds a list without requiring a trait in scope.
    #[must_use]
    pub fn list<T, const N: usize>(items: [T; N]) -> Vec<T> {
        Vec::from(items)
    }

    /// The base of a requirement.
    pub const REQUIREMENT: Requirement = Requirement {
        kind: RequirementKind::Custom,
        name: toolgen_kernel::Text::EMPTY,
        argument: toolgen_kernel::Text::EMPTY,
        message: toolgen_kernel::Text::EMPTY,
        optional: false,
    };
}
