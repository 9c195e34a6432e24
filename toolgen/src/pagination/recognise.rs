//! Recognises the pagination of an operation.
//!
//! Only lists are recognised. Each kind of pagination needs an argument and, if the service provides the value of
//! that argument, a field of the response: names alone are ambiguous.

use toolgen_core::schema::shape::{Field, Kind, Literal, Number};
use toolgen_core::spec::plan::{Location, NextPage, Pagination, Parameter, RequestPlan};
use toolgen_core::{Shape, Text, ToolSpec};

use super::names::{self, normalized, rank};
use super::response_shape::{ResponseShape, key, resolved};

/// Returns the pagination of an operation, if the document describes it. If the plan already has a pagination, pages
/// are linked in a header.
pub(super) fn recognise(plan: &RequestPlan, spec: &ToolSpec) -> Option<Pagination> {
    if plan.method != *"GET" {
        return None;
    }
    let response = ResponseShape::read(spec.output.as_ref()?.shape(), &spec.defs)?;
    let list = List { plan, spec, response };
    let size = list.argument(names::SIZES, is_count);
    let header_link = || plan.pagination.as_ref().map(|_| NextPage::Link);
    let next = list
        .url(size.is_some())
        .or_else(|| list.cursor(size.is_some()))
        .or_else(|| list.last())
        .or_else(header_link)
        .or_else(|| list.page(size.is_some()))
        .or_else(|| list.offset(size.is_some()))?;
    let is_boolean = |_: &str, shape: &Shape| matches!(shape.kind, Kind::Boolean);
    let negated_end = || Some(format!("!{}", list.response.find(names::IS_LAST, is_boolean)?));
    let has_more = list.response.find(names::HAS_MORE, is_boolean).or_else(negated_end);
    let page_size = || list.argument(names::PAGE_SIZES, is_count);
    let size = if let NextPage::Page { .. } = next { page_size().or(size) } else { size };
    let total = list.total(&next).unwrap_or_default().into();
    Some(Pagination {
        next,
        total,
        items: list.response.items.into(),
        has_more: has_more.unwrap_or_default().into(),
        size: size.map(|(parameter, _)| parameter.argument.clone()).unwrap_or_default(),
        max_items_argument: Text::EMPTY,
    })
}

/// The first words of arguments that enable cursors.
const SWITCHES: [&str; 4] = ["cursor", "marker", "keyset", "scroll"];

struct List<'a> {
    plan: &'a RequestPlan,
    spec: &'a ToolSpec,
    response: ResponseShape<'a>,
}

/// A parameter and the shape of its value.
type Argument<'a> = (&'a Parameter, &'a Shape);

