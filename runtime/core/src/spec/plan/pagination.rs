//! The pagination of an operation, as data.

use std::fmt;
use std::str::FromStr;

use crate::base::frozen::Text;

/// The pagination of an operation. Pointers are JSON pointers into the body of a response.
///
/// It can be parsed from a string that states how to request the next page, and where the items are.
///
/// ```
/// use toolgen_runtime::spec::plan::Pagination;
///
/// for text in [
///     "link",
///     "next=/links/next items=/data",
///     "cursor=after@/meta/after items=/results more=/has_more",
///     "last=starting_after@/id items=/data more=/has_more size=limit",
///     "page=page items=/items",
///     "page=page@0 items=/items",
///     "offset=skip items=/items more=!/last total=/total_count",
/// ] {
///     assert_eq!(text.parse::<Pagination>()?.to_string(), text);
/// }
/// # Ok::<(), toolgen_runtime::spec::plan::PaginationError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Pagination {
    /// How to request the next page.
    pub next: NextPage,
    /// The pointer to the list of items. Empty if the body is the list.
    pub items: Text,
    /// The pointer to a boolean that states whether more pages follow. With `!` before it, the boolean states whether
    /// this is the last page. Empty if the service has neither.
    pub has_more: Text,
    /// The pointer to the total number of items. Empty if the service does not return it. It distinguishes a list that
    /// ended early from a complete one.
    pub total: Text,
    /// The argument for the maximum number of items of a page. Empty if there is none.
    pub size: Text,
    /// The argument with which a caller requests several pages in one call: the maximum number of items in total.
    /// Empty if none is offered. It is not sent to the service.
    pub max_items_argument: Text,
}

/// How to request the page after a page.
#[derive(Clone, Debug, PartialEq)]
pub enum NextPage {
    /// The URL in the `Link` header with `rel="next"` (RFC 8288).
    Link,
    /// The URL at this pointer.
    Url(Text),
    /// The same call, with the value at a pointer as an argument.
    Cursor {
        /// The argument.
        argument: Text,
        /// The pointer.
        pointer: Text,
    },
    /// The same call, with a part of the last item as an argument.
    Last {
        /// The argument.
        argument: Text,
        /// The pointer, within the item.
        pointer: Text,
    },
    /// The same call, with the page number as an argument.
    Page {
        /// The argument.
        argument: Text,
        /// The number of the first page, which the service uses by default: 1 or 0.
        first: u32,
    },
    /// The same call, with the number of preceding items as this argument.
    Offset(Text),
}

impl Pagination {
    /// Creates the pagination of a list that is the whole body.
    #[must_use]
    pub const fn new(next: NextPage) -> Pagination {
        Pagination {
            next,
            items: Text::EMPTY,
            has_more: Text::EMPTY,
            total: Text::EMPTY,
            size: Text::EMPTY,
            max_items_argument: Text::EMPTY,
        }
    }
}

impl NextPage {
    /// Returns the argument that changes from page to page, if there is one.
    #[must_use]
    pub fn argument(&self) -> Option<&Text> {
        match self {
            NextPage::Link | NextPage::Url(_) => None,
            NextPage::Cursor { argument, .. }
            | NextPage::Last { argument, .. }
            | NextPage::Page { argument, .. }
            | NextPage::Offset(argument) => Some(argument),
        }
    }
}

impl fmt::Display for Pagination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Pagination { next, items, has_more: more, total, size, max_items_argument: max_items } = self;
        match next {
            NextPage::Link => f.write_str("link")?,
            NextPage::Url(pointer) => write!(f, "next={pointer}")?,
            NextPage::Cursor { argument, pointer } => write!(f, "cursor={argument}@{pointer}")?,
            NextPage::Last { argument, pointer } => write!(f, "last={argument}@{pointer}")?,
            NextPage::Page { argument, first: 1 } => write!(f, "page={argument}")?,
            NextPage::Page { argument, first } => write!(f, "page={argument}@{first}")?,
            NextPage::Offset(argument) => write!(f, "offset={argument}")?,
        }
        let pairs =
            [("items", items), ("more", more), ("total", total), ("size", size), ("offered", max_items)];
        for (key, value) in pairs {
            if !value.is_empty() {
                write!(f, " {key}={value}")?;
            }
        }
        Ok(())
    }
}

