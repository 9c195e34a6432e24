//! Options, lists, sets, maps, tuples and pointers.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use super::{ArgumentProblem, Defs, Of, ToolInput, copy, problem, rules, within};
use crate::frozen::Frozen;
use crate::shape::{ArrayRules, Extra, Kind, ObjectRules, Shape, TupleRules};

impl<T: ToolInput> ToolInput for Option<T> {
    const SHAPE: Shape = copy::nullable(Of::<T>::SHAPE);
    const REQUIRED: bool = false;
    const BODY: Option<&'static Shape> = T::BODY;

    fn defs(defs: &mut Defs) {
        T::defs(defs);
    }

    fn decode(value: Value) -> Result<Self, ArgumentProblem> {
        if value.is_null() { Ok(None) } else { T::decode(value).map(Some) }
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

macro_rules! pointers {
    ($($pointer:ident)*) => {$(
        impl<T: ToolInput> ToolInput for $pointer<T> {
            const SHAPE: Shape = copy::copy(Of::<T>::SHAPE);
            const REQUIRED: bool = T::REQUIRED;
            const BODY: Option<&'static Shape> = T::BODY;

            fn defs(defs: &mut Defs) {
                T::defs(defs);
            }

            fn decode(value: Value) -> Result<Self, ArgumentProblem> {
                T::decode(value).map($pointer::new)
            }

            fn absent() -> Option<Self> {
                T::absent().map($pointer::new)
            }
        }
    )*};
}

pointers!(Box Arc Rc);

const fn list(items: &'static Shape, unique: bool, length: Option<u64>) -> Shape {
    rules::with_kind(Kind::Array(ArrayRules {
        items: Frozen::Static(items),
        min_items: length,
        max_items: length,
        unique,
    }))
}

/// The values of a list, each made into its type.
fn each<T: ToolInput, C: FromIterator<T>>(value: Value) -> Result<C, ArgumentProblem> {
    match value {
        Value::Array(items) => {
            let decoded = items
                .into_iter()
                .enumerate()
                .map(|(index, item)| T::decode(item).map_err(|problem| within(&index.to_string(), problem)));
            decoded.collect()
        }
        other => Err(problem("a list", &other)),
    }
}

macro_rules! lists {
    ($($type:ty, $unique:literal, [$($bound:tt)*];)*) => {$(
        impl<T: ToolInput $($bound)*> ToolInput for $type {
            const SHAPE: Shape = list(Of::<T>::SHAPE, $unique, None);
            const BODY: Option<&'static Shape> = T::BODY;

            fn defs(defs: &mut Defs) {
                T::defs(defs);
            }

            fn decode(value: Value) -> Result<Self, ArgumentProblem> {
                each(value)
            }
        }
    )*};
}

lists! {
    Vec<T>, false, [];
    VecDeque<T>, false, [];
    Box<[T]>, false, [];
    Arc<[T]>, false, [];
    BTreeSet<T>, true, [+ Ord];
}

impl<T: ToolInput + Eq + Hash, S: BuildHasher + Default> ToolInput for HashSet<T, S> {
    const SHAPE: Shape = list(Of::<T>::SHAPE, true, None);
    const BODY: Option<&'static Shape> = T::BODY;

    fn defs(defs: &mut Defs) {
        T::defs(defs);
    }

    fn decode(value: Value) -> Result<Self, ArgumentProblem> {
        each(value)
    }
}

impl<T: ToolInput, const N: usize> ToolInput for [T; N] {
    const SHAPE: Shape = list(Of::<T>::SHAPE, false, Some(N as u64));
    const BODY: Option<&'static Shape> = T::BODY;

    fn defs(defs: &mut Defs) {
        T::defs(defs);
    }

    fn decode(value: Value) -> Result<Self, ArgumentProblem> {
        let given = value.as_array().map_or(0, Vec::len);
        let items: Vec<T> = each(value)?;
        items.try_into().map_err(|_| problem(&format!("a list of {N} values"), &Value::from(given)))
    }
}

const fn map(values: &'static Shape) -> Shape {
    rules::with_kind(Kind::Object(ObjectRules {
        extra: Extra::Of(Frozen::Static(values)),
        ..ObjectRules::ANY
    }))
}

fn entries<T: ToolInput, C: FromIterator<(String, T)>>(value: Value) -> Result<C, ArgumentProblem> {
    match value {
        Value::Object(entries) => {
            let decoded = entries.into_iter().map(|(key, item)| match T::decode(item) {
                Ok(item) => Ok((key, item)),
                Err(problem) => Err(within(&key, problem)),
            });
            decoded.collect()
        }
        other => Err(problem("an object", &other)),
    }
}

impl<T: ToolInput> ToolInput for BTreeMap<String, T> {
    const SHAPE: Shape = map(Of::<T>::SHAPE);
    const BODY: Option<&'static Shape> = T::BODY;

    fn defs(defs: &mut Defs) {
        T::defs(defs);
    }

    fn decode(value: Value) -> Result<Self, ArgumentProblem> {
        entries(value)
    }
}

impl<T: ToolInput, S: BuildHasher + Default> ToolInput for HashMap<String, T, S> {
    const SHAPE: Shape = map(Of::<T>::SHAPE);
    const BODY: Option<&'static Shape> = T::BODY;

    fn defs(defs: &mut Defs) {
        T::defs(defs);
    }

    fn decode(value: Value) -> Result<Self, ArgumentProblem> {
        entries(value)
    }
}

macro_rules! tuples {
    ($($count:literal: $($part:ident)+;)*) => {$(
        impl<$($part: ToolInput),+> Of<($($part,)+)> {
            const ITEMS: &'static [Shape] = &[$(copy::copy(Of::<$part>::SHAPE)),+];
        }

        impl<$($part: ToolInput),+> ToolInput for ($($part,)+) {
            const SHAPE: Shape = rules::with_kind(Kind::Tuple(TupleRules {
                items: Frozen::Static(Of::<Self>::ITEMS),
                rest: Extra::Closed,
                min_items: Some($count),
                max_items: Some($count),
            }));

            fn defs(defs: &mut Defs) {
                $($part::defs(defs);)+
            }

            fn decode(value: Value) -> Result<Self, ArgumentProblem> {
                let expected = concat!("a list of ", $count, " values");
                let Value::Array(items) = value else { return Err(problem(expected, &value)) };
                if items.len() != $count {
                    return Err(problem(expected, &Value::Array(items)));
                }
                let mut items = items.into_iter().enumerate();
                let mut next = || items.next().map_or((0, Value::Null), |item| item);
                Ok(($({
                    let (index, item) = next();
                    $part::decode(item).map_err(|problem| within(&index.to_string(), problem))?
                },)+))
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
