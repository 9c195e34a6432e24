//! Rust types as data, between shapes and source text.

use toolgen_core::{Shape, ToolSpec};

use crate::tool::Success;

/// A Rust type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Ty {
    Bool,
    /// `i32`
    Short,
    Int,
    Unsigned,
    Float,
    Text,
    /// `()`
    Unit,
    /// The type that a crate has for strings of a format, as a path.
    Known(&'static str),
    /// `serde_json::Value`
    Value,
    Option(Box<Ty>),
    Vec(Box<Ty>),
    /// `BTreeMap<_, _>`
    Map {
        key: Box<Ty>,
        value: Box<Ty>,
    },
    Tuple(Vec<Ty>),
    Item(usize, Wrap),
}

/// How a type is contained in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Wrap {
    Plain,
    Box,
    Link,
}

/// A type with a name.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) name: String,
    /// Its first name, which the names of its parts are derived from.
    pub(super) first_name: String,
    /// Whether the name suits all locations of the type, instead of being the name of one of them.
    pub(super) fits_all: bool,
    pub(super) doc: String,
    pub(super) origin: Origin,
    pub(super) body: Body,
    /// The type whose translation it is a part of, if any.
    pub(super) owner: Option<usize>,
    /// The unnamed locations of the document that have this type.
    pub(super) uses: Vec<Use>,
    /// The index of the tag whose module contains it.
    pub(super) tag_index: Option<usize>,
    /// Whether it is part of results, which may contain more than the document declares.
    pub(super) is_open: bool,
    /// Whether programs construct its values: it is part of arguments, or of the results of functions.
    pub(super) is_constructed: bool,
    /// Whether a `Link` refers to it.
    pub(super) is_linked: bool,
    /// Whether it has total equality, and so can be a key.
    pub(super) is_key: bool,
    /// Whether it is the key of a map, and so needs an order.
    pub(super) is_sorted: bool,
}

impl Item {
    /// Creates an item whose body is set later.
    pub(super) fn new(name: String, doc: String, origin: Origin, owner: Option<usize>) -> Item {
        Item {
            first_name: name.clone(),
            fits_all: origin == Origin::Title,
            name,
            doc,
            origin,
            body: Body::Pending,
            owner,
            uses: Vec::new(),
            tag_index: None,
            is_open: false,
            is_constructed: false,
            is_linked: false,
            is_key: false,
            is_sorted: false,
        }
    }
}

/// A location of the document that has a type.
#[derive(Clone, Debug)]
pub(super) struct Use {
    /// The type whose translation the location is a part of.
    pub(super) owner: Option<usize>,
    /// The key in the enclosing object.
    pub(super) key: String,
    /// The name that a type gets at this location.
    pub(super) name: String,
    /// The documentation of a type without a description in the document.
    pub(super) fallback_doc: String,
}

/// The source of a type's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A tool: the type is its arguments.
    Tool,
    /// A name of the document.
    Document,
    /// The title of a schema without a name.
    Title,
    /// The location where the document uses it, possibly with a number.
    Location { numbered: bool },
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) enum Body {
    /// Not translated yet, or not needed.
    Pending,
    Struct(Struct),
    /// Enumerated strings.
    Enum(Vec<Listed<String>>),
    /// Integers with names in the document.
    Numbers(Vec<Listed<i64>>),
    Union(Union),
    /// An alias of a type.
    Alias(Ty),
}

/// An enumerated value, as a variant.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Listed<V> {
    pub(super) name: String,
    pub(super) value: V,
    pub(super) doc: String,
}

#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Struct {
    pub(super) fields: Vec<StructField>,
    /// Fields with one possible value: key, and the value as a Rust expression.
    pub(super) constants: Vec<(String, String)>,
    /// The content of additional fields.
    pub(super) extra: Option<(String, Ty)>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct StructField {
    pub(super) name: String,
    /// The key in JSON.
    pub(super) key: String,
    pub(super) doc: String,
    pub(super) presence: Presence,
    pub(super) ty: Ty,
}

