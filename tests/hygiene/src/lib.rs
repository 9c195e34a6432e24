//! Generated code relies on nothing around it. That this crate compiles is the test: edition 2021, the runtime under
//! another name, no prelude, no `serde` in the manifest, every warning an error, and names that stand in the way.

#![no_implicit_prelude]
#![deny(warnings, missing_docs, missing_debug_implementations, unreachable_pub, unused)]
#![forbid(unsafe_code)]

/// Argument and result structs for all documents.
pub mod typed {
    ::renamed::include_tools!("typed");
}

/// Tools alone.
pub mod untyped {
    ::renamed::include_tools!("untyped");
}

/// Declares what generated code must not take for its own.
macro_rules! shadows {
    ($($name:ident)*) => {
        $(
            #[allow(
                dead_code, non_camel_case_types, clippy::upper_case_acronyms,
                reason = "it only stands in the way"
            )]
            struct $name;
        )*
        #[allow(dead_code, reason = "it only stands in the way")]
        mod core {}
        #[allow(dead_code, reason = "it only stands in the way")]
        mod std {}
        #[allow(dead_code, reason = "it only stands in the way")]
        mod renamed {}
        #[allow(unused_macros, reason = "it only stands in the way")]
        macro_rules! include {
            () => {};
        }
    };
}

/// Beside items of the same names.
pub mod beside {
    shadows! {
        Option Some None Result Ok Err String Vec Box Default Clone Debug PartialEq Value Tool ToolSpec ToolName
        Schema Call RequestPlan Parameter Effects S PATH QUERY HEADER COOKIE def str bool u64 i64 f64
    }

    ::renamed::include_tools!("beside");
}
