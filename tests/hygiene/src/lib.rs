//! Tests that generated code does not depend on its surroundings. The test is that this crate compiles: edition 2021, a
//! renamed runtime, no prelude, no `serde` in the manifest, warnings as errors, and colliding names.

#![no_implicit_prelude]
#![deny(warnings, missing_docs, missing_debug_implementations, unreachable_pub, unused)]
#![forbid(unsafe_code)]

/// Argument and result structs for all documents.
pub mod typed {
    ::renamed::include_tools!("typed");
}

/// Names that generated code uses internally, as fields, variants, types, tools, functions and modules.
#[allow(clippy::all, clippy::pedantic, reason = "the names are odd on purpose")]
pub mod names {
    ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/names.rs"));
}

/// The same, with modules by tag.
#[allow(clippy::all, clippy::pedantic, reason = "the names are odd on purpose")]
pub mod names_by_tag {
    ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/names_by_tag.rs"));
}

/// Only tools.
pub mod untyped {
    ::renamed::include_tools!("untyped");
}

/// Declares items that must not shadow those of generated code.
macro_rules! shadows {
    ($($name:ident)*) => {
        $(
            #[allow(
                dead_code, non_camel_case_types, clippy::upper_case_acronyms,
                reason = "it only collides"
            )]
            struct $name;
        )*
        #[allow(dead_code, reason = "it only collides")]
        mod core {}
        #[allow(dead_code, reason = "it only collides")]
        mod std {}
        #[allow(dead_code, reason = "it only collides")]
        mod renamed {}
        #[allow(unused_macros, reason = "it only collides")]
        macro_rules! include {
            () => {};
        }
    };
}

/// A module next to items with the same names.
pub mod beside {
    shadows! {
        Option Some None Result Ok Err String Vec Box Default Clone Debug PartialEq Value Tool ToolSpec ToolName
        Schema Call RequestPlan Parameter Effects S PATH QUERY HEADER COOKIE def str bool u64 i64 f64
    }

    ::renamed::include_tools!("beside");
}

/// Functions next to items with the names that their trait uses.
pub mod beside_functions {
    shadows! {
        Option Some None Result Ok Err String Vec Box Default Clone Debug PartialEq Value Tool ToolSpec ToolName
        Send Sync Future Arc ToolContext ToolError ToolResult FunctionTable str bool u64 i64 f64 rt
    }

    ::renamed::include_tools!("beside_functions");
}

/// Implementations of the functions, with types and without.
pub mod implemented {
    use ::renamed::{ToolContext, ToolError, ToolResult};
    use ::std::prelude::v1::*;

    use crate::typed::manifest_program::{notes, ShelterPlanVisits, ShelterPlanVisitsOutput};
    use crate::untyped::manifest_program as untyped;

    /// All functions.
    #[derive(Clone, Copy, Debug)]
    pub struct Shelter;

    impl crate::typed::manifest_program::Functions for Shelter {
        async fn shelter_plan_visits(
            &self,
            arguments: ShelterPlanVisits,
            _: &ToolContext,
        ) -> Result<ShelterPlanVisitsOutput, ToolError> {
            let total = arguments.wishes.map_or(0, |wishes| wishes.len() as i64);
            Ok(ShelterPlanVisitsOutput { visits: Vec::new(), total })
        }
    }

    impl notes::Functions for Shelter {
        async fn keep_note(&self, arguments: notes::KeepNote, _: &ToolContext) -> Result<i64, ToolError> {
            Ok(arguments.text.len() as i64)
        }

        async fn read_notes(&self, _: notes::ReadNotes, ctx: &ToolContext) -> Result<ToolResult, ToolError> {
            Ok(ToolResult::text(ctx.tool_name.to_string()))
        }
    }

    impl untyped::Functions for Shelter {
        async fn shelter_plan_visits(
            &self,
            arguments: ::renamed::__private::functions::Value,
            _: &ToolContext,
        ) -> Result<::renamed::__private::functions::Value, ToolError> {
            Ok(arguments)
        }
    }

    /// Their engines.
    #[must_use]
    pub fn engines() -> ::renamed::engine::Engines {
        let engines =
            ::renamed::engine::Engines::new().with(crate::typed::manifest_program::functions(Shelter));
        engines.with(notes::functions(Shelter)).with(untyped::functions(Shelter))
    }
}
