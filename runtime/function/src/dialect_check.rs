//! The rules of schema dialects, checked at compile time.
//!
//! The checks report the reasons for which [`render`](toolgen_kernel::schema::shape::render) rejects a schema. They
//! cover the parts that a constant can reach: the shape of an argument and, if that is a named type, its body. Maps,
//! tuples, values of any type and keys that a dialect does not accept are not checked: they are rendered in another
//! form, which decoding accepts.
//!
//! Named types inside that body are not followed: the constant of a type that contains itself, at any depth, would
//! need its own value. If the whole crate declares a dialect (`TOOLGEN_DIALECTS`), they are checked where they are
//! derived, one type at a time, at every depth. Otherwise they are checked when the tool is rendered.

use toolgen_core::internal::is_described;

use crate::input::{StaticShape, ToolInput};
use toolgen_kernel::base::const_text::{ConstText, same};
use toolgen_kernel::base::frozen::{Frozen, Text};
use toolgen_kernel::schema::dialect::Dialect;
use toolgen_kernel::schema::shape::{
    Extra, Field, Kind, NumberRules, ObjectRules, Shape, StringRules, UnionRules,
};

/// Maximum length of a reported path, in steps.
const STEPS: usize = 8;

/// A part of a shape that a dialect rejects.
#[derive(Clone, Copy, Debug)]
pub struct DialectRefusal {
    path: [&'static str; STEPS],
    steps: usize,
    reason: &'static str,
    /// The keyword that an `exact` tool would lose; empty for other reasons.
    keyword: &'static str,
}

impl DialectRefusal {
    const fn new(reason: &'static str, keyword: &'static str) -> DialectRefusal {
        DialectRefusal { path: [""; STEPS], steps: 0, reason, keyword }
    }

