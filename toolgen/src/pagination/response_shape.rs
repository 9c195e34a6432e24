//! The shape of a response: the location of its list, and its fields about pagination.

use toolgen_core::schema::shape::{Def, Field, Kind, find_def};
use toolgen_core::{List, Shape};

use super::names::{self, rank};

/// Maximum depth at which fields are searched.
const MAX_DEPTH: usize = 3;

/// The shape of a response.
pub(super) struct ResponseShape<'a> {
    defs: &'a List<Def>,
    /// The pointer to the list.
    pub(super) items: String,
    /// The shape of an item.
    pub(super) item: &'a Shape,
    /// The fields about pagination, by their pointers.
    page_fields: Vec<(String, &'a Field)>,
}

impl<'a> ResponseShape<'a> {
    /// Reads the shape of a response; `None` if it has no list, or several candidates.
    pub(super) fn read(shape: &'a Shape, defs: &'a List<Def>) -> Option<ResponseShape<'a>> {
        let mut page_fields = Vec::new();
        collect_page_fields(shape, defs, "", MAX_DEPTH, &mut page_fields);
        let (items, item) = find_list(shape, defs, 2)?;
        Some(ResponseShape { defs, items, item, page_fields })
    }

    /// Returns the pointer to the field with the most specific of these names that `accepts` accepts.
    pub(super) fn find(&self, names: &[&str], accepts: impl Fn(&str, &Shape) -> bool) -> Option<String> {
        let accepted = self.page_fields.iter().filter(|(pointer, field)| {
            resolved(&field.shape, self.defs).is_some_and(|shape| accepts(pointer, shape))
        });
        let ranked = accepted.filter_map(|(pointer, field)| Some((rank(names, key(field))?, pointer)));
        ranked
            .min_by_key(|(rank, pointer)| (*rank, pointer.matches('/').count()))
            .map(|(_, pointer)| pointer.clone())
    }

    /// Whether an item is an object with a field of this name that `accepts` accepts.
    pub(super) fn item_has(&self, name: &str, accepts: impl Fn(&Shape) -> bool) -> bool {
        let field = fields(self.item, self.defs).into_iter().find(|field| key(field) == name);
        field.and_then(|field| resolved(&field.shape, self.defs)).is_some_and(accepts)
    }
}

/// The key of a field in the data.
pub(super) fn key(field: &Field) -> &str {
    if field.wire.is_empty() { &field.name } else { &field.wire }
}

/// Returns the pointer to a field of the value at a pointer.
fn child(pointer: &str, field: &Field) -> String {
    format!("{pointer}/{}", key(field).replace('~', "~0").replace('/', "~1"))
}

/// Follows references and unions of one shape with `null`.
pub(super) fn resolved<'a>(shape: &'a Shape, defs: &'a List<Def>) -> Option<&'a Shape> {
    let mut shape = shape;
    for _ in 0..8 {
        shape = match &shape.kind {
            Kind::Ref(name) => find_def(defs, name)?,
            Kind::All(parts) if parts.len() == 1 => parts.first()?,
            Kind::Union(union) => {
                let mut others = union.variants.iter().filter(|variant| !matches!(variant.kind, Kind::Null));
                match (others.next(), others.next()) {
                    (Some(only), None) => only,
                    _ => return Some(shape),
                }
            }
            _ => return Some(shape),
        };
    }
    None
}

