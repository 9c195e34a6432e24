//! Support code of `#[derive(ToolInput)]`.

use std::borrow::Cow;

use serde_json::{Map, Value};
use toolgen_core::internal::{BorrowedValue, Entries, copy_extra, entry};

use super::const_copy::copy_field;
use super::rules::{named_field, with_kind};
use super::{
    ArgumentProblem, ArgumentProblemKind, ArgumentRules, Defs, StaticShape, ToolInput, missing, problem,
    refine,
};
use toolgen_kernel::base::const_text::{ConstText, same};
use toolgen_kernel::base::frozen::{Frozen, Text};
use toolgen_kernel::schema::shape::{
    Extra, Field, Kind, Literal, ObjectRules, Shape, TupleRules, UnionMode, UnionRules,
};

/// Returns a shape that allows only these values.
#[must_use]
pub const fn names(values: &'static [Literal]) -> Shape {
    with_kind(Kind::Enum(Frozen::Static(values)))
}

/// Returns a shape that allows only `null`.
#[must_use]
pub const fn null() -> Shape {
    with_kind(Kind::Null)
}

/// Returns the shape of a list of exactly these items.
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

/// Returns a union of these shapes.
#[must_use]
pub const fn union(variants: &'static [Shape]) -> Shape {
    with_kind(Kind::Union(UnionRules {
        mode: UnionMode::Any,
        variants: Frozen::Static(variants),
        discriminator: None,
    }))
}

/// Returns a required field.
#[must_use]
pub const fn member(name: &'static str, shape: Shape) -> Field {
    named_field(name, &[], true, shape)
}

/// The parts of a field's type that a derive uses. All uses refer to this type in the same way, so that rustc reports
/// an unsuitable type only once.
pub struct Member<T> {
    required: bool,
    shape: &'static Shape,
    defs: fn(&mut Defs),
    /// Decodes a value.
    pub make: fn(BorrowedValue<'_>) -> Result<T, ArgumentProblem>,
    missing: fn(&str) -> Result<T, ArgumentProblem>,
}

impl<T> Clone for Member<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Member<T> {}

impl<T> std::fmt::Debug for Member<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Member").finish_non_exhaustive()
    }
}

/// Returns the parts of a field's type that a derive uses.
#[must_use]
pub const fn of<T: ToolInput>() -> Member<T> {
    Member {
        required: T::REQUIRED,
        shape: StaticShape::<T>::SHAPE,
        defs: T::defs,
        make: T::decode_borrowed,
        missing: missing::<T>,
    }
}

/// Returns the function that collects the shapes that a type refers to.
#[must_use]
pub const fn defs_of<T>(member: Member<T>) -> fn(&mut Defs) {
    member.defs
}

/// Returns the shape of a type.
#[must_use]
pub const fn shape_of<T>(member: Member<T>) -> &'static Shape {
    member.shape
}

/// Returns the shape of a type's value, refined by attributes.
#[must_use]
pub const fn value<T>(member: Member<T>, rules: ArgumentRules) -> Shape {
    refine(member.shape, rules)
}

/// Returns an argument or a field: its type, refined by attributes.
#[must_use]
pub const fn field_of<T>(
    member: Member<T>,
    name: &'static str,
    aliases: &'static [Text],
    has_default: bool,
    rules: ArgumentRules,
) -> Field {
    named_field(name, aliases, member.required && !has_default, refine(member.shape, rules))
}

/// Returns the object rules of a type, by reference or inline.
const fn object_rules<T: ToolInput>() -> Option<&'static ObjectRules> {
    let shape = match (&StaticShape::<T>::SHAPE.kind, T::BODY) {
        (Kind::Ref(_), Some(body)) => body,
        _ => StaticShape::<T>::SHAPE,
    };
    match &shape.kind {
        Kind::Object(object) if !shape.nullable => Some(object),
        _ => None,
    }
}

/// Returns the fields of a flattened type.
///
/// # Panics
///
/// Panics if the type has no fields. In a constant, that is a compile error at the field.
#[track_caller]
#[must_use]
#[expect(clippy::panic, reason = "an invalid field is a compile error where it is written")]
pub const fn fields_of<T: ToolInput>() -> &'static [Field] {
    match object_rules::<T>() {
        Some(ObjectRules { fields: Frozen::Static(fields), .. }) => fields,
        _ => panic!(
            "only a struct or a map can be flattened into another type; to flatten an enum, derive \
             `schemars::JsonSchema` for the other type, and accept it with `#[arg(schemars)]`"
        ),
    }
}

