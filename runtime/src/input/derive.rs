//! What `#[derive(ToolInput)]` is written with.

use serde_json::{Map, Value};

use super::copy::{copy_extra, copy_field};
use super::rules::with_kind;
use super::{ArgumentProblem, ArgumentProblemKind, Of, Rules, ToolInput, missing, problem, refine, within};
use crate::frozen::{Frozen, Text};
use crate::shape::{
    Access, Extra, Field, Kind, Literal, ObjectRules, Shape, TupleRules, UnionMode, UnionRules,
};

/// Only these values.
#[must_use]
pub const fn names(values: &'static [Literal]) -> Shape {
    with_kind(Kind::Enum(Frozen::Static(values)))
}

/// Only `null`.
#[must_use]
pub const fn null() -> Shape {
    with_kind(Kind::Null)
}

/// A list of exactly these.
#[must_use]
pub const fn tuple(items: &'static [Shape]) -> Shape {
    let count = Some(items.len() as u64);
    with_kind(Kind::Tuple(TupleRules {
        items: Frozen::Static(items),
        rest: Extra::Closed,
        min_items: count,
        max_items: count,
    }))
}

/// One of these.
#[must_use]
pub const fn union(variants: &'static [Shape]) -> Shape {
    with_kind(Kind::Union(UnionRules {
        mode: UnionMode::Any,
        variants: Frozen::Static(variants),
        discriminator: None,
    }))
}

/// A field that must be given.
#[must_use]
pub const fn member(name: &'static str, shape: Shape) -> Field {
    Field {
        name: Frozen::Static(name),
        wire: Text::EMPTY,
        aliases: crate::List::EMPTY,
        required: true,
        access: Access::Both,
        shape,
    }
}

/// The shape of a value of a type, with what attributes say.
#[track_caller]
#[must_use]
pub const fn value<T: ToolInput>(rules: Rules) -> Shape {
    refine(Of::<T>::SHAPE, rules)
}

/// The object a type is, by reference or in place.
const fn object_of<T: ToolInput>() -> Option<&'static ObjectRules> {
    let shape = match (&Of::<T>::SHAPE.kind, T::BODY) {
        (Kind::Ref(_), Some(body)) => body,
        _ => Of::<T>::SHAPE,
    };
    match &shape.kind {
        Kind::Object(object) if !shape.nullable => Some(object),
        _ => None,
    }
}

/// The fields of a type whose fields become those of another.
///
/// # Panics
///
/// If it has none; in a constant that is a compile error at the field.
#[track_caller]
#[must_use]
#[expect(clippy::panic, reason = "a wrong field is a compile error where it is written")]
pub const fn fields_of<T: ToolInput>() -> &'static [Field] {
    match object_of::<T>() {
        Some(ObjectRules { fields: Frozen::Static(fields), .. }) => fields,
        _ => panic!(
            "only the fields of a struct or the entries of a map can stand among the fields of another type"
        ),
    }
}

/// What a type whose fields become those of another allows beside them.
#[must_use]
pub const fn extra<T: ToolInput>() -> Extra {
    match object_of::<T>() {
        Some(object) => copy_extra(&object.extra),
        None => Extra::Closed,
    }
}

/// What several allow together.
#[must_use]
pub const fn extra_of(all: &[Extra]) -> Extra {
    let mut index = 0;
    while index < all.len() {
        if !matches!(all[index], Extra::Closed) {
            return copy_extra(&all[index]);
        }
        index += 1;
    }
    Extra::Closed
}

/// How many fields there are.
#[must_use]
pub const fn count(lists: &[&[Field]]) -> usize {
    let (mut sum, mut index) = (0, 0);
    while index < lists.len() {
        sum += lists[index].len();
        index += 1;
    }
    sum
}

/// One list of all fields.
#[must_use]
pub const fn join<const N: usize>(lists: &[&[Field]]) -> [Field; N] {
    let mut all = [const { Field::OPTIONAL }; N];
    let (mut at, mut list) = (0, 0);
    while list < lists.len() {
        let mut index = 0;
        while index < lists[list].len() {
            // Nothing may be dropped in a constant; what is replaced owns nothing.
            core::mem::forget(core::mem::replace(&mut all[at], copy_field(&lists[list][index])));
            at += 1;
            index += 1;
        }
        list += 1;
    }
    all
}