    /// Creates the refusal of a keyword that the dialect does not accept.
    const fn lost_keyword(keyword: &'static str) -> DialectRefusal {
        DialectRefusal::new(EXACT, keyword)
    }
}

/// Rejects an argument of a tool that a dialect would reject.
///
/// # Panics
///
/// Panics if the dialect would reject the argument. In a constant, that is a compile error at the argument.
#[track_caller]
pub const fn argument<T: ToolInput>(tool: &str, argument: &str, dialect: &Dialect) {
    if let Some(refusal) = of::<T>(dialect) {
        refuse(tool, argument, &refusal, dialect);
    }
}

/// Reports an argument that a dialect rejects.
#[track_caller]
#[expect(clippy::panic, reason = "a tool that no vendor accepts is a compile error where it is written")]
pub(super) const fn refuse(tool: &str, argument: &str, refusal: &DialectRefusal, dialect: &Dialect) {
    let mut text = message("tool `", tool, "`, argument `", argument);
    let mut step = refusal.steps;
    while step > 0 {
        step -= 1;
        text = text.and(".").and(refusal.path[step]);
    }
    panic!("{}", with_reason(text, dialect, refusal).as_str());
}

/// Rejects a type that a dialect would reject as an argument.
///
/// # Panics
///
/// Panics if the dialect would reject the type. In a constant, that is a compile error at the type.
#[track_caller]
#[expect(clippy::panic, reason = "a type that no vendor accepts is a compile error where it is written")]
pub const fn derived<T: ToolInput>(name: &str, dialect: &Dialect) {
    if let Some(refusal) = of::<T>(dialect) {
        let field = if refusal.steps == 0 { "" } else { refusal.path[refusal.steps - 1] };
        let text = message("type `", name, "`, field `", field);
        panic!("{}", with_reason(text, dialect, &refusal).as_str());
    }
}

/// Returns the first part of a type that a dialect rejects.
#[must_use]
pub const fn of<T: ToolInput>(dialect: &Dialect) -> Option<DialectRefusal> {
    check_shape(StaticShape::<T>::SHAPE, T::BODY, dialect, false)
}

const NEVER: &str = "rejects a schema that allows no value";
const EXACT: &str = "has no keyword for a rule of an `exact` tool; remove the rule, or `exact`: ";

/// Returns the first part of a shape that a dialect rejects. For an `exact` tool, a part with a rule that would be
/// lost counts as well.
pub(super) const fn check_shape(
    shape: &Shape,
    body: Option<&'static Shape>,
    dialect: &Dialect,
    exact: bool,
) -> Option<DialectRefusal> {
    if exact && let Some(keyword) = find_lost_keyword(shape, dialect) {
        return Some(DialectRefusal::lost_keyword(keyword));
    }
    match &shape.kind {
        Kind::Never => Some(DialectRefusal::new(NEVER, "")),
        // A name is not followed again inside its own body.
        Kind::Ref(_) => match body {
            Some(body) => check_shape(body, None, dialect, exact),
            None => None,
        },
        Kind::Array(rules) => check_frozen(&rules.items, body, dialect, exact),
        Kind::Tuple(rules) => check_all(&rules.items, body, dialect, exact),
        Kind::Union(UnionRules { variants, .. }) => check_all(variants, body, dialect, exact),
        Kind::Object(rules) => check_object(rules, body, dialect, exact),
        _ => None,
    }
}

const fn check_frozen(
    shape: &Frozen<Shape>,
    body: Option<&'static Shape>,
    dialect: &Dialect,
    exact: bool,
) -> Option<DialectRefusal> {
    match shape {
        Frozen::Static(shape) => check_shape(shape, body, dialect, exact),
        // Constants contain no other variant.
        Frozen::Shared(_) => None,
    }
}

const fn check_all(
    shapes: &Frozen<[Shape]>,
    body: Option<&'static Shape>,
    dialect: &Dialect,
    exact: bool,
) -> Option<DialectRefusal> {
    let Frozen::Static(shapes) = shapes else { return None };
    let mut index = 0;
    while index < shapes.len() {
        let refusal = check_shape(&shapes[index], body, dialect, exact);
        if refusal.is_some() {
            return refusal;
        }
        index += 1;
    }
    None
}

const fn check_object(
    rules: &ObjectRules,
    body: Option<&'static Shape>,
    dialect: &Dialect,
    exact: bool,
) -> Option<DialectRefusal> {
    let fields: &'static [Field] = match &rules.fields {
        Frozen::Static(fields) => fields,
        Frozen::Shared(_) => &[],
    };
    let mut index = 0;
    while index < fields.len() {
        let name = static_text(&fields[index].name);
        if let Some(mut refusal) = check_shape(&fields[index].shape, body, dialect, exact) {
            if refusal.steps < STEPS {
                refusal.path[refusal.steps] = name;
                refusal.steps += 1;
            }
            return Some(refusal);
        }
        index += 1;
    }
    match &rules.extra {
        Extra::Of(shape) => check_frozen(shape, body, dialect, exact),
        _ => None,
    }
}

const fn static_text(text: &Text) -> &'static str {
    match text {
        Frozen::Static(text) => text,
        Frozen::Shared(_) => "",
    }
}

/// Describes a part of a type and its defect.
const fn message(start: &str, name: &str, middle: &str, part: &str) -> ConstText<600> {
    ConstText::EMPTY.and(start).and(name).and(middle).and(part)
}

const fn with_reason(message: ConstText<600>, dialect: &Dialect, refusal: &DialectRefusal) -> ConstText<600> {
    message.and("`: ").and(dialect.title).and(" ").and(refusal.reason).and(refusal.keyword)
}

