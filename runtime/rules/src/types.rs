//! The types of values in conditions, from the schemas of tools.

use std::fmt;

use toolgen_core::internal::{fits, object_in, resolved};
use toolgen_core::schema::shape::{Access, Extra, Field, Kind, Literal, Number, NumberRules, ObjectRules};
use toolgen_core::{Def, List, Shape, ToolSpec};

use crate::value::Const;

/// The type of a value, other than `null`.
#[derive(Clone, Debug)]
pub(crate) enum Type<'a> {
    Null,
    Bool,
    Int,
    Double,
    Text,
    List(Item<'a>),
    /// An object with these rules.
    Object(&'a ObjectRules),
    /// Known only when a call is made.
    Any,
}

/// The type of the items of a list.
#[derive(Clone, Debug)]
pub(crate) enum Item<'a> {
    Shape(&'a Shape),
    Type(Box<Type<'a>>),
}

impl Type<'_> {
    pub(crate) fn is_number(&self) -> bool {
        matches!(self, Type::Int | Type::Double)
    }

    pub(crate) fn is_any(&self) -> bool {
        matches!(self, Type::Any)
    }

    /// Returns whether values of both types can be equal.
    pub(crate) fn meets(&self, other: &Type<'_>) -> bool {
        match (self, other) {
            (Type::Any, _) | (_, Type::Any) => true,
            (left, right) if left.is_number() && right.is_number() => true,
            (left, right) => std::mem::discriminant(left) == std::mem::discriminant(right),
        }
    }
}

/// Writes the type as a part of a sentence.
impl fmt::Display for Type<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Type::Null => "null",
            Type::Bool => "a boolean",
            Type::Int => "an integer",
            Type::Double => "a number",
            Type::Text => "a string",
            Type::List(_) => "a list",
            Type::Object(_) => "an object",
            Type::Any => "a value of any type",
        })
    }
}

/// A value as its schema describes it.
#[derive(Clone, Debug)]
pub(crate) struct Described<'a> {
    pub(crate) kind: Type<'a>,
    /// Whether it may be `null`.
    pub(crate) nullable: bool,
    pub(crate) domain: Domain,
}

/// The values that a term can have.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Domain {
    /// All values, if they are listed.
    pub(crate) values: Option<Vec<Const>>,
    pub(crate) least: Option<Bound>,
    pub(crate) most: Option<Bound>,
    /// Whether all values are integers.
    pub(crate) is_integer: bool,
}

/// A limit of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bound {
    pub(crate) at: f64,
    pub(crate) is_excluded: bool,
}

/// Up to this number, floats represent all integers.
pub(crate) const EXACT: f64 = 9_007_199_254_740_992.0;

fn bound(number: Option<Number>, is_excluded: bool) -> Option<Bound> {
    let at = toolgen_core::internal::float(number?);
    (at.abs() < EXACT).then_some(Bound { at, is_excluded })
}

impl Domain {
    fn of_numbers(rules: &NumberRules, is_integer: bool) -> Domain {
        let stricter = |a: Option<Bound>, b: Option<Bound>, is_lower: bool| match (a, b) {
            (Some(a), Some(b)) if a.at == b.at => Some(if a.is_excluded { a } else { b }),
            (Some(a), Some(b)) => Some(if (a.at > b.at) == is_lower { a } else { b }),
            (a, b) => a.or(b),
        };
        Domain {
            values: None,
            least: stricter(bound(rules.minimum, false), bound(rules.exclusive_minimum, true), true),
            most: stricter(bound(rules.maximum, false), bound(rules.exclusive_maximum, true), false),
            is_integer,
        }
    }

    /// The sizes within these limits.
    pub(crate) fn of_sizes(least: Option<u64>, most: Option<u64>) -> Domain {
        #[expect(clippy::cast_precision_loss, reason = "limits that are not exact are left out")]
        let bound = |limit: u64| {
            let at = limit as f64;
            (at < EXACT).then_some(Bound { at, is_excluded: false })
        };
        Domain {
            values: None,
            least: bound(least.unwrap_or(0)),
            most: most.and_then(bound),
            is_integer: true,
        }
    }
}

/// Describes a value by its schema.
pub(crate) fn describe<'a>(shape: &'a Shape, defs: &'a List<Def>) -> Described<'a> {
    let any = Described { kind: Type::Any, nullable: true, domain: Domain::default() };
    let Some(target) = resolved(shape, defs) else { return any };
    let nullable = shape.nullable || target.nullable;
    let (kind, domain) = match &target.kind {
        Kind::Null => (Type::Null, Domain::default()),
        Kind::Boolean => (Type::Bool, Domain::default()),
        Kind::Integer(rules) => (Type::Int, Domain::of_numbers(rules, true)),
        Kind::Number(rules) => (Type::Double, Domain::of_numbers(rules, false)),
        Kind::String(_) => (Type::Text, Domain::default()),
        Kind::Enum(values) => return enumeration(values, nullable),
        Kind::Array(rules) => (Type::List(Item::Shape(&rules.items)), Domain::default()),
        Kind::Tuple(_) => (Type::List(Item::Type(Box::new(Type::Any))), Domain::default()),
        Kind::Object(rules) => (Type::Object(rules), Domain::default()),
        _ => return any,
    };
    Described { kind, nullable, domain }
}