/// Whether a field is present.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Presence {
    Required,
    /// Required, but may be `null`.
    Nullable,
    Optional,
    /// May be absent, and may be `null`, which is different.
    OptionalNullable,
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Union {
    pub(super) variants: Vec<Variant>,
    pub(super) choice: Choice,
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Variant {
    pub(super) name: String,
    pub(super) doc: String,
    pub(super) ty: Ty,
}

/// How a value identifies its variant.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) enum Choice {
    /// By a property: its name, its value for each variant by index (several values may select one), and the variant
    /// of any other or missing value.
    Tag { property: String, values: Vec<(String, usize)>, by_default: Option<usize> },
    /// By the JSON type of the value: a pattern of `serde_json::Value` for each variant.
    Kind(Vec<&'static str>),
    /// Not at all: the variant that keeps most of the value is chosen.
    Best,
}

/// A tool whose types are generated.
#[derive(Clone, Copy, Debug)]
pub(in crate::emit) struct TypeRequest<'a> {
    /// The name of its static.
    pub(in crate::emit) ident: &'a str,
    /// The index of the tag whose module contains it.
    pub(in crate::emit) tag_index: Option<usize>,
    /// Its operation on the wire, for its documentation.
    pub(in crate::emit) operation: &'a str,
    /// The specification.
    pub(in crate::emit) spec: &'a ToolSpec,
    /// The content of unsuccessful responses.
    pub(in crate::emit) failure: Option<&'a Shape>,
    /// The properties of successful responses other than the result.
    pub(in crate::emit) success: &'a Success,
    /// The pointer to the list in the result whose items are read one by one, if any.
    pub(in crate::emit) items: Option<&'a str>,
    /// Whether the tool is a function of the program.
    pub(in crate::emit) is_function: bool,
}

/// The types of a tool.
pub(super) struct CallTypes<'a> {
    pub(super) ident: &'a str,
    /// The index of the tag whose module contains the tool.
    pub(super) tag_index: Option<usize>,
    /// The index of the argument struct.
    pub(super) input: usize,
    pub(super) output: Ty,
    /// The content of unsuccessful responses.
    pub(super) failure: Option<Ty>,
    /// An item of the list that is read one by one.
    pub(super) item: Option<Ty>,
    /// The headers of successful responses.
    pub(super) headers: Option<Ty>,
    /// Whether the tool is a function of the program.
    pub(super) is_function: bool,
}

impl StructField {
    /// Whether the field may be absent.
    pub(super) fn is_optional(&self) -> bool {
        matches!(self.presence, Presence::Optional | Presence::OptionalNullable)
    }
}

impl Ty {
    /// Visits the named types in it, in order; `true` for those in a `Vec` or a map, which are already behind a
    /// pointer.
    pub(super) fn for_each_item<'t>(
        &'t mut self,
        is_indirect: bool,
        visit: &mut dyn FnMut(bool, usize, &'t mut Wrap),
    ) {
        match self {
            Ty::Item(index, wrap) => visit(is_indirect, *index, wrap),
            Ty::Option(inner) => inner.for_each_item(is_indirect, visit),
            Ty::Vec(inner) => inner.for_each_item(true, visit),
            Ty::Map { key, value } => {
                key.for_each_item(true, visit);
                value.for_each_item(true, visit);
            }
            Ty::Tuple(items) => items.iter_mut().for_each(|item| item.for_each_item(is_indirect, visit)),
            Ty::Bool
            | Ty::Short
            | Ty::Int
            | Ty::Unsigned
            | Ty::Float
            | Ty::Text
            | Ty::Unit
            | Ty::Known(_)
            | Ty::Value => {}
        }
    }

    /// Visits the types of the keys in it.
    pub(super) fn for_each_key(&mut self, visit: &mut dyn FnMut(&mut Ty)) {
        match self {
            Ty::Option(inner) | Ty::Vec(inner) => inner.for_each_key(visit),
            Ty::Map { key, value } => {
                visit(key);
                value.for_each_key(visit);
            }
            Ty::Tuple(items) => items.iter_mut().for_each(|item| item.for_each_key(visit)),
            _ => {}
        }
    }

    /// Whether the type itself, ignoring the named types in it, has total equality.
    pub(super) fn is_key(&self) -> bool {
        match self {
            Ty::Float | Ty::Value | Ty::Item(_, Wrap::Link) => false,
            Ty::Option(inner) | Ty::Vec(inner) => inner.is_key(),
            Ty::Map { key, value } => key.is_key() && value.is_key(),
            Ty::Tuple(items) => items.iter().all(Ty::is_key),
            Ty::Bool
            | Ty::Short
            | Ty::Int
            | Ty::Unsigned
            | Ty::Text
            | Ty::Unit
            | Ty::Known(_)
            | Ty::Item(..) => true,
        }
    }

    /// Wraps the type in `Option<…>`, once.
    pub(super) fn optional(self) -> Ty {
        match self {
            Ty::Option(_) => self,
            // The type already includes `null`.
            Ty::Value => Ty::Value,
            other => Ty::Option(Box::new(other)),
        }
    }
}

impl Body {
    /// Returns the types it consists of.
    pub(super) fn types_mut(&mut self) -> Vec<&mut Ty> {
        match self {
            Body::Pending | Body::Enum(_) | Body::Numbers(_) => Vec::new(),
            Body::Struct(body) => {
                let extra = body.extra.iter_mut().map(|(_, ty)| ty);
                body.fields.iter_mut().map(|field| &mut field.ty).chain(extra).collect()
            }
            Body::Union(body) => body.variants.iter_mut().map(|variant| &mut variant.ty).collect(),
            Body::Alias(ty) => vec![ty],
        }
    }
}
