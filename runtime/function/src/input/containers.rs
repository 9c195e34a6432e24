//! Options, lists, sets, maps, tuples and pointers.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use super::derive::{Items, of};
use super::{ArgumentProblem, BorrowedValue, Defs, StaticShape, ToolInput, const_copy, problem, rules};
use toolgen_kernel::base::frozen::Frozen;
use toolgen_kernel::schema::shape::{ArrayRules, Extra, Kind, ObjectRules, Shape, TupleRules};

#[diagnostic::do_not_recommend]
impl<T: ToolInput> ToolInput for Option<T> {
    const SHAPE: Shape = const_copy::copy_nullable(StaticShape::<T>::SHAPE);
    const REQUIRED: bool = false;
    const BODY: Option<&'static Shape> = T::BODY;

    fn defs(defs: &mut Defs) {
        T::defs(defs);
    }

    fn decode(value: Value) -> Result<Self, ArgumentProblem> {
        Self::decode_borrowed(value.into())
    }

    fn decode_borrowed(value: BorrowedValue<'_>) -> Result<Self, ArgumentProblem> {
        if value == BorrowedValue::Null { Ok(None) } else { T::decode_borrowed(value).map(Some) }
    }

    fn absent() -> Option<Self> {
        Some(None)
    }

    fn default_json(&self) -> Option<Value> {
        self.as_ref().map_or(Some(Value::Null), T::default_json)
    }
}

macro_rules! pointers {
    ($($pointer:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: ToolInput> ToolInput for $pointer<T> {
            const SHAPE: Shape = const_copy::copy(StaticShape::<T>::SHAPE);
            const REQUIRED: bool = T::REQUIRED;
            const BODY: Option<&'static Shape> = T::BODY;

            fn defs(defs: &mut Defs) {
                T::defs(defs);
            }

            fn decode(value: Value) -> Result<Self, ArgumentProblem> {
                T::decode(value).map($pointer::new)
            }

            fn decode_borrowed(value: BorrowedValue<'_>) -> Result<Self, ArgumentProblem> {
                T::decode_borrowed(value).map($pointer::new)
            }

            fn absent() -> Option<Self> {
                T::absent().map($pointer::new)
            }
        }
    )*};
}

pointers!(Box Arc Rc);

const fn list_shape(items: &'static Shape, unique: bool, length: Option<u64>) -> Shape {
    rules::with_kind(Kind::Array(ArrayRules {
        items: Frozen::Static(items),
        min_items: length,
        max_items: length,
        unique,
    }))
}

/// Decodes the values of a list.
fn decode_list<T: ToolInput, C: FromIterator<T>>(value: BorrowedValue<'_>) -> Result<C, ArgumentProblem> {
    let items = value.into_list().map_err(|other| problem("an array", &other))?;
    let mut problem = None;
    let values =
        UntilError { items: items.into_iter().enumerate(), problem: &mut problem, marker: PhantomData };
    let collected = values.collect();
    problem.map_or(Ok(collected), Err)
}

/// Iterates over values up to the first problem. Unlike an iterator of `Result`, it knows the number of values, so
/// that memory for all can be reserved.
struct UntilError<'p, 't, T> {
    items: std::iter::Enumerate<std::vec::IntoIter<BorrowedValue<'t>>>,
    problem: &'p mut Option<ArgumentProblem>,
    marker: PhantomData<T>,
}

impl<T: ToolInput> Iterator for UntilError<'_, '_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let (index, item) = self.items.next().filter(|_| self.problem.is_none())?;
        match T::decode_borrowed(item) {
            Ok(value) => Some(value),
            Err(problem) => {
                *self.problem = Some(problem.within(&index.to_string()));
                None
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }
}

/// Decodes a list of exactly `N` values.
fn decode_array<T: ToolInput, const N: usize>(value: BorrowedValue<'_>) -> Result<[T; N], ArgumentProblem> {
    let items: Vec<T> = decode_list(value)?;
    let count = items.len();
    items.try_into().map_err(|_| problem(&format!("an array of {N} items"), &Value::from(count)))
}

