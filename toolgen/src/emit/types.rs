//! Argument and result types: shapes to Rust types.
//!
//! An own translation and not typify's, which is made for another job: it reads draft-07 schemas (ours keep
//! 2020-12's meaning), panics on enum values it cannot name and on references it does not expect, gives names that
//! clash after case folding, turns patterns and lengths into newtypes whose errors no model can read, and its output
//! costs rustc most of what progenitor's does. Arguments are checked by `decode` before a call in any case, so types
//! here carry structure and leave rules to the schema.
//!
//! What is translated how:
//!
//! * objects: structs; a field is an `Option` unless it is required, an `Option<Option<_>>` where `null` and absence
//!   differ. A required field with one possible text is written by itself and has no place in the struct;
//! * objects without known fields: `BTreeMap<String, _>`;
//! * lists of texts to choose from: enums. Those that occur in results have `Other`, so a new value breaks nobody;
//! * unions: enums where a value tells which variant it is (a discriminator, distinct JSON types, distinct required
//!   fields), else `serde_json::Value`;
//! * `allOf` of objects: one struct;
//! * what has no such form: `serde_json::Value`.
//!
//! Only what tools reach is written. Fields for one direction (`readOnly`, `writeOnly`) are left out of types that
//! serve only the other. Types that contain themselves are boxed; types that nest deeper than rustc follows are cut by
//! a `Link`.

mod depth;
mod doc;
mod lower;
mod print;
mod union;
mod usage;

use toolgen_runtime::{List, Tool};

use super::names::Names;

/// A Rust type.
#[derive(Clone, Debug, PartialEq)]
enum Ty {
    Bool,
    Int,
    Unsigned,
    Float,
    Text,
    /// `serde_json::Value`
    Value,
    Option(Box<Ty>),
    Vec(Box<Ty>),
    /// `BTreeMap<String, _>`
    Map(Box<Ty>),
    Tuple(Vec<Ty>),
    Item(usize, Wrap),
}

/// How a type stands in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrap {
    Plain,
    Box,
    Link,
}

/// A type with a name.
#[derive(Debug)]
struct Item {
    name: String,
    doc: String,
    body: Body,
    /// It is read from results.
    read: bool,
    /// A `Link` leads to it.
    linked: bool,
}

#[derive(Debug)]
enum Body {
    /// Not translated yet.
    Pending,
    Struct(Struct),
    /// Texts: variant and value.
    Enum(Vec<(String, String)>),
    Union(Union),
    /// Another name for a type.
    Alias(Ty),
}

#[derive(Debug, Default)]
struct Struct {
    fields: Vec<StructField>,
    /// Fields with one possible value: key, and the value as a Rust expression.
    constants: Vec<(String, String)>,
    /// What the fields nobody names hold.
    extra: Option<(String, Ty)>,
}

#[derive(Debug)]
struct StructField {
    name: String,
    /// The key in JSON.
    key: String,
    doc: String,
    presence: Presence,
    ty: Ty,
}

/// Whether a field is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    Required,
    /// Required, but may be `null`.
    Nullable,
    Optional,
    /// May be absent, and may be `null`, which is another thing.
    OptionalNullable,
}

#[derive(Debug)]
struct Union {
    variants: Vec<Variant>,
    choice: Choice,
}

#[derive(Debug)]
struct Variant {
    name: String,
    doc: String,
    ty: Ty,
}

/// How a value tells its variant.
#[derive(Debug)]
enum Choice {
    /// By a property: its name, and its value for each variant by index (several values may mean one).
    Tag(String, Vec<(String, usize)>),
    /// By the JSON type of the value: a pattern of `serde_json::Value` for each variant.
    Kind(Vec<&'static str>),
    /// The first that fits, in this order.
    First(Vec<usize>),
    /// It does not; the union only occurs in arguments.
    Never,
}

/// A tool whose types are wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    /// The name of its static.
    pub(super) ident: &'a str,
    /// What it does on the wire, for its documentation.
    pub(super) operation: &'a str,
    pub(super) tool: &'a Tool,
}

/// The module of types for these tools, and nothing if there are no tools.
pub(super) fn module(tools: &[Wanted<'_>], runtime: &str) -> String {
    if tools.is_empty() {
        return String::new();
    }
    let usage = usage::of(tools.iter().map(|wanted| &wanted.tool.spec));
    let defs = tools.first().map_or(List::EMPTY, |wanted| wanted.tool.spec.defs.clone());
    let mut lowering = lower::Lowering::new(&defs, &usage);
    let inputs: Vec<_> = tools.iter().map(|wanted| lowering.reserve_input(wanted)).collect();
    let calls: Vec<_> =
        tools.iter().zip(inputs).map(|(wanted, input)| lowering.tool(wanted, input)).collect();
    let mut items = lowering.finish();
    usage::mark_read(&mut items, calls.iter().map(|call| &call.output));
    depth::bound(&mut items);
    print::module(&items, &calls, runtime)
}

/// The types of a tool.
struct CallTypes<'a> {
    ident: &'a str,
    /// The index of the argument struct.
    input: usize,
    output: Ty,
}

/// A scope for names of types: what generated code imports is taken.
fn type_names() -> Names {
    Names::of_types(&[
        "BTreeMap",
        "Box",
        "Clone",
        "Debug",
        "Default",
        "Err",
        "Fields",
        "FromJson",
        "JsonError",
        "Link",
        "Readers",
        "None",
        "Ok",
        "Option",
        "PartialEq",
        "Result",
        "Self",
        "Some",
        "String",
        "ToJson",
        "Tool",
        "TypedTool",
        "Value",
        "Vec",
    ])
}

impl Ty {
    /// The named types in it, in order; `true` for those behind a `Vec` or a map, which are pointers already.
    fn for_each_item<'t>(&'t mut self, behind: bool, visit: &mut dyn FnMut(bool, usize, &'t mut Wrap)) {
        match self {
            Ty::Item(index, wrap) => visit(behind, *index, wrap),
            Ty::Option(inner) => inner.for_each_item(behind, visit),
            Ty::Vec(inner) | Ty::Map(inner) => inner.for_each_item(true, visit),
            Ty::Tuple(items) => items.iter_mut().for_each(|item| item.for_each_item(behind, visit)),
            Ty::Bool | Ty::Int | Ty::Unsigned | Ty::Float | Ty::Text | Ty::Value => {}
        }
    }

    /// `Option<…>`, once.
    fn optional(self) -> Ty {
        match self {
            Ty::Option(_) => self,
            // `null` is a value already.
            Ty::Value => Ty::Value,
            other => Ty::Option(Box::new(other)),
        }
    }
}

impl Body {
    /// The types it is made of.
    fn types_mut(&mut self) -> Vec<&mut Ty> {
        match self {
            Body::Pending | Body::Enum(_) => Vec::new(),
            Body::Struct(body) => {
                let extra = body.extra.iter_mut().map(|(_, ty)| ty);
                body.fields.iter_mut().map(|field| &mut field.ty).chain(extra).collect()
            }
            Body::Union(body) => body.variants.iter_mut().map(|variant| &mut variant.ty).collect(),
            Body::Alias(ty) => vec![ty],
        }
    }
}
