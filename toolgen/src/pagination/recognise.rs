//! Recognises the pagination of an operation.
//!
//! Only lists are recognised. Each kind of pagination needs an argument and, if the service provides the value of
//! that argument, a field of the response: names alone are ambiguous.

use toolgen_core::schema::shape::{Field, Kind, Literal, Number};
use toolgen_core::spec::plan::{Location, NextPage, Pagination, Parameter, RequestPlan};
use toolgen_core::{Shape, Text, ToolSpec};

use super::names::{self, plain, rank};
use super::response_shape::{ResponseShape, key, resolved};

/// Returns the pagination of an operation, if the document describes it. If the plan already has one, pages are
/// linked in a header.
pub(super) fn recognised(plan: &RequestPlan, spec: &ToolSpec) -> Option<Pagination> {
    if plan.method != *"GET" {
        return None;
    }
    let response = ResponseShape::read(spec.output.as_ref()?.shape(), &spec.defs)?;
    let list = List { plan, spec, answer: response };
    let size = list.argument(names::SIZES, is_count);
    let linked = || plan.pagination.as_ref().map(|_| NextPage::Link);
    let next = list
        .url(size.is_some())
        .or_else(|| list.cursor(size.is_some()))
        .or_else(|| list.last())
        .or_else(linked)
        .or_else(|| list.page(size.is_some()))
        .or_else(|| list.offset(size.is_some()))?;
    let is_said = |_: &str, shape: &Shape| matches!(shape.kind, Kind::Boolean);
    let last = || Some(format!("!{}", list.answer.find(names::ENDS, is_said)?));
    let more = list.answer.find(names::MORES, is_said).or_else(last);
    let of_page = || list.argument(names::PAGE_SIZES, is_count);
    let size = if let NextPage::Page { .. } = next { of_page().or(size) } else { size };
    let total = list.total(&next).unwrap_or_default().into();
    Some(Pagination {
        next,
        total,
        items: list.answer.items.into(),
        has_more: more.unwrap_or_default().into(),
        size: size.map(|(parameter, _)| parameter.argument.clone()).unwrap_or_default(),
        max_items_argument: Text::EMPTY,
    })
}

/// The first words of arguments that enable cursors.
const SWITCHES: [&str; 4] = ["cursor", "marker", "keyset", "scroll"];

struct List<'a> {
    plan: &'a RequestPlan,
    spec: &'a ToolSpec,
    answer: ResponseShape<'a>,
}

/// A parameter and the shape of its value.
type Argument<'a> = (&'a Parameter, &'a Shape);

