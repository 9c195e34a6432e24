//! Selects and names the entries of a document that become tools, by the options. All front ends use it.

use toolgen_core::ToolName;

use crate::names::{NameCandidate, tool_names, with_namespace};
use crate::options::Options;
use crate::problem::{Code, Problems, codes};
use crate::selector::{Selector, Subject, suggestion};
use crate::source::Pointer;
use crate::tool::Tool;

/// An entry of a document that may become a tool.
#[derive(Clone, Debug)]
pub(crate) struct Entry<'a> {
    /// The document's own name for it; empty if it has none.
    pub(crate) id: &'a str,
    /// The title that distinguishes it from all others, such as `GET /pets`.
    pub(crate) title: String,
    /// The name of its tool if it has no name of its own.
    pub(crate) fallback: String,
    /// The groups that it belongs to.
    pub(crate) groups: Vec<&'a str>,
    /// Whether the document advises against it.
    pub(crate) deprecated: bool,
}

impl<'a> Entry<'a> {
    /// Returns the entry that a tool was made from.
    pub(crate) fn of(tool: &'a Tool) -> Entry<'a> {
        Entry {
            id: &tool.origin.id,
            title: tool.origin.title.clone(),
            fallback: String::new(),
            groups: tool.origin.groups.iter().map(String::as_str).collect(),
            deprecated: tool.spec.deprecated.is_some(),
        }
    }
}

/// An entry that becomes a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SelectedEntry {
    /// The index of the entry.
    pub(crate) index: usize,
    /// The name of the tool, with its namespace. Two tools may still have the same name.
    pub(crate) name: String,
}