/// Returns the keyword of a rule that a dialect would lose.
const fn find_lost_keyword(shape: &Shape, dialect: &Dialect) -> Option<&'static str> {
    match &shape.kind {
        Kind::Any if !dialect.untyped || !dialect.empty_objects => Some("type"),
        Kind::Integer(rules) | Kind::Number(rules) => lost_number_keyword(rules, dialect),
        Kind::String(rules) => lost_string_keyword(rules, dialect),
        Kind::Array(rules) => first_lost(
            &[
                ("minItems", rules.min_items.is_some()),
                ("maxItems", rules.max_items.is_some()),
                ("uniqueItems", rules.unique),
            ],
            dialect,
        ),
        Kind::Tuple(_) if dialect.open_objects => first_lost(&[("prefixItems", true)], dialect),
        _ => None,
    }
}

const fn lost_number_keyword(rules: &NumberRules, dialect: &Dialect) -> Option<&'static str> {
    let format = rules.format.program();
    first_lost(
        &[
            ("minimum", is_described(format, rules.minimum)),
            ("exclusiveMinimum", is_described(format, rules.exclusive_minimum)),
            ("maximum", is_described(format, rules.maximum)),
            ("exclusiveMaximum", is_described(format, rules.exclusive_maximum)),
            ("multipleOf", is_described(format, rules.multiple_of)),
        ],
        dialect,
    )
}

const fn lost_string_keyword(rules: &StringRules, dialect: &Dialect) -> Option<&'static str> {
    if is_set(&rules.format)
        && let Some(formats) = dialect.formats
        && !contains(formats, rules.format.program())
    {
        return Some("format");
    }
    first_lost(
        &[
            ("format", is_set(&rules.format)),
            ("minLength", rules.min_length.is_some()),
            ("maxLength", rules.max_length.is_some()),
            ("pattern", is_set(&rules.pattern)),
            ("not", is_set(&rules.deny)),
            ("contentEncoding", is_set(&rules.content_encoding)),
            ("contentMediaType", is_set(&rules.content_media_type)),
        ],
        dialect,
    )
}

/// Returns the first keyword that is used and that the dialect does not accept.
const fn first_lost(keywords: &[(&'static str, bool)], dialect: &Dialect) -> Option<&'static str> {
    let mut index = 0;
    while index < keywords.len() {
        let (keyword, is_used) = keywords[index];
        if is_used && !contains(dialect.keywords, keyword) {
            return Some(keyword);
        }
        index += 1;
    }
    None
}

const fn is_set(text: &Text) -> bool {
    !text.program().is_empty()
}

const fn contains(names: &[&str], name: &str) -> bool {
    let mut index = 0;
    while index < names.len() {
        if same(names[index], name) {
            return true;
        }
        index += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::Value;

    use super::*;
    use crate::input::derive::{field_of, of as member};
    use crate::input::{ArgumentRules, Defs, object};
    use toolgen_kernel::schema::shape::render::render_input;

    /// Checks that compile-time refusals equal those of rendering.
    fn assert_agreement<T: ToolInput>(fields: &'static [Field]) {
        let mut defs = Defs::default();
        T::defs(&mut defs);
        for dialect in Dialect::ALL {
            let refused = render_input(
                &object(fields, &[], Extra::Closed),
                &toolgen_kernel::base::frozen::List::EMPTY,
                dialect,
            )
            .is_err();
            let name = std::any::type_name::<T>();
            assert_eq!(of::<T>(dialect).is_some(), refused, "{name} for {}", dialect.name);
        }
    }

    macro_rules! agree {
        ($($type:ty),* $(,)?) => {$(
            assert_agreement::<$type>(
                const { &[field_of(member::<$type>(), "value", &[], false, ArgumentRules::NONE)] },
            );
        )*};
    }

    #[test]
    fn compile_time_checks_agree_with_rendering() {
        agree!(
            u8,
            String,
            Option<bool>,
            Vec<String>,
            Value,
            Vec<Value>,
            BTreeMap<String, u8>,
            Option<Vec<BTreeMap<String, Value>>>,
            (u8, String),
            Vec<(u8,)>,
            (),
            char,
            [f64; 3],
        );
    }
}