/// Returns the extra fields that a flattened type allows.
#[must_use]
pub const fn extra<T: ToolInput>() -> Extra {
    match object_rules::<T>() {
        Some(object) => copy_extra(&object.extra),
        None => Extra::Closed,
    }
}

/// Returns the extra fields that several types allow together.
#[must_use]
pub const fn extra_of(extras: &[Extra]) -> Extra {
    let mut index = 0;
    while index < extras.len() {
        if !matches!(extras[index], Extra::Closed) {
            return copy_extra(&extras[index]);
        }
        index += 1;
    }
    Extra::Closed
}

/// Returns the total number of fields.
#[must_use]
pub const fn count(lists: &[&[Field]]) -> usize {
    let (mut sum, mut index) = (0, 0);
    while index < lists.len() {
        sum += lists[index].len();
        index += 1;
    }
    sum
}

/// Joins the lists of fields.
///
/// # Panics
///
/// Panics if two fields have the same name. In a constant, that is a compile error at the flattened field.
#[track_caller]
#[must_use]
pub const fn join<const N: usize>(lists: &[&[Field]]) -> [Field; N] {
    let mut fields = [const { Field::OPTIONAL }; N];
    let (mut next, mut list) = (0, 0);
    while list < lists.len() {
        let mut index = 0;
        while index < lists[list].len() {
            // A constant cannot drop anything; the replaced value owns nothing.
            core::mem::forget(core::mem::replace(&mut fields[next], copy_field(&lists[list][index])));
            next += 1;
            index += 1;
        }
        list += 1;
    }
    check_names(&fields);
    fields
}

/// Rejects fields that share a name or an alias.
#[track_caller]
#[expect(clippy::panic, reason = "fields with the same name are a compile error where they are joined")]
const fn check_names(fields: &[Field]) {
    let mut left = 0;
    while left < fields.len() {
        let mut right = left + 1;
        while right < fields.len() {
            if let Some(name) = shared_name(&fields[left], &fields[right]) {
                let message = ConstText::<300>::EMPTY.and("two fields are called `").and(name);
                panic!("{}", message.and("` in JSON, one of them in the flattened type").as_str());
            }
            right += 1;
        }
        left += 1;
    }
}

/// Returns a name that both fields accept.
const fn shared_name(left: &Field, right: &Field) -> Option<&'static str> {
    let (left_aliases, right_aliases) = (left.aliases.program(), right.aliases.program());
    let mut left_index = 0;
    while left_index <= left_aliases.len() {
        let name = if left_index == 0 { left.name.program() } else { left_aliases[left_index - 1].program() };
        let mut right_index = 0;
        while right_index <= right_aliases.len() {
            let other_name = if right_index == 0 {
                right.name.program()
            } else {
                right_aliases[right_index - 1].program()
            };
            if same(name, other_name) {
                return Some(name);
            }
            right_index += 1;
        }
        left_index += 1;
    }
    None
}

/// The fields of an object value.
#[derive(Debug)]
pub struct Fields<'t>(Entries<'t>);

