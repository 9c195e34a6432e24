//! The rules of an `exact` tool that a dialect would lose, checked at compile time.
//!
//! [`ToolSpec::schema`](toolgen_kernel::ToolSpec::schema) rejects an `exact` tool if a rule is lost. These checks
//! cover the rules that a constant can check: the keywords of an argument and of its type, and rules between arguments.
//! Defects that need the whole schema, such as a regular expression that the dialect does not accept, are reported
//! when the tool is rendered.
//!
//! ```
//! /// Keeps a name.
//! #[toolgen_runtime::tool(exact, undocumented, dialects(openai))]
//! fn keep(#[arg(len = ..=3)] name: String) -> String {
//!     name
//! }
//! ```
//!
//! OpenAI's strict mode has no keyword for the length:
//!
//! ```compile_fail
//! /// Keeps a name.
//! #[toolgen_runtime::tool(exact, undocumented, dialects(openai_strict))]
//! fn keep(#[arg(len = ..=3)] name: String) -> String {
//!     name
//! }
//! ```
//!
//! It has no form for rules between arguments either:
//!
//! ```compile_fail
//! /// Keeps a name.
//! #[toolgen_runtime::tool(exact, undocumented, dialects(openai_strict), at_most_one(a, b))]
//! fn keep(a: Option<bool>, b: Option<bool>) -> bool {
//!     a == b
//! }
//! ```

use super::dialect_check::{check_shape, refuse};
use crate::input::ToolInput;
use toolgen_kernel::base::const_text::ConstText;
use toolgen_kernel::schema::dialect::Dialect;
use toolgen_kernel::schema::shape::Field;

/// Rejects an argument whose rules a dialect would lose.
///
/// # Panics
///
/// Panics if the dialect has no keyword for one of the rules. In a constant, that is a compile error at the argument.
#[track_caller]
pub const fn argument<T: ToolInput>(tool: &str, field: &Field, dialect: &Dialect) {
    if let Some(refusal) = check_shape(&field.shape, T::BODY, dialect, true) {
        refuse(tool, field.name.program(), &refusal, dialect);
    }
}

/// Rejects rules between arguments if a dialect would lose them.
///
/// # Panics
///
/// Panics if the dialect accepts no such rules. In a constant, that is a compile error at the rule.
#[track_caller]
#[expect(clippy::panic, reason = "a rule that would be lost is a compile error where it is written")]
pub const fn relations(tool: &str, dialect: &Dialect) {
    if !dialect.root_composition {
        let message = ConstText::<600>::EMPTY.and("tool `").and(tool).and("`: ").and(dialect.title);
        panic!(
            "{}",
            message
                .and(" has no rules between arguments, and the tool is `exact`: remove the rule, or `exact`")
                .as_str()
        );
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::input::derive::{field_of, of};
    use crate::input::{ArgumentRules, object};
    use toolgen_kernel::schema::shape::Extra;
    use toolgen_kernel::spec::ToolSpec;

    fn assert_agreement<T: ToolInput>(fields: &'static [Field]) {
        let spec =
            ToolSpec { input: object(fields, &[], Extra::Closed).into(), exact: true, ..ToolSpec::EMPTY };
        for dialect in Dialect::ALL {
            let refused = spec.schema(dialect).is_err();
            let loss = check_shape(&fields[0].shape, T::BODY, dialect, true);
            assert_eq!(loss.is_some(), refused, "{} for {}: {loss:?}", fields[0].name, dialect.name);
        }
    }

    macro_rules! agree {
        ($($name:literal $type:ty: $rules:expr;)*) => {$(
            assert_agreement::<$type>(const { &[field_of(of::<$type>(), $name, &[], false, $rules)] });
        )*};
    }

    #[test]
    fn exact_tool_checks_agree_with_rendering() {
        use toolgen_kernel::schema::shape::Number;
        agree! {
            "plain" String: ArgumentRules::NONE;
            "short" String: ArgumentRules { max_len: Some(3), ..ArgumentRules::NONE };
            "long" Vec<u8>: ArgumentRules { min_len: Some(3), ..ArgumentRules::NONE };
            "small" u32: ArgumentRules { maximum: Some(Number::Int(9)), ..ArgumentRules::NONE };
            "own range" u32: ArgumentRules::NONE;
            "byte" u8: ArgumentRules::NONE;
            "signed" i64: ArgumentRules::NONE;
            "single" f32: ArgumentRules::NONE;
            "any" Value: ArgumentRules::NONE;
            "pair" (u64, String): ArgumentRules::NONE;
            "denied" String: ArgumentRules { deny: "x", ..ArgumentRules::NONE };
            "listed" String: ArgumentRules { format: "uri", ..ArgumentRules::NONE };
            "identified" String: ArgumentRules { format: "uuid", ..ArgumentRules::NONE };
        }
    }
}