impl<'a> List<'a> {
    /// Returns the query argument with the most specific of these names that fits.
    fn argument(&self, names: &[&str], fits: impl Fn(&Shape) -> bool) -> Option<Argument<'a>> {
        let Kind::Object(rules) = &self.spec.input.shape().kind else { return None };
        let shape_of = |parameter: &Parameter| {
            let is_of =
                |field: &&Field| *field.name == *parameter.argument || *field.wire == *parameter.argument;
            rules.fields.iter().find(is_of).map(|field| &field.shape)
        };
        let query = self.plan.parameters.iter().filter(|parameter| parameter.location == Location::Query);
        let fitting = query.filter_map(|parameter| {
            let shape = shape_of(parameter)?;
            fits(resolved(shape, &self.spec.defs)?).then_some((parameter, shape))
        });
        let ranked = fitting.filter_map(|found| Some((rank(names, &found.0.name)?, found)));
        ranked.min_by_key(|(rank, _)| *rank).map(|(_, found)| found)
    }

    /// The URL of the next page in the body.
    fn url(&self, sized: bool) -> Option<NextPage> {
        let defs = &self.spec.defs;
        let by_name = self.answer.find(names::NEXT_URLS, |_, shape| matches!(shape.kind, Kind::String(_)));
        let by_kind = || {
            self.answer.find(names::NEXT, |pointer, shape| match &shape.kind {
                // `links: {next: {href}}`
                Kind::Object(rules) => rules.fields.iter().any(|field| {
                    let is_text = |shape: &Shape| matches!(shape.kind, Kind::String(_));
                    key(field) == "href" && resolved(&field.shape, defs).is_some_and(is_text)
                }),
                Kind::String(rules) => {
                    rules.format.starts_with("uri")
                        || rules.format == *"url"
                        || is_in_links(pointer)
                        || says(shape, &["url", "uri", "link", "relative path"])
                }
                _ => false,
            })
        };
        let takes_pages = || {
            sized
                || [names::PAGES, names::OFFSETS, names::CURSORS]
                    .iter()
                    .any(|names| self.argument(names, |_| true).is_some())
        };
        by_name.or_else(|| by_kind().filter(|_| takes_pages())).map(|pointer| NextPage::Url(pointer.into()))
    }

    /// A cursor in the body.
    fn cursor(&self, sized: bool) -> Option<NextPage> {
        let next = self.answer.find(names::NEXT_CURSORS, |pointer, shape| {
            is_cursor(shape) && !says(shape, &["previous"]) && !is_in_links(pointer)
        });
        let Some(pointer) = next else { return self.last_id() };
        let field = plain(pointer.rsplit('/').next()?);
        // If a service gives the argument and the field the same name, they belong together.
        let same = [field.as_str(), field.strip_prefix("next").unwrap_or(&field)];
        let found = self
            .argument(&same, is_cursor)
            .filter(|(parameter, _)| rank(names::CURSORS, &parameter.name).is_some());
        let (parameter, shape) = found.or_else(|| self.argument(names::CURSORS, is_cursor))?;
        // Unless the switch is set, the service uses numbers.
        if self.is_switched() && (self.offset(sized).is_some() || self.page(sized).is_some()) {
            return None;
        }
        // A `page` that is a string is a cursor, if the response provides it.
        let numbered = plain(&parameter.name) == "page" && is_count(resolved(shape, &self.spec.defs)?);
        (!numbered)
            .then(|| NextPage::Cursor { argument: parameter.argument.clone(), pointer: pointer.into() })
    }

    /// Whether cursors are accepted only with another argument, such as `use_marker` or `with_cursor`, which is off
    /// by default.
    fn is_switched(&self) -> bool {
        let Kind::Object(rules) = &self.spec.input.shape().kind else { return false };
        rules.fields.iter().any(|field| {
            let name = plain(key(field));
            let is_on = || {
                let default = field.shape.default.as_ref();
                default.or_else(|| resolved(&field.shape, &self.spec.defs)?.default.as_ref())
                    == Some(&Literal::Bool(true))
            };
            let is_boolean = resolved(&field.shape, &self.spec.defs)
                .is_some_and(|shape| matches!(shape.kind, Kind::Boolean));
            is_boolean && SWITCHES.iter().any(|of| name.contains(of)) && !is_on()
        })
    }

    /// The number of items in the complete list.
    fn total(&self, next: &NextPage) -> Option<String> {
        self.answer.find(names::TOTALS, |pointer, shape| {
            let name = pointer.rsplit('/').next().map(plain).unwrap_or_default();
            // `count` may mean the page or the complete list: next to the URL of the next page it means the list.
            let of_all = || {
                matches!(next, NextPage::Url(_) if !says(shape, &["page"]))
                    || says(shape, &["total", "overall", "in all", "of all", "all items", "all results"])
            };
            is_count(shape)
                && !says(shape, &["of pages", "total pages", "page count", "price", "cost", "currency"])
                && (name != "count" && name != "itemcount" || of_all())
        })
    }

    /// The ID of the last item, which is next to the list.
    fn last_id(&self) -> Option<NextPage> {
        self.answer.find(names::MORES, |_, _| true)?;
        let pointer = self.answer.find(&["lastid"], |_, shape| is_cursor(shape))?;
        let (parameter, _) = self.argument(&["startingafter", "after", "afterid"], is_cursor)?;
        Some(NextPage::Cursor { argument: parameter.argument.clone(), pointer: pointer.into() })
    }

    /// The ID of the last item, if the response indicates whether there are more.
    fn last(&self) -> Option<NextPage> {
        self.answer.find(names::MORES, |_, shape| matches!(shape.kind, Kind::Boolean))?;
        let (parameter, _) = self.argument(names::LASTS, is_cursor)?;
        let found = self.answer.item_has("id", is_cursor);
        found.then(|| NextPage::Last { argument: parameter.argument.clone(), pointer: "/id".into() })
    }

    /// The number of the page.
    fn page(&self, sized: bool) -> Option<NextPage> {
        let (parameter, shape) = self.argument(names::PAGES, is_count)?;
        let tells = sized || says(shape, &["page"]);
        let first = match default_of(shape, self.spec) {
            Some(number @ (0 | 1)) => number,
            Some(_) => return None,
            None if counts_from_0(shape) => 0,
            None => match least_of(shape, self.spec) {
                // The document does not declare whether 0 is the first page or stands for all pages.
                Some(0) => return None,
                _ => 1,
            },
        };
        let argument = parameter.argument.clone();
        tells.then_some(NextPage::Page { argument, first: u32::try_from(first).ok()? })
    }

    /// The number of items before the page.
    fn offset(&self, sized: bool) -> Option<NextPage> {
        let (parameter, shape) = self.argument(names::OFFSETS, is_count)?;
        let counts_items = default_of(shape, self.spec).is_none_or(|first| first == 0)
            && !says(shape, &["page number", "number of pages", "pages to skip", "page offset"])
            && least_of(shape, self.spec) != Some(1);
        (sized && counts_items).then(|| NextPage::Offset(parameter.argument.clone()))
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
    let segments: Vec<String> = pointer.split('/').map(plain).collect();
    segments.iter().rev().skip(1).any(|segment| segment == "links")
}

/// Whether the description contains one of these words.
fn says(shape: &Shape, words: &[&str]) -> bool {
    let description = shape.description.to_ascii_lowercase();
    words.iter().any(|word| description.contains(word))
}

fn counts_from_0(shape: &Shape) -> bool {
    says(
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

fn least_of(shape: &Shape, spec: &ToolSpec) -> Option<u64> {
    match &resolved(shape, &spec.defs)?.kind {
        Kind::Integer(rules) | Kind::Number(rules) => to_u64(rules.minimum?),
        _ => None,
    }
}