fn enumeration<'a>(values: &[Literal], nullable: bool) -> Described<'a> {
    let nullable = nullable || values.contains(&Literal::Null);
    let values: Vec<&Literal> = values.iter().filter(|value| **value != Literal::Null).collect();
    let kind = if values.iter().all(|value| matches!(value, Literal::String(_))) {
        Type::Text
    } else if values.iter().all(|value| matches!(value, Literal::Number(Number::Int(_)))) {
        Type::Int
    } else if values.iter().all(|value| matches!(value, Literal::Number(_))) {
        Type::Double
    } else if values.iter().all(|value| matches!(value, Literal::Bool(_))) {
        Type::Bool
    } else {
        Type::Any
    };
    let constants: Option<Vec<Const>> = values.into_iter().map(Const::of).collect();
    let values = constants.filter(|_| matches!(kind, Type::Text | Type::Int | Type::Double));
    Described { kind, nullable, domain: Domain { values, ..Domain::default() } }
}

/// The sizes of the strings, lists or objects of a shape.
pub(crate) fn sizes(shape: &Shape, defs: &List<Def>) -> Domain {
    match resolved(shape, defs).map(|shape| &shape.kind) {
        Some(Kind::String(rules)) => Domain::of_sizes(rules.min_length, rules.max_length),
        Some(Kind::Array(rules)) => Domain::of_sizes(rules.min_items, rules.max_items),
        Some(Kind::Tuple(rules)) => Domain::of_sizes(rules.min_items, rules.max_items),
        _ => Domain::of_sizes(None, None),
    }
}

/// A member of an object.
#[derive(Clone, Debug)]
pub(crate) enum MemberOf<'a> {
    /// A field.
    Field {
        field: &'a Field,
        /// Whether it is always there.
        presence: Presence,
    },
    /// A member that the schema does not name, with its shape if there is one.
    Extra(Option<&'a Shape>),
    /// The object has no such member.
    Unknown,
}

/// Whether a field is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    Always,
    /// Its default is filled in, unless other rules of the object forbid that.
    Usually,
    Optional,
}

/// Returns whether calls contain a field: a part of arguments.
fn is_argument(field: &Field) -> bool {
    !matches!(field.access, Access::ReadOnly)
}

/// Finds a member of an object by the name that a model sees. Arguments of a tool have only their declared names.
pub(crate) fn member<'a>(
    rules: &'a ObjectRules,
    name: &str,
    defs: &'a List<Def>,
    is_root: bool,
) -> MemberOf<'a> {
    if let Some(field) = rules.fields.iter().find(|field| is_argument(field) && field.name == *name) {
        let default = field.shape.default.as_ref().map(Literal::to_json);
        let presence = match default {
            _ if field.required => Presence::Always,
            Some(value) if value.is_null() || fits(&value, &field.shape, defs) => {
                let is_free = rules.relations.is_empty()
                    && rules.patterns.is_empty()
                    && rules.max_properties.is_none()
                    && rules.min_properties.is_none();
                if is_free { Presence::Always } else { Presence::Usually }
            }
            _ => Presence::Optional,
        };
        return MemberOf::Field { field, presence };
    }
    match &rules.extra {
        Extra::Of(shape) => MemberOf::Extra(Some(shape)),
        _ if !rules.patterns.is_empty() => MemberOf::Extra(None),
        Extra::Open if !is_root => MemberOf::Extra(None),
        Extra::Open | Extra::Closed => MemberOf::Unknown,
    }
}

/// The names of the fields of an object.
pub(crate) fn names(rules: &ObjectRules) -> Vec<&str> {
    rules.fields.iter().filter(|field| is_argument(field)).map(|field| field.name.as_str()).collect()
}

/// Returns whether a tool has an argument, or its schema does not tell.
pub(crate) fn may_have_argument(spec: &ToolSpec, name: &str) -> bool {
    match arguments(spec) {
        Some((rules, true)) => !matches!(member(rules, name, &spec.defs, true), MemberOf::Unknown),
        _ => true,
    }
}

/// Returns the rules of a tool's arguments, and whether they are all that its schema says about the names.
pub(crate) fn arguments(spec: &ToolSpec) -> Option<(&ObjectRules, bool)> {
    let rules = object_in(&spec.input, &spec.defs)?;
    let is_plain =
        matches!(resolved(&spec.input, &spec.defs).map(|shape| &shape.kind), Some(Kind::Object(_)));
    Some((rules, is_plain))
}
