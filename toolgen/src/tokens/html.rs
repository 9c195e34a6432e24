//! The report as one HTML page.

use super::Report;

/// The page, with places for the title, and one for the data.
const PAGE: &str = include_str!("page.html");

/// Returns the page. Texts of documents come as JSON in an element that no browser runs, and the page shows them as
/// text; `<` is escaped there, so that none of them ends the element.
pub(super) fn page(report: &Report, title: &str) -> String {
    let data = report.json().to_string().replace('<', "\\u003c");
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    let (head, tail) = PAGE.split_once("{{data}}").unwrap_or((PAGE, ""));
    format!("{}{data}{tail}", head.replace("{{title}}", &title))
}