/// The fields of an object.
#[derive(Debug)]
pub struct Fields(Map<String, Value>);

impl Fields {
    /// The fields of a value.
    pub fn new(value: Value) -> Result<Fields, ArgumentProblem> {
        match value {
            Value::Object(map) => Ok(Fields(map)),
            other => Err(problem("an object", &other)),
        }
    }

    /// Takes a field out.
    pub fn take<T: ToolInput>(&mut self, name: &str) -> Result<T, ArgumentProblem> {
        match self.0.swap_remove(name) {
            Some(value) => T::decode(value).map_err(|problem| within(name, problem)),
            None => missing(name),
        }
    }

    /// Takes a field out, or what stands for it.
    pub fn take_or<T: ToolInput>(
        &mut self,
        name: &str,
        default: impl FnOnce() -> T,
    ) -> Result<T, ArgumentProblem> {
        if self.0.contains_key(name) { self.take(name) } else { Ok(default()) }
    }

    /// Takes the fields of another type out.
    pub fn flat<T: ToolInput>(&mut self) -> Result<T, ArgumentProblem> {
        let object = object_of::<T>();
        let rest = object.is_none_or(|object| object.extra != Extra::Closed);
        let taken = if rest {
            std::mem::take(&mut self.0)
        } else {
            let fields = object.map(|object| &*object.fields).unwrap_or_default();
            let taken = fields.iter().filter_map(|field| self.0.swap_remove_entry(field.name.as_str()));
            taken.collect()
        };
        T::decode(Value::Object(taken))
    }

    /// Nothing is left.
    pub fn end(self) -> Result<(), ArgumentProblem> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(key) => {
                let problem = ArgumentProblem {
                    pointer: String::new(),
                    kind: ArgumentProblemKind::Unknown,
                    message: format!("unknown field `{key}`"),
                };
                Err(within(key, problem))
            }
        }
    }
}

/// The values of a list of several types.
#[derive(Debug)]
pub struct Items(std::iter::Enumerate<std::vec::IntoIter<Value>>);

impl Items {
    /// The values of a list of so many.
    pub fn new(value: Value, count: usize) -> Result<Items, ArgumentProblem> {
        match value {
            Value::Array(items) if items.len() == count => Ok(Items(items.into_iter().enumerate())),
            other => Err(problem(&format!("a list of {count} values"), &other)),
        }
    }

    /// Takes the next.
    #[expect(clippy::should_implement_trait, reason = "each has a type of its own")]
    pub fn next<T: ToolInput>(&mut self) -> Result<T, ArgumentProblem> {
        let (index, value) = self.0.next().unwrap_or_default();
        T::decode(value).map_err(|problem| within(&index.to_string(), problem))
    }
}

/// `"Name"` or `{"Name": value}`
pub fn external(value: Value) -> Result<(String, Value), ArgumentProblem> {
    match value {
        Value::String(name) => Ok((name, Value::Null)),
        Value::Object(map) if map.len() == 1 => {
            map.into_iter().next().ok_or_else(|| problem("one of the forms of the argument", &Value::Null))
        }
        other => Err(problem("one of the forms of the argument", &other)),
    }
}

/// `{"tag": "Name", …}`
pub fn internal(value: Value, tag: &str) -> Result<(String, Value), ArgumentProblem> {
    let mut fields = Fields::new(value)?;
    let name = fields.take::<String>(tag)?;
    Ok((name, Value::Object(fields.0)))
}

/// `{"tag": "Name", "content": value}`
pub fn adjacent(value: Value, tag: &str, content: &str) -> Result<(String, Value), ArgumentProblem> {
    let mut fields = Fields::new(value)?;
    let name = fields.take::<String>(tag)?;
    let value = fields.0.swap_remove(content).unwrap_or_default();
    fields.end()?;
    Ok((name, value))
}

/// There is no variant of this name.
#[must_use]
pub fn no_variant(name: &str, known: &[&str]) -> ArgumentProblem {
    let known = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    ArgumentProblem {
        pointer: String::new(),
        kind: ArgumentProblemKind::Value,
        message: format!("expected one of {known}, got `{name}`"),
    }
}

/// A result, with its problem placed under a key.
pub fn placed<T>(made: Result<T, ArgumentProblem>, key: Option<&str>) -> Result<T, ArgumentProblem> {
    made.map_err(|problem| match key {
        Some(key) => within(key, problem),
        None => problem,
    })
}
