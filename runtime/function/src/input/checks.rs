//! Compile-time checks of the attributes of an argument. Rules are checked against the type of the argument, defaults
//! and examples against the type and the rules.
//!
//! The macros turn each attribute into a constant at its location, so that one build reports all errors.

use toolgen_core::internal::float;

use super::rules::{ArgumentRules, ConstLiteral};
use toolgen_kernel::base::const_text::{ConstText, same};
use toolgen_kernel::base::frozen::Frozen;
use toolgen_kernel::schema::shape::{Kind, Literal, Number, NumberRules, Shape};

/// An error message.
type Message = ConstText<600>;

/// A default or an example as written, and its constraints, for messages.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    /// `default` or `example`.
    pub what: &'static str,
    /// The value.
    pub value: &'static str,
    /// The type of the argument; empty if it is not written.
    pub ty: &'static str,
    /// The range.
    pub range: &'static str,
    /// The length.
    pub len: &'static str,
    /// The allowed values.
    pub one_of: &'static str,
}

/// Reports an error.
#[track_caller]
#[expect(clippy::panic, reason = "a wrong attribute is a compile error where it is written")]
const fn refuse(message: &Message) -> ! {
    panic!("{}", message.as_str())
}

/// Starts a message.
const fn message(text: &str) -> Message {
    ConstText::EMPTY.and(text)
}

/// Rejects a rule that does not apply to the type of an argument. `rules` contains only this rule; `written` is the
/// rule as written, and `ty` is the type, or empty.
///
/// # Panics
///
/// Panics if the rule does not apply. In a constant, that is a compile error at the rule.
#[track_caller]
pub const fn rule(shape: &Shape, rules: &ArgumentRules, written: &str, ty: &str) {
    // All fields are listed, so that a new field does not compile until it is checked here.
    let ArgumentRules {
        description: _,
        default: _,
        examples: _,
        deprecated: _,
        deny_message: _,
        items: _,
        minimum,
        maximum,
        below,
        min_len,
        max_len,
        pattern,
        deny,
        format,
        one_of,
    } = rules;
    let kind = &shape.kind;
    // Items of a type that is not a list; `items` reports this.
    if matches!(kind, Kind::Never) {
        return;
    }
    let is_number = matches!(kind, Kind::Integer(_) | Kind::Number(_));
    let is_string = matches!(kind, Kind::String(_));
    let has_length = is_string || matches!(kind, Kind::Array(_) | Kind::Object(_));
    if !is_number && (minimum.is_some() || maximum.is_some() || below.is_some()) {
        refuse(&message("`range` applies to numbers, but this argument is not a number"));
    }
    if !has_length && (min_len.is_some() || max_len.is_some()) {
        refuse(&message(
            "`len` and `non_empty` apply to strings, lists and maps, but this argument is none of them",
        ));
    }
    if !is_string && !pattern.is_empty() {
        refuse(&message("`pattern` applies to strings, but this argument is not a string"));
    }
    if !is_string && !deny.is_empty() {
        refuse(&message("`deny_pattern` applies to strings, but this argument is not a string"));
    }
    if !is_string && !format.is_empty() {
        refuse(&message("`secret` applies to strings, but this argument is not a string"));
    }
    if !(is_string || is_number || one_of.is_empty()) {
        refuse(&message(
            "`one_of` applies to strings and numbers, but this argument is neither; an enum that derives `ToolInput` declares its own values",
        ));
    }
    if let (Some(min), Some(max)) = (min_len, max_len)
        && *min > *max
    {
        refuse(&message("`").and(written).and("` contains no length"));
    }
    if let Kind::Integer(base) | Kind::Number(base) = kind {
        check_range(base, rules, written, ty);
    }
}