/// Why a string does not describe a pagination. `Display` gives the error and the syntax.
#[derive(Clone, PartialEq, Eq)]
pub struct PaginationError(String);

impl fmt::Display for PaginationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}; state how to request the next page (`link`, `next=/POINTER`, `cursor=ARGUMENT@/POINTER`, \
             `last=ARGUMENT@/POINTER`, `page=ARGUMENT`, `page=ARGUMENT@0` or `offset=ARGUMENT`), then optionally `items=/POINTER`, \
             `more=/POINTER`, `total=/POINTER`, `size=ARGUMENT` and `offered=ARGUMENT`",
            self.0
        )
    }
}

__readable_debug!(PaginationError);

impl std::error::Error for PaginationError {}

/// Parses `ARGUMENT` or `ARGUMENT@FIRST`.
fn parse_page(text: &str) -> Option<NextPage> {
    let (argument, first) = text.split_once('@').unwrap_or((text, "1"));
    let first = first.parse().ok().filter(|_| !argument.is_empty())?;
    Some(NextPage::Page { argument: argument.to_owned().into(), first })
}

impl FromStr for Pagination {
    type Err = PaginationError;

    fn from_str(text: &str) -> Result<Pagination, PaginationError> {
        let error = |reason: String| Err(PaginationError(reason));
        let (mut next, mut pagination) = (None, Pagination::new(NextPage::Link));
        for word in text.split_whitespace() {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            let to_text = || Text::from(value.to_owned());
            let is_pointer = |text: &str| text.starts_with('/');
            let argument_and_pointer = || {
                let (argument, pointer) = value.split_once('@')?;
                (!argument.is_empty() && is_pointer(pointer))
                    .then(|| (Text::from(argument.to_owned()), Text::from(pointer.to_owned())))
            };
            let parsed = match key {
                "link" if word == "link" => Some(NextPage::Link),
                "next" if is_pointer(value) => Some(NextPage::Url(to_text())),
                "cursor" => {
                    argument_and_pointer().map(|(argument, pointer)| NextPage::Cursor { argument, pointer })
                }
                "last" => {
                    argument_and_pointer().map(|(argument, pointer)| NextPage::Last { argument, pointer })
                }
                "page" => parse_page(value),
                "offset" if !value.is_empty() => Some(NextPage::Offset(to_text())),
                _ => None,
            };
            match (key, parsed) {
                (_, Some(_)) if next.is_some() => {
                    return error(format!("`{word}` is a second way to request the next page"));
                }
                (_, Some(parsed)) => next = Some(parsed),
                ("items", None) if is_pointer(value) => pagination.items = to_text(),
                ("more", None) if is_pointer(value.strip_prefix('!').unwrap_or(value)) => {
                    pagination.has_more = to_text();
                }
                ("total", None) if is_pointer(value) => pagination.total = to_text(),
                ("size", None) if !value.is_empty() => pagination.size = to_text(),
                ("offered", None) if !value.is_empty() => pagination.max_items_argument = to_text(),
                _ => return error(format!("`{word}` is not a part of a pagination")),
            }
        }
        match next {
            Some(next) => Ok(Pagination { next, ..pagination }),
            None => error(format!("`{text}` does not state how to request the next page")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_pagination_is_rejected_with_help() {
        for (text, reason) in [
            ("", "`` does not state how"),
            ("items=/data", "`items=/data` does not state how"),
            ("page=p offset=o", "`offset=o` is a second way"),
            ("cursor=after", "`cursor=after` is not a part of a pagination"),
            ("cursor=@/x", "`cursor=@/x` is not a part"),
            ("next=links", "`next=links` is not a part"),
            ("link items=data", "`items=data` is not a part"),
            ("link total=all", "`total=all` is not a part"),
            ("link pages=3", "`pages=3` is not a part"),
        ] {
            let message = text.parse::<Pagination>().unwrap_err().to_string();
            assert!(
                message.starts_with(reason) && message.contains("`cursor=ARGUMENT@/POINTER`"),
                "{message}"
            );
        }
    }
}
