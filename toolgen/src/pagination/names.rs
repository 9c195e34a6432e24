//! The names that services use for the parts of pagination, compared without case and punctuation.

/// Arguments that hold a cursor from the previous response.
pub(super) const CURSORS: &[&str] = &[
    "cursor",
    "pagecursor",
    "nextcursor",
    "startcursor",
    "aftercursor",
    "cursormark",
    "after",
    "pageafter",
    "pagetoken",
    "nextpagetoken",
    "nexttoken",
    "continuationtoken",
    "continuation",
    "continue",
    "paginationtoken",
    "startingtoken",
    "marker",
    "nextmarker",
    "pagemarker",
    "startingafter",
    "scrollid",
    "nextpage",
    "pagekey",
    "nextpagekey",
    "exclusivestartkey",
    "paginationkey",
    "paginationcursor",
    "skiptoken",
    "bookmark",
    "lastkey",
    "iterator",
    "next",
    "page",
    "since",
];

/// Arguments that hold the maximum number of items of a page and occur together with a page number: a limit may
/// belong to an offset.
pub(super) const PAGE_SIZES: &[&str] =
    &["perpage", "pagesize", "itemsperpage", "resultsperpage", "maxpagesize", "recordsperpage"];

/// Arguments that hold a part of the last item of the previous page.
pub(super) const LAST_ITEMS: &[&str] = &["startingafter", "after", "afterid", "lastid"];

/// Arguments that hold the number of a page.
pub(super) const PAGES: &[&str] = &["page", "pagenumber", "pageno", "pagenum", "currentpage", "pagenr"];

/// Arguments that hold the number of items before a page.
pub(super) const OFFSETS: &[&str] = &["offset", "skip", "startat", "pageoffset", "startoffset", "limitstart"];

/// Arguments that hold the maximum number of items of a page.
pub(super) const SIZES: &[&str] = &[
    "limit",
    "perpage",
    "pagesize",
    "size",
    "count",
    "maxresults",
    "pagelimit",
    "maxitems",
    "max",
    "top",
    "rows",
    "first",
    "itemsperpage",
    "resultsperpage",
    "take",
    "maxpagesize",
    "recordsperpage",
    "pagelength",
    "resultsize",
    "maxresult",
    "batchsize",
    "maxcount",
    "num",
    "pagecount",
    "limitperpage",
    "listlimit",
];

/// Fields of a response that hold the cursor of the next page, the most specific first.
pub(super) const NEXT_CURSORS: &[&str] = &[
    "nextcursor",
    "nextpagetoken",
    "nexttoken",
    "nextpagecursor",
    "nextcontinuationtoken",
    "continuationtoken",
    "endcursor",
    "nextmarker",
    "nextpagekey",
    "nextkey",
    "aftercursor",
    "cursornext",
    "nextcursormark",
    "nextbatch",
    "scrollid",
    "nextbookmark",
    "bookmark",
    "nextpage",
    "after",
    "next",
    "cursor",
    "pagetoken",
    "paginationtoken",
    "nextid",
    "continue",
    "marker",
    "continuation",
    "lastevaluatedkey",
    "iterator",
];

/// Fields of a response that, judging by their names, hold the URL of the next page.
pub(super) const NEXT_URLS: &[&str] = &[
    "nextlink",
    "nexturl",
    "nextpageurl",
    "nexthref",
    "nextpagelink",
    "nexturi",
    "nextpageuri",
    "odatanextlink",
    "nextresultsurl",
    "nextrecordsurl",
];

/// Fields of a response that hold the URL of the next page if their shape is that of a URL.
pub(super) const NEXT: &[&str] = &["next", "nextpage"];

/// Fields of a response that indicate whether there is another page.
pub(super) const HAS_MORE: &[&str] = &[
    "hasmore",
    "hasnext",
    "hasnextpage",
    "more",
    "morepages",
    "hasmoreitems",
    "hasmoreresults",
    "moreresults",
    "hasmorepages",
];

/// Fields of a response that indicate whether it is the last page.
pub(super) const IS_LAST: &[&str] = &["done", "islast", "islastpage", "lastpage", "last", "isend"];

/// Fields of a response that hold the number of items in the complete list.
pub(super) const TOTALS: &[&str] = &[
    "totalcount",
    "totalitems",
    "totalresults",
    "totalrecords",
    "totalelements",
    "totalentries",
    "totalrows",
    "totalsize",
    "totalhits",
    "itemcount",
    "odatacount",
    "total",
    "count",
];

/// Fields of a response that hold information about pagination.
pub(super) const ENVELOPES: &[&str] = &[
    "meta",
    "metadata",
    "pagination",
    "paging",
    "pageinfo",
    "page",
    "cursor",
    "cursors",
    "links",
    "link",
    "responsemetadata",
    "next",
    "listmetadata",
    "paginationinfo",
    "pagingmetadata",
    "pages",
    "additionaldata",
    "nextpage",
    "listinfo",
    "pagingdetails",
    "pagemetadata",
    "paginationmetadata",
    "pagedata",
    "navigation",
    "pager",
    "pageable",
    "pageinformation",
    "cursordata",
    "result_info",
    "resultinfo",
    "queryinfo",
];

/// Fields of a response that hold its list, the most specific first.
pub(super) const LISTS: &[&str] = &[
    "data",
    "items",
    "results",
    "result",
    "value",
    "values",
    "entries",
    "records",
    "list",
    "rows",
    "objects",
    "content",
    "elements",
    "members",
    "nodes",
    "hits",
    "docs",
    "resources",
    "collection",
    "payload",
    "documents",
    "response",
];

/// Returns a name without case and punctuation.
pub(super) fn normalized(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
}

/// Returns the index of a name in a list, or that of the name's last part if it has several: `options.limit`,
/// `page[size]`.
pub(super) fn rank(names: &[&str], name: &str) -> Option<usize> {
    let find = |name: &str| {
        let name = normalized(name);
        names.iter().position(|candidate| *candidate == name)
    };
    find(name).or_else(|| find(name.trim_end_matches(']').rsplit_once(['.', '['])?.1))
}