/// Rejects a range that contains no value, or values that the type does not have.
#[track_caller]
const fn check_range(base: &NumberRules, rules: &ArgumentRules, written: &str, ty: &str) {
    let (low, high, below) = (rules.minimum, rules.maximum, rules.below);
    if let Some(low) = low
        && !is_within(low, None, high, below)
    {
        refuse(&message("`").and(written).and("` contains no value"));
    }
    let exceeds_type = match (low, high, below, base.maximum) {
        // An exclusive bound is inside the type if the last value before it is.
        (_, _, Some(Number::Int(below)), Some(Number::Int(max))) => below > max + 1,
        _ => false,
    };
    if exceeds_type || !is_inside(base, low) || !is_inside(base, high) {
        refuse(&with_bounds(
            message("`").and(written).and("` goes beyond ").and(type_name_of(ty).as_str()),
            base,
        ));
    }
}

/// Whether a bound is a value of the type.
const fn is_inside(base: &NumberRules, bound: Option<Number>) -> bool {
    match bound {
        Some(bound) => is_within(bound, base.minimum, base.maximum, None),
        None => true,
    }
}

/// Returns the name of a type for a message.
const fn type_name_of(ty: &str) -> ConstText<200> {
    if ty.is_empty() { ConstText::EMPTY.and("its type") } else { ConstText::EMPTY.and("`").and(ty).and("`") }
}

/// Appends the values of a type to a message.
const fn with_bounds(message: Message, base: &NumberRules) -> Message {
    match (base.minimum, base.maximum) {
        (Some(Number::Int(min)), Some(Number::Int(max))) => message.and(": ").int(min).and(" to ").int(max),
        _ => message,
    }
}

/// Rejects a default or an example that violates its type or the rules next to it. A constant can check bounds,
/// lengths and the allowed values.
///
/// # Panics
///
/// Panics if the value does not fit. In a constant, that is a compile error at the value.
#[track_caller]
pub const fn value(shape: &Shape, rules: &ArgumentRules, value: ConstLiteral, written: &Written) {
    let start = message("the ").and(written.what).and(" ").and(written.value);
    if !rules.one_of.is_empty() {
        if !is_one_of(rules.one_of, value) {
            refuse(&start.and(" is none of `").and(written.one_of).and("`"));
        }
        return;
    }
    // A default has the type of the argument, which the compiler checks; an example has no type.
    let is_example = same(written.what, "example");
    let not_a_value = start.and(" is not a value of ").and(type_name_of(written.ty).as_str());
    match (&shape.kind, value) {
        (Kind::Enum(Frozen::Static(allowed)), _) if is_example && !is_one_of(allowed, value) => {
            refuse(&not_a_value)
        }
        (Kind::Integer(base) | Kind::Number(base), ConstLiteral::Int(int)) => {
            check_number(base, rules, Number::Int(int), not_a_value, written);
        }
        (Kind::Number(base), ConstLiteral::Float(float)) => {
            check_number(base, rules, Number::Float(float), not_a_value, written);
        }
        (Kind::String(_), ConstLiteral::Str(text)) if !has_valid_length(rules, text) => {
            refuse(&start.and(" violates `").and(written.len).and("`"));
        }
        (Kind::String(_) | Kind::Boolean, ConstLiteral::Int(_) | ConstLiteral::Float(_))
        | (Kind::Integer(_), ConstLiteral::Float(_))
        | (Kind::Integer(_) | Kind::Number(_) | Kind::Boolean, ConstLiteral::Str(_))
        | (Kind::Integer(_) | Kind::Number(_) | Kind::String(_), ConstLiteral::Bool(_))
            if is_example =>
        {
            refuse(&not_a_value);
        }
        _ => {}
    }
}

#[track_caller]
const fn check_number(
    base: &NumberRules,
    rules: &ArgumentRules,
    value: Number,
    not_a_value: Message,
    written: &Written,
) {
    if !is_within(value, base.minimum, base.maximum, None) {
        refuse(&with_bounds(not_a_value, base));
    }
    if !is_within(value, rules.minimum, rules.maximum, rules.below) {
        let text = message("the ").and(written.what).and(" ").and(written.value).and(" is outside `");
        refuse(&text.and(written.range).and("`"));
    }
}