/// Returns the entries that become tools, in their order. Filters and renames that match no entry are reported with a
/// suggestion.
///
/// Names depend on the whole document, so a filter changes no name.
pub(crate) fn select_entries(
    entries: &[Entry<'_>],
    options: &Options,
    problems: &mut Problems,
) -> Vec<SelectedEntry> {
    let candidates: Vec<NameCandidate<'_>> = entries
        .iter()
        .map(|Entry { id, fallback, title, .. }| NameCandidate { id, fallback: fallback.clone(), title })
        .collect();
    choose_named(entries, tool_names(&candidates), options, problems)
}

/// Returns the entries that become tools, as [`select_entries`] does, for entries that have these names without a
/// namespace.
pub(crate) fn choose_named(
    entries: &[Entry<'_>],
    mut names: Vec<String>,
    options: &Options,
    problems: &mut Problems,
) -> Vec<SelectedEntry> {
    for (from, to) in &options.renames {
        rename(entries, &mut names, from, to, problems);
    }
    let selected = selected(entries, &names, options, problems);
    let names = names.into_iter().enumerate().zip(selected).filter(|(_, selected)| *selected);
    names
        .map(|((index, name), _)| match &options.namespace {
            Some(namespace) => SelectedEntry { index, name: with_namespace(namespace, &name) },
            None => SelectedEntry { index, name },
        })
        .collect()
}

fn rename(entries: &[Entry<'_>], names: &mut [String], from: &str, to: &str, problems: &mut Problems) {
    let is_target = |(index, name): &(usize, &String)| {
        entries.get(*index).is_some_and(|entry| entry.id == from || entry.title == from) || *name == from
    };
    let matches: Vec<usize> = names.iter().enumerate().filter(is_target).map(|(index, _)| index).collect();
    let is_free = |index: usize| names.iter().enumerate().all(|(other, name)| other == index || name != to);
    let problem = match (matches.as_slice(), ToolName::parse(to.to_owned())) {
        (_, Err(error)) => format!("`{from}` cannot be renamed to `{to}`: {error}"),
        ([], _) => format!("there is no operation `{from}` to rename to `{to}`"),
        (&[index], Ok(_)) if is_free(index) => {
            names[index] = to.to_owned();
            return;
        }
        ([_], Ok(_)) => format!("`{from}` cannot be renamed to `{to}`: another tool has the name"),
        (_, Ok(_)) => format!("`{from}` names several operations, so none is renamed"),
    };
    let candidates = entries.iter().map(|entry| entry.id).chain(names.iter().map(String::as_str));
    let help = match suggestion(from, candidates).filter(|near| near != from) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "name the operation by its id or as `METHOD /path`, and use a valid name that is not taken"
            .to_owned(),
    };
    problems.report(codes::RENAME, &Pointer::ROOT, problem, help);
}

/// Returns whether each entry is selected. Filters that match nothing are reported.
pub(crate) fn selected(
    entries: &[Entry<'_>],
    names: &[String],
    options: &Options,
    problems: &mut Problems,
) -> Vec<bool> {
    let subjects = subjects(entries, names);
    let Options { include, exclude, deprecated, .. } = options;
    let is_selected = |(entry, subject): (&Entry<'_>, &Subject<'_>)| {
        (include.is_empty() || include.iter().any(|selector| selector.selects(subject)))
            && !exclude.iter().any(|selector| selector.selects(subject))
            && (*deprecated || !entry.deprecated)
    };
    let selected: Vec<bool> = entries.iter().zip(&subjects).map(is_selected).collect();
    let nothing_left = !entries.is_empty() && !selected.contains(&true);
    let include_code = if nothing_left { codes::NO_TOOLS } else { codes::SELECTOR };
    // In a document without operations, none could become a tool by accident.
    let exclude_code = if entries.is_empty() { codes::SELECTOR } else { codes::EXCLUSION };
    let filters = include.iter().map(|selector| (selector, include_code, ""));
    let filters = filters.chain(exclude.iter().map(|selector| (selector, exclude_code, "the exclusion ")));
    for (selector, code, prefix) in filters {
        report_unmatched(selector, &subjects, code, prefix, problems);
    }
    selected
}

/// Returns whether each entry is matched by one of these selectors. Selectors that match nothing are reported with
/// the prefix, which names their purpose.
pub(crate) fn matched(
    entries: &[Entry<'_>],
    names: &[String],
    selectors: &[Selector],
    prefix: &str,
    problems: &mut Problems,
) -> Vec<bool> {
    let subjects = subjects(entries, names);
    for selector in selectors {
        report_unmatched(selector, &subjects, codes::SELECTOR, prefix, problems);
    }
    subjects.iter().map(|subject| selectors.iter().any(|selector| selector.selects(subject))).collect()
}

/// Whether a selector matches a tool that was compiled.
pub(crate) fn selects(selector: &Selector, tool: &Tool, options: &Options) -> bool {
    let name = tool.spec.name.as_str();
    let prefix = options.namespace.as_ref().map(|namespace| format!("{namespace}__"));
    let name = prefix.and_then(|prefix| name.strip_prefix(&prefix)).unwrap_or(name);
    let groups: Vec<&str> = tool.origin.groups.iter().map(String::as_str).collect();
    selector.selects(&Subject { id: &tool.origin.id, name, title: &tool.origin.title, groups: &groups })
}

fn subjects<'a>(entries: &'a [Entry<'_>], names: &'a [String]) -> Vec<Subject<'a>> {
    entries
        .iter()
        .zip(names)
        .map(|(Entry { id, title, groups, .. }, name)| Subject { id, name, title, groups })
        .collect()
}

/// Reports a selector that matches nothing, with a suggestion.
fn report_unmatched(
    selector: &Selector,
    subjects: &[Subject<'_>],
    code: Code,
    prefix: &str,
    problems: &mut Problems,
) {
    if subjects.iter().any(|subject| selector.selects(subject)) {
        return;
    }
    let help = match selector.nearest(subjects) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            "write `tag:NAME`, `METHOD /path` or an operation's id; `*` and `**` are wildcards".to_owned()
        }
    };
    problems.report(code, &Pointer::ROOT, format!("{prefix}`{selector}` matches no operation"), help);
}

/// Reports the credentials that match no scheme of the document, and those that may be secrets themselves.
pub(crate) fn check_credentials(options: &Options, schemes: &[String], problems: &mut Problems) {
    for (id, variable) in &options.credentials {
        if !schemes.contains(id) {
            let help = match suggestion(id, schemes.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None if schemes.is_empty() => "the document declares none".to_owned(),
                None => format!("the document declares `{}`", schemes.join("`, `")),
            };
            let message =
                format!("there is a credential for `{id}`, which is not a security scheme of the document");
            problems.report(codes::CREDENTIAL, &Pointer::ROOT, message, help);
        }
        if !is_variable(variable) {
            // The value is not repeated.
            let message =
                format!("the value of the credential `{id}` is not the name of an environment variable");
            let help = "set a variable, and use its name, as in `PETSTORE_KEY`";
            problems.report(codes::NO_VARIABLE, &Pointer::ROOT, message, help);
        }
    }
}

/// Whether a string is written like the name of an environment variable.
pub(crate) fn is_variable(name: &str) -> bool {
    name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
        && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
}
