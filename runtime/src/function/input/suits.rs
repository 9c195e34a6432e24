//! Checks at compile time that the default and the examples of an argument fit its rules.

use toolgen_core::internal::float;

use super::rules::{Lit, Rules};
use crate::base::const_text::same;
use crate::base::frozen::Frozen;
use crate::schema::shape::{Kind, Literal, Number, NumberRules, StringRules};

/// Refuses a default and examples that the rules beside them refuse, as far as a constant can tell: bounds, lengths
/// and the allowed values.
///
/// # Panics
///
/// If one does not fit. In a constant, that is a compile error at the attribute.
#[track_caller]
pub(super) const fn check_values(kind: &Kind, rules: &Rules) {
    if let Some(default) = rules.default {
        assert!(
            suits(kind, default),
            "the `default` does not fit the argument's own rules, such as `range` or `one_of`"
        );
    }
    let mut index = 0;
    while index < rules.examples.len() {
        assert!(
            suits(kind, lit(&rules.examples[index])),
            "an `example` does not fit the argument's own rules, such as `range` or `one_of`"
        );
        index += 1;
    }
}

/// Whether rules allow a value. A value of another kind is left to the compiler, which knows the types.
const fn suits(kind: &Kind, value: Lit) -> bool {
    match (kind, value) {
        (Kind::Enum(Frozen::Static(allowed)), value) => is_one_of(allowed, value),
        (Kind::Integer(rules) | Kind::Number(rules), Lit::Int(value)) => within(rules, Number::Int(value)),
        (Kind::Integer(rules) | Kind::Number(rules), Lit::Float(value)) => {
            within(rules, Number::Float(value))
        }
        (Kind::String(rules), Lit::Str(text)) => is_as_long(rules, text),
        _ => true,
    }
}

/// Returns the literal of a schema in the form of an attribute.
const fn lit(literal: &Literal) -> Lit {
    match literal {
        Literal::Bool(value) => Lit::Bool(*value),
        Literal::Number(Number::Int(value)) => Lit::Int(*value),
        Literal::Number(Number::Float(value)) => Lit::Float(*value),
        Literal::String(Frozen::Static(text)) => Lit::Str(text),
        // Attributes have no others.
        Literal::Null | Literal::String(_) | Literal::Json(_) => Lit::Null,
    }
}

const fn is_one_of(allowed: &[Literal], value: Lit) -> bool {
    let mut index = 0;
    while index < allowed.len() {
        let equal = match (lit(&allowed[index]), value) {
            (Lit::Str(one), Lit::Str(other)) => same(one, other),
            (Lit::Int(one), Lit::Int(other)) => one == other,
            (Lit::Float(one), Lit::Float(other)) => one.to_bits() == other.to_bits(),
            (Lit::Str(_), Lit::Int(_) | Lit::Float(_)) | (Lit::Int(_) | Lit::Float(_), Lit::Str(_)) => false,
            _ => true,
        };
        if equal {
            return true;
        }
        index += 1;
    }
    false
}

const fn within(rules: &NumberRules, value: Number) -> bool {
    let low = match rules.minimum {
        Some(minimum) => less(value, minimum),
        None => false,
    };
    let high = match rules.maximum {
        Some(maximum) => less(maximum, value),
        None => false,
    };
    let not_below = match rules.exclusive_maximum {
        Some(bound) => !less(value, bound),
        None => false,
    };
    !(low || high || not_below)
}

const fn less(a: Number, b: Number) -> bool {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => a < b,
        (a, b) => float(a) < float(b),
    }
}

/// Whether a text has as many characters as the rules allow.
const fn is_as_long(rules: &StringRules, text: &str) -> bool {
    let bytes = text.as_bytes();
    let (mut index, mut characters) = (0, 0);
    while index < bytes.len() {
        // All bytes but the later ones of a character.
        if bytes[index] & 0xC0 != 0x80 {
            characters += 1;
        }
        index += 1;
    }
    let short = matches!(rules.min_length, Some(least) if characters < least);
    let long = matches!(rules.max_length, Some(most) if characters > most);
    !(short || long)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::input::{Of, refine};

    fn refuses<T: crate::function::input::ToolInput>(rules: Rules) -> bool {
        std::panic::catch_unwind(|| refine(Of::<T>::SHAPE, rules)).is_err()
    }

    #[test]
    fn a_default_that_the_rules_refuse_does_not_compile() {
        let range = Rules { minimum: Some(Number::Int(0)), maximum: Some(Number::Int(5)), ..Rules::NONE };
        assert!(!refuses::<u32>(Rules { default: Some(Lit::Int(5)), ..range }));
        assert!(refuses::<u32>(Rules { default: Some(Lit::Int(500)), ..range }));
        assert!(refuses::<i32>(Rules { default: Some(Lit::Int(-1)), ..range }));
        let below = Rules { below: Some(Number::Float(1.0)), ..Rules::NONE };
        assert!(!refuses::<f64>(Rules { default: Some(Lit::Float(0.5)), ..below }));
        assert!(refuses::<f64>(Rules { default: Some(Lit::Float(1.0)), ..below }));
        let long = Rules { max_len: Some(2), ..Rules::NONE };
        assert!(!refuses::<String>(Rules { default: Some(Lit::Str("äö")), ..long }));
        assert!(refuses::<String>(Rules { default: Some(Lit::Str("abc")), ..long }));
        const ALLOWED: &[Literal] = &[Lit::Str("a").literal(), Lit::Str("b").literal()];
        let one_of = Rules { one_of: ALLOWED, ..Rules::NONE };
        assert!(!refuses::<String>(Rules { default: Some(Lit::Str("b")), ..one_of }));
        assert!(refuses::<String>(Rules { default: Some(Lit::Str("zz")), ..one_of }));
    }

    #[test]
    fn an_example_that_the_rules_refuse_does_not_compile() {
        const EXAMPLES: &[Literal] = &[Lit::Int(1).literal(), Lit::Int(9).literal()];
        let rules = Rules { maximum: Some(Number::Int(5)), examples: EXAMPLES, ..Rules::NONE };
        assert!(refuses::<u32>(rules));
        assert!(!refuses::<u32>(Rules { maximum: Some(Number::Int(9)), ..rules }));
    }
}