/// Rejects rules for items on a type that is not a list.
///
/// # Panics
///
/// Panics if the type is not a list. In a constant, that is a compile error at `items`.
#[track_caller]
pub const fn items(shape: &Shape) {
    if !matches!(shape.kind, Kind::Array(_) | Kind::Never) {
        refuse(&message("`items(...)` applies to lists, but this argument is not a list"));
    }
}

/// Returns the literal of a schema in the form of an attribute.
const fn to_const_literal(literal: &Literal) -> ConstLiteral {
    match literal {
        Literal::Bool(value) => ConstLiteral::Bool(*value),
        Literal::Number(Number::Int(value)) => ConstLiteral::Int(*value),
        Literal::Number(Number::Float(value)) => ConstLiteral::Float(*value),
        Literal::String(Frozen::Static(text)) => ConstLiteral::Str(text),
        // Attributes have no other literals.
        Literal::Null | Literal::String(_) | Literal::Json(_) => ConstLiteral::Null,
    }
}

const fn is_one_of(allowed: &[Literal], value: ConstLiteral) -> bool {
    let mut index = 0;
    while index < allowed.len() {
        let is_equal = match (to_const_literal(&allowed[index]), value) {
            (ConstLiteral::Str(left), ConstLiteral::Str(right)) => same(left, right),
            (ConstLiteral::Int(left), ConstLiteral::Int(right)) => left == right,
            (ConstLiteral::Float(left), ConstLiteral::Float(right)) => left.to_bits() == right.to_bits(),
            (ConstLiteral::Str(_), ConstLiteral::Int(_) | ConstLiteral::Float(_))
            | (ConstLiteral::Int(_) | ConstLiteral::Float(_), ConstLiteral::Str(_)) => false,
            _ => true,
        };
        if is_equal {
            return true;
        }
        index += 1;
    }
    false
}

/// Whether a number is within bounds, the last of which is exclusive.
const fn is_within(value: Number, min: Option<Number>, max: Option<Number>, below: Option<Number>) -> bool {
    let is_too_low = match min {
        Some(min) => is_less(value, min),
        None => false,
    };
    let is_too_high = match max {
        Some(max) => is_less(max, value),
        None => false,
    };
    let reaches_bound = match below {
        Some(below) => !is_less(value, below),
        None => false,
    };
    !(is_too_low || is_too_high || reaches_bound)
}

const fn is_less(a: Number, b: Number) -> bool {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => a < b,
        (a, b) => float(a) < float(b),
    }
}