impl<'a> List<'a> {
    /// Returns the query argument with the most specific of these names that `accepts` accepts.
    fn argument(&self, names: &[&str], accepts: impl Fn(&Shape) -> bool) -> Option<Argument<'a>> {
        let Kind::Object(rules) = &self.spec.input.shape().kind else { return None };
        let shape_of = |parameter: &Parameter| {
            let is_named =
                |field: &&Field| *field.name == *parameter.argument || *field.wire == *parameter.argument;
            rules.fields.iter().find(is_named).map(|field| &field.shape)
        };
        let query = self.plan.parameters.iter().filter(|parameter| parameter.location == Location::Query);
        let accepted = query.filter_map(|parameter| {
            let shape = shape_of(parameter)?;
            accepts(resolved(shape, &self.spec.defs)?).then_some((parameter, shape))
        });
        let ranked = accepted.filter_map(|argument| Some((rank(names, &argument.0.name)?, argument)));
        ranked.min_by_key(|(rank, _)| *rank).map(|(_, argument)| argument)
    }

    /// The URL of the next page in the body.
    fn url(&self, has_size: bool) -> Option<NextPage> {
        let defs = &self.spec.defs;
        let by_name = self.response.find(names::NEXT_URLS, |_, shape| matches!(shape.kind, Kind::String(_)));
        let by_shape = || {
            self.response.find(names::NEXT, |pointer, shape| match &shape.kind {
                // `links: {next: {href}}`
                Kind::Object(rules) => rules.fields.iter().any(|field| {
                    let is_string = |shape: &Shape| matches!(shape.kind, Kind::String(_));
                    key(field) == "href" && resolved(&field.shape, defs).is_some_and(is_string)
                }),
                Kind::String(rules) => {
                    rules.format.starts_with("uri")
                        || rules.format == *"url"
                        || is_in_links(pointer)
                        || mentions(shape, &["url", "uri", "link", "relative path"])
                }
                _ => false,
            })
        };
        let has_page_argument = || {
            has_size
                || [names::PAGES, names::OFFSETS, names::CURSORS]
                    .iter()
                    .any(|names| self.argument(names, |_| true).is_some())
        };
        by_name
            .or_else(|| by_shape().filter(|_| has_page_argument()))
            .map(|pointer| NextPage::Url(pointer.into()))
    }

    /// A cursor in the body.
    fn cursor(&self, has_size: bool) -> Option<NextPage> {
        let next = self.response.find(names::NEXT_CURSORS, |pointer, shape| {
            is_cursor(shape) && !mentions(shape, &["previous"]) && !is_in_links(pointer)
        });
        let Some(pointer) = next else { return self.last_id() };
        let field = normalized(pointer.rsplit('/').next()?);
        // If a service gives the argument and the field the same name, they belong together.
        let matching_names = [field.as_str(), field.strip_prefix("next").unwrap_or(&field)];
        let matching_argument = self
            .argument(&matching_names, is_cursor)
            .filter(|(parameter, _)| rank(names::CURSORS, &parameter.name).is_some());
        let (parameter, shape) = matching_argument.or_else(|| self.argument(names::CURSORS, is_cursor))?;
        // Unless the switch is set, the service uses numbers.
        if self.needs_switch() && (self.offset(has_size).is_some() || self.page(has_size).is_some()) {
            return None;
        }
        // A `page` that is a string is a cursor, if the response provides it.
        let is_number = normalized(&parameter.name) == "page" && is_count(resolved(shape, &self.spec.defs)?);
        (!is_number)
            .then(|| NextPage::Cursor { argument: parameter.argument.clone(), pointer: pointer.into() })
    }

    /// Whether cursors are accepted only with another argument, such as `use_marker` or `with_cursor`, which is off
    /// by default.
    fn needs_switch(&self) -> bool {
        let Kind::Object(rules) = &self.spec.input.shape().kind else { return false };
        rules.fields.iter().any(|field| {
            let name = normalized(key(field));
            let is_on = || {
                let default = field.shape.default.as_ref();
                default.or_else(|| resolved(&field.shape, &self.spec.defs)?.default.as_ref())
                    == Some(&Literal::Bool(true))
            };
            let is_boolean = resolved(&field.shape, &self.spec.defs)
                .is_some_and(|shape| matches!(shape.kind, Kind::Boolean));
            is_boolean && SWITCHES.iter().any(|word| name.contains(word)) && !is_on()
        })
    }

    /// The number of items in the complete list.
    fn total(&self, next: &NextPage) -> Option<String> {
        self.response.find(names::TOTALS, |pointer, shape| {
            let name = pointer.rsplit('/').next().map(normalized).unwrap_or_default();
            // `count` may mean the page or the complete list: next to the URL of the next page it means the list.
            let counts_list = || {
                matches!(next, NextPage::Url(_) if !mentions(shape, &["page"]))
                    || mentions(shape, &["total", "overall", "in all", "of all", "all items", "all results"])
            };
            is_count(shape)
                && !mentions(shape, &["of pages", "total pages", "page count", "price", "cost", "currency"])
                && (name != "count" && name != "itemcount" || counts_list())
        })
    }

    /// The ID of the last item, which is next to the list.
    fn last_id(&self) -> Option<NextPage> {
        self.response.find(names::HAS_MORE, |_, _| true)?;
        let pointer = self.response.find(&["lastid"], |_, shape| is_cursor(shape))?;
        let (parameter, _) = self.argument(&["startingafter", "after", "afterid"], is_cursor)?;
        Some(NextPage::Cursor { argument: parameter.argument.clone(), pointer: pointer.into() })
    }

    /// The ID of the last item, if the response indicates whether there are more.
    fn last(&self) -> Option<NextPage> {
        self.response.find(names::HAS_MORE, |_, shape| matches!(shape.kind, Kind::Boolean))?;
        let (parameter, _) = self.argument(names::LAST_ITEMS, is_cursor)?;
        let has_id = self.response.item_has("id", is_cursor);
        has_id.then(|| NextPage::Last { argument: parameter.argument.clone(), pointer: "/id".into() })
    }

    /// The number of the page.
    fn page(&self, has_size: bool) -> Option<NextPage> {
        let (parameter, shape) = self.argument(names::PAGES, is_count)?;
        let is_page = has_size || mentions(shape, &["page"]);
        let first = match default_of(shape, self.spec) {
            Some(number @ (0 | 1)) => number,
            Some(_) => return None,
            None if is_zero_based(shape) => 0,
            None => match min_of(shape, self.spec) {
                // The document does not declare whether 0 is the first page or stands for all pages.
                Some(0) => return None,
                _ => 1,
            },
        };
        let argument = parameter.argument.clone();
        is_page.then_some(NextPage::Page { argument, first: u32::try_from(first).ok()? })
    }

    /// The number of items before the page.
    fn offset(&self, has_size: bool) -> Option<NextPage> {
        let (parameter, shape) = self.argument(names::OFFSETS, is_count)?;
        let counts_items = default_of(shape, self.spec).is_none_or(|first| first == 0)
            && !mentions(shape, &["page number", "number of pages", "pages to skip", "page offset"])
            && min_of(shape, self.spec) != Some(1);
        (has_size && counts_items).then(|| NextPage::Offset(parameter.argument.clone()))
    }
}