/// Returns the fields of an object, including those of all its parts.
fn fields<'a>(shape: &'a Shape, defs: &'a List<Def>) -> Vec<&'a Field> {
    match resolved(shape, defs).map(|shape| &shape.kind) {
        Some(Kind::Object(rules)) => rules.fields.iter().collect(),
        Some(Kind::All(parts)) => parts
            .iter()
            .flat_map(|part| match resolved(part, defs).map(|part| &part.kind) {
                Some(Kind::Object(rules)) => rules.fields.iter().collect(),
                _ => Vec::new(),
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// Collects the fields that may be about pagination.
fn collect_page_fields<'a>(
    shape: &'a Shape,
    defs: &'a List<Def>,
    parent: &str,
    depth: usize,
    page_fields: &mut Vec<(String, &'a Field)>,
) {
    for field in fields(shape, defs) {
        let pointer = child(parent, field);
        page_fields.push((pointer.clone(), field));
        // The outermost wrapper is not recognised by its name.
        let is_wrapper =
            depth == MAX_DEPTH && rank(&["data", "result", "response", "payload"], key(field)).is_some();
        if depth > 1 && (is_wrapper || rank(names::ENVELOPES, key(field)).is_some()) {
            collect_page_fields(&field.shape, defs, &pointer, depth - 1, page_fields);
        }
    }
}

/// Returns the pointer to the list of a response, and the shape of its items.
fn find_list<'a>(shape: &'a Shape, defs: &'a List<Def>, depth: usize) -> Option<(String, &'a Shape)> {
    if let Some(Kind::Array(rules)) = resolved(shape, defs).map(|shape| &shape.kind) {
        return Some((String::new(), &rules.items));
    }
    // A union of arrays.
    if let Some(Kind::Union(union)) = resolved(shape, defs).map(|shape| &shape.kind) {
        let lists = union.variants.iter().map(|variant| find_list(variant, defs, depth.checked_sub(1)?));
        let lists: Vec<_> = lists.collect::<Option<_>>()?;
        return lists.iter().all(|(items, _)| items.is_empty()).then(|| lists.into_iter().next())?;
    }
    let all = fields(shape, defs);
    let item = |field: &'a Field| match resolved(&field.shape, defs).map(|shape| &shape.kind) {
        Some(Kind::Array(rules)) => Some(&*rules.items),
        _ => None,
    };
    // Next to the list of objects there may be arrays of strings, such as warnings.
    let lists: Vec<(&Field, &Shape)> =
        all.iter().filter_map(|field| item(field).map(|item| (*field, item))).collect();
    let object_lists: Vec<&(&Field, &Shape)> =
        lists.iter().filter(|(field, item)| !fields(item, defs).is_empty() && !is_auxiliary(field)).collect();
    let is_object = |item: &Shape| !resolved(item, defs).is_none_or(is_scalar);
    let best_named = |of_objects: bool| {
        let of_kind = lists.iter().filter(move |(_, item)| is_object(item) == of_objects);
        let ranked = of_kind.filter_map(|list| rank(names::LISTS, key(list.0)).map(|rank| (rank, list)));
        ranked.min_by_key(|(rank, _)| *rank).map(|(_, list)| list)
    };
    // An object may have an array of strings without being a list.
    let chosen = match (best_named(true), object_lists.as_slice(), best_named(false)) {
        (Some(list), ..) => Some(list),
        (None, [only], _) => Some(*only),
        // Messages are next to a list, unless they are the only content.
        (None, [], None) => {
            lists.first().filter(|(field, _)| lists.len() == 1 && names::normalized(key(field)) == "messages")
        }
        (None, _, list) => list,
    };
    if let Some((field, item)) = chosen {
        return Some((child("", field), item));
    }
    // `data: {items: [...]}`, `_embedded: {pets: [...]}`
    let wrappers = all.iter().filter(|field| {
        rank(names::LISTS, key(field)).is_some() || names::normalized(key(field)) == "embedded"
    });
    let mut nested_lists = wrappers.filter_map(|field| {
        let (inner, item) = find_list(&field.shape, defs, depth.checked_sub(1)?)?;
        (!inner.is_empty()).then(|| (format!("{}{inner}", child("", field)), item))
    });
    let first = nested_lists.next().filter(|_| depth > 0)?;
    nested_lists.next().is_none().then_some(first)
}

/// Whether values are scalars, such as strings and numbers.
fn is_scalar(shape: &Shape) -> bool {
    matches!(shape.kind, Kind::String(_) | Kind::Integer(_) | Kind::Number(_) | Kind::Boolean | Kind::Enum(_))
}

/// Whether an array is never the requested list.
fn is_auxiliary(field: &Field) -> bool {
    rank(
        &[
            "errors",
            "warnings",
            "links",
            "messages",
            "included",
            "facets",
            "aggregations",
            "error",
            "order",
            "sort",
        ],
        key(field),
    )
    .is_some()
}