impl<'t> Fields<'t> {
    /// Reads the fields of a value.
    pub fn new(value: BorrowedValue<'t>) -> Result<Fields<'t>, ArgumentProblem> {
        Entries::new(value).map(Fields).map_err(|other| problem("an object", &other))
    }

    /// Removes a field and decodes it.
    pub fn take<T>(&mut self, member: Member<T>, name: &str) -> Result<T, ArgumentProblem> {
        match self.0.take(name) {
            Some(value) => entry(name, (member.make)(value)),
            None => (member.missing)(name),
        }
    }

    /// Removes a field and decodes it, or returns its default.
    pub fn take_or<T>(
        &mut self,
        member: Member<T>,
        name: &str,
        default: impl FnOnce() -> T,
    ) -> Result<T, ArgumentProblem> {
        match self.0.take(name) {
            Some(value) => entry(name, (member.make)(value)),
            None => Ok(default()),
        }
    }

    /// Removes the fields of a flattened type and decodes them.
    pub fn flat<T: ToolInput>(&mut self) -> Result<T, ArgumentProblem> {
        let object = object_rules::<T>();
        let accepts_extra = object.is_none_or(|object| object.extra != Extra::Closed);
        if accepts_extra {
            return T::decode_borrowed(self.0.take_all());
        }
        let fields = object.map(|object| &*object.fields).unwrap_or_default();
        let entries = fields.iter().filter_map(|field| {
            let value = self.0.take(&field.name)?;
            Some((field.name.as_str().into(), value))
        });
        T::decode_borrowed(BorrowedValue::Object(entries.collect()))
    }

    /// Checks that no field remains.
    pub fn end(self) -> Result<(), ArgumentProblem> {
        match self.0.remaining_key() {
            None => Ok(()),
            Some(key) => {
                let problem = ArgumentProblem {
                    pointer: String::new(),
                    kind: ArgumentProblemKind::Unknown,
                    message: format!("unknown field `{key}`"),
                };
                Err(problem.within(key))
            }
        }
    }
}

/// The items of a tuple.
#[derive(Debug)]
pub struct Items<'t>(std::iter::Enumerate<std::vec::IntoIter<BorrowedValue<'t>>>);

impl<'t> Items<'t> {
    /// Reads a list of exactly `count` items.
    pub fn new(value: BorrowedValue<'t>, count: usize) -> Result<Items<'t>, ArgumentProblem> {
        let type_problem = |other: &Value| problem(&format!("an array of {count} items"), other);
        let items = value.into_list().map_err(|other| type_problem(&other))?;
        if items.len() == count {
            Ok(Items(items.into_iter().enumerate()))
        } else {
            Err(type_problem(&Value::Array(Vec::new())))
        }
    }

    /// Decodes the next item.
    pub fn next<T>(&mut self, member: Member<T>) -> Result<T, ArgumentProblem> {
        let (index, value) = self.0.next().unwrap_or((0, BorrowedValue::Null));
        (member.make)(value).map_err(|problem| problem.within(&index.to_string()))
    }
}

/// A variant name and its value.
type VariantName<'t> = (Cow<'t, str>, BorrowedValue<'t>);

/// Reads an externally tagged variant: `"Name"` or `{"Name": value}`.
pub fn external(value: BorrowedValue<'_>) -> Result<VariantName<'_>, ArgumentProblem> {
    let type_problem = |other: &Value| problem("one of the variants of the argument", other);
    if let BorrowedValue::Text(name) = value {
        return Ok((name, BorrowedValue::Null));
    }
    let mut entries = value.into_entries().map_err(|other| type_problem(&other))?;
    match (entries.pop(), entries.is_empty()) {
        (Some(only), true) => Ok(only),
        _ => Err(type_problem(&Value::Object(Map::new()))),
    }
}

/// Reads an internally tagged variant: `{"tag": "Name", …}`.
pub fn internal<'t>(value: BorrowedValue<'t>, tag: &str) -> Result<VariantName<'t>, ArgumentProblem> {
    let mut fields = Fields::new(value)?;
    let name = fields.take(of::<String>(), tag)?;
    Ok((name.into(), fields.0.take_all()))
}

/// Reads an adjacently tagged variant: `{"tag": "Name", "content": value}`.
pub fn adjacent<'t>(
    value: BorrowedValue<'t>,
    tag: &str,
    content: &str,
) -> Result<VariantName<'t>, ArgumentProblem> {
    let mut fields = Fields::new(value)?;
    let name = fields.take(of::<String>(), tag)?;
    let content = fields.0.take(content).unwrap_or(BorrowedValue::Null);
    fields.end()?;
    Ok((name.into(), content))
}

/// Returns the problem of an unknown variant name.
#[must_use]
pub fn no_variant(name: &str, expected: &[&str]) -> ArgumentProblem {
    let expected = expected.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    ArgumentProblem {
        pointer: String::new(),
        kind: ArgumentProblemKind::Value,
        message: format!("expected one of {expected}, got `{name}`"),
    }
}

/// Adds a key to the path of a result's problem.
pub fn placed<T>(result: Result<T, ArgumentProblem>, key: Option<&str>) -> Result<T, ArgumentProblem> {
    result.map_err(|problem| match key {
        Some(key) => problem.within(key),
        None => problem,
    })
}