/// Whether a value may be a cursor: `after` is often a time.
fn is_cursor(shape: &Shape) -> bool {
    match &shape.kind {
        Kind::String(rules) => !rules.format.starts_with("date"),
        Kind::Integer(_) | Kind::Number(_) | Kind::Any => true,
        _ => false,
    }
}

/// Whether a value is a number of items. Documents declare these as numbers of any kind.
fn is_count(shape: &Shape) -> bool {
    matches!(shape.kind, Kind::Integer(_) | Kind::Number(_))
}

/// Whether a pointer refers to one of the links of a response, which are URLs.
fn is_in_links(pointer: &str) -> bool {
    let segments: Vec<String> = pointer.split('/').map(normalized).collect();
    segments.iter().rev().skip(1).any(|segment| segment == "links")
}

/// Whether the description contains one of these words.
fn mentions(shape: &Shape, words: &[&str]) -> bool {
    let description = shape.description.to_ascii_lowercase();
    words.iter().any(|word| description.contains(word))
}

fn is_zero_based(shape: &Shape) -> bool {
    mentions(
        shape,
        &[
            "zero-based",
            "zero based",
            "0-based",
            "0 based",
            "zero-indexed",
            "zero indexed",
            "0-indexed",
            "0 indexed",
            "starts at 0",
            "starting at 0",
            "starts from 0",
            "starting from 0",
            "starting with 0",
            "first page is 0",
            "0..n",
        ],
    )
}

fn to_u64(number: Number) -> Option<u64> {
    match number {
        Number::Int(number) => u64::try_from(number).ok(),
        Number::Float(_) => None,
    }
}

fn default_of(shape: &Shape, spec: &ToolSpec) -> Option<u64> {
    let default = shape.default.as_ref().or_else(|| resolved(shape, &spec.defs)?.default.as_ref())?;
    match default {
        Literal::Number(number) => to_u64(*number),
        _ => None,
    }
}

fn min_of(shape: &Shape, spec: &ToolSpec) -> Option<u64> {
    match &resolved(shape, &spec.defs)?.kind {
        Kind::Integer(rules) | Kind::Number(rules) => to_u64(rules.minimum?),
        _ => None,
    }
}