const fn map_shape(values: &'static Shape) -> Shape {
    rules::with_kind(Kind::Object(ObjectRules {
        extra: Extra::Of(Frozen::Static(values)),
        ..ObjectRules::ANY
    }))
}

/// Decodes the values of a map.
fn decode_map<T: ToolInput, C: FromIterator<(String, T)>>(
    value: BorrowedValue<'_>,
) -> Result<C, ArgumentProblem> {
    let entries = value.into_entries().map_err(|other| problem("an object", &other))?;
    let decoded = entries.into_iter().map(|(key, item)| match T::decode_borrowed(item) {
        Ok(item) => Ok((key.into_owned(), item)),
        Err(problem) => Err(problem.within(&key)),
    });
    decoded.collect()
}

macro_rules! containers {
    ($($type:ty, [$($generics:tt)*], [$($bounds:tt)*], $shape:expr, $decode:ident;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: ToolInput, $($generics)*> ToolInput for $type
        where
            $($bounds)*
        {
            const SHAPE: Shape = $shape;
            const BODY: Option<&'static Shape> = T::BODY;

            fn defs(defs: &mut Defs) {
                T::defs(defs);
            }

            fn decode(value: Value) -> Result<Self, ArgumentProblem> {
                $decode(value.into())
            }

            fn decode_borrowed(value: BorrowedValue<'_>) -> Result<Self, ArgumentProblem> {
                $decode(value)
            }
        }
    )*};
}

containers! {
    Vec<T>, [], [], list_shape(StaticShape::<T>::SHAPE, false, None), decode_list;
    VecDeque<T>, [], [], list_shape(StaticShape::<T>::SHAPE, false, None), decode_list;
    Box<[T]>, [], [], list_shape(StaticShape::<T>::SHAPE, false, None), decode_list;
    Arc<[T]>, [], [], list_shape(StaticShape::<T>::SHAPE, false, None), decode_list;
    BTreeSet<T>, [], [T: Ord], list_shape(StaticShape::<T>::SHAPE, true, None), decode_list;
    HashSet<T, S>, [S: BuildHasher + Default], [T: Eq + Hash],
        list_shape(StaticShape::<T>::SHAPE, true, None), decode_list;
    [T; N], [const N: usize], [], list_shape(StaticShape::<T>::SHAPE, false, Some(N as u64)), decode_array;
    BTreeMap<String, T>, [], [], map_shape(StaticShape::<T>::SHAPE), decode_map;
    HashMap<String, T, S>, [S: BuildHasher + Default], [], map_shape(StaticShape::<T>::SHAPE), decode_map;
}

macro_rules! tuples {
    ($($count:literal: $($part:ident)+;)*) => {$(
        impl<$($part: ToolInput),+> StaticShape<($($part,)+)> {
            const ITEMS: &'static [Shape] = &[$(const_copy::copy(StaticShape::<$part>::SHAPE)),+];
        }

        #[diagnostic::do_not_recommend]
        impl<$($part: ToolInput),+> ToolInput for ($($part,)+) {
            const SHAPE: Shape = rules::with_kind(Kind::Tuple(TupleRules {
                items: Frozen::Static(StaticShape::<Self>::ITEMS),
                rest: Extra::Closed,
                min_items: Some($count),
                max_items: Some($count),
            }));

            fn defs(defs: &mut Defs) {
                $($part::defs(defs);)+
            }

            fn decode(value: Value) -> Result<Self, ArgumentProblem> {
                Self::decode_borrowed(value.into())
            }

            fn decode_borrowed(value: BorrowedValue<'_>) -> Result<Self, ArgumentProblem> {
                let mut items = Items::new(value, $count)?;
                Ok(($(items.next(of::<$part>())?,)+))
            }
        }
    )*};
}

tuples! {
    1: A;
    2: A B;
    3: A B C;
    4: A B C D;
    5: A B C D E;
    6: A B C D E F;
}