/// Whether the length of a string, in characters, is within the rules.
const fn has_valid_length(rules: &ArgumentRules, text: &str) -> bool {
    let bytes = text.as_bytes();
    let (mut index, mut characters) = (0, 0);
    while index < bytes.len() {
        // Counts all bytes except continuation bytes of a character.
        if bytes[index] & 0xC0 != 0x80 {
            characters += 1;
        }
        index += 1;
    }
    let is_too_short = matches!(rules.min_len, Some(min) if characters < min);
    let is_too_long = matches!(rules.max_len, Some(max) if characters > max);
    !(is_too_short || is_too_long)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{StaticShape, ToolInput};

    const WRITTEN: Written = Written {
        what: "default",
        value: "V",
        ty: "T",
        range: "range = R",
        len: "len = L",
        one_of: "one_of(O)",
    };

    fn refusal(check: impl FnOnce() + std::panic::UnwindSafe) -> String {
        let reason = std::panic::catch_unwind(check).err();
        reason.map(|reason| reason.downcast_ref::<String>().unwrap().clone()).unwrap_or_default()
    }

    fn value_refusal<T: ToolInput>(rules: ArgumentRules, literal: ConstLiteral) -> String {
        refusal(move || value(StaticShape::<T>::SHAPE, &rules, literal, &WRITTEN))
    }

    #[test]
    fn default_violating_its_rules_does_not_compile() {
        let range = ArgumentRules {
            minimum: Some(Number::Int(0)),
            maximum: Some(Number::Int(5)),
            ..ArgumentRules::NONE
        };
        assert_eq!(value_refusal::<u32>(range, ConstLiteral::Int(5)), "");
        assert_eq!(
            value_refusal::<u32>(range, ConstLiteral::Int(500)),
            "the default V is outside `range = R`"
        );
        assert_eq!(
            value_refusal::<i32>(range, ConstLiteral::Int(-1)),
            "the default V is outside `range = R`"
        );
        let below = ArgumentRules { below: Some(Number::Float(1.0)), ..ArgumentRules::NONE };
        assert_eq!(value_refusal::<f64>(below, ConstLiteral::Float(0.5)), "");
        assert_eq!(
            value_refusal::<f64>(below, ConstLiteral::Float(1.0)),
            "the default V is outside `range = R`"
        );
        let long = ArgumentRules { max_len: Some(2), ..ArgumentRules::NONE };
        assert_eq!(value_refusal::<String>(long, ConstLiteral::Str("äö")), "");
        assert_eq!(
            value_refusal::<String>(long, ConstLiteral::Str("abc")),
            "the default V violates `len = L`"
        );
        const ALLOWED: &[Literal] = &[ConstLiteral::Str("a").literal(), ConstLiteral::Str("b").literal()];
        let one_of = ArgumentRules { one_of: ALLOWED, ..ArgumentRules::NONE };
        assert_eq!(value_refusal::<String>(one_of, ConstLiteral::Str("b")), "");
        assert_eq!(
            value_refusal::<String>(one_of, ConstLiteral::Str("zz")),
            "the default V is none of `one_of(O)`"
        );
    }

    #[test]
    fn default_of_another_type_does_not_compile() {
        let any = ArgumentRules::NONE;
        assert_eq!(
            value_refusal::<Option<u8>>(any, ConstLiteral::Int(300)),
            "the default V is not a value of `T`: 0 to 255"
        );
        assert_eq!(value_refusal::<u64>(any, ConstLiteral::Int(i128::from(u64::MAX))), "");
        // A value of another type does not compile in any case.
        assert_eq!(value_refusal::<u8>(any, ConstLiteral::Str("x")), "");
        let example = Written { what: "example", ..WRITTEN };
        let example_refusal =
            |shape: &'static Shape| refusal(move || value(shape, &any, ConstLiteral::Bool(true), &example));
        assert_eq!(example_refusal(StaticShape::<String>::SHAPE), "the example V is not a value of `T`");
        assert_eq!(example_refusal(StaticShape::<serde_json::Value>::SHAPE), "");
    }

    #[test]
    fn range_outside_of_the_type_does_not_compile() {
        let range = |minimum: Option<i128>, maximum: Option<i128>, below: Option<i128>| {
            let bound = |bound: Option<i128>| bound.map(Number::Int);
            let rules = ArgumentRules {
                minimum: bound(minimum),
                maximum: bound(maximum),
                below: bound(below),
                ..ArgumentRules::NONE
            };
            refusal(move || rule(StaticShape::<u8>::SHAPE, &rules, "W", "u8"))
        };
        let beyond = "`W` goes beyond `u8`: 0 to 255";
        assert_eq!(range(Some(0), Some(255), None), "");
        assert_eq!(range(Some(0), None, Some(256)), "");
        assert_eq!(range(Some(0), Some(256), None), beyond);
        assert_eq!(range(Some(0), None, Some(257)), beyond);
        assert_eq!(range(Some(-1), None, None), beyond);
        assert_eq!(range(Some(256), None, None), beyond);
        assert_eq!(range(None, Some(-1), None), beyond);
        assert_eq!(range(Some(5), Some(4), None), "`W` contains no value");
        assert_eq!(range(Some(5), None, Some(5)), "`W` contains no value");
    }
}
