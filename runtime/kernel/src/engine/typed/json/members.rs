//! Reads the members of an object as one tuple.
//!
//! Generated code reads a struct with one call, whose types are inferred from the struct. This costs the compiler
//! half as much as a call for each field.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{FromJson, JsonError};

/// The members of an object that have not been read yet.
#[derive(Debug)]
pub struct Source<'n> {
    map: Map<String, Value>,
    names: std::slice::Iter<'n, &'static str>,
}

impl Source<'_> {
    fn next<T: FromJson>(&mut self) -> Result<T, JsonError> {
        let name = self.names.next().copied().unwrap_or_default();
        match self.map.swap_remove(name) {
            Some(value) => T::from_json(value).map_err(|error| error.at(name)),
            None => T::missing().ok_or_else(|| JsonError::new("a required field is missing").at(name)),
        }
    }
}

/// A tuple of values, one for each member.
pub trait Members: Sized {
    /// Reads the next members.
    ///
    /// # Errors
    ///
    /// Returns the error of the first member whose value does not match, or that is missing and required.
    fn read(source: &mut Source<'_>) -> Result<Self, JsonError>;
}

/// The concatenation of two tuples: tuples have a maximum length.
#[derive(Debug)]
pub struct And<A, B>(pub A, pub B);

impl<A: Members, B: Members> Members for And<A, B> {
    fn read(source: &mut Source<'_>) -> Result<Self, JsonError> {
        Ok(And(A::read(source)?, B::read(source)?))
    }
}

macro_rules! members {
    ($($type:ident)*) => {
        impl<$($type: FromJson),*> Members for ($($type,)*) {
            fn read(source: &mut Source<'_>) -> Result<Self, JsonError> {
                // The elements of a tuple are evaluated in order.
                Ok(($(source.next::<$type>()?,)*))
            }
        }
    };
}

members!(A);
members!(A B);
members!(A B C);
members!(A B C D);
members!(A B C D E);
members!(A B C D E F);
members!(A B C D E F G);
members!(A B C D E F G H);

impl Members for () {
    fn read(_: &mut Source<'_>) -> Result<Self, JsonError> {
        Ok(())
    }
}

/// Reads the members with these names. Other members are ignored.
///
/// # Errors
///
/// Returns an error if the value is not an object, or a member does not match.
pub fn read<T: Members>(value: Value, names: &[&'static str]) -> Result<T, JsonError> {
    T::read(&mut source(value, names)?)
}

/// Like [`read`], but also returns all other members.
///
/// # Errors
///
/// The errors of [`read`].
pub fn read_all<T: Members, E: FromJson>(
    value: Value,
    names: &[&'static str],
) -> Result<(T, BTreeMap<String, E>), JsonError> {
    let mut source = source(value, names)?;
    let named = T::read(&mut source)?;
    Ok((named, BTreeMap::from_json(Value::Object(source.map))?))
}

fn source<'n>(value: Value, names: &'n [&'static str]) -> Result<Source<'n>, JsonError> {
    match value {
        Value::Object(map) => Ok(Source { map, names: names.iter() }),
        other => Err(JsonError::expected("an object", &other)),
    }
}
