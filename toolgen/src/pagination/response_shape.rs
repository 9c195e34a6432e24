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
    /// Reads the shape of a response; `None` if it has no list, or if it is ambiguous which list it is.
    pub(super) fn read(shape: &'a Shape, defs: &'a List<Def>) -> Option<ResponseShape<'a>> {
        let mut page_fields = Vec::new();
        collect_page_fields(shape, defs, "", MAX_DEPTH, &mut page_fields);
        let (items, item) = list(shape, defs, 2)?;
        Some(ResponseShape { defs, items, item, page_fields })
    }

    /// Returns the pointer to the field with the most specific of these names that fits.
    pub(super) fn find(&self, names: &[&str], fits: impl Fn(&str, &Shape) -> bool) -> Option<String> {
        let fitting = self.page_fields.iter().filter(|(pointer, field)| {
            resolved(&field.shape, self.defs).is_some_and(|shape| fits(pointer, shape))
        });
        let ranked = fitting.filter_map(|(pointer, field)| Some((rank(names, key(field))?, pointer)));
        ranked
            .min_by_key(|(rank, pointer)| (*rank, pointer.matches('/').count()))
            .map(|(_, pointer)| pointer.clone())
    }

    /// Whether an item is an object with such a field.
    pub(super) fn item_has(&self, name: &str, fits: impl Fn(&Shape) -> bool) -> bool {
        let field = fields(self.item, self.defs).into_iter().find(|field| key(field) == name);
        field.and_then(|field| resolved(&field.shape, self.defs)).is_some_and(fits)
    }
}

/// The key of a field in the data.
pub(super) fn key(field: &Field) -> &str {
    if field.wire.is_empty() { &field.name } else { &field.wire }
}

/// Returns the pointer to a field of the value at a pointer.
fn child(at: &str, field: &Field) -> String {
    format!("{at}/{}", key(field).replace('~', "~0").replace('/', "~1"))
}

/// Follows references and unions of one shape with `null`.
pub(super) fn resolved<'a>(shape: &'a Shape, defs: &'a List<Def>) -> Option<&'a Shape> {
    let mut shape = shape;
    for _ in 0..8 {
        shape = match &shape.kind {
            Kind::Ref(name) => find_def(defs, name)?,
            Kind::All(all) if all.len() == 1 => all.first()?,
            Kind::Union(union) => {
                let mut real = union.variants.iter().filter(|variant| !matches!(variant.kind, Kind::Null));
                match (real.next(), real.next()) {
                    (Some(only), None) => only,
                    _ => return Some(shape),
                }
            }
            _ => return Some(shape),
        };
    }
    None
}

/// Returns the fields of an object, those of all its parts.
fn fields<'a>(shape: &'a Shape, defs: &'a List<Def>) -> Vec<&'a Field> {
    match resolved(shape, defs).map(|shape| &shape.kind) {
        Some(Kind::Object(rules)) => rules.fields.iter().collect(),
        Some(Kind::All(all)) => all
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
    at: &str,
    depth: usize,
    page_fields: &mut Vec<(String, &'a Field)>,
) {
    for field in fields(shape, defs) {
        let pointer = child(at, field);
        page_fields.push((pointer.clone(), field));
        // The outermost wrapper is not recognised by its name.
        let wraps =
            depth == MAX_DEPTH && rank(&["data", "result", "response", "payload"], key(field)).is_some();
        if depth > 1 && (wraps || rank(names::ENVELOPES, key(field)).is_some()) {
            collect_page_fields(&field.shape, defs, &pointer, depth - 1, page_fields);
        }
    }
}

/// Returns the pointer to the list of a response, and the shape of its items.
fn list<'a>(shape: &'a Shape, defs: &'a List<Def>, depth: usize) -> Option<(String, &'a Shape)> {
    if let Some(Kind::Array(rules)) = resolved(shape, defs).map(|shape| &shape.kind) {
        return Some((String::new(), &rules.items));
    }
    // Arrays of objects in several forms.
    if let Some(Kind::Union(union)) = resolved(shape, defs).map(|shape| &shape.kind) {
        let lists = union.variants.iter().map(|variant| list(variant, defs, depth.checked_sub(1)?));
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
    let things: Vec<&(&Field, &Shape)> =
        lists.iter().filter(|(field, item)| !fields(item, defs).is_empty() && !is_aside(field)).collect();
    let is_object = |item: &Shape| !resolved(item, defs).is_none_or(is_plain);
    let is_named = |of_objects: bool| {
        let fitting = lists.iter().filter(move |(_, item)| is_object(item) == of_objects);
        let ranked = fitting.filter_map(|list| rank(names::LISTS, key(list.0)).map(|rank| (rank, list)));
        ranked.min_by_key(|(rank, _)| *rank).map(|(_, list)| list)
    };
    // An object may have an array of strings without being a list.
    let chosen = match (is_named(true), things.as_slice(), is_named(false)) {
        (Some(list), ..) => Some(list),
        (None, [only], _) => Some(*only),
        // Messages are next to a list, unless they are the only content.
        (None, [], None) => {
            lists.first().filter(|(field, _)| lists.len() == 1 && names::plain(key(field)) == "messages")
        }
        (None, _, named) => named,
    };
    if let Some((field, item)) = chosen {
        return Some((child("", field), item));
    }
    // `data: {items: [...]}`, `_embedded: {pets: [...]}`
    let within = all
        .iter()
        .filter(|field| rank(names::LISTS, key(field)).is_some() || names::plain(key(field)) == "embedded");
    let mut found = within.filter_map(|field| {
        let (inner, item) = list(&field.shape, defs, depth.checked_sub(1)?)?;
        (!inner.is_empty()).then(|| (format!("{}{inner}", child("", field)), item))
    });
    let first = found.next().filter(|_| depth > 0)?;
    found.next().is_none().then_some(first)
}

/// Whether values are scalars, such as strings and numbers.
fn is_plain(shape: &Shape) -> bool {
    matches!(shape.kind, Kind::String(_) | Kind::Integer(_) | Kind::Number(_) | Kind::Boolean | Kind::Enum(_))
}

/// Whether an array is never the requested list.
fn is_aside(field: &Field) -> bool {
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
